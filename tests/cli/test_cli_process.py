"""The command as a process of its own: start, pipes, interruption, completion."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_running import fit_small, shard_small

COMMAND = [sys.executable, "-c", "from tagtopics.cli import command; command()"]
HEAVY = {"numpy", "scipy", "sklearn", "numba", "polars", "pandas", "pyarrow", "safetensors", "narwhals"}


def start(*arguments: object, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **more},
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit_small(tmp_path_factory.mktemp("process"))


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from tagtopics.cli import main; code = main(sys.argv[1:]); "
        f"heavy = {HEAVY!r} & set(sys.modules); print('HEAVY', sorted(heavy)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("HEAVY []\n")


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_a_closed_pipe_is_no_trouble(model: Path, arguments: list[str]) -> None:
    process = start("topics", model, "--top", 100, *arguments)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert (process.returncode, err) == (0, "")


def test_logs_of_libraries_are_not_printed(tmp_path: Path) -> None:
    """The parser of BibTeX logs a warning about an entry without an end."""
    source = tmp_path / "a.bib"
    source.write_text("@book{a, title={Sea and tide}}\n@book{b, title={Sea and boat}}\n@book{c,\n")
    process = start(
        "fit", source, "--text", "title", "--topics", 2, "--iterations", 2, "--out", tmp_path / "m.tt"
    )
    _, err = process.communicate()
    assert process.returncode == 0, err
    lines = err.splitlines()
    assert [line for line in lines if not line.startswith("note: ")] == []
    assert any("1 unreadable entries left out" in line for line in lines)


def test_interruption_leaves_nothing(tmp_path: Path) -> None:
    run_folder = tmp_path / "m.tt.run"
    # A shell without job control starts its background jobs, such as these tests, with interrupts ignored,
    # and a new process would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    many = ("--iterations", 10**9, "--tolerance", 0, "--out", tmp_path / "m.tt")
    process = start("fit", shard_small(tmp_path), *many)
    signal.signal(signal.SIGINT, before)
    while not (run_folder / "checkpoint.safetensors").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "tagtopics: interrupted\n")
    assert not (tmp_path / "m.tt").exists()


def test_completion() -> None:
    process = start(_TAGTOPICS_COMPLETE="complete_bash", COMP_WORDS="tagtopics fi", COMP_CWORD="1")
    out, err = process.communicate()
    assert out.split() == ["fit"]
    assert err == ""


def test_exit_codes_reach_the_shell_and_models_of_all_kinds_are_loaded(tmp_path: Path) -> None:
    """In a new process: nothing has registered the estimators before. Tags of authors have profiles."""
    fit_small(tmp_path, "--model", "atm", name="atm.tt")
    good = start("tags", tmp_path / "atm.tt", "cooking", "--json")
    bad = start("explain", tmp_path / "atm.tt", tmp_path / "corpus.jsonl")
    out, err = good.communicate(timeout=120)
    assert (err, good.returncode) == ("", 0)
    (profile,) = json.loads(out)["tags"]
    assert {"bread", "oven"} & {word["word"] for word in profile["words"]}
    out, err = bad.communicate(timeout=120)
    assert (out, bad.returncode, err.count("\n")) == ("", 2, 1)
    assert err.startswith("tagtopics: error: ")
    assert "does not credit" in err
