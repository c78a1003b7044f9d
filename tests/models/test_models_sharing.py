"""One model, several processes: containers that save to one folder, and edits at the same time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECONDS = os.environ.get("TAGTOPICS_WRITER_SECONDS", "2")
"""How long the processes share a model, at least; `make crash` takes 60 seconds."""

CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]


@pytest.fixture
def container() -> list[str]:
    """The start of a command line that runs in its own PID namespace."""
    works = (
        shutil.which("unshare") and subprocess.run([*CONTAINER, "true"], capture_output=True).returncode == 0
    )
    if not works:
        pytest.skip("no PID namespaces: needs Linux, unshare and root")
    return CONTAINER


@pytest.mark.slow
def test_a_container_and_its_host_share_a_model(container: list[str], tmp_path: Path) -> None:
    """Neither sees the processes of the other, so neither can tell by a PID what the other is writing."""
    program = [sys.executable, str(HERE / "sharing_support.py"), str(tmp_path)]
    running = [
        subprocess.Popen([*start, *program, seed, SECONDS], stdout=subprocess.PIPE, text=True)
        for start, seed in (([], "1"), (container, "2"))
    ]
    host, guest = (json.loads(process.communicate()[0]) for process in running)
    assert host["failures"] + guest["failures"] == []
    assert host["namespace"] != guest["namespace"]
    assert host["seeds"] == guest["seeds"] == [1, 2]
    assert min(host["saves"], guest["saves"]) > 5
    assert sorted(place.name for place in tmp_path.iterdir()) == ["m.tt", "ready-1", "ready-2"]
