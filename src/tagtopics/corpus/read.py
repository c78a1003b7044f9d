"""Reading a corpus from whatever the user has.

Every reader returns `Documents`; `assemble` gives their words and tags the columns of a `Corpus`. Files too
large for memory take the same way part by part; see `tagtopics.scale.ingest`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64
from tagtopics.corpus.align import align_columns
from tagtopics.corpus.cells import TagStyle, name_of, read_metadata, read_tags
from tagtopics.corpus.core import (
    PER_DOCUMENT,
    Corpus,
    Documents,
    ReadKeywords,
    ReadOptions,
    canonical_counts,
    canonical_tags,
    tag_matrix,
)
from tagtopics.corpus.formats.registry import FORMATS, check_options, find_source, is_table, read_table
from tagtopics.corpus.formats.tables import (
    documents_of_table,
    find_repeated,
    frame_of,
    table_of_frame,
    table_of_rows,
    texts_of,
)
from tagtopics.corpus.recipe import TextRecipe, language_notices
from tagtopics.corpus.text import HTML_REMOVED, TermCounter, learn, plain_texts
from tagtopics.errors import InputError, Unusual, warn


def read_corpus(source: Any, **options: Unpack[ReadKeywords]) -> Corpus:
    """Read a corpus from a file, a folder, a table, texts, images, or a matrix of counts.

    If the source is a table (JSON lines, CSV, TSV, Parquet, a data frame, dictionaries), `text`, `tags`,
    `id`, `label`, `title`, `date` and `url` name columns; the defaults are the columns with these names. If
    it is a list of texts or a matrix of counts, all but `text` are the values, one for each document. If
    it is a folder of images, `tags` is a file of tags (CSV, TSV, JSON, JSON lines; `id` and `label` name its
    columns), or "folders" for the names of sub-folders.

    Args:
        source: a path; a pandas, polars or Arrow table; a list of texts or of dictionaries; or a matrix of
            counts, documents x words.
        options: keyword arguments, all optional, as follows.
        text: the column of the text, or several to be joined.
        tags: the column of the tags; several columns give tags of several kinds, `author:Jane Doe`. For
            counts: a documents x tags matrix, or lists of tags.
        id: the column of the documents' names.
        label: the column of the documents' classes.
        title: the column of the documents' titles; by default `title`, unless it is the text or a tag.
        date: the column of their dates; by default `date`, else `year`. Titles, dates and addresses are not
            tags. What cannot be read is left out with a notice.
        url: the column of their web addresses or DOIs; by default `url`.
        recipe: how text becomes words; None for `TextRecipe()`.
        vocabulary: the words to count, if they are known; others are left out and reported.
        tag_names: the tags to keep, likewise.
        tag_separator: what divides the tags of one string. The default is `;` and `|` if either occurs in
            the column, else `,`.
        format: the format of the file, such as csv, xlsx or bibtex; None to tell it from its name and, for
            JSON, from its content.
        delimiter: what divides the values of a line of CSV; None to find out.
        encoding: of text files, such as cp1252; None for UTF-8, UTF-16 or Windows-1252, whichever fits.
        query: the SQL query whose rows are the documents of an SQLite database; None for the only table.
        columns: the columns of an earlier table (`corpus.columns`, `model.columns_`) and what divided its
            tags; used for what is not named here.
        visual: for images, the `VisualVocabulary` of a model (`model.visual_`), or a new one that learns its
            codebooks from the images; None for one with the settings of the paper.

    Returns:
        The corpus, with a notice for each decision that was made.

    Raises:
        InputError: if the source cannot be read; the message says where and what to do.
    """
    given = ReadOptions.of(options)
    if hasattr(source, "read") and not hasattr(source, "columns"):
        name = getattr(source, "name", None)
        if not (isinstance(name, str) and Path(name).is_file()):
            raise InputError(
                f"cannot read a corpus from {type(source).__name__}, which is not a file on disk; "
                "save it to a file, or give its documents as a list"
            )
        source = name
    read = _read_path if isinstance(source, str | Path) else _read_memory
    documents = read(source, given)
    if documents.counts is None and given.vocabulary is None:
        documents = documents.with_notices(language_notices(documents.texts or (), given.recipe))
    corpus = _with_notices(documents, *assemble(documents, given), given)
    if unusual := [line for line in corpus.notices if isinstance(line, Unusual)]:
        warn("; ".join(unusual))
    return corpus


def assemble(
    documents: Documents, options: ReadOptions, counter: TermCounter | None = None
) -> tuple[Corpus, Findings]:
    """Give the words and tags of documents their columns.

    Return the corpus, with a notice on rare words alone, and what the user may not expect of it. The
    documents are all, or a part of them if `options` names the vocabulary, which `counter` then counts, and
    the tags.
    """
    used, rare = documents.recipe, list[str]()
    if documents.counts is None:
        counts, vocabulary, n_unknown, used, rare = _count_texts(documents, options, counter)
    else:
        counts, vocabulary, n_unknown = _place(
            canonical_counts(documents.counts, documents.source),
            documents.vocabulary,
            options.vocabulary,
            "word",
            f"{documents.source}: vocabulary",
        )
    if 0 in counts.shape:
        raise InputError(f"{documents.source}: no {'words' if counts.shape[0] else 'documents'}")
    tags, tag_names, unknown_tags, repeated = _place_tags(documents, counts.shape[0], options.tag_names)
    values = {name: getattr(documents, name) for name in PER_DOCUMENT}
    corpus = Corpus(
        counts=counts,
        tags=tags,
        vocabulary=vocabulary,
        tag_names=tag_names,
        ids=tuple(documents.ids or map(str, range(counts.shape[0]))),
        links=documents.links,
        recipe=used,
        columns=documents.columns,
        visual=documents.visual,
        notices=tuple(rare),
        **{name: None if column is None else tuple(column) for name, column in values.items()},
    )
    found: Findings = {"unknown words": (n_unknown, ""), "unknown tags": (unknown_tags, "")}
    found["repeated"] = repeated, ""
    for what, matrix in (("wordless", corpus.counts), ("untagged", corpus.tags)):
        rows = np.flatnonzero(np.diff(matrix.indptr) == 0)
        found[what] = len(rows), corpus.ids[rows[0]] if len(rows) else ""
    return corpus, found


# ------------------------------------------------------------------------------------------------ columns


def _count_texts(
    documents: Documents, options: ReadOptions, counter: TermCounter | None
) -> tuple[CSR, tuple[str, ...], int, TextRecipe, list[str]]:
    """Return counts, words, tokens of other words, the recipe that was used, and a line on rare words."""
    texts = documents.texts or ()
    if not len(texts):
        raise InputError(f"{documents.source}: no documents")
    if options.vocabulary is None:
        counts, words, recipe, rare = learn(texts, options.recipe)
        return counts, words, 0, recipe, rare
    counter = counter or TermCounter(options.vocabulary, options.recipe)
    counts, n_unknown = counter.count(texts)
    recipe = replace(options.recipe, min_df=1) if options.recipe.min_df is None else options.recipe
    return counts, tuple(options.vocabulary), n_unknown, recipe, []


def _place_tags(
    documents: Documents, n_docs: int, tag_names: Sequence[str] | None
) -> tuple[CSR, tuple[str, ...], int, int]:
    """Return tags (D, T), the T names, how many tags were left out, and how many were repeated."""
    tags = documents.tags
    if tags is None:
        names = tuple(tag_names or ())
        return sp.csr_array((n_docs, len(names)), dtype=np.int8), names, 0, 0
    if isinstance(tags, list):
        names = tuple(sorted({tag for of_doc in tags for tag in of_doc}) if tag_names is None else tag_names)
        matrix = tag_matrix(tags, names)
        n_distinct = matrix.nnz if tag_names is None else sum(len(set(of_doc)) for of_doc in tags)
        return matrix, names, n_distinct - matrix.nnz, sum(map(len, tags)) - n_distinct
    matrix = canonical_tags(tags, f"{documents.source}: tags")
    return *_place(matrix, documents.tag_names, tag_names, "tag", f"{documents.source}: tag_names"), 0


def _place(
    matrix: CSR, have: Sequence[str] | None, want: Sequence[str] | None, stem: str, what: str
) -> tuple[CSR, tuple[str, ...], int]:
    """Return a matrix in the columns wanted, their names, and the sum of what was left out."""
    if want is None:
        return matrix, tuple(f"{stem}{i}" for i in range(matrix.shape[1])) if have is None else tuple(have), 0
    if have is None:
        if matrix.shape[1] != len(want):
            raise InputError(f"{what} has {len(want)} names for {matrix.shape[1]} columns")
        return matrix, tuple(want), 0
    aligned, n_lost = align_columns(matrix, have, want)
    return aligned, tuple(want), n_lost


# ------------------------------------------------------------------------------------------------ sources


def _read_path(source: str | Path, options: ReadOptions) -> Documents:
    path, kind = find_source(source, options.format)
    if is_table(kind):
        return documents_of_table(partial(read_table, path, kind, options=options), options)
    check_options(path, kind, options)
    read = FORMATS[kind].documents
    assert read is not None
    documents = read(path, options)
    return _with_values(documents, options) if FORMATS[kind].takes_values else documents


def _read_memory(source: Any, options: ReadOptions) -> Documents:
    if sp.issparse(source) or (isinstance(source, np.ndarray) and source.ndim == 2):
        return _with_values(Documents(source="counts", counts=source), options)
    if not isinstance(source, list | tuple | np.ndarray):
        frame = frame_of(source)
        if frame is not None:
            return documents_of_table(partial(table_of_frame, frame), options)
    if isinstance(source, Mapping | bytes) or not hasattr(source, "__iter__"):
        raise InputError(
            f"cannot read a corpus from {type(source).__name__}; "
            "give a path, a table, a list of texts or a matrix"
        )
    rows = list(source)
    if rows and isinstance(rows[0], Mapping):
        return documents_of_table(partial(table_of_rows, rows), options)
    if options.text is not None:
        raise InputError("text: names a column, but the source is a list of texts; leave it out")
    texts, n_html = texts_of(rows, "list, row {}".format, "a text"), 0
    if options.recipe.strip_html:
        texts, n_html = plain_texts(texts)
    notices = [HTML_REMOVED] if n_html else []
    documents = _with_values(Documents(source="list", texts=texts, notices=notices), options)
    if not (documents.tags is None or isinstance(documents.tags, list)):
        raise InputError("tags: for a list of texts, give a list of tags for each text")
    return documents


def _with_values(documents: Documents, options: ReadOptions) -> Documents:
    """Return documents with the tags, ids and labels that the user gave as values."""
    named = {"tags": options.tags, "id": options.id, "label": options.label, **options.metadata}
    for what, values in named.items():
        if isinstance(values, str | Path):
            raise InputError(
                f"{what}: {str(values)[:40]!r} names a column, but the source is not a table; give the values"
            )
    tags, fields, lines = options.tags, dict[str, Any](), list[str]()
    if tags is not None and not (sp.issparse(tags) or (isinstance(tags, np.ndarray) and tags.ndim == 2)):
        style = TagStyle.of(tags := list(tags), options.tag_separator)
        tags, lines = read_tags(tags, style=style), style.notices("tags")
    if tags is not None:
        fields |= {"tags": tags, "tag_names": None}

    def names(values: Any, what: str) -> list[str | None]:
        where = partial("{}, row {}".format, what)
        return [name_of(value, partial(where, row), what) for row, value in enumerate(values)]

    if options.id is not None:
        fields["ids"] = [name or str(row) for row, name in enumerate(names(options.id, "id"))]
    if options.label is not None:
        fields["labels"] = names(options.label, "label")
    metadata, left_out = read_metadata({what: list(values) for what, values in options.metadata.items()})
    return replace(documents, notices=[*lines, *documents.notices, *left_out], **fields, **metadata)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ notices


Findings = dict[str, tuple[int, str]]
"""What the user may not expect of documents: how often, and the id of the first one, if it is known."""

_LINES = {
    "wordless": ("document", "kept {} without words; the first is {!r}"),
    "unknown words": ("token", "{} of words outside the vocabulary left out"),
    "unknown tags": ("tagging", "{} with unknown tags left out"),
    "repeated": ("repeated tag", "{} within a document counted once"),
    "untagged": ("document", "kept {} without tags; the first is {!r}"),
}


def add_findings(found: Findings, later: Findings) -> Findings:
    """Return the findings of two parts of a corpus as one."""
    both = {what: (found.get(what, (0, "")), later[what]) for what in later}
    return {what: (n + more, first or second) for what, ((n, first), (more, second)) in both.items()}


def finding_lines(found: Findings, n_tags: int) -> list[str]:
    """Return one line for each finding; documents need no tags where none of them has any."""
    told = [what for what in _LINES if found[what][0] and (n_tags or what != "untagged")]
    lines = ((*_LINES[what], *found[what]) for what in told)
    return [line.format(number_of(n, noun), first[:60]) for noun, line, n, first in lines]


def _with_notices(documents: Documents, corpus: Corpus, found: Findings, options: ReadOptions) -> Corpus:
    """Return a corpus with its notices."""
    unusual, usual = finding_lines(found, corpus.tags.nnz), [*corpus.notices]
    if (first := find_repeated(corpus.ids)) is not None:
        n = number_of(corpus.n_docs - len(set(corpus.ids)), "document")
        unusual.append(f"{n} with the id of an earlier one, the first is {first[:60]!r}")
    if options.tag_names is None:
        usual += single_tags(np.bincount(corpus.tags.indices, minlength=corpus.n_tags))
    if n_blank := sum(label is None for label in corpus.labels or ()):
        usual.append(f"{number_of(n_blank, 'document')} with a blank label")
    return replace(corpus, notices=(*documents.notices, *map(Unusual, unusual), *usual))


def single_tags(tag_docs: Int64) -> list[str]:
    """Return one line if some of T tags, with (T,) documents each, are on a single document."""
    n_single = int((tag_docs == 1).sum())
    what = f"{n_single:,} of {number_of(len(tag_docs), 'tag')} on one document only: too few to learn from"
    return [what] if n_single else []


def number_of(n: int, what: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
