"""Executors: who holds the documents of a corpus and applies a sweep to all of them.

Belief propagation is the same algorithm everywhere (`bp`). In memory, on shards and on a cluster it differs
only in the executor. All sums are exact, so it does not matter which part is added first: any executor gives
the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.errors import InputError
from tagtopics.graph import CorpusSums, DocState, FactorGraph, Priors, SweepInput, Totals, invariant_error
from tagtopics.kernels.bp import sweep as compiled
from tagtopics.kernels.bp.anchors import add_profiles, anchored_topics, no_profiles
from tagtopics.kernels.constants import NOISE

_TOLERANCE = 1e-3
"""Largest relative error of the sums of a restored state; rounding stays far below."""


class Kernels(Protocol):
    """The functions of a sweep: the module `kernels.bp.sweep`, or `kernels.bp.reference` to check it."""

    def sweep_input(
        self,
        sums: CorpusSums,
        tag_docs: Int64 | Float64,
        previous: Float32,
        priors: Priors,
        lean: bool,
        n_threads: int,
    ) -> SweepInput:
        """Return what a sweep reads about words and tags."""
        ...

    def start(
        self,
        graph: FactorGraph,
        word_topics: Float32,
        seed: int,
        lean: bool,
        n_threads: int,
        sums: CorpusSums,
    ) -> DocState:
        """Return the initial state of documents, and add its sums to `sums`."""
        ...

    def sweep(
        self,
        graph: FactorGraph,
        docs: DocState,
        given: SweepInput,
        priors: Priors,
        lean: bool,
        n_threads: int,
        sums: CorpusSums,
    ) -> float:
        """Update documents in place and add their sums to `sums`; return how far messages moved."""
        ...


class Sweep(NamedTuple):
    """What an executor needs for a sweep."""

    number: int  # from 1
    given: SweepInput
    priors: Priors


class Executor(Protocol):
    """Applies sweeps to all documents of a corpus."""

    @property
    def totals(self) -> Totals:
        """Statistics of the corpus."""
        ...

    @property
    def lean(self) -> bool:
        """Whether messages are recomputed in each sweep instead of stored."""
        ...

    @property
    def n_threads(self) -> int:
        """Threads for work on the sums; any number gives the same bits."""
        ...

    @property
    def kernels(self) -> Kernels:
        """The functions of a sweep."""
        ...

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles over all documents; see `kernels.bp.anchors`."""
        ...

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> DocState | None:
        """Draw the initial state of all documents and add its sums to `sums`, which are zero.

        Return the state, or None if it is kept elsewhere.
        """
        ...

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update all documents, `docs` in place, and add their sums to `sums`, which are zero.

        Return how far messages moved, in tokens.
        """
        ...

    def check(self, sums: CorpusSums, docs: DocState | None) -> None:
        """Raise `InputError` if a restored state does not fit the documents."""
        ...


@dataclass(frozen=True)
class MemoryExecutor:
    """Documents in memory.

    Attributes:
        graph: the documents.
        lean: recompute messages in each sweep instead of storing them; see `kernels.bp.reference.recall`.
        n_threads: any number gives the same bits.
        kernels: compiled, or the reference.
    """

    graph: FactorGraph
    lean: bool = False
    n_threads: int = 1
    kernels: Kernels = compiled

    @property
    def totals(self) -> Totals:
        """Statistics of the corpus."""
        return self.graph.totals

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles."""
        sums = no_profiles(self.graph.n_words, n_topics)
        add_profiles(self.graph, seed, self.n_threads, sums)
        return sums

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> DocState:
        """Return the initial state of all documents."""
        return self.kernels.start(self.graph, word_topics, seed, self.lean, self.n_threads, sums)

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update all documents in place."""
        assert docs is not None
        arguments = (sweep.given, sweep.priors, self.lean, self.n_threads, sums)
        return self.kernels.sweep(self.graph, docs, *arguments)

    def check(self, sums: CorpusSums, docs: DocState | None) -> None:
        """Raise `InputError` if a restored state does not fit the graph."""
        if docs is None:
            raise InputError("start: a checkpoint of a fit to shards; continue it with fit_shards")
        check_docs(docs, self.graph, sums.words.shape[1], self.lean, "start")
        if not invariant_error(self.graph, sums, docs) < _TOLERANCE:
            raise InputError("start: a checkpoint of another corpus; its sums do not match these documents")


def initial_topics(executor: Executor, n_topics: int, seed: int, anchored: bool) -> Float32:
    """Return the initial p(topic | word), (W, K), up to a factor for each word.

    Args:
        executor: has the documents.
        n_topics: the number of topics, K.
        seed: of the random projection.
        anchored: topics around anchor words, plus a little noise; else all ones.
    """
    word_docs = executor.totals.word_docs
    if not anchored:
        return np.ones((len(word_docs), n_topics), dtype=np.float32)
    profiles = executor.profiles(n_topics, seed)
    return anchored_topics(profiles, word_docs, n_topics, executor.n_threads) + NOISE


def check_docs(docs: DocState, graph: FactorGraph, n_topics: int, lean: bool, where: str) -> None:
    """Raise `InputError` if a restored state has other sizes than a graph, or impossible numbers."""
    modes = {True: 'memory="lean"', False: 'memory="stored"'}
    if graph.n_edges and (len(docs.messages) == 0) != lean:
        raise InputError(
            f"{where}: was begun with {modes[not lean]}, this fit has {modes[lean]}; use the same"
        )
    sizes = (0 if lean else graph.n_edges, graph.n_docs, graph.n_slots)
    for name, array, n in zip(DocState._fields, docs, sizes, strict=True):
        check_array(array, (n, n_topics), np.float32, f"{where}: {name}")


def check_array(array: object, shape: tuple[int, ...], dtype: type, what: str) -> None:
    """Raise `InputError` unless something is a contiguous array of finite numbers, none below zero."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        expected = f"{np.dtype(dtype)} {shape}"
        raise InputError(f"{what} is {found}, expected {expected}: of another corpus or other parameters")
    if not array.flags.c_contiguous or (array.size and not (array.min() >= 0 and array.max() < np.inf)):
        raise InputError(f"{what} is damaged: it has negative or infinite numbers; start again without it")
