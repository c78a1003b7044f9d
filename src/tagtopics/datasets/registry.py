"""The data sets that can be fetched: what `registry.toml` says, as frozen values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """One file of a data set.

    Attributes:
        role: what it holds: counts (which the reader is given; it finds the others beside), tags, vocabulary,
            tag_names.
        name: of the file in the cache.
        address: where to fetch it; names a commit, so its content cannot change.
        size: bytes; also the limit of a download.
        sha256: hexadecimal checksum.
    """

    role: str
    name: str
    address: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ExpectedStatistics:
    """What a corpus built from the registered files must have, exactly.

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

    @property
    def averages(self) -> dict[str, float]:
        """Tokens, words and tags a document: I_d, W_d and T_d, under the names of `Corpus.statistics`."""
        return {
            "tokens_per_doc": self.n_tokens / self.n_docs,
            "words_per_doc": self.n_edges / self.n_docs,
            "tags_per_doc": self.n_slots / self.n_docs,
        }


@dataclass(frozen=True, kw_only=True)
class DatasetEntry:
    """One registered data set.

    Attributes:
        name: how `load_dataset` knows it.
        description: one line.
        source: the public repository it comes from.
        licence: what is known of it.
        note: known flaws and differences from the paper; may be empty.
        format: reader of `read_corpus`: mat or mulan.
        files: what to fetch.
        expected: exact statistics of the build.
        paper: the row of the paper's Table II, under the names of `Corpus.statistics`.
        n_train: the first so many documents are the official training part; None without a split.
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
        """Raise an `InputError` that names the first statistic in which a build differs."""
        found = ExpectedStatistics.of(corpus)
        for statistic, expected in vars(self.expected).items():
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
    return MappingProxyType({name: _entry(name, table) for name, table in tomllib.loads(text).items()})


def _entry(name: str, table: dict[str, Any]) -> DatasetEntry:
    return DatasetEntry(
        name=name,
        description=table["description"],
        source=table["source"],
        licence=table["licence"],
        note=table["note"],
        format=table["format"],
        files=tuple(RemoteFile(**file) for file in table["files"]),
        expected=ExpectedStatistics(**table["expected"]),
        paper=MappingProxyType(table["paper"]),
        n_train=table.get("n_train"),
    )
