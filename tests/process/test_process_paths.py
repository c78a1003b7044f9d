"""No process that tagtopics starts imports from the working folder, which may hold files of others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from tagtopics import _processes

DEPENDENCIES = (
    "tagtopics", "jinja2", "narwhals", "numba", "llvmlite", "numpy", "platformdirs", "pydantic",
    "rapidfuzz", "rich", "safetensors", "sklearn", "joblib", "threadpoolctl", "scipy", "typer", "click",
    "xxhash", "polars", "pandas", "pydantic_core", "yaml", "ray", "rdflib", "sitecustomize",
    "usercustomize",
)  # fmt: skip
ROWS = [
    {"text": text, "tags": [text.split()[0]]}
    for text in (
        "bread oven flour butter dough",
        "boat wind sail harbour anchor",
        "violin melody piano chord tune",
    )
    for _ in range(6)
]
RUN = "import builtins; builtins.open(__file__ + '.ran', 'w').close()\n"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a file for each module that a process may import; each leaves a trace when it runs."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, *DEPENDENCIES}:
        (folder / f"{name}.py").write_text(RUN)
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / ".numba_config.yaml").write_text("cache_dir: kernels-of-others\n")
    return folder


def run_in(folder: Path, *arguments: object, **variables: str) -> str:
    """Run the command in a folder as its script does, whose own folder is in the path; return its errors."""
    script = folder.parent / "bin" / "tagtopics"
    script.parent.mkdir(exist_ok=True)
    script.write_text("from tagtopics.cli import command\nif __name__ == '__main__':\n    command()\n")
    line = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(
        line, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def traces(folder: Path) -> list[str]:
    """Return what has run, or has been written, because of a file of the folder."""
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".ran" or "of-others" in path.name)


def test_the_planted_files_would_run(planted: Path) -> None:
    subprocess.run([sys.executable, "-c", "import random"], cwd=planted, check=False, capture_output=True)
    assert "random.py.ran" in traces(planted)


@pytest.mark.parametrize("place", ["", ".", "HERE"])
def test_a_process_has_this_path_without_the_working_folder(
    planted: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(planted)
    monkeypatch.syspath_prepend(str(planted.parent))
    monkeypatch.syspath_prepend(place.replace("HERE", str(planted)))
    monkeypatch.setenv("PYTHONPATH", str(planted))
    code = "import random, sys, tagtopics; print(*sys.path, sep='\\n')"
    out, _ = _processes.start_python(code, stdout=subprocess.PIPE).communicate()
    assert str(planted.parent) in out.split("\n")
    assert {"", ".", str(planted)} & set(out.rstrip("\n").split("\n")) == set()
    assert traces(planted) == []


def test_readers_in_processes_run_nothing_from_the_working_folder(planted: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["text", "tags"], *([row["text"], row["tags"][0]] for row in ROWS)):
        book.active.append(row)
    book.save(planted / "a.xlsx")
    run_in(planted, "shard", "a.xlsx", "--text", "text", "--tags", "tags", "--out", "shards")
    assert (planted / "shards").is_dir()
    assert traces(planted) == []


@pytest.mark.slow
@pytest.mark.compiled
def test_the_first_fit_runs_nothing_from_the_working_folder(planted: Path) -> None:
    cache = planted.parent / "cache"
    run_in(
        planted, "fit", "a.jsonl", "--topics", 3, "--out", "m.tt", XDG_CACHE_HOME=str(cache), NUMBA_OPT="0"
    )
    assert list(cache.rglob("*.nbi"))
    assert traces(planted) == []


@pytest.mark.slow
def test_workers_of_ray_run_nothing_from_the_working_folder(planted: Path) -> None:
    pytest.importorskip("ray", reason="no ray: its workers are not tested")
    shards = planted / "shards"
    run_in(planted, "shard", "a.jsonl", "--out", shards)
    line = ("fit", shards, "--engine", "ray", "--workers", 2, "--topics", 3, "--out", "m.tt", "--quiet")
    assert "WARNING" not in run_in(planted, *line)  # Ray's own lines
    assert traces(planted) == []


def test_processes_are_started_in_known_places() -> None:
    """Another place needs a test of this file, too."""
    starts = re.compile(
        r"subprocess\.(Popen|run|call|check_\w+)\(|os\.(exec|spawn|posix_spawn|popen|system|fork)\w*\("
        r"|ProcessPoolExecutor\(|\bProcess\(|\bPool\(|ray\.init\("
    )
    source = Path(_processes.__file__).parent
    files = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in source.rglob("*.py")}
    found = {name for name, text in files.items() if starts.search(text)}
    assert found == {"_processes.py", "scale/ray_executor.py"}
