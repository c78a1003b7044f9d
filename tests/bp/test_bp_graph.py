"""The wiring of the factor graph: groups, blocks, totals and parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from invariants import invariant_error
from tagtopics.bp.graph import (
    CorpusSums,
    DocState,
    build_graph,
    cut_blocks,
    grid_of,
    group_by,
    normalise,
)

keys = st.lists(st.integers(0, 6), max_size=40)


@given(keys, st.data())
def test_groups_hold_every_position_once_ascending(values: list[int], data: st.DataObject) -> None:
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), bool)
    array = np.array(values, dtype=np.int32)
    groups = group_by(array, 7, keep=keep)
    assert groups.offsets[0] == 0
    assert groups.offsets[-1] == len(groups.members) == keep.sum()
    for key in range(7):
        members = groups.members[groups.offsets[key] : groups.offsets[key + 1]]
        np.testing.assert_array_equal(members, np.flatnonzero((array == key) & keep))
    everything = group_by(array, 7)
    np.testing.assert_array_equal(np.sort(everything.members), np.arange(len(values)))


def test_groups_of_nothing() -> None:
    groups = group_by(np.zeros(0, dtype=np.int32), 3)
    assert groups.offsets.tolist() == [0, 0, 0, 0]
    assert groups.offsets.dtype == groups.members.dtype == np.int64
    assert group_by(np.zeros(0, dtype=np.int32), 0).offsets.tolist() == [0]


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=60), st.integers(1, 3000))
def test_blocks_cover_all_documents(lengths: list[int], n_words: int) -> None:
    doc_edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    blocks = cut_blocks(doc_edges, n_words)
    assert blocks.dtype == np.int64
    assert (blocks[0], blocks[-1]) == (0, len(lengths))
    assert (np.diff(blocks) > 0).all()
    n_edges = int(doc_edges[-1])
    assert len(blocks) - 1 <= max(1, n_edges // max(6 * n_words, 4096))


@pytest.mark.parametrize(
    ("n_edges", "n_words", "expected"),
    [
        (0, 10, 1),
        (4095, 10, 1),
        (2 * 4096, 10, 2),
        (8 * 4096, 10, 8),
        (15 * 4096, 10, 8),
        (10 * 4096, 4096, 1),
        (12 * 4096, 4096, 2),
        (12 * 8 * 4096, 4096, 8),
        (10**8, 1000, 128),
    ],
)
def test_the_number_of_blocks(n_edges: int, n_words: int, expected: int) -> None:
    doc_edges = np.linspace(0, n_edges, 2001).astype(np.int64)
    blocks = cut_blocks(doc_edges, n_words)
    assert len(blocks) - 1 == expected
    sizes = np.diff(doc_edges[blocks])
    assert sizes.max() - sizes.min() <= 0.1 * max(n_edges / expected, 1) + n_edges / 1000


def test_a_long_document_is_a_block_of_its_own() -> None:
    doc_edges = np.array([0, 100_000, 100_001, 100_002], dtype=np.int64)
    assert cut_blocks(doc_edges, 1).tolist() == [0, 1, 3]


def corpus() -> tuple[Any, Any]:
    counts = sp.csr_array(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0], [1, 1, 1]]))
    tags = sp.csr_array(np.array([[1, 1], [1, 0], [0, 0], [0, 1]], dtype=np.int8))
    return counts, tags


def test_totals_count_documents_with_words() -> None:
    graph = build_graph(*corpus())
    assert (graph.n_docs, graph.n_words, graph.n_tags, graph.n_edges, graph.n_slots) == (4, 3, 2, 6, 4)
    assert graph.totals.n_docs == 4
    assert graph.totals.n_tokens == 9.0
    assert graph.totals.word_docs.tolist() == [2, 2, 2]
    assert graph.totals.tag_docs.tolist() == [1, 2]  # the document without words does not count
    assert graph.tag_slots.members.tolist() == [0, 1, 3]
    assert graph.first_edge == 0
    assert graph.totals.token_grid == grid_of(9.0)


def test_a_graph_without_tags() -> None:
    graph = build_graph(corpus()[0])
    assert (graph.n_tags, graph.n_slots) == (0, 0)
    assert graph.doc_slots.tolist() == [0] * 5


def test_invariants_of_a_state() -> None:
    graph = build_graph(*corpus())
    messages = (graph.edge_count[:, np.newaxis] * np.array([0.25, 0.75])).astype(np.float32)
    doc_sums = np.add.reduceat(np.vstack([messages, np.zeros(2)]), [0, 2, 2, 3]).astype(np.float32)
    doc_sums[1] = 0
    slot_means = np.full((4, 2), 0.5, dtype=np.float32)
    slot_means[2] = 0
    words = np.zeros((3, 2))
    np.add.at(words, graph.edge_word, messages)
    tags = graph.totals.tag_docs[:, np.newaxis] * np.full((2, 2), 0.5)
    sums, docs = CorpusSums(words, tags, tags / 2), DocState(messages, doc_sums, slot_means)
    assert invariant_error(graph, sums, docs) < 1e-6
    assert invariant_error(graph, sums, docs._replace(messages=messages[:0])) < 1e-6
    assert invariant_error(graph, sums._replace(words=2 * words), docs) > 0.5
    assert invariant_error(graph, sums, docs._replace(doc_sums=doc_sums[::-1])) > 0.5
    assert invariant_error(graph, sums, docs._replace(doc_sums=doc_sums * np.float32("nan"))) == np.inf


def test_sums_add_up_and_are_cleared() -> None:
    total, other = CorpusSums.zeros(2, 1, 3), CorpusSums(*(np.ones((n, 3)) for n in (2, 1, 1)))
    total.add(other)
    total.add(other)
    assert total.words.tolist() == [[2.0] * 3] * 2
    buffer = total.words
    total.clear()
    assert total.words is buffer
    assert not buffer.any()


def test_normalised() -> None:
    np.testing.assert_allclose(normalise([1, 3]), [0.25, 0.75])
    np.testing.assert_allclose(normalise([0, 0, 0, 0]), 0.25)
