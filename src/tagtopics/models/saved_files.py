"""The files of a saved model: which names they may have, and their content, checked against its digest."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tagtopics.errors import InputError
from tagtopics.files import digest_bytes, read_regular

DESCRIPTION, ARRAYS_FILE, CORPUS, BASE = "model.json", "arrays.safetensors", "corpus", "base"

NAMES_FILE = "names.tsv"
"""The names of tags, of models with a thesaurus."""

_NAME = re.compile(rf"(?:{CORPUS}/|{BASE}/)?(?!\.{{1,2}}$)[^/\\:\0]+")
"""Names of files: in the folder of the model or in one of its two folders, and nowhere else."""


def check_files(files: Any) -> None:
    """Raise an `InputError` unless a value of `model.json` is digests by names of files of a model."""
    if not isinstance(files, dict):
        raise InputError("model.json is damaged: it has no list of files")
    for name, digest in files.items():
        if not isinstance(digest, str):
            raise InputError(f"model.json is damaged: the digest of {name[:80]!r} is not a text")
        if not _NAME.fullmatch(name):
            raise InputError(f"model.json is damaged: a model has no file {name[:80]!r}")


def description_bytes(folder: Path) -> bytes:
    """Return the content of `model.json`."""
    try:
        return read_regular(folder / DESCRIPTION)
    except FileNotFoundError:
        raise InputError("not a model: it has no model.json; name a folder that `fit` saved") from None
    except OSError as error:
        raise InputError(f"not a model: model.json cannot be read ({error.strerror})") from None


def refuse_changes(folder: str | Path) -> Callable[[], None]:
    """Return a function that raises an `InputError` once a folder holds another save of a model than now.

    Call this before the model is read, and the function just before it is replaced.
    """

    def digest() -> str | None:
        try:
            return digest_bytes(description_bytes(Path(folder)))  # the description has the name of the save
        except InputError:
            return None

    read = digest()

    def check() -> None:
        if digest() != read:
            raise InputError(
                f"{folder}: the model was changed by another process since it was read; run the command again"
            )

    return check


def checked_bytes(folder: Path, name: str, files: dict[str, str]) -> bytes:
    """Return the content of a file of a model, its digest checked."""
    try:
        content = read_regular(folder / name)
    except FileNotFoundError:
        raise InputError(f"{name} is missing") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if digest_bytes(content) != files[name]:
        raise InputError(f"{name} is damaged: its content does not match its digest")
    return content
