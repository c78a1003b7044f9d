"""How kernels are compiled, and where the machine code is cached.

numba caches compiled functions on disk and drops them when their own file changes, but not when a function
that they call in another file changes. So the cache has one folder for each state of all kernel files
together; after an upgrade no stale code can be found.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler import Compiler

from tagtopics.files import code_folder, digest_bytes


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
    "no_cfunc_wrapper": True,  # C code calls none of them; every wrapper takes time to compile
    "error_model": "numpy",
    "pipeline_class": _NoAlias,
    # The compiler may reorder sums, so that they vectorise, but not assume away NaN or infinity.
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
_INTEGER_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}
_UNWRAPPED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_INNER_OPTIONS: dict[str, Any] = _OPTIONS | {"forceinline": True, "_nrt": False, "no_cpython_wrapper": True}
_ALLOCATOR_OPTIONS: dict[str, Any] = _OPTIONS | _UNWRAPPED


_KERNELS = ("jit/*.py", "bp/*.py", "**/*_loops.py", "**/loops.py")  # the files that kernels are in


def kernel(function: Any) -> Any:
    """Compile a function on first use, cache it on disk, and run it without the interpreter's lock."""
    return _compile(function, _OPTIONS)


def integer_kernel(function: Any) -> Any:
    """Compile code on integers that allocates nothing; no order of its operations can change a result."""
    return _compile(function, _INTEGER_OPTIONS)


def integer_inner(function: Any) -> Any:
    """Compile a function that only integer kernels call, inlined into each of them."""
    return _compile(function, _INTEGER_OPTIONS | _UNWRAPPED | {"forceinline": True})


def inner(function: Any) -> Any:
    """Compile a function that only kernels call, inlined into each of them.

    Python must not call it: there is no entry point for Python, which would take time to compile.
    By default the compiler keeps some such functions separate, and a process that has just compiled them
    runs a different copy than one that loads them from disk, with different bits. Inner functions allocate
    nothing and return no array, so reference counting is off: it would cost more than some of the loops.
    """
    return _compile(function, _INNER_OPTIONS)


def allocator(function: Any) -> Any:
    """Compile a function that only kernels call, and that returns new arrays; see `inner`."""
    return _compile(function, _ALLOCATOR_OPTIONS)


def has_compiled() -> bool:
    """Return whether the kernels of a fit are in the cache; if not, the first fit takes longer."""
    folder = _folder()
    return folder is not None and any(folder.rglob("edges.update_documents-*.nbi"))


def is_compiling() -> bool:
    """Return whether kernels are compiled, and cached, at all; debuggers and coverage switch it off."""
    settings: Any = numba.config
    return not settings.DISABLE_JIT and _folder() is not None


def _compile(function: Any, options: dict[str, Any]) -> Any:
    """Decorate a function. numba caches it in our folder, if there is one; other code is not affected."""
    settings: Any = numba.config
    folder, before = _folder(), settings.CACHE_DIR
    settings.CACHE_DIR = str(folder or "")
    try:
        return numba.njit(cache=folder is not None, **options)(function)
    finally:
        settings.CACHE_DIR = before


@cache
def _folder() -> Path | None:
    """Return the folder for this state of the kernels; None if they are compiled in memory."""
    folder, package = code_folder(), Path(__file__).parents[1]
    paths = sorted(path for pattern in _KERNELS for path in package.glob(pattern))
    contents = [numba.__version__.encode(), *(path.read_bytes() for path in paths)]
    stamp = digest_bytes(b"".join(contents))[:16]
    return None if folder is None else folder / f"tagtopics-{stamp}"
