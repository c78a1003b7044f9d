"""The files of GitHub, Read the Docs and conda: valid, and every command in a workflow is a make target."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed: pip install --group package")

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(" ".join(re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE)).split())
VARIABLES = set(re.findall(r"^(\w+) *\?=", MAKEFILE, re.MULTILINE))

SCHEMAS = [
    *((path, "vendor.github-workflows") for path in WORKFLOWS),
    *((path, "vendor.github-issue-forms") for path in FORMS),
    (GITHUB / "ISSUE_TEMPLATE" / "config.yml", "vendor.github-issue-config"),
    (GITHUB / "dependabot.yml", "vendor.dependabot"),
    (ROOT / ".readthedocs.yaml", "vendor.readthedocs"),
    (ROOT / "CITATION.cff", "vendor.citation-file-format"),
]


def name(value: object) -> str | None:
    return value.name if isinstance(value, Path) else None


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load(path)["jobs"]
    return found


def combinations(job: dict[str, Any]) -> list[dict[str, str]]:
    """Return the combinations of a job's matrix; one empty one without a matrix."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    included: list[dict[str, str]] = matrix.pop("include", [])
    found: list[dict[str, str]] = [{}] if matrix else []
    for key, values in matrix.items():
        found = [{**combination, key: value} for combination in found for value in values]
    return [*found, *included] or [{}]


def commands(path: Path) -> Iterator[str]:
    """Yield each command of a workflow, with the values of the matrix filled in."""
    for job in jobs(path).values():
        for step in job["steps"]:
            for combination in combinations(job) if "run" in step else []:
                command = step["run"]
                for key, value in combination.items():
                    command = command.replace(f"${{{{ matrix.{key} }}}}", value)
                yield from command.strip().splitlines()


def test_there_are_three_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["nightly", "release", "test"]
    assert FORMS


@pytest.mark.parametrize(("path", "schema"), SCHEMAS, ids=name)
def test_files_follow_their_schema(path: Path, schema: str) -> None:
    pytest.importorskip(
        "check_jsonschema", reason="check-jsonschema is not installed: pip install --group package"
    )
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_each_command_is_a_make_target(path: Path) -> None:
    found = list(commands(path))
    assert found or path.stem == "none"
    for command in found:
        make, *words = shlex.split(command)
        assert make == "make", command
        settings = {word.partition("=")[0] for word in words if "=" in word}
        targets = [word for word in words if "=" not in word]
        assert targets, command
        assert set(targets) <= TARGETS, command
        assert settings <= VARIABLES, command


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_no_expression_of_the_event_is_part_of_a_command(path: Path) -> None:
    """A branch or tag may be named like a command; only values of the matrix are written into one."""
    assert [command for command in commands(path) if "${{" in command] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_permissions_and_times_are_small(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    for title, job in jobs(path).items():
        assert "timeout-minutes" in job, title
        if (path.stem, title) != ("release", "publish"):
            assert "permissions" not in job, title


def test_actions_are_pinned_by_digest() -> None:
    used = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines() if "uses:" in line]
    pins = [
        re.fullmatch(r" *- uses: ([\w-]+/[\w-]+)@([0-9a-f]{40})  # v\d+\.\d+\.\d+", line) for line in used
    ]
    assert pins
    assert all(pins), [line for line, pin in zip(used, pins, strict=True) if pin is None]
    one_each = {pin.groups() for pin in pins if pin}
    assert len(one_each) == len({action for action, _ in one_each})


def test_every_platform_and_python_is_tested() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    pythons = {line[-4:] for line in classifiers if re.search(r":: 3\.\d+$", line)}
    systems = {"ubuntu-latest", "macos-latest", "windows-latest"}
    expected = {(system, python) for system in systems for python in pythons}
    workflows = {path.stem: jobs(path) for path in WORKFLOWS}
    for job in (workflows["test"]["platforms"], workflows["nightly"]["newest"]):
        assert {(each["os"], each["python"]) for each in combinations(job)} == expected
    assert {each["os"] for each in combinations(workflows["nightly"]["lowest"])} == systems


def test_only_the_job_that_publishes_can_publish() -> None:
    publish = jobs(GITHUB / "workflows" / "release.yml")["publish"]
    assert publish["permissions"]["id-token"] == "write"
    assert publish["environment"] == "release"
    assert publish["needs"] == "build"
    assert [step for step in publish["steps"] if "run" in step] == [], (
        "nothing of ours runs with that permission"
    )
    assert not re.search(
        r"password|api-token|secrets\.", (GITHUB / "workflows" / "release.yml").read_text("utf-8")
    )


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    recipe = load(ROOT / "recipe" / "recipe.yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {re.sub(r"\s", "", line) for line in project["dependencies"]}
    needed = {
        re.sub(r"\s", "", line).replace("python-xxhash", "xxhash") for line in recipe["requirements"]["run"]
    }
    assert {line for line in needed if not line.startswith("python>=")} == wanted
