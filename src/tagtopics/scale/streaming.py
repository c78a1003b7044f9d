"""Tables of any size to shards: the file is read twice, a part at a time, and never held.

The first reading counts in how many documents each word and each tag occurs, and chooses the vocabulary; the
second counts each document into the shards. Text becomes words, and cells become tags, as `read_corpus` does
it; memory grows with the different words and tags, not with the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.assemble import OWN_TOKENIZER, Documents, Oddities, Terms, count_bags, single_tags
from tagtopics.corpus.columns import Columns, Layout, check_columns, documents_of_part
from tagtopics.corpus.counted import Counted, fit_tags, fit_words
from tagtopics.corpus.formats.tables import Table, stream_csv, stream_jsonl, stream_parquet, stream_tsv
from tagtopics.corpus.text import TermCounter, analyzer, choose_words
from tagtopics.errors import InputError
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.tally import Tally
from tagtopics.scale.writer import ShardWriter

COUNTING, WRITING = "Counting words", "Writing shards"
"""The two readings, as `Progress` is told."""

STREAMS: dict[str, Callable[..., Iterator[Table]]] = {
    "jsonl": stream_jsonl,
    "csv": stream_csv,
    "tsv": stream_tsv,
    "parquet": stream_parquet,
}
"""The formats that can be read in parts."""

PART = 4 * 2**20
"""About how many characters of a table are held at a time."""

Progress = Callable[[str, int, int], None]
"""Is told the reading, the bytes read so far, and the bytes of the file."""

MakeWriter = Callable[..., ShardWriter]
"""Makes the writer, once the vocabulary and the tags are known."""


@dataclass(frozen=True)
class TableFile:
    """A table on disk that is read in parts."""

    path: Path
    kind: str
    columns: Columns
    progress: Progress | None = None

    def parts(self, reading: str) -> Iterator[Table]:
        """Yield the table in parts, and tell how far it got."""
        size = self.path.stat().st_size
        tell = self.progress or (lambda *_: None)
        watch = partial(_tell, tell, reading, size)
        yield from STREAMS[self.kind](self.path, self.columns.wanted(), PART, watch)
        watch(size)

    def check_early(self, layout: Layout) -> None:
        """Check in the first part what need not wait; of JSON lines, later ones may bring further columns."""
        check_columns(str(self.path), layout, self.columns, only_text=self.kind == "jsonl")


class Stock(NamedTuple):
    """What the first reading found."""

    layout: Layout
    n_docs: int
    vocabulary: tuple[str, ...]  # the W words
    tag_names: tuple[str, ...]  # the T tags
    notices: tuple[str, ...]


class _Tallies:
    """What is counted in the first reading."""

    def __init__(self, terms: Terms, limit: int) -> None:
        self.n_docs = 0
        self.words, self.tags = Tally(limit), Tally(limit)
        self._terms = terms
        self._analyze = analyzer(terms.recipe, terms.tokenizer)

    def add(self, documents: Documents, n_docs: int) -> None:
        """Count the words and tags of some documents, as far as they are not known."""
        self.n_docs += n_docs
        if self._terms.vocabulary is None:
            if documents.texts is None:
                self.words.add([list(bag) for bag in documents.bags or ()])
            else:
                self.words.add([self._analyze(text) for text in documents.texts])
        if self._terms.tag_names is None and documents.tags is not None:
            self.tags.add(documents.tags.lists)


def take_stock(file: TableFile, terms: Terms, limit: int) -> Stock:
    """Read a table for the first time: count its words and tags, and choose those that count.

    A part may bring what changes the meaning of the parts before it: the first `;` in a column of tags, say.
    Then the reading starts again, which happens once for each such thing at the most.

    Args:
        file: the table.
        terms: what the caller asked for.
        limit: different words, and different tags, that may be held.
    """
    layout, tallies = Layout(), _Tallies(terms, limit)
    parts = file.parts(COUNTING)
    while (table := next(parts, None)) is not None and table.n_rows:
        wider = layout.widened(table, file.columns)
        changed, layout = wider != layout, wider
        if changed and tallies.n_docs:
            parts, tallies = file.parts(COUNTING), _Tallies(terms, limit)
            continue
        file.check_early(layout)
        tallies.add(documents_of_part(table, file.columns, layout), table.n_rows)
    if not tallies.n_docs:
        raise InputError(f"{file.path}: no documents")
    check_columns(str(file.path), layout, file.columns)
    return _stock(file, layout, tallies, terms)


def write_shards(file: TableFile, stock: Stock, terms: Terms, make: MakeWriter) -> ShardFolder:
    """Read a table for the second time: count its documents into shards."""
    recipe = None if stock.layout.counted or terms.tokenizer is not None else terms.recipe
    fitter = _Fitter(stock, terms)
    with make(stock.vocabulary, stock.tag_names, recipe=recipe) as writer:
        for table in file.parts(WRITING):
            documents = documents_of_part(table, file.columns, stock.layout)
            ids = documents.ids or [str(table.first_row + row) for row in range(table.n_rows)]
            writer.add(*fitter.fit(documents, ids), ids)
        if fitter.n_docs != stock.n_docs:
            raise InputError(f"{file.path}: changed while it was read; shard it again")
        writer.notices.extend((*stock.notices, *fitter.notices()))
    return ShardFolder.open(writer.folder)


class _Fitter:
    """Puts the documents of each part into the columns of the whole, and keeps account of what is odd."""

    def __init__(self, stock: Stock, terms: Terms) -> None:
        self.n_docs = 0
        self._stock = stock
        self._learnt = terms.vocabulary is None
        self._counter = TermCounter(stock.vocabulary, terms.recipe, terms.tokenizer)
        self._oddities = Oddities()
        self._tag_docs = np.zeros(len(stock.tag_names), dtype=np.int64)

    def fit(self, documents: Documents, ids: Any) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the counts (D, W) and the tags (D, T) of D documents."""
        if documents.texts is not None:
            counts, unknown_words = self._counter.count(documents.texts)
        else:
            counts, _, unknown_words = fit_words(count_bags(documents), self._stock.vocabulary)
        counted = Counted(source=documents.source, counts=counts, tags=documents.tags)
        tags, _, unknown_tags, repeated = fit_tags(counted, self._stock.tag_names)
        self.n_docs += len(ids)
        self._tag_docs += np.bincount(tags.indices, minlength=len(self._tag_docs))
        self._oddities += Oddities.of(
            counts, tags, ids, 0 if self._learnt else unknown_words, unknown_tags, repeated
        )
        return counts, tags

    def notices(self) -> list[str]:
        """Return what the user should know, in the words of `read_corpus`."""
        return [*self._oddities.lines(), *single_tags(self._tag_docs), *self._oddities.untagged_lines()]


def _stock(file: TableFile, layout: Layout, tallies: _Tallies, terms: Terms) -> Stock:
    notices = [
        _forgotten(what, tally)
        for what, tally in (("words", tallies.words), ("tags", tallies.tags))
        if tally.lost
    ]
    if terms.tokenizer is not None and not layout.counted:
        notices.append(OWN_TOKENIZER)
    vocabulary = terms.vocabulary
    if vocabulary is None:
        words = tallies.words.names()
        if layout.counted:
            vocabulary = words
        else:
            vocabulary = choose_words(words, *tallies.words.counts(words), tallies.n_docs, terms.recipe)
    if not len(vocabulary):
        raise InputError(f"{file.path}: no words")
    tag_names = tallies.tags.names() if terms.tag_names is None else terms.tag_names
    return Stock(layout, tallies.n_docs, tuple(vocabulary), tuple(tag_names), tuple(notices))


def _forgotten(what: str, tally: Tally) -> str:
    return (
        f"more than {tally.limit:,} different {what}: rare ones were forgotten while counting; "
        f"counts were up to {tally.lost:,} documents short when the {what} were chosen"
    )


def _tell(tell: Progress, reading: str, size: int, done: int) -> None:
    tell(reading, done, size)
