"""How kernels are compiled, and where the machine code is cached.

numba caches compiled functions on disk and drops them when their own file changes, but not when a function
that they call in another file changes. So the cache has one folder for each state of all kernel files
together; after an upgrade no stale code can be found.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler import Compiler

from tagtopics.files import cache_folder, digest_bytes


class _NoAlias(Compiler):
    """Compiles with the promise that the arrays passed to a kernel do not overlap.

    Without it, the compiled code would test for overlap at run time and choose one of two loops. Sums would
    then depend in their last bit on the addresses of arrays, and loops could not be fused.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self.state.flags.noalias = True


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "no_cfunc_wrapper": True,  # C code calls none of them; every wrapper takes time to compile
    "error_model": "numpy",
    "pipeline_class": _NoAlias,
    # The compiler may reorder sums, so that they vectorise, but not assume away NaN or infinity.
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
_INTEGER_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}
_UNWRAPPED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_INNER_OPTIONS: dict[str, Any] = _OPTIONS | {
    "forceinline": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
}
_ALLOCATOR_OPTIONS: dict[str, Any] = _OPTIONS | _UNWRAPPED


_KERNELS = ("jit/*.py", "bp/*.py", "**/*_loops.py", "**/loops.py")
"""The files that kernels are in."""


def kernel(function: Any) -> Any:
    """Compile a function on first use, cache it on disk, and run it without the interpreter's lock."""
    with _numba_cache():
        return numba.njit(**_OPTIONS)(function)


def short_kernel(function: Any) -> Any:
    """Compile a function of some microseconds that is called many times in a row; it keeps the lock.

    A thread that waits for the interpreter's lock asks for it after a millisecond in which no one has
    released it. Calls that release it for microseconds, one after the other, start that millisecond anew
    each time, and take the lock back before the waiting thread is awake.
    """
    with _numba_cache():
        return numba.njit(**(_OPTIONS | {"nogil": False}))(function)


def integer_kernel(function: Any) -> Any:
    """Compile code on integers that allocates nothing; no order of its operations can change a result."""
    with _numba_cache():
        return numba.njit(**_INTEGER_OPTIONS)(function)


def integer_inner(function: Any) -> Any:
    """Compile a function that only integer kernels call, inlined into each of them."""
    with _numba_cache():
        return numba.njit(**_INTEGER_OPTIONS, **_UNWRAPPED, forceinline=True)(function)


def inner(function: Any) -> Any:
    """Compile a function that only kernels call, inlined into each of them.

    Python must not call it: there is no entry point for Python, which would take time to compile.
    By default the compiler keeps some such functions separate, and a process that has just compiled them
    runs a different copy than one that loads them from disk, with different bits. Inner functions allocate
    nothing and return no array, so reference counting is off: it would cost more than some of the loops.
    """
    with _numba_cache():
        return numba.njit(**_INNER_OPTIONS)(function)


def allocator(function: Any) -> Any:
    """Compile a function that only kernels call, and that returns new arrays; see `inner`."""
    with _numba_cache():
        return numba.njit(**_ALLOCATOR_OPTIONS)(function)


def has_compiled() -> bool:
    """Return whether the kernels of a fit are in the cache; if not, the first fit takes longer."""
    settings: Any = numba.config
    folder = _folder(settings.CACHE_DIR)
    return bool(folder) and any(Path(folder).rglob("edges.update_documents-*.nbi"))


def is_compiling() -> bool:
    """Return whether kernels are compiled, and cached, at all; debuggers and coverage switch it off."""
    settings: Any = numba.config
    return not settings.DISABLE_JIT and bool(_folder(settings.CACHE_DIR))


@contextmanager
def _numba_cache() -> Iterator[None]:
    """Make numba cache what is decorated here in our folder; other code of the process is not affected."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = _folder(before)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


@cache
def _folder(base: str) -> str:
    """Return our folder under NUMBA_CACHE_DIR or the user's cache; `base` itself if none can be created.

    Cached kernels are executable code, so the default folder must belong to the user and be writable by no
    one else.
    """
    parent = Path(base) if base else cache_folder("kernels")
    folder = parent / f"tagtopics-{stamp()}"
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        private = bool(base) or all(_is_private(place) for place in (parent, folder))
    except OSError:
        return base
    return str(folder) if private and os.access(folder, os.W_OK) else base


def _is_private(folder: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def stamp() -> str:
    """Return a name for the present state of all files with kernels."""
    package = Path(__file__).parents[1]
    paths = sorted(path for pattern in _KERNELS for path in package.glob(pattern))
    contents = [numba.__version__.encode(), *(path.read_bytes() for path in paths)]
    return digest_bytes(b"".join(contents))[:16]
