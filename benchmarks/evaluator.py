"""The evaluator: topics of all systems are scored by the same fold-in of the same documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import Completion, Task
from tagtopics.bp import holdout as heldout
from tagtopics.bp.fold_in import infer_topics
from tagtopics.jit.threads import thread_limit

Floats = npt.NDArray[np.float32]

GRID = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Symmetric alphas tried for each system and checkpoint on the validation documents."""


class Score(NamedTuple):
    """Perplexity of the test documents, and the alpha used ("own": that of the system)."""

    perplexity: float
    validation: float  # perplexity of the validation documents with the same alpha
    alpha: str


class Evaluator:
    """Document completion with alpha chosen on separate validation documents."""

    def __init__(self, task: Task, n_threads: int) -> None:
        self.task = task
        self.n_threads = n_threads
        self._last: int | None = None

    def score(self, phi: Any, own_alpha: Any | None) -> Score:
        """Return the perplexity of topics.

        Args:
            phi: (W, K) p(word | topic).
            own_alpha: (K,) what the system itself would use for new documents, or None.
        """
        phi = np.ascontiguousarray(phi, dtype=np.float32)
        candidates: dict[str, Floats] = {}
        if own_alpha is not None:
            candidates["own"] = np.asarray(own_alpha, dtype=np.float32)
        for alpha in self._grid():
            candidates[f"{alpha:g}"] = np.full(phi.shape[1], alpha, dtype=np.float32)
        found = {name: self._completed(self.task.validation, phi, a) for name, a in candidates.items()}
        best = min(found, key=lambda name: found[name])
        symmetric = min((name for name in found if name != "own"), key=lambda name: found[name])
        self._last = [f"{alpha:g}" for alpha in GRID].index(symmetric)
        return Score(self._completed(self.task.test, phi, candidates[best]), found[best], best)

    def _grid(self) -> tuple[float, ...]:
        """Return the whole grid first, then the last choice and its neighbours, as topics change slowly."""
        return GRID if self._last is None else GRID[max(0, self._last - 1) : self._last + 2]

    def _completed(self, part: Completion, phi: Floats, alpha: Floats) -> float:
        with thread_limit(self.n_threads):
            theta = infer_topics(part.seen, phi, alpha)
        return perplexity_of(part, theta, phi)


def perplexity_of(part: Completion, theta: Any, phi: Any) -> float:
    """Return the perplexity of the held-out tokens under proportions (D, K) and topics (W, K)."""
    total = float(heldout.log_likelihoods(part.held_out, theta, phi).sum())
    return heldout.perplexity(total, float(part.held_out.sum(dtype=np.float64)))


def unigram_perplexity(task: Task) -> float:
    """Return the perplexity of the same held-out tokens without topics."""
    word_counts = task.train.counts.sum(0, dtype=np.int64)
    total = heldout.unigram_log_likelihood(task.test.held_out, word_counts, 0.05)
    return heldout.perplexity(total, float(task.test.held_out.sum(dtype=np.float64)))
