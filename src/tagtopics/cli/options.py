"""Options that several commands share, each defined once, in groups that a command takes as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

_READING = "Reading"
_WORDS = "From text to words"
_MODEL = "Model"


def share_or_number(value: str) -> int | float:
    """Read a number of documents (5) or a share of them (0.5)."""
    try:
        return float(value) if any(c in value for c in ".eEnN") else int(value)
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is no number (5) and no share (0.5)") from None


def dataset_names(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of a data set."""
    from tagtopics.datasets import list_datasets

    return [(row.name, row.description) for row in list_datasets() if row.name.startswith(incomplete)]


CorpusArgument = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A file (.jsonl .csv .tsv .parquet ...), a matrix folder, or the name of a data set.",
        autocompletion=dataset_names,
        show_default=False,
    ),
]
InputArgument = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="Documents: a file, a matrix folder, a data set, or - for JSON lines from standard input.",
        autocompletion=dataset_names,
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model that `fit` saved.", show_default=False)
]


@dataclass(frozen=True)
class Shown:
    """How a command speaks."""

    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table hold what."""

    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the text; repeat to join several.",
            rich_help_panel=_READING,
            show_default="text",
        ),
    ] = None
    tags: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the tags; repeat for tags of several kinds.",
            rich_help_panel=_READING,
            show_default="tags",
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the documents' names.", rich_help_panel=_READING),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the documents' classes.", rich_help_panel=_READING),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=_READING,
            help="jsonl csv tsv parquet folder uci ldac svmlight mulan mat; else told by the name.",
        ),
    ] = None
    tag_separator: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What divides the tags of one cell.", rich_help_panel=_READING,
                     show_default="; or |, else ,"),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class WordOptions:
    """How text becomes words."""

    min_df: Annotated[
        Any,
        typer.Option(
            parser=share_or_number,
            metavar="N",
            rich_help_panel=_WORDS,
            show_default="1",
            help="Least number (5) or share (0.01) of documents a word must occur in.",
        ),
    ] = None
    max_df: Annotated[
        Any,
        typer.Option(
            parser=share_or_number,
            metavar="N",
            rich_help_panel=_WORDS,
            show_default="1.0",
            help="Most of the same.",
        ),
    ] = None
    max_words: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Keep only so many of the most frequent words.", rich_help_panel=_WORDS
        ),
    ] = None
    stop_words: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Words to leave out: english, none, or a file, one a line.",
            rich_help_panel=_WORDS,
        ),
    ] = "english"
    ngrams: Annotated[
        int, typer.Option(metavar="N", help="Also count runs of up to N words.", rich_help_panel=_WORDS)
    ] = 1
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--keep-case", help="Fold case.", rich_help_panel=_WORDS)
    ] = True
    token_pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="Regular expression of one word.", rich_help_panel=_WORDS),
    ] = None  # fmt: skip


def _number(panel: str, text: str, default: str, metavar: str = "N") -> Any:
    return typer.Option(metavar=metavar, help=text, show_default=default, rich_help_panel=panel)


def _model_names(incomplete: str) -> list[str]:
    from tagtopics.cli.modelling import MODELS

    return [name for name in MODELS if name.startswith(incomplete)]


@dataclass(frozen=True)
class ModelOptions:
    """Which estimator, with which parameters; None leaves its own default."""

    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="ttm (the paper's TTM-H), lda, atm, rtm or llda.",
            autocompletion=_model_names,
            rich_help_panel=_MODEL,
        ),
    ] = "ttm"
    topics: Annotated[int | None, _number(_MODEL, "Number of topics.", "20")] = None
    order: Annotated[int | None, _number(_MODEL, "Most tags that one joint relation connects.", "3")] = None
    pairwise_weight: Annotated[
        float | None, _number(_MODEL, "Share of the documents with a common tag.", "0.1", "SHARE")
    ] = None
    higher_order_weight: Annotated[
        float | None, _number(_MODEL, "Share of all tags of a document jointly.", "0.05", "SHARE")
    ] = None
    weights: Annotated[
        str | None, _number(_MODEL, "The weights as 'given', or 'auto': learned.", "given", "HOW")
    ] = None
    tag_pseudo_count: Annotated[
        str | None, _number(_MODEL, "Tokens that known tags of new documents are worth, or 'auto'.", "5", "X")
    ] = None
    iterations: Annotated[int | None, _number(_MODEL, "Sweeps at the most.", "200")] = None
    tolerance: Annotated[
        float | None, _number(_MODEL, "Stop when the mean change falls below.", "0.002", "X")
    ] = None
    doc_topic_prior: Annotated[
        str | None, _number(_MODEL, "Pseudo-count of a topic in a document, or 'learned'.", "0.1", "X")
    ] = None
    topic_word_prior: Annotated[
        float | None, _number(_MODEL, "Pseudo-count of a word in a topic.", "0.05", "X")
    ] = None
    word_weight: Annotated[float | None, _number(_MODEL, "How much a word's message counts.", "1", "X")] = (
        None
    )
    stride: Annotated[
        float | None, _number(_MODEL, "How far the first sweeps go ahead; 0.8 for few.", "0", "X")
    ] = None
    memory: Annotated[
        str | None, _number(_MODEL, "Messages 'stored', or 'lean': recalled in each sweep.", "auto", "ENGINE")
    ] = None
    seed: Annotated[
        int, typer.Option(metavar="N", help="Equal seeds give equal bits.", rich_help_panel=_MODEL)
    ] = 0
    threads: Annotated[int | None, _number(_MODEL, "Threads; they never change the result.", "all cores")] = (
        None
    )


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose option groups are spread out into single options, as typer wants them."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters.extend(_options_of(hints[name]))
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))

    def command(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    command.__doc__ = function.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    ]
