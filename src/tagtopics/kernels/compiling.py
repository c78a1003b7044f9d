"""How kernels are compiled, and where the machine code is kept.

numba keeps compiled functions on disk and forgets them when their own file changes, but not when a function
they call in another file does. So the cache has a folder for each state of all kernel files together; after
an upgrade nothing stale is left to be found.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler import Compiler


class _Apart(Compiler):
    """Compiles with the promise that no array of the arguments is written where another one lies.

    Else, before a loop that writes, the machine would look at run time whether arrays overlap and take one of
    two loops; a sum would depend in its last bit on where arrays lie, and loops could not be joined.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self.state.flags.noalias = True


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "pipeline_class": _Apart,
    # The compiler may reorder sums, so that they vectorise, but not assume away NaN or infinity.
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
_INNER_OPTIONS: dict[str, Any] = _OPTIONS | {"forceinline": True, "_nrt": False}


def kernel(function: Any) -> Any:
    """Compile on first use, keep on disk, run without the interpreter's lock."""
    with _cache_folder():
        return numba.njit(**_OPTIONS)(function)


def exact_kernel(function: Any) -> Any:
    """Compile like `kernel`, but keep every sum in the order in which it is written, as NumPy code has it."""
    with _cache_folder():
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)


def inner(function: Any) -> Any:
    """Compile a function that only other kernels call, into each of them.

    Left to itself the compiler keeps some such functions as code of their own, and a process that has just
    compiled them runs another copy than one that finds them on disk: not the same bits. Nothing is allocated
    here and no array returned, so nothing is counted: references to all arrays at each call cost more than
    some of the loops.
    """
    with _cache_folder():
        return numba.njit(**_INNER_OPTIONS)(function)


def has_compiled() -> bool:
    """Tell whether kernels of this version were compiled before; if not, the first fit takes longer."""
    settings: Any = numba.config
    folder = _folder(settings.CACHE_DIR)
    return bool(folder) and any(Path(folder).rglob("*.nbi"))


@contextmanager
def _cache_folder() -> Iterator[None]:
    """Let numba keep what is decorated here in our folder; everything else of the process stays as it is."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = _folder(before)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


@cache
def _folder(base: str) -> str:
    """Return our folder under NUMBA_CACHE_DIR or the user's cache; `base` itself where none can be made."""
    from tagtopics._io import cache_folder

    parent = Path(base) if base else cache_folder("kernels")
    folder = parent / f"tagtopics-{_stamp()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return base
    return str(folder) if os.access(folder, os.W_OK) else base


def _stamp() -> str:
    """Return a name for the present state of all kernel files."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
    for folder in ("kernels", "baselines"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
