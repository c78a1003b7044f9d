"""Seconds per sweep of generated corpora, as edges, topics, slots or the order grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import machine, ours
from benchmarks.corpora import generated_corpus, named_corpus
from benchmarks.limits import Limits
from tagtopics.corpus.core import Corpus

_SWEEPS = 6
_TAGS = 997
"""A prime, so that steps of any size around the circle of tags reach each tag once."""


class Case(NamedTuple):
    """One model on one corpus, which is given by factors for its documents and tags."""

    system: str
    docs: int = 1
    tags: int = 1
    topics: int = 1
    order: int = 3


CASES = {
    "LDA": Case("ours-lda"),
    "LDA, documents x 2": Case("ours-lda", docs=2),
    "LDA, topics x 2": Case("ours-lda", topics=2),
    "TTM-H": Case("ours-ttm"),
    "TTM-H, documents x 2": Case("ours-ttm", docs=2),
    "TTM-H, topics x 2": Case("ours-ttm", topics=2),
    "TTM-H, tags x 2": Case("ours-ttm", tags=2),
    "TTM-H, order 4": Case("ours-ttm", order=4),
}


def measure_scaling(limits: Limits) -> dict[str, Any]:
    """Time all cases in several rounds; return the median of the medians for each case."""
    corpora = {(c.docs, c.tags): tagged(limits.scaling_docs * c.docs, 3.5 * c.tags) for c in CASES.values()}
    engine = "-stored" if "stored" in ours.engines() else ""
    seconds: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(limits.scaling_rounds):
        for name, case in CASES.items():
            seconds[name].append(sweep_seconds(corpora[case.docs, case.tags], case, engine, limits))
    facts = {f"{docs}x{tags}": _facts(corpus) for (docs, tags), corpus in corpora.items()}
    return {"rows": {name: _summary(rounds) for name, rounds in seconds.items()}, "corpora": facts}


def sweep_seconds(corpus: Corpus, case: Case, engine: str, limits: Limits) -> float:
    """Return the median seconds of the sweeps of one fit, without the first."""
    parameters: dict[str, Any] = {"max_iter": _SWEEPS, "n_topics": limits.n_topics * case.topics}
    if case.system == "ours-ttm":
        parameters["order"] = case.order
    model = ours.make_model(case.system + engine, limits, 0, **parameters).fit(corpus)
    return float(np.median([step["seconds"] for step in model.history_[1:]]))


def tagged(n_docs: int, tags_per_doc: float, words_per_doc: int = 100) -> Corpus:
    """Return a generated corpus with a given mean number of distinct tags per document."""
    corpus = generated_corpus(n_docs, words_per_doc)
    rng = np.random.default_rng(1)
    low = int(tags_per_doc - 0.5)
    sizes = low + (np.arange(n_docs) % 2 if tags_per_doc % 1 else rng.permutation(np.arange(n_docs) % 2 * 2))
    docs = np.repeat(np.arange(n_docs), sizes)
    place = np.arange(len(docs)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first, stride = rng.integers(_TAGS, size=n_docs), rng.integers(1, _TAGS, size=n_docs)
    columns = (first[docs] + place * stride[docs]) % _TAGS
    ones = np.ones(len(docs), dtype=np.int8)
    return named_corpus(corpus.counts, sp.csr_array((ones, (docs, columns)), shape=(n_docs, _TAGS)))


def measure_memory(limits: Limits) -> dict[str, Any]:
    """Return the peak memory of two lean sweeps above that of the corpus; empty without a lean engine."""
    if "lean" not in ours.engines():
        return {"skipped": "tt.LDA has no parameter `memory`"}
    corpus = generated_corpus(limits.memory_docs, 130)
    limits_of_model = limits._replace(our_sweeps=2)
    ours.make_model("ours-lda-lean", limits_of_model, 0, max_iter=1).fit_topics(corpus.select(np.arange(50)))
    machine.reset_peak()
    base = machine.peak_mb()
    ours.make_model("ours-lda-lean", limits_of_model, 0, max_iter=2).fit_topics(corpus)
    above = machine.peak_mb() - base
    return {"corpus": _facts(corpus), "base_mb": round(base, 1), "above_mb": round(above, 1)}


def _facts(corpus: Corpus) -> dict[str, float]:
    return {"docs": corpus.n_docs, "edges": int(corpus.counts.nnz), "slots": int(corpus.tags.nnz)}


def _summary(rounds: list[float]) -> dict[str, float]:
    spread = float(np.max(rounds) / np.min(rounds))
    return {"seconds": float(f"{np.median(rounds):.4g}"), "spread": round(spread, 2), "rounds": len(rounds)}
