"""The wheel and the source distribution: their files, their metadata, and that the installed wheel works."""

from __future__ import annotations

import email
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import tagtopics

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tagtopics"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = tagtopics.__version__
NETWORK = os.environ.get("TAGTOPICS_TEST_INSTALL") == "1"


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Run a command without the project's source on its path; fail with its output."""
    outer = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    outer |= more
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=outer, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def build(target: Path, *options: str) -> Path:
    """Build into a folder with the installed hatchling: no isolated environment, so no network."""
    for module in ("build", "hatchling"):
        pytest.importorskip(module, reason=f"{module} is not installed: pip install --group package")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, *options, ROOT, cwd=target)
    return target


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel built from it."""
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / f"tagtopics-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def sdist(dist: Path) -> Path:
    return dist / f"tagtopics-{VERSION}.tar.gz"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(f"tagtopics-{VERSION}.dist-info/METADATA"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    source = {
        f"tagtopics/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == source
    assert "tagtopics/py.typed" in held
    assert any(name.endswith(".html") for name in held)
    assert any(name.endswith(".js") for name in held)


def test_the_source_distribution_has_no_records_and_no_figures(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "SECURITY.md", "Makefile"} <= held
    assert {"src/tagtopics/py.typed", "tests/conftest.py", "docs/examples/papers.jsonl"} <= held
    unwanted = re.compile(
        r"benchmarks/results/|reproduction/records/|\.(png|svg)$|(^|/)(\.venv|build|site|__pycache__)/"
    )
    assert [name for name in sorted(held) if unwanted.search(name)] == []
    assert sdist.stat().st_size < 1_600_000  # sources of the explorer's script, and the script


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """`build` made the first wheel from the source distribution; this one is made from the tree."""
    direct = build(tmp_path, "--wheel") / wheel.name
    assert direct.read_bytes() == wheel.read_bytes()


def test_metadata(metadata: Message) -> None:
    classifiers = metadata.get_all("Classifier", [])
    assert "Typing :: Typed" in classifiers
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers
    assert metadata["License-Expression"] == "BSD-3-Clause"
    urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= set(urls)


def test_extras_are_for_users_and_groups_for_developers(metadata: Message) -> None:
    assert set(metadata.get_all("Provides-Extra", [])) == {
        "parquet", "images", "plot", "serve", "mcp", "neighbours", "ray", "files", "pdf", "skos",
        "languages", "chinese", "japanese", "thai", "all",
    }  # fmt: skip
    named = PROJECT["project"]["optional-dependencies"]
    most = [name for name in named if name != "all"]
    assert named["all"] == [f"tagtopics[{','.join(most)}]"]
    assert {"test", "lint", "docs", "bench", "package", "dev"} <= set(PROJECT["dependency-groups"])


def test_every_dependency_has_a_lower_bound(metadata: Message) -> None:
    required = [line for line in metadata.get_all("Requires-Dist", []) if "tagtopics" not in line]
    assert [line for line in required if ">=" not in line] == []
    assert [line for line in required if "<" in line.partition(";")[0]] == [], (
        "upper bounds break installations"
    )


def test_the_index_accepts_the_description(dist: Path, metadata: Message) -> None:
    pytest.importorskip("twine", reason="twine is not installed: pip install --group package")
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()), cwd=dist)
    text = str(metadata.get_payload())
    assert re.findall(r"\]\((?![a-z]+:|#)[^)]*\)", text) == [], (
        "relative links do not work on the package index"
    )


def test_links_of_the_readme_become_absolute() -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install --group package")
    absolute_links = runpy.run_path(str(ROOT / "hatch_build.py"))["absolute_links"]
    text = "[a](docs/a.md#b) ![i](i.png) [c](#here) [d](https://example.org/d)"
    assert absolute_links(text, "https://example.org/r", "1.0") == (
        "[a](https://example.org/r/blob/v1.0/docs/a.md#b) ![i](https://example.org/r/raw/v1.0/i.png)"
        " [c](#here) [d](https://example.org/d)"
    )


def scripts_folder(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin")


def install_offline(wheel: Path, environment: Path) -> None:
    """Install the wheel alone; its dependencies are those of the running environment.

    A line in a .pth file adds their folder to the path without reading the .pth files there, so the
    development install of tagtopics in the running environment stays invisible.
    """
    pytest.importorskip("pip", reason="pip is not installed: pip install --group package")
    python = scripts_folder(environment) / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir", str(wheel)]
    run(sys.executable, "-m", "pip", "--python", python, *install, cwd=environment)
    packages = sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)})
    outer = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (Path(packages) / "dependencies.pth").write_text("\n".join(outer), encoding="utf-8")


def install_from_registry(wheel: Path, environment: Path) -> None:
    """Install the wheel and all its dependencies into an environment that holds nothing else.

    uv is used where there is one: it takes seconds.
    """
    python = scripts_folder(environment) / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install"]
    if uv := shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"):
        pip = [uv, "pip", "install", "--python", python]
    run(*pip, "--quiet", wheel, cwd=environment)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(install_offline, id="offline"),
        pytest.param(
            install_from_registry,
            id="registry",
            marks=pytest.mark.skipif(not NETWORK, reason="needs a network: make test-install"),
        ),
    ],
)
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment with the wheel in it."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False)
    request.param(wheel, environment)
    return scripts_folder(environment)


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    assert VERSION in run(installed / "tagtopics", "--version", cwd=tmp_path)
    assert "Usage" in run(installed / "tagtopics", "--help", cwd=tmp_path)


def test_the_package_is_the_installed_one(installed: Path, tmp_path: Path) -> None:
    code = """if True:
        import importlib.metadata, importlib.resources, pathlib, sys
        import tagtopics
        place = pathlib.Path(tagtopics.__file__).resolve()
        assert place.is_relative_to(pathlib.Path(sys.prefix).resolve()), place
        assert (place.parent / "py.typed").is_file()
        assert all(hasattr(tagtopics, name) for name in tagtopics.__all__)
        print(importlib.metadata.version("tagtopics"))
    """
    assert run(installed / "python", "-c", code, cwd=tmp_path).strip() == VERSION


def test_the_readme_runs(installed: Path, tmp_path: Path) -> None:
    """The first Python block of the README, in an empty folder; kernels are compiled anew."""
    block = re.search(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert block is not None
    (tmp_path / "readme.py").write_text(block[1], encoding="utf-8")
    printed = run(installed / "python", "readme.py", cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    assert "filter   subpackage:scipy.signal" in printed
    assert (tmp_path / "docstrings.html").is_file()


def test_the_demo_runs(installed: Path, tmp_path: Path) -> None:
    """The first command that the README gives to a newcomer, without any option."""
    printed = run(installed / "tagtopics", "demo", cwd=tmp_path)
    assert "tagtopics report" in printed
