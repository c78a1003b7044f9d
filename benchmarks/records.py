"""Curves and comparisons computed from a folder of records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import corpora, ours, peers

Record = dict[str, Any]


class Curve(NamedTuple):
    """One system on one corpus; for our repeated runs, with equal topics, the median seconds."""

    corpus: str
    system: str
    sweep: list[float]
    seconds: list[float]
    cpu_seconds: list[float]
    perplexity: list[float]
    record: Record  # of the first run

    @property
    def best(self) -> float:
        """The lowest perplexity of all checkpoints."""
        return min(self.perplexity)

    def reach(self, target: float) -> int | None:
        """Return the first checkpoint at or below a perplexity, or None."""
        return next((i for i, value in enumerate(self.perplexity) if value <= target), None)

    @property
    def seconds_per_sweep(self) -> float:
        """Training seconds divided by sweeps, including the work before the first sweep."""
        return self.seconds[-1] / max(self.sweep[-1], 1e-9)


class Reach(NamedTuple):
    """The time a peer took to reach a perplexity, and the time we took."""

    peer: Curve
    ours: Curve
    target: float
    their_seconds: float
    our_seconds: float | None
    cpu_ratio: float | None

    @property
    def ratio(self) -> float | None:
        """How many times faster we are."""
        return None if self.our_seconds is None else self.their_seconds / self.our_seconds


def load(folder: Path) -> list[Record]:
    """Return all records of a folder."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def of_kind(records: list[Record], kind: str) -> list[Record]:
    """Return the records of one kind of job."""
    return [record for record in records if record["job"]["kind"] == kind]


def curves(records: list[Record]) -> dict[tuple[str, str], Curve]:
    """Return the curves by corpus and system, in the order of the page."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in of_kind(records, "curve"):
        groups.setdefault((record["job"]["corpus"], record["job"]["system"]), []).append(record)
    order = [(c, s) for c in (*corpora.NAMES, "tiny") for s in labels()]
    return {key: _merged(key, groups[key]) for key in order if key in groups}


def labels() -> dict[str, str]:
    """Return the systems by name, ours first, with their labels on the page."""
    return ours.systems() | {name: peer.label for name, peer in peers.PEERS.items()}


def reaches(found: dict[tuple[str, str], Curve], *, last: bool, kind: str = "") -> list[Reach]:
    """Compare each peer with our model of its kind, or of one given, at its best or final perplexity."""
    rows = []
    for (corpus, system), peer in found.items():
        own = f"ours-{kind or peers.PEERS[system].against}" if system in peers.PEERS else ""
        mine = found.get((corpus, own))
        if mine is not None:
            at = len(peer.perplexity) - 1 if last else int(np.argmin(peer.perplexity))
            rows.append(_reach(peer, mine, at))
    return rows


def _reach(peer: Curve, mine: Curve, theirs: int) -> Reach:
    """Compare at one of the peer's checkpoints."""
    target = peer.perplexity[theirs]
    here = mine.reach(target)
    if here is None:
        return Reach(peer, mine, target, peer.seconds[theirs], None, None)
    cpu = peer.cpu_seconds[theirs] / max(mine.cpu_seconds[here], 1e-9)
    return Reach(peer, mine, target, peer.seconds[theirs], mine.seconds[here], cpu)


def _merged(key: tuple[str, str], group: list[Record]) -> Curve:
    first = group[0]["curve"]
    n = min(len(record["curve"]["sweep"]) for record in group)
    seconds, cpu = (
        np.median([record["curve"][name][:n] for record in group], axis=0).tolist()
        for name in ("seconds", "cpu_seconds")
    )
    return Curve(*key, first["sweep"][:n], seconds, cpu, first["perplexity"][:n], group[0])
