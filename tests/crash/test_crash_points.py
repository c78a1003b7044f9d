"""Writers that are killed, or whose disk fails, at every system call: the old state or the new is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MOST = int(os.environ.get("TAGTOPICS_CRASH_POINTS", "12"))
"""Crash points that are tried for each writer; `make crash` tries all."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", library, HERE / "shim.c", "-ldl"], check=True
    )
    return library


@pytest.mark.parametrize("writer", ["save", "update", "checkpoint", "shard", "report"])
def test_every_crash_leaves_the_old_or_the_new(writer: str, shim: Path) -> None:
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no waiting for the disk
    with tempfile.TemporaryDirectory(dir=in_memory) as place:
        program = [sys.executable, str(HERE / "crash_support.py"), writer, f"{place}/work", str(MOST)]
        environment = os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": str(HERE.parents[1])}
        done = subprocess.run(program, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["tried"] >= min(3 * found["calls"], MOST // 2) > 0
    assert found["wrong"] == []
