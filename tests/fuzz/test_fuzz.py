"""Changed files, hostile models and requests: read or refused in one line, within seconds and 2 GB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FACTOR = int(os.environ.get("TAGTOPICS_FUZZ_FACTOR", "1"))
"""How many times as many cases as in the suite; `make fuzz` tries many."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


@pytest.mark.parametrize(
    ("campaign", "n"),
    [
        ("readers", 100),
        ("files", 80),
        ("side files", 50),
        ("models", 40),
        ("checkpoints", 20),
        ("model bits", 40),
        ("state bits", 40),
        ("requests", 100),
    ],
)
def test_nothing_crashes_hangs_or_fills_the_memory(campaign: str, n: int, tmp_path: Path) -> None:
    environment = os.environ | {"TAGTOPICS_FUZZ_KEEP": str(tmp_path / "bad")}
    program = [sys.executable, str(HERE / "fuzz_support.py"), campaign, str(n * FACTOR)]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["bad"] == [], found
    assert found["endings"].get("read", 0) > 0 or campaign.endswith("bits")
    assert found["endings"].get("refused", 0) > 0
