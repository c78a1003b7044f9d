"""The format of corpora larger than memory: a folder of shards, each a range of documents.

    manifest.json               the sizes and digests of all other files, and a digest of itself
    vocab.txt, tags.txt         the words and the tags, one per line, in column order
    statistics.safetensors      word_docs (W,) and tag_docs (T,): documents with each word, with each tag
    shard-00000.safetensors     the arrays of `DTYPES`; one file for each shard

Documents keep their order. Within a shard all offsets count from 0; the manifest has the number of
documents, edges and slots before it. A reader trusts nothing: sizes must add up, and every file must have
its size and digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from safetensors import SafetensorError
from safetensors.numpy import load, load_file

from tagtopics._typing import Int32, Int64
from tagtopics.bp.graph import FactorGraph, Totals, wire
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import INT32_MAX, Corpus, checked_csr
from tagtopics.corpus.recipe import TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.errors import InputError, one_line
from tagtopics.files import BLANK, digest_bytes, is_sealed, read_regular, sealed
from tagtopics.scale.packing import check_texts, unpack, unpack_metadata

FORMAT: Final = "tagtopics shards"
VERSION: Final = 2
"""Version of the layout; a reader refuses newer ones."""

MANIFEST = "manifest.json"
VOCABULARY = "vocab.txt"
TAGS = "tags.txt"
STATISTICS = "statistics.safetensors"
DTYPES = {
    "doc_edges": np.int64,  # (D_s + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    "edge_word": np.int32,  # (E_s,) ascending within a document
    "edge_count": np.float32,  # (E_s,) how often the word occurs in the document, whole numbers from 1
    "doc_slots": np.int64,  # (D_s + 1,) slots of document d
    "slot_tag": np.int32,  # (S_s,) ascending within a document
    "id_bytes": np.uint8,  # the ids of the documents in UTF-8, one after the other
    "id_offsets": np.int64,  # (D_s + 1,) bytes of the id of document d
}
"""The arrays of a shard and their types. If documents have titles, dates or web addresses, `titles_bytes` and
`titles_offsets`, and so on, have them in the same form as the ids; one that is unknown is empty."""

_NUMBERS = ("doc_edges", "edge_word", "edge_count", "doc_slots", "slot_tag")

_AGAIN = "copy it again, or shard the corpus again"
_SUMS = ("n_docs", "n_edges", "n_slots", "n_tokens")
_OFFSETS = {"first_doc": "n_docs", "first_edge": "n_edges", "first_slot": "n_slots"}
_STRICT = ConfigDict(strict=True, extra="forbid")
_Arrays = dict[str, npt.NDArray[Any]]
_Whole = Annotated[int, Field(ge=0)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, config=_STRICT)
class FileEntry:
    """The size and the digest of a file of the folder."""

    bytes: _Whole
    sha256: _Digest


@dataclass(frozen=True, config=_STRICT)
class ShardEntry:
    """One shard: its file, its sizes as in `Manifest`, and the sizes of all shards before it."""

    file: str
    n_docs: _Whole
    n_edges: _Whole
    n_slots: _Whole
    n_tokens: _Whole
    first_doc: _Whole
    first_edge: _Whole
    first_slot: _Whole
    bytes: _Whole
    sha256: _Digest


def _read_recipe(value: Any) -> TextRecipe | None:
    return value if value is None or isinstance(value, TextRecipe) else recipe_from_json(value)


def _read_columns(value: Any) -> Columns | None:
    return value if value is None or isinstance(value, Columns) else Columns.model_validate(value)


@dataclass(frozen=True, config=_STRICT)
class Manifest:
    """What a folder of shards contains.

    Attributes:
        n_docs: documents in all shards, D.
        n_words: words, W.
        n_tags: tags, T.
        n_edges: distinct words summed over documents, E.
        n_slots: tags summed over documents, S.
        n_tokens: words, repeats included.
        shards: the shards, in the order of the documents.
        files: the other files of the folder by name.
        recipe: how text became counts, to process new text the same way; None if the source had counts.
        notices: one line for each decision made for the user.
        columns: which columns of a table the documents came from; None if they came from elsewhere.
    """

    n_docs: _Whole
    n_words: Annotated[int, Field(ge=1)]
    n_tags: _Whole
    n_edges: _Whole
    n_slots: _Whole
    n_tokens: _Whole
    shards: tuple[ShardEntry, ...]
    files: Mapping[str, FileEntry]
    recipe: Annotated[TextRecipe | None, PlainValidator(_read_recipe)] = None
    notices: tuple[str, ...] = ()
    columns: Annotated[Columns | None, PlainValidator(_read_columns)] = None
    format: Literal["tagtopics shards"] = FORMAT
    version: Literal[2] = VERSION

    @model_validator(mode="after")
    def _adds_up(self) -> Manifest:
        """Check that the shards add up to the whole."""
        needed = {VOCABULARY, STATISTICS} | ({TAGS} if self.n_tags else set())
        _require(set(self.files) == needed, f"its files are not {', '.join(sorted(needed))}")
        totals = dict.fromkeys(_SUMS, 0)
        for number, shard in enumerate(self.shards):
            _require(shard.file == shard_name(number), f"shard {number} is called {shard.file[:60]!r}")
            for first, size in _OFFSETS.items():
                _require(getattr(shard, first) == totals[size], f"{first} of shard {number} is wrong")
            for name in _SUMS:
                totals[name] += getattr(shard, name)
        for name in _SUMS:
            _require(totals[name] == getattr(self, name), f"the shards do not add up to {name}")
        return self


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def shard_name(number: int) -> str:
    """Return the name of the file of a shard."""
    return f"shard-{number:05d}.safetensors"


def holds_shards(path: Path) -> bool:
    """Return whether a path is a folder of shards, complete or not."""
    return (path / MANIFEST).is_file() or (path / shard_name(0)).is_file()


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write the manifest of a new folder, with a digest of itself; `atomic_folder` puts it in its place."""
    recipe = None if manifest.recipe is None else recipe_to_json(manifest.recipe)
    marks = {"format": FORMAT, "version": VERSION, "digest": BLANK}
    columns = None if manifest.columns is None else manifest.columns.model_dump(mode="json")
    value = marks | asdict(manifest) | {"recipe": recipe, "columns": columns}
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    (folder / MANIFEST).write_text(sealed(text), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder; an `InputError` if it is not a complete folder of shards."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of shards")
    if not path.is_file() and holds_shards(folder):
        raise InputError(
            f"{folder}: incomplete, it has shards but no {MANIFEST}; shard the corpus again, to a new folder"
        )
    if not path.is_file():
        raise InputError(
            f"{folder}: not a folder of shards, it has no {MANIFEST}; create one with tagtopics shard"
        )
    try:
        content = path.read_bytes()
        value = json.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_AGAIN}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{path}: not the manifest of a folder of shards (its format is not {FORMAT!r})")
    if isinstance(value.get("version"), int) and value["version"] > VERSION:
        raise InputError(
            f"{path}: written by a newer tagtopics (version {value['version']}); upgrade to read it"
        )
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
        self.path = path
        self.manifest = manifest
        self._checked: dict[int, tuple[int, int]] = {}  # inode and time of each shard that was checked

    @classmethod
    def open(cls, path: str | Path, verify: Literal["sizes", "full"] = "sizes") -> ShardFolder:
        """Open a complete folder of shards.

        Args:
            path: the folder.
            verify: "sizes" checks that every file exists and has its size; "full" also reads every shard and
                compares its digest. Each shard is compared in any case when it is first used.

        Raises:
            InputError: if the folder is incomplete, or a file is missing or was changed.
        """
        if verify not in ("sizes", "full"):
            raise InputError(f"verify must be 'sizes' or 'full', not {verify!r}")
        folder = cls(Path(path), read_manifest(Path(path)))
        for name, file in folder.manifest.files.items():
            _check_size(folder.path / name, file)
        for number, shard in enumerate(folder.manifest.shards):
            _check_size(folder.path / shard.file, shard)
            if verify == "full":
                folder._arrays(number)
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

        Digest and indices are checked the first time, and again if the file was replaced since.

        Raises:
            InputError: if the file is missing, too short, or not what was written.
        """
        entry = self.manifest.shards[number]
        needed: Any = ("C", "A", "W")
        read = self._arrays(number)
        arrays: Any = {name: np.require(read[name], requirements=needed) for name in _NUMBERS}
        edges = arrays["doc_edges"], arrays["edge_word"], arrays["edge_count"]
        slots, blocks = (arrays["doc_slots"], arrays["slot_tag"]), np.array([0, entry.n_docs])
        return wire(*edges, *slots, blocks, self.totals, entry.first_edge, entry.first_slot)

    def ids(self, number: int) -> tuple[str, ...]:
        """Return the ids of the documents of a shard."""
        return unpack("id", self._arrays(number))

    def corpus(self, numbers: Iterable[int] | None = None) -> Corpus:
        """Return some shards, or all of them, as one corpus in memory.

        Args:
            numbers: the shards, counted from 0, in the order wanted; None for all.
        """
        W, T = self.manifest.n_words, self.manifest.n_tags
        counts, tags = [sp.csr_array((0, W), dtype=np.int32)], [sp.csr_array((0, T), dtype=np.int8)]
        ids, read = list[str](), list[_Arrays]()
        for number in range(len(self)) if numbers is None else numbers:
            arrays = self._arrays(number)
            data = arrays["edge_count"].astype(np.int32)
            counts.append(_csr(data, arrays["edge_word"], arrays["doc_edges"], W))
            ones = np.ones(len(arrays["slot_tag"]), dtype=np.int8)
            tags.append(_csr(ones, arrays["slot_tag"], arrays["doc_slots"], T))
            ids += unpack("id", arrays)
            read.append({name: array for name, array in arrays.items() if name not in _NUMBERS})
        return Corpus(
            counts=sp.csr_array(sp.vstack(counts, format="csr")),
            tags=sp.csr_array(sp.vstack(tags, format="csr")),
            vocabulary=self.vocabulary,
            tag_names=self.tag_names,
            ids=tuple(ids),
            recipe=self.manifest.recipe,
            columns=self.manifest.columns,
            notices=self.manifest.notices if numbers is None else (),
            **unpack_metadata(read),
        )

    def rows(self, rows: Int64) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the counts and the tags of documents by their numbers in the whole corpus, ascending."""
        counts, tags = list[sp.csr_array](), list[sp.csr_array]()
        for number, entry in enumerate(self.manifest.shards):
            first, last = np.searchsorted(rows, [entry.first_doc, entry.first_doc + entry.n_docs])
            if first < last:
                part = self.corpus([number])
                counts.append(part.counts[rows[first:last] - entry.first_doc])
                tags.append(part.tags[rows[first:last] - entry.first_doc])
        return sp.csr_array(sp.vstack(counts, format="csr")), sp.csr_array(sp.vstack(tags, format="csr"))

    def _arrays(self, number: int) -> _Arrays:
        """Return the arrays of a shard, checked; they are fresh and may be written to."""
        entry = self.manifest.shards[number]
        path = self.path / entry.file
        found = _check_size(path, entry)
        stamp = found.st_ino, found.st_mtime_ns
        if self._checked.get(number) == stamp:
            return load_file(path)
        arrays = _unpack(_read_checked(path, entry), path)
        _check_shard(arrays, entry, self.manifest, path)
        self._checked[number] = stamp
        return arrays

    def _names(self, file: str, n: int) -> tuple[str, ...]:
        path = self.path / file
        try:
            text = _read_checked(path, self.manifest.files[file]).decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: damaged, it is not UTF-8; {_AGAIN}") from None
        names = tuple(text.split("\n")[:-1])
        if len(names) != n:
            raise InputError(f"{path}: has {len(names):,} lines, the manifest says {n:,}")
        return names

    def _statistic(self, name: str, n: int) -> Int64:
        path = self.path / STATISTICS
        values = _unpack(_read_checked(path, self.manifest.files[STATISTICS]), path).get(name)
        if values is None or values.shape != (n,) or values.dtype != np.int64:
            raise InputError(f"{path}: damaged, {name} is not an array of {n:,} whole numbers; {_AGAIN}")
        if not ((values >= 0) & (values <= self.manifest.n_docs)).all():
            raise InputError(f"{path}: damaged, {name} is not from 0 to the number of documents; {_AGAIN}")
        return values


def _check_size(path: Path, expected: FileEntry | ShardEntry) -> os.stat_result:
    """Check that a file exists and has its size; return its status."""
    try:
        found = path.stat()
    except OSError:
        raise InputError(f"{path}: missing; put it back, or shard the corpus again") from None
    if found.st_size != expected.bytes:
        raise InputError(f"{path}: has {found.st_size:,} bytes, {expected.bytes:,} were written; {_AGAIN}")
    return found


def _read_checked(path: Path, expected: FileEntry | ShardEntry) -> bytes:
    """Return the bytes of a file if size and digest are right."""
    _check_size(path, expected)
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if digest_bytes(data) != expected.sha256:
        raise InputError(f"{path}: damaged (its digest differs); {_AGAIN}")
    return data


def _unpack(data: bytes, path: Path) -> _Arrays:
    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged ({one_line(error)}); {_AGAIN}") from None


def _check_shard(arrays: _Arrays, entry: ShardEntry, manifest: Manifest, path: Path) -> None:
    """Check all that a kernel relies on: types, sizes, ascending offsets, indices within their columns."""
    for name, dtype in DTYPES.items():
        if name not in arrays or arrays[name].ndim != 1 or arrays[name].dtype != dtype:
            raise InputError(f"{path}: damaged, it has no {name} of {np.dtype(dtype).name}")
    sizes = {"edge_word": entry.n_edges, "edge_count": entry.n_edges, "slot_tag": entry.n_slots}
    for name, n in sizes.items():
        if len(arrays[name]) != n:
            raise InputError(
                f"{path}: damaged, {name} has {len(arrays[name]):,} entries, the manifest says {n:,}"
            )
    rows = (
        ("edge_word", arrays["edge_count"], "doc_edges", manifest.n_words),
        ("slot_tag", np.empty(entry.n_slots, np.int8), "doc_slots", manifest.n_tags),
    )
    for name, data, offsets, n_columns in rows:
        parts = (data, arrays[name], arrays[offsets], (entry.n_docs, n_columns))
        checked_csr(*parts, f"{path}: damaged, {name}", canonical=True)
    check_texts(arrays, entry.n_docs, path)
    counts = arrays["edge_count"]
    if not ((counts >= 1) & (counts <= INT32_MAX) & (counts == np.rint(counts))).all():
        raise InputError(f"{path}: damaged, edge_count is not whole numbers from 1 to {INT32_MAX:,}")
    if float(counts.sum(dtype=np.float64)) != entry.n_tokens:
        raise InputError(f"{path}: damaged, edge_count does not add up to the manifest's n_tokens")


def _csr(data: npt.NDArray[Any], columns: Int32, offsets: Int64, n_columns: int) -> sp.csr_array:
    return sp.csr_array((data, columns, offsets.astype(np.int32)), shape=(len(offsets) - 1, n_columns))
