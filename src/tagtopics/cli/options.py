"""Declaring options, and the options that several commands share, in groups taken as one parameter.

Defaults of estimators and recipes are shown as text: `--help` must not load NumPy. A test compares them with
the declared ones.
"""
# ruff: noqa: RUF009  # the defaults of groups are dataclass fields

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Annotated, Any, get_type_hints

import typer


def share_or_number(value: str) -> int | float:
    """Parse a number of documents (5) or a share of them (0.5)."""
    try:
        return float(value) if any(c in value for c in ".eEnN") else int(value)
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is neither a number (5) nor a share (0.5)") from None


def option(
    text: str,
    *names: str,
    default: str | bool = True,
    metavar: str = "N",
    panel: str | None = None,
    **more: Any,
) -> Any:
    """Return the declaration of an option: its help text, its names, the default that help shows."""
    if isinstance(default, str):  # typer would put it in parentheses
        text, default = f"{text} [dim]\\[default: {default}][/dim]", False
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


_ANY_DOCUMENTS = "Documents: a file, a folder, a data set name, or - for standard input"
_ANY_CORPUS = "A file (.jsonl .csv .tsv .parquet ...), a folder of matrices or images, or a data set name."
CorpusArgument = Annotated[str, argument(_ANY_CORPUS, "CORPUS")]
InputArgument = Annotated[str, argument(f"{_ANY_DOCUMENTS} (JSON lines).", "INPUT")]
AskedArgument = Annotated[str | None, argument(f"{_ANY_DOCUMENTS}: JSON lines, or a text per line.", "INPUT")]
GivenOption = Annotated[
    list[str] | None,
    option("A text, instead of INPUT; repeat for several.", "--given", "-g", default=False, metavar="TEXT"),
]
VectorsOption = Annotated[
    str | None,
    option("Vectors of the documents, a row for each: a file of numpy.save.", default="none", metavar="FILE"),
]
ModelArgument = Annotated[str, argument("A model folder written by `fit`.", "MODEL")]
ModelOutOption = Annotated[str, option("Model folder to write.", "--out", "-o", metavar="MODEL")]


_output = partial(flag, panel="Output")


@dataclass(frozen=True)
class OutputOptions:
    """What a command prints."""

    json: Annotated[bool, _output("Print one JSON document.", "--json")] = False
    quiet: Annotated[bool, _output("Hide progress and notes.", "--quiet", "-q")] = False
    debug: Annotated[bool, _output("Print a traceback on errors.", "--debug")] = False


def _field(
    text: str, shown: str | bool = True, metavar: str = "N", *names: str, value: Any = None, **more: Any
) -> Any:  # fmt: skip
    """Return an option as the field of a group: `value` is its default, `shown` how help shows it."""
    declared = option(text, *names, default=shown, metavar=metavar, **more)
    return field(default=value, metadata={"option": declared})


_input = partial(_field, panel="Reading the input")
_text = partial(_field, panel="Text processing")
_model = partial(_field, panel="Model")
_long = partial(_field, panel="Fits to shards")


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table hold what."""

    text: list[str] | None = _input("Text column; repeat to join several.", "text", "COLUMN")
    tags: list[str] | None = _input("Tag column; repeat for several kinds of tags.", "tags", "COLUMN")
    id: str | None = _input("Column of document ids.", True, "COLUMN")
    label: str | None = _input("Column of document classes.", True, "COLUMN")
    title: str | None = _input("Column of document titles.", "title", "COLUMN")
    date: str | None = _input("Column of document dates.", "date, year", "COLUMN")
    url: str | None = _input("Column of web addresses or DOIs.", "url", "COLUMN")
    format: str | None = _input("csv, xlsx ...; an unknown name lists all.", "from the file name", "NAME")
    delimiter: str | None = _input("Separator between values of a line.", "detected", "CHAR")
    encoding: str | None = _input("Encoding of text files.", "detected", "NAME")
    query: str | None = _input("SQL query for the documents of a SQLite database.", "the only table", "SQL")
    tag_separator: str | None = _input("Separator of tags.", "as in the fit, else ; or |, else ,", "TEXT")


@dataclass(frozen=True)
class TextOptions:
    """How text is split into words; None keeps the default of `TextRecipe`."""

    min_df: Any = _text(
        "Minimum number (5) or share (0.01) of documents with a word.",
        "1; 2 from 100, 3 from 1,000 documents on", parser=share_or_number,
    )  # fmt: skip
    max_df: Any = _text("Maximum number or share of documents with a word.", "1.0", parser=share_or_number)
    max_words: int | None = _text("Keep only the N most frequent words.", "no limit")
    stop_words: str | None = _text("Words to ignore: language, none, or file of words.", "english", "LIST")
    min_length: int | None = _text("Shortest word, in characters.", "2")
    tokenizer: str | None = _text("Segment text with: chinese, japanese or thai.", "no tokenizer", "NAME")
    ngrams: int | None = _text("Also count sequences of up to N words.", "1")
    lowercase: bool | None = _text("Convert text to lower case.", "lowercase", "", "--lowercase/--keep-case")
    token_pattern: str | None = _text("Regular expression that matches one word.", "Unicode words", "REGEX")
    strip_html: bool | None = _text("Remove HTML from texts.", "strip-html", "", "--strip-html/--keep-html")


@dataclass(frozen=True)
class ModelOptions:
    """Which estimator, with which parameters; None keeps the estimator's default."""

    model: str = _model("ttm, markov, lda, atm, rtm or llda.", True, "NAME", value="ttm")
    topics: int | None = _model("Number of topics.", "20")
    preset: str | None = _model("default, fast, or paper: plain sweeps as in the paper.", "by model", "NAME")
    order: int | None = _model("Maximum number of tags in a higher-order relation.", "3")
    pairwise_weight: float | None = _model("Weight of documents that share a tag (markov).", "0.1", "X")
    higher_order_weight: float | None = _model("Weight of all tags of a document (markov).", "0.05", "X")
    tag_pseudo_count: float | None = _model("Tokens that known tags are worth (markov).", "5.0", "X")
    iterations: int | None = _model("Maximum number of sweeps: 100; paper: 200; large: 25.", "by preset")
    tolerance: float | None = _model("Stop when the mean change is below this.", "0.002", "X")
    doc_topic_prior: float | None = _model("Pseudo-count of each topic in a document.", "by preset", "X")
    topic_word_prior: float | None = _model("Pseudo-count of each word in a topic.", "by preset", "X")
    memory: str | None = _model("stored (faster), lean (recomputes messages), or auto.", "auto", "ENGINE")
    seed: int = _model("Random seed; equal seeds give equal results.", value=0)
    threads: int | None = _model("Number of threads; does not change the result.", "all cores")


@dataclass(frozen=True)
class ScaleOptions:
    """Where a long fit runs, and how it is checkpointed."""

    engine: str = _long("local, or ray for a cluster; same result.", True, "NAME", value="local")
    workers: int | None = _long("Number of Ray workers.", "2", min=1)
    address: str | None = _long("Address of a running Ray cluster.", "start one on this machine", "ADDRESS")
    checkpoint: str | None = _long("Folder for the state after each sweep.", "OUT.run", "FOLDER")
    resume: bool = _long("Continue an interrupted fit to shards.", True, "", "--resume", value=False)


def expand_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose option groups are expanded into single options, as typer expects them."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters.extend(_options_of(hints[name]))
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY))

    def command(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    command.__doc__ = function.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _options_of(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a group as parameters; the option is in the metadata, or in the annotation."""
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for item in fields(group):
        hint = Annotated[hints[item.name], item.metadata["option"]] if item.metadata else hints[item.name]
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(item.name, kind, default=item.default, annotation=hint))
    return parameters
