"""The example notebooks run, and show the output that they have stored."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def runner() -> Any:
    spec = importlib.util.spec_from_file_location(
        "update_notebooks", ROOT / "scripts" / "update_notebooks.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


def _rounded(notebook: Any) -> str:
    """Return JSON with six digits of each number: other versions of numba differ in the eighth."""
    return re.sub(r"\d\.\d{7,}", lambda found: found[0][:8], json.dumps(notebook))


@pytest.mark.compiled
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_it_computes(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["nbformat"] == 4
    assert _rounded(runner().executed(stored)) == _rounded(stored)
    assert "<script" not in path.read_text(encoding="utf-8")
