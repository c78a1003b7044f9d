"""Loopy belief propagation for LDA and the tag-topic models: one algorithm, with or without tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tagtopics._memory import release_freed
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp.constants import NOISE
from tagtopics.bp.executor import Executor, Sweep, check_array, initial_topics
from tagtopics.bp.graph import Belief, CorpusSums, Priors
from tagtopics.bp.loop import Learned, proportions
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.bp.pilot import Pilot

__all__ = ["Belief", "BeliefPropagation"]

_FADING, _LATE_FADING = 0.95, 0.97
"""Relaxation is multiplied by this after each sweep: a long fit ends with plain sweeps and settles."""

_KNOWN = 0.5
"""A word that belongs to known topics to this share is no anchor of another topic."""

_AFTER_PILOT = 1.0
"""Largest relaxation of a fit that starts from the topics of a pilot."""

_PLAIN, _SLOW = 15, 0.02
"""Factors above 1 make sums swing. They are used only if so many plain sweeps leave so much change."""

_EVERY, _MANY = 5, 5_000
"""Where tags do not act on topics, and documents have so many tags together, every fifth sweep, and each of
the first four, credits words to them; otherwise every sweep (decisions 124, 179)."""


_LASTING = ("topic_word", "pairwise_weight", "higher_order_weight", "order", "word_exponent", "own_tokens")
"""Numbers of `Priors` that stay the same in all sweeps of a fit."""


class Guide(NamedTuple):
    """Topics that are known before a fit: where its messages start, and the prior of their words."""

    columns: Int64  # (G,) the topics
    posterior: Float32  # (W, G) p(topic | word) to start from; rows add up to less than one
    counts: Float64  # (W, K) pseudo-counts of words, zero for other topics

    @classmethod
    def of_prior(cls, counts: Float64) -> Guide:
        """Return a guide that is only a prior of words, (W, K), for messages that start from elsewhere."""
        return cls(np.empty(0, np.int64), np.empty((len(counts), 0), np.float32), counts)


@dataclass(frozen=True)
class BeliefPropagation:
    """Sweeps over all messages of a corpus, in memory, on shards or on a cluster.

    With `earlier` documents (`models.online`) messages start around their p(topic | word), and sums are not
    relaxed.
    """

    executor: Executor  # holds the documents and applies the sweeps
    priors: Priors  # of the first sweep
    seed: int  # of the random start
    anchored: bool = True  # start from topics around anchor words; else from noise
    earlier: CorpusSums | None = None  # sums of documents learned before
    guide: Guide | None = None  # topics known before the fit
    pilot: Pilot | None = None  # a fit to a part of the documents, to start from
    settles: ClassVar[bool] = True

    @property
    def n_topics(self) -> int:
        """The number of topics, K."""
        return len(self.priors.doc_topic)

    def init(self) -> Belief:
        """Return the first messages and their sums."""
        totals = self.executor.totals
        sums = CorpusSums.zeros(len(totals.word_docs), len(totals.tag_docs), self.n_topics)
        docs = self.executor.start(self._word_topics(), self.seed, sums)
        words = self._guided(sums).words if self.executor.lean else sums.words[:0]
        plain = self.earlier is not None or self.guide is not None
        most = 0.0 if plain else _AFTER_PILOT if self.pilot is not None else np.inf
        priors = self.priors._replace(relaxation=min(self.priors.relaxation, most))
        return Belief(0, sums, words.astype(np.float32), priors, docs)

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep, and the mean change of a token's message."""
        executor, totals = self.executor, self.executor.totals
        number, sums, previous, priors, docs = belief
        everything = self._guided(sums)
        tag_docs = totals.tag_docs if everything.tag_docs is None else everything.tag_docs
        credits = self._credits(number + 1)
        if not credits:
            no_tags = everything.tags[:0]
            everything, tag_docs = everything._replace(tags=no_tags, tag_squares=no_tags), tag_docs[:0]
        plain = priors.relaxation > 1 and number < _PLAIN
        used = priors._replace(relaxation=0.0) if plain else priors
        arguments = (previous, used, executor.lean, executor.n_threads)
        given = executor.kernels.sweep_input(everything, tag_docs, *arguments)
        sums.clear(tags=credits)
        moved = executor.sweep(Sweep(number + 1, given, used), docs, sums)
        change = moved / max(float(totals.n_tokens), 1e-300)
        factor = float(number + 1 < _PLAIN or change > _SLOW) if plain else self._fading()[0]
        faded = priors._replace(relaxation=factor * priors.relaxation)
        return Belief(number + 1, sums, given.words.sums, faded, docs), change

    def _credits(self, number: int) -> bool:
        """Return whether a sweep, counted from 1, credits words to tags; see `_EVERY`."""
        acts = self.priors.pairwise_weight > 0 or self.priors.higher_order_weight > 0
        few = int(self.executor.totals.tag_docs.sum()) < _MANY
        return acts or few or number < _EVERY or number % _EVERY == 0

    def _fading(self) -> tuple[float, int]:
        """Return the factor of relaxation in each sweep, and after which sweep it begins."""
        return (_LATE_FADING, _PLAIN) if self.priors.relaxation > 1 else (_FADING, 0)

    def learned(self, belief: Belief) -> Learned:
        """Return topics, topic proportions and the profiles of the tags; no proportions without `docs`."""
        release_freed()  # what sweeps used besides the messages, which are still there
        alpha, sums = belief.priors.doc_topic, self._with_earlier(belief.sums)
        doc_sums = np.empty((0, len(alpha)), np.float32) if belief.docs is None else belief.docs.doc_sums
        more = {"tag_sums_": sums.tags, "tag_squares_": sums.tag_squares}
        return Learned(sums.words, proportions(doc_sums, alpha), alpha, more)

    def check(self, belief: Belief) -> None:
        """Raise `InputError` unless a restored belief fits the corpus, the priors and the memory mode."""
        if not isinstance(belief, Belief):
            raise InputError("start: not a state of belief propagation; pass what load_checkpoint returns")
        K, totals = self.n_topics, self.executor.totals
        W, T = len(totals.word_docs), len(totals.tag_docs)
        for name, array, n in zip(CorpusSums._fields[:3], belief.sums[:3], (W, T, T), strict=True):
            check_array(array, (n, K), np.float64, f"start: sums of {name}")
        n_previous = W if self.executor.lean or len(belief.previous) else 0
        check_array(belief.previous, (n_previous, K), np.float32, "start: previous word sums")
        check_array(belief.priors.doc_topic, (K,), np.float32, "start: doc_topic prior")
        self._check_priors(belief.priors, belief.sweep)
        self.executor.check(belief.sums, belief.docs)

    def _check_priors(self, found: Priors, sweep: int) -> None:
        if not np.array_equal(found.doc_topic, self.priors.doc_topic):
            raise InputError("start: was begun with another doc_topic_prior; use the same")
        fading, plain = self._fading()
        wanted = self.priors.relaxation * fading ** max(sweep - plain, 0)
        piloted = min(self.priors.relaxation, _AFTER_PILOT) * fading**sweep  # with or without `max_iter`
        known = np.isclose(found.relaxation, [wanted, piloted]).any()
        if not known and (found.relaxation != 0 or sweep < _PLAIN):
            raise InputError("start: was begun with another relaxation; use the same")
        for name in _LASTING:
            there, here = getattr(found, name), getattr(self.priors, name)
            if there != here:
                raise InputError(f"start: was begun with another {name} ({there:g} there, {here:g} now)")

    def _with_earlier(self, sums: CorpusSums) -> CorpusSums:
        """Return the sums of all documents, the earlier ones included."""
        if self.earlier is None:
            return sums
        words, tags, squares = (a + b for a, b in zip(sums[:3], self.earlier[:3], strict=True))
        assert self.earlier.tag_docs is not None
        return CorpusSums(words, tags, squares, self.executor.totals.tag_docs + self.earlier.tag_docs)

    def _guided(self, sums: CorpusSums) -> CorpusSums:
        """Return the sums that a sweep reads: those of all documents, and the prior of known topics."""
        everything = self._with_earlier(sums)
        return (
            everything
            if self.guide is None
            else everything._replace(words=everything.words + self.guide.counts)
        )

    def _word_topics(self) -> Float32:
        """Return p(topic | word), (W, K), up to a factor, for the first messages.

        Noise in the messages lets new words that occur together choose one topic together: without it,
        topics of the same size would share them for ever.
        """
        if self.earlier is not None:
            return (self.earlier.words + self.priors.topic_word).astype(np.float32)
        if self.guide is not None:
            return self._guided_topics(self.guide)
        if self.pilot is not None:
            return self.pilot.take_word_topics()
        topics = initial_topics(self.executor, self.n_topics, self.seed, self.anchored)
        return topics if self.anchored else topics + NOISE

    def _guided_topics(self, guide: Guide) -> Float32:
        """Return p(topic | word), (W, K): that of the known topics, and the rest around anchor words."""
        free = np.setdiff1d(np.arange(self.n_topics), guide.columns)
        topics = np.zeros((len(guide.posterior), self.n_topics), dtype=np.float32)
        topics[:, guide.columns] = guide.posterior
        if len(free):
            known = guide.posterior.sum(1) > _KNOWN
            rest = initial_topics(self.executor, len(free), self.seed, self.anchored, known)
            rest = rest / np.maximum(rest.sum(1, keepdims=True), np.float32(1e-30))
            topics[:, free] = rest * (1 - guide.posterior.sum(1, keepdims=True))
        return topics + np.float32(NOISE / self.n_topics)
