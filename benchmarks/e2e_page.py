"""The page of `make bench-e2e`: a table of seconds per step, and a chart of stacked bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]

STEPS = (
    "import",
    "read",
    "count",
    "start",
    "sweeps",
    "tags",
    "recommender",
    "fit",
    "save",
    "load",
    "record",
    "render",
    "other",
)
LABELS = {
    "ours": "tagtopics",
    "tomotopy": "tomotopy + pyLDAvis",
    "gensim": "gensim + pyLDAvis",
    "sklearn": "scikit-learn + pyLDAvis",
}
_COLOURS = (
    "#0b6e99", "#4f9fa8", "#b08900", "#c8371b", "#8b5fa8", "#5b8c5a", "#a0522d", "#c27ba0", "#3f3f3f",
    "#7a7a7a", "#d0d0d0", "#e8d9b5", "#2f4f4f",
)  # fmt: skip

HEAD = """# From file to report

Seconds from raw JSON lines to a report on disk, on two cores, one system after the other. Written by
`make bench-e2e` from the records in `benchmarks/results/e2e`. Figures are of commit d462144.

- **Ours** are `tagtopics fit` and `tagtopics report` with their defaults: tags, a tag recommender and texts
  included. `load` is the time to load the model; `other` is the rest.
- **A peer** reads the lines with Python's `json` module, counts words with scikit-learn's `CountVectorizer`,
  fits LDA with as many sweeps or passes as its own documentation uses, and writes a page with pyLDAvis
  (layout `mmds`: its default cannot write every model). A peer knows no tags. The topics are not equally
  good: the [benchmarks](benchmarks.md) compare at equal perplexity.
- **Corpora.** `generated` has words drawn from 50 planted topics, with authors and years. `abstracts` has
  abstracts of the ACL Anthology with their authors and, after the last of them, mixtures: the first half of
  one joined to the second half of another, with the authors of both.

![Seconds of each step, one bar for each system](images/bench-e2e.svg)
"""


def write_page(folder: Path, docs: Path) -> None:
    """Write docs/benchmarks-e2e.md and its figure from the records of a folder."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    groups: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: list(LABELS).index(record["job"]["system"])):
        groups.setdefault(record["job"]["corpus"], []).append(record)
    ordered = dict(sorted(groups.items(), reverse=True))
    (docs / "images").mkdir(parents=True, exist_ok=True)
    draw(ordered, docs / "images" / "bench-e2e.svg")
    parts = [HEAD, _losses(ordered), *(_section(corpus, found) for corpus, found in ordered.items())]
    (docs / "benchmarks-e2e.md").write_text("\n".join(parts), encoding="utf-8")


def _losses(groups: dict[str, list[Record]]) -> str:
    """Return a section of all that takes longer, or more memory, with ours than with a peer."""
    lines = []
    for corpus, (ours, *peers) in groups.items():
        if ours["job"]["system"] != "ours":
            continue
        costs = {name: [_costs(peer).get(name) for peer in peers] for name in _costs(ours)}
        found = [
            name
            for name, mine in _costs(ours).items()
            if any(theirs is not None and mine > theirs for theirs in costs[name])
        ]
        if found:
            lines.append(f"- {corpus}: {', '.join(found)}.")
    nothing = "Nothing that both do takes longer or more memory than with a peer."
    if not any(len(found) > 1 for found in groups.values()):
        nothing = "Not known: no peer was measured."
    return "\n".join(["## Where ours loses", "", *(lines or [nothing]), ""])


def _costs(record: Record) -> dict[str, float]:
    """Return the seconds of each step and in total, and the peak memory."""
    return {**record["seconds"], "total": record["total"], "peak memory": record["peak_mb"]}


def _section(corpus: str, records: list[Record]) -> str:
    job, first = records[0]["job"], records[0]
    steps = [step for step in STEPS if any(record["seconds"].get(step) for record in records)]
    lines = [
        f"## {corpus.capitalize()}",
        "",
        f"{job['n_docs']:,} documents, {first['n_tokens']:,} tokens, {first['n_words']:,} words, "
        f"{job['n_topics']} topics. Load of the machine before each run: "
        f"{', '.join(str(record['load']) for record in records)}.",
        "",
        "| step, seconds | " + " | ".join(_label(record) for record in records) + " |",
        "|---|" + "---:|" * len(records),
    ]
    rows = {step: [_cell(record["seconds"].get(step)) for record in records] for step in steps}
    rows["**total**"] = [f"**{record['total']:.1f}**" for record in records]
    rows["sweeps or passes"] = [str(record["iterations"]) for record in records]
    rows["peak memory, MB"] = [f"{record['peak_mb']:,.0f}" for record in records]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def _cell(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}"


def _label(record: Record) -> str:
    label = LABELS[record["job"]["system"]]
    return label if record.get("page", True) else label.replace(" + pyLDAvis", ", no page")


def draw(groups: dict[str, list[Record]], path: Path) -> None:
    """Draw one panel of stacked bars for each corpus, the same for the same records."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    style: Any = {"svg.hashsalt": "bench", "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(len(groups) or 1, figsize=(9, 2.2 * (len(groups) or 1)), squeeze=False)
        for axis, (corpus, records) in zip(axes.flat, groups.items(), strict=False):
            left = [0.0] * len(records)
            for step, colour in zip(STEPS, _COLOURS, strict=True):
                widths = [record["seconds"].get(step, 0.0) for record in records]
                axis.barh([_label(record) for record in records], widths, left=left, color=colour, label=step)
                left = [a + b for a, b in zip(left, widths, strict=True)]
            axis.invert_yaxis()
            axis.set_title(f"{corpus}, {records[0]['job']['n_docs']:,} documents")
            axis.set_xlabel("seconds")
        handles, names = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="center right", frameon=False)
        figure.tight_layout(rect=(0, 0, 0.86, 1))
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
