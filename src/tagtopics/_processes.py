"""Python processes that import what this one can, but nothing from the working folder.

The working folder may hold files of others: a file `random.py` in a downloaded folder must not run because a
command is started there. Without the option -P, Python would look there before its own library.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def start_python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start a process that runs some code.

    Args:
        code: Python code.
        arguments: its `sys.argv[1:]`.
        options: of `subprocess.Popen`; `env` holds variables to add to those of this process.
    """
    places = [place for place in sys.path if os.path.isabs(place) and not _is_here(place)]
    path = os.pathsep.join([*places, str(Path(__file__).parents[1])])
    variables = {**os.environ, **options.pop("env", {}), "PYTHONPATH": path}
    command = [sys.executable, "-P", "-c", code, *arguments]
    return subprocess.Popen(command, env=variables, encoding="utf-8", **options)


def _is_here(place: str) -> bool:
    try:
        return os.path.samefile(place, os.curdir)
    except OSError:  # Python lists places that do not exist
        return False
