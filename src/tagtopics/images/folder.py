"""A folder of images with its tags (table, JSON file, sub-folders) as documents of visual words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from tagtopics.corpus.cells import TagLists, name_of, read_tags
from tagtopics.corpus.core import Documents, ReadOptions
from tagtopics.corpus.formats.registry import Format, read_table, register
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import existing, read_json
from tagtopics.errors import InputError, Unusual
from tagtopics.images.decode import SUFFIXES, display_name, holds_images, images_in
from tagtopics.images.vocabulary import VisualVocabulary
from tagtopics.readers.vault import is_vault

# The columns of a table of tags, and its name; the first that exists is used.
IMAGE_COLUMNS = ("image", "file", "filename", "file_name", "path", "photo", "name", "id")
TAG_COLUMNS = ("tags", "tag", "keywords", "annotations", "labels")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")


@dataclass(frozen=True, kw_only=True)
class ImageTags:
    """What is known about N images, in their order."""

    tags: TagLists | None = None  # None if there are none at all
    labels: list[str | None] | None = None
    split: list[str | None] | None = None  # "train" or "test" for each image; None unless all are known
    unusual: list[str] = field(default_factory=list)  # one line for each thing the user may not expect


def image_tags(folder: Path, names: Sequence[str], options: ReadOptions) -> ImageTags:
    """Find the tags of images.

    Args:
        folder: the folder of the images.
        names: paths of the images within the folder, with `/`.
        options: `tags` is a file; a mapping of names to tags; "folders" for the names of sub-folders; or None
            to look for `tags.csv`, `.tsv`, `.jsonl` or `.json` in the folder, then for sub-folders. `id` and
            `label` name columns of the file.
    """
    tags = options.tags
    if tags is None:
        tags = existing(*(folder / f"tags{suffix}" for suffix in _SUFFIXES))
    if tags is None:
        return _from_folders(names) if any("/" in name for name in names) else ImageTags()
    if isinstance(tags, Mapping):
        rows = [{"image": name, "tags": cell} for name, cell in tags.items()]
        return _from_table(table_of_rows(rows, ("image", "tags")), "tags", names, options)
    if not isinstance(tags, str | Path):
        raise InputError(f"tags: for images, give a file, a mapping or 'folders', not {type(tags).__name__}")
    if str(tags) == "folders":
        return _from_folders(names)
    path = existing(Path(tags), folder / tags)
    if path is None:
        raise InputError(f"tags: no such file: {tags}, neither here nor in {folder}; or use 'folders'")
    return _from_file(path, names, options)


def _from_file(path: Path, names: Sequence[str], options: ReadOptions) -> ImageTags:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: tags of images come as {', '.join(_SUFFIXES)} or 'folders'")
    named = [name for name in (options.id, options.label) if name is not None]
    columns = {*IMAGE_COLUMNS, *TAG_COLUMNS, "label", "split", *named}
    table = _read_json(path, columns) if suffix == ".json" else read_table(path, suffix[1:], columns)
    return _from_table(table, path.name, names, options)


def _read_json(path: Path, columns: Collection[str]) -> Table:
    """Read one JSON value: {image: tags}, {image: {"tags": ...}}, or a list of objects."""
    value = read_json(path)
    if isinstance(value, Mapping):
        value = [
            {"image": name, **(cell if isinstance(cell, Mapping) else {"tags": cell})}
            for name, cell in value.items()
        ]
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise InputError(f"{path}: expected an object of images and their tags, or a list of objects")
    return table_of_rows(value, columns, str(path))


def _from_table(table: Table, source: str, names: Sequence[str], options: ReadOptions) -> ImageTags:
    """Match the rows of a table to images; several rows may name one image."""
    images = table.column(options.id or _first(table, IMAGE_COLUMNS, "images"), "the images")
    cells = table.column(_first(table, TAG_COLUMNS, "tags"), "the tags")
    found = read_tags(cells, separator=options.tag_separator, where=table.where)
    place = _places(names)
    rows: list[list[int]] = [[] for _ in names]
    strangers = []
    for row, value in enumerate(images):
        name = name_of(value, partial(table.where, row), "image")
        at = None if name is None else place.get(_path(name))
        if at is None:
            strangers.append(name or table.where(row))
        else:
            rows[at].append(row)
    unusual = _named(f"{source} names", "that cannot be found in the folder", strangers)
    missing = [name for name, of_image in zip(names, rows, strict=True) if not of_image]
    unusual += _named("", f"without a line in {source}, kept without tags", missing)
    split = _column(table, "split", rows, required=False)
    known = split is not None and all(part in ("train", "test") for part in split)
    return ImageTags(
        tags=[[tag for row in of_image for tag in found[row]] for of_image in rows],
        labels=_column(table, options.label or "label", rows, required=options.label is not None),
        split=split if known else None,
        unusual=unusual,
    )


def _column(table: Table, name: str, rows: list[list[int]], required: bool) -> list[str | None] | None:
    if name not in table.columns and not required:
        return None
    values = table.column(name, "the labels")
    firsts = [of_image[0] if of_image else None for of_image in rows]
    return [None if row is None else name_of(values[row], partial(table.where, row), name) for row in firsts]


def _first(table: Table, candidates: Sequence[str], what: str) -> str:
    name = next((name for name in candidates if name in table.columns), None)
    if name is None:
        there = ", ".join(map(str, table.names))[:200] or "none"
        raise InputError(
            f"{table.source}: no column for the {what}; call it {candidates[0]!r}; the columns are: {there}"
        )
    return name


def _places(names: Sequence[str]) -> dict[str, int]:
    """Return the row of each image by its path, file name and stem, where these are unique."""
    paths, place = [_path(name) for name in names], dict[str, int]()
    files = [PurePosixPath(path) for path in paths]
    for keys in (paths, [file.name for file in files], [file.stem for file in files]):
        count = Counter(keys)
        for row, key in enumerate(keys):
            if count[key] == 1:
                place.setdefault(key, row)
    return place


def _path(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\\", "/").removeprefix("./"))


def _from_folders(names: Sequence[str]) -> ImageTags:
    """Take each folder above an image, below the root, as a tag."""
    lists = [list(dict.fromkeys(PurePosixPath(name).parts[:-1])) for name in names]
    return ImageTags(tags=read_tags(lists))


def _named(before: str, after: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    some = ", ".join(repr(name[:80]) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    return [f"{before} {len(names):,} image(s) {after}: {some}".strip()]


def read_images(path: Path, options: ReadOptions) -> Documents:
    """Read a folder of images, or a single image.

    `options.visual` learns its codebooks here if it is not fitted; `image_tags` finds the tags. Images that
    cannot be read are left out, each with a notice, or refused if the vocabulary has `on_error="raise"`.
    """
    if options.metadata:
        raise InputError(f"{path}: title, date and url are not read for images; leave them out")
    paths = sorted(images_in(path)) if path.is_dir() else [path]
    if not paths:
        raise InputError(f"{path}: no images in the folder; they end in {', '.join(sorted(SUFFIXES))}")
    root = path if path.is_dir() else path.parent
    names = [display_name(image.relative_to(root).as_posix()) for image in paths]
    known = image_tags(root, names, options) if path.is_dir() or options.tags is not None else ImageTags()
    visual = VisualVocabulary() if options.visual is None else options.visual
    counts, faults = (visual if hasattr(visual, "codebooks_") else visual.fit(paths)).count(paths)
    bad = {fault.row for fault in faults}
    if len(bad) == len(paths):
        raise InputError(f"{path}: no image can be read; the first: {faults[0].reason}")
    kept = [row for row in range(len(paths)) if row not in bad]
    skipped = [f"image skipped: {fault.reason}" for fault in faults]
    more = [f"{len(skipped) - 3:,} more images skipped"] if len(skipped) > 3 else []
    unusual = map(Unusual, [*skipped[:3], *more, *known.unusual])
    return Documents(
        source=str(path),
        counts=counts[kept],
        vocabulary=visual.vocabulary_,
        tags=_pick(known.tags, kept),
        ids=[names[row] for row in kept],
        labels=_pick(known.labels, kept),
        split=_pick(known.split, kept),
        visual=visual,
        notices=[*unusual, *skipped[3:]],
    )


def _pick(values: Sequence[Any] | None, kept: list[int]) -> list[Any] | None:
    return None if values is None else [values[row] for row in kept]


def _holds(path: Path) -> bool:
    return holds_images(path) and not is_vault(path)  # notes may have pictures


register("images", Format(documents=read_images, holds=_holds, takes_values=False))
