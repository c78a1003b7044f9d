"""Run tests with the oldest, newest or locked versions of all dependencies, in an environment of their own.

    python scripts/check_bounds.py lowest
    python scripts/check_bounds.py newest --python 3.13 tests/corpus

`lowest` installs the lower bounds of pyproject.toml, or the oldest versions above them that have a wheel for
the interpreter, `newest` the newest versions it allows, `locked` the
versions in requirements-lock.txt, with their hashes checked. Needs uv: `pip install --group bounds`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-lock.txt"
WITHOUT_WHEELS = ["jieba", "odfpy"]
"""Packages that are built from source, before all others are installed from wheels."""

DIFFERENT = "tests/test_docs.py::test_blocks_print_what_the_page_shows[docs/guides/images.md]"
"""Tells shares of a picture, which are others with the oldest versions of Pillow, scikit-learn and numba."""

CORE_TESTS = ["tests/corpus", "tests/models", "tests/cli"]


def extras() -> str:
    """Return the names of all extras of pyproject.toml; uv takes only extras that are named as direct."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return ",".join(name for name in project["optional-dependencies"] if name != "all")


def install_commands(versions: str, python: Path) -> list[list[str]]:
    """Return the uv commands that install tagtopics and its test tools for one choice of versions."""
    install = ["uv", "pip", "install", "--quiet", "--python", str(python)]
    if versions == "locked":
        return [
            [*install, "--require-hashes", "--requirement", str(LOCK)],
            [*install, "--no-deps", "--editable", "."],
        ]
    wanted = [*install, "--editable", f".[{extras()}]", "--group", "test"]
    if versions == "newest":
        return [wanted]
    # A bound may be older than the interpreter: the oldest version with a wheel is taken, if there is one.
    lowest = ["--resolution", "lowest-direct", "--only-binary", ":all:"]
    return [[*install, *WITHOUT_WHEELS], [*wanted, *lowest]]


def make_environment(versions: str, interpreter: str) -> Path:
    """Create build/bounds/VERSIONS-INTERPRETER afresh and return its Python."""
    folder = ROOT / "build" / "bounds" / f"{versions}-{Path(interpreter).name}"
    subprocess.run(
        ["uv", "venv", "--quiet", "--clear", "--python", interpreter, str(folder)], cwd=ROOT, check=True
    )
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for command in install_commands(versions, python):
        subprocess.run(command, cwd=ROOT, check=True)
    return python


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return `versions`, `python` and `tests` of a command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("versions", choices=["lowest", "newest", "locked"])
    parser.add_argument("--python", default=sys.executable, help="interpreter: a path, a command or 3.13")
    parser.add_argument("tests", nargs="*", default=CORE_TESTS, help="what to pass to pytest")
    # "*" before an option would take no test at all; intermixed parsing reads options first.
    return parser.parse_intermixed_args(arguments)


def main() -> int:
    """Create the environment, list what is installed, run the tests and return pytest's exit code."""
    options = parse(sys.argv[1:])
    # uv is installed beside the running Python; its folder need not be on PATH.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    python = make_environment(options.versions, options.python)
    subprocess.run(["uv", "pip", "list", "--python", str(python)], cwd=ROOT, check=True)
    without = ["--deselect", DIFFERENT] if options.versions == "lowest" else []
    return subprocess.run([str(python), "-m", "pytest", *without, *options.tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
