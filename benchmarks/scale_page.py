"""The page of the scale benchmark: tables from the records, and an estimate for a hundred machines."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

Record = dict[str, Any]

HEAD = """# Scale: results

Written by `python -m benchmarks.scale report` from the records in `benchmarks/results/scale`; the program's
docstring lists the commands. Measured in November 2026 on two cores, with nothing else running. TTM-H is the
paper's model, TTM the default one. [Corpora larger than memory](../../docs/guides/scale.md) explains how it
works.
"""


class Costs(NamedTuple):
    """Measured figures for one core and one connection."""

    update: float  # core-seconds for one topic of one edge, tags included
    state_bytes: float  # of the state of a document, for one topic
    exchange: float  # seconds for a byte that goes out to all, or comes back from one, on one machine


def write_page(folder: Path, path: Path) -> None:
    """Write the page from all records of a folder."""
    records = {
        file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))
    }
    found = {what: [r for name, r in records.items() if name.startswith(what)] for what in
             ("sweeps", "compare", "exchange")}  # fmt: skip
    parts = [HEAD, *_sweeps(found["sweeps"]), *_compare(found["compare"]), *_exchange(found["exchange"])]
    if found["sweeps"] and found["exchange"]:
        parts += _model(_costs(found["sweeps"], found["exchange"]))
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _table(head: str, rows: list[list[str]]) -> str:
    columns = head.split("|")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def _sweeps(records: list[Record]) -> list[str]:
    rows = []
    for r in sorted(records, key=lambda r: (r["n_topics"], r["n_docs"])):
        wall, cpu = (median(row[key] for row in r["sweeps"]) for key in ("seconds", "cpu_seconds"))
        load = median(row["load"] for row in r["sweeps"])
        per = 1e6 * cpu / r["n_docs"]
        model = "TTM" if r.get("preset") == "default" else "TTM-H"
        rows.append([model, f"{r['n_docs']:,}", f"{r['n_edges']:,}", str(r["n_topics"]), f"{wall:.1f}",
                     f"{cpu:.1f}", f"{per:.1f}", f"{r['peak_mb']:.0f}", f"{load:.1f}"])  # fmt: skip
    head = (
        "model|documents|edges|K|seconds per sweep|core-seconds per sweep|core-microseconds per document|"
        "peak MB|load"
    )
    return [
        "## Size\n",
        "4 tags per document, from shards on disk, with a checkpoint at every sweep. TTM also learns what\n"
        "tags say, and a recommender, from a sample of 50,000 documents; its peak memory includes both. Of\n"
        "three sweeps each, the median; the first includes the start.\n",
        _table(head, rows),
    ]


def _compare(records: list[Record]) -> list[str]:
    rows = []
    for r in records:
        here, there = (fmean(row[key] for row in r["sweeps"]) for key in ("local", "ray"))
        ratios = [row["ray"] / row["local"] for row in r["sweeps"]]
        each = ", ".join(f"{100 * (ratio - 1):+.0f} %" for ratio in ratios)
        rows.append([f"{r['n_docs']:,}", str(r["workers"]), f"{here:.1f}", f"{there:.1f}",
                     f"{100 * (there / here - 1):+.0f} %", each, "the same"])  # fmt: skip
    head = "documents|workers|seconds per sweep, threads|seconds per sweep, Ray|overhead|of each sweep|bits"
    return [
        "## A cluster on one machine\n",
        "The same sweeps alternating between threads and Ray, with as many threads as workers.\n",
        _table(head, rows),
    ]


def _exchange(records: list[Record]) -> list[str]:
    rows = []
    for r in sorted(records, key=lambda r: (r["n_topics"], r["workers"])):
        sizes = f"{r['n_words']:,} x {r['n_topics']}"
        seconds = sorted(1000 * value for value in r["seconds"])
        rows.append([sizes, str(r["workers"]), f"{r['mb_down']:.0f}", f"{r['mb_up']:.0f}",
                     f"{median(seconds):.0f}", f"{seconds[0]:.0f} to {seconds[-1]:.0f}"])  # fmt: skip
    head = "W x K|workers|MB sent to all|MB returned by each|milliseconds per round|least to most"
    text = "Cost of a round with idle workers. Sums go out in single precision and come back in double.\n"
    return ["## Exchange of sums\n", text, _table(head, rows)]


def _costs(sweeps: list[Record], exchange: list[Record]) -> Costs:
    largest = max((r for r in sweeps if r.get("preset") != "default"), key=lambda r: r["n_docs"])
    cpu = median(row["cpu_seconds"] for row in largest["sweeps"])
    update = cpu / (largest["n_edges"] * largest["n_topics"])
    state = 4.0 * (1 + largest["n_slots"] / largest["n_docs"])
    moved = max(exchange, key=lambda r: r["mb_up"] * r["workers"])
    seconds = median(moved["seconds"]) / (1e6 * (moved["mb_down"] + moved["mb_up"] * moved["workers"]))
    return Costs(update, state, seconds)


def _model(c: Costs) -> list[str]:
    rows = []
    for D, W, T, K, machines, cores, gbit in (
        (1e6, 5e4, 2e4, 100, 1, 2, 10), (1e7, 1e5, 1e5, 200, 4, 16, 10), (1e8, 2e5, 1e6, 200, 20, 32, 10),
        (1e9, 1e6, 1e7, 1000, 100, 32, 10), (1e9, 1e6, 1e7, 1000, 100, 32, 100),
    ):  # fmt: skip
        compute = c.update * 100 * D * K / (machines * cores)
        up, down = 8 * K * (W + 2 * T), 4 * K * (4 * W + 2 * T)
        wire = gbit * 1e9 / 8
        star = machines * (up + down) / wire if machines > 1 else 0.0
        scatter = 2 * (up + down) / wire if machines > 1 else 0.0
        disk = 2 * c.state_bytes * K * D / machines / 1e9
        sizes = [f"{D:.0e}", f"{W:.0e}", f"{T:.0e}", f"{K}", f"{machines} x {cores}", f"{gbit}"]
        rows.append([*sizes, f"{compute:,.0f}", f"{disk:,.0f}", f"{star:,.0f}", f"{scatter:,.1f}"])
    text = f"""Measured here: {1e9 * c.update:.2f} core-nanoseconds per topic and edge (4 tags per
document), {c.state_bytes:.0f} bytes of state per topic and document, {1e9 * c.exchange:.2f} seconds per GB
exchanged on one machine. Extrapolated, not measured: seconds per sweep with 100 distinct words per document
and a disk of 1 GB/s per machine:
"""
    head = (
        "D|W|T|K|machines x cores|Gbit/s|compute|state written and read|sums through one driver|"
        "sums reduce-scattered"
    )
    return ["## Extrapolation to larger corpora\n", text, _table(head, rows)]
