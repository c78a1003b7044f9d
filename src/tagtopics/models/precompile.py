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
from tagtopics._typing import CSR, Float32
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.graph import Belief, CorpusSums, DocState, Priors, build_graph
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.jit.compiling import has_compiled, is_compiling
from tagtopics.jit.threads import current_threads
from tagtopics.recommend.recommender import fit_recommender
from tagtopics.tag_prior.inference import TagPrior
from tagtopics.tag_prior.learn import PilotTopics, learn_settings
from tagtopics.tag_prior.prior import Profiles, pairs_of

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
    while _processes:
        _processes.pop().wait()


def compile_groups(names: Sequence[str]) -> None:
    """Compile groups of kernels in this process: use them for a few documents and three topics."""
    counts = sp.csr_array(np.arange(1, 61, dtype=np.int32).reshape(6, 10) % 4)
    tags = sp.csr_array((np.arange(24).reshape(6, 4) % 3 == 0).astype(np.int8))
    for name in names:
        GROUPS[name](counts, tags)


def _is_python() -> bool:
    """Tell whether this is a plain interpreter, not a program or a server that contains one."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


_PRIORS = Priors(np.full(3, 1 / 3, dtype=np.float32), 0.01, relaxation=1.0)


def _starts(counts: CSR, tags: CSR) -> None:
    """Find anchor words and draw the first messages."""
    BeliefPropagation(MemoryExecutor(build_graph(counts, tags)), _PRIORS, 0).init()


def _sweeps(counts: CSR, tags: CSR) -> None:
    """Sweep twice from equal messages, and infer the topics of documents."""
    graph, third = build_graph(counts, tags), np.float32(1 / 3)
    sums = CorpusSums.zeros(counts.shape[1], tags.shape[1], 3)
    sums.words[:] = third * counts.sum(0)[:, np.newaxis]
    messages = np.repeat(third * graph.edge_count[:, np.newaxis], 3, axis=1)
    doc_sums = np.repeat(third * counts.sum(1, dtype=np.float32)[:, np.newaxis], 3, axis=1)
    docs = DocState(messages, doc_sums, np.full((graph.n_slots, 3), third))
    belief = Belief(0, sums, sums.words[:0].astype(np.float32), _PRIORS, docs)
    algorithm = BeliefPropagation(MemoryExecutor(graph), _PRIORS, 0)
    for _ in range(2):
        belief, _change = algorithm.step(belief)
    infer_topics(counts, _equal(counts.shape[1], 3), _PRIORS.doc_topic)


def _tags(counts: CSR, tags: CSR) -> None:
    """Learn strengths and words of tags, and credit words to tags."""
    (D, W), T = counts.shape, tags.shape[1]
    profiles = Profiles(np.full(3, 1 / 3), _equal(T, 3), np.full(T, 2.0), np.zeros(T, dtype=np.int64), 1)
    pilot = PilotTopics(counts, tags, _equal(D, 3), _equal(W, 3), profiles)
    settings, _, words = learn_settings(pilot, counts, tags, 0)
    pairs = pairs_of(words, np.full(T, settings.shrinkage))
    TagPrior(pilot.phi, profiles, settings, words, pairs, (1.0,)).credit(counts, tags)


def _recommender(counts: CSR, tags: CSR) -> None:
    """Train a recommender."""
    fit_recommender(counts, tags, _equal(counts.shape[0], 3), ("a", "b", "c", "d"))


def _equal(*shape: int) -> Float32:
    return np.full(shape, 1 / shape[0], dtype=np.float32)


# Two processes take every other group: about equal times.
GROUPS: dict[str, Callable[[CSR, CSR], None]] = {
    "starts": _starts, "sweeps": _sweeps, "tags": _tags, "recommender": _recommender,
}  # fmt: skip
