"""Kernels found on disk give the same bits as kernels just compiled."""

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
model = tt.TTM(6, max_iter=3, preset=tt.Preset(init="random"), random_state=0, n_jobs=1).fit(corpus)
print(hashlib.sha256(model.components_.tobytes()).hexdigest())
"""


def fit_in_a_process(cache: Path) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", FIT]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.compiled
def test_compiled_and_cached_kernels_agree(tmp_path: Path) -> None:
    compiled = fit_in_a_process(tmp_path)
    assert list(tmp_path.glob("tagtopics-*/**/*.nbi"))
    assert fit_in_a_process(tmp_path) == compiled
