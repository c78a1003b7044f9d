"""Compile the kernels of a fit in several processes, once after an installation.

numba compiles one function at a time, whatever the number of cores. The first fit therefore starts a process
for each group of kernels; they put the machine code into the cache, where the fit finds it.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics._processes import start_python
from tagtopics._typing import Float32
from tagtopics.bp import anchors, fold, sweep
from tagtopics.bp.graph import CorpusSums, DocState, FactorGraph, Priors, build_graph
from tagtopics.jit.compiling import has_compiled, is_compiling
from tagtopics.jit.threads import current_threads
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.tag_prior import tag_word_loops as tag_words
from tagtopics.tag_prior.mixture_loops import Pairs

_processes: list[subprocess.Popen[str]] = []


def begin() -> bool:
    """Start to compile in the background, if nothing is compiled yet; return whether that is going on."""
    n, names = min(current_threads(), len(GROUPS)), list(GROUPS)
    if n > 1 and not _processes and is_compiling() and not has_compiled() and _is_python():
        quiet = subprocess.DEVNULL
        with contextlib.suppress(OSError):  # no further process is allowed here
            for i in range(n):
                code = (
                    f"from tagtopics.models.precompile import compile_groups; compile_groups({names[i::n]})"
                )
                _processes.append(start_python(code, stdin=quiet, stdout=quiet, stderr=quiet))
    return bool(_processes)


def finish() -> None:
    """Wait until all is compiled. What a process failed to compile is compiled on first use."""
    begin()
    while _processes:
        _processes.pop().wait()


def compile_groups(names: Sequence[str]) -> None:
    """Compile groups of kernels in this process: call them with a few documents and three topics."""
    counts = sp.csr_array(np.arange(1, 61, dtype=np.int32).reshape(6, 10) % 4)
    tags = sp.csr_array((np.arange(24).reshape(6, 4) % 3 == 0).astype(np.int8))
    for name in names:
        GROUPS[name](build_graph(counts, tags), 3)


def _is_python() -> bool:
    """Tell whether this is a plain interpreter, not a program or a server that contains one."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _sweeps(graph: FactorGraph, K: int) -> None:
    sums, shares = CorpusSums.zeros(graph.n_words, graph.n_tags, K), np.full(K, 1 / K, dtype=np.float32)
    messages = graph.edge_count[:, np.newaxis] * shares
    docs = DocState(messages, _ones(graph.n_docs, K), _ones(graph.n_slots, K))
    priors, previous = Priors(0.1 * _ones(K), 0.01, relaxation=1.0), _ones(0, K)
    for _ in range(2):  # the second one has sums of the first to move away from
        given = sweep.sweep_input(sums, graph.totals.tag_docs, previous, priors, False)
        sums.clear()
        sweep.sweep(graph, docs, given, priors, False, sums)
        previous = given.words.sums


def _starts(graph: FactorGraph, K: int) -> None:
    profiles = anchors.no_profiles(graph.n_words, K)
    anchors.add_profiles(graph, 0, profiles)
    topics = anchors.anchored_topics(profiles, graph.totals.word_docs, K)
    sweep.start(graph, topics, 0, False, CorpusSums.zeros(graph.n_words, graph.n_tags, K))
    fold.fold_in(graph, np.ascontiguousarray(topics / topics.sum(0)), _ones(graph.n_docs, K), 2, 1e-3)


def _tag_words(graph: FactorGraph, K: int) -> None:
    T, phi = graph.n_tags, _ones(graph.n_words, K)
    offsets, words = tag_words.words_of_tags(graph)
    predicted = tag_words.pair_predictions(offsets, words, _ones(T, K), phi)
    pairs = Pairs(offsets, words, _ones(len(words)), predicted, _ones(T), _ones(T))
    topics = tag_words.topic_probabilities(graph, phi, _ones(graph.n_docs, K), _ones(K))
    numbers = tag_words.claim_pairs(graph, offsets, words)
    shares = _ones(len(numbers))
    tag_words.share_claims(graph, numbers, pairs, topics, 1.0, _ones(graph.n_slots), shares, 1)
    tag_words.collect_claims(graph, numbers, pairs, shares)


def _mixtures(graph: FactorGraph, K: int) -> None:
    T, phi = graph.n_tags, _ones(graph.n_words, K)
    offsets, words = np.zeros(T + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    pairs = Pairs(offsets, words, _ones(0), _ones(0), _ones(T), _ones(T))
    said = mixture.claim_probabilities(graph, pairs, _ones(T, K), phi)
    priors = _ones(graph.n_docs, K), _ones(graph.n_slots)
    topics, weights = mixture.fold_in_mixture(graph, phi, said, *priors, 1, 1e-2)
    mixture.credit_claims(graph, phi, said, topics, weights, _ones(T, K))
    mixture.expected_tokens(np.zeros(1, dtype=np.int64), graph.edge_word[:1], topics, phi)


def _ones(*shape: int) -> Float32:
    return np.ones(shape, dtype=np.float32)


GROUPS: dict[str, Callable[[FactorGraph, int], None]] = {
    "sweeps": _sweeps,
    "starts": _starts,
    "mixtures": _mixtures,
    "tag words": _tag_words,
}
"""In an order in which every second group takes about half of the time."""
