"""Compile the kernels of a fit in several processes, once after an installation.

numba compiles one function at a time, whatever the number of cores. The first fit therefore starts processes
that compile a part of the kernels each; they put the machine code into the cache, where the fit finds it.
They start from what comes with a wheel (`shipped`), or from source: then each compiles one group of kernels
or several.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics._processes import start_python
from tagtopics.bp import anchors, fold, sweep
from tagtopics.bp.graph import CorpusSums, DocState, FactorGraph, Priors, build_graph
from tagtopics.jit import shipped
from tagtopics.jit.compiling import has_compiled, is_compiling
from tagtopics.jit.threads import resolve_threads
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.tag_prior import tag_word_loops as tag_words
from tagtopics.tag_prior.mixture_loops import Pairs

_TOPICS = 3
_SECONDS = {"sweeps": 9.2, "starts": 6.1, "tag words": 4.9, "mixtures": 2.4}
"""Processor seconds that it takes to compile each group, to divide them among processes."""

_processes: list[subprocess.Popen[str]] = []


def begin() -> bool:
    """Start to compile in the background, if nothing is compiled yet; return whether that is going on."""
    n = min(resolve_threads(None), len(GROUPS))
    if not _processes and is_compiling() and not has_compiled() and _is_python():
        with contextlib.suppress(OSError):  # no further process is allowed here
            for i in range(n if n > 1 or shipped.has_shipped() else 0):
                _processes.append(_started(i, n))
    return bool(_processes)


def finish() -> None:
    """Wait until all is compiled. What a process failed to compile is compiled on first use."""
    begin()
    while _processes:
        _processes.pop().wait()


def compile_part(i: int, n: int) -> None:
    """Compile part i of n in this process."""
    gc.disable()  # nothing that is compiled is ever released
    if shipped.has_shipped():
        shipped.install(i, n)
    else:
        compile_groups(*_groups(n)[i])


def compile_groups(*names: str) -> None:
    """Compile the kernels of groups in this process."""
    for name in names:
        GROUPS[name](_sample())


def _groups(n: int) -> list[list[str]]:
    """Return the groups for each of n processes."""
    return shipped.shares(list(GROUPS), [_SECONDS[name] for name in GROUPS], n)


def _is_python() -> bool:
    """Tell whether this is a plain interpreter, not a program or a server that contains one."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _started(i: int, n: int) -> subprocess.Popen[str]:
    code = f"from tagtopics.models import precompile; precompile.compile_part({i}, {n})"
    quiet = subprocess.DEVNULL
    return start_python(code, stdin=quiet, stdout=quiet, stderr=quiet)


def _sample() -> FactorGraph:
    """Return a few documents, as the graph of a corpus has them: kernels are compiled for its types."""
    counts = sp.csr_array(np.arange(1, 61, dtype=np.int32).reshape(6, 10) % 4)
    tags = sp.csr_array((np.arange(24).reshape(6, 4) % 3 == 0).astype(np.int8))
    return build_graph(counts, tags)


def _sweeps(graph: FactorGraph) -> None:
    """Do two sweeps: the second one has sums of the first to move away from."""
    docs, sums = _state(graph), _sums(graph)
    priors = Priors(np.full(_TOPICS, 0.1, dtype=np.float32), 0.01, relaxation=1.0)
    previous = np.empty((0, _TOPICS), dtype=np.float32)
    for _ in range(2):
        given = sweep.sweep_input(sums, graph.totals.tag_docs, previous, priors, False, 1)
        sums.clear()
        sweep.sweep(graph, docs, given, priors, False, 1, sums)
        previous = given.words.sums


def _starts(graph: FactorGraph) -> None:
    profiles = anchors.no_profiles(graph.n_words, _TOPICS)
    anchors.add_profiles(graph, 0, 1, profiles)
    topics = anchors.anchored_topics(profiles, graph.totals.word_docs, _TOPICS, 1)
    sweep.start(graph, topics, 0, False, 1, _sums(graph))
    phi = np.ascontiguousarray(topics / topics.sum(0))
    fold.fold_in(graph, phi, np.full((graph.n_docs, _TOPICS), 0.1, dtype=np.float32), 2, 1e-3, 1)


def _tag_words(graph: FactorGraph) -> None:
    """Learn the words of tags."""
    T, phi = graph.n_tags, np.full((graph.n_words, _TOPICS), 0.1, dtype=np.float32)
    profiles = np.full((T, _TOPICS), 1 / _TOPICS, dtype=np.float32)
    offsets, words = tag_words.words_of_tags(graph, 1)
    zeros, ones = np.zeros(len(words), dtype=np.float32), np.ones(T, dtype=np.float32)
    predicted = tag_words.pair_predictions(offsets, words, profiles, phi, 1)
    pairs = Pairs(offsets, words, zeros, predicted, np.zeros(T, dtype=np.float32), ones)
    doc_sums = np.ones((graph.n_docs, _TOPICS), dtype=np.float32)
    topics = tag_words.topic_probabilities(graph, phi, doc_sums, doc_sums[0], 1)
    numbers = tag_words.claim_pairs(graph, offsets, words, 1)
    shares = np.zeros(len(numbers), dtype=np.float32)
    slot_prior = np.ones(graph.n_slots, dtype=np.float32)
    tag_words.share_claims(graph, numbers, pairs, topics, 1.0, slot_prior, shares, 1, 1)
    tag_words.collect_claims(graph, numbers, pairs, shares, 1)


def _mixtures(graph: FactorGraph) -> None:
    phi = np.full((graph.n_words, _TOPICS), 0.1, dtype=np.float32)
    profiles = np.full((graph.n_tags, _TOPICS), 1 / _TOPICS, dtype=np.float32)
    offsets, words = np.zeros(graph.n_tags + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    ones, nothing = np.ones(graph.n_tags, dtype=np.float32), np.empty(0, dtype=np.float32)
    pairs = Pairs(offsets, words, nothing, nothing, ones, ones)
    said = mixture.claim_probabilities(graph, pairs, profiles, phi, 1)
    prior, slot_prior = np.ones((graph.n_docs, _TOPICS), np.float32), np.ones(graph.n_slots, np.float32)
    topics, weights = mixture.fold_in_mixture(graph, phi, said, prior, slot_prior, 1, 1e-2, 1)
    mixture.credit_claims(graph, phi, said, topics, weights, profiles, 1)
    mixture.expected_tokens(np.zeros(1, dtype=np.int64), graph.edge_word[:1], topics, phi, 1)


def _state(graph: FactorGraph) -> DocState:
    shares = np.full(_TOPICS, 1 / _TOPICS, dtype=np.float32)
    messages = graph.edge_count[:, np.newaxis] * shares
    slot_means = np.full((graph.n_slots, _TOPICS), 1 / _TOPICS, dtype=np.float32)
    return DocState(messages, np.ones((graph.n_docs, _TOPICS), dtype=np.float32), slot_means)


def _sums(graph: FactorGraph) -> CorpusSums:
    return CorpusSums.zeros(graph.n_words, graph.n_tags, _TOPICS)


GROUPS: dict[str, Callable[[FactorGraph], None]] = {
    "sweeps": _sweeps,
    "starts": _starts,
    "tag words": _tag_words,
    "mixtures": _mixtures,
}
