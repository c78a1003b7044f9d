"""A grid of fits: numbers of topics times restarts; every restart has its own documents and seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.analysis.choose.compare import found_again
from tagtopics.analysis.records import OnProgress
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion, train_test
from tagtopics.errors import InputError
from tagtopics.jit.threads import current_threads, run_lanes, thread_limit
from tagtopics.models.base import TopicModel

_MOST_BYTES = 2**30  # messages of the fits that run at the same time; larger fits use all threads each


class GridRow(NamedTuple):
    """The fits of one number of topics, R restarts."""

    n_topics: int
    scores: Float64  # (R,) mean log probability of a held-out token
    found: Float64  # (R, R) share of the topics of restart i that are found in restart j; 1 if i is j
    topics: list[Float32]  # (K, W) p(word | topic) of each restart


class Restart(NamedTuple):
    """The documents of one restart; the same for all numbers of topics."""

    train: Corpus
    seen: CSR  # (D, W): tokens of the test documents that are given
    hidden: CSR  # (D, W): tokens to predict
    seed: int


def lanes_for(n_edges: int, n_topics: int) -> int:
    """Return how many fits run side by side; each of them has messages for all of its edges."""
    threads = current_threads()
    return threads if 4 * n_topics * n_edges * threads <= _MOST_BYTES else 1


def make_restarts(corpus: Corpus, restarts: int, seed: int) -> list[Restart]:
    """Split a corpus at random for each restart: 80 % of the documents to learn from, others to predict.

    The first restarts do not depend on how many there are.
    """
    bare = replace(corpus, split=None, texts=None, links=None, labels=None)
    made = []
    for r in range(restarts):
        own = int(np.random.SeedSequence([seed, r]).generate_state(1)[0])
        train, test = train_test(bare, own)
        seen, hidden = completion(bare.counts[test], own)
        if not hidden.nnz:
            raise InputError("choose: nothing to predict; the documents need two words or more each")
        made.append(Restart(bare.select(train), seen, hidden, own))
    return made


def fit_grid(
    restarts: Sequence[Restart],
    topics: Sequence[int],
    model: TopicModel,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[GridRow]:
    """Yield the fits of each number of topics.

    Fits run side by side, or one after another if their messages take much memory. Neither changes a bit.

    Args:
        restarts: from `make_restarts`.
        topics: numbers of topics.
        model: the estimator; its other parameters are used.
        n_jobs: threads; None or -1 for all cores.
        on_progress: called with the share of the work that is done.
    """
    threads, work, done = resolve_threads(n_jobs), sum(topics) * len(restarts), 0
    edges = max(restart.train.counts.nnz for restart in restarts)

    def fit_row(n_topics: int) -> GridRow:
        fitted: dict[int, tuple[float, Float32]] = {}

        def lane(waiting: Iterator[int]) -> None:
            nonlocal done
            for r in waiting:
                fitted[r] = _fit(restarts[r], n_topics, model, threads)
                done += n_topics
                if on_progress is not None:
                    on_progress(done / work)

        run_lanes(lane, range(len(restarts)), lanes_for(edges, n_topics, threads))
        scores, components = zip(*(fitted[r] for r in range(len(restarts))), strict=True)
        found = np.eye(len(restarts))
        for i in range(len(restarts)):
            for j in range(i):
                found[i, j] = found[j, i] = found_again(components[i], components[j]).mean()
        return GridRow(n_topics, np.array(scores), found, list(components))

    return map(fit_row, topics)


def _fit(restart: Restart, n_topics: int, model: TopicModel) -> tuple[float, Float32]:
    """Return the score of one fit and its topics."""
    own = clone(model).set_params(n_topics=n_topics, random_state=restart.seed, n_jobs=None)
    own.fit_topics(restart.train)
    total = own.log_likelihood(restart.seen, restart.hidden).sum()
    return float(total / restart.hidden.sum(dtype=np.float64)), own.components_
