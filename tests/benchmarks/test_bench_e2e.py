"""Parts of the benchmark from file to report; `test_bench_smoke.py` runs it as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import e2e, e2e_page, e2e_peers


@pytest.mark.real_data
def test_abstracts_are_the_same_each_time(data_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (data_directory / "anthology" / "papers.jsonl.gz").exists():
        pytest.skip("no anthology")
    monkeypatch.setenv("TAGTOPICS_DATA", str(data_directory))
    rows = list(e2e.abstracts(9_100))
    assert len(rows) == 9_100
    assert rows[-1]["id"] == "mixed-9099"
    assert rows == list(e2e.abstracts(9_100))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_peer_gives_what_a_page_needs() -> None:
    pytest.importorskip("gensim")
    pytest.importorskip("tomotopy")
    import numpy as np
    import scipy.sparse as sp

    counts = sp.csr_matrix(np.random.default_rng(0).poisson(1.0, (30, 12)))
    words = np.array([f"w{i}" for i in range(12)], dtype=object)
    for name, fit in e2e_peers.PEERS.items():
        fitted = fit(counts, words, 3)
        assert fitted.topics.shape == (3, 12), name
        assert np.asarray(fitted.documents).shape == (30, 3), name


def test_losses_come_first(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    common = {"load": 0.1, "n_tokens": 9, "n_words": 3, "iterations": 2}
    for system, render, memory in (("ours", 5.0, 70.0), ("gensim", 3.0, 90.0)):
        job = {"corpus": "generated", "system": system, "n_docs": 4, "n_topics": 2}
        seconds = {"read": 1.0, "render": render}
        record = common | {"job": job, "seconds": seconds, "total": 1 + render, "peak_mb": memory}
        (tmp_path / f"generated-{system}.json").write_text(json.dumps(record))
    e2e_page.write_page(tmp_path, tmp_path / "docs")
    page = (tmp_path / "docs" / "benchmarks-e2e.md").read_text()
    lost = "- generated: render, total."
    assert page.index("## Where ours loses") < page.index(lost) < page.index("## Generated")
