"""What the vectors of documents are worth, in tokens, and the topics that a fit with vectors starts from.

The strength is the largest one with topics that predict the words of held-out documents, given other words
alone, no worse than topics without vectors do. It is zero if the neighbours of these documents predict their
words no better than other documents do (decision 209).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.bp.executor import Executor
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.graph import FactorGraph, Priors, build_graph
from tagtopics.bp.holdout import log_likelihoods
from tagtopics.bp.learn_priors import MIN_DOCS
from tagtopics.bp.loop import Learned, proportions, run
from tagtopics.bp.pilot import RELAXATION, SWEEPS, choose_held_out, most_documents
from tagtopics.bp.propagation import AFTER_PILOT, BeliefPropagation, Start
from tagtopics.bp.relations import Relations, cluster_words, merge_topics, nearest
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import can_split, completion
from tagtopics.models.topics import TopicSettings, graph_executor, take_rows

STRENGTHS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)  # in tokens, tried one after the other
_TRIED = (
    10.0  # strength at which neighbours are compared with other documents; of small corpora, the strength
)
# Standard errors: by how much neighbours must be better, and by how much words may be worse.
_CERTAIN, _WORSE = 3.0, 2.0
_SPLIT, _SPLIT_SWEEPS = 5, 30  # topics that are merged into one, on average, and the sweeps that learn them


class Related(NamedTuple):
    """How a fit to documents with vectors begins."""

    settings: TopicSettings  # with the priors of the fit
    strength: float  # tokens that near documents are worth
    relations: Relations | None = None  # None if they are worth nothing
    start: Start | None = None
    vectors: Float32 | None = None  # (D, n) of length one; zero for documents without words


def relate(
    corpus: Corpus, settings: TopicSettings, executor: Executor, vectors: Float32, start: Start | None
) -> Related:
    """Return the relations of documents by their vectors, (D, n) of length one, and the first topics.

    Args:
        corpus: the documents; of a fit to shards, the sample that the model keeps.
        settings: of the fit; priors are learned.
        executor: holds the documents.
        vectors: of all documents.
        start: where to begin; None for topics that are merged.
    """
    settings, n_docs = settings.resolve(corpus, executor), executor.totals.n_docs
    priors, take = settings.priors(executor.totals), executor.take or take_rows(corpus)
    rest, held_out = choose_held_out(n_docs, settings.seed)
    rest, strength = rest[:: 1 + len(rest) // most_documents()], _TRIED
    if n_docs >= MIN_DOCS and can_split(hidden := take(held_out)[0]):
        learned, of_hidden = Part(take(rest)[0], vectors[rest]), Part(hidden, vectors[held_out])
        strength = _learn_strength(learned, of_hidden, settings, priors)
    if not strength:
        return Related(settings, 0.0, start=start)
    blocks = np.array_split(np.arange(n_docs), 1 + n_docs // most_documents())
    worded = np.concatenate([Part(take(rows)[0], vectors[rows]).worded for rows in blocks])
    near = nearest(vectors, worded, same=True)
    if start is None:
        some = np.arange(n_docs)[:: -(-n_docs // most_documents())]
        near_some = near if len(some) == n_docs else nearest(vectors[some], worded[some], same=True)
        part = Part(take(some)[0], vectors[some])
        start = _merged_start(part, Relations(near_some, strength), settings, priors)
    return Related(settings, strength, Relations(near, strength), start, worded)


class Part(NamedTuple):
    """Some documents with vectors."""

    counts: CSR  # (D, W)
    vectors: Float32  # (D, n)

    @property
    def worded(self) -> Float32:
        """The vectors, zero for documents without words."""
        return np.where((np.diff(self.counts.indptr) > 0)[:, np.newaxis], self.vectors, np.float32(0))

    def start(self, settings: TopicSettings, priors: Priors) -> Start:
        """Return the words of clusters of the vectors."""
        words = cluster_words(self.worded, self.counts, settings.n_topics, settings.seed)
        return Start(words + np.float32(priors.topic_word), AFTER_PILOT)


def _merged_start(part: Part, relations: Relations, settings: TopicSettings, priors: Priors) -> Start:
    """Return topics merged from more of them; clusters of k-means alone are of much the same size."""
    more = replace(settings, n_topics=_SPLIT * settings.n_topics)
    priors = priors._replace(doc_topic=np.full(more.n_topics, priors.doc_topic.mean(), dtype=np.float32))
    start, graph = part.start(more, priors), build_graph(part.counts)
    found = _short_fit(graph, more, priors, relations, start, _SPLIT_SWEEPS)
    group = merge_topics(found.doc_topic, relations.near, settings.n_topics)
    words = np.zeros((part.counts.shape[1], settings.n_topics))
    for k, g in enumerate(group):
        words[:, g] += found.word_sums[:, k]
    return Start((words + priors.topic_word).astype(np.float32), AFTER_PILOT)


def _short_fit(
    graph: FactorGraph,
    settings: TopicSettings,
    priors: Priors,
    relations: Relations | None,
    start: Start,
    sweeps: int,
) -> Learned:
    calm = priors._replace(relaxation=min(priors.relaxation, RELAXATION))
    executor = graph_executor(graph, settings)
    algorithm = BeliefPropagation(executor, calm, settings.seed, settings.anchored, start, relations)
    belief = run(algorithm, max_iter=min(sweeps, settings.most_sweeps()), tol=settings.tol).state
    return algorithm.learned(belief)


def _learn_strength(learned: Part, held_out: Part, settings: TopicSettings, priors: Priors) -> float:
    """Return the strength in tokens, learned on documents that a shorter fit is made without."""
    graph, worded = build_graph(learned.counts), learned.worded
    near, of_held_out = nearest(learned.vectors, worded, same=True), nearest(held_out.vectors, worded)
    seen, hidden = completion(held_out.counts, settings.seed)

    def fit(strength: float, start: Start) -> tuple[Float32, Float32]:
        """Return phi (W, K) and the proportions (D, K) of the documents learned from."""
        relations = Relations(near, strength) if strength else None
        found = _short_fit(graph, settings, priors, relations, start, SWEEPS)
        raised = found.word_sums + priors.topic_word
        return np.ascontiguousarray(raised / raised.sum(0), dtype=np.float32), found.doc_topic

    def predict(phi: Float32) -> Float64:
        """Return (D,): the log likelihood of the hidden words of held-out documents, given those seen."""
        return log_likelihoods(hidden, infer_topics(seen, phi, priors.doc_topic), phi)

    def explain(near: CSR) -> Float64:
        """Return (D,): the log likelihood of all words of documents, given the topics of near ones alone."""
        phi, theta = tried
        prior = proportions(Relations(near, _TRIED).counts(theta), priors.doc_topic)
        return log_likelihoods(held_out.counts, prior, phi)

    start = learned.start(settings, priors)
    tried = fit(_TRIED, start)
    of_others = of_held_out[np.random.default_rng(settings.seed).permutation(of_held_out.shape[0])]
    if not _excess(explain(of_held_out), explain(of_others)) > _CERTAIN:
        return 0.0
    without = predict(fit(0.0, Start())[0])
    for strength in STRENGTHS:
        phi, _ = tried if strength == _TRIED else fit(strength, start)
        if _excess(predict(phi), without) > -_WORSE:
            return strength
    return 0.0


def _excess(found: Float64, expected: Float64) -> float:
    """Return by how many standard errors one likelihood of documents, (D,), exceeds another."""
    gain = found - expected
    return float(gain.sum() / max(np.sqrt(len(gain)) * gain.std(), 1e-300))
