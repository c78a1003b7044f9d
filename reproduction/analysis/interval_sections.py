"""Sections of pages/analysis-results.md about the intervals of `choose` and `effects`."""

# ruff: noqa: E501  # sentences of a page
from __future__ import annotations

from typing import Any

import numpy as np


def interval_text(row: Any) -> str:
    """Return the interval of `choose` in words."""
    low, high = row["interval"]
    return f"{low} or more" if high is None else f"{low} to {high}"


def covers(row: Any) -> bool:
    """Tell whether the interval of `choose` contains the planted number."""
    low, high = row["interval"]
    return bool(low <= row["planted"] <= (high or np.inf))


def hard_numbers_section(rows: Any) -> str:
    """Return the section of `numbers.py`."""
    closed = [row for row in rows if row["interval"][1] is not None]
    lines = [
        f"| {row['shape']} | {row['planted']} | {row['docs']:,} | {row['tokens']} | {row['best_score']} | {row['estimate']:.1f} | "
        f"{row['half_estimate']:.1f} | {row['recommended']} | {interval_text(row)}{'' if covers(row) else ' **(missed)**'} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: correlated topics, short documents, topic sizes of a power law\n",
        f"The interval contains the planted number for {sum(map(covers, rows))} of {len(rows)} corpora. {len(closed)} intervals have an upper "
        f"end, of which {sum(map(covers, closed))} contain it; for the others the command says that the documents are too few or too short: "
        "half of them give less than three quarters of the topics; or that some restarts prefer the largest number. Words have Zipf's frequencies, documents log-normal lengths; short "
        "documents have a fifth of the tokens. Grid 5, 8, 12, 18, 30, 45, so that 20 topics are not in it; five restarts. "
        "The rule was developed on corpora with other seeds.\n",
        "| topics | planted | documents | tokens | best score at | found again | of half | recommended | interval |",
        "|---|---|---|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def by_kind(rows: Any) -> list[Any]:
    """Return intervals, coverage and error of each kind of effect; earlier records have just these."""
    if isinstance(rows, dict):
        return list(rows["rows"])
    kinds = {
        kind: [row for row in rows if row["kind"] == kind] for kind in dict.fromkeys(r["kind"] for r in rows)
    }
    return [
        {"kind": kind, "intervals": len(own), "coverage": np.mean([row["covered"] for row in own]),
         "rmse": np.sqrt(np.mean([row["error"] ** 2 for row in own]))}
        for kind, own in kinds.items()
    ]  # fmt: skip


def correlated_section(rows: Any) -> str:
    """Return the section of `correlated_effects.py`."""
    lines = [
        f"| {row['kind']} | {row['intervals']:,} | {100 * row['coverage']:.1f} % | {100 * row['rmse']:.2f} |"
        for row in by_kind(rows)
    ]
    return "\n".join([
        "## `effects`: formulas and correlated topics\n",
        f"`~ rating + s(day, 5)` on {len({row['seed'] for row in rows})} corpora of 300 to 500 documents with 4 to 8 topics. Shares are logistic-normal: topics are "
        "correlated in pairs and depend on a rating and, along a sine curve, on the day. The true effects are those of 100,000 further "
        "documents; the curve is tested at three days. 50 refits each.\n",
        "| term | intervals | contain the true effect | root mean squared error, points |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def edited_section(rows: Any) -> str:
    """Return the section of `edited_effects.py`."""
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == corpus]
        measured = [row for row in own if "refused" not in row]
        slopes = (
            f"{sum(row['slopes_inside'] for row in measured)} of {sum(row['topics'] for row in measured)}"
        )
        near = sum(row["difference"] <= 0.01 for row in measured)
        most = max(row["difference"] for row in measured)
        lines.append(f"| {corpus} | {len(own)} | {len(own) - len(measured)} | {near} of {len(measured)} | {100 * most:.2f} | "
                     f"{min(row['similarity'] for row in measured):.3f} | {slopes} |")  # fmt: skip
    return "\n".join([
        "## `effects` after random edits\n",
        "Sequences of two to five merges, bans and renames of 15 topics of 2,000 documents, compared with the shares of "
        "documents in the edited model itself. 20 refits each.\n",
        "| corpus | sequences | refused | shares within 1 point | largest difference, points | least cosine | slopes within their intervals |",
        "|---|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def priors_section(rows: Any) -> str:
    """Return the section of the priors of refits."""
    lines = []
    for prior in dict.fromkeys(row["prior"] for row in rows):
        own = [row for row in rows if row["prior"] == prior]
        true, (estimate, low, high) = (
            np.array([row["true"] for row in own]),
            np.array([row["effect"] for row in own]).T,
        )
        inside, slope = np.mean((low <= true) & (true <= high)), estimate @ true / (true @ true)
        lines.append(
            f"| {prior} | {len(own)} | {100 * inside:.0f} % | {100 * np.mean(high - low):.2f} | {100 * (slope - 1):+.1f} % |"
        )
    return "\n".join([
        "## `effects`: the prior of refits\n",
        "90 % intervals of the effect of the year on 40 further generated corpora, 50 refits each. The bias is that of all effects, in % of them.\n",
        "| prior of refits | intervals | contain the true effect | mean width, points | bias |", "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def refits_section(rows: Any) -> str:
    """Return the section of the ways to refit edited topics."""
    lines = [
        f"| {row['corpus']} | {row['refits']} | {100 * row['difference']:.2f} | {row['similarity']:.3f} | "
        f"{row['slopes_inside']} of {row['topics']} | {100 * row['width'] / first['width']:.0f} % |"
        for row in rows
        for first in [next(other for other in rows if other["corpus"] == row["corpus"])]
    ]
    return "\n".join([
        "## `effects`: ways to refit edited topics\n",
        "15 topics of 2,000 documents, as fitted and after two topics were merged, compared with the shares of documents in the model itself. Held: the words of topics are a "
        "prior. The last row of a corpus is what `effects` does. 20 refits.\n",
        "| corpus | refits | largest difference of a share, points | least cosine | slopes within their intervals | width of intervals |",
        "|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip
