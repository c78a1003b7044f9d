"""Changed files, hostile models and requests: read or refused in one line, within seconds and 2 GB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FACTOR = int(os.environ.get("TAGTOPICS_FUZZ_FACTOR", "1"))
"""How many times as many cases as in the suite; `make fuzz` tries many."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


CASES = {
    "readers": 30,
    "files": 30,
    "side files": 20,
    "models": 16,
    "model arrays": 10,
    "checkpoints": 10,
    "model bits": 16,
    "state bits": 16,
    "requests": 40,
}


@pytest.fixture(scope="module", params=[1, pytest.param(3, marks=pytest.mark.slow)], ids=["few", "more"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the campaigns found that tests ask for: one process tries them all, to import and prepare once."""
    here = [item for item in request.session.items if item.path == request.path]
    asked = {item.callspec.params["campaign"] for item in here if isinstance(item, pytest.Function)}
    chosen = [name for name in CASES if name in asked]
    own = (str(HERE.parents[1]), str(HERE.parent))  # for the generator of corpora, and for `forked_readers`
    paths = os.pathsep.join(filter(None, (*own, os.environ.get("PYTHONPATH"))))
    kept = str(tmp_path_factory.mktemp("bad"))
    environment = os.environ | {"PYTHONPATH": paths, "TAGTOPICS_FUZZ_KEEP": kept}
    program = [sys.executable, str(HERE / "fuzz_support.py")]
    program += [word for name in chosen for word in (name, str(CASES[name] * FACTOR * request.param))]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    campaigns: dict[str, Any] = json.loads(done.stdout)
    return campaigns


@pytest.mark.parametrize("campaign", CASES)
def test_nothing_crashes_hangs_or_fills_the_memory(campaign: str, found: dict[str, Any]) -> None:
    ended = found[campaign]
    assert ended["bad"] == [], ended
    assert ended["endings"].get("read", 0) > 0 or campaign.endswith("bits")
    assert ended["endings"].get("refused", 0) > 0
