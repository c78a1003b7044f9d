"""Reading a corpus from whatever the user has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.assemble import Documents, Reading, Terms, from_counts, from_documents
from tagtopics.corpus.columns import Columns, documents_of, texts_of
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.counted import Counted, with_tags
from tagtopics.corpus.formats.ldac import read_ldac
from tagtopics.corpus.formats.mat import read_mat
from tagtopics.corpus.formats.matrix_folder import read_folder
from tagtopics.corpus.formats.mulan import read_mulan
from tagtopics.corpus.formats.svmlight import read_svmlight
from tagtopics.corpus.formats.tables import (
    Table,
    frame_of,
    read_csv,
    read_jsonl,
    read_parquet,
    read_tsv,
    table_of_frame,
    table_of_rows,
)
from tagtopics.corpus.formats.uci import read_uci
from tagtopics.corpus.images.decode import holds_images, is_image
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import TagLists, name_of
from tagtopics.corpus.text import Tokenizer
from tagtopics.errors import CorpusWarning, InputError

_TABLES: Mapping[str, Callable[[Path, Collection[str]], Table]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
}
_COUNTS: Mapping[str, Callable[[Path], Counted]] = {
    "folder": read_folder,
    "uci": read_uci,
    "mulan": read_mulan,
    "mat": read_mat,
}
FORMATS = (*_TABLES, *_COUNTS, "ldac", "svmlight", "images")
"""The names that `read_corpus` takes as a format."""

_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".ldac": "ldac", ".lda-c": "ldac", ".dat": "ldac",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".arff": "mulan", ".mat": "mat",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Given:
    """What the caller said about texts, tags, ids and labels: names of columns, or the values themselves."""

    text: Any
    tags: Any
    id: Any
    label: Any
    separator: str | None
    visual: Any = None

    def columns(self) -> Columns:
        return Columns(text=self.text, tags=self.tags, id=self.id, label=self.label, separator=self.separator)


def read_corpus(
    source: Any,
    *,
    text: str | Sequence[str] | None = None,
    tags: Any = None,
    id: Any = None,
    label: Any = None,
    recipe: TextRecipe | None = None,
    tokenizer: Tokenizer | None = None,
    vocabulary: Sequence[str] | None = None,
    tag_names: Sequence[str] | None = None,
    tag_separator: str | None = None,
    format: str | None = None,
    visual: Any = None,
) -> Corpus:
    """Read a corpus from a file, a folder, a table, texts, images, or a matrix of counts.

    Where the source is a table (JSON lines, CSV, TSV, Parquet, a data frame, dictionaries), `text`, `tags`,
    `id` and `label` name columns; columns called so are the default. Where it is a list of texts or a matrix
    of counts, `tags`, `id` and `label` are the values themselves, one for each document. Where it is a folder
    of images, `tags` is a file of tags (CSV, TSV, JSON, JSON lines; `id` and `label` name its columns),
    "sidecar" for a JSON file beside each image, or "folders" for the names of sub-folders.

    Args:
        source: a path; a pandas, polars or Arrow table; a list of texts or of dictionaries; or a matrix of
            counts, documents x words.
        text: the column of the text, or several to be joined. A column of objects `{word: count}` is taken
            as counts.
        tags: the column of the tags; several columns make tags of several kinds, `author:Jane Doe`. For
            counts: a documents x tags matrix, lists of tags, or a file with a line of tags a document.
        id: the column of the documents' names.
        label: the column of the documents' classes.
        recipe: how text becomes words; None for `TextRecipe()`.
        tokenizer: a function from text to words in place of the recipe's own; it cannot be saved.
        vocabulary: the words to count, where they are known already; others are left out and reported.
        tag_names: the tags to keep, likewise.
        tag_separator: what divides the tags of one string. The default is `;` and `|` if either occurs in
            the column, else `,`.
        format: one of jsonl, csv, tsv, parquet, folder, uci, ldac, svmlight, mulan, mat, images, where the
            name of the file does not tell.
        visual: for images, the `VisualVocabulary`: of a model (`model.visual_`), or one with settings of
            your own that is still to learn its codebooks; None for the paper's.

    Returns:
        the corpus, with a notice for everything that was decided on the way.

    Raises:
        InputError: if the source cannot be read; the message says where and what to do.
    """
    given = _Given(text=text, tags=tags, id=id, label=label, separator=tag_separator, visual=visual)
    terms = Terms(
        recipe=recipe or TextRecipe(), tokenizer=tokenizer, vocabulary=vocabulary, tag_names=tag_names
    )
    if isinstance(source, str | Path):
        reading = _read_path(*find_source(source, format), given, terms)
    else:
        reading = _read_memory(source, given, terms)
    if reading.odd:
        warnings.warn("; ".join(reading.odd), CorpusWarning, stacklevel=2)
    return reading.corpus


def find_source(source: str | Path, format: str | None) -> tuple[Path, str]:
    """Return the path that the user named, which must exist, and its format, one of `FORMATS`."""
    path = _path(source)
    if format is not None and format not in FORMATS:
        raise InputError(f"format: unknown {str(format)[:40]!r}; known are {', '.join(FORMATS)}")
    return path, format or _guess_format(path)


def _read_path(path: Path, kind: str, given: _Given, terms: Terms) -> Reading:
    if kind in _TABLES:
        columns = given.columns()
        return from_documents(documents_of(_TABLES[kind](path, columns.wanted()), columns), terms)
    if kind == "images":
        return _read_images(path, given, terms)
    n_words = None if terms.vocabulary is None else len(terms.vocabulary)
    if kind == "ldac":
        counted = read_ldac(path, n_words, given.separator)
    elif kind == "svmlight":
        counted = read_svmlight(path, n_words)
    else:
        counted = _COUNTS[kind](path)
    return from_counts(_add_given(counted, given), terms)


def _read_images(path: Path, given: _Given, terms: Terms) -> Reading:
    from tagtopics.corpus.images.folder import read_images
    from tagtopics.corpus.images.tagfiles import Wanted

    wanted = Wanted(tags=given.tags, id=given.id, label=given.label, separator=given.separator)
    return read_images(path, wanted, given.visual, terms)


def _read_memory(source: Any, given: _Given, terms: Terms) -> Reading:
    if sp.issparse(source) or (isinstance(source, np.ndarray) and source.ndim == 2):
        return from_counts(_add_given(Counted(source="counts", counts=source), given), terms)
    if not isinstance(source, list | tuple | np.ndarray):
        frame = frame_of(source)
        if frame is not None:
            columns = given.columns()
            return from_documents(documents_of(table_of_frame(frame, columns.wanted()), columns), terms)
    rows = _rows(source)
    if rows and isinstance(rows[0], Mapping):
        names = given.columns()
        return from_documents(documents_of(table_of_rows(rows, names.wanted()), names), terms)
    return from_documents(_texts(rows, given), terms)


def _rows(source: Any) -> list[Any]:
    """Return a series, an array or another iterable as a list."""
    if isinstance(source, Mapping | bytes) or not hasattr(source, "__iter__"):
        raise InputError(
            f"cannot read a corpus from {type(source).__name__}; "
            "give a path, a table, a list of texts or a matrix"
        )
    return list(source)


def _texts(rows: list[Any], given: _Given) -> Documents:
    """Return a list of texts as documents, with the tags, ids and labels given beside it."""
    if given.text is not None:
        raise InputError("text: names a column, but the source is a list of texts; leave it out")
    table = Table("list", {}, (), len(rows))
    counted = _add_given(Counted(source="list", counts=np.zeros((len(rows), 0))), given)
    if not (counted.tags is None or isinstance(counted.tags, TagLists)):
        raise InputError("tags: for a list of texts, give a list of tags for each text")
    return Documents(
        source="list",
        texts=texts_of(rows, table, "a text"),
        tags=counted.tags,
        ids=counted.ids,
        labels=counted.labels,
    )


def _add_given(counted: Counted, given: _Given) -> Counted:
    """Return counts with the tags, ids and labels that the user gave as values."""
    counted = with_tags(counted, given.tags, given.separator)
    ids = _values(given.id, "id")
    if ids is not None:
        counted = replace(counted, ids=[name or str(row) for row, name in enumerate(ids)])
    labels = _values(given.label, "label")
    if labels is not None:
        counted = replace(counted, labels=labels)
    return counted


def _values(values: Any, what: str) -> list[str | None] | None:
    if values is None:
        return None
    if isinstance(values, str):
        raise InputError(
            f"{what}: {values[:40]!r} names a column, but the source is no table; give the values"
        )
    return [name_of(value, partial("{}, row {}".format, what, row), what) for row, value in enumerate(values)]


def _path(source: str | Path) -> Path:
    path = Path(source)
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    if not there:
        raise InputError(
            f"no such file: {str(source)[:200]!r}" if len(str(source)) > 200 else f"no such file: {source}"
        )
    return path


def _guess_format(path: Path) -> str:
    if path.is_dir():
        return _guess_folder(path)
    if path.name.startswith("docword."):
        return "uci"
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    kind = "images" if is_image(path) else _SUFFIXES.get(bare.suffix.lower())
    if kind is None:
        raise InputError(
            f"{path}: cannot tell the format from the name; say format= one of {', '.join(FORMATS)}"
        )
    return kind


def _guess_folder(folder: Path) -> str:
    if any(folder.glob("docword.*")):
        return "uci"
    if any(folder.glob("*_wd.mat")) and not (folder / "words.npz").is_file():
        return "mat"
    return "images" if holds_images(folder) else "folder"
