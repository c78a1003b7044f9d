"""How much memory a fit needs, and whether messages are stored or recomputed.

`memory="auto"` decides by the sizes of the corpus alone, so that results never depend on the machine.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import NamedTuple

from tagtopics.errors import CorpusWarning
from tagtopics.graph import FactorGraph

MAX_STORED_BYTES = 8 * 2**30
"""`memory="auto"` stores up to 8 GiB of messages: 4 bytes for each topic of each edge."""

_UNLIMITED = 1 << 60
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")


class MemoryEstimate(NamedTuple):
    """Bytes that belief propagation needs in addition to the corpus."""

    messages: int  # of the messages alone: K numbers for each word of each document
    stored: int  # with messages stored
    lean: int  # with messages recomputed: K numbers for each document, word and slot


def estimate_memory(graph: FactorGraph, n_topics: int) -> MemoryEstimate:
    """Return what each mode needs for a graph and a number of topics."""
    narrow = 4 * (graph.n_docs + graph.n_slots)
    wide = 8 * (2 * graph.n_words + 2 * graph.n_tags) + 4 * (3 * graph.n_words + 2 * graph.n_tags)
    base = n_topics * (narrow + wide)
    messages = 4 * n_topics * graph.n_edges
    return MemoryEstimate(messages, base + messages, base + 8 * n_topics * graph.n_words)


def is_lean(memory: str, graph: FactorGraph, n_topics: int) -> bool:
    """Return whether messages are recomputed: for "lean", and for "auto" above `MAX_STORED_BYTES`.

    A fit that needs more memory than is available gets a warning.
    """
    estimate = estimate_memory(graph, n_topics)
    lean = memory == "lean" or (memory == "auto" and estimate.messages > MAX_STORED_BYTES)
    needed, available = estimate.lean if lean else estimate.stored, available_memory()
    if available is not None and needed > available:
        remedy = "use shards (tagtopics shard) or fewer topics" if lean else 'use memory="lean"'
        sizes = f"{needed / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are available"
        warnings.warn(f"fit: needs about {sizes}; {remedy}", CorpusWarning, stacklevel=2)
    return lean


def available_memory() -> int | None:
    """Return the bytes that this process may still use, control groups included; None if unknown."""
    amounts = [amount for amount in (_free_on_machine(), _free_in_cgroup()) if amount is not None]
    return min(amounts, default=None)


def _free_on_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_cgroup() -> int | None:
    """Return what is left of the limits of this process's control groups; None if there is no limit."""
    try:
        lines = _OWN_CGROUP.read_text().splitlines()
    except OSError:
        lines = []
    amounts: list[int] = []
    for line in (*lines, "0::/", "1:memory:/"):
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        files, base = (_VERSION_1, _CGROUP / "memory") if controllers else (_VERSION_2, _CGROUP)
        folder = base / path.strip("/")
        places = [place for place in (folder, *folder.parents) if place.is_relative_to(base)]
        amounts += [amount for place in places if (amount := _free_in(place, *files)) is not None]
    return min(amounts, default=None)


def _free_in(folder: Path, limit: str, usage: str, cache: str) -> int | None:
    """Return the limit of a control group minus its usage; page cache that can be dropped counts as free."""
    try:
        bound, used = int((folder / limit).read_text()), int((folder / usage).read_text())
        rows = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        cached = next((int(row[1]) for row in rows if row[0] == cache), 0)
    except (OSError, ValueError, IndexError):
        return None  # "max" is not a number: no limit
    return max(0, bound - used + cached) if bound < _UNLIMITED else None
