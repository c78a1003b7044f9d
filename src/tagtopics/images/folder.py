"""A folder of images with its tags (table, JSON file, sub-folders) as documents of visual words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from tagtopics.corpus.cells import TagStyle, name_of, read_tags
from tagtopics.corpus.core import Documents, ReadOptions
from tagtopics.corpus.formats.registry import Format, read_table, register
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import existing, read_json
from tagtopics.errors import InputError, Unusual
from tagtopics.images.decode import SUFFIXES, display_name, holds_images, images_in
from tagtopics.images.vocabulary import VisualVocabulary
from tagtopics.readers.side_tables import FILE_COLUMNS, first_column, rows_of_files
from tagtopics.readers.vault import is_vault

TAG_COLUMNS = ("tags", "tag", "keywords", "annotations", "labels")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")


Known: TypeAlias = dict[str, Sequence[Any]]
"""What is known about N images, in their order: `tags`, `labels` and `split` of `Documents`."""


def image_tags(folder: Path, names: Sequence[str], options: ReadOptions) -> tuple[Known, list[str]]:
    """Return what is known about images, and a line for each thing that the user may not expect.

    Args:
        folder: the folder of the images.
        names: paths of the images within the folder, with `/`.
        options: `tags` is a file; "folders" for the names of sub-folders; or None to look for `tags.csv`,
            `.tsv`, `.jsonl` or `.json` in the folder, then for sub-folders. `id` and `label` name columns of
            the file.
    """
    tags = options.tags
    if tags is None:
        tags = existing(*(folder / f"tags{suffix}" for suffix in _SUFFIXES))
        if tags is None and not any("/" in name for name in names):
            return {}, []
    if tags is None or tags == "folders":
        return {"tags": read_tags([list(dict.fromkeys(PurePosixPath(n).parts[:-1])) for n in names])}, []
    if not isinstance(tags, str | Path):
        raise InputError(f"tags: for images, give a file or 'folders', not {type(tags).__name__}")
    path = existing(Path(tags), folder / tags)
    if path is None:
        raise InputError(f"tags: no such file: {tags}, neither here nor in {folder}; or use 'folders'")
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: tags of images come as {', '.join(_SUFFIXES)} or 'folders'")
    named = [name for name in (options.id, options.label) if name is not None]
    columns = {*FILE_COLUMNS, *TAG_COLUMNS, "label", "split", *named}
    kind = path.suffix.lower()[1:]
    table = _read_json(path, columns) if kind == "json" else read_table(path, kind, columns)
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


def _from_table(
    table: Table, source: str, names: Sequence[str], options: ReadOptions
) -> tuple[Known, list[str]]:
    """Match the rows of a table to images; several rows may name one image."""
    images = options.id or first_column(table, FILE_COLUMNS, "images")
    table.column(images, "the images")
    cells = table.column(first_column(table, TAG_COLUMNS, "tags"), "the tags")
    found = read_tags(cells, style=TagStyle.of(cells, options.tag_separator), where=table.where)
    rows, strangers = rows_of_files(table, images, names)
    missing = [name for name, of_image in zip(names, rows, strict=True) if not of_image]
    unusual = _name_files(f"{source} names", "that cannot be found in the folder", strangers)
    unusual += _name_files("", f"without a line in {source}, kept without tags", missing)
    known: Known = {"tags": [[tag for row in of_image for tag in found[row]] for of_image in rows]}
    for what, column in (("labels", options.label or "label"), ("split", "split")):
        if column in table.columns or column == options.label:
            values = table.column(column, f"the {what}")
            firsts = [of_image[0] if of_image else None for of_image in rows]
            known[what] = [
                None if row is None else name_of(values[row], partial(table.where, row), column)
                for row in firsts
            ]
    if not all(part in ("train", "test") for part in known.get("split", ())):
        del known["split"]
    return known, unusual


def _name_files(before: str, after: str, names: Sequence[str]) -> list[str]:
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
    named = path.is_dir() or options.tags is not None
    known, said = image_tags(root, names, options) if named else ({}, [])
    visual = VisualVocabulary() if options.visual is None else options.visual
    counts, faults = (visual if hasattr(visual, "codebooks_") else visual.fit(paths)).count(paths)
    bad = {fault.row for fault in faults}
    if len(bad) == len(paths):
        raise InputError(f"{path}: no image can be read; the first: {faults[0].reason}")
    kept = [row for row in range(len(paths)) if row not in bad]
    skipped = [f"image skipped: {fault.reason}" for fault in faults]
    more = [f"{len(skipped) - 3:,} more images skipped"] if len(skipped) > 3 else []
    unusual = map(Unusual, [*skipped[:3], *more, *said])
    return Documents(
        source=str(path),
        counts=counts[kept],
        vocabulary=visual.vocabulary_,
        ids=[names[row] for row in kept],
        visual=visual,
        notices=[*unusual, *skipped[3:]],
        **{what: [values[row] for row in kept] for what, values in known.items()},  # type: ignore[arg-type]
    )


def _holds(path: Path) -> bool:
    return holds_images(path) and not is_vault(path)  # notes may have pictures


register("images", Format(documents=read_images, holds=_holds, takes_values=False))
