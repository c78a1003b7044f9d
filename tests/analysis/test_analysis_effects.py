"""Effects and trends: planted ones are found, figures equal independent computations, errors are one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.analysis.choose.compare import match_topics
from tagtopics.analysis.effects.effects import make_design
from tagtopics.analysis.effects.measure import Sampling, find_start, measure, refit
from tagtopics.analysis.effects.regressors import Factor, add_values, kind_matrix, numbers
from tagtopics.analysis.effects.trends import periods_of
from tagtopics.cli import main
from tagtopics.errors import InputError

K, W, D = 4, 150, 240
SLOPE = np.array([0.03, -0.03, 0.0, 0.0])
"""Planted change of the share of each topic per year."""


def planted(seed: int = 0) -> tuple[tt.Corpus, Any]:
    """Draw documents of ten years at two venues, and the topics (K, W); venue a has more of topic 2."""
    rng = np.random.default_rng(seed)
    years, at_a = rng.integers(2010, 2020, D), rng.random(D) < 0.5
    means = 0.25 + np.outer(years - 2014.5, SLOPE) + np.outer(at_a - 0.5, [0, 0, 0.2, -0.2])
    topics = rng.dirichlet(np.full(W, 0.05), size=K)
    shares = np.array([rng.dirichlet(4 * mean) for mean in means])
    counts = np.array([rng.multinomial(80, share @ topics) for share in shares])
    names = [[f"year:{year}", f"venue:{'a' if a else 'b'}", f"author:{d % 30}"]
             for d, (year, a) in enumerate(zip(years, at_a, strict=True))]  # fmt: skip
    return tt.read_corpus(counts, tags=names), topics


@pytest.fixture(scope="module")
def data() -> tuple[tt.Corpus, tt.LDA, dict[int, int]]:
    """The corpus, a model, and the topic of the model for each planted one."""
    corpus, topics = planted()
    model = tt.LDA(K, random_state=0).fit_topics(corpus)
    pairs = match_topics(topics, model.components_)
    return corpus, model, dict(zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True))


@pytest.fixture(scope="module")
def found(data: Any) -> Any:
    corpus, model, _ = data
    return tt.effects(model, corpus, on=["year"], kinds=["venue"], refits=30)


def test_planted_effects_are_found(data: Any, found: Any) -> None:
    of = {(row.term, row.topic): row for row in found.rows}
    place = data[2]
    assert of["year", place[0]].low > 0 > of["year", place[1]].high
    assert of["year", place[0]].estimate == pytest.approx(0.03, abs=0.01)
    assert of["venue:a", place[2]].low > 0 > of["venue:b", place[2]].high
    assert len(found.rows) == 3 * K
    assert [row.term for row in found.of("year")] == ["year"] * K


def test_effects_do_not_depend_on_threads(data: Any, found: Any) -> None:
    again = tt.effects(data[1], data[0], on=["year"], kinds=["venue"], refits=30, n_jobs=1)
    assert again.to_dict() == found.to_dict()


def test_estimates_are_least_squares_of_the_shares(data: Any, found: Any) -> None:
    corpus, model, _ = data
    shares = refit(find_start(model, corpus.counts), corpus.counts).shares
    assert shares.sum(1) == pytest.approx(np.ones(D))
    years = numbers(corpus, "year", {})
    at_a = kind_matrix(corpus, "venue")[0].toarray()[:, 0]
    X = np.column_stack([np.ones(D), years, at_a])
    slopes = np.linalg.lstsq(X, shares, rcond=None)[0]
    rows = {(row.term, row.topic): row.estimate for row in found.rows}
    for k in range(K):
        assert rows["year", k] == pytest.approx(slopes[1, k], abs=1e-9)
        assert rows["venue:a", k] - rows["venue:b", k] == pytest.approx(slopes[2, k], abs=1e-9)
        assert rows["venue:a", k] * at_a.sum() == pytest.approx(-rows["venue:b", k] * (D - at_a.sum()))


def test_given_tags_are_random_effects(data: Any) -> None:
    corpus = data[0]
    years = numbers(corpus, "year", {})
    design = make_design(corpus, [(Factor("year"),)], {"year": years}, ["author"], 2)
    Y = np.random.default_rng(1).normal(size=(D, 3))
    Z = kind_matrix(corpus, "author", 2)[0].toarray()
    X = np.column_stack([np.ones(D), years - years.mean()])
    inverse = np.linalg.inv(np.eye(D) + Z @ Z.T)
    expected = np.linalg.solve(X.T @ inverse @ X, X.T @ inverse @ Y)[1]
    np.testing.assert_allclose(design.estimate(np.arange(D), Y)[0], expected, atol=1e-6)


def test_intervals_are_the_spread_of_refits(data: Any) -> None:
    corpus, model, _ = data
    result = measure(model, corpus, np.arange(D), lambda _, shares: shares.mean(0), Sampling(10, 3, 0.9), 5)
    start = find_start(model, corpus.counts)
    means = []
    for b in range(10):
        rows = np.sort(np.random.default_rng([3, b]).integers(0, D, D))
        means.append(refit(start, sp.csr_array(corpus.counts[rows])).shares.mean(0))
    error = np.std(means, axis=0, ddof=1)
    assert (result.high - result.estimate) / error == pytest.approx(np.full(K, 1.8331), abs=1e-4)
    assert (result.estimate - result.low) / error == pytest.approx(np.full(K, 1.8331), abs=1e-4)


def test_numbers_come_from_values_tags_or_dates(data: Any) -> None:
    corpus = data[0]
    years = numbers(corpus, "year", {})
    assert set(years) <= set(range(2010, 2020))
    known = add_values(corpus, {"x": [1.5] * (D - 1) + [float("nan")]})[1]
    assert numbers(corpus, "x", known)[-2:].tolist()[0] == 1.5
    with pytest.raises(InputError, match="no tags of kind"):
        numbers(corpus, "price", {})
    with pytest.raises(InputError, match="not a number"):
        numbers(corpus, "venue", {})
    with pytest.raises(InputError, match="values for"):
        add_values(corpus, {"x": [1.0]})


@pytest.mark.parametrize(
    "arguments",
    [{}, {"on": ["x"], "values": {"x": [1.0] * D}}, {"on": ["x"], "values": {"x": [np.nan] * D}},
     {"kinds": ["none"]}, {"kinds": ["venue"], "min_docs": 1000}, {"on": ["year"], "refits": 2},
     {"on": ["year"], "level": 2.0}],
)  # fmt: skip
def test_wrong_arguments_are_one_line(data: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        tt.effects(data[1], data[0], **arguments)


def test_trends_rise_and_fall(data: Any) -> None:
    corpus, model, place = data
    result = tt.trends(model, corpus, refits=15, min_docs=5)
    direction = {row.topic: row.direction for row in result.topics}
    assert (direction[place[0]], direction[place[1]]) == ("rising", "falling")
    assert sum(result.docs) == D
    years = numbers(corpus, "year", {})
    for row in result.tags:
        has = corpus.tags[:, [corpus.tag_names.index(row.tag)]].toarray().ravel().astype(float)
        assert row.slope == pytest.approx(np.polyfit(years, has, 1)[0], abs=1e-9)
        assert row.shares[0] == pytest.approx(has[years == years.min()].mean())
    assert not any(row.tag.startswith("year:") for row in result.tags)
    shares = refit(find_start(model, corpus.counts), corpus.counts).shares
    first = next(row for row in result.topics if row.topic == 0)
    assert first.shares[-1] == pytest.approx(shares[years == years.max(), 0].mean())
    assert first.lows[0] <= first.shares[0] <= first.highs[0]


def test_many_times_become_equal_spans() -> None:
    names, place = periods_of(np.arange(100.0), 4)
    assert np.bincount(place).tolist() == [25, 25, 25, 25]
    assert len(names) == 4
    assert periods_of(np.array([2000.0, 2001.0, 2000.0]), 4)[0] == ("2000", "2001")


def test_commands(data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, model, place = data
    model.save(tmp_path / "m", corpus=corpus)
    model.save(tmp_path / "bare")
    common = ["--refits", "10", "--json"]
    assert main(["effects", str(tmp_path / "m"), "--on", "year", "--kind", "venue", *common]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"term", "topic", "estimate", "low", "high", "at", "clear"} == set(rows[0])
    assert next(row for row in rows if row["term"] == "year" and row["topic"] == place[0])["estimate"] > 0
    assert main(["trends", str(tmp_path / "m"), *common]) == 0
    assert set(json.loads(capsys.readouterr().out)) >= {"periods", "topics", "tags"}
    assert main(["effects", str(tmp_path / "m"), "--on", "year", "--refits", "10"]) == 0
    assert main(["trends", str(tmp_path / "m"), "--refits", "10"]) == 0
    assert "rising" in capsys.readouterr().out
    assert main(["effects", str(tmp_path / "m")]) == 2
    assert main(["effects", str(tmp_path / "bare"), "--on", "year"]) == 2
    assert main(["trends", str(tmp_path / "m"), "--on", "venue"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_dates_of_the_corpus_are_numbers(data: Any) -> None:
    some = replace(data[0].select([0, 1, 2, 3]), dates=("2020", "2020-07", "2021-05-03", None))
    np.testing.assert_array_equal(numbers(some, "year", {}), [2020, 2020, 2021, np.nan])
    np.testing.assert_allclose(numbers(some, "date", {}), [2020, 2020.5, 2021 + 4 / 12 + 2 / 372, np.nan])


def test_a_column_of_dates_is_pointed_out(data: Any) -> None:
    dated = replace(data[0].select([0, 1]), dates=("2020", None))
    with pytest.raises(tt.InputError, match=r"no tags of kind 'Jahr'.*use: year"):
        kind_matrix(dated, "Jahr")
