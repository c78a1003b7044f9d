"""The rules that can be checked by a program: imports point down, the public surface is small and light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import tagtopics

SOURCE = Path(tagtopics.__file__).parent
LAYERS = [
    {"errors", "_typing", "files", "_lazy", "_blas", "_html", "_processes"},
    {"jit"},
    {"corpus"},
    {"bp"},
    {"tag_prior", "recommend"},
    {"models"},
    {"evaluation"},
    {"readers"},
    {"subjects", "images", "scale"},
    {"datasets", "baselines", "curation"},
    {"analysis"},
    {"explore"},
    {"cli"},
]
COMMAND_FILES = {"commands"}
"""The command-line side of the layers, which may import `cli`."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


class Facts(NamedTuple):
    """What the rules are about in a file."""

    imports: list[ast.Import | ast.ImportFrom]  # anywhere in it
    long: list[str]  # functions of more than 60 lines


@cache
def facts(path: Path) -> Facts:
    """Return the facts of a file, which is parsed once."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and body_length(node) > 60]
    return Facts(
        [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        [f"{path.name}:{node.lineno} {node.name}" for node in functions],
    )


def imported(path: Path) -> set[str]:
    """Return the parts of tagtopics that a file imports anywhere in it."""
    names: set[str] = set()
    for node in facts(path).imports:
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


def test_imports_point_down() -> None:
    for path in FILES:
        home = "cli" if path.stem in COMMAND_FILES else path.relative_to(SOURCE).parts[0].removesuffix(".py")
        upward = {name for name in imported(path) if name in LEVEL and LEVEL[name] > LEVEL[home]}
        assert upward == set(), path
        assert imported(path) <= set(LEVEL) | {"__version__"}, path


NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_field_defaults", "_make"}


def defined(tree: ast.AST) -> set[str]:
    """Return all names that a file gives to functions, classes, variables and attributes."""
    nodes = list(ast.walk(tree))
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    names |= {node.id for node in stored if isinstance(node, ast.Name)}
    return names | {node.attr for node in stored if isinstance(node, ast.Attribute)}


def private_uses(tree: ast.AST) -> set[str]:
    """Return the private names that a file uses of other objects and imports of other modules."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module != "tagtopics":
            found |= {alias.name for alias in node.names}
    private = {name for name in found if name.startswith("_") and not name.startswith("__")}
    return private - NAMED_TUPLES


def test_no_private_member_is_used_across_folders() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    for path, tree in trees.items():
        own = set().union(*(defined(other) for place, other in trees.items() if place.parent == path.parent))
        assert private_uses(tree) - own == set(), path


def modules_of(path: Path) -> set[str]:
    """Return the modules of tagtopics that a file imports, `from package import module` included."""
    found: set[str] = set()
    for node in facts(path).imports:
        names = {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names = {node.module or "", *(f"{node.module}.{name}" for name in names)}
        found |= names
    return {name for name in found if name.startswith("tagtopics.")}


def is_compiled(name: str) -> bool:
    """Return whether a module has compiled code."""
    path = SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py")
    if not path.is_file():
        return False
    return name.endswith(".compiling") or "tagtopics.jit.compiling" in modules_of(path)


def test_specifications_and_production_code_are_independent() -> None:
    """References import no compiled code, and nothing but tests imports references."""
    compiled = ("loops", "compiled", "compiling", "threads")
    for path in [*FILES, *Path(__file__).parent.rglob("*_reference.py")]:
        if path.stem.endswith("reference"):
            wrong = [name for name in modules_of(path) if is_compiled(name) or name.endswith(compiled)]
        else:
            wrong = [name for name in modules_of(path) if name.endswith("reference")]
        assert wrong == [], path


def body_length(function: ast.FunctionDef) -> int:
    """Return the lines of a function without its signature and docstring."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def test_functions_are_short() -> None:
    assert [name for path in FILES for name in facts(path).long] == []


def test_files_are_short() -> None:
    assert [path.name for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > 450] == []


def test_pages_see_no_model() -> None:
    for folder in ("map", "report"):
        for path in (SOURCE / "explore" / folder).rglob("*.py"):
            assert imported(path) & {"models", "recommend", "tag_prior", "bp"} == set(), path


def test_only_scale_imports_ray() -> None:
    for path in FILES:
        if "scale" not in path.relative_to(SOURCE).parts:
            for node in facts(path).imports:
                if isinstance(node, ast.Import):
                    assert not any(alias.name.split(".")[0] == "ray" for alias in node.names), path
                if isinstance(node, ast.ImportFrom):
                    assert (node.module or "").split(".")[0] != "ray", path


def test_public_names_exist_and_are_sorted() -> None:
    names = tagtopics.__all__
    assert names == sorted(names, key=lambda name: (name != name.upper(), name[0].islower(), name))
    assert len(names) <= 20
    assert set(names) <= {name for home in tagtopics._HOMES.values() for name in home} | {"load"}
    for name in {*names, *tagtopics.LAYER_NAMES}:
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
    }
    assert heavy & set(loaded) == set()
