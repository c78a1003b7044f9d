"""Corpora larger than memory: a folder of shards, each a run of documents small enough to load.

    manifest.json               what follows, with sizes and checksums; written last
    vocab.txt, tags.txt         the words and the tags, one a line, in column order; no tags, no tags.txt
    statistics.safetensors      word_docs (W,) and tag_docs (T,): documents with each word, with each tag
    shard-00000.safetensors     the arrays of `Shard`; one file for each shard

Documents keep the order in which they came. Within a shard all offsets count from 0; the manifest says how
much came before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load, load_file

from tagtopics._typing import Float32, Int32, Int64
from tagtopics.corpus.core import Corpus, checked_csr
from tagtopics.errors import InputError
from tagtopics.scale.manifest import (
    STATISTICS,
    TAGS,
    VOCABULARY,
    Manifest,
    ShardEntry,
    check_size,
    read_checked,
    read_manifest,
)

VERIFY = ("sizes", "full")
"""What `ShardFolder.open` may check: that every file has its size, or every byte of every shard."""


class Shard(NamedTuple):
    """A run of D_s documents; offsets count from 0 within the shard."""

    doc_edges: Int64  # (D_s + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    edge_word: Int32  # (E_s,) ascending within a document
    edge_count: Float32  # (E_s,) how often the word occurs in the document, whole numbers from 1
    doc_slots: Int64  # (D_s + 1,) slots of document d
    slot_tag: Int32  # (S_s,) ascending within a document
    id_bytes: npt.NDArray[np.uint8]  # the names of the documents in UTF-8, one after the other
    id_offsets: Int64  # (D_s + 1,) bytes of the name of document d

    @property
    def n_docs(self) -> int:
        """The number of documents, D_s."""
        return len(self.doc_edges) - 1

    @property
    def n_edges(self) -> int:
        """The number of distinct words summed over documents, E_s."""
        return len(self.edge_word)

    @property
    def n_slots(self) -> int:
        """The number of tags summed over documents, S_s."""
        return len(self.slot_tag)

    def ids(self) -> tuple[str, ...]:
        """Return the names of the documents."""
        text = self.id_bytes.tobytes()
        ends = self.id_offsets.tolist()
        return tuple(text[a:b].decode("utf-8") for a, b in pairwise(ends))

    def counts(self, n_words: int) -> sp.csr_array:
        """Return the counts as the CSR array (D_s, W) of int32 that a `Corpus` holds."""
        return _csr(self.edge_count.astype(np.int32), self.edge_word, self.doc_edges, n_words)

    def tags(self, n_tags: int) -> sp.csr_array:
        """Return the tags as the CSR array (D_s, T) of int8 ones that a `Corpus` holds."""
        return _csr(np.ones(self.n_slots, dtype=np.int8), self.slot_tag, self.doc_slots, n_tags)


DTYPES = {
    "doc_edges": np.int64,
    "edge_word": np.int32,
    "edge_count": np.float32,
    "doc_slots": np.int64,
    "slot_tag": np.int32,
    "id_bytes": np.uint8,
    "id_offsets": np.int64,
}
"""The arrays of a shard and their types."""


class ShardFolder:
    """A folder of shards, open for reading; `ShardFolder.open` makes one.

    Attributes:
        path: the folder.
        manifest: what it holds.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._checked: dict[int, tuple[int, int]] = {}  # shard to inode and time of what was checked

    @classmethod
    def open(cls, path: str | Path, verify: str = "sizes") -> ShardFolder:
        """Open a finished folder of shards.

        Args:
            path: the folder.
            verify: "sizes" to check that every file is there and has its size; "full" to read every shard
                and compare its checksum, too. A shard is compared in any case when it is loaded.

        Raises:
            InputError: if the folder is unfinished, or a file is missing or was changed.
        """
        if verify not in VERIFY:
            raise InputError(f"verify must be one of {', '.join(VERIFY)}, not {verify!r}")
        folder = cls(Path(path), read_manifest(Path(path)))
        for name, file in folder.manifest.files.items():
            check_size(folder.path / name, file)
        for number, shard in enumerate(folder.manifest.shards):
            check_size(folder.path / shard.file, shard)
            if verify == "full":
                folder.load(number)
        return folder

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The W words, in column order."""
        return self._names(VOCABULARY, self.manifest.n_words)

    @cached_property
    def tag_names(self) -> tuple[str, ...]:
        """The T tags, in column order."""
        return self._names(TAGS, self.manifest.n_tags) if self.manifest.n_tags else ()

    @cached_property
    def word_docs(self) -> Int64:
        """Shape (W,): how many documents hold each word."""
        return self._statistic("word_docs", self.manifest.n_words)

    @cached_property
    def tag_docs(self) -> Int64:
        """Shape (T,): how many documents with words carry each tag, n_t."""
        return self._statistic("tag_docs", self.manifest.n_tags)

    def __len__(self) -> int:
        return len(self.manifest.shards)

    def __iter__(self) -> Iterator[Shard]:
        return (self.load(number) for number in range(len(self)))

    def __repr__(self) -> str:
        m = self.manifest
        return (
            f"ShardFolder({str(self.path)!r}: {m.n_docs:,} documents, {m.n_words:,} words, "
            f"{m.n_tags:,} tags, {len(self):,} shards)"
        )

    def load(self, number: int) -> Shard:
        """Load a shard, counted from 0.

        Its checksum and its indices are checked the first time, and again if the file was replaced since.
        The arrays are fresh and may be written to.

        Raises:
            InputError: if the file is missing, cut short, or not what was written.
        """
        entry = self.manifest.shards[number]
        path = self.path / entry.file
        found = check_size(path, entry)
        stamp = found.st_ino, found.st_mtime_ns
        if self._checked.get(number) == stamp:
            return _shard_of(load_file(path), path)
        shard = _shard_of(_unpack(read_checked(path, entry), path), path)
        _check_shard(shard, entry, self.manifest, path)
        self._checked[number] = stamp
        return shard

    def corpus(self, numbers: Iterable[int] | None = None) -> Corpus:
        """Return some shards, or all of them, as one corpus in memory.

        Args:
            numbers: the shards, counted from 0, in the order wanted; None for all.
        """
        W, T = self.manifest.n_words, self.manifest.n_tags
        shards = [self.load(n) for n in (range(len(self)) if numbers is None else numbers)]
        empty = sp.csr_array((0, W), dtype=np.int32), sp.csr_array((0, T), dtype=np.int8)
        return Corpus(
            counts=_stack([empty[0], *(shard.counts(W) for shard in shards)]),
            tags=_stack([empty[1], *(shard.tags(T) for shard in shards)]),
            vocabulary=self.vocabulary,
            tag_names=self.tag_names,
            ids=tuple(name for shard in shards for name in shard.ids()),
            recipe=self.manifest.recipe,
            notices=self.manifest.notices if numbers is None else (),
        )

    def _names(self, file: str, n: int) -> tuple[str, ...]:
        path = self.path / file
        names = tuple(read_checked(path, self.manifest.files[file]).decode("utf-8").split("\n")[:-1])
        if len(names) != n:
            raise InputError(f"{path}: {len(names):,} lines where the manifest has {n:,}")
        return names

    def _statistic(self, name: str, n: int) -> Int64:
        path = self.path / STATISTICS
        values = _unpack(read_checked(path, self.manifest.files[STATISTICS]), path).get(name)
        if values is None or values.shape != (n,) or values.dtype != np.int64:
            raise InputError(f"{path}: damaged, {name} is no array of {n:,} whole numbers")
        return values


def _unpack(data: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged ({' '.join(str(error).split())[:200]})") from None


def _shard_of(arrays: dict[str, npt.NDArray[Any]], path: Path) -> Shard:
    for name, dtype in DTYPES.items():
        if name not in arrays or arrays[name].ndim != 1 or arrays[name].dtype != dtype:
            raise InputError(f"{path}: damaged, it has no {name} of {np.dtype(dtype).name}")
    return Shard(**{name: arrays[name] for name in DTYPES})


def _check_shard(shard: Shard, entry: ShardEntry, manifest: Manifest, path: Path) -> None:
    """Check all that a kernel relies on: sizes, offsets that never go back, indices within their columns."""
    if (shard.n_docs, shard.n_edges, shard.n_slots) != (entry.n_docs, entry.n_edges, entry.n_slots):
        raise InputError(f"{path}: damaged, its sizes are not those of the manifest")
    rows = (
        ("edge_word", shard.edge_count, shard.edge_word, shard.doc_edges, manifest.n_words),
        ("slot_tag", np.empty(shard.n_slots, np.int8), shard.slot_tag, shard.doc_slots, manifest.n_tags),
    )
    for name, data, columns, offsets, n_columns in rows:
        shape = (entry.n_docs, n_columns)
        checked_csr(data, columns, offsets, shape, f"{path}: damaged, {name}", canonical=True)
    _check_offsets(shard.id_offsets, entry.n_docs, len(shard.id_bytes), path)
    if len(shard.edge_count) != shard.n_edges or not (shard.edge_count >= 1).all():
        raise InputError(f"{path}: damaged, edge_count is no count for each edge")
    if int(shard.edge_count.sum(dtype=np.float64)) != entry.n_tokens:
        raise InputError(f"{path}: damaged, its counts do not add up to the manifest's n_tokens")


def _check_offsets(offsets: Int64, n: int, total: int, path: Path) -> None:
    fits = len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == total
    if not fits or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{path}: damaged, its offsets do not fit its {n:,} documents")


def _csr(data: npt.NDArray[Any], columns: Int32, offsets: Int64, n_columns: int) -> sp.csr_array:
    return sp.csr_array((data, columns, offsets.astype(np.int32)), shape=(len(offsets) - 1, n_columns))


def _stack(parts: list[sp.csr_array]) -> sp.csr_array:
    return sp.csr_array(sp.vstack(parts, format="csr"))
