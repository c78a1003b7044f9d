"""Writing a corpus to disk, atomically."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from tagtopics._io import atomic_file, atomic_folder, check_target
from tagtopics.corpus.core import Corpus, recipe_to_json
from tagtopics.errors import InputError

FOLDER_FILES = (
    "words.npz", "tags.npz", "vocab.txt", "tags.txt", "ids.txt", "labels.txt", "split.txt", "links.npz",
    "texts.jsonl.gz", "recipe.json",
)  # fmt: skip
"""All files that `write_matrix_folder` may write."""

_UNWRITABLE = frozenset("\n\r\0\ufeff")


def write_matrix_folder(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus as a matrix folder, which `read_corpus` reads back unchanged.

    The folder appears in one step. An existing matrix folder is replaced, unless it contains other files.
    Equal corpora give equal bytes.

    Args:
        corpus: the corpus.
        path: the folder to write.

    Returns:
        The folder.
    """
    target = check_folder(path, "matrix folder", FOLDER_FILES.__contains__, "words.npz")
    with atomic_folder(target) as folder:
        _write_parts(corpus, folder)
    return Path(path)


def write_jsonl(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus as JSON lines, compressed if the name ends in `.gz`.

    A line has `id`, `text` (or `words` with their counts, if there are no texts), `tags`, and `label` and
    `split` if the corpus has them. Links and the order of columns are lost; a matrix folder keeps them.

    Args:
        corpus: the corpus.
        path: the file to write; an existing file is replaced.

    Returns:
        The file.
    """
    target = _resolved(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file")
    with atomic_file(target) as fresh:
        _write_lines(fresh, (json.dumps(row) for row in _rows(corpus)), packed=target.suffix == ".gz")
    return Path(path)


def check_folder(path: str | Path, what: str, is_ours: Callable[[str], bool], mark: str) -> Path:
    """Return the path of a folder that may be written: nothing is there, or only files of such a folder.

    Args:
        path: the folder that the user named; an `InputError` if anything in it would be lost.
        what: the kind of folder, for errors.
        is_ours: tells whether a file of this name belongs to such a folder.
        mark: a file that an existing folder must contain, unless it is empty.
    """
    target = _resolved(path)
    if target.is_file():
        raise InputError(f"{target}: is a file; choose another folder")
    names = sorted(entry.name for entry in target.iterdir()) if target.is_dir() else []
    if names and mark not in names:
        raise InputError(
            f"{target}: is not empty and not a {what}, it contains {names[0]!r}; choose another folder"
        )
    others = [name for name in names if not is_ours(name)]
    if others:
        raise InputError(f"{target}: contains {others[0]!r}, which would be lost; choose another folder")
    return check_target(target, what, lambda _: True, option="path")


def _resolved(path: str | Path) -> Path:
    """Return the target of a symbolic link, and any other path as it is."""
    target = Path(path)
    return target.resolve() if target.is_symlink() else target


def _write_parts(corpus: Corpus, folder: Path) -> None:
    sp.save_npz(folder / "words.npz", corpus.counts)
    write_names(corpus.vocabulary, folder / "vocab.txt")
    if corpus.n_tags:
        sp.save_npz(folder / "tags.npz", corpus.tags)
        write_names(corpus.tag_names, folder / "tags.txt")
    write_names(corpus.ids, folder / "ids.txt")
    if corpus.labels is not None:
        write_names([label or "" for label in corpus.labels], folder / "labels.txt")
    if corpus.split is not None:
        write_names(corpus.split, folder / "split.txt")
    if corpus.links is not None:
        sp.save_npz(folder / "links.npz", corpus.links)
    if corpus.texts is not None:
        texts = ({"id": name, "text": text} for name, text in zip(corpus.ids, corpus.texts, strict=True))
        _write_lines(folder / "texts.jsonl.gz", map(json.dumps, texts), packed=True)
    if corpus.recipe is not None:
        recipe = json.dumps(recipe_to_json(corpus.recipe), indent=2)
        (folder / "recipe.json").write_text(recipe + "\n", encoding="utf-8", newline="\n")


def _rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for d, name in enumerate(corpus.ids):
        row: dict[str, Any] = {"id": name}
        if corpus.texts is not None:
            row["text"] = corpus.texts[d]
        else:
            row["words"] = _bag(corpus, d)
        row["tags"] = corpus.tags_of(d)
        if corpus.labels is not None:
            row["label"] = corpus.labels[d]
        if corpus.split is not None:
            row["split"] = corpus.split[d]
        yield row


def _bag(corpus: Corpus, doc: int) -> dict[str, int]:
    start, stop = corpus.counts.indptr[doc : doc + 2]
    words = corpus.counts.indices[start:stop]
    counts = corpus.counts.data[start:stop].tolist()
    return {corpus.vocabulary[w]: n for w, n in zip(words, counts, strict=True)}


def write_names(names: Sequence[str], path: Path) -> None:
    """Write names as UTF-8, one per line; a name that does not fit on one line is an `InputError`."""
    for number, name in enumerate(names):
        if not _UNWRITABLE.isdisjoint(name):
            raise InputError(
                f"{path.name}: entry {number} contains a line break or another character that "
                f"does not fit on a line of text ({name[:40]!r}); rename it"
            )
    text = "".join(f"{name}\n" for name in names)
    path.write_bytes(text.encode("utf-8", "replace"))


def _write_lines(path: Path, lines: Iterator[str], *, packed: bool) -> None:
    with path.open("wb") as raw:
        if packed:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
                _put(file, lines)
        else:
            _put(raw, lines)


def _put(file: Any, lines: Iterator[str]) -> None:
    with io.TextIOWrapper(file, encoding="utf-8", newline="\n") as text:
        text.writelines(line + "\n" for line in lines)
