"""Write the kernels of a fit to `src/tagtopics/jit/shipped`, for a wheel; `make package` runs this first.

`tagtopics.jit.shipped` says what they are. They are for the version of Python and numba that runs this
script.
"""

from __future__ import annotations

import lzma
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any

os.environ["NUMBA_CACHE_DIR"] = (_CACHE := tempfile.TemporaryDirectory()).name  # compile all of them here

from numba.core import codegen, serialize
from numba.core.dispatcher import Dispatcher

from tagtopics.jit import shipped
from tagtopics.jit.compiling import stamp
from tagtopics.models import precompile

_modules: dict[int, list[bytes]] = {}  # of each library
_libraries: list[Any] = []  # kept alive, so that no two have the same id


def record_modules() -> None:
    """Keep a copy of all that numba translates to LLVM's language, simplified."""
    kind: Any = codegen.CPUCodeLibrary
    simplify = kind._optimize_functions

    def simplify_and_keep(library: Any, module: Any) -> None:
        simplify(library, module)
        _libraries.append(library)
        _modules.setdefault(id(library), []).append(module.as_bitcode())

    kind._optimize_functions = simplify_and_keep


def compiled_kernels() -> list[tuple[str, str, Any]]:
    """Return module, name and dispatcher of the kernels that Python calls and that have been compiled."""
    found = [
        (module, name, value)
        for module in sorted(sys.modules)
        if module.startswith("tagtopics.")
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module
    ]
    return [row for row in found if row[2].overloads and "no_cpython_wrapper" not in row[2].targetoptions]


def shipment(groups: Iterable[str]) -> shipped.Shipment:
    """Compile the kernels of groups, and return them as they were before they were optimised."""
    record_modules()
    precompile.compile_groups(*groups)
    parts: list[shipped.Part] = []
    numbers: dict[int, int] = {}
    kernels = []
    for module, name, dispatcher in compiled_kernels():
        for result in dispatcher.overloads.values():
            part = _number(result.library, parts, numbers)
            began = time.process_time()
            shipped.machine_code(part, parts, {})
            seconds = time.process_time() - began
            signature, description = result.signature.args, result._reduce()[1:]
            kernels.append(shipped.Kernel(module, name, signature, part, description, seconds))
    return shipped.Shipment(parts, kernels)


def _number(library: Any, parts: list[shipped.Part], numbers: dict[int, int]) -> int:
    """Return the number of a library among the parts, where it comes after all that it uses."""
    if id(library) not in numbers:
        used = dict.fromkeys(_number(other, parts, numbers) for other in library._linking_libraries)
        numbers[id(library)] = len(parts)
        parts.append(shipped.Part(library.name, _modules[id(library)], list(used)))
    return numbers[id(library)]


def main(groups: Iterable[str]) -> None:
    """Write the file, and remove those of other states of the kernels."""
    path = shipped.shipped_file()
    path.parent.mkdir(exist_ok=True)
    for other in path.parent.glob("*.xz"):
        if not other.name.startswith(f"{stamp()}-"):
            other.unlink()
    dumps: Any = serialize.dumps
    path.write_bytes(lzma.compress(dumps(shipment(groups)), preset=9))
    sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:] or precompile.GROUPS)
