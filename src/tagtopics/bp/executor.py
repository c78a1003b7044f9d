"""Executors: who holds the documents of a corpus and applies a sweep to all of them.

Belief propagation is the same algorithm everywhere (`bp`). In memory, on shards and on a cluster it differs
only in the executor. All sums are exact, so it does not matter which part is added first: any executor gives
the same bits.

`memory="auto"` decides by the sizes of the corpus alone whether messages are stored or recomputed, so that
results never depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from tagtopics._typing import CSR, Bool, Float32, Float64, Int64
from tagtopics.bp import sweep as compiled
from tagtopics.bp.anchors import add_profiles, anchored_topics, no_profiles
from tagtopics.bp.constants import NOISE
from tagtopics.bp.graph import Belief, CorpusSums, DocState, FactorGraph, Priors, SweepInput, Totals
from tagtopics.errors import warn

# `memory="auto"` stores up to 8 GiB of messages: 4 bytes for each topic of each edge.
MAX_STORED_BYTES = 8 * 2**30
_CGROUP = Path("/sys/fs/cgroup")  # what a container sees of its own limits

Take = Callable[[Int64], tuple[CSR, CSR]]  # returns counts and tags of documents by their rows, ascending


class Sweep(NamedTuple):
    """What an executor needs for a sweep."""

    number: int  # from 1
    given: SweepInput
    priors: Priors
    own_counts: Float32 | None = None  # (D, K) pseudo-counts of each document besides alpha


class Executor(Protocol):
    """Applies sweeps to all documents of a corpus."""

    @property
    def totals(self) -> Totals:
        """Statistics of the corpus."""

    @property
    def lean(self) -> bool:
        """Whether messages are recomputed in each sweep instead of stored."""

    @property
    def take(self) -> Take | None:
        """Reads documents by their rows; None if all documents are in memory."""

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles over all documents; see `bp.anchors`."""

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> DocState | None:
        """Draw the initial state of all documents and add its sums to `sums`, which are zero.

        Return the state, or None if it is kept elsewhere.
        """

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update all documents, `docs` in place, and add their sums to `sums`, which are zero.

        If the input has no sums of tags, the sums of the tags stay as they are. Return how far messages
        moved, in tokens.
        """

    @property
    def kept_rows(self) -> slice | Int64:
        """Which documents a model keeps."""

    def doc_sums(self, belief: Belief) -> Float32:
        """Return the sums of the messages of all documents, (D, K)."""

    def kept_sums(self, belief: Belief) -> Float32:
        """Return those of the documents that a model keeps."""


@dataclass(frozen=True)
class MemoryExecutor:
    """Documents in memory."""

    graph: FactorGraph
    lean: bool = False  # recompute messages in each sweep instead of storing them; see `bp_reference.recall`
    take: ClassVar[None] = None
    kept_rows: ClassVar[slice] = slice(None)

    @property
    def totals(self) -> Totals:
        """Statistics of the corpus."""
        return self.graph.totals

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles."""
        sums = no_profiles(self.graph.n_words, n_topics)
        add_profiles(self.graph, seed, sums)
        return sums

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> DocState:
        """Return the initial state of all documents."""
        return compiled.start(self.graph, word_topics, seed, self.lean, sums)

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update all documents in place."""
        assert docs is not None
        return compiled.sweep(self.graph, docs, sweep.given, sweep.priors, sums, sweep.own_counts)

    def doc_sums(self, belief: Belief) -> Float32:
        """Return the sums of the messages of all documents, (D, K)."""
        assert belief.docs is not None
        return belief.docs.doc_sums

    kept_sums = doc_sums


def initial_topics(
    executor: Executor, n_topics: int, seed: int, anchored: bool, known: Bool | None = None
) -> Float32:
    """Return the initial p(topic | word), (W, K), up to a factor for each word.

    Anchored, these are topics around anchor words, plus a little noise; else all ones. Words that are known
    to belong to other topics, (W,), are no anchors.
    """
    word_docs = executor.totals.word_docs
    if known is not None:
        word_docs = np.where(known, 0, word_docs)
    if not anchored:
        return np.ones((len(word_docs), n_topics), dtype=np.float32)
    profiles = executor.profiles(n_topics, seed)
    return anchored_topics(profiles, word_docs, n_topics) + NOISE


def is_lean(memory: str, graph: FactorGraph, n_topics: int) -> bool:
    """Return whether messages are recomputed: for "lean", and for "auto" above `MAX_STORED_BYTES`.

    A fit that needs more memory than is available gets a warning.
    """
    messages = 4 * n_topics * graph.n_edges
    lean = memory == "lean" or (memory == "auto" and messages > MAX_STORED_BYTES)
    rows = 4 * (graph.n_docs + graph.n_slots) + 28 * graph.n_words + 24 * graph.n_tags
    needed = n_topics * rows + (8 * n_topics * graph.n_words if lean else messages)
    available = available_memory()
    if available is not None and needed > available:
        remedy = "use shards (tagtopics shard) or fewer topics" if lean else 'use memory="lean"'
        sizes = f"{needed / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are available"
        warn(f"fit: needs about {sizes}; {remedy}")
    return lean


def available_memory() -> int | None:
    """Return the bytes that this process may still use, here or in its container; None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None
    try:
        limit, used = (int((_CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # "max" is not a number: no limit
        return free
    return min(free, max(0, limit - used))
