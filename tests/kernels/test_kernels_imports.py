"""Specifications import nothing compiled, and production code imports no specification."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import tagtopics

SOURCE = Path(tagtopics.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def modules_of(path: Path) -> set[str]:
    """Return the modules of tagtopics that a file imports, `from package import module` included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("tagtopics.")}


def is_reference(name: str) -> bool:
    return name.rsplit(".", 1)[-1].endswith("reference")


def is_compiled(name: str) -> bool:
    path = SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py")
    if not path.is_file():
        return False
    return name.endswith(".compiling") or "tagtopics.kernels.compiling" in modules_of(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_references_and_production_are_apart(path: Path) -> None:
    imported = modules_of(path)
    if is_reference(path.stem):
        assert not {name for name in imported if is_compiled(name)}
    else:
        assert not {name for name in imported if is_reference(name)}
