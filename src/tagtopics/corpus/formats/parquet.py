"""Parquet files, read with polars in slices of bounded size."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import ROW_COST, check_expansion
from tagtopics.errors import InputError, MissingExtraError, one_line

_FIRST_ROWS, _MOST_ROWS = 16, 4096  # in the first request, when their size is unknown, and in any other
_SLICE = 64 * 2**20  # bytes to unpack at a time


def stream_parquet(path: Path, wanted: Collection[str], size: float, options: FileOptions) -> Iterator[Table]:
    """Yield the wanted columns of a Parquet file; one that expands too far is an `InputError`."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        names = list(pl.read_parquet_schema(path))
        n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        keep = [name for name in names if name in wanted]
        if not (keep and n_rows):
            yield Table(str(path), {name: [] for name in keep}, names, n_rows)
            return
        whole: dict[str, list[Any]] = {name: [] for name in keep}
        n_before = 0
        for part in _parquet_slices(pl, path, keep, n_rows, size):
            columns = {name: part[name].to_list() for name in keep}
            if size == math.inf:
                for name, cells in columns.items():
                    whole[name] += cells
            else:
                yield Table(str(path), columns, names, part.height, first_row=n_before)
            n_before += part.height
        if size == math.inf:
            yield Table(str(path), whole, names, n_rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({one_line(error)})") from None


def _parquet_slices(pl: Any, path: Path, keep: list[str], n_rows: int, size: float) -> Iterator[Any]:
    """Yield frames of about `size` bytes, 64 MiB at most, and add up what the file expands to."""
    most = n_rows if size == math.inf else _MOST_ROWS
    n_bytes, n_before, n_next = 0, 0, _FIRST_ROWS
    while n_before < n_rows:
        part = pl.scan_parquet(path).select(keep).slice(n_before, n_next).collect()
        part_bytes = part.estimated_size() + ROW_COST * part.height
        n_bytes += part_bytes
        check_expansion(path, n_bytes)
        yield part
        n_before += n_next
        n_next = max(1, min(most, math.ceil(min(size, _SLICE) * n_next / part_bytes)))
