"""Writing a corpus: whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import recipe_to_json
from tagtopics.errors import InputError

FOLDER_FILES = (
    "words.npz", "tags.npz", "vocab.txt", "tags.txt", "ids.txt", "labels.txt", "split.txt", "links.npz",
    "texts.jsonl.gz", "recipe.json",
)  # fmt: skip
"""All files that `write_matrix_folder` may write."""

_UNWRITABLE = frozenset("\n\r\0\ufeff")


def write_matrix_folder(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus as a matrix folder, which `read_corpus` reads back as it was.

    The folder is made beside its place and moved there when it is whole. An older matrix folder is replaced,
    unless it holds files of other kinds; equal corpora give equal bytes.

    Args:
        corpus: the corpus.
        path: the folder to make.

    Returns:
        the folder.
    """
    target = Path(path)
    _check_folder(target)
    fresh = _beside(target)
    try:
        fresh.mkdir(parents=True)
        _write_parts(corpus, fresh)
        _move(fresh, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def write_jsonl(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus as JSON lines, packed if the name ends in `.gz`.

    A line holds `id`, `text` (or, where there are no texts, `words` with their counts), `tags`, and `label`
    and `split` where there are. Links and the order of the columns are not kept; a matrix folder keeps them.

    Args:
        corpus: the corpus.
        path: the file to write.

    Returns:
        the file.
    """
    target = Path(path)
    with _whole_file(target) as fresh:
        _write_lines(fresh, (json.dumps(row) for row in _rows(corpus)), packed=target.suffix == ".gz")
    return target


def _write_parts(corpus: Corpus, folder: Path) -> None:
    _save_csr(corpus.counts, folder / "words.npz")
    write_names(corpus.vocabulary, folder / "vocab.txt")
    if corpus.n_tags:
        _save_csr(corpus.tags, folder / "tags.npz")
        write_names(corpus.tag_names, folder / "tags.txt")
    write_names(corpus.ids, folder / "ids.txt")
    if corpus.labels is not None:
        write_names([label or "" for label in corpus.labels], folder / "labels.txt")
    if corpus.split is not None:
        write_names(corpus.split, folder / "split.txt")
    if corpus.links is not None:
        _save_csr(corpus.links, folder / "links.npz")
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


def _save_csr(matrix: sp.csr_array, path: Path) -> None:
    sp.save_npz(path, matrix)


def write_names(names: Sequence[str], path: Path) -> None:
    """Write names as UTF-8, one a line; a name that one line cannot hold is an `InputError`."""
    for number, name in enumerate(names):
        if not _UNWRITABLE.isdisjoint(name):
            raise InputError(
                f"{path.name}: entry {number} holds a line break or another character that "
                f"a line of text cannot hold ({name[:40]!r}); rename it"
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


def _check_folder(target: Path) -> None:
    """Refuse a place whose content would be lost."""
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file; choose another folder")
    held = sorted(path.name for path in target.iterdir()) if target.is_dir() else []
    if held and "words.npz" not in held:
        raise InputError(f"{target}: is not empty and no matrix folder; choose another folder")
    others = [name for name in held if name not in FOLDER_FILES]
    if others:
        raise InputError(f"{target}: holds {others[0]!r}, which would be lost; choose another folder")


def _beside(target: Path) -> Path:
    place = target.resolve()
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")


def _move(fresh: Path, target: Path) -> None:
    """Put a finished folder in its place."""
    place = target.resolve()
    if not place.exists():
        fresh.rename(place)
        return
    old = _beside(target)
    place.rename(old)
    try:
        fresh.rename(place)
    except OSError:
        old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """Give a file to write beside the target, and move it there when it is whole."""
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file")
    fresh = _beside(target)
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        fresh.replace(target.resolve())
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        fresh.unlink(missing_ok=True)
