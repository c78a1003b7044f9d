"""Keys of pairs against plain sets and dictionaries."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tagtopics.subjects.pair_keys import entry_keys, find_keys, has_entries, values_at

Pair = tuple[int, int]
PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 6))


@given(st.dictionaries(PAIRS, st.integers(1, 9)), st.lists(PAIRS, min_size=1))
def test_entries_are_found_by_their_keys(entries: dict[Pair, int], asked: list[Pair]) -> None:
    places = np.array(sorted(entries), dtype=np.int64).reshape(-1, 2)
    values = [float(entries[row, column]) for row, column in places.tolist()]
    matrix = sp.csr_array((values, (places[:, 0], places[:, 1])), shape=(5, 7))
    keys = entry_keys(matrix)
    assert keys.tolist() == (places @ [7, 1]).tolist()
    assert entry_keys(matrix, 100).tolist() == (places @ [100, 1]).tolist()
    rows, columns = np.array(asked, dtype=np.int64).T
    known = [pair in entries for pair in asked]
    assert find_keys(rows * 7 + columns, keys)[0].tolist() == known
    assert has_entries(matrix, rows, columns).tolist() == known
    found = values_at(rows * 7 + columns, keys, matrix.data)
    assert found.tolist() == [entries.get(pair, 0) for pair in asked]
