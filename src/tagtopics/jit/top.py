"""The largest of many values, and of many rows; `ranking_reference` is the readable twin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import resolve_threads, run_lanes, run_ranges

_FEW = 64
"""For more values than this, the row is not searched with a sorted list of the largest ones so far."""

_DIGIT = 11
"""Bits of a key that are sorted by at a time: three times for the 32 bits of single precision."""

_SAMPLED = 8
"""Of many values, one in so many tells about where the largest begin."""


def largest(values: Any, n: int) -> Int64:
    """Return the places of the n largest values, largest first, the first of equals first."""
    n = min(n, len(values))
    if 0 < n < len(values) // _SAMPLED // 2:
        large = np.flatnonzero(values >= _low_bound(values, n))
        if len(large) >= n:  # then all of the n largest are among them
            return large[np.argsort(-values[large], kind="stable")[:n]]
    least = np.partition(values, len(values) - n)[len(values) - n] if n else np.inf
    large = np.flatnonzero(values >= least)  # all that a full sort could put first
    return large[np.argsort(-values[large], kind="stable")[:n]]


def _low_bound(values: Any, n: int) -> Any:
    """Return a value that probably n others reach, and not many more: from every eighth of them."""
    sample = values[::_SAMPLED]
    rank = min(_sample_rank(n), len(sample))
    return np.partition(sample, len(sample) - rank)[len(sample) - rank]


def _sample_rank(n: int) -> int:
    """Return which value of a sample, from the largest on, is probably below the n largest of all."""
    return n // _SAMPLED + 2 + int(3 * np.sqrt(n / _SAMPLED))


def largest_in_rows(values: Any, n: int) -> Int64:
    """Return (R, n): the columns of the n largest values of each row, largest first, first of equals first.

    Args:
        values: (R, C) without NaN.
        n: how many; all C if there are fewer.
    """
    n_rows, n_columns = values.shape
    n = min(n, n_columns)
    if n > _FEW and values.dtype == np.float32:
        bits, found = np.ascontiguousarray(values).view(np.uint32), np.empty((n_rows, n), dtype=np.int64)
        offsets, n_threads = np.arange(n_rows + 1) * n_columns, resolve_threads(None)
        run_ranges(_sort_largest, offsets, 1, n_threads, bits, _sample_rank(n), found)
        return found
    if n > _FEW or n == 0:
        found = np.empty((n_rows, n), dtype=np.int64)

        def lane(waiting: Iterator[int]) -> None:
            for r in waiting:
                found[r] = largest(values[r], n)

        run_lanes(lane, range(n_rows), resolve_threads(None))
        return found
    flat: Any = np.asarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64).ravel()
    offsets = np.arange(n_rows + 1) * n_columns
    places = largest_of_rows(offsets, flat, n, resolve_threads(None))
    return np.asarray(places - offsets[:-1, np.newaxis])


@kernel
def _sort_largest(first, last, bits, sample_rank, places):
    """Set `places` to the columns of the largest values of rows, given as the bits of single precision.

    What is sorted are keys of the values: whole numbers in the opposite order.
    """
    C, n = bits.shape[1], places.shape[1]
    keys, columns = np.empty(C + 1, np.uint32), np.empty(C + 1, np.uint32)
    next_keys, next_columns = np.empty(C + 1, np.uint32), np.empty(C + 1, np.uint32)
    sizes = np.empty(1 << _DIGIT, np.uint32)
    for r in range(first, last):
        likely = _first_digit(bits[r], _SAMPLED, sample_rank, sizes)
        size = _keep(bits[r], likely, keys, columns)
        if size < n:
            size = _keep(bits[r], _first_digit(bits[r], 1, n, sizes), keys, columns)
        for digit in range(3):
            _sort_digit(keys[:size], columns[:size], digit, sizes, next_keys, next_columns)
            keys, next_keys = next_keys, keys
            columns, next_columns = next_columns, columns
        for i in range(n):
            places[r, i] = columns[i]


@inner
def _key(bits):
    """Return the key of a value; that of both zeros is the same."""
    bits = np.uint32(0) if bits == np.uint32(0x80000000) else bits
    return bits if bits >> np.uint32(31) else bits ^ np.uint32(0x7FFFFFFF)


@inner
def _first_digit(bits, step, n, sizes):
    """Return the highest digit that n keys do not exceed; only every so many-th key is looked at."""
    sizes[:] = 0
    for i in range(np.uint64(0), np.uint64(len(bits)), np.uint64(step)):
        sizes[_key(bits[i]) >> np.uint32(32 - _DIGIT)] += np.uint32(1)
    digit, found = 0, np.int64(sizes[0])
    while found < n and digit < len(sizes) - 1:
        digit += 1
        found += np.int64(sizes[digit])
    return np.uint32(digit)


@inner
def _keep(bits, digit, keys, columns):
    """Collect the keys whose highest digit is not above a limit, and their columns; return how many."""
    size = np.uint64(0)
    for i in range(np.uint64(len(bits))):
        key = _key(bits[i])
        keys[size], columns[size] = key, np.uint32(i)  # overwritten by the next one if it is not kept
        size += np.uint64(key >> np.uint32(32 - _DIGIT) <= digit)
    return size


@inner
def _sort_digit(keys, columns, digit, sizes, next_keys, next_columns):
    """Sort by one digit of the keys, the lowest is 0; equal ones keep their order."""
    shift, mask = np.uint32(digit * _DIGIT), np.uint32((1 << _DIGIT) - 1)
    sizes[:] = 0
    for i in range(np.uint64(len(keys))):
        sizes[keys[i] >> shift & mask] += np.uint32(1)
    start = np.uint32(0)
    for d in range(np.uint64(len(sizes))):
        size = sizes[d]
        sizes[d] = start
        start += size
    for i in range(np.uint64(len(keys))):
        d = keys[i] >> shift & mask
        next_keys[sizes[d]], next_columns[sizes[d]] = keys[i], columns[i]
        sizes[d] += np.uint32(1)


def largest_of_rows(offsets: Int64, values: Float32 | Float64, n: int, n_threads: int) -> Int64:
    """Return (R, n): where the n largest values of each row are, largest first, the first of equals first.

    Args:
        offsets: (R + 1,) where each row begins in `values`.
        values: (N,) without NaN.
        n: how many, at least one and not very many; the places of a shorter row are filled up with -1.
        n_threads: any number gives the same places.
    """
    places = np.full((len(offsets) - 1, n), -1, dtype=np.int64)
    run_ranges(_largest_of_rows, offsets, 4, n_threads, offsets, values, places)
    return places


@kernel
def _largest_of_rows(first, last, offsets, values, places):
    n = places.shape[1]
    top = np.empty(n, dtype=values.dtype)
    for r in range(first, last):
        size = 0
        for i in range(offsets[r], offsets[r + 1]):
            value = values[i]
            if size == n and not value > top[n - 1]:
                continue
            size = min(size + 1, n)
            at = size - 1
            while at > 0 and value > top[at - 1]:
                top[at] = top[at - 1]
                places[r, at] = places[r, at - 1]
                at -= 1
            top[at] = value
            places[r, at] = i
