"""The rules that can be checked by a program: imports point down, the public surface is small and light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tagtopics

SOURCE = Path(tagtopics.__file__).parent
LAYERS = [
    {"errors", "_typing", "_io", "_gzip", "_lazy", "_blas", "_html"},
    {"graph"},
    {"kernels"},
    {"corpus"},
    {"datasets"},
    {"inference"},
    {"evidence", "recommend"},
    {"models"},
    {"baselines"},
    {"scale"},
    {"analysis"},
    {"views"},
    {"tasks"},
    {"experiments"},
    {"explore"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports anywhere in a file."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path: Path) -> set[str]:
    """Return the parts of tagtopics that a file imports anywhere in it."""
    names: set[str] = set()
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
            if node.module == "tagtopics":
                modules = [f"tagtopics.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        names.update(module.split(".")[1] for module in modules if module.startswith("tagtopics."))
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    upward = {name for name in imported(path) if name in LEVEL and LEVEL[name] > LEVEL[home]}
    assert upward == set()
    assert imported(path) <= set(LEVEL) | {"__version__"}


def modules_of(path: Path) -> set[str]:
    """Return the modules of tagtopics that a file imports anywhere in it."""
    found: set[str] = set()
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tagtopics"):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def test_specifications_and_production_code_are_independent() -> None:
    """References import no compiled code, and nothing but tests imports references."""
    compiled = ("loops", "compiled", "compiling", "threads")
    for path in FILES:
        names = [name for module in modules_of(path) for name in module.split(".")]
        if "reference" in path.stem:
            wrong = [name for name in names if name.endswith(compiled)]
        else:
            wrong = [name for name in names if name.endswith("reference")]
        assert wrong == [], path


def body_length(function: ast.FunctionDef) -> int:
    """Return the lines of a function without its signature and docstring."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def test_functions_are_short() -> None:
    long = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and body_length(node) > 60
    ]
    assert long == []


def test_files_are_short() -> None:
    assert [path.name for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > 450] == []


def test_explore_sees_no_model() -> None:
    for path in (SOURCE / "explore").rglob("*.py"):
        allowed = {"explore", "views", "kernels", "errors", "_io", "_gzip", "_typing", "_blas", "__version__"}
        assert imported(path) <= allowed, path


def test_only_scale_imports_ray() -> None:
    for path in FILES:
        if "scale" not in path.relative_to(SOURCE).parts:
            for node in import_statements(path):
                if isinstance(node, ast.Import):
                    assert not any(alias.name.split(".")[0] == "ray" for alias in node.names), path
                if isinstance(node, ast.ImportFrom):
                    assert (node.module or "").split(".")[0] != "ray", path


def test_public_names_exist_and_are_sorted() -> None:
    names = tagtopics.__all__
    assert names == sorted(names, key=lambda name: (name != name.upper(), name[0].islower(), name))
    assert set(names) == {*tagtopics._HOMES, "load"}
    for name in names:
        assert getattr(tagtopics, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tagtopics.nothing


def test_the_import_is_light() -> None:
    code = "import sys, tagtopics, tagtopics.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "polars",
        "pandas",
        "ray",
        "fastapi",
        "PIL",
        "matplotlib",
        "plotly",
    }
    assert heavy & set(loaded) == set()


def test_version_agrees() -> None:
    from importlib.metadata import version

    assert version("tagtopics") == tagtopics.__version__
