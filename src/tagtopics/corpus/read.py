"""Reading a corpus from whatever the user has.

Every reader returns `Documents`; `assemble` gives their words and tags the columns of a `Corpus`. Files too
large for memory take the same way part by part; see `tagtopics.scale.ingest`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.align import align_columns
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import (
    Corpus,
    Documents,
    FileOptions,
    ReadOptions,
    Tokenizer,
    canonical_counts,
    canonical_tags,
    tag_matrix,
)
from tagtopics.corpus.formats.registry import FORMATS, find_source, is_table, read_table, sample_table
from tagtopics.corpus.formats.tables import (
    Table,
    TableLayout,
    documents_of_table,
    frame_of,
    table_of_frame,
    table_of_rows,
    texts_of,
)
from tagtopics.corpus.languages import language_notices
from tagtopics.corpus.markup import HTML_REMOVED, plain_texts
from tagtopics.corpus.metadata import read_metadata
from tagtopics.corpus.notices import SAMPLE_ROWS, Findings, no_tags, number_of, repeated_ids, single_tags
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import distinct_tags, name_of, noted_tags, tags_of_file
from tagtopics.corpus.text import TermCounter, count_bags, learn
from tagtopics.errors import CorpusWarning, InputError

CUSTOM_TOKENIZER = "words come from a custom tokenizer, which cannot be saved: give new texts as counts"


def read_corpus(
    source: Any,
    *,
    text: str | Sequence[str] | None = None,
    tags: Any = None,
    id: Any = None,
    label: Any = None,
    title: Any = None,
    date: Any = None,
    url: Any = None,
    recipe: TextRecipe | None = None,
    tokenizer: Tokenizer | None = None,
    vocabulary: Sequence[str] | None = None,
    tag_names: Sequence[str] | None = None,
    tag_separator: str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    query: str | None = None,
    columns: Columns | None = None,
    visual: Any = None,
    on_stage: Callable[[str], None] | None = None,
) -> Corpus:
    """Read a corpus from a file, a folder, a table, texts, images, or a matrix of counts.

    If the source is a table (JSON lines, CSV, TSV, Parquet, a data frame, dictionaries), `text`, `tags`,
    `id`, `label`, `title`, `date` and `url` name columns; the defaults are the columns with these names. If
    it is a list of texts or a matrix of counts, all but `text` are the values, one for each document. If
    it is a folder of images, `tags` is a file of tags (CSV, TSV, JSON, JSON lines; `id` and `label` name its
    columns), "sidecar" for a JSON file next to each image, or "folders" for the names of sub-folders.

    Args:
        source: a path; a pandas, polars or Arrow table; a list of texts or of dictionaries; or a matrix of
            counts, documents x words.
        text: the column of the text, or several to be joined. Objects `{word: count}` in the column are
            read as counts.
        tags: the column of the tags; several columns give tags of several kinds, `author:Jane Doe`. For
            counts: a documents x tags matrix, lists of tags, or a file with one line of tags per document.
        id: the column of the documents' names.
        label: the column of the documents' classes.
        title: the column of the documents' titles; by default `title`, unless it is the text or a tag.
        date: the column of their dates; by default `date`, else `year`. Titles, dates and addresses are not
            tags. What cannot be read is left out with a notice.
        url: the column of their web addresses or DOIs; by default `url`.
        recipe: how text becomes words; None for `TextRecipe()`.
        tokenizer: a custom function from text to words that replaces the recipe's; it cannot be saved.
        vocabulary: the words to count, if they are known; others are left out and reported.
        tag_names: the tags to keep, likewise.
        tag_separator: what divides the tags of one string. The default is `;` and `|` if either occurs in
            the column, else `,`.
        format: the format of the file, such as csv, xlsx or bibtex; None to tell it from its name and, for
            JSON and XML, from its content.
        delimiter: what divides the values of a line of CSV; None to find out.
        encoding: of text files, such as cp1252; None for UTF-8, UTF-16 or Windows-1252, whichever fits.
        query: the SQL query whose rows are the documents of an SQLite database; None for the only table.
        columns: the columns of an earlier table (`corpus.columns`, `model.columns_`) and what divided its
            tags; used for what is not named here.
        visual: for images, the `VisualVocabulary` of a model (`model.visual_`), or a new one that learns its
            codebooks from the images; None for one with the settings of the paper.
        on_stage: called with the name of each stage when it begins: "Reading", then "Counting words".

    Returns:
        The corpus, with a notice for each decision that was made.

    Raises:
        InputError: if the source cannot be read; the message says where and what to do.
    """
    source = _path_of(source)
    options = ReadOptions(
        text=text,
        tags=tags,
        id=id,
        label=label,
        separator=tag_separator,
        recipe=recipe or TextRecipe(),
        tokenizer=tokenizer,
        vocabulary=vocabulary,
        tag_names=tag_names,
        visual=visual,
        columns=columns,
        file=FileOptions(
            delimiter=delimiter,
            encoding=encoding,
            query=query,
            formats=_named_format(source, format),
            earlier=columns,
        ),
        metadata={"title": title, "date": date, "url": url},
    )
    begin = on_stage or (lambda stage: None)
    begin("Reading")
    if isinstance(source, str | Path):
        known = {} if columns is None else columns.formats
        documents = _read_path(*find_source(source, format or known.get(_suffix(source))), options)
    else:
        documents = _read_memory(source, options)
    if documents.are_texts and tokenizer is None and vocabulary is None:
        documents = documents.noting(*language_notices(documents.texts or (), options.recipe))
    begin("Counting words")
    corpus, warned = _with_notices(documents, *assemble(documents, options), options)
    if warned:
        warnings.warn("; ".join(warned), CorpusWarning, stacklevel=2)
    return corpus


def assemble(
    documents: Documents, options: ReadOptions, counter: TermCounter | None = None
) -> tuple[Corpus, Findings]:
    """Give the words and tags of documents their columns.

    Return the corpus, without notices, and what is unusual about it. The documents are all, or a part of them
    if `options` names the vocabulary, which `counter` then counts, and the tags.
    """
    used, rare = options.recipe, list[str]()
    if documents.are_texts:
        counts, vocabulary, n_unknown, used, rare = _count_texts(documents, options, counter)
    else:
        counts, vocabulary, n_unknown = _place_counts(documents, options)
    if 0 in counts.shape:
        raise InputError(f"{documents.source}: no {'words' if counts.shape[0] else 'documents'}")
    tags, tag_names, unknown_tags, repeated = _place_tags(documents, counts.shape[0], options.tag_names)
    recipe = None if options.tokenizer is not None else used
    corpus = Corpus(
        counts=counts,
        tags=tags,
        vocabulary=vocabulary,
        tag_names=tag_names,
        ids=_tuple(documents.ids) or tuple(str(row) for row in range(counts.shape[0])),
        labels=_tuple(documents.labels),
        links=documents.links,
        texts=_tuple(documents.texts),
        split=_tuple(documents.split),
        titles=_tuple(documents.titles),
        dates=_tuple(documents.dates),
        urls=_tuple(documents.urls),
        recipe=recipe if documents.are_texts else documents.recipe,
        columns=documents.columns,
        visual=documents.visual,
    )
    return corpus, replace(
        Findings.of(corpus, n_unknown, unknown_tags, repeated), rare="; ".join(rare) or None
    )


def _with_notices(
    documents: Documents, corpus: Corpus, findings: Findings, options: ReadOptions
) -> tuple[Corpus, list[str]]:
    """Return a corpus with its notices, and those of them that deserve a warning."""
    unusual = findings.lines() + repeated_ids(corpus.ids)
    usual = [CUSTOM_TOKENIZER] if options.tokenizer is not None and documents.are_texts else []
    usual += [findings.rare] if findings.rare else []
    if options.tag_names is None:
        usual += single_tags(np.bincount(corpus.tags.indices, minlength=corpus.n_tags))
    n_blank = sum(label is None for label in corpus.labels or ())
    usual += [f"{number_of(n_blank, 'document')} with a blank label"] if n_blank else []
    if documents.tags is not None or options.columns is None or options.columns.tags is not None:
        (unusual if corpus.tags.nnz else usual).extend(findings.untagged_lines())
    return replace(corpus, notices=(*documents.notices, *unusual, *usual)), [*documents.warnings, *unusual]


# ------------------------------------------------------------------------------------------------ columns


def _count_texts(
    documents: Documents, options: ReadOptions, counter: TermCounter | None
) -> tuple[sp.csr_array, tuple[str, ...], int, TextRecipe, list[str]]:
    """Return counts, words, tokens of other words, the recipe that was used, and a line on rare words."""
    texts = documents.texts or ()
    if not len(texts):
        raise InputError(f"{documents.source}: no documents")
    if options.vocabulary is None:
        learned = learn(texts, options.recipe, options.tokenizer)
        return learned.counts, learned.vocabulary, 0, learned.recipe, learned.notices
    counter = counter or TermCounter(options.vocabulary, options.recipe, options.tokenizer)
    counts, n_unknown = counter.count(texts)
    recipe = replace(options.recipe, min_df=1) if options.recipe.min_df is None else options.recipe
    return counts, tuple(options.vocabulary), n_unknown, recipe, []


def _place_counts(documents: Documents, options: ReadOptions) -> tuple[sp.csr_array, tuple[str, ...], int]:
    names: Sequence[str] | None
    if documents.bags is not None:
        counts, names = count_bags(documents.bags, documents.where)
    else:
        counts, names = canonical_counts(documents.counts, documents.source), documents.vocabulary
    return _place(counts, names, options.vocabulary, "word", f"{documents.source}: vocabulary")


def _place_tags(
    documents: Documents, n_docs: int, tag_names: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...], int, int]:
    """Return tags (D, T), the T names, how many tags were left out, and how many were repeated."""
    tags = documents.tags
    if tags is None:
        names = tuple(tag_names or ())
        return sp.csr_array((n_docs, len(names)), dtype=np.int8), names, 0, 0
    if isinstance(tags, list):
        names = distinct_tags(tags) if tag_names is None else tuple(tag_names)
        matrix = tag_matrix(tags, names)
        n_distinct = matrix.nnz if tag_names is None else sum(len(set(of_doc)) for of_doc in tags)
        return matrix, names, n_distinct - matrix.nnz, sum(map(len, tags)) - n_distinct
    matrix = canonical_tags(tags, f"{documents.source}: tags")
    return *_place(matrix, documents.tag_names, tag_names, "tag", f"{documents.source}: tag_names"), 0


def _place(
    matrix: sp.csr_array, have: Sequence[str] | None, want: Sequence[str] | None, stem: str, what: str
) -> tuple[sp.csr_array, tuple[str, ...], int]:
    """Return a matrix in the columns wanted, their names, and the sum of what was left out."""
    if want is None:
        return matrix, tuple(f"{stem}{i}" for i in range(matrix.shape[1])) if have is None else tuple(have), 0
    if have is None:
        if matrix.shape[1] != len(want):
            raise InputError(f"{what} has {len(want)} names for {matrix.shape[1]} columns")
        return matrix, tuple(want), 0
    aligned, n_lost = align_columns(matrix, have, want)
    return aligned, tuple(want), n_lost


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


# ------------------------------------------------------------------------------------------------ sources


def _read_path(path: Path, kind: str, options: ReadOptions) -> Documents:
    if is_table(kind):
        table = read_table(path, kind, TableLayout(options).wanted(), options.file)
        return _of_table(table, options, partial(sample_table, path, kind, options=options.file))
    _refuse_file_options(path, kind, options)
    read = FORMATS[kind].documents
    assert read is not None
    documents = read(path, options)
    return _with_values(documents, options) if FORMATS[kind].takes_values else documents


def _refuse_file_options(path: Path, kind: str, options: ReadOptions) -> None:
    named = [name for name in ("delimiter", "encoding", "query") if getattr(options.file, name) is not None]
    if named:
        raise InputError(f"{path}: {named[0]} is not an option for {kind}; leave it out")


def _named_format(source: Any, format: str | None) -> dict[str, str]:
    """Return the format that the user named by the suffix of the file, for later files."""
    return {_suffix(source): format} if format is not None and isinstance(source, str | Path) else {}


def _suffix(source: str | Path) -> str:
    return Path(source).suffix.lower()


def _path_of(source: Any) -> Any:
    """Return the path of an open file; anything else as it is."""
    if not hasattr(source, "read") or hasattr(source, "columns"):
        return source
    name = getattr(source, "name", None)
    if isinstance(name, str) and Path(name).is_file():
        return name
    raise InputError(
        f"cannot read a corpus from {type(source).__name__}, which is not a file on disk; "
        "save it to a file, or give its documents as a list"
    )


def _read_memory(source: Any, options: ReadOptions) -> Documents:
    if sp.issparse(source) or (isinstance(source, np.ndarray) and source.ndim == 2):
        return _with_values(Documents(source="counts", counts=source), options)
    if not isinstance(source, list | tuple | np.ndarray):
        frame = frame_of(source)
        if frame is not None:
            table = table_of_frame(frame, TableLayout(options).wanted())
            return _of_table(table, options, partial(table_of_frame, frame.head(SAMPLE_ROWS)))
    if isinstance(source, Mapping | bytes) or not hasattr(source, "__iter__"):
        raise InputError(
            f"cannot read a corpus from {type(source).__name__}; "
            "give a path, a table, a list of texts or a matrix"
        )
    rows = list(source)
    if rows and isinstance(rows[0], Mapping):
        table = table_of_rows(rows, TableLayout(options).wanted())
        return _of_table(table, options, partial(table_of_rows, rows[:SAMPLE_ROWS]))
    return _documents_of_texts(rows, options)


def _of_table(table: Table, options: ReadOptions, sample: Callable[[Sequence[str]], Table]) -> Documents:
    """Return the documents of a table; if it has no tags, note columns of a sample that look like it."""
    documents = documents_of_table(table, TableLayout(options))
    if documents.tags is not None or options.columns is not None or documents.columns is None:
        return documents
    return documents.noting(no_tags(sample(table.names).columns, documents.columns.used()))


def _documents_of_texts(rows: list[Any], options: ReadOptions) -> Documents:
    """Return a list of texts as documents, with the tags, ids and labels given with it."""
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
    tags = options.tags
    if isinstance(tags, str | Path):
        tags, *lines = tags_of_file(Path(tags), options.separator)
        documents = documents.noting(*lines)
    elif tags is not None and not (sp.issparse(tags) or (isinstance(tags, np.ndarray) and tags.ndim == 2)):
        tags, *lines = noted_tags(list(tags), options.separator)
        documents = documents.noting(*lines)
    if tags is not None:
        documents = replace(documents, tags=tags, tag_names=None)
    ids, labels = _values(options.id, "id"), _values(options.label, "label")
    if ids is not None:
        documents = replace(documents, ids=[name or str(row) for row, name in enumerate(ids)])
    if labels is not None:
        documents = replace(documents, labels=labels)
    return _with_metadata(documents, options)


def _with_metadata(documents: Documents, options: ReadOptions) -> Documents:
    """Return documents with the titles, dates and addresses that the user gave as values."""
    given = {what: values for what, values in (options.metadata or {}).items() if values is not None}
    for what, values in given.items():
        _refuse_column(values, what)
    fields, left_out = read_metadata({what: list(values) for what, values in given.items()})
    more = {"warnings": (*documents.warnings, *left_out), "notices": (*documents.notices, *left_out)}
    return replace(documents, **fields, **more) if given else documents  # type: ignore[arg-type]


def _values(values: Any, what: str) -> list[str | None] | None:
    if values is None:
        return None
    _refuse_column(values, what)
    return [name_of(value, partial("{}, row {}".format, what, row), what) for row, value in enumerate(values)]


def _refuse_column(values: Any, what: str) -> None:
    if isinstance(values, str):
        raise InputError(
            f"{what}: {values[:40]!r} names a column, but the source is not a table; give the values"
        )
