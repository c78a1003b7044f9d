"""Versions: the release check finds disagreements, and the lock file fits pyproject.toml."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tagtopics import __version__ as VERSION  # noqa: N812

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELEASE = runpy.run_path(str(ROOT / "scripts" / "check_release.py"))
problems = RELEASE["problems"]
FILES = [RELEASE["SOURCE"], *RELEASE["COPIES"]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_files_name_one_version() -> None:
    assert problems(ROOT) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_another_version_is_found(tree: Path, name: str) -> None:
    path = tree / name
    path.write_text(path.read_text("utf-8").replace(VERSION, "9.9.9"), encoding="utf-8")
    assert problems(tree)


def test_a_release_needs_its_own_tag_and_a_date(tree: Path) -> None:
    path = tree / "CHANGELOG.md"
    text = re.sub(
        rf"^## +{re.escape(VERSION)} +- .*$",
        f"## {VERSION} - 2026-01-31",
        path.read_text("utf-8"),
        flags=re.M,
    )
    path.write_text(text, encoding="utf-8")
    assert problems(tree, f"v{VERSION}") == []
    assert problems(tree, "v9.9.9")
    path.write_text(text.replace("2026-01-31", "unreleased"), encoding="utf-8")
    assert problems(tree, f"v{VERSION}")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["lowest"], ["tests/corpus", "tests/models", "tests/cli"]),
        (["lowest", "--python", "3.13", "tests/a", "tests/b"], ["tests/a", "tests/b"]),
    ],
)
def test_the_arguments_that_make_passes(given: list[str], expected: list[str]) -> None:
    parse = runpy.run_path(str(ROOT / "scripts" / "check_bounds.py"))["parse"]
    assert parse(given).tests == expected


def test_lowest_versions_are_those_of_all_extras() -> None:
    install_commands = runpy.run_path(str(ROOT / "scripts" / "check_bounds.py"))["install_commands"]
    command = install_commands("lowest", Path("python"))[-1]
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"all"}
    assert command[command.index("--resolution") + 1] == "lowest-direct"
    assert set(command[command.index("--editable") + 1].strip(".[]").split(",")) == extras


def requirements() -> list[str]:
    """Every requirement of the project, its extras and its groups, as written."""
    project = PROJECT["project"]
    groups = [*project["optional-dependencies"].values(), *PROJECT["dependency-groups"].values()]
    return [
        line
        for group in [project["dependencies"], *groups]
        for line in group
        if isinstance(line, str)
        and line not in PROJECT["dependency-groups"]["bounds"]
        and not line.startswith("tagtopics[")
    ]


@pytest.mark.parametrize("requirement", sorted(set(requirements())))
def test_the_lock_file_pins_each_requirement(requirement: str) -> None:
    packaging = pytest.importorskip("packaging.requirements")
    needed = packaging.Requirement(requirement)
    pins = re.findall(rf"^{re.escape(needed.name)}==([^\s;\\]+)", LOCK, re.MULTILINE)
    assert pins, "run: make lock"
    assert all(pin in needed.specifier for pin in pins), "run: make lock"


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^-", LOCK, re.MULTILINE), (
        "options such as --index-url belong to a machine, not here"
    )
    pins = len(re.findall(r"^[\w.-]+==", LOCK, re.MULTILINE))
    assert pins == len(re.findall(r"^[\w.-]+==[^\n]*\\\n +--hash=sha256:", LOCK, re.MULTILINE))
