"""Declaring options, and the options that several commands share, in groups taken as one parameter.

Defaults of estimators and recipes are shown as text: `--help` must not load NumPy. A test compares them with
the declared ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer


def share_or_number(value: str) -> int | float:
    """Parse a number of documents (5) or a share of them (0.5)."""
    try:
        return float(value) if any(c in value for c in ".eEnN") else int(value)
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is neither a number (5) nor a share (0.5)") from None


def number_or_word(value: str) -> float | str:
    """Parse a number; other words, such as "auto", are left to the estimator to check."""
    try:
        return float(value)
    except ValueError:
        return value


def dataset_names(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of a data set."""
    from tagtopics.datasets import list_datasets

    return [(row.name, row.description) for row in list_datasets() if row.name.startswith(incomplete)]


def _model_names(incomplete: str) -> list[str]:
    from tagtopics.cli.estimators import MODELS

    return [name for name in MODELS if name.startswith(incomplete)]


def option(
    text: str, *names: str, default: str | bool = True, metavar: str | None = "N", panel: str | None = None,
    **more: Any,
) -> Any:  # fmt: skip
    """Return the declaration of an option: its help text, its names, the default that help shows."""
    return typer.Option(
        *names, metavar=metavar, help=text, show_default=default, rich_help_panel=panel, **more
    )


def flag(text: str, *names: str, **more: Any) -> Any:
    """Return the declaration of an option without a value."""
    return option(text, *names, metavar="", **more)


def top_option(text: str, **more: Any) -> Any:
    """Return the declaration of `--top`."""
    return option(text, "--top", "-n", min=1, **more)


def argument(text: str, metavar: str, **more: Any) -> Any:
    """Return the declaration of a required argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False, **more)


CorpusArgument = Annotated[
    str,
    argument("A file (.jsonl .csv .tsv .parquet ...), a folder of matrices or images, or a data set name.",
             "CORPUS", autocompletion=dataset_names),
]  # fmt: skip
InputArgument = Annotated[
    str,
    argument("Documents: a file, a folder, a data set name, or - for standard input (JSON lines).",
             "INPUT", autocompletion=dataset_names),
]  # fmt: skip
AskedArgument = Annotated[
    str | None,
    argument("Documents: a file, a folder, a data set name, or - for standard input: JSON lines, or a text "
             "per line.", "INPUT", autocompletion=dataset_names),
]  # fmt: skip
GivenOption = Annotated[
    list[str] | None,
    typer.Option("--given", "-g", metavar="TEXT", help="A text, instead of INPUT; repeat for several.",
                 show_default=False),
]  # fmt: skip
ModelArgument = Annotated[str, argument("A model folder written by `fit`.", "MODEL")]
ModelOutOption = Annotated[str, option("Model folder to write.", "--out", "-o", metavar="MODEL")]


@dataclass(frozen=True)
class OutputOptions:
    """What a command prints."""

    json: Annotated[bool, flag("Print one JSON document.", "--json")] = False
    quiet: Annotated[bool, flag("Hide progress and notes.", "--quiet", "-q")] = False
    debug: Annotated[bool, flag("Print a traceback on errors.", "--debug")] = False


def _input(text: str, default: str | bool = True, metavar: str = "COLUMN") -> Any:
    return option(text, default=default, metavar=metavar, panel="Input")


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table hold what."""

    text: Annotated[list[str] | None, _input("Text column; repeat to join several.", "text")] = None
    tags: Annotated[list[str] | None, _input("Tag column; repeat for several kinds of tags.", "tags")] = None
    id: Annotated[str | None, _input("Column of document ids.")] = None
    label: Annotated[str | None, _input("Column of document classes.")] = None
    title: Annotated[str | None, _input("Column of document titles.", "title")] = None
    date: Annotated[str | None, _input("Column of document dates.", "date, year")] = None
    url: Annotated[str | None, _input("Column of web addresses or DOIs.", "url")] = None
    format: Annotated[
        str | None,
        _input(
            "csv, xlsx, bibtex, mallet ...; an unknown name lists all formats.", "from the file name", "NAME"
        ),
    ] = None
    delimiter: Annotated[str | None, _input("Separator between values of a line.", "detected", "CHAR")] = None
    encoding: Annotated[str | None, _input("Encoding of text files.", "detected", "NAME")] = None
    query: Annotated[
        str | None, _input("SQL query for the documents of a SQLite database.", "the only table", "SQL")
    ] = None
    tag_separator: Annotated[
        str | None,
        _input("Separator between the tags of one cell.", "as in the fit, else ; or |, else ,", "TEXT"),
    ] = None


def _text(text: str, *names: str, default: str, metavar: str | None = "N", **more: Any) -> Any:
    return option(text, *names, default=default, metavar=metavar, panel="Text processing", **more)


@dataclass(frozen=True)
class TextOptions:
    """How text is split into words; None keeps the default of `TextRecipe`."""

    min_df: Annotated[
        Any,
        _text("Minimum number (5) or share (0.01) of documents with a word.",
              default="1; 2 from 100, 3 from 1,000 documents on", parser=share_or_number),
    ] = None  # fmt: skip
    max_df: Annotated[
        Any, _text("Maximum number or share of documents with a word.", default="1.0", parser=share_or_number)
    ] = None
    max_words: Annotated[int | None, _text("Keep only the N most frequent words.", default="no limit")] = None
    stop_words: Annotated[
        str | None,
        _text("Words to ignore: a language, none, or a file with one word per line.", default="english",
              metavar="LIST"),
    ] = None  # fmt: skip
    min_length: Annotated[int | None, _text("Shortest word, in characters.", default="2")] = None
    tokenizer: Annotated[
        str | None,
        _text("Segment text with: chinese, japanese or thai.", default="no tokenizer", metavar="NAME"),
    ] = None
    lemmas: Annotated[
        str | None,
        _text("Count words of this language in their dictionary form.", default="as they are",
              metavar="LANGUAGE"),
    ] = None  # fmt: skip
    phrases: Annotated[
        bool | None,
        _text("Count phrases, such as neural network, as words.", "--phrases/--no-phrases",
              default="no-phrases", metavar=None),
    ] = None  # fmt: skip
    ngrams: Annotated[int | None, _text("Also count sequences of up to N words.", default="1")] = None
    lowercase: Annotated[
        bool | None,
        _text("Convert text to lower case.", "--lowercase/--keep-case", default="lowercase", metavar=None),
    ] = None
    token_pattern: Annotated[
        str | None,
        _text("Regular expression that matches one word.", default="Unicode words", metavar="REGEX"),
    ] = None
    strip_html: Annotated[
        bool | None,
        _text("Remove HTML from texts.", "--strip-html/--keep-html", default="strip-html", metavar=None),
    ] = None


def _image(text: str, default: str, metavar: str = "N") -> Any:
    return option(text, default=default, metavar=metavar, panel="Images")


@dataclass(frozen=True)
class ImageOptions:
    """How images become visual words; None keeps the default of `VisualVocabulary`."""

    on_error: Annotated[str | None, _image("What to do with an unreadable image.", "skip", "skip|raise")] = (
        None
    )
    codebook: Annotated[
        int | None, _image("Number of words for patterns, and the same number for colours.", "by descriptor")
    ] = None
    working_pixels: Annotated[int | None, _image("Scale images to this area in pixels.", "192 x 128")] = None


def _model(text: str, default: str | bool, metavar: str = "N", **more: Any) -> Any:
    return option(text, default=default, metavar=metavar, panel="Model", **more)


@dataclass(frozen=True)
class ModelOptions:
    """Which estimator, with which parameters; None keeps the estimator's default."""

    model: Annotated[
        str,
        _model("ttm, markov, lda, atm, rtm, llda, gibbs or vb.", True, "NAME",
               autocompletion=_model_names),
    ] = "ttm"  # fmt: skip
    topics: Annotated[int | None, _model("Number of topics.", "20")] = None
    preset: Annotated[
        str | None,
        _model("default, fast, or paper: plain sweeps as in the paper.", "by model", "NAME"),
    ] = None
    order: Annotated[int | None, _model("Maximum number of tags in a higher-order relation.", "3")] = None
    pairwise_weight: Annotated[
        float | None,
        _model("Weight of documents that share a tag, of --model markov.", "0.1", "X"),
    ] = None
    higher_order_weight: Annotated[
        float | None,
        _model("Weight of all tags of a document together, of --model markov.", "0.05", "X"),
    ] = None
    tag_pseudo_count: Annotated[
        float | None,
        _model("Tokens that the known tags of a document are worth, of --model markov.", "5.0", "X"),
    ] = None
    iterations: Annotated[
        int | None, _model("Maximum number of sweeps: 100; paper: 200; large corpora: 25.", "by preset")
    ] = None
    tolerance: Annotated[float | None, _model("Stop when the mean change is below this.", "0.002", "X")] = (
        None
    )
    doc_topic_prior: Annotated[
        Any,
        _model("Pseudo-count of each topic in a document: 0.1, less for many topics; 'auto' learns it.",
               "by preset", "X", parser=number_or_word),
    ] = None  # fmt: skip
    topic_word_prior: Annotated[
        float | None,
        _model("Pseudo-count of each word in a topic: 0.05, less for many topics.", "by preset", "X"),
    ] = None
    memory: Annotated[
        str | None,
        _model("stored (faster), lean (less memory: messages are recomputed), or auto.", "auto", "ENGINE"),
    ] = None
    seed: Annotated[int, _model("Random seed; equal seeds give equal results.", True)] = 0
    threads: Annotated[int | None, _model("Number of threads; does not change the result.", "all cores")] = (
        None
    )


def _long(text: str, *names: str, default: str | bool = True, metavar: str | None = "N") -> Any:
    return option(text, *names, default=default, metavar=metavar, panel="Long fits")


@dataclass(frozen=True)
class ScaleOptions:
    """Where a long fit runs, and how it is checkpointed."""

    engine: Annotated[
        str, _long("local, or ray for a cluster (shards only); same result.", metavar="NAME")
    ] = "local"
    workers: Annotated[int | None, _long("Number of Ray workers.", default="2")] = None
    address: Annotated[
        str | None,
        _long("Address of a running Ray cluster.", default="start one on this machine", metavar="ADDRESS"),
    ] = None
    lost: Annotated[str, _long("If a worker's state is lost: stop, or refit its part.", metavar="HOW")] = (
        "stop"
    )
    checkpoint: Annotated[
        str | None,
        _long("Where to save the unfinished fit: a file, or a folder for shards.",
              default="for shards, OUT.run", metavar="PATH"),
    ] = None  # fmt: skip
    checkpoint_every: Annotated[int, _long("Sweeps between two checkpoints.")] = 10
    checkpoint_minutes: Annotated[
        float | None, _long("Maximum minutes between two checkpoints.", default="no limit")
    ] = None
    resume: Annotated[
        bool, _long("Continue from the checkpoint, if there is one.", "--resume", metavar=None)
    ] = False


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose option groups are expanded into single options, as typer expects them."""
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
