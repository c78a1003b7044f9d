"""Kernels that come with a wheel, so that the first fit has less to compile.

Most of the time that numba needs for a kernel is spent before the processor matters: numba infers types and
writes each function in LLVM's language, and LLVM simplifies it. A wheel holds what that gives, for one
version of Python and of numba and for any processor of one architecture. `install` does the rest, with
numba's own functions and in its order: it joins functions, optimises them for this processor, makes machine
code and puts it into the cache, where numba finds it as if it had compiled the kernel. So the bits of all
results are those of kernels that are compiled from source.

`scripts/ship_kernels.py` writes the file. If it is missing, or made of other sources or by another version,
kernels are compiled from source.
"""

from __future__ import annotations

import lzma
import pickle  # as numba's cache has it; the file is a part of the package, like its code
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from tagtopics.jit.compiling import stamp

Item = TypeVar("Item")


class _Library(JITCodeLibrary):
    """The optimised code of a part; `machine_code` makes machine code of kernels, and of no other part."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        """Stop here, where numba makes machine code."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class Part(NamedTuple):
    """A function in LLVM's language, simplified, but not yet joined with those it calls."""

    name: str
    modules: list[bytes]
    uses: list[int]  # numbers of the parts whose functions it calls


class Kernel(NamedTuple):
    """A kernel for one signature."""

    module: str
    name: str
    signature: Any  # numba's types
    part: int
    description: tuple[Any, ...]  # what numba's cache holds besides the code
    seconds: float  # that it takes to make machine code of it, to divide kernels among processes


class Shipment(NamedTuple):
    """All kernels of the file."""

    parts: list[Part]
    kernels: list[Kernel]


def shipped_file() -> Path:
    """Return the file of the kernels for this state of their sources and this version of Python and numba."""
    name = f"{stamp()}-{sys.implementation.cache_tag}-{llvm.get_process_triple()}.xz"
    return Path(__file__).parent / "shipped" / name


def has_shipped() -> bool:
    """Return whether the wheel holds kernels for this version of Python and numba."""
    return shipped_file().is_file()


def install(i: int, n: int) -> None:
    """Make machine code of the kernels that process i of n is to install."""
    shipment: Shipment = pickle.loads(lzma.decompress(shipped_file().read_bytes()))
    done: dict[int, Any] = {}
    for kernel in shares(shipment.kernels, [kernel.seconds for kernel in shipment.kernels], n)[i]:
        code = machine_code(kernel.part, shipment.parts, done)
        cache = getattr(import_module(kernel.module), kernel.name)._cache
        cache._impl.locator.ensure_cache_path()
        key = cache._index_key(kernel.signature, cpu_target.target_context.codegen())
        cache._cache_file.save(key, (code, *kernel.description))


def shares(items: Sequence[Item], costs: Sequence[float], n: int) -> list[list[Item]]:
    """Divide items among n processes: the most expensive first, each for the one that has least to do."""
    taken: list[list[Item]] = [[] for _ in range(n)]
    loads = [0.0] * n
    for cost, i in sorted(((cost, i) for i, cost in enumerate(costs)), reverse=True):
        least = loads.index(min(loads))
        taken[least].append(items[i])
        loads[least] += cost
    return taken


def machine_code(number: int, parts: list[Part], done: dict[int, Any]) -> tuple[Any, ...]:
    """Return the machine code of a part as numba's cache has it; `done` gets the parts that it uses."""
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        library = _optimised(number, parts, codegen, done)
        if library.has_dynamic_globals:
            raise ValueError(f"{library.name} holds addresses of the process that built it")
        code = codegen._tm.emit_object(library._final_module)
    return library.name, "object", (code, library._get_module_for_linking().as_bitcode())


def _optimised(number: int, parts: list[Part], codegen: Any, done: dict[int, Any]) -> Any:
    """Return the library of a part, optimised for this processor, after those that it uses."""
    if number not in done:
        part = parts[number]
        library: Any = _Library(codegen, part.name)
        for module in part.modules:
            library._final_module.link_in(llvm.parse_bitcode(module))
        for used in part.uses:
            library.add_linking_library(_optimised(used, parts, codegen, done))
        library.finalize()
        done[number] = library
    return done[number]
