"""Loopy belief propagation for LDA and the tag-topic models: one algorithm, with or without tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.bp import sweep as compiled
from tagtopics.bp.callbacks import Step
from tagtopics.bp.constants import NOISE
from tagtopics.bp.executor import Executor, Sweep, initial_topics
from tagtopics.bp.graph import Belief, CorpusSums, Priors
from tagtopics.bp.loop import Learned, proportions
from tagtopics.bp.relations import Relations
from tagtopics.corpus.core import check_array
from tagtopics.errors import InputError

# Relaxation is multiplied by this after each sweep: a long fit ends with plain sweeps and converges.
_FADING, _LATE_FADING = 0.95, 0.97
AFTER_PILOT = 1.0  # largest over-relaxation of a fit that starts from the topics of a pilot
# Over-relaxation above 1 oscillates. It starts after `_PLAIN` sweeps, if the change exceeds `_SLOW`.
_PLAIN, _SLOW = 15, 0.02
# Sweeps credit words to tags. Where tags do not act on topics and there are at least `_MANY` slots, only
# every tenth one does, from the first one on (decision 223).
_EVERY, _MANY = 10, 5_000
# A default fit ends with a few sweeps with a smaller exponent and a larger prior of words, as a multiple; a
# part of this prior stays in p(word | topic) (decision 206).
LAST_SWEEPS, _LAST_EXPONENT, _LAST_PRIOR, LAST_SHARE = 3, 0.9375, 4.0, 0.25


@dataclass(frozen=True, eq=False)
class Start:
    """Where a fit begins: by default, at topics around anchor words."""

    topics: Float32 | None = None  # (W, K) p(topic | word), up to a factor; None for anchor words or noise
    relaxation: float = np.inf  # largest over-relaxation of the fit
    earlier: CorpusSums | None = None  # of documents learned before; sweeps read them, the result has them
    word_counts: Float64 | None = None  # (W, K) pseudo-counts of known topics; sweeps read them
    resumed: tuple[Belief, Sequence[Step]] | None = None  # an interrupted fit to shards


@dataclass(frozen=True)
class BeliefPropagation:
    """Sweeps over all messages of a corpus, in memory, on shards or on a cluster."""

    executor: Executor  # holds the documents and applies the sweeps
    priors: Priors  # of the first sweep
    seed: int  # of the random start
    anchored: bool = True  # without topics to start from: take anchor words, or noise
    first: Start = Start()
    relations: Relations | None = None  # between documents
    last_sweeps: int = 0  # further ones, after the last iteration; see `_finish`

    @property
    def n_topics(self) -> int:
        """The number of topics, K."""
        return len(self.priors.doc_topic)

    def init(self) -> Belief:
        """Return the first messages and their sums."""
        totals = self.executor.totals
        sums = CorpusSums.zeros(len(totals.word_docs), len(totals.tag_docs), self.n_topics)
        docs = self.executor.start(self.word_topics(), self.seed, sums)
        words = self._read_sums(sums).words if self.executor.lean else sums.words[:0]
        priors = self.priors._replace(relaxation=min(self.priors.relaxation, self.first.relaxation))
        return Belief(0, sums, words.astype(np.float32), priors, docs)

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep, and the mean change of a token's message."""
        executor, totals = self.executor, self.executor.totals
        number, sums, previous, priors, docs = belief
        everything = self._read_sums(sums)
        tag_docs = totals.tag_docs if everything.tag_docs is None else everything.tag_docs
        credits = self._credits(number + 1)
        if not credits:
            no_tags = everything.tags[:0]
            everything, tag_docs = everything._replace(tags=no_tags, tag_squares=no_tags), tag_docs[:0]
        plain = priors.relaxation > 1 and number < _PLAIN
        used = priors._replace(relaxation=0.0) if plain else priors
        arguments = (previous, used, executor.lean)
        given = compiled.sweep_input(everything, tag_docs, *arguments)
        sums.clear(tags=credits)
        moved = executor.sweep(Sweep(number + 1, given, used, self._own_counts(belief)), docs, sums)
        change = moved / max(float(totals.n_tokens), 1e-300)
        factor = float(number + 1 < _PLAIN or change > _SLOW) if plain else self._fading()[0]
        faded = priors._replace(relaxation=factor * priors.relaxation)
        return Belief(number + 1, sums, given.words.sums, faded, docs), change

    def _own_counts(self, belief: Belief) -> Float32 | None:
        """Return what related documents add to the prior of each document, (D, K)."""
        return None if self.relations is None else self.relations.counts(self.executor.doc_sums(belief))

    def _credits(self, number: int) -> bool:
        """Return whether a sweep, counted from 1, credits words to tags; see `_EVERY`."""
        acts = self.priors.pairwise_weight > 0 or self.priors.higher_order_weight > 0
        few = int(self.executor.totals.tag_docs.sum()) < _MANY
        return acts or few or number % _EVERY == 1

    def _fading(self) -> tuple[float, int]:
        """Return the factor of relaxation in each sweep, and after which sweep it begins."""
        return (_LATE_FADING, _PLAIN) if self.priors.relaxation > 1 else (_FADING, 0)

    def learned(self, belief: Belief) -> Learned:
        """Return topics, topic proportions and the profiles of the tags."""
        executor, own_counts = self.executor, self._own_counts(belief)
        belief = self._finish(belief)
        sums = self._with_earlier(belief.sums)
        if self.last_sweeps:  # words of no document keep the whole prior
            sums.words[self.executor.totals.word_docs == 0] = (1 - LAST_SHARE) * self.priors.topic_word
        more: dict[str, Any] = {"tag_sums_": sums.tags, "tag_squares_": sums.tag_squares}
        more["word_exponent_"] = self.priors.word_exponent
        alpha, doc_sums = belief.priors.doc_topic, executor.kept_sums(belief)
        if own_counts is not None:
            doc_sums = doc_sums + own_counts[executor.kept_rows]
        return Learned(sums.words, proportions(doc_sums, alpha), alpha, more)

    def _finish(self, belief: Belief) -> Belief:
        """Return the belief after a few more sweeps with smoother words: such topics predict better.

        They are without relations, which tell the topics of documents but make those of words too broad.
        """
        priors = belief.priors
        exponent, beta = min(priors.word_exponent, _LAST_EXPONENT), _LAST_PRIOR * priors.topic_word
        smooth = priors._replace(word_exponent=exponent, topic_word=beta, relaxation=0.0)
        belief, alone = belief._replace(priors=smooth), replace(self, relations=None)
        for _ in range(self.last_sweeps):
            belief, _change = alone.step(belief)
        return belief

    def check(self, belief: Belief) -> None:
        """Raise `InputError` unless a restored belief fits the corpus and the priors."""
        K, totals = self.n_topics, self.executor.totals
        W, T = len(totals.word_docs), len(totals.tag_docs)
        for name, array, n in zip(CorpusSums._fields[:3], belief.sums[:3], (W, T, T), strict=True):
            check_array(array, (n, K), np.float64, f"start: sums of {name}")
        n_previous = W if self.executor.lean or len(belief.previous) else 0
        check_array(belief.previous, (n_previous, K), np.float32, "start: previous word sums")
        check_array(belief.priors.doc_topic, (K,), np.float32, "start: doc_topic")
        found, sweep, (fading, plain) = belief.priors.relaxation, belief.sweep, self._fading()
        wanted = self.priors.relaxation * fading ** max(sweep - plain, 0)
        piloted = min(self.priors.relaxation, AFTER_PILOT) * fading**sweep  # with or without `max_iter`
        fades = np.isclose(found, [wanted, piloted]).any() or (found == 0 and sweep >= _PLAIN)
        for name in Priors._fields:
            same = np.array_equal(getattr(belief.priors, name), getattr(self.priors, name))
            if not (fades if name == "relaxation" else same):
                raise InputError(f"start: was begun with another {name}; use the same")
        if not abs(belief.sums.words.sum() - totals.n_tokens) <= 1e-3 * max(totals.n_tokens, 1.0):
            raise InputError("start: a checkpoint of another corpus; its sums do not match the documents")

    def _with_earlier(self, sums: CorpusSums) -> CorpusSums:
        """Return the sums of all documents, the earlier ones included."""
        earlier = self.first.earlier
        if earlier is None:
            return sums
        words, tags, squares = (a + b for a, b in zip(sums[:3], earlier[:3], strict=True))
        assert earlier.tag_docs is not None
        return CorpusSums(words, tags, squares, self.executor.totals.tag_docs + earlier.tag_docs)

    def _read_sums(self, sums: CorpusSums) -> CorpusSums:
        """Return the sums that a sweep reads: those of all documents, and the prior of known topics."""
        everything, counts = self._with_earlier(sums), self.first.word_counts
        return everything if counts is None else everything._replace(words=everything.words + counts)

    def word_topics(self) -> Float32:
        """Return p(topic | word), (W, K), up to a factor, for the first messages.

        Noise in the messages lets new words that occur together choose one topic together: without it,
        topics of the same size would share them for ever.
        """
        if self.first.topics is not None:
            return self.first.topics
        topics = initial_topics(self.executor, self.n_topics, self.seed, self.anchored)
        return topics if self.anchored else topics + NOISE
