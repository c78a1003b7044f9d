"""Writing a corpus to disk, atomically."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.cells import METADATA
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import recipe_to_json
from tagtopics.errors import InputError
from tagtopics.files import atomic_file, atomic_folder, check_target
from tagtopics.jit.threads import beside

FOLDER_FILES = (
    "words.npz", "tags.npz", "vocab.txt", "tags.txt", "ids.txt", "labels.txt", "split.txt", "links.npz",
    "titles.txt", "dates.txt", "urls.txt", "texts.jsonl.gz", "recipe.json",
)  # fmt: skip
_MARK = b"tagtopics matrix folder"  # comment of `words.npz`; a folder without it is not overwritten
LEVEL = 1  # of compression: 60 % of the time of level 4, whose files are 11 % smaller
_UNWRITABLE = frozenset("\n\r\0\ufeff")
_FIELDS = {"text": "texts", "label": "labels", "split": "split", **METADATA}  # of a line, and of a corpus


def write_matrix_folder(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus as a matrix folder, which `read_corpus` reads back unchanged.

    The folder appears in one step. An existing folder is replaced if this function wrote it, and nothing else
    is in it.
    Equal corpora give equal bytes.

    Args:
        corpus: the corpus.
        path: the folder to write.

    Returns:
        The folder.
    """
    target = check_folder(path, "matrix folder", FOLDER_FILES.__contains__, "words.npz", _is_marked)
    with atomic_folder(target) as folder:
        write_parts(corpus, folder)
    return Path(path)


def write_jsonl(corpus: Corpus, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a corpus as JSON lines, compressed if the name ends in `.gz`.

    A line has `id`, `text`, `tags`, and `label`, `split`, `title`, `date` and `url` if the corpus has them.
    Links and the order of columns are lost; a matrix folder keeps them, and counts without texts.

    Args:
        corpus: the corpus, with texts.
        path: the file to write.
        overwrite: replace an existing file; without, it is an `InputError`.

    Returns:
        The file.
    """
    if corpus.texts is None:
        raise InputError("write_jsonl: the corpus has no texts; use write_matrix_folder")
    target = check_target(_resolve_link(path), "file", None, overwrite=overwrite, option="path")
    with atomic_file(target) as fresh:
        _write_lines(fresh, (json.dumps(row) for row in _rows(corpus)), packed=target.suffix == ".gz")
    return Path(path)


def check_folder(
    path: str | Path, what: str, is_ours: Callable[[str], bool], mark: str, is_marked: Callable[[Path], bool]
) -> Path:
    """Return the path of a folder that may be written; an `InputError` if anything in it would be lost.

    Nothing may be there, or only files of such a folder (`is_ours`) with a `mark` that tagtopics wrote.
    """

    def replaceable(folder: Path) -> bool:
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else [""]
        return not names or (all(map(is_ours, names)) and is_marked(folder / mark))

    return check_target(_resolve_link(path), what, replaceable, option="path")


def _npz(matrix: sp.csr_array, mark: bytes = b"") -> bytes:
    """Return a matrix as `scipy.sparse.save_npz` writes it, but compressed faster, and with a mark."""
    file = io.BytesIO()
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        archive.comment = mark
        for name, array in (parts | {"format": b"csr", "_is_array": True}).items():
            npy = io.BytesIO()
            np.lib.format.write_array(npy, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), npy.getvalue(), zipfile.ZIP_DEFLATED, LEVEL)
    return file.getvalue()


def _is_marked(words: Path) -> bool:
    with suppress(OSError, zipfile.BadZipFile, ValueError), zipfile.ZipFile(words) as archive:
        return archive.comment == _MARK
    return False


def _resolve_link(path: str | Path) -> Path:
    """Return the target of a symbolic link, and any other path as it is."""
    target = Path(path)
    return target.resolve() if target.is_symlink() else target


def write_parts(corpus: Corpus, folder: Path) -> None:
    """Write the files of a matrix folder into a new folder."""
    with beside(partial(_write_columns, corpus, folder)):
        if corpus.texts is not None:
            quoted = (map(encode_basestring_ascii, values) for values in (corpus.ids, corpus.texts))
            lines = (f'{{"id": {name}, "text": {text}}}' for name, text in zip(*quoted, strict=True))
            _write_lines(folder / "texts.jsonl.gz", lines, packed=True)


def _write_columns(corpus: Corpus, folder: Path) -> None:
    """Write all of a corpus but its texts."""
    (folder / "words.npz").write_bytes(_npz(corpus.counts, _MARK))
    write_names(corpus.vocabulary, folder / "vocab.txt")
    if corpus.n_tags:
        (folder / "tags.npz").write_bytes(_npz(corpus.tags))
        write_names(corpus.tag_names, folder / "tags.txt")
    write_names(corpus.ids, folder / "ids.txt")
    for name in ("labels", "split", *METADATA.values()):
        values = getattr(corpus, name)
        if values is not None:
            write_names([value or "" for value in values], folder / f"{name}.txt")
    if corpus.links is not None:
        (folder / "links.npz").write_bytes(_npz(corpus.links))
    if corpus.recipe is not None:
        recipe = json.dumps(recipe_to_json(corpus.recipe), indent=2)
        (folder / "recipe.json").write_text(recipe + "\n", encoding="utf-8", newline="\n")


def _rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    fields = {what: getattr(corpus, field) for what, field in _FIELDS.items()}
    known = {what: values for what, values in fields.items() if values is not None}
    for d, name in enumerate(corpus.ids):
        of_doc = {what: values[d] for what, values in known.items()}
        yield {"id": name, "text": of_doc.pop("text"), "tags": corpus.tags_of(d), **of_doc}


def write_names(names: Sequence[str], path: Path) -> None:
    """Write names as UTF-8, one per line; a name that does not fit on one line is an `InputError`."""
    text = "".join(f"{name}\n" for name in names)
    safe = text.count("\n") == len(names) and not any(sign in text for sign in _UNWRITABLE if sign != "\n")
    for number, name in enumerate(() if safe else names):
        if not _UNWRITABLE.isdisjoint(name):
            raise InputError(
                f"{path.name}: entry {number} contains a line break or another character that "
                f"does not fit on a line of text ({name[:40]!r}); rename it"
            )
    path.write_bytes(text.encode("utf-8", "replace"))


def _write_lines(path: Path, lines: Iterator[str], *, packed: bool) -> None:
    encoded = (f"{line}\n".encode() for line in lines)
    with path.open("wb") as file:
        if packed:
            with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as zipped:  # equal documents, equal bytes
                zipped.writelines(encoded)
        else:
            file.writelines(encoded)
