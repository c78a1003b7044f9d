"""The page of the face-off, from its records alone: see `face_off`."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.face_off_worker import ENCODED, ENCODING, SYSTEMS

Rows = list[dict[str, Any]]
PLOT = Path(__file__).parents[1] / "docs" / "images" / "face-off.svg"
N_SEEDS = 5
SHOWN = ("tagtopics", "tagtopics + vectors", "NMF of TF-IDF", "BERTopic")  # side by side
MEASURES = {
    "npmi": ("NPMI", 3), "diversity": ("diversity", 2), "nmi": ("NMI", 3), "ari": ("ARI", 3),
    "perplexity": ("perplexity", 0), "stability": ("stability", 2), "seconds": ("s", 1),
    "whole": ("s, encoding included", 0), "megabytes": ("MB", 0),
}  # fmt: skip
INTERVALS = {"npmi", "diversity", "nmi", "ari", "perplexity"}


def stability(rows: Rows) -> float:
    """Return how many of the ten words two fits share in matched topics, mean over pairs of seeds."""
    shares = []
    for one, two in combinations([row["lists"] for row in rows], 2):
        common = np.array([[len(set(a) & set(b)) for b in two] for a in one])
        shares.append(common[linear_sum_assignment(-common)].mean() / 10)
    return float(np.mean(shares))


def values(rows: Rows, name: str, system: str) -> dict[str, Any]:
    """Return the measures of the seeds of a system, none if a seed is missing."""
    own = [row for row in rows if row["corpus"] == name and row["system"] == system]
    if len(own) < N_SEEDS:
        return {}
    found = {key: np.array([row[key] for row in own]) for key in MEASURES if key in own[0]}
    found["stability"] = np.array([stability(own)])
    encoding = [row["seconds"] / 2 for row in rows if row["corpus"] == name and row["system"] == ENCODING]
    if encoding:  # of all documents; half of them are learned from
        found["whole"] = found["seconds"] + (encoding[-1] if system in ENCODED else 0.0)
    return found


def table(rows: Rows, name: str) -> str:
    """Return the table of a collection: means of the seeds and half of their 95 % intervals."""
    found = {system: values(rows, name, system) for system in SYSTEMS}
    used = [key for key in MEASURES if any(key in measured for measured in found.values())]
    heads = [MEASURES[key][0] for key in used]
    lines = [f"| {name} | {' | '.join(heads)} |", "|---" * (len(used) + 1) + "|"]
    for system, measured in found.items():
        if measured:
            cells = [_cell(key, measured[key]) if key in measured else "" for key in used]
            lines.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(key: str, found: Any) -> str:
    """Return a mean, with half of its interval if the measure has one."""
    digits = MEASURES[key][1]
    shown = f"{found.mean():,.{digits}f}"
    half = 2.776 * found.std(ddof=1) / np.sqrt(len(found)) if key in INTERVALS else 0.0
    return f"{shown} ± {half:.{digits}f}" if key in INTERVALS else shown


def side_by_side(rows: Rows, name: str, words: list[str], shown: tuple[str, ...]) -> str:
    """Return topics of the first seed: each of ours beside the nearest list of the others."""
    fits = [row for row in rows if row["corpus"] == name and row["seed"] == 0 and row["system"] in shown]
    first = {row["system"]: row["lists"] for row in fits}
    own, *others = [system for system in shown if system in first]
    lines = [f"| {' | '.join([own, *others])} |", "|---" * (len(others) + 1) + "|"]
    for topic in first[own]:
        near = [max(first[system], key=lambda other: len(set(topic) & set(other))) for system in others]
        lines.append(f"| {' | '.join(', '.join(words[w] for w in one) for one in (topic, *near))} |")
    return "\n".join(lines)


def draw(rows: Rows, names: list[str]) -> None:
    """Draw diversity, and agreement with classes, against NPMI: means of collections."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    style: Any = {"svg.hashsalt": "face-off", "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 4.2))
        for axis, key in zip(axes, ("diversity", "nmi"), strict=True):
            _points(axis, rows, key, names)
        figure.suptitle(f"Means of {' and '.join(names)}; upper right is better")
        figure.tight_layout()
        figure.savefig(PLOT, metadata={"Date": None})
        pyplot.close(figure)


def _points(axis: Any, rows: Rows, key: str, names: list[str]) -> None:
    """Draw a point for each system that ran on all collections."""
    for system in SYSTEMS:
        found = [values(rows, name, system) for name in names]
        if not all(found):
            continue
        x, y = (float(np.mean([one[which].mean() for one in found])) for which in ("npmi", key))
        if x < 0:  # S3
            continue
        ours = system.startswith("tagtopics")
        axis.plot(x, y, "o", color="#0b6e99" if ours else "#7a7a7a", markersize=7 if ours else 5)
        weight = "bold" if ours else "normal"
        axis.annotate(system, (x, y), (0, 6), textcoords="offset points", ha="center", weight=weight)
    axis.margins(0.2, 0.12)
    axis.set_xlabel("NPMI")
    axis.set_ylabel(MEASURES[key][0])
    axis.grid(alpha=0.25)


def page(rows: Rows, names: tuple[str, ...], words: list[str]) -> str:
    """Draw the plot and return the page; `words` are those of BBC."""
    encodings = [row for row in rows if row["system"] == ENCODING]
    draw(
        rows,
        [row["corpus"] for row in encodings if values(rows, row["corpus"], SHOWN[1]).get("nmi") is not None],
    )
    rates = [row["documents"] / row["seconds"] for row in encodings]
    return _PAGE.format(
        losses=_LOSSES,
        notes=_NOTES,
        slow=min(rates),
        fast=max(rates),
        tables="\n\n".join(table(rows, name) for name in names),
        lists=side_by_side(rows, "bbc", words, SHOWN),
    )


_PAGE = """# Topics of several systems

Which topics can people read, which agree with classes, and which predict words? 20 topics are learned from a
half of the documents, drawn by each of five seeds, from the same words, with the default settings of every
system. Tables show means and half of the 95 % interval of the mean.

{losses}

![Diversity and agreement with classes against coherence](images/face-off.svg)

The picture has the systems that were run on both collections; S3, whose NPMI is negative, is left out.

## What is measured

- **NPMI**: how often the ten words of a topic occur together in the documents of the other half.
  **Diversity**: the share of different words in all lists. Ours are chosen for coherence from the words that
  tell a topic apart ([decision 256](decisions/256-topic-words.md)); others list words by their own weights.
- **NMI** and **ARI**: agreement of the main topic of a document with its class, which no system sees. Of
  Reuters, stories with one tag are used.
- **Perplexity** of half of the words of documents of the other half given the rest, for systems with
  p(word | topic). One fold-in is used for all; its prior is chosen on a fifth of these documents.
- **Stability**: the share of the ten words that two seeds have in common in matched topics. The halves
  differ, too.
- **s**: processor seconds of the fit on one core, without reading. **Encoding included**: with those that
  all-MiniLM-L6-v2 takes for the documents, at most 128 tokens of each, {slow:.0f} to {fast:.0f} documents a
  second. Other programs ran at the same time. **MB**: peak memory of the process.

{notes}

{tables}

## BBC news, side by side

The lists of the first seed: each topic of tagtopics beside the list of each other system that shares most
words with it.

{lists}

Written by `python -m benchmarks.face_off page` from `benchmarks/results/face-off.jsonl`; the program says how
to repeat a run.
"""

_LOSSES = """\
**Where we lose.** On Reuters, BERTopic agrees better with the classes than our topics with vectors do, by
ARI; by NMI they are level. Vectors cost us words: perplexity is 3 to 9 % higher than in our rows without,
and on anthology, TIB core and dblp lists are less coherent and change more from seed to seed; there our
topics without vectors are the better ones. NMF, KeyNMF, topica and k-means are mostly more stable. On the
titles of dblp, with five words each, the lists of tomotopy, topica and k-means are more coherent, but
repeat words. NMF takes less time. topica predicts words nearly as well on BBC and Poliblog.

**Where we lead.** Of the systems that learn from words alone, ours has the most coherent and the most
different lists on all collections but dblp, and predicts words best on all. With vectors, its topics
agree with the classes of BBC and dblp better than those of the other systems (BERTopic's ARI and NMI on
BBC are within the intervals), and on BBC and Reuters their lists are at least as coherent as ours without
vectors."""

_NOTES = """\
Our rows are those of commit 480938fa and, with vectors, 83e89114. The others were run before; their
versions were not recorded, the newest are now BERTopic 0.17.4, turftopic 0.28.0 (KeyNMF, S3), tomotopy
0.14.0, topica 0.62.0 and scikit-learn 1.9.1. Outliers of BERTopic are given to the nearest cluster for
NMI and ARI; it may find fewer than 20 topics. k-means lists words by class-based TF-IDF. tomotopy and
topica run 1,000 sweeps. On BBC and dblp, the other systems had vectors of mixed precision (cosine with
ours .99998).

**What is missing.** Poliblog has counts of words and no texts, so no vectors. BERTopic stops with an
error on anthology (first seed). Not run: BERTopic on TIB core, KeyNMF and S3 on Reuters and anthology,
topica on anthology, and FASTopic."""
