"""Long fits from the shell: killed and resumed, and on a Ray cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_running import FIT, arrays, run, shard_small


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    return shard_small(tmp_path)


def test_a_killed_fit_goes_on(shards: Path, tmp_path: Path) -> None:
    """The whole command, killed as the system kills, in processes of its own."""
    kept, sweeps = ["--checkpoint", tmp_path / "kept", "--resume"], 40
    many = ["fit", shards, "--topics", 3, "--tolerance", 0, "--seed", 3, "--iterations", sweeps]
    assert run(*many, "--out", tmp_path / "whole.tt").code == 0
    line = [sys.executable, "-c", "from tagtopics.cli import command; command()"]
    sign = tmp_path / "kept" / "checkpoint.safetensors"
    process = subprocess.Popen(
        [*line, *map(str, [*many, *kept, "--iterations", 10**6, "--out", tmp_path / "m.tt"])],
        stderr=subprocess.PIPE,
    )
    while not sign.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert sign.exists()
    assert not (tmp_path / "m.tt").exists()
    done = run(*many, *kept, "--out", tmp_path / "m.tt", "--json").json()
    if done["iterations"] == sweeps:  # else it had come further than that before it was killed
        assert arrays(tmp_path / "m.tt") == arrays(tmp_path / "whole.tt")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # old versions of Ray leave files open
def test_ray(shards: Path, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="no ray: --engine ray is not tested")
    try:
        engine = ("--engine", "ray", "--workers", 2)
        result = run("fit", shards, *FIT, *engine, "--out", tmp_path / "r.tt", "--json")
        assert result.json()["iterations"] == 8
    finally:
        ray.shutdown()
    assert run("fit", shards, *FIT, "--out", tmp_path / "m.tt").code == 0
    assert arrays(tmp_path / "r.tt") == arrays(tmp_path / "m.tt")
