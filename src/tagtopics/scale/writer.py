"""Writing a folder of shards: documents come in runs of any length and are cut into shards of even size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import save

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import Columns, TextRecipe
from tagtopics.corpus.write import check_folder
from tagtopics.errors import InputError
from tagtopics.files import atomic_folder, digest_bytes
from tagtopics.scale.format import (
    COLUMNS,
    DTYPES,
    FORMAT,
    MANIFEST,
    TEXTS,
    Arrays,
    FileEntry,
    Manifest,
    ShardEntry,
    pack_texts,
    shard_name,
    write_manifest,
)

LEAST_EDGES = 1_000_000
EXACT = 2**24  # the largest count: single precision cannot hold all larger whole numbers
_OURS = re.compile(r"manifest\.json|columns\.safetensors|shard-\d+\.safetensors")


def _join(parts: Sequence[Corpus]) -> Corpus:
    texts: dict[str, Any] = {}
    for name in TEXTS:
        columns = [getattr(part, name) or [None] * part.n_docs for part in parts]
        texts[name] = tuple(chain.from_iterable(columns))
    counts = sp.csr_array(sp.vstack([part.counts for part in parts], format="csr"))
    tags = sp.csr_array(sp.vstack([part.tags for part in parts], format="csr"))
    return replace(parts[0], counts=counts, tags=tags, **texts)


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
        self._names = pack_texts("vocabulary", vocabulary) | pack_texts("tags", tag_names)
        self._recipe, self._columns = recipe, columns
        # At least four times the words, so that sums are small in comparison.
        self._limit = shard_edges or max(4 * len(vocabulary), LEAST_EDGES)
        self._shape = len(vocabulary), len(tag_names)
        self._statistics = np.zeros(len(vocabulary), np.int64), np.zeros(len(tag_names), np.int64)
        self._parts: list[Corpus] = []
        self._sizes = np.zeros(3, dtype=np.int64)  # edges, slots, documents in the parts
        self._shards: list[ShardEntry] = []
        self._manifest: Manifest | None = None
        with ExitStack() as stack:
            self._new = stack.enter_context(atomic_folder(self.folder.resolve()))
            self._stack = stack.pop_all()

    def add(self, part: Corpus) -> None:
        """Add documents, with the same words and tags; labels, links and texts are not kept."""
        if self._manifest is not None:
            raise InputError(f"{self.folder}: the shards are closed; no documents can follow")
        if (part.n_words, part.n_tags) != self._shape:
            raise InputError(f"shards: {part} does not have these {self._shape[0]} words and their tags")
        if part.counts.nnz and part.counts.data.max() > EXACT:
            most = part.counts.data.max()
            raise InputError(f"shards: a count of {most:,}; the largest allowed is {EXACT:,}")
        self._parts.append(replace(part, labels=None, links=None, texts=None, split=None))
        self._sizes += part.counts.nnz, part.tags.nnz, part.n_docs
        if self._sizes.max() >= self._limit:
            self._write_full_shards()

    def close(self) -> Manifest:
        """Write the remaining documents and the manifest, and put the folder in its place."""
        if self._manifest is not None:
            return self._manifest
        if self._sizes[2]:
            self._write(_join(self._parts))
        word_docs, tag_docs = self._statistics
        manifest = Manifest(
            n_words=self._shape[0],
            n_tags=self._shape[1],
            shards=tuple(self._shards),
            names=self._put(COLUMNS, self._names | {"word_docs": word_docs, "tag_docs": tag_docs}),
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
        """Write the parts up to the last document that fills a shard; the rest is a part."""
        whole, start = _join(self._parts), 0
        words, tags = whole.counts.indptr, whole.tags.indptr
        while True:
            by_words = np.searchsorted(words, words[start] + self._limit)
            by_tags = np.searchsorted(tags, tags[start] + self._limit)
            stop = int(min(by_words, by_tags, start + self._limit))
            if stop >= len(words):
                break
            self._write(whole[start:stop])
            start = stop
        rest = whole[start:]
        self._parts = [rest]
        self._sizes[:] = rest.counts.nnz, rest.tags.nnz, rest.n_docs

    def _write(self, part: Corpus) -> None:
        """Write a shard, and add its documents to the statistics."""
        counts, tags = part.counts, part.tags
        arrays = {
            "doc_edges": counts.indptr,
            "edge_word": counts.indices,
            "edge_count": counts.data,
            "doc_slots": tags.indptr,
            "slot_tag": tags.indices,
        }
        typed = {name: array.astype(DTYPES[name], copy=False) for name, array in arrays.items()}
        for name in TEXTS:
            values = getattr(part, name)
            if name == "ids" or any(values or ()):
                typed |= pack_texts(name, values)
        file = self._put(shard_name(len(self._shards)), typed)
        entry = ShardEntry(
            n_docs=part.n_docs,
            n_edges=int(counts.nnz),
            n_slots=int(tags.nnz),
            n_tokens=int(counts.data.sum(dtype=np.int64)),
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
