"""Belief propagation over shards: the sums of words and tags here, the documents with whoever has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.graph import Priors, Sums
from tagtopics.inference.bp import NOISE, faded
from tagtopics.kernels.bp.anchors import topics_around_anchors
from tagtopics.kernels.bp.compiled import field_of, words_of
from tagtopics.kernels.bp.words import relaxed_sums
from tagtopics.scale.shard_executor import Round
from tagtopics.scale.shards import ShardFolder


class Crew(Protocol):
    """Whoever works on the shards: this process, or many on a cluster. Each answers for all shards.

    All sums are exact, so it does not matter who adds what first: any crew gives the same bits.
    """

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the words' profiles, for anchors."""
        ...

    def begin(self, word_topics: Float32, seed: int) -> Sums:
        """Draw the first state of each shard; return what they add up to."""
        ...

    def sweep(self, now: Round) -> tuple[Sums, float]:
        """Update every shard once; return what they add up to, and how far they moved, in tokens.

        A sweep can be done again: it starts from what the one before has left.
        """
        ...

    def close(self) -> None:
        """Let the workers go."""
        ...


class ShardedBelief(NamedTuple):
    """All that changes during a fit but the state of the documents, which is on disk, by number of sweep."""

    sweep: int
    sums: Sums
    past_words: Float32  # (W, K) those that the messages were computed from
    priors: Priors


@dataclass(frozen=True)
class ShardedPropagation:
    """Sweeps over all shards of a folder, for `loop.run`.

    Attributes:
        folder: the shards.
        crew: who works on them.
        priors: where the priors and weights start.
        seed: of the random start.
        n_threads: for what is done here.
        anchored: start from topics around anchor words; else from noise.
    """

    folder: ShardFolder
    crew: Crew
    priors: Priors
    seed: int
    n_threads: int = 1
    anchored: bool = True
    settles: ClassVar[bool] = True

    def init(self) -> ShardedBelief:
        """Return the sums of the first state."""
        K, W = len(self.priors.doc_topic), self.folder.manifest.n_words
        word_topics = np.ones((W, K), dtype=np.float32)
        if self.anchored:
            profiles = self.crew.profiles(K, self.seed)
            word_topics = topics_around_anchors(profiles, self.folder.word_docs, K, self.n_threads)
        sums = self.crew.begin(word_topics + NOISE, self.seed)
        return ShardedBelief(0, sums, sums.words.astype(np.float32), self.priors)

    def step(self, belief: ShardedBelief) -> tuple[ShardedBelief, float]:
        """Return the sums after one sweep, and the mean change of a token's message."""
        priors, threads = belief.priors, self.n_threads
        used = relaxed_sums(belief.sums.words, belief.past_words, priors.stride, threads)
        field = field_of(belief.sums, self.folder.tag_docs, words_of(used, priors, threads), threads)
        past = words_of(belief.past_words, priors, threads)
        sums, moved = self.crew.sweep(Round(belief.sweep + 1, field, past, priors))
        after = ShardedBelief(belief.sweep + 1, sums, used, faded(priors))
        return after, moved / max(float(self.folder.manifest.n_tokens), 1e-300)
