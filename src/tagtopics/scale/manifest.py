"""The manifest of a folder of shards: what the folder holds, to the last byte.

It is written last and in one move, so that a folder with a manifest is a finished one. Whoever reads it
trusts none of it: the sizes must add up, and every file must have the bytes and the checksum it names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tagtopics.corpus.recipe import TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.errors import InputError

FORMAT = "tagtopics shards"
VERSION = 1
"""Version of the layout; a reader refuses what is newer than itself."""

MANIFEST = "manifest.json"
VOCABULARY = "vocab.txt"
TAGS = "tags.txt"
STATISTICS = "statistics.safetensors"

_AGAIN = "copy it again, or shard the corpus again"
_SUMS = ("n_docs", "n_edges", "n_slots", "n_tokens")
_OFFSETS = {"first_doc": "n_docs", "first_edge": "n_edges", "first_slot": "n_slots"}


@dataclass(frozen=True)
class FileEntry:
    """A file of the folder.

    Attributes:
        bytes: its size.
        sha256: its checksum, 64 hexadecimal digits.
    """

    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardEntry:
    """One shard: its size, and where it stands in the whole.

    Attributes:
        file: the name of its file.
        n_docs: documents.
        n_edges: distinct words summed over its documents.
        n_slots: tags summed over its documents.
        n_tokens: words, repeats included.
        first_doc: documents in the shards before it.
        first_edge: edges in the shards before it.
        first_slot: slots in the shards before it.
        bytes: the size of its file.
        sha256: the checksum of its file.
    """

    file: str
    n_docs: int
    n_edges: int
    n_slots: int
    n_tokens: int
    first_doc: int
    first_edge: int
    first_slot: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds.

    Attributes:
        n_docs: documents in all shards, D.
        n_words: words, W.
        n_tags: tags, T.
        n_edges: distinct words summed over documents, E.
        n_slots: tags summed over documents, S.
        n_tokens: words, repeats included.
        shards: the shards, in the order of the documents.
        files: the other files of the folder by name.
        recipe: how text became counts, so that new text can follow; None where counts came as counts.
        notices: one line for each thing that was decided for the user.
    """

    n_docs: int
    n_words: int
    n_tags: int
    n_edges: int
    n_slots: int
    n_tokens: int
    shards: tuple[ShardEntry, ...]
    files: Mapping[str, FileEntry]
    recipe: TextRecipe | None = None
    notices: tuple[str, ...] = ()


def shard_name(number: int) -> str:
    """Return the name of the file of a shard."""
    return f"shard-{number:05d}.safetensors"


def holds_shards(path: Path) -> bool:
    """Tell whether a path is a folder of shards, finished or not."""
    return (path / MANIFEST).is_file() or (path / shard_name(0)).is_file()


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write the manifest of a folder, whole or not at all."""
    recipe = None if manifest.recipe is None else recipe_to_json(manifest.recipe)
    value = {"format": FORMAT, "version": VERSION} | asdict(manifest) | {"recipe": recipe}
    fresh = folder / f"{MANIFEST}.part"
    fresh.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(fresh, folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; what is no finished folder of shards is an `InputError`."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"no such folder of shards: {folder}")
    if not path.is_file():
        if holds_shards(folder):
            raise InputError(
                f"{folder}: unfinished, it has shards but no {MANIFEST}; shard the corpus again with --force"
            )
        raise InputError(
            f"{folder}: no folder of shards, it has no {MANIFEST}; make one with tagtopics shard"
        )
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_AGAIN}") from None
    try:
        manifest = _manifest_of(value)
        _check(manifest)
    except (KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: damaged ({type(error).__name__} {reason}); {_AGAIN}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return manifest


def check_size(path: Path, expected: FileEntry | ShardEntry) -> os.stat_result:
    """Check that a file is there and has its size, and return what the system says of it."""
    try:
        found = path.stat()
    except OSError:
        raise InputError(f"{path}: missing; put it back, or shard the corpus again") from None
    if found.st_size != expected.bytes:
        raise InputError(f"{path}: {found.st_size:,} bytes where {expected.bytes:,} were written; {_AGAIN}")
    return found


def read_checked(path: Path, expected: FileEntry | ShardEntry) -> bytes:
    """Return the bytes of a file that must be what was written."""
    check_size(path, expected)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if hashlib.sha256(data).hexdigest() != expected.sha256:
        raise InputError(f"{path}: not the bytes that were written (its checksum differs); {_AGAIN}")
    return data


def _manifest_of(value: Any) -> Manifest:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"not the manifest of a folder of shards (its format is no {FORMAT!r})")
    version = value["version"]
    if not isinstance(version, int) or version > VERSION:
        raise InputError(f"written by a newer tagtopics (version {version}); upgrade to read it")
    sizes = {name: _whole(value[name], name) for name in (*_SUMS, "n_words", "n_tags")}
    return Manifest(
        **sizes,
        shards=tuple(_entry(row) for row in value["shards"]),
        files={name: FileEntry(**_typed(row, FileEntry)) for name, row in value["files"].items()},
        recipe=None if value["recipe"] is None else recipe_from_json(value["recipe"]),
        notices=tuple(str(line) for line in value["notices"]),
    )


def _entry(row: Any) -> ShardEntry:
    return ShardEntry(**_typed(row, ShardEntry))


def _typed(row: Any, kind: type) -> dict[str, Any]:
    """Return the fields of an entry: strings where names and checksums belong, whole numbers elsewhere."""
    return {
        field.name: str(row[field.name]) if field.type == "str" else _whole(row[field.name], field.name)
        for field in fields(kind)
    }


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"damaged, {name} is {repr(value)[:40]} and no whole number; {_AGAIN}")
    return value


def _check(manifest: Manifest) -> None:
    """Check that the shards add up to the whole."""
    needed = {VOCABULARY, STATISTICS} | ({TAGS} if manifest.n_tags else set())
    if set(manifest.files) != needed or manifest.n_words == 0:
        raise InputError(f"damaged, its files are not {', '.join(sorted(needed))}; {_AGAIN}")
    for number, shard in enumerate(manifest.shards):
        if shard.file != shard_name(number):
            raise InputError(f"damaged, shard {number} is called {shard.file[:60]!r}; {_AGAIN}")
    for first, size in _OFFSETS.items():
        _check_offsets([(getattr(s, first), getattr(s, size)) for s in manifest.shards], first)
    for name in _SUMS:
        if sum(getattr(shard, name) for shard in manifest.shards) != getattr(manifest, name):
            raise InputError(f"damaged, the shards do not add up to {name}; {_AGAIN}")


def _check_offsets(pairs: Sequence[tuple[int, int]], name: str) -> None:
    total = 0
    for first, size in pairs:
        if first != total:
            raise InputError(f"damaged, {name} of a shard does not follow from those before it; {_AGAIN}")
        total += size
