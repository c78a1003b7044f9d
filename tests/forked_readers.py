"""Processes of `tagtopics.readers.sandbox` without the time to start Python and import the readers.

A parent with everything imported forks one for each `SandboxedReader`; a file costs milliseconds. The limits
of it are those of the real one. A process that takes more than it may is an error. Tests of files and fuzz
campaigns read so; `tests/corpus/test_corpus_sandbox.py` tests the real processes.
"""

from __future__ import annotations

import array
import importlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

from tagtopics.readers import sandbox as apart

_READERS = (
    "tagtopics.subjects.thesaurus",
    "tagtopics.readers.workbooks",
    "tagtopics.readers.text_folders",
    "python_calamine",
    "pypdf",
    "rdflib.plugins.parsers.rdfxml",
    "rdflib.plugins.parsers.notation3",
)


class ForkedProcess:
    """What `SandboxedReader` uses of a `subprocess.Popen`, for a process that the parent forks."""

    def __init__(self, address: str, function: str, seconds: float, megabytes: float) -> None:
        self._most = seconds, megabytes
        self._parent = socket.socket(socket.AF_UNIX)
        self._parent.connect(address)
        jobs, send = os.pipe()
        receive, answers = os.pipe()
        given = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [jobs, answers]))]
        self._parent.sendmsg([function.encode()], given)
        os.close(jobs)
        os.close(answers)
        self._reports = self._parent.makefile("r")
        self._pid = int(self._reports.readline())
        self.stdin = os.fdopen(send, "w", encoding="utf-8")
        self.stdout = os.fdopen(receive, encoding="utf-8")
        self.returncode: int | None = None

    def kill(self) -> None:
        """End the process, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def communicate(self) -> None:
        """Wait for the end of the process, and check what it took."""
        for file in (self.stdin, self.stdout):
            with suppress(OSError):
                file.close()
        self.returncode, seconds, megabytes = json.loads(self._reports.readline())
        self._parent.close()
        if seconds > self._most[0] or megabytes > self._most[1]:
            raise RuntimeError(f"a reader took {seconds} s and {megabytes} MB")


@contextmanager
def reader_parent() -> Iterator[str]:
    """Start the parent; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/forks"
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-P", __file__, address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
            assert parent.stdout is not None
            assert parent.stdout.readline() == b"ready\n"
            try:
                yield address
            finally:
                parent.kill()


@contextmanager
def forked_readers(address: str, seconds: float, megabytes: float) -> Iterator[None]:
    """Make every `SandboxedReader` fork its process from the parent at an address, within the block."""

    def forked(self: Any) -> Any:
        return ForkedProcess(address, self._function, seconds, megabytes)

    with mock.patch.object(apart.SandboxedReader, "_start", forked):
        yield


def fork_for_ever(address: str) -> None:
    """Fork a process for each connection, which names a function and passes two pipes."""
    for name in _READERS:
        with suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(16)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            os._exit(_watched(connection))
        connection.close()


def _watched(connection: socket.socket) -> int:
    """Fork the process, tell its number, and at its end its status, seconds and megabytes."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    function, pipes, _, _ = socket.recv_fds(connection, 1000, 2)
    child = os.fork()
    if child == 0:
        connection.close()
        os._exit(_served(function.decode(), *pipes))
    for pipe in pipes:
        os.close(pipe)
    connection.sendall(f"{child}\n".encode())
    _, status, used = os.wait4(child, 0)
    report = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    with suppress(OSError):
        connection.sendall((json.dumps(report) + "\n").encode())
    return 0


def _served(function: str, jobs: int, answers: int) -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(jobs, 0)
    os.dup2(answers, 1)
    os.close(jobs)
    os.close(answers)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["-c", function]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    try:
        apart.serve()
    except BaseException:
        return 1
    return 0


if __name__ == "__main__":
    fork_for_ever(sys.argv[1])
