"""The data sets that can be downloaded: the content of `registry.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RemoteFile(_Record):
    """One file of a data set.

    Attributes:
        role: counts (the file to read; the reader finds the others beside it), tags, vocabulary, tag_names.
        name: name in the cache.
        address: where to download it; it names a commit, so its content cannot change.
        size: bytes, also the limit of a download.
        sha256: hexadecimal checksum.
    """

    role: str
    name: str
    address: str
    size: int
    sha256: str


class ExpectedStatistics(_Record):
    """The exact statistics of a corpus built from the registered files.

    Attributes:
        n_docs: documents, D.
        n_tags: tags, T.
        n_words: words, W.
        n_tokens: tokens in all; I_d is this over D.
        n_edges: non-zero counts in all; W_d is this over D.
        n_slots: pairs of document and tag; T_d is this over D.
    """

    n_docs: int
    n_tags: int
    n_words: int
    n_tokens: int
    n_edges: int
    n_slots: int

    @classmethod
    def of(cls, corpus: Corpus) -> ExpectedStatistics:
        """Count a corpus."""
        return cls(
            n_docs=corpus.n_docs,
            n_tags=corpus.n_tags,
            n_words=corpus.n_words,
            n_tokens=int(corpus.counts.sum(dtype="int64")),
            n_edges=int(corpus.counts.nnz),
            n_slots=int(corpus.tags.nnz),
        )


class DatasetEntry(_Record):
    """One registered data set.

    Attributes:
        name: the name for `load_dataset`.
        description: one line.
        source: the public repository it comes from.
        licence: what is known of it.
        note: known flaws and differences from the paper; may be empty.
        format: format for `read_corpus`, mat or mulan.
        files: what to download.
        expected: exact statistics of the corpus.
        paper: the row of the paper's Table II, under the names of `Corpus.statistics`.
        n_train: size of the official training part, which comes first; None without a split.
    """

    name: str
    description: str
    source: str
    licence: str
    note: str
    format: str
    files: tuple[RemoteFile, ...]
    expected: ExpectedStatistics
    paper: Mapping[str, float]
    n_train: int | None = None

    def file(self, role: str) -> RemoteFile:
        """Return the file of a role."""
        return next(file for file in self.files if file.role == role)

    def check(self, corpus: Corpus) -> None:
        """Raise an `InputError` that names the first statistic that differs."""
        found = ExpectedStatistics.of(corpus)
        for statistic, expected in self.expected:
            value = getattr(found, statistic)
            if value != expected:
                raise InputError(
                    f"dataset {self.name!r}: {statistic} is {value}, expected {expected}; "
                    "empty its folder in the cache and load it again"
                )


@cache
def read_registry() -> Mapping[str, DatasetEntry]:
    """Return all registered data sets by name, in the order of the file."""
    text = files("tagtopics.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return MappingProxyType({name: DatasetEntry(name=name, **table) for name, table in tables.items()})
