"""Readers that run in a separate process, with limited memory and time.

The parsers of some formats can crash, and a file of a few kilobytes can make them take any memory or time.
In a separate process, that is an `InputError` here. The limits grow with the size of the file. The process
cannot use the network.

A job is a list of strings for a function; its result is a table or a JSON value; dates become ISO strings.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tagtopics._processes import start_python
from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import FREE_EXPANSION, MAX_EXPANSION
from tagtopics.corpus.recipe import Columns
from tagtopics.errors import InputError, MissingExtraError, one_line

BASE_MEMORY = 2**30  # bytes of addresses, in addition to what the file may expand to
BASE_SECONDS, SECONDS_PER_MEGABYTE = 5, 20  # processor time for a file, and for each megabyte of it
_WAIT = 10  # times the processor time that the clock may show until the process is ended
_CODE = "from tagtopics.readers.sandbox import serve; serve()"


class SandboxedReader:
    """A process that reads files, started with the first and again after a crash.

    Args:
        function: `MODULE:NAME` of the function.
        what: the kind of files, for errors.
    """

    def __init__(self, function: str, what: str) -> None:
        self._function, self._what = function, what
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def read(self, path: Path, *given: str, size: int | None = None) -> Any:
        """Return what the function returns for a file.

        Args:
            path: the file, which errors name.
            given: the arguments of the function, if they are others than the path.
            size: of the file in bytes, if it is packed.
        """
        size = path.stat().st_size if size is None else size
        seconds = BASE_SECONDS + SECONDS_PER_MEGABYTE * size // 10**6
        memory = BASE_MEMORY + max(FREE_EXPANSION, MAX_EXPANSION * size)
        job = json.dumps({"given": given or (str(path),), "seconds": seconds, "memory": memory})
        answer = self._answer(job, _WAIT * seconds)
        kind, found = json.loads(answer) if answer else ("failure", self._crash(seconds, memory))
        if kind == "value":
            return found
        if kind == "missing":
            raise MissingExtraError(*found)
        raise InputError(found if kind == "error" else f"{path}: cannot be read as {self._what} ({found})")

    def _crash(self, seconds: int, memory: int) -> str:
        """Return why the process has ended."""
        status = self._end()
        if status in (-24, -9):  # SIGXCPU, or the clock
            return f"it takes more than {seconds:,} s; is it damaged?"
        if status == -6:  # what compiled parsers do without memory
            return f"the reader crashed, or needs more than {memory / 2**30:.1f} GiB of memory"
        return f"the reader crashed, status {status}"

    def _start(self) -> subprocess.Popen[str]:
        return start_python(
            _CODE,
            self._function,
            env={"PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"},  # each thread reserves memory
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _answer(self, job: str, wait: float) -> str:
        """Return the answer of the process to a job; an empty string if it has ended."""
        self._process = self._process or self._start()
        jobs, answers = self._process.stdin, self._process.stdout
        assert jobs is not None
        assert answers is not None
        watch = threading.Timer(wait, self._process.kill)
        watch.start()
        try:
            jobs.write(job + "\n")
            jobs.flush()
            return answers.readline()
        except OSError:
            return ""
        finally:
            watch.cancel()

    def _end(self) -> int | None:
        """End the process, and return its status."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        process.communicate()
        return process.returncode


def read_in_sandbox(function: str, what: str, path: Path, *given: str, size: int | None = None) -> Any:
    """Return what a function returns for one file, read in a separate process; see `SandboxedReader`."""
    with SandboxedReader(function, what) as process:
        return process.read(path, *given, size=size)


def sandboxed(function: str, what: str) -> Callable[[Path, FileOptions], Table]:
    """Return a reader of tables that runs a function, `MODULE:NAME`, in a process.

    The function takes the name of a file, and the query if there is one, and returns a table.
    """

    def read(path: Path, options: FileOptions) -> Table:
        query = () if options.query is None else (options.query,)
        parts = read_in_sandbox(function, what, path, str(path), *query)
        roles = None if parts["roles"] is None else Columns.model_validate(parts["roles"])
        return Table(**parts | {"roles": roles})

    return read


# ------------------------------------------------------------------------------------ the other process


def serve() -> None:
    """Answer jobs, one per line, until there are no more: the process that `SandboxedReader` starts."""
    sys.addaudithook(_refuse_network)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what parsers print
    module, _, name = sys.argv[1].partition(":")
    function = getattr(importlib.import_module(module), name)
    for line in sys.stdin:
        job = json.loads(line)
        _limit(job["seconds"], job["memory"])
        answers.write(_run(function, job["given"]) + "\n")
        answers.flush()


def _refuse_network(event: str, _: object) -> None:
    if event.startswith("socket."):
        raise PermissionError("it refers to the network, from which nothing is read")


def _run(function: Any, given: list[str]) -> str:
    """Return the answer to a job as JSON."""
    try:
        return json.dumps(("value", function(*given)), default=_plain)
    except MissingExtraError as error:
        return json.dumps(("missing", [error.feature, error.extra]))
    except InputError as error:
        return json.dumps(("error", str(error)))
    except MemoryError:
        return json.dumps(("failure", "it needs too much memory"))
    except Exception as error:  # parsers have no common class of errors
        return json.dumps(("failure", one_line(error) or type(error).__name__))


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return vars(value) | {"roles": value.roles and value.roles.model_dump(mode="json")}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _limit(seconds: int, memory: int) -> None:
    """Limit processor time from now on, and memory."""
    if sys.platform == "win32":
        return
    import resource
    import time

    used = int(time.process_time()) + 1
    wanted = ((resource.RLIMIT_CPU, used + seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0))
    for kind, most in wanted:
        hard = resource.getrlimit(kind)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS has no limit of addresses
            resource.setrlimit(kind, (soft, hard))
