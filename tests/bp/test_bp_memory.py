"""Which memory mode a fit chooses: by the sizes of the corpus alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.bp import executor
from tagtopics.bp.graph import build_graph

GRAPH = build_graph(sp.csr_array(np.ones((20, 30), dtype=int)))
LARGE = executor.MAX_STORED_BYTES // (4 * GRAPH.n_edges)


@pytest.mark.parametrize("available", [1, 10**15, None])
def test_auto_never_depends_on_the_machine(available: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "available_memory", lambda: available)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        assert not executor.is_lean("auto", GRAPH, LARGE)
        assert executor.is_lean("auto", GRAPH, LARGE + 1)
        assert executor.is_lean("lean", GRAPH, 2)
        assert not executor.is_lean("stored", GRAPH, LARGE + 1)


def test_a_warning_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "available_memory", lambda: 1000)
    with pytest.warns(tt.CorpusWarning, match='GiB are available; use memory="lean"'):
        executor.is_lean("stored", GRAPH, 5)
    with pytest.warns(tt.CorpusWarning, match="use shards"):
        executor.is_lean("lean", GRAPH, 5)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "5000", "memory.current": "3000"}, 2000),
        ({"memory.max": "5000", "memory.current": "9000"}, 0),
        ({"memory.max": "max", "memory.current": "3000"}, None),
        ({}, None),
    ],
)
def test_the_limit_of_a_container(
    files: dict[str, str], expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(executor, "_CGROUP", tmp_path)
    available = executor.available_memory()
    if expected is None:
        assert available is None or available > 5000  # of the machine
    else:
        assert available in (expected, None)


def test_something_is_available_here() -> None:
    available = executor.available_memory()
    assert available is None or available > 0
