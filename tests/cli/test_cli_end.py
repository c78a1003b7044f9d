"""The end of the command: its exit code, its output, and what others want to do at the end."""

from __future__ import annotations

import subprocess
import sys

import pytest


def _run(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"{before}; from tagtopics.cli import command; command(); print('not reached')"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["fit", "no-such-file.csv"], 2)])
def test_the_command_ends_the_process_with_its_code(arguments: list[str], code: int) -> None:
    done = _run("import atexit; atexit.register(print, 'handler')", *arguments)
    assert done.returncode == code
    assert done.stdout.endswith("handler\n")
    assert "not reached" not in done.stdout
    assert ("tagtopics: error: " in done.stderr) == (code == 2)
