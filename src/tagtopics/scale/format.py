"""The format of corpora larger than memory: a folder of shards, each a range of documents.

    manifest.json               the sizes and digests of all other files, and a digest of itself
    columns.safetensors         the words and the tags (see `pack_texts`), and in how many documents each is:
                                word_docs (W,) and tag_docs (T,)
    shard-00000.safetensors     the arrays of `DTYPES`, and the texts of the documents (see `pack_texts`)

Documents keep their order. Within a shard all offsets count from 0. A reader trusts nothing: every file must
have its size and digest, and every shard the numbers of documents, edges and slots of the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from safetensors import SafetensorError
from safetensors.numpy import load

from tagtopics._typing import CSR, Int64
from tagtopics.bp.graph import FactorGraph, Totals, wire
from tagtopics.corpus.cells import METADATA
from tagtopics.corpus.core import INT32_MAX, Corpus, checked_csr
from tagtopics.corpus.recipe import Columns, TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.errors import InputError, one_line
from tagtopics.files import BLANK, digest_bytes, is_sealed, read_regular, seal

FORMAT: Final = "tagtopics shards"
VERSION: Final = 3
"""Version of the layout; a reader refuses others."""

MANIFEST = "manifest.json"
COLUMNS = "columns.safetensors"
DTYPES = {  # of the arrays of a shard, besides the texts of `pack_texts`
    "doc_edges": np.int64,  # (D_s + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    "edge_word": np.int32,  # (E_s,) ascending within a document
    "edge_count": np.float32,  # (E_s,) how often the word occurs in the document, whole numbers from 1
    "doc_slots": np.int64,  # (D_s + 1,) slots of document d
    "slot_tag": np.int32,  # (S_s,) ascending within a document
}

TEXTS = ("ids", *METADATA.values())
Arrays = dict[str, npt.NDArray[Any]]

_AGAIN = "copy it again, or shard the corpus again"
_STRICT = ConfigDict(strict=True, extra="forbid")
_Whole = Annotated[int, Field(ge=0)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Recipe = Annotated[
    TextRecipe,
    PlainValidator(lambda value: value if isinstance(value, TextRecipe) else recipe_from_json(value)),
    PlainSerializer(recipe_to_json),
]


@dataclass(frozen=True, config=_STRICT)
class FileEntry:
    """The size and the digest of a file of the folder."""

    bytes: _Whole
    sha256: _Digest


@dataclass(frozen=True, config=_STRICT)
class ShardEntry(FileEntry):
    """The file of a shard, and its sizes as in `Manifest`."""

    n_docs: _Whole
    n_edges: _Whole
    n_slots: _Whole
    n_tokens: _Whole


@dataclass(frozen=True, config=_STRICT)
class Manifest:
    """What a folder of shards contains.

    Attributes:
        n_words: words, W.
        n_tags: tags, T.
        shards: the shards, in the order of the documents.
        names: the file with the names of words and tags.
        recipe: how text became counts, to process new text the same way; None if the source had counts.
        notices: one line for each decision made for the user.
        columns: which columns of a table the documents came from; None if they came from elsewhere.
    """

    n_words: Annotated[int, Field(ge=1)]
    n_tags: _Whole
    shards: tuple[ShardEntry, ...]
    names: FileEntry
    recipe: _Recipe | None = None
    notices: tuple[str, ...] = ()
    columns: Columns | None = None
    format: Literal["tagtopics shards"] = FORMAT
    version: Literal[3] = VERSION

    @property
    def n_docs(self) -> int:
        """Documents in all shards, D."""
        return sum(shard.n_docs for shard in self.shards)

    @property
    def n_edges(self) -> int:
        """Distinct words summed over documents, E."""
        return sum(shard.n_edges for shard in self.shards)

    @property
    def n_slots(self) -> int:
        """Tags summed over documents, S."""
        return sum(shard.n_slots for shard in self.shards)

    @property
    def n_tokens(self) -> int:
        """Words, repeats included."""
        return sum(shard.n_tokens for shard in self.shards)


def shard_name(number: int) -> str:
    """Return the name of the file of a shard."""
    return f"shard-{number:05d}.safetensors"


def holds_shards(path: Path) -> bool:
    """Return whether a path is a folder of shards, complete or not."""
    return (path / MANIFEST).is_file() or (path / shard_name(0)).is_file()


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write the manifest of a new folder, with a digest of itself; `atomic_folder` puts it in its place."""
    marks = {"format": FORMAT, "version": VERSION, "digest": BLANK}
    value = marks | TypeAdapter(Manifest).dump_python(manifest, mode="json")
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    (folder / MANIFEST).write_text(seal(text), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder; an `InputError` if it is not a complete folder of shards."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of shards")
    if not path.is_file():
        if holds_shards(folder):
            problem = f"incomplete, it has shards but no {MANIFEST}; shard the corpus again, to a new folder"
        else:
            problem = f"not a folder of shards, it has no {MANIFEST}; create one with tagtopics shard"
        raise InputError(f"{folder}: {problem}")
    try:
        content = path.read_bytes()
        value = json.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_AGAIN}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{path}: not the manifest of a folder of shards (its format is not {FORMAT!r})")
    if value.get("version") != VERSION:
        raise InputError(f"{path}: written by another version of tagtopics; shard the corpus again")
    if not is_sealed(content):
        raise InputError(f"{path}: damaged (its content does not match its digest); {_AGAIN}")
    del value["digest"]
    try:
        return TypeAdapter(Manifest).validate_json(json.dumps(value))
    except ValidationError as error:
        raise InputError(f"{path}: damaged ({one_line(error)}); {_AGAIN}") from None


class ShardFolder:
    """A folder of shards, open for reading; create one with `ShardFolder.open`.

    Attributes:
        path: the folder.
        manifest: what it contains.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest

    @classmethod
    def open(cls, path: str | Path) -> ShardFolder:
        """Open a complete folder of shards.

        Every file must exist and have its size; digests are compared whenever a file is read.

        Raises:
            InputError: if the folder is incomplete, or a file is missing or has another size.
        """
        folder = cls(Path(path), read_manifest(Path(path)))
        _check_size(folder.path / COLUMNS, folder.manifest.names)
        for number, shard in enumerate(folder.manifest.shards):
            _check_size(folder.path / shard_name(number), shard)
        return folder

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The W words, in column order."""
        path = self.path / COLUMNS
        return tuple(unpack_texts("vocabulary", self._columns, self.manifest.n_words, path))

    @cached_property
    def tag_names(self) -> tuple[str, ...]:
        """The T tags, in column order."""
        return tuple(unpack_texts("tags", self._columns, self.manifest.n_tags, self.path / COLUMNS))

    @cached_property
    def totals(self) -> Totals:
        """Statistics of the corpus."""
        m = self.manifest
        word_docs, tag_docs = self._statistic("word_docs", m.n_words), self._statistic("tag_docs", m.n_tags)
        return Totals(m.n_docs, float(m.n_tokens), word_docs, tag_docs)

    def __len__(self) -> int:
        return len(self.manifest.shards)

    def __repr__(self) -> str:
        m = self.manifest
        return (
            f"ShardFolder({str(self.path)!r}: {m.n_docs:,} documents, {m.n_words:,} words, "
            f"{m.n_tags:,} tags, {len(self):,} shards)"
        )

    def graph(self, number: int) -> FactorGraph:
        """Return a shard, counted from 0, as a part of the factor graph: one block of documents.

        Raises:
            InputError: if the file is missing, too short, or not what was written.
        """
        before, (counts, tags, _) = self.manifest.shards[:number], self._read(number)
        block, first_edge = np.array([0, counts.shape[0]]), sum(shard.n_edges for shard in before)
        return wire(counts, tags, block, self.totals, first_edge)

    def corpus(self, numbers: Iterable[int] | None = None) -> Corpus:
        """Return some shards, or all of them, as one corpus in memory.

        Args:
            numbers: the shards, counted from 0, in the order wanted; None for all.
        """
        W, T = self.manifest.n_words, self.manifest.n_tags
        counts, tags = [sp.csr_array((0, W), dtype=np.int32)], [sp.csr_array((0, T), dtype=np.int8)]
        texts: dict[str, list[Any]] = {name: [] for name in TEXTS}
        for number in range(len(self)) if numbers is None else numbers:
            of_words, of_tags, arrays = self._read(number)
            counts.append(of_words.astype(np.int32))
            tags.append(of_tags)
            for name, values in texts.items():
                known = f"{name}_bytes" in arrays or name == "ids"
                of_docs = len(of_words.indptr) - 1, self.path / shard_name(number)
                values += unpack_texts(name, arrays, *of_docs) if known else [""] * of_docs[0]
        metadata: dict[str, Any] = {
            name: tuple(value or None for value in values) if any(values) else None
            for name, values in texts.items()
            if name != "ids"
        }
        return Corpus(
            counts=sp.csr_array(sp.vstack(counts, format="csr")),
            tags=sp.csr_array(sp.vstack(tags, format="csr")),
            vocabulary=self.vocabulary,
            tag_names=self.tag_names,
            ids=tuple(texts["ids"]),
            recipe=self.manifest.recipe,
            columns=self.manifest.columns,
            notices=self.manifest.notices if numbers is None else (),
            **metadata,
        )

    def rows(self, rows: Int64) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the counts and the tags of documents by their numbers in the whole corpus, ascending."""
        counts, tags, start = list[sp.csr_array](), list[sp.csr_array](), 0
        for number, entry in enumerate(self.manifest.shards):
            first, last = np.searchsorted(rows, [start, start + entry.n_docs])
            if first < last:
                part = self.corpus([number])
                counts.append(part.counts[rows[first:last] - start])
                tags.append(part.tags[rows[first:last] - start])
            start += entry.n_docs
        return sp.csr_array(sp.vstack(counts, format="csr")), sp.csr_array(sp.vstack(tags, format="csr"))

    def _read(self, number: int) -> tuple[CSR, CSR, Arrays]:
        """Return the counts and tags of a shard, and its arrays, after checking all that kernels rely on."""
        m, entry = self.manifest, self.manifest.shards[number]
        path = self.path / shard_name(number)
        arrays = _read_checked(path, entry)
        for name, dtype in DTYPES.items():
            if name not in arrays or arrays[name].ndim != 1 or arrays[name].dtype != dtype:
                raise InputError(f"{path}: damaged, it has no {name} of {np.dtype(dtype).name}")
        words, data, tagged = arrays["edge_word"], arrays["edge_count"], arrays["slot_tag"]
        ones = np.ones(len(tagged), np.int8)
        where, shape = f"{path}: damaged, edge_word", (entry.n_docs, m.n_words)
        counts = checked_csr(data, words, arrays["doc_edges"], shape, where, canonical=True)
        where, shape = f"{path}: damaged, slot_tag", (entry.n_docs, m.n_tags)
        tags = checked_csr(ones, tagged, arrays["doc_slots"], shape, where, canonical=True)
        if not ((data >= 1) & (data <= INT32_MAX) & (data == np.rint(data))).all():
            raise InputError(f"{path}: damaged, edge_count is not whole numbers from 1 to {INT32_MAX:,}")
        sizes = (len(data), len(tagged), float(data.sum(dtype=np.float64)))
        if sizes != (entry.n_edges, entry.n_slots, entry.n_tokens):
            raise InputError(f"{path}: damaged, its edges, slots or tokens are not those of the manifest")
        return counts, tags, arrays

    @cached_property
    def _columns(self) -> Arrays:
        return _read_checked(self.path / COLUMNS, self.manifest.names)

    def _statistic(self, name: str, n: int) -> Int64:
        path, values = self.path / COLUMNS, self._columns.get(name)
        fits = values is not None and values.shape == (n,) and values.dtype == np.int64
        if values is None or not fits or not ((values >= 0) & (values <= self.manifest.n_docs)).all():
            raise InputError(f"{path}: damaged, {name} is not {n:,} numbers of documents; {_AGAIN}")
        return values


def _check_size(path: Path, expected: FileEntry) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        raise InputError(f"{path}: missing; put it back, or shard the corpus again") from None
    if size != expected.bytes:
        raise InputError(f"{path}: has {size:,} bytes, {expected.bytes:,} were written; {_AGAIN}")


def _read_checked(path: Path, expected: FileEntry) -> Arrays:
    """Return the arrays of a file if size and digest are right."""
    _check_size(path, expected)
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if digest_bytes(data) != expected.sha256:
        raise InputError(f"{path}: damaged (its digest differs); {_AGAIN}")
    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged ({one_line(error)}); {_AGAIN}") from None


# ---------------------------------------------------------------------------------- texts in arrays


def pack_texts(name: str, texts: Sequence[str | None]) -> Arrays:
    """Return `NAME_bytes`, the texts in UTF-8 one after the other, and `NAME_offsets`, where each begins."""
    encoded = [(text or "").encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return {f"{name}_bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_offsets": offsets}


def unpack_texts(name: str, arrays: Arrays, n: int, path: Path) -> list[str]:
    """Return the N texts that `pack_texts` wrote; other arrays are refused."""
    data, offsets = arrays.get(f"{name}_bytes"), arrays.get(f"{name}_offsets")
    if data is None or offsets is None or data.dtype != np.uint8 or offsets.dtype != np.int64:
        raise InputError(f"{path}: damaged, it has no {name}_bytes of uint8 and {name}_offsets of int64")
    fits = offsets.shape == (n + 1,) and offsets[0] == 0 and offsets[-1] == data.size
    if not fits or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{path}: damaged, its offsets do not fit {n:,} {name}")
    encoded = data.tobytes()
    try:
        return [encoded[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError:
        raise InputError(f"{path}: damaged, {name}_bytes is not UTF-8") from None
