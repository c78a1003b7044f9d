"""Prefetch parts of an array to hide memory latency.

The rows that an edge needs are scattered over tables larger than the inner caches. The processor cannot
predict them, but the words of the next edges are known. Prefetching changes no result.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE = 16
"""Single-precision numbers in a cache line on most machines."""


@intrinsic
def prefetch(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Prefetch the cache line of array[row, column]; rows beyond the end are allowed."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, values[0])
        place = cgutils.get_item_pointer(
            context, builder, signature.args[0], table, values[1:], wraparound=False
        )
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(
            instruction, [place, number(0), number(3), number(1)]
        )  # read access, high locality, data
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
