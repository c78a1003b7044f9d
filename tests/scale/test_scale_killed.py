"""Fits killed with SIGKILL at random moments end, resumed, with the bits of a fit never killed."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_support import as_shards, bits, in_child, small_corpus

from tagtopics import TTM
from tagtopics.bp.callbacks import Callback
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.shard_executor import remove_run

SWEEPS = 12
KILLS = 15


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small_corpus(200)


@pytest.fixture(scope="module")
def shards(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> ShardFolder:
    return as_shards(corpus, tmp_path_factory.mktemp("shards") / "s", 1000)


def ttm() -> TTM:
    return TTM(8, random_state=5, max_iter=SWEEPS, tol=0, n_jobs=2)


def killed_after(seconds: float, work: Callable[[], Any]) -> bool:
    """Do some work in a process of its own, and kill it after a while; tell whether it was done."""
    child = in_child(work)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFEXITED(status)


def test_a_fit_to_shards_killed_at_random(shards: ShardFolder, tmp_path: Path) -> None:
    fit_shards(ttm(), shards, tmp_path / "first")  # kernels are loaded now
    began = time.perf_counter()
    whole = fit_shards(ttm(), shards, tmp_path / "whole")
    lasts = time.perf_counter() - began
    rng = np.random.default_rng(0)
    work = tmp_path / "work"

    def fit_and_clear() -> None:
        fit_shards(ttm(), shards, work, resume=True)
        remove_run(work)

    kills = 0
    while kills < KILLS:
        kills += not killed_after(rng.uniform(0, lasts), fit_and_clear)
        if kills % 5 == 0:  # now to its end
            assert bits(fit_shards(ttm(), shards, work, resume=True)) == bits(whole)


def test_a_full_disk_keeps_the_last_sweep(shards: ShardFolder, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: in a child, so that it ends with it."""
    work = tmp_path / "work"
    whole = fit_shards(ttm(), shards, tmp_path / "whole")

    def starve() -> None:
        class Fill(Callback[Any]):
            def on_iteration(self, step: Any, state: Any) -> bool:
                if step.iteration == 4:
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
                return False

        with pytest.raises(InputError, match=r"cannot be written .*--resume"):
            fit_shards(ttm(), shards, work, callbacks=[Fill()])

    assert os.waitpid(in_child(starve), 0)[1] == 0
    assert not list(work.glob(".*.tmp"))
    assert bits(fit_shards(ttm(), shards, work, resume=True)) == bits(whole)


def test_a_removed_shard_keeps_the_last_sweep(corpus: Corpus, shards: ShardFolder, tmp_path: Path) -> None:
    import shutil

    folder, work = tmp_path / "copy", tmp_path / "work"
    shutil.copytree(shards.path, folder)
    whole = fit_shards(ttm(), folder, tmp_path / "whole")

    class Remove(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration == 3:
                (folder / "shard-00001.safetensors").rename(tmp_path / "aside")
            return False

    with pytest.raises(InputError, match=r"shard-00001\.safetensors: missing"):
        fit_shards(ttm(), folder, work, callbacks=[Remove()])
    (tmp_path / "aside").rename(folder / "shard-00001.safetensors")
    assert bits(fit_shards(ttm(), folder, work, resume=True)) == bits(whole)
