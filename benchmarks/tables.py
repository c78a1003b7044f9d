"""The tables of the page, each from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks import peers
from benchmarks.records import Curve, Reach, Record, labels, of_kind

Curves = dict[tuple[str, str], Curve]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, or a line that nothing was measured."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    if not lines:
        return "*Not measured in this run.*"
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with significant digits, without an exponent; a dash for None."""
    if value is None or not np.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}"


def about_corpora(found: Curves) -> str:
    """Return the sizes of the corpora."""
    facts = {corpus: curve.record["corpus"] for (corpus, _), curve in found.items()}
    keys = ("train_docs", "test_docs", "words", "edges", "tokens", "tags", "tags_per_doc")
    head = (
        "corpus",
        "documents",
        "scored",
        "words",
        "edges",
        "tokens",
        "tags",
        "tags per document",
        "unigram",
    )
    rows = [
        (name, *(f"{fact[key]:,}" for key in keys), number(fact["unigram_perplexity"], 4))
        for name, fact in facts.items()
    ]
    return table(head, rows)


def against_peers(rows: list[Reach]) -> str:
    """Return the seconds of each peer to a perplexity, and ours to the same."""
    head = (
        "corpus",
        "peer",
        "its perplexity",
        "its seconds",
        "ours",
        "our seconds",
        "speedup",
        "in CPU time",
    )
    names = labels()
    return table(
        head,
        [
            (
                row.peer.corpus,
                names[row.peer.system],
                number(row.target, 4),
                number(row.their_seconds),
                names[row.ours.system],
                number(row.our_seconds) if row.our_seconds is not None else f"not below {row.ours.best:.1f}",
                number(row.ratio),
                number(row.cpu_ratio),
            )
            for row in rows
        ],
    )


def in_processor_time(default: list[Reach], fast: list[Reach]) -> str:
    """Return the processor seconds of each peer to its best perplexity, and how much sooner we are there."""
    head = ("corpus", "peer", "its perplexity", "its processor s", "default settings", 'preset="fast"')
    names = labels()
    rows = []
    for one, other in zip(default, fast, strict=True):
        seconds = one.peer.cpu_seconds[one.peer.perplexity.index(one.target)]
        ratios = (
            f"{number(r.cpu_ratio)} times faster" if r.cpu_ratio else "not reached" for r in (one, other)
        )
        rows.append(
            (one.peer.corpus, names[one.peer.system], number(one.target, 4), number(seconds), *ratios)
        )
    return table(head, rows)


def by_system(found: Curves, cell: str) -> str:
    """Return systems x corpora of one number of each curve: see `_CELLS`."""
    names = list(dict.fromkeys(corpus for corpus, _ in found))
    systems = [name for name in labels() if any(system == name for _, system in found)]
    rows = []
    for system in systems:
        curves = [found.get((corpus, system)) for corpus in names]
        rows.append((labels()[system], *(_CELLS[cell](curve) if curve else "–" for curve in curves)))
    return table(("system", *names), rows)


def _memory(curve: Curve) -> str:
    record = curve.record
    return f"{record['peak_mb']:,.0f} ({record['peak_mb'] - record['base_mb']:+,.0f})"


_CELLS: dict[str, Callable[[Curve], str]] = {
    "best": lambda curve: number(curve.best, 4),
    "sweep": lambda curve: number(curve.seconds_per_sweep),
    "memory": _memory,
    "sweeps": lambda curve: f"{curve.sweep[-1]:g} in {number(curve.seconds[-1])} s",
}


def fold_in(found: Curves) -> str:
    """Return documents per second, and the perplexity of each system with its own topics."""
    rows = []
    for (corpus, system), curve in found.items():
        for entry in curve.record.get("fold_in", ()):
            ours = found.get((corpus, "ours-lda"))
            mine = ours.record["fold_in"][0]["docs_per_second"] if ours else None
            sweeps = f", {entry['iterations']} sweeps" if entry["iterations"] else ""
            ratio = None if mine is None else mine / entry["docs_per_second"]
            rate = f"{entry['docs_per_second']:,.0f}"
            rows.append(
                (corpus, labels()[system] + sweeps, rate, number(entry["perplexity"], 4), number(ratio))
            )
    return table(
        ("corpus", "system", "documents per second", "perplexity", "tagtopics LDA is faster by"), rows
    )


def quality(records: list[Record]) -> str:
    """Return the perplexity of each of our systems over seeds, and the worst ratio to the stored one."""
    found = {(r["job"]["corpus"], r["job"]["system"]): r["rows"] for r in of_kind(records, "quality")}
    rows = []
    for (corpus, system), seeds in sorted(found.items()):
        values = np.array([row["perplexity"] for row in seeds])
        stored = found.get((corpus, "-".join([*system.split("-")[:2], "stored"])))
        worst = "–"
        if stored and len(stored) == len(values):
            ratios = values / np.array([row["perplexity"] for row in stored])
            worst = f"{ratios.mean():.4f} ({ratios.max():.4f})"
        spread = number(float(values.std()), 2)
        rows.append(
            (corpus, labels().get(system, system), len(values), number(values.mean(), 4), spread, worst)
        )
    head = ("corpus", "system", "seeds", "mean perplexity", "deviation", "to stored: mean (worst)")
    return table(head, rows)


def compilation(records: list[Record]) -> str:
    """Return the seconds of a first fit with an empty cache, a filled one, and of a second fit."""
    rows = []
    for record in of_kind(records, "compilation"):
        for name, row in record["rows"].items():
            rows.append((record["job"]["cache"], name, number(row["first"]), number(row["second"])))
    return table(("cache on disk", "model", "first fit and transform, s", "second, s"), rows)


DOUBLINGS = (
    ("edges (LDA, twice the documents)", "LDA, documents x 2", "LDA"),
    ("topics (LDA)", "LDA, topics x 2", "LDA"),
    ("edges and slots (TTM-H, twice the documents)", "TTM-H, documents x 2", "TTM-H"),
    ("topics (TTM-H)", "TTM-H, topics x 2", "TTM-H"),
    ("slots (TTM-H, twice the tags, same words), whole sweep", "TTM-H, tags x 2", "TTM-H"),
)


def scaling(records: list[Record]) -> str:
    """Return seconds per sweep of each case, and the ratio of each doubling."""
    found = of_kind(records, "scaling")
    if not found:
        return table((), ())
    rows = found[0]["rows"]
    cases = table(
        ("case", "seconds per sweep", "slowest round / fastest"),
        [(name, number(row["seconds"]), row["spread"]) for name, row in rows.items()],
    )
    return cases + "\n\n" + table(("what", "ratio"), [(n, f"{r:.2f}") for n, r in ratios(rows).items()])


def ratios(rows: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return the ratios between scaling cases."""
    seconds = {name: row["seconds"] for name, row in rows.items()}
    found = {f"twice the {name}": seconds[a] / seconds[b] for name, a, b in DOUBLINGS}
    tags, twice = seconds["TTM-H"] - seconds["LDA"], seconds["TTM-H, tags x 2"] - seconds["LDA"]
    found["twice the slots, what TTM-H adds to LDA"] = twice / tags if tags > 0 else float("nan")
    found["TTM-H sweep to LDA sweep, 3.5 tags a document"] = seconds["TTM-H"] / seconds["LDA"]
    found["order 4 to order 3"] = seconds["TTM-H, order 4"] / seconds["TTM-H"]
    return found


def roofline(records: list[Record]) -> str:
    """Return the measured limits of the machine, and the fraction of them that each engine reaches."""
    found = of_kind(records, "roofline")
    if not found:
        return table((), ())
    machine = found[0]["machine"]
    limits = table(
        ("in-place scale, GB/s", "triad, GB/s", "gather of rows, GB/s", "multiply-add peak, Gflop/s"),
        [[number(machine[name] / 1e9) for name in ("scale", "triad", "gather", "flops")]],
    )
    head = (
        "engine",
        "seconds per sweep",
        "streamed, GB",
        "gathered, GB",
        "Gflop",
        "fraction",
        "with gathers",
    )
    rows = [
        (
            name,
            number(row["seconds"]),
            *(number(row[key] / 1e9) for key in ("stream", "gather", "flops")),
            row["fraction"],
            row["fraction_with_gathers"],
        )
        for name, row in found[0]["rows"].items()
    ]
    return limits + "\n\n" + table(head, rows)


def memory(records: list[Record]) -> str:
    """Return the peak memory of the lean engine above a large corpus."""
    rows = [
        (f"{r['corpus']['docs']:,}", f"{r['corpus']['edges']:,}", number(r["base_mb"]), number(r["above_mb"]))
        for r in of_kind(records, "memory")
        if "above_mb" in r
    ]
    return table(("documents", "edges", "before the fit, MB", "peak above that, MB"), rows)


def pilots(records: list[Record]) -> str:
    """Return the validation perplexity of each pilot run."""
    rows = [
        (
            record["job"]["corpus"],
            labels()[record["job"]["system"]],
            *record["job"]["priors"],
            number(min(record["curve"]["validation"]), 4),
            f"{record['curve']['sweep'][-1]:g}",
        )
        for record in of_kind(records, "pilot")
    ]
    return table(("corpus", "system", "alpha", "eta", "validation perplexity", "sweeps or passes"), rows)


def goals(rows: list[Reach]) -> str:
    """Return our speedup over each kind of peer, over all corpora.

    Of the two schemes of tomotopy LDA, only the faster one counts on each corpus.
    """
    kinds: dict[str, dict[str, Reach]] = {}
    for row in rows:
        kind = row.peer.system.removesuffix("-copy").removesuffix("-partition")
        kept = kinds.setdefault(kind, {}).get(row.peer.corpus)
        if kept is None or row.their_seconds < kept.their_seconds:
            kinds[kind][row.peer.corpus] = row
    lines = []
    for kind, cells in kinds.items():
        label = next(p.label for name, p in peers.PEERS.items() if name.startswith(kind)).split(" (COPY")[0]
        known = [cell.ratio for cell in cells.values() if cell.ratio is not None]
        least = number(min(known)) if known else "–"
        fifty = f"{sum(ratio >= 50 for ratio in known)} of {len(cells)}"
        lines.append(
            (label, least, number(float(np.median(known))) if known else "–", fifty, len(cells) - len(known))
        )
    head = ("peer", "speedup: minimum", "median", "50 x or more on", "not reached on")
    return table(head, lines)
