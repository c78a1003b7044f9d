"""Writing a folder of shards: documents come in runs of any length and are cut into shards of even size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors.numpy import save

from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import canonical_counts, canonical_tags
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.write import check_folder, write_names
from tagtopics.errors import InputError
from tagtopics.files import atomic_folder, digest_bytes
from tagtopics.scale.format import (
    DTYPES,
    FORMAT,
    MANIFEST,
    STATISTICS,
    TAGS,
    VOCABULARY,
    FileEntry,
    Manifest,
    ShardEntry,
    shard_name,
    write_manifest,
)
from tagtopics.scale.packing import Metadata, pack, pack_metadata

LEAST_EDGES = 1_000_000
EXACT = 2**24
"""The largest count: single precision cannot hold all larger whole numbers."""

_OURS = re.compile(r"manifest\.json|vocab\.txt|tags\.txt|statistics\.safetensors|shard-\d+\.safetensors")


class _Run(NamedTuple):
    """Some documents that wait to be written."""

    counts: sp.csr_array  # (D, W)
    tags: sp.csr_array  # (D, T)
    ids: Sequence[str]
    metadata: Metadata

    def part(self, start: int, stop: int) -> _Run:
        """Return the documents from `start` to `stop`."""
        metadata = {name: values[start:stop] for name, values in self.metadata.items() if values}
        return _Run(self.counts[start:stop], self.tags[start:stop], self.ids[start:stop], metadata)


def default_shard_edges(n_words: int) -> int:
    """Return the edges of a shard: at least four times the words, so that sums are small in comparison."""
    return max(4 * n_words, LEAST_EDGES)


def check_shard_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new folder of shards; nothing may be there, or shards to overwrite."""
    target = Path(path)
    check_folder(
        target,
        "folder of shards",
        lambda name: _OURS.fullmatch(name) is not None,
        MANIFEST,
        lambda manifest: FORMAT.encode() in manifest.read_bytes()[:200],
    )
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise InputError(
            f"{target}: contains shards already; choose another folder, or overwrite with --force"
        )
    return target


class ShardWriter:
    """Writes documents into a folder of shards, which appears in one step when `close` returns.

    Use it in a `with` statement: the end of the block closes the folder; after an error nothing is changed.

    Args:
        folder: the folder to write; it must be empty, or contain shards to overwrite.
        vocabulary: the W words, in column order.
        tag_names: the T tags, in column order.
        recipe: how text became counts, if it did.
        columns: which columns of a table the documents came from, if they did.
        shard_edges: a shard ends with the document that brings it to this many edges (or slots, or
            documents); None for four times the words, at least 1,000,000.
        overwrite: replace the shards in the folder.
    """

    def __init__(
        self,
        folder: str | Path,
        vocabulary: Sequence[str],
        tag_names: Sequence[str],
        *,
        recipe: TextRecipe | None = None,
        columns: Columns | None = None,
        shard_edges: int | None = None,
        overwrite: bool = False,
    ) -> None:
        _check_names(vocabulary, "vocabulary")
        _check_names(tag_names, "tag_names")
        if not len(vocabulary):
            raise InputError("vocabulary: no words")
        if shard_edges is not None and shard_edges < 1:
            raise InputError(f"shard_edges must be at least 1, not {shard_edges}")
        self.folder = check_shard_target(folder, overwrite=overwrite)
        self.notices: list[str] = []
        self._recipe, self._columns = recipe, columns
        self._limit = shard_edges or default_shard_edges(len(vocabulary))
        self._shape = len(vocabulary), len(tag_names)
        self._statistics = np.zeros(len(vocabulary), np.int64), np.zeros(len(tag_names), np.int64)
        self._runs: list[_Run] = []
        self._pending = np.zeros(3, dtype=np.int64)  # edges, slots, documents in the runs
        self._shards: list[ShardEntry] = []
        self._files: dict[str, FileEntry] = {}
        self._manifest: Manifest | None = None
        with ExitStack() as stack:
            self._new = stack.enter_context(atomic_folder(self.folder.resolve()))
            self._put_names(vocabulary, VOCABULARY)
            if len(tag_names):
                self._put_names(tag_names, TAGS)
            self._stack = stack.pop_all()

    def add(self, counts: Any, tags: Any, ids: Sequence[str], metadata: Metadata | None = None) -> None:
        """Add documents.

        Args:
            counts: (D, W) of whole numbers, any matrix that a `Corpus` can be made of.
            tags: (D, T) indicator; None for no tags.
            ids: D names.
            metadata: D `titles`, `dates` and `urls` each, None where unknown.
        """
        if self._manifest is not None:
            raise InputError(f"{self.folder}: the shards are closed; no documents can follow")
        W, T = self._shape
        counts = canonical_counts(counts)
        tags = sp.csr_array((len(ids), T), dtype=np.int8) if tags is None else canonical_tags(tags)
        if counts.shape != (len(ids), W) or tags.shape != (len(ids), T):
            raise InputError(
                f"shards: counts {counts.shape} and tags {tags.shape} do not fit "
                f"{len(ids)} ids, {W} words and {T} tags"
            )
        if counts.nnz and counts.data.max() > EXACT:
            raise InputError(f"shards: a count of {counts.data.max():,}; the largest allowed is {EXACT:,}")
        given = {name: values for name, values in (metadata or {}).items() if values is not None}
        if wrong := [name for name, values in given.items() if len(values) != len(ids)]:
            raise InputError(f"shards: {len(given[wrong[0]])} {wrong[0]} for {len(ids)} documents")
        run, start = _Run(counts, tags, ids, given), 0
        while (stop := self._fills(run, start)) <= len(ids):
            self._take(run.part(start, stop))
            self._flush()
            start = stop
        self._take(run.part(start, len(ids)))

    def close(self) -> Manifest:
        """Write the remaining documents and the manifest, and put the folder in its place."""
        if self._manifest is not None:
            return self._manifest
        if self._pending[2]:
            self._flush()
        names = ("n_docs", "n_edges", "n_slots", "n_tokens")
        sums = {name: sum(getattr(shard, name) for shard in self._shards) for name in names}
        word_docs, tag_docs = self._statistics
        self._files[STATISTICS] = self._put(STATISTICS, {"word_docs": word_docs, "tag_docs": tag_docs})
        manifest = Manifest(
            **sums,
            n_words=self._shape[0],
            n_tags=self._shape[1],
            shards=tuple(self._shards),
            files=self._files,
            recipe=self._recipe,
            columns=self._columns,
            notices=tuple(self.notices),
        )
        write_manifest(manifest, self._new)
        self._stack.close()
        self._manifest = manifest
        return manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if error is not None:
                raise error
            self.close()

    def _fills(self, run: _Run, start: int) -> int:
        """Return where in a run, read from `start`, the shard is full; past the end if it is not."""
        edges, slots, docs = self._limit - self._pending
        by_edges = np.searchsorted(run.counts.indptr, run.counts.indptr[start] + edges)
        by_slots = np.searchsorted(run.tags.indptr, run.tags.indptr[start] + slots)
        return int(min(by_edges, by_slots, start + docs))

    def _take(self, run: _Run) -> None:
        if len(run.ids):
            self._runs.append(run)
            self._pending += run.counts.nnz, run.tags.nnz, len(run.ids)

    def _flush(self) -> None:
        """Write the waiting documents as a shard."""
        counts = sp.csr_array(sp.vstack([run.counts for run in self._runs], format="csr"))
        tags = sp.csr_array(sp.vstack([run.tags for run in self._runs], format="csr"))
        ids = [name for run in self._runs for name in run.ids]
        texts = pack("id", ids) | pack_metadata([(len(run.ids), run.metadata) for run in self._runs])
        self._runs.clear()
        self._pending[:] = 0
        arrays: dict[str, npt.NDArray[Any]] = {
            "doc_edges": counts.indptr,
            "edge_word": counts.indices,
            "edge_count": counts.data,
            "doc_slots": tags.indptr,
            "slot_tag": tags.indices,
        } | texts
        typed = {
            name: array.astype(DTYPES.get(name, array.dtype), copy=False) for name, array in arrays.items()
        }
        name = shard_name(len(self._shards))
        file = self._put(name, typed)
        self._shards.append(self._entry(name, counts, tags, file))
        self._count(counts, tags)

    def _entry(self, name: str, counts: sp.csr_array, tags: sp.csr_array, file: FileEntry) -> ShardEntry:
        last = self._shards[-1] if self._shards else None
        return ShardEntry(
            file=name,
            n_docs=int(counts.shape[0]),
            n_edges=int(counts.nnz),
            n_slots=int(tags.nnz),
            n_tokens=int(counts.data.sum(dtype=np.int64)),
            first_doc=last.first_doc + last.n_docs if last else 0,
            first_edge=last.first_edge + last.n_edges if last else 0,
            first_slot=last.first_slot + last.n_slots if last else 0,
            bytes=file.bytes,
            sha256=file.sha256,
        )

    def _count(self, counts: sp.csr_array, tags: sp.csr_array) -> None:
        """Add a shard to the document counts of words, and of tags on documents with words."""
        word_docs, tag_docs = self._statistics
        word_docs += np.bincount(counts.indices, minlength=len(word_docs))
        has_words = np.repeat(np.diff(counts.indptr) > 0, np.diff(tags.indptr))
        tag_docs += np.bincount(tags.indices[has_words], minlength=len(tag_docs))

    def _put(self, name: str, arrays: dict[str, npt.NDArray[Any]]) -> FileEntry:
        data = save(arrays)
        (self._new / name).write_bytes(data)
        return FileEntry(len(data), digest_bytes(data))

    def _put_names(self, names: Sequence[str], file: str) -> None:
        write_names(names, self._new / file)
        data = (self._new / file).read_bytes()
        self._files[file] = FileEntry(len(data), digest_bytes(data))


def _check_names(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        raise InputError(f"{what}: a name occurs twice; every name must have one column")
