"""The example notebooks run, and show the output that they have stored."""

from __future__ import annotations

import importlib.util
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = runpy.run_path(str(ROOT / "scripts" / "update_docs.py"))
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


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a notebook."""
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)
    if not isinstance(value, dict | list):
        yield str(value)


@pytest.mark.compiled
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_it_computes(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["nbformat"] == 4
    shown, printed = ("\n".join(_texts(notebook)) for notebook in (stored, runner().executed(stored)))
    assert DOCS["matches"](shown, printed), "run scripts/update_notebooks.py"
    assert "<script" not in path.read_text(encoding="utf-8")
