"""Options that several commands share, in groups that a command takes as one parameter."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, get_type_hints

import typer

_INPUT = "Input"
_IMAGES = "Images"
_LONG = "Long fits"


# --------------------------------------------------------------------------------- declared defaults


def default_of(path: str, owner: str, name: str) -> str:
    """Return the default that a class declares for a parameter or field, as help texts show it.

    The source file is parsed, not imported: `--help` must not load NumPy.

    Args:
        path: the source file, relative to the package.
        owner: the class in it.
        name: a parameter of its `__init__`, or a field of the dataclass.
    """
    return _declared(path, owner)[name]


def constant_of(path: str, name: str) -> str:
    """Return a module-level constant as help texts show it."""
    for node in _parsed(path).body:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets):
            value = ast.literal_eval(node.value)
            return f"{value:,}" if isinstance(value, int) else str(value)
    raise KeyError(f"{path} does not define {name}")


@cache
def _declared(path: str, owner: str) -> Mapping[str, str]:
    found: dict[str, ast.expr | None] = {}
    classes = (node for node in _parsed(path).body if isinstance(node, ast.ClassDef) and node.name == owner)
    for node in next(classes).body:
        if isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target)] = node.value
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
            arguments = node.args
            positional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
            found |= {a.arg: value for a, value in zip(positional, arguments.defaults, strict=True)}
            found |= {
                a.arg: value for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            }
    return {name: _as_text(value) for name, value in found.items() if value is not None}


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(files("tagtopics").joinpath(path).read_text(encoding="utf-8"))


def _as_text(value: ast.expr) -> str:
    """Return a literal as text; of any other expression, its source."""
    try:
        return str(ast.literal_eval(value))
    except ValueError:
        return ast.unparse(value)


# ------------------------------------------------------------------------------------ value parsers


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


# ---------------------------------------------------------------------------------------- arguments

CorpusArgument = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A file (.jsonl .csv .tsv .parquet ...), a folder of matrices or images, or a data set name.",
        autocompletion=dataset_names,
        show_default=False,
    ),
]
InputArgument = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="Documents: a file, a folder, a data set name, or - for JSON lines on standard input.",
        autocompletion=dataset_names,
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model folder written by `fit`.", show_default=False)
]
ModelOutOption = Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="Model folder to write.")]


def _option(panel: str, text: str, default: str | bool = True, metavar: str = "N", **more: Any) -> Any:
    return typer.Option(metavar=metavar, help=text, show_default=default, rich_help_panel=panel, **more)


# ------------------------------------------------------------------------------------------- groups


@dataclass(frozen=True)
class OutputOptions:
    """What a command prints."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Print a traceback on errors.")] = False


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table hold what."""

    text: Annotated[
        list[str] | None, _option(_INPUT, "Text column; repeat to join several.", "text", "COLUMN")
    ] = None
    tags: Annotated[
        list[str] | None,
        _option(_INPUT, "Tag column; repeat for several kinds of tags.", "tags", "COLUMN"),
    ] = None
    id: Annotated[str | None, _option(_INPUT, "Column of document ids.", metavar="COLUMN")] = None
    label: Annotated[str | None, _option(_INPUT, "Column of document classes.", metavar="COLUMN")] = None
    format: Annotated[
        str | None,
        _option(
            _INPUT,
            "jsonl csv tsv parquet folder uci ldac svmlight mulan mat.",
            "from the file name",
            "NAME",
        ),
    ] = None
    tag_separator: Annotated[
        str | None, _option(_INPUT, "Separator between the tags of one cell.", "; or |, else ,", "TEXT")
    ] = None


def _text(text: str, field: str, metavar: str = "N", default: str | None = None, **more: Any) -> Any:
    """Return an option of `TextRecipe`; None as its value keeps the default of the field."""
    shown = default or default_of("corpus/recipe.py", "TextRecipe", field)
    return _option("Text processing", text, shown, metavar, **more)


@dataclass(frozen=True)
class TextOptions:
    """How text is split into words; None keeps the default of `TextRecipe`."""

    min_df: Annotated[
        Any,
        _text(
            "Minimum number (5) or share (0.01) of documents with a word.", "min_df", parser=share_or_number
        ),
    ] = None
    max_df: Annotated[
        Any, _text("Maximum number or share of documents with a word.", "max_df", parser=share_or_number)
    ] = None
    max_words: Annotated[
        int | None, _text("Keep only the N most frequent words.", "max_words", default="no limit")
    ] = None
    stop_words: Annotated[
        str | None,
        _text("Words to ignore: english, none, or a file with one word per line.", "stop_words", "LIST"),
    ] = None
    ngrams: Annotated[
        int | None, _text("Also count sequences of up to N words.", "ngram_range", default="1")
    ] = None
    lowercase: Annotated[
        bool | None,
        typer.Option("--lowercase/--keep-case", help="Convert text to lower case.", show_default="lowercase",
                     rich_help_panel="Text processing"),
    ] = None  # fmt: skip
    token_pattern: Annotated[
        str | None,
        _text("Regular expression that matches one word.", "token_pattern", "REGEX", "Unicode words"),
    ] = None


@dataclass(frozen=True)
class ImageOptions:
    """How images become visual words; None keeps the default of `VisualVocabulary`."""

    on_error: Annotated[
        str | None,
        _option(_IMAGES, "What to do with an unreadable image.",
                default_of("corpus/images/vocabulary.py", "VisualVocabulary", "on_error"), "skip|raise"),
    ] = None  # fmt: skip
    codebook: Annotated[
        int | None,
        _option(_IMAGES, "Number of words for patterns, and the same number for colours.", "by descriptor"),
    ] = None
    working_pixels: Annotated[
        int | None, _option(_IMAGES, "Scale images to this area in pixels.", "192 x 128")
    ] = None


def _model(text: str, parameter: str, metavar: str = "N", default: str | None = None, **more: Any) -> Any:
    """Return an option of an estimator; None as its value keeps the default of the parameter."""
    shown = default or default_of("models/ttm.py", "TTM", parameter)
    return _option("Model", text, shown, metavar, **more)


def _number_or_auto(text: str, parameter: str, default: str | None = None) -> Any:
    return _model(text, parameter, "X", default, parser=number_or_word)


@dataclass(frozen=True)
class ModelOptions:
    """Which estimator, with which parameters; None keeps the estimator's default."""

    model: Annotated[
        str,
        _option("Model", "ttm (the paper's TTM-H), lda, atm, rtm, llda, gibbs or vb.", metavar="NAME",
                autocompletion=_model_names),
    ] = "ttm"  # fmt: skip
    topics: Annotated[int | None, _model("Number of topics.", "n_topics")] = None
    preset: Annotated[
        str | None,
        _model(
            "default, paper, or fast: fewer sweeps, slightly different topics.", "preset", "NAME", "default"
        ),
    ] = None
    order: Annotated[int | None, _model("Maximum number of tags in a higher-order relation.", "order")] = None
    pairwise_weight: Annotated[
        Any,
        _number_or_auto("Weight of documents that share a tag, or 'auto' to learn it.", "pairwise_weight"),
    ] = None
    higher_order_weight: Annotated[
        Any, _number_or_auto("Weight of all tags of a document together, or 'auto'.", "higher_order_weight")
    ] = None
    tag_pseudo_count: Annotated[
        Any,
        _number_or_auto("Number of tokens that the known tags of a new document are worth, or 'auto'.",
                        "tag_pseudo_count", "by preset"),
    ] = None  # fmt: skip
    iterations: Annotated[int | None, _model("Maximum number of sweeps.", "max_iter")] = None
    tolerance: Annotated[float | None, _model("Stop when the mean change is below this.", "tol", "X")] = None
    doc_topic_prior: Annotated[
        Any,
        _number_or_auto(
            "Pseudo-count of each topic in a document, or 'auto' to learn it.", "doc_topic_prior"
        ),
    ] = None
    topic_word_prior: Annotated[
        float | None, _model("Pseudo-count of each word in a topic.", "topic_word_prior", "X")
    ] = None
    memory: Annotated[
        str | None,
        _model("stored (faster), lean (less memory: messages are recomputed), or auto.", "memory", "ENGINE"),
    ] = None
    seed: Annotated[int, _option("Model", "Random seed; equal seeds give equal results.")] = 0
    threads: Annotated[
        int | None, _model("Number of threads; does not change the result.", "n_jobs", default="all cores")
    ] = None


@dataclass(frozen=True)
class ScaleOptions:
    """Where a long fit runs, and how it is checkpointed."""

    engine: Annotated[
        str, _option(_LONG, "local, or ray for a cluster (shards only); same result.", metavar="NAME")
    ] = "local"
    workers: Annotated[int | None, _option(_LONG, "Number of Ray workers.", "2")] = None
    address: Annotated[
        str | None,
        _option(_LONG, "Address of a running Ray cluster.", "start one on this machine", "ADDRESS"),
    ] = None
    lost: Annotated[
        str, _option(_LONG, "If a worker's state is lost: stop, or refit its part.", metavar="HOW")
    ] = "stop"
    checkpoint: Annotated[
        str | None,
        _option(
            _LONG,
            "Where to save the unfinished fit: a file, or a folder for shards.",
            "for shards, OUT.run",
            "PATH",
        ),
    ] = None
    checkpoint_every: Annotated[int, _option(_LONG, "Sweeps between two checkpoints.")] = 10
    checkpoint_minutes: Annotated[
        float | None, _option(_LONG, "Maximum minutes between two checkpoints.", "no limit")
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue from the checkpoint, if there is one.", rich_help_panel=_LONG
        ),
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
