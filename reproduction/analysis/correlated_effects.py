"""Coverage of the intervals of `effects` with correlated topics, a spline and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import tagtopics as tt
from reproduction.analysis.workflow import note
from tagtopics._typing import Float64
from tagtopics.analysis.choose.compare import match_topics

POPULATION = 100_000
"""Documents from which the true effects are computed; logistic-normal shares have no formula for them."""


class Planted(NamedTuple):
    """A corpus, its topics (K, W), and the true effects, (K,): by tag, and as a function of the day."""

    corpus: tt.Corpus
    topics: Float64
    days: Float64
    ratings: Float64
    of_rating: dict[str, Float64]
    of_day: Any


def draw_effects(seed: int, tokens: int | None = None, strength: float = 1.0) -> Planted:
    """Draw documents with logistic-normal shares: correlated topics that depend on a rating and on the day.

    Half of the logits' variance is common to pairs of topics. The effect of the day is a bent curve.
    Documents have the given mean of tokens, or one from 60 to 140. Effects of the rating are multiplied by
    the strength.
    """
    rng = np.random.default_rng([29, seed])
    K, W, D = 2 * int(rng.integers(2, 5)), int(rng.integers(300, 601)), int(rng.integers(300, 501))
    topics = rng.dirichlet(np.full(W, 0.05), size=K)
    of_rating, bent, phase = (
        rng.normal(size=(2, K)) * 0.3 * strength,
        rng.normal(size=K) * 0.8,
        rng.uniform(0, np.pi),
    )
    factors = np.kron(np.eye(K // 2), np.ones((2, 1)))  # topics 0 and 1, 2 and 3, ... go together

    def draw(n: int, days: Float64, ratings: Any) -> Float64:
        noise = rng.normal(size=(n, K // 2)) @ factors.T + rng.normal(size=(n, K))
        logits = of_rating[ratings] + np.outer(np.sin(2 * np.pi * days + phase), bent) + noise
        shares = np.exp(logits)
        return np.asarray(shares / shares.sum(1, keepdims=True))

    days, ratings = rng.uniform(size=D), rng.integers(0, 2, D)
    shares = draw(D, days, ratings)
    lengths = np.maximum(rng.poisson(rng.integers(60, 141) if tokens is None else tokens, D), 5)
    counts = np.array([rng.multinomial(n, share @ topics) for n, share in zip(lengths, shares, strict=True)])
    corpus = tt.read_corpus(counts, tags=[[f"rating:{'ab'[r]}"] for r in ratings])
    many, sides = rng.uniform(size=POPULATION), rng.integers(0, 2, POPULATION)
    population = draw(POPULATION, many, sides)
    means = np.array([population[sides == r].mean(0) for r in range(2)])
    mean = np.bincount(ratings, minlength=2) / D @ means

    def curve(at: float) -> Float64:
        near = draw(20_000, np.full(20_000, at), rng.integers(0, 2, 20_000)).mean(0)
        return np.asarray(near - population.mean(0))

    effects = {f"rating:{'ab'[r]}": means[r] - mean for r in range(2)}
    return Planted(corpus, topics, days, ratings.astype(np.float64), effects, curve)


def correlated_coverage(seeds: Sequence[int], refits: int = 50) -> Any:
    """Return whether 90 % intervals of "~ rating + s(day, 5)" contain the true effects, at three days."""
    rows = []
    for seed in seeds:
        planted = draw_effects(seed)
        model = tt.LDA(len(planted.topics), random_state=seed).fit_topics(planted.corpus)
        found = tt.effects(model, planted.corpus, on=["rating", "s(day, 5)"], refits=refits, seed=seed,
                           values={"day": planted.days})  # fmt: skip
        pairs = match_topics(planted.topics, model.components_)
        place = {int(k): int(j) for j, k in zip(pairs.rows, pairs.columns, strict=True)}
        for term in found.terms:
            curves = found.curves(term)
            for i in (0,) if curves[0][0].at is None else (5, 10, 15):
                at = curves[0][i].at
                true = planted.of_rating[term] if at is None else planted.of_day(at)
                for row in (curve[i] for curve in curves):
                    rows.append({"seed": seed, "kind": row.term.partition(":")[0],
                                 "covered": bool(row.low <= true[place[row.topic]] <= row.high),
                                 "error": float(row.estimate - true[place[row.topic]])})  # fmt: skip
        if seed % 10 == 9:
            note(seed + 1, np.mean([row["covered"] for row in rows]))
    return rows
