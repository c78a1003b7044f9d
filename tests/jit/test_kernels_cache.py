"""Kernels loaded from disk give the same bits as kernels just compiled, for the cache or in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIT = """
import hashlib
import tagtopics as tt
corpus = tt.make_tagged_corpus(n_docs=200, seed=0).corpus
model = tt.TTM(6, max_iter=3, preset=tt.Preset(init="random"), random_state=0, n_jobs=1).fit_topics(corpus)
print(hashlib.sha256(model.components_.tobytes()).hexdigest())
"""


def fit_in_a_process(cache: Path | str, **variables: str) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | variables
    command = [sys.executable, "-c", FIT]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.compiled
def test_compiled_and_cached_kernels_agree(tmp_path: Path) -> None:
    compiled = fit_in_a_process(tmp_path)
    assert list(tmp_path.glob("tagtopics-*/**/*.nbi"))
    assert fit_in_a_process(tmp_path) == compiled


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files on this system")
def test_kernels_compiled_in_memory_agree(tmp_path: Path) -> None:
    unsafe = tmp_path / "temporary"  # others could replace what is in it
    unsafe.mkdir()
    unsafe.chmod(0o777)
    in_memory = fit_in_a_process(f"{os.devnull}/none", TMPDIR=str(unsafe))
    assert list(unsafe.iterdir()) == []
    assert fit_in_a_process(tmp_path / "cache") == in_memory
