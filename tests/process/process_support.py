"""What processes are asked: a fit and all kinds of questions, as one digest."""

from __future__ import annotations

import hashlib
from functools import cache

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus


@cache
def corpus() -> tt.Corpus:
    """A small corpus with tags."""
    return make_tagged_corpus(n_docs=300, seed=0).corpus


def answers(model: tt.TTM) -> str:
    """Return a digest of what a model answers."""
    asked = corpus().select(range(40))
    parts = (
        model.transform(asked).tobytes(),
        model.tag_probabilities(asked).tobytes(),
        repr(model.recommend(asked, n_words=5)).encode(),
        model.explain(asked).credit.tobytes(),
        repr(model.related(asked)).encode(),
    )
    return hashlib.sha256(b"".join(parts)).hexdigest()


def fit(n_jobs: int | None = 2) -> tt.TTM:
    """Return a fitted model."""
    return tt.TTM(8, max_iter=5, random_state=0, n_jobs=n_jobs).fit(corpus())


def fitted_answers(n_jobs: int | None = 2) -> str:
    """Return a digest of a fit and of its answers."""
    model = fit(n_jobs)
    return hashlib.sha256(model.components_.tobytes() + answers(model).encode()).hexdigest()
