"""The regression of the workbench in the file, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import page_of_modules

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record import workbench
from tagtopics.recommend.ridge import RIDGE, documents_of, kernel_of

pytest_plugins = ("explore_fixtures",)

SOLVED = """async right => {
  const [{ load }, { loadBench }] = await Promise.all([import("/data.js"), import("/offline.js")]);
  await load();
  const model = await loadBench();
  const solver = model.tags.solver;
  const unit = (d) => Float64Array.from({ length: solver.n }, (_, i) => (i === d ? 1 : 0));
  return {
    rows: model.tags.rows,
    matrix: Array.from({ length: solver.n }, (_, d) => [...solver.times(unit(d))]),
    weights: [...solver.weights(Float64Array.from(right))],
  };
}"""


def test_weights_solve_the_regression_on_all_documents(
    browser: Any, model: tt.TTM, corpus: tt.Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "_MOST_COEFFICIENTS", 0)
    path = tmp_path / "report.html"
    write_report(model, path, corpus=corpus)
    page = page_of_modules(browser, path.read_text(encoding="utf-8"))
    recommender = model.recommender_
    assert recommender is not None
    right = np.linspace(0.2, 0.6, len(recommender.rows)) ** 2
    found = page.evaluate(SOLVED, right.tolist())
    page.close()
    matrix = np.array(found["matrix"])
    assert np.allclose(matrix, matrix.T)
    assert np.allclose(found["weights"], np.linalg.solve(matrix, right), atol=1e-3)
    order = [recommender.rows.tolist().index(row) for row in found["rows"]]
    docs = documents_of(recommender.counts[order].astype(np.float32), model.doc_topic_[found["rows"]])
    kernel = kernel_of(docs, docs, recommender.bandwidth) + RIDGE * np.eye(len(order))
    assert np.allclose(np.diag(matrix), np.diag(kernel), atol=1e-4)
    pairs = np.triu_indices(len(order), 1)
    assert np.corrcoef(matrix[pairs], kernel[pairs])[0, 1] > 0.97  # the kernel is almost a line
