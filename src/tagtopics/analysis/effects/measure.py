"""Statistics of the topics of a model, with intervals from refits on bootstrap samples of the documents.

Refits start from the topics of the model, so that these keep their numbers. Topic shares of documents are
expected tokens divided by tokens, without the pseudo-counts of the prior, which would pull effects towards
zero. A prior that is too small for the documents does the opposite: documents look purer than they are, and
effects too large. An equal prior for all topics takes tokens from large ones. So the prior of each topic is
learned first (decision 273).

Refits may drift from the model's topics, and those of an edited model would drift back to what they were. So
the topics as they were fitted are held as a replay of the edits holds them, and the edits are applied to the
topic shares of documents as they were to the model's (decision 274).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma
from scipy.stats import t as student

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.analysis.choose.choose import lanes_for
from tagtopics.analysis.records import OnProgress, Record
from tagtopics.bp import propagation
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.loop import run
from tagtopics.corpus.align import places_of
from tagtopics.corpus.core import Corpus
from tagtopics.curation.edits import topic_origins
from tagtopics.curation.guided import STRENGTH
from tagtopics.curation.journal import curation_of
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.jit.threads import results_of, thread_limit
from tagtopics.models.documents import align_words
from tagtopics.models.online import OnlineModel

_ROUNDS, _ROUND_SWEEPS = 5, 10  # updates of the prior, and sweeps before each
_SWEEPS, _TOLERANCE = 20, 2e-3  # most sweeps of a refit, and the change at which it ends
_ALPHAS = 1e-3, 100.0  # bounds of a topic's pseudo-count

# Below this cosine, other words lead a topic; above this difference, it gained or lost documents.
_LEAST_SIMILARITY, _LARGEST_DIFFERENCE = 0.9, 0.02

_NO_TAGS = "fit again without tags that act on topics: refits leave them out"
_FIT = "fit the edits first, with: tagtopics curate MODEL replay"

Statistic = Callable[[Int64, Float64], Float64]
"""Takes the rows of the sampled documents, (D,), and their topic shares, (D, K); returns an array."""


@dataclass(frozen=True)
class TopicMean(Record):
    """A topic and its mean share of the documents, as measured and in the model."""

    topic: int
    name: str
    share: float
    words: tuple[str, ...]
    model_share: float
    similarity: float  # cosine of the word distributions, measured and in the model

    @property
    def agrees(self) -> bool:
        """Whether the measured topic is the model's; do not rely on effects on another."""
        near = abs(self.share - self.model_share) <= _LARGEST_DIFFERENCE
        return near and self.similarity >= _LEAST_SIMILARITY


class Measured(NamedTuple):
    """A statistic of a model's topics with its intervals."""

    estimate: Float64
    low: Float64
    high: Float64
    topics: tuple[TopicMean, ...]
    held: bool  # whether refits held the topics, so that intervals leave out how uncertain these are


class Sampling(NamedTuple):
    """How intervals are computed; see `effects`."""

    refits: int
    seed: int
    level: float
    n_jobs: int | None = None
    on_progress: OnProgress | None = None
    clusters: Int64 | None = None  # (D,) documents of the same number are drawn together

    def draw(self, refit: int, n_docs: int) -> Int64:
        """Return the documents of a bootstrap sample, ascending."""
        rng = np.random.default_rng([self.seed, refit])
        if self.clusters is None:
            return np.sort(rng.integers(0, n_docs, n_docs))
        n = int(self.clusters.max()) + 1
        return np.repeat(np.arange(n_docs), np.bincount(rng.integers(0, n, n), minlength=n)[self.clusters])


def measure(
    model: Any, corpus: Corpus, rows: Int64, statistic: Statistic, sampling: Sampling, n_words: int
) -> Measured:
    """Return a statistic of the topic shares of documents, and intervals that include learning the topics.

    Documents are drawn with replacement, topics are learned again from each sample, and the statistic is
    computed from it. The interval is the estimate plus and minus a quantile of Student's t times the standard
    deviation of the refits. A topic that differs from the model's is an `InputError` if topics were edited
    since the fit, else a `CorpusWarning`. Any number of threads gives the same bits.
    """
    refits, _, level, n_jobs, on_progress, clusters = sampling
    if refits < 10:
        raise InputError(f"refits must be 10 or more, not {refits}; 100 or more for final results")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, not {level:g}")
    if clusters is not None and clusters.max() < 9:
        raise InputError(
            f"cluster: {clusters.max() + 1} clusters are too few for intervals; 10 or more are needed"
        )
    base = model if model.base_ is None else model.base_
    counts = align_words(base, corpus.select(rows))
    words = places_of(model.vocabulary_, base.vocabulary_)
    if len(model.doc_topic_) == corpus.n_docs and tuple(corpus.ids) == tuple(model.doc_ids_):
        proportions = np.asarray(model.doc_topic_[rows], dtype=np.float64)
    else:  # new documents
        proportions = np.asarray(model.transform(sp.csr_array(counts[:, words])), dtype=np.float64)
    edits, merges = curation_of(model).edits, topic_origins(model)
    held = bool(edits) or any(topic.curated for topic in curation_of(base).topics)

    D, done = counts.shape[0], count(1)
    in_model = (proportions * (np.asarray(counts.sum(1)) > 0)[:, np.newaxis]).mean(0)

    def repeat(b: int) -> Float64:
        sample = sampling.draw(b, D)
        found = statistic(sample, refit(start, sp.csr_array(counts[sample])).shares @ merges)
        if on_progress is not None:
            on_progress(next(done) / refits)
        return found

    with thread_limit(n_jobs):
        start = find_start(base, counts, held=held)
        before = refit(start, counts)
        whole = Refit(before.words @ merges, before.shares @ merges)
        topics = _compare(model, whole, words, in_model, n_words)
        _check(topics, any(edit.kind == "merge" for edit in edits), base.topic_settings())
        estimate = statistic(np.arange(D), whole.shares)
        repeated = results_of(repeat, range(refits), lanes_for(counts.nnz, start.words.shape[1]))
    error = np.std(repeated, axis=0, ddof=1)
    freedom = refits - 1 if clusters is None else min(refits - 1, int(clusters.max()))
    reach = student.ppf((1 + level) / 2, freedom) * error
    return Measured(estimate, estimate - reach, estimate + reach, topics, held)


def _compare(
    model: Any, measured: Refit, words: Int64, in_model: Float64, n_words: int
) -> tuple[TopicMean, ...]:
    """Return how the measured topics, with the words at these rows, compare with the model's."""
    ours, theirs = measured.words[words], model.word_sums()
    norms = np.linalg.norm(ours, axis=0) * np.linalg.norm(theirs, axis=0)
    cosines = (ours * theirs).sum(0) / np.maximum(norms, 1e-300)
    columns = (column.tolist() for column in (measured.shares.mean(0), in_model, cosines))
    best = [tuple(word for word, _ in words) for words in model.top_words(n_words)]
    names = model.topic_names()
    return tuple(
        TopicMean(k, names[k], share, best[k], model_share, cosine)
        for k, (share, model_share, cosine) in enumerate(zip(*columns, strict=True))
    )


def _check(topics: Sequence[TopicMean], merged: bool, settings: Any) -> None:
    """Raise `InputError` or, without merges since the fit, warn of topics that differ from the model's."""
    wrong = [topic for topic in topics if not topic.agrees]
    if not wrong:
        return
    first, tags_act = wrong[0], settings.pairwise_weight > 0 or settings.higher_order_weight > 0
    if merged:
        raise InputError(
            f"topic {first.topic} of the edited model cannot be measured: refits find a topic with a share "
            f"of {100 * first.share:.1f} % instead of {100 * first.model_share:.1f} %, similarity "
            f"{first.similarity:.2f}; "
            + (_NO_TAGS if tags_act else f"measure the documents of the fit, or {_FIT}")
        )
    names = ", ".join(str(topic.topic) for topic in wrong)
    warnings.warn(
        f"{'topic' if len(wrong) == 1 else 'topics'} {names}: what was measured differs from the model "
        f"(similarity below {_LEAST_SIMILARITY}, or share off by more than {100 * _LARGEST_DIFFERENCE:g} "
        "points); do not rely on it, and "
        + (_NO_TAGS if tags_act else "fit again with more iterations and a smaller tolerance"),
        CorpusWarning,
        stacklevel=4,  # the caller of `effects` or `trends`
    )


# -------------------------------------------------------------------------------------------------- refits


class Refit(NamedTuple):
    """Topics of a sample of documents."""

    words: Float64  # (W, K) tokens
    shares: Float64  # (D, K) share of the tokens of each document in each topic; zero for one without words


class Start(NamedTuple):
    """Where refits start from."""

    words: Float64  # (W, K) tokens
    priors: Priors
    held: Float64 | None = None  # (W, K) pseudo-counts that hold the topics


def find_start(model: Any, counts: CSR, *, held: bool = False) -> Start:
    """Return the topics of a model after sweeps over all documents that learn the prior of each topic.

    If topics are held, their words are a prior, as strong as that of edits in `fit_curated`.
    """
    if not isinstance(model, OnlineModel):
        raise InputError(f"{type(model).__name__} cannot be refitted from its topics; LDA and TTM can")
    priors = Priors(
        np.asarray(model.doc_topic_prior_, dtype=np.float32),
        model.topic_word_prior_,
        word_exponent=model.word_exponent_,
        own_tokens=model.topic_settings().preset.own_tokens,
    )
    sums = model.word_sums()
    scale = STRENGTH * float(counts.sum()) / max(float(sums.sum()), 1e-300)
    start = Start(sums, priors, scale * sums if held else None)
    tokens = np.asarray(counts.sum(1), dtype=np.float64)
    for _ in range(_ROUNDS):
        found = refit(start, counts, _ROUND_SWEEPS, 0.0)
        alpha = learn_alpha(found.shares * tokens[:, np.newaxis], tokens, start.priors.doc_topic)
        start = Start(found.words, priors._replace(doc_topic=alpha), start.held)
    return start


def refit(start: Start, counts: CSR, sweeps: int = _SWEEPS, tolerance: float = _TOLERANCE) -> Refit:
    """Return the topics of documents, CSR (D, W), learned from given ones on."""
    executor = MemoryExecutor(build_graph(counts))
    topics = (start.words + start.priors.topic_word).astype(np.float32)
    first = propagation.Start(topics, word_counts=start.held)
    algorithm = propagation.BeliefPropagation(executor, start.priors, 0, first=first)
    belief = run(algorithm, max_iter=sweeps, tol=tolerance).state
    assert belief.docs is not None
    sums = belief.docs.doc_sums.astype(np.float64)
    shares = sums / np.maximum(sums.sum(1, keepdims=True), 1e-300)
    return Refit(belief.sums.words.copy(), shares)


def learn_alpha(sums: Float64, tokens: Float64, first: Float32) -> Float32:
    """Return the pseudo-counts (K,) under which tokens by topic, (D, K), are most probable (Minka)."""
    alpha = first.astype(np.float64)
    for _ in range(_ROUND_SWEEPS):
        above = (digamma(sums + alpha) - digamma(alpha)).sum(0)
        below = float((digamma(tokens + alpha.sum()) - digamma(alpha.sum())).sum())
        alpha = np.clip(alpha * above / max(below, 1e-300), *_ALPHAS)
    return alpha.astype(np.float32)
