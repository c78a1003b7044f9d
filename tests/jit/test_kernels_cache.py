"""Kernels loaded from disk give the same bits as kernels just compiled; the cache is private."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tagtopics.jit import compiling

FIT = """
import hashlib
import tagtopics as tt
corpus = tt.make_tagged_corpus(n_docs=200, seed=0).corpus
model = tt.TTM(6, max_iter=3, preset=tt.Preset(init="random"), random_state=0, n_jobs=1).fit_topics(corpus)
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


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files on this system")
def test_the_default_folder_is_private_and_apart_from_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path / "data"))
    folder = Path(compiling._folder.__wrapped__(""))
    assert folder.parent == tmp_path / "tagtopics-kernels"
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    folder.parent.chmod(0o777)
    assert compiling._folder.__wrapped__("") == ""  # others could plant code there
