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
_TEXT = "Text processing"
_IMAGES = "Images"
_MODEL = "Model"
_LONG = "Long fits"

_TTM = "models/ttm.py"
_RECIPE = "corpus/recipe.py"


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
    return {name: _text(value) for name, value in found.items() if value is not None}


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(files("tagtopics").joinpath(path).read_text(encoding="utf-8"))


def _text(value: ast.expr) -> str:
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


@dataclass(frozen=True)
class TextOptions:
    """How text is split into words; None keeps the default of `TextRecipe`."""

    min_df: Annotated[
        Any,
        _option(
            _TEXT,
            "Minimum number (5) or share (0.01) of documents with a word.",
            default_of(_RECIPE, "TextRecipe", "min_df"),
            parser=share_or_number,
        ),
    ] = None
    max_df: Annotated[
        Any,
        _option(
            _TEXT,
            "Maximum number or share of documents with a word.",
            default_of(_RECIPE, "TextRecipe", "max_df"),
            parser=share_or_number,
        ),
    ] = None
    max_words: Annotated[int | None, _option(_TEXT, "Keep only the N most frequent words.", "no limit")] = (
        None
    )
    stop_words: Annotated[
        str | None,
        _option(
            _TEXT,
            "Words to ignore: english, none, or a file with one word per line.",
            default_of(_RECIPE, "TextRecipe", "stop_words"),
            "LIST",
        ),
    ] = None
    ngrams: Annotated[int | None, _option(_TEXT, "Also count sequences of up to N words.", "1")] = None
    lowercase: Annotated[
        bool | None,
        typer.Option(
            "--lowercase/--keep-case",
            help="Convert text to lower case.",
            show_default="lowercase",
            rich_help_panel=_TEXT,
        ),
    ] = None
    token_pattern: Annotated[
        str | None,
        _option(_TEXT, "Regular expression that matches one word.", "Unicode words", "REGEX"),
    ] = None


@dataclass(frozen=True)
class ImageOptions:
    """How images become visual words; None keeps the default of `VisualVocabulary`."""

    on_error: Annotated[
        str | None,
        _option(
            _IMAGES,
            "What to do with an unreadable image.",
            default_of("corpus/images/vocabulary.py", "VisualVocabulary", "on_error"),
            "skip|raise",
        ),
    ] = None
    codebook: Annotated[
        int | None,
        _option(_IMAGES, "Number of words for patterns, and the same number for colours.", "by descriptor"),
    ] = None
    working_pixels: Annotated[
        int | None, _option(_IMAGES, "Scale images to this area in pixels.", "192 x 128")
    ] = None


@dataclass(frozen=True)
class ModelOptions:
    """Which estimator, with which parameters; None keeps the estimator's default."""

    model: Annotated[
        str,
        _option(
            _MODEL,
            "ttm (the paper's TTM-H), lda, atm, rtm, llda, gibbs or vb.",
            metavar="NAME",
            autocompletion=_model_names,
        ),
    ] = "ttm"
    topics: Annotated[
        int | None, _option(_MODEL, "Number of topics.", default_of(_TTM, "TTM", "n_topics"))
    ] = None
    preset: Annotated[
        str | None,
        _option(
            _MODEL, "default, paper, or fast: fewer sweeps, slightly different topics.", "default", "NAME"
        ),
    ] = None
    order: Annotated[
        int | None,
        _option(
            _MODEL, "Maximum number of tags in a higher-order relation.", default_of(_TTM, "TTM", "order")
        ),
    ] = None
    pairwise_weight: Annotated[
        Any,
        _option(
            _MODEL,
            "Weight of documents that share a tag, or 'auto' to learn it.",
            default_of(_TTM, "TTM", "pairwise_weight"),
            "X",
            parser=number_or_word,
        ),
    ] = None
    higher_order_weight: Annotated[
        Any,
        _option(
            _MODEL,
            "Weight of all tags of a document together, or 'auto'.",
            default_of(_TTM, "TTM", "higher_order_weight"),
            "X",
            parser=number_or_word,
        ),
    ] = None
    tag_pseudo_count: Annotated[
        Any,
        _option(
            _MODEL,
            "Number of tokens that the known tags of a new document are worth, or 'auto'.",
            "by preset",
            "X",
            parser=number_or_word,
        ),
    ] = None
    iterations: Annotated[
        int | None, _option(_MODEL, "Maximum number of sweeps.", default_of(_TTM, "TTM", "max_iter"))
    ] = None
    tolerance: Annotated[
        float | None,
        _option(_MODEL, "Stop when the mean change is below this.", default_of(_TTM, "TTM", "tol"), "X"),
    ] = None
    doc_topic_prior: Annotated[
        Any,
        _option(
            _MODEL,
            "Pseudo-count of each topic in a document, or 'auto' to learn it.",
            default_of(_TTM, "TTM", "doc_topic_prior"),
            "X",
            parser=number_or_word,
        ),
    ] = None
    topic_word_prior: Annotated[
        float | None,
        _option(
            _MODEL, "Pseudo-count of each word in a topic.", default_of(_TTM, "TTM", "topic_word_prior"), "X"
        ),
    ] = None
    memory: Annotated[
        str | None,
        _option(
            _MODEL,
            "stored (faster), lean (less memory: messages are recomputed), or auto.",
            default_of(_TTM, "TTM", "memory"),
            "ENGINE",
        ),
    ] = None
    seed: Annotated[int, _option(_MODEL, "Random seed; equal seeds give equal results.")] = 0
    threads: Annotated[
        int | None, _option(_MODEL, "Number of threads; does not change the result.", "all cores")
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
