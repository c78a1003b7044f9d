"""The section of the page on the explorer: from the records of `benchmarks.explorer` to Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def explorer(folder: Path) -> str:
    """Return the measurements of report and server as tables, or a line that there are none."""
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))
    }
    parts = []
    if "load" in found:
        parts.append(_load(found["load"]))
    if "routes" in found:
        parts.append(_routes(found["routes"]))
    for name, title in (("first-view", "A report of the embedded corpus"), ("report", "A large report")):
        if name in found:
            parts.append(f"{title}:\n\n{_facts(found[name])}")
    return "\n\n".join(parts) or "*Not measured in this run.*"


def _load(storms: dict[str, Any]) -> str:
    lines = [
        "| requests | answered per second | p50 ms | p95 ms | p99 ms | statuses |",
        "|---|---|---|---|---|---|",
    ]
    for name, storm in storms.items():
        statuses = ", ".join(f"{count} x {status}" for status, count in storm["statuses"].items())
        times = " | ".join(str(storm[key]) for key in ("per_second", "p50_ms", "p95_ms", "p99_ms"))
        lines.append(f"| {name} | {times} | {statuses} |")
    return "\n".join(lines)


def _routes(routes: dict[str, Any]) -> str:
    keys = ("requests", "p50_ms", "p99_ms", "max_ms")
    lines = ["| route, 50,000 documents | requests | p50 ms | p99 ms | largest ms |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {' | '.join(str(row[key]) for key in keys)} |" for name, row in routes.items()]
    return "\n".join(lines)


def _facts(facts: dict[str, Any]) -> str:
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in _flat(facts)]
    return "\n".join(["| what | figure |", "|---|---|", *rows])


def _flat(facts: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and figures; nested names are prefixed."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}: ")
        else:
            yield f"{before}{name}", value
