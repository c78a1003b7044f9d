"""Writing a folder of shards: documents come in runs of any length and are cut into shards of even size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import save

from tagtopics._typing import CSR
from tagtopics.corpus.core import canonical_counts, canonical_tags
from tagtopics.corpus.recipe import Columns, TextRecipe
from tagtopics.corpus.write import check_folder, write_names
from tagtopics.errors import InputError
from tagtopics.files import atomic_folder, digest_bytes
from tagtopics.scale.format import (
    DTYPES,
    FORMAT,
    MANIFEST,
    STATISTICS,
    TAGS,
    TEXTS,
    VOCABULARY,
    Arrays,
    FileEntry,
    Manifest,
    Metadata,
    ShardEntry,
    pack_texts,
    shard_name,
    write_manifest,
)

LEAST_EDGES = 1_000_000
EXACT = 2**24  # the largest count: single precision cannot hold all larger whole numbers
_OURS = re.compile(r"manifest\.json|vocab\.txt|tags\.txt|statistics\.safetensors|shard-\d+\.safetensors")


class _Run(NamedTuple):
    """Some documents that wait to be written."""

    counts: CSR  # (D, W)
    tags: CSR  # (D, T)
    texts: Mapping[str, Sequence[str | None]]  # of `TEXTS`, as far as they are known

    def part(self, start: int, stop: int) -> _Run:
        """Return the documents from `start` to `stop`."""
        texts = {name: values[start:stop] for name, values in self.texts.items()}
        return _Run(self.counts[start:stop], self.tags[start:stop], texts)


def _join(runs: Sequence[_Run]) -> _Run:
    texts = {}
    for name in TEXTS:
        columns = [run.texts.get(name) or [None] * run.counts.shape[0] for run in runs]
        texts[name] = list(chain.from_iterable(columns))
    counts, tags = (sp.vstack([run[i] for run in runs], format="csr") for i in range(2))
    return _Run(sp.csr_array(counts), sp.csr_array(tags), texts)


def check_shard_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new folder of shards; nothing may be there, or shards to overwrite."""
    target = Path(path)
    check_folder(
        target,
        "folder of shards",
        lambda name: _OURS.fullmatch(name) is not None,
        MANIFEST,
        lambda manifest: manifest.is_file() and FORMAT.encode() in manifest.read_bytes()[:200],
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
        for names, what in ((vocabulary, "vocabulary"), (tag_names, "tag_names")):
            if len(set(names)) < len(names):
                raise InputError(f"{what}: a name occurs twice; every name must have one column")
        if not len(vocabulary):
            raise InputError("vocabulary: no words")
        if shard_edges is not None and shard_edges < 1:
            raise InputError(f"shard_edges must be at least 1, not {shard_edges}")
        self.folder = check_shard_target(folder, overwrite=overwrite)
        self.notices: list[str] = []
        self._recipe, self._columns = recipe, columns
        # At least four times the words, so that sums are small in comparison.
        self._limit = shard_edges or max(4 * len(vocabulary), LEAST_EDGES)
        self._shape = len(vocabulary), len(tag_names)
        self._statistics = np.zeros(len(vocabulary), np.int64), np.zeros(len(tag_names), np.int64)
        self._runs: list[_Run] = []
        self._sizes = np.zeros(3, dtype=np.int64)  # edges, slots, documents in the runs
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
        texts = {name: values for name, values in (metadata or {}).items() if values is not None}
        if wrong := [name for name, values in texts.items() if len(values) != len(ids)]:
            raise InputError(f"shards: {len(texts[wrong[0]])} {wrong[0]} for {len(ids)} documents")
        self._runs.append(_Run(counts, tags, {**texts, "id": ids}))
        self._sizes += counts.nnz, tags.nnz, len(ids)
        if self._sizes.max() >= self._limit:
            self._write_full_shards()

    def close(self) -> Manifest:
        """Write the remaining documents and the manifest, and put the folder in its place."""
        if self._manifest is not None:
            return self._manifest
        if self._sizes[2]:
            self._write(_join(self._runs))
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

    def _write_full_shards(self) -> None:
        """Write the runs up to the last document that fills a shard; the rest is a run."""
        run, start = _join(self._runs), 0
        words, tags = run.counts.indptr, run.tags.indptr
        while True:
            by_words = np.searchsorted(words, words[start] + self._limit)
            by_tags = np.searchsorted(tags, tags[start] + self._limit)
            stop = int(min(by_words, by_tags, start + self._limit))
            if stop >= len(words):
                break
            self._write(run.part(start, stop))
            start = stop
        rest = run.part(start, len(words) - 1)
        self._runs = [rest]
        self._sizes[:] = rest.counts.nnz, rest.tags.nnz, rest.counts.shape[0]

    def _write(self, run: _Run) -> None:
        """Write a shard, and add its documents to the statistics."""
        counts, tags, texts = run
        arrays = {
            "doc_edges": counts.indptr,
            "edge_word": counts.indices,
            "edge_count": counts.data,
            "doc_slots": tags.indptr,
            "slot_tag": tags.indices,
        }
        typed = {name: array.astype(DTYPES[name], copy=False) for name, array in arrays.items()}
        for name, values in texts.items():
            if name == "id" or any(values):
                typed |= pack_texts(name, values)
        name, last = shard_name(len(self._shards)), self._shards[-1] if self._shards else None
        file = self._put(name, typed)
        entry = ShardEntry(
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
        self._shards.append(entry)
        word_docs, tag_docs = self._statistics
        word_docs += np.bincount(counts.indices, minlength=len(word_docs))
        has_words = np.repeat(np.diff(counts.indptr) > 0, np.diff(tags.indptr))
        tag_docs += np.bincount(tags.indices[has_words], minlength=len(tag_docs))

    def _put(self, name: str, arrays: Arrays) -> FileEntry:
        data = save(arrays)
        (self._new / name).write_bytes(data)
        return FileEntry(len(data), digest_bytes(data))

    def _put_names(self, names: Sequence[str], file: str) -> None:
        write_names(names, self._new / file)
        data = (self._new / file).read_bytes()
        self._files[file] = FileEntry(len(data), digest_bytes(data))
