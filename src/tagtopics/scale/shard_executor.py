"""Work on some shards of a folder, one after the other: what a process of a local or distributed fit does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.errors import InputError
from tagtopics.graph import FactorGraph, Own, Priors, Sums, Whole, group_by
from tagtopics.kernels.bp import compiled
from tagtopics.kernels.bp.anchors import add_profiles, no_profiles
from tagtopics.kernels.bp.compiled import Field, Words
from tagtopics.scale.keeping import Keeper
from tagtopics.scale.shards import ShardFolder

REFIT_SWEEPS = 10
"""Sweeps over a lost shard alone, the topics held still, before it joins the others again."""


class Round(NamedTuple):
    """What every part needs for a sweep: what words and tags say now, and what words said before."""

    sweep: int  # its number, from 1
    field: Field
    past: Words
    priors: Priors


class Parts:
    """Some shards of a folder.

    Args:
        folder: the shards.
        numbers: which of them.
        keeper: where the state of their documents is kept.
        lean: recall messages instead of storing them.
        n_threads: shards at a time; any number gives the same bits.
        refits: infer the state of a shard anew where it was lost, instead of giving up.
        told: called after each shard.
    """

    def __init__(
        self,
        folder: ShardFolder,
        numbers: Sequence[int],
        keeper: Keeper,
        *,
        lean: bool = True,
        n_threads: int = 1,
        refits: bool = False,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.numbers, self.keeper = folder, tuple(numbers), keeper
        self.lean, self.n_threads, self.refits, self.told = lean, n_threads, refits, told

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return what these shards add to the words' profiles; see `kernels.anchors`."""
        totals = [no_profiles(self.folder.manifest.n_words, n_topics) for _ in range(self.n_threads)]

        def add(number: int, lane: int) -> float:
            add_profiles(graph_of(self.folder, number), seed, 1, totals[lane])
            return 0.0

        self._each(add)
        return np.asarray(np.sum(totals, axis=0))

    def begin(self, word_topics: Float32, seed: int) -> Sums:
        """Draw the first state of each shard; return what they add up to."""
        totals = self._no_sums(word_topics.shape[1])
        start = compiled.lean_initial_part if self.lean else compiled.initial_part

        def draw(number: int, lane: int) -> float:
            own = start(graph_of(self.folder, number), word_topics, seed, 1, totals[lane])
            self.keeper.put(number, 0, own)
            return 0.0

        self._each(draw)
        return _together(totals)

    def sweep(self, now: Round) -> tuple[Sums, float]:
        """Update every shard once; return what they add up to, and how far they moved, in tokens."""
        totals = self._no_sums(len(now.priors.doc_topic))

        def update(number: int, lane: int) -> float:
            graph = graph_of(self.folder, number)
            own = self._own(number, graph, now)
            moved = self._update(graph, own, now, totals[lane])
            self.keeper.put(number, now.sweep, own)
            return moved

        moved = self._each(update)
        return _together(totals), moved

    def _update(self, graph: FactorGraph, own: Own, now: Round, sums: Sums) -> float:
        if self.lean:
            return compiled.lean_sweep_part(graph, own, now.field, now.past, now.priors, 1, sums)
        return compiled.sweep_part(graph, own, now.field, now.priors, 1, sums)

    def _own(self, number: int, graph: FactorGraph, now: Round) -> Own:
        """Return the state of a shard before a sweep."""
        if self.refits and not self.keeper.has(number, now.sweep - 1):
            return self._refitted(graph, now)
        own = self.keeper.get(number, now.sweep - 1)
        n_messages = 0 if self.lean else graph.n_edges
        if [len(array) for array in own] != [n_messages, graph.n_docs, graph.n_slots]:
            raise InputError(
                f"{self.keeper.path(number, now.sweep - 1)}: of another corpus or fit; begin anew"
            )
        return own

    def _refitted(self, graph: FactorGraph, now: Round) -> Own:
        """Return a state inferred anew, the topics held still."""
        K = now.field.word_sums.shape[1]
        ignored = Sums.zeros(graph.n_words, graph.n_tags, K)
        start = compiled.lean_initial_part if self.lean else compiled.initial_part
        own = start(graph, now.field.word_sums + np.float32(now.priors.topic_word), 0, 1, ignored)
        for _ in range(REFIT_SWEEPS):
            self._update(graph, own, now, ignored)
        return own

    def _no_sums(self, n_topics: int) -> list[Sums]:
        m = self.folder.manifest
        return [Sums.zeros(m.n_words, m.n_tags, n_topics) for _ in range(self.n_threads)]

    def _each(self, work: Callable[[int, int], float]) -> float:
        """Call `work(number, lane)` for each shard, a lane a thread; return the sum of what it returns."""
        waiting = iter(self.numbers)

        def run(lane: int) -> float:
            total = 0.0
            for number in waiting:  # a tuple's iterator gives each number to one thread only
                total += work(number, lane)
                self.told()
            return total

        if self.n_threads == 1:
            return run(0)
        with ThreadPoolExecutor(self.n_threads) as pool:
            return sum(pool.map(run, range(self.n_threads)))


def graph_of(folder: ShardFolder, number: int) -> FactorGraph:
    """Load a shard as a part of the factor graph: one block, so that blocks are shards."""
    shard, entry, m = folder.load(number), folder.manifest.shards[number], folder.manifest
    slot_has_words = np.repeat(np.diff(shard.doc_edges) > 0, np.diff(shard.doc_slots))
    return FactorGraph(
        doc_edges=np.array(shard.doc_edges),
        edge_word=np.array(shard.edge_word),
        edge_count=np.array(shard.edge_count),
        doc_slots=np.array(shard.doc_slots),
        slot_tag=np.array(shard.slot_tag),
        tag_slots=group_by(shard.slot_tag, m.n_tags, keep=slot_has_words),
        doc_blocks=np.array([0, entry.n_docs]),
        whole=Whole(
            entry.first_edge, entry.first_slot, m.n_docs, float(m.n_tokens), folder.word_docs, folder.tag_docs
        ),
    )


def _together(totals: list[Sums]) -> Sums:
    first, *others = totals
    for other in others:
        first.add(other)
    return first
