"""Write docs/analysis-results.md from the records of `scripts/analysis_results.py`."""

# ruff: noqa: E501  # sentences of a page
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def page(folder: Path) -> str:
    """Return the page of all records in a folder."""
    measured = [name for name in PARTS if (folder / f"{name}.json").exists()]
    sections = [SECTIONS[name](json.loads((folder / f"{name}.json").read_text())) for name in measured]
    head = """# How many topics, effects and time

Written by `scripts/analysis_results.py`. The rules of `choose` and `effects` were developed on generated corpora with other settings
and seeds than those reported here; for drifts, see there. The machine had two cores, which other programs used at the same time except for reuters.
The first two sections were measured with up to 100 sweeps for each fit, before the fits of `choose` were limited to 60. Repeated with 60,
the corpora with 10 and 25 planted topics have the same recommended numbers; the others were not repeated.
"""
    return "\n".join([head, *sections])


def _cost(record: Any) -> str:
    """Return the seconds of a record in a sentence."""
    used, load = record["processor_seconds"], record["load"]
    return (
        f"{record['seconds']:.0f} s, of which this program had {used:.0f} processor seconds (about {used / 2:.0f} s "
        f"on two idle cores), at a load average of {load:.1f}."
    )


def _planted_section(rows: Any) -> str:
    errors = [abs(row["recommended"] - row["planted"]) / row["planted"] for row in rows]
    inside = sum(row["interval"][0] <= row["planted"] <= row["interval"][1] for row in rows)
    lines = [
        f"| {row['planted']} | {row['docs']:,} | {row['words']:,} | {row['best_score']} | {row['estimate']:.1f} | "
        f"{row['recommended']} | {row['interval'][0]} to {row['interval'][1]} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: planted numbers of topics\n",
        f"Mean absolute error of the recommended number: **{100 * np.mean(errors):.0f} %**; worst "
        f"{100 * max(errors):.0f} %. The interval contains the planted number for {inside} of {len(rows)} corpora: it is "
        "over restarts on one corpus, and too short to be an interval of the truth. Grid "
        f"{', '.join(map(str, GRID))}; five restarts.\n",
        "| planted | documents | words | best score at | found again | recommended | interval |",
        "|---|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _coherence_section(rows: Any) -> str:
    wins = sum(row["npmi_stable"] > row["npmi_rest"] for row in rows)
    lines = [
        f"| {row['corpus']} | {100 * row['stability']:.0f} % | {row['stable']} of 50 | {row['npmi_stable']:.3f} | "
        f"{row['npmi_rest']:.3f} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: topics that are found again are more coherent\n",
        "50 topics, ten restarts; NPMI of ten words, counted in documents that no fit has seen. Topics found in at least 80 % of the "
        f"restarts are more coherent on {wins} of {len(rows)} corpora.\n",
        "| corpus | found again | found in 8 or more of 10 | their NPMI | NPMI of the others |",
        "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _reuters_section(record: Any) -> str:
    lines = [
        f"| {row['n_topics']} | {row['score']:.4f} | {row['error']:.4f} | {100 * row['stability']:.0f} % |"
        for row in record["rows"]
    ]
    return "\n".join([
        "## `choose`: reuters, 8 numbers of topics, 10 restarts\n",
        f"{_cost(record)} Recommended: {record['recommended']}; {' '.join(record['notes'])}.\n",
        "| topics | score | error | found again |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _coverage_section(record: Any) -> str:
    lines = [
        f"| {row['kind']} | {row['intervals']:,} | {100 * row['coverage']:.1f} % | {100 * row['rmse']:.2f} |"
        for row in record["rows"]
    ]
    return "\n".join([
        "## `effects`: 90 % intervals on generated corpora\n",
        f"{record['corpora']} corpora of 250 to 450 documents with 4 to 8 topics, whose shares depend on the year (10 years) and on the venue "
        f"(3 venues); documents from pure to mixed; {record['refits']} refits each. An interval counts if it contains the planted "
        "effect on the planted topic that is matched with the topic of the model.\n",
        "| effect of | intervals | contain the planted effect | root mean squared error, % of tokens |",
        "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _drifts_section(rows: Any) -> str:
    lines = [
        f"| {100 * row['moved']:.0f} % | {np.mean(row['auc']):.3f} | {min(row['auc']):.3f} | {row['found']} of {row['planted']} | "
        f"{row['false']} of {row['reported']} |"
        for row in rows
    ]
    return "\n".join([
        "## `trends`: planted drifts of tags\n",
        "Five corpora for each size of drift: 1,500 documents of ten years, 40 tags, one to three on a document. Of ten tags, a share of the tokens "
        "(at most that of the main topic) moves from the main topic to another one over the years. The area under the ROC curve ranks all tags by their score. "
        "The method was developed on corpora of the same generator with other seeds. It replaced a simpler one after four results of "
        "that on the corpora of the first row (AUC .863, 1.000, .990, .960) had been seen, so these figures are somewhat optimistic. \n",
        "| share that moves | mean AUC | least AUC | drifts reported | false reports |", "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _anthology_section(record: Any) -> str:
    lines = [
        f"| {row['topic']} | {' '.join(record['words'][str(row['topic'])])} | {100 * row['estimate']:+.2f} | "
        f"{100 * row['low']:+.2f} to {100 * row['high']:+.2f} |"
        for row in record["rows"][:12]
    ]
    return "\n".join([
        "## `effects`: anthology, 200 refits\n",
        f"{record['docs']:,} papers; effects of the year and of the venue, given {record['authors']:,} authors, on 30 topics. "
        f"{_cost(record)} "
        f"{record['clear']} of {record['all']} intervals exclude zero. The largest effects of the year, per year:\n",
        "| topic | words | effect, % of tokens | 90 % interval |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[Any], str]] = {
    "planted": _planted_section,
    "coherence": _coherence_section,
    "reuters": _reuters_section,
    "coverage": _coverage_section,
    "drifts": _drifts_section,
    "anthology": _anthology_section,
}
