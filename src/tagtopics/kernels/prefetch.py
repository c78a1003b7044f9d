"""Ask for a part of an array before it is needed, so that the work at hand hides the way from memory.

The rows that an edge needs lie anywhere in tables larger than the nearer caches; the processor cannot guess
them, but the next edges' words are known. Asking changes no number.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

LINE = 16
"""Single-precision numbers in a cache line of most machines."""


@intrinsic
def prefetch(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for the cache line of array[row, column]; any row will do, also one past the end."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, values[0])
        place = cgutils.get_item_pointer(
            context, builder, signature.args[0], table, values[1:], wraparound=False
        )
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(instruction, [place, number(0), number(3), number(1)])  # to read; keep near; data
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


def _no_prefetch(array: Any, row: int, column: int) -> None:
    """Replace `prefetch` where kernels run uncompiled, as for measuring coverage."""


if vars(config)["DISABLE_JIT"]:
    globals()["prefetch"] = _no_prefetch
