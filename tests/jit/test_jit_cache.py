"""Kernels loaded from disk give the same bits as kernels just compiled, for the cache or in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import tagtopics
from tagtopics.jit.compiling import _KERNELS

PACKAGE = Path(tagtopics.__file__).parent

FOLD_IN = """
import hashlib
import numpy as np
import scipy.sparse as sp
from tagtopics.bp.fold_in import infer_topics
random = np.random.default_rng(0)
phi, prior = random.dirichlet(np.ones(6), 50).astype(np.float32), np.full(6, 0.1, dtype=np.float32)
found = infer_topics(sp.csr_array(random.poisson(0.5, (40, 50)).astype(np.int32)), phi, prior)
print(hashlib.sha256(found.tobytes()).hexdigest())
"""

FIT = """
import hashlib
import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
corpus = make_tagged_corpus(n_docs=200, seed=0).corpus
model = tt.TTM(6, max_iter=3, preset=tt.Preset(init="random"), random_state=0, n_jobs=1).fit_topics(corpus)
print(hashlib.sha256(model.components_.tobytes()).hexdigest())
"""

TYPES = """
import inspect, sys
from pathlib import Path
import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from numba.core import types
from numba.core.dispatcher import Dispatcher
corpus = make_tagged_corpus(n_docs=60, n_words=80, n_topics=6, n_tags=10).corpus
model = tt.TTM(4, max_iter=3, random_state=0).fit(corpus)
model.explain(corpus)
model.recommend(corpus.counts)
def records(type_):
    if isinstance(type_, types.NamedTuple):
        yield type_.instance_class
    for part in getattr(type_, "types", ()):
        yield from records(part)
found = {
    record
    for name, module in list(sys.modules.items()) if name.startswith("tagtopics.")
    for value in vars(module).values() if isinstance(value, Dispatcher)
    for signature in value.signatures for argument in signature for record in records(argument)
}
package = Path(tt.__file__).parent
for record in found:
    print(record.__name__, Path(inspect.getfile(record)).relative_to(package).as_posix())
"""


def run_in_a_process(code: str, cache: Path | str, **variables: str) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | variables
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


class Compiled(NamedTuple):
    """A program whose kernels have been compiled into a cache, and the digest that it printed."""

    code: str
    cache: Path
    printed: str


@pytest.fixture(
    scope="module",
    params=[pytest.param(FOLD_IN, id="fold in"), pytest.param(FIT, id="fit", marks=pytest.mark.slow)],
)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    cache = tmp_path_factory.mktemp("cache")
    return Compiled(request.param, cache, run_in_a_process(request.param, cache))


@pytest.mark.compiled
def test_compiled_and_cached_kernels_agree(compiled: Compiled) -> None:
    assert list(compiled.cache.glob("tagtopics-*/**/*.nbi"))
    assert run_in_a_process(compiled.code, compiled.cache) == compiled.printed


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files on this system")
def test_kernels_compiled_in_memory_agree(compiled: Compiled, tmp_path: Path) -> None:
    unsafe = tmp_path / "temporary"  # others could replace what is in it
    unsafe.mkdir()
    unsafe.chmod(0o777)
    in_memory = run_in_a_process(compiled.code, f"{os.devnull}/none", TMPDIR=str(unsafe))
    assert list(unsafe.iterdir()) == []
    assert in_memory == compiled.printed


@pytest.mark.compiled
def test_records_of_kernels_are_defined_in_files_that_name_the_cache() -> None:
    """Cached code refers to them by name, so a renamed one must lead to another folder."""
    run = subprocess.run([sys.executable, "-c", TYPES], capture_output=True, text=True, check=True)
    places = dict(line.split() for line in run.stdout.splitlines())
    assert "KernelDocuments" in places
    stamped = {path for pattern in _KERNELS for path in PACKAGE.glob(pattern)}
    assert {name: place for name, place in places.items() if PACKAGE / place not in stamped} == {}


def test_kernels_run_as_plain_python() -> None:
    code = FIT.replace("n_docs=200", "n_docs=5").replace("max_iter=3", "max_iter=1")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert printed.returncode == 0, printed.stderr
