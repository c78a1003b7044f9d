"""What the user names on the command line, read as a corpus or a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tagtopics.cli.options import ColumnOptions, OutputOptions, TextOptions
from tagtopics.cli.output import clean_line, error_console, note
from tagtopics.errors import CorpusWarning, InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


# ------------------------------------------------------------------------------------------- models


def load(path: str) -> TopicModel:
    """Load a model of any kind."""
    import tagtopics

    return tagtopics.load(path)


def load_with_documents(path: str) -> tuple[TopicModel, Corpus | None]:
    """Load a model of any kind, and the documents saved with it, if there are any."""
    import tagtopics.baselines  # noqa: F401  # registers its estimators
    from tagtopics.models.persistence import load_with_corpus

    return load_with_corpus(path)


def load_tagged(path: str, method: str = "tag_profile") -> TTM:
    """Load a model that has profiles of tags, or another method about tags."""
    model = load(path)
    if not hasattr(model, method):
        what = {"tag_profile": "has no tag profiles", "explain": "does not credit words to tags"}[method]
        raise InputError(f"{path}: {type(model).__name__} {what}; use fit --model ttm")
    if not model.tag_names_:
        raise InputError(f"{path}: this model was fitted to documents without tags")
    return model


# ---------------------------------------------------------------------------------------- documents


def read_training(
    source: str,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    visual: Any = None,
) -> Corpus:
    """Read the corpus to fit a model to, and note what the reader reports."""
    from tagtopics.corpus import read_corpus

    recipe = text_recipe(text)
    if is_path(source):
        with _reading("Reading", output):
            corpus = read_corpus(source, **column_settings(columns), recipe=recipe, visual=visual)
    else:
        if columns != ColumnOptions() or text != TextOptions():
            note(f"{source} is a data set: input and text options have no effect")
        corpus = load_named(source, output)
    _note_all(corpus)
    return corpus


def read_asked(
    source: str | None,
    given: Sequence[str] | None,
    columns: ColumnOptions,
    model: TopicModel,
    output: OutputOptions,
    *,
    known: bool = True,
    tagged: bool = True,
) -> Corpus:
    """Read the documents of a question in the words, tags and recipe of a model.

    They are a source, or texts given on the command line. The model must know some of their words if `known`.
    If the question is not about their tags (`tagged`), nothing is said about tags that are missing.
    """
    if (source is None) == (not given):
        raise InputError("name the documents: either INPUT, or --given TEXT")
    if source is None:
        from tagtopics.models.documents import read_documents

        corpus = read_documents(model, list(given or ()))
    else:
        corpus = _read_new(source, columns, model, output, "query", tagged=tagged)
    if known and corpus.counts.nnz == 0:
        raise InputError(f"{source or '--given'}: has no word that the model knows; is it the right model?")
    return corpus


def read_vectors(path: str | None, refused: bool = False) -> Any:
    """Return the vectors of a file of NumPy, whose rows the model checks; None without a file."""
    if path is None:
        return None
    if refused:
        raise InputError("--vectors needs a fit without --curation and --guided")
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "not a file of numpy.save with numbers"
        raise InputError(f"--vectors {path}: {reason}") from None


def read_more(source: str, columns: ColumnOptions, model: TopicModel, output: OutputOptions) -> Corpus:
    """Read documents to update a model with: its recipe, but with new words and tags."""
    corpus = _read_new(source, columns, model, output, "update")
    if not set(corpus.vocabulary) & set(model.vocabulary_):
        note(f"{source} has no word that the model knew; is it the right model?")
    return corpus


def _read_new(
    source: str,
    columns: ColumnOptions,
    model: TopicModel,
    output: OutputOptions,
    purpose: Literal["query", "update"],
    *,
    tagged: bool = True,
) -> Corpus:
    """Read new documents for a model; standard input is "-"."""
    from tagtopics.images.decode import holds_images
    from tagtopics.models import documents

    if source != "-" and not is_path(source):
        corpus = load_named(source, output)
        return documents.in_model_columns(model, corpus) if purpose == "query" else corpus
    if model.visual_ is None and source != "-" and holds_images(Path(source)):
        raise InputError(f"{source}: holds images, but the model was not fitted on images")
    reading = column_settings(columns)
    if not tagged and model.columns_ is not None:
        reading["columns"] = model.columns_.without_tags()
    place = _standard_input() if source == "-" else Path(source)
    corpus = documents.read_documents(model, place, None, purpose, **reading)
    _note_all(corpus)
    return corpus


def require_tags(corpus: Corpus, source: str, columns: ColumnOptions, model: TopicModel) -> None:
    """Raise `InputError` if the documents have no tags because their column is missing."""
    earlier = None if model.columns_ is None else model.columns_.tags
    if corpus.tags.nnz or columns.tags or earlier is None:
        return
    if corpus.columns is not None and corpus.columns.tags is None:
        names = ", ".join(map(repr, [earlier] if isinstance(earlier, str) else earlier))
        raise InputError(f"{source}: no column {names}, which had the tags in the fit; name it with --tags")


def load_named(name: str, output: OutputOptions) -> Corpus:
    """Load a data set by name."""
    if "/" in name or "\\" in name or "." in name or not name.strip():
        raise InputError(f"no such file or folder: {name!r}")
    from tagtopics.datasets import load_dataset

    with _reading(f"Loading {clean_line(name)}", output):
        return load_dataset(name)


def is_path(source: str) -> bool:
    """Tell whether a source is an existing file or folder, rather than a data set name."""
    return bool(source) and Path(source).exists()


# ------------------------------------------------------------------------------- options as settings


def text_recipe(options: TextOptions) -> TextRecipe:
    """Return the recipe that the options describe."""
    from tagtopics.corpus import TextRecipe

    chosen: dict[str, Any] = {name: value for name, value in asdict(options).items() if value is not None}
    if "ngrams" in chosen:
        chosen["ngram_range"] = (1, chosen.pop("ngrams"))
    if "stop_words" in chosen:
        chosen["stop_words"] = _stop_words(chosen["stop_words"])
    return TextRecipe(**chosen)


def column_settings(columns: ColumnOptions) -> dict[str, Any]:
    """Return the column options as `read_corpus` takes them."""
    several = {"text": columns.text or None, "tags": columns.tags or None}
    return asdict(columns) | {
        **{what: names[0] if names and len(names) == 1 else names for what, names in several.items()},
        "delimiter": "\t" if columns.delimiter in ("\\t", "tab") else columns.delimiter,
    }


def _stop_words(value: str) -> str | tuple[str, ...] | None:
    from tagtopics.corpus.recipe import LANGUAGES

    if value == "none" or value in LANGUAGES:
        return None if value == "none" else value
    from tagtopics.corpus.formats.text_files import name_lines

    try:
        return tuple(word.strip() for word in name_lines(Path(value)) if word.strip())
    except InputError as error:
        raise InputError(
            f"--stop-words must be a language, such as english, none or a file: {error}"
        ) from None


# ------------------------------------------------------------------------------------------ helpers


@contextmanager
def _reading(what: str, output: OutputOptions) -> Iterator[None]:
    """Show on a terminal what is done; warnings are ignored, since the corpus has them as notices."""
    shown = nullcontext() if output.quiet or not sys.stderr.isatty() else error_console().status(what)
    with shown, warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        yield


def _note_all(corpus: Corpus) -> None:
    for line in corpus.notices:
        note(line)


def _standard_input() -> list[dict[str, Any]] | list[str]:
    """Return the JSON objects on standard input, one per line; or its lines, if the first is no JSON."""
    lines = [(number, line) for number, line in enumerate(sys.stdin.buffer, start=1) if line.strip()]
    if not lines:
        raise InputError("standard input: no documents")
    from tagtopics.corpus.formats.jsonl import json_object

    is_json = lines[0][1].lstrip().startswith((b"{", b"["))
    rows: list[Any] = []
    for number, line in lines:
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise InputError(f"standard input, line {number}: not UTF-8 text") from None
        rows.append(json_object(text, "standard input", number) if is_json else text)
    return rows
