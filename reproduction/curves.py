"""Perplexity by the share of words seen, with tags hidden, known, inferred, and shuffled as a control."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from reproduction.claims import DATASET_NAMES
from reproduction.paper import Table, summary
from reproduction.spec import ExperimentSpec, Record
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.read import number_of
from tagtopics.corpus.splits import train_test

SEEN = (0, 5, 10, 20, 50, 80)
"""Shares of a document's words that are seen, in per cent."""

_ROWS: Mapping[str, str] = {
    "known": "tags known",
    "inferred": "tags inferred from the words seen",
    "shuffled": "tags shuffled between documents, known",
}


def measure_curve(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Measure the perplexity of held-out words for each use of the tags and each share of words seen.

    Hidden tags leave LDA with learned priors, since the topics of the model are LDA's. The control is fitted
    to documents that have exchanged their tags; all see and predict the same words.
    """
    train, test = (corpus.select(rows) for rows in train_test(corpus, spec.seed))
    began = time.perf_counter()
    model.fit_topics(train)
    fitted = time.perf_counter()
    model.fit_recommender(train)
    mixed = shuffled(corpus, spec.seed)
    mixed_train, mixed_test = (mixed.select(rows) for rows in train_test(mixed, spec.seed))
    control = clone(model.estimator).fit_topics(mixed_train)
    curves = {
        "hidden": _curve(model, test, None, spec.seed),
        "known": _curve(model, test, test, spec.seed),
        "inferred": _curve(model, test, "inferred", spec.seed),
        "shuffled": _curve(control, mixed_test, mixed_test, spec.seed),
    }
    seconds = {"fit": fitted - began, "score": time.perf_counter() - fitted}
    return {"metrics": {"curves": curves}, "seconds": seconds}


def shuffled(corpus: Corpus, seed: int) -> Corpus:
    """Return a corpus whose documents have exchanged their tags at random."""
    order = np.random.default_rng(seed).permutation(corpus.n_docs)
    return replace(corpus, tags=corpus.tags[order])


def curve_tables(records: Sequence[Record]) -> list[Table]:
    """Return for each data set the change of perplexity against hidden tags, in per cent."""
    tables = []
    for dataset, name in DATASET_NAMES.items():
        found = [r.metrics["curves"] for r in records if r.spec.task == "curve" and r.spec.dataset == dataset]
        if not found:
            continue
        base = np.array([curves["hidden"] for curves in found])
        rows = [("tags hidden: LDA", *(f"{value:.1f}" for value in base.mean(0)))]
        for key, title in _ROWS.items():
            changes = 100 * (np.array([curves[key] for curves in found]) / base - 1)
            rows.append((title, *(_cell(list(column)) for column in changes.T)))
        header = ("tags", *(f"{seen} % seen" for seen in SEEN))
        splits = number_of(len(found), "split")
        note = f"Perplexity, then changes in per cent: mean ± standard error over {splits}."
        tables.append(Table(f"Perplexity by the share of words seen, {name}", header, tuple(rows), note))
    return tables


def _curve(model: Any, test: Corpus, tags: Any, seed: int) -> list[float]:
    return [model.perplexity(test, tags=tags, seed=seed, seen=percent / 100) for percent in SEEN]


def _cell(values: list[float]) -> str:
    mean, error, n = summary(values)
    return f"{mean:+.1f}" + (f" ± {error:.1f}" if n > 1 else "")
