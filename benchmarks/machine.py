"""CPU seconds and memory of a process and its children, from /proc if available."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import numpy as np

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def load_average() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def peak_mb() -> float:
    """Return the largest resident memory of this process since `reset_peak`, in MB."""
    found = _status(os.getpid(), "VmHWM")
    return found if found is not None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def reset_peak() -> None:
    """Reset the peak to the current memory, if the system supports it."""
    try:
        (_PROC / "self" / "clear_refs").write_text("5")
    except OSError:
        return


def touch_memory(mb: float) -> None:
    """Allocate and free memory, so that the next allocation is fast; two GB proved to be enough.

    A virtual machine gets fresh memory from its host, which took up to 1.4 ms per MB here: ten times as long
    as reusing memory, and most of a short fit.
    """
    np.ones(int(mb * 2**18), dtype=np.float32)


def children_mb() -> float:
    """Return the current memory of the children in MB, shared pages divided among their users."""
    return sum(_proportional(pid) for pid in _children())


def cpu_seconds() -> float:
    """Return CPU seconds of this process, its living descendants and those it has waited for."""
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time() + waited.ru_utime + waited.ru_stime
    return own + sum(_cpu_of(pid) for pid in _children())


def _children() -> list[int]:
    """Return the living descendants of this process."""
    if not _PROC.is_dir():
        return []
    parents: dict[int, int] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        fields = _stat(path)
        if fields:
            parents[int(path.parent.name)] = int(fields[1])
    found, ring = [], [os.getpid()]
    while ring:
        ring = [pid for pid, parent in parents.items() if parent in ring]
        found += ring
    return found


def _stat(path: Path) -> list[str]:
    """Return the fields of a stat file after the name of the command, which may contain anything."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_of(pid: int) -> float:
    fields = _stat(_PROC / str(pid) / "stat")
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _proportional(pid: int) -> float:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def _status(pid: int, key: str) -> float | None:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:")), None)
