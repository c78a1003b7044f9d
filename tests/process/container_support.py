"""Processes as a container starts them: a user without a home, and packages that this user cannot change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
COMMAND = "import sys; sys.path.pop(0); from tagtopics.cli import command; command()"

_setpriv = shutil.which("setpriv")
as_root = pytest.mark.skipif(
    _setpriv is None or not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root, with setpriv, can start processes of another user",
)


def container(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a container, with a temporary folder of its own."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o1777)
    return {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TMPDIR": str(temporary)}


def start(code: str, *arguments: object, variables: dict[str, str], **options: Any) -> subprocess.Popen[str]:
    """Start Python as a user who can read everything, wherever Python is installed, and own nothing."""
    assert _setpriv is not None
    can_read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    line = [_setpriv, *user, *can_read, sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        line, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def run(code: str, *arguments: object, variables: dict[str, str], **options: Any) -> tuple[int, str, str]:
    """Run Python as that user; return the exit code and both outputs."""
    process = start(code, *arguments, variables=variables, **options)
    out, err = process.communicate()
    return process.returncode, out, err
