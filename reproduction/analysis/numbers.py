"""Generated corpora with a known number of topics on which `choose` may fail, and what it says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tagtopics as tt
from reproduction.analysis.workflow import note

GRID = (5, 8, 12, 18, 30, 45)
SHAPES = ("correlated", "short", "power law")
SIZES = [(8, 600, 60), (12, 800, 60), (12, 3000, 40), (20, 1000, 80), (20, 1500, 150), (30, 1000, 80),
         (30, 2000, 100), (30, 800, 200)]  # fmt: skip
"""Topics, documents and tokens of a document; a fifth of the tokens in short documents."""


def draw_corpus(shape: str, n_topics: int, docs: int, tokens: int, seed: int) -> tt.Corpus:
    """Draw documents of log-normal lengths over words of Zipf's frequencies, shared by all topics.

    Topic shares are logistic-normal with correlations from a third as many factors, or Dirichlet with
    topics of about equal sizes, or with sizes of a power law.
    """
    rng = np.random.default_rng([SHAPES.index(shape), n_topics, docs, seed])
    frequencies = rng.permutation(1 / np.arange(1, 2001))
    topics = rng.dirichlet(100 * frequencies / frequencies.sum(), size=n_topics)
    if shape == "correlated":
        factors = rng.normal(size=(n_topics, max(n_topics // 3, 2)))
        covariance = 3 * (factors @ factors.T / factors.shape[1] + 0.3 * np.eye(n_topics))
        logits = rng.multivariate_normal(np.zeros(n_topics), covariance, size=docs)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
    else:
        sizes = 1 / np.arange(1, n_topics + 1) ** (0.8 if shape == "power law" else 0.3)
        shares = rng.dirichlet(0.1 * n_topics * sizes / sizes.sum() + 1e-3, size=docs)
    mean = tokens / 5 if shape == "short" else tokens
    lengths = np.maximum(rng.lognormal(np.log(mean), 0.4, docs).astype(int), 5)
    counts = np.array(
        [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, shares @ topics, strict=True)]
    )
    return tt.read_corpus(counts[:, counts.sum(0) > 0])


def hard_numbers(shape: str, seed: int = 7) -> Any:
    """Return what `choose` says of eight corpora of a shape, five restarts."""
    rows = []
    for n_topics, docs, tokens in SIZES:
        choice = tt.choose_topics(draw_corpus(shape, n_topics, docs, tokens, seed), GRID, restarts=5, seed=1)
        low, high = choice.interval
        rows.append({"shape": shape, "planted": n_topics, "docs": docs, "tokens": tokens,
                     "covered": low <= n_topics <= (high or np.inf), **choice.to_dict()})  # fmt: skip
        note({name: value for name, value in rows[-1].items() if name != "rows"})
    return rows
