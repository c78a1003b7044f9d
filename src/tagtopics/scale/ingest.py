"""Corpora of any size to shards.

Tables are read as a stream, twice, one part at a time. The first pass counts in how many documents each word
and each tag occurs, and chooses the vocabulary; the second turns each part into counts with `assemble`, as
`read_corpus` does with a whole table. Memory grows with the number of distinct words and tags, not with the
number of documents. All other sources are read whole and then cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Unpack

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.core import Corpus, Documents, ReadKeywords, ReadOptions
from tagtopics.corpus.formats.registry import find_source, is_table, stream_table
from tagtopics.corpus.formats.tables import Table, TableLayout
from tagtopics.corpus.read import (
    Findings,
    add_findings,
    assemble,
    finding_lines,
    read_corpus,
    single_tags,
)
from tagtopics.corpus.recipe import language_notices
from tagtopics.corpus.text import TermCounter, choose_words, count_all, frequencies, with_min_df
from tagtopics.errors import InputError
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.writer import ShardWriter, check_shard_target

MAX_CANDIDATES = 1_000_000  # distinct words, and distinct tags, that are held while counting
PART_SIZE = 4 * 2**20  # characters of a table that are held at a time, about

MakeWriter = Callable[..., ShardWriter]  # makes the writer, once the vocabulary and the tags are known
OnProgress = Callable[[str, int], None]  # called with what is done, and the number of documents so far


def shard_corpus(
    source: str | Path | Corpus,
    out: str | Path,
    *,
    shard_edges: int | None = None,
    overwrite: bool = False,
    on_progress: OnProgress = lambda step, n_docs: None,
    **options: Unpack[ReadKeywords],
) -> ShardFolder:
    """Write a corpus of any size as a folder of shards.

    JSON lines, CSV, TSV and Parquet are read as a stream, in memory that does not grow with the number of
    documents; everything else that `read_corpus` reads, and a corpus, is read whole. Labels, links and
    texts are not kept. Of more than 1,000,000 distinct words or tags, rare ones are dropped, with a notice.

    Args:
        source: a path, or a corpus.
        out: the folder to write.
        shard_edges: distinct words summed over the documents of a shard; None for four times the
            vocabulary, at least 1,000,000.
        overwrite: replace the shards in the folder.
        on_progress: called with each part of a stream: what is done, and the number of documents so far.
        options: those of `read_corpus`, such as `text`, `tags` and `recipe`.

    Returns:
        The folder, open for reading; its manifest has a notice for each decision that was made.

    Raises:
        InputError: if the source cannot be read or the folder cannot be written; nothing is changed then.
    """
    target = check_shard_target(out, overwrite=overwrite)
    make = partial(ShardWriter, target, shard_edges=shard_edges, overwrite=overwrite)
    given = ReadOptions.of(options)
    if isinstance(source, Corpus):
        return _write_corpus(source, make)
    path, kind = find_source(source, given.format)
    if is_table(kind):
        return _Stream(path, kind, given, on_progress).write(make)
    return _write_corpus(read_corpus(path, **options), make)


def _write_corpus(corpus: Corpus, make: MakeWriter) -> ShardFolder:
    """Write a corpus in memory."""
    settings = {"recipe": corpus.recipe, "columns": corpus.columns}
    with make(corpus.vocabulary, corpus.tag_names, **settings) as writer:
        writer.notices.extend(corpus.notices)
        writer.add(corpus)
    return ShardFolder.open(writer.folder)


@dataclass
class _Stream:
    """A table on disk that is read in parts."""

    path: Path
    kind: str  # a format of tables
    options: ReadOptions
    on_progress: OnProgress

    def write(self, make: MakeWriter) -> ShardFolder:
        """Read the table twice, and write it as shards."""
        layout = TableLayout(self.options)
        counts = self._count(layout)
        options, notices = self._choose_options(layout, counts)
        counter = TermCounter(options.vocabulary or (), options.recipe)
        tag_docs = np.zeros(len(options.tag_names or ()), dtype=np.int64)
        findings, n_docs, columns = Findings(), 0, layout.columns
        with make(options.vocabulary, options.tag_names, recipe=options.recipe, columns=columns) as writer:
            for table in self._parts(layout, "Writing shards"):
                part, found = assemble(layout.documents(table), options, counter)
                writer.add(part)
                n_docs += part.n_docs
                tag_docs += np.bincount(part.tags.indices, minlength=len(tag_docs))
                findings = add_findings(findings, found)
            if n_docs != counts.n_docs:
                raise InputError(f"{self.path}: changed while it was read; shard it again")
            if self.options.vocabulary is None:
                findings["unknown words"] = 0, ""
            single = single_tags(tag_docs) if self.options.tag_names is None else []
            notices += [*finding_lines(findings, int(tag_docs.sum())), *single]
            writer.notices.extend(notices)
        return ShardFolder.open(writer.folder)

    def _count(self, layout: TableLayout) -> _Candidates:
        """Count the words and tags of the table.

        A part may change the meaning of the parts before it: the first `;` in a column of tags, for example.
        Then the pass starts again, which happens at most once for each such thing.
        """
        counts = _Candidates(self.options)
        parts = self._parts(layout, "Counting words")
        while (table := next(parts, None)) is not None and table.n_rows:
            if layout.update(table) and counts.n_docs:
                parts, counts = self._parts(layout, "Counting words"), _Candidates(self.options)
                continue
            layout.check(str(self.path), only_text=self.kind == "jsonl")  # later lines may add columns
            counts.add(layout.documents(table), table.n_rows)
        if not counts.n_docs:
            raise InputError(f"{self.path}: no documents")
        layout.check(str(self.path))
        return counts

    def _choose_options(self, layout: TableLayout, counts: _Candidates) -> tuple[ReadOptions, list[str]]:
        """Return the options with the vocabulary and the tags that were chosen, and notices."""
        options = self.options
        notices = [*layout.notices(), *(counts.notices or ())]
        notices += [*counts.words.notices("words"), *counts.tags.notices("tags")]
        vocabulary, recipe = options.vocabulary, options.recipe
        if vocabulary is None:
            vocabulary = counts.words.names()
            found = counts.words.counts(vocabulary)
            recipe, rare = with_min_df(recipe, *found, counts.n_docs)
            kept = choose_words(*found, counts.n_docs, recipe)
            vocabulary = [vocabulary[w] for w in kept.tolist()]
            notices += rare
        if not len(vocabulary):
            raise InputError(f"{self.path}: no words")
        tag_names = counts.tags.names() if options.tag_names is None else options.tag_names
        recipe = replace(recipe, min_df=1) if recipe.min_df is None else recipe
        chosen = replace(options, recipe=recipe, vocabulary=tuple(vocabulary), tag_names=tuple(tag_names))
        return chosen, notices

    def _parts(self, layout: TableLayout, step: str) -> Iterator[Table]:
        """Yield the table in parts."""
        n_docs = 0
        for table in stream_table(self.path, self.kind, layout.wanted(), PART_SIZE, self.options):
            yield table
            n_docs += table.n_rows
            self.on_progress(step, n_docs)


class _Candidates:
    """The words and tags counted in the first pass, except those that the user gave."""

    def __init__(self, options: ReadOptions) -> None:
        self.n_docs = 0
        self.words, self.tags = Tally(MAX_CANDIDATES), Tally(MAX_CANDIDATES)
        self.notices: list[str] | None = None  # on the language of the first part
        self._options = options

    def add(self, documents: Documents, n_docs: int) -> None:
        """Count the words and tags of some documents."""
        self.n_docs += n_docs
        if self._options.vocabulary is None:
            texts = documents.texts or ()
            if self.notices is None:
                self.notices = language_notices(texts, self._options.recipe)
            counts, words = count_all(texts, self._options.recipe)
            self.words.add_counts(words, *frequencies(counts))
        if self._options.tag_names is None and documents.tags is not None:
            self.tags.add(documents.tags)


class Tally:
    """In how many documents each name occurs, and how often, in bounded memory.

    This is lossy counting: if more than `limit` names are held, all names up to a count c are dropped, with c
    the least that halves them. A name loses at most c each time, so the sum of all c bounds the error.

    Args:
        limit: how many names may be held between two calls of `add`.

    Attributes:
        lost: the most documents that any count may lack; 0 if all counts are exact.
    """

    def __init__(self, limit: int) -> None:
        self.lost = 0
        self.limit = limit
        self._docs: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()

    def add(self, documents: Sequence[Sequence[str]]) -> None:
        """Count the names of some documents."""
        self._docs.update(chain.from_iterable(map(set, documents)))
        self._tokens.update(chain.from_iterable(documents))
        self._bound()

    def add_counts(self, names: Sequence[str], docs: Int64, tokens: Int64) -> None:
        """Count N names of which some documents are known to have (N,), with (N,) occurrences."""
        self._docs.update(dict(zip(names, docs.tolist(), strict=True)))
        self._tokens.update(dict(zip(names, tokens.tolist(), strict=True)))
        self._bound()

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._docs)

    def counts(self, names: Sequence[str]) -> tuple[Int64, Int64]:
        """Return the documents with each of N names, and its occurrences; both of shape (N,)."""
        docs, tokens = (
            np.fromiter((counter[name] for name in names), dtype=np.int64, count=len(names))
            for counter in (self._docs, self._tokens)
        )
        return docs, tokens

    def notices(self, what: str) -> list[str]:
        """Return one line if names were dropped."""
        if not self.lost:
            return []
        return [
            f"more than {self.limit:,} different {what}: rare ones were dropped while counting; "
            f"counts were up to {self.lost:,} documents short when the {what} were chosen"
        ]

    def _bound(self) -> None:
        """Drop rare names if there are too many."""
        if len(self._docs) <= self.limit:
            return
        counts = np.fromiter(self._docs.values(), dtype=np.int64, count=len(self._docs))
        place = len(counts) - 1 - self.limit // 2
        cut = int(np.partition(counts, place)[place])
        rare = [name for name, count in self._docs.items() if count <= cut]
        for name in rare:
            del self._docs[name]
            del self._tokens[name]
        self.lost += cut
