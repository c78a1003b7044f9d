"""Sections of pages/analysis-results.md about `effects` beside a structural topic model."""

# ruff: noqa: E501  # sentences of a page
from __future__ import annotations

from typing import Any

import numpy as np


def _effect(values: Any) -> str:
    return f"{100 * values[0]:+.1f} ({100 * values[1]:+.1f} to {100 * values[2]:+.1f})"


def _both(rows: Any) -> list[str]:
    """Return a table of the effects of both on topics that are matched by their words."""
    return [
        "| topic, `effects` | effect | topic, topica | effect | cosine |",
        "|---|---|---|---|---|",
        *(
            f"| {' '.join(row['our_words'][:4])} | {_effect(row['ours'])} | {' '.join(row['their_words'][:4])} | {_effect(row['theirs'])} | {row['cosine']:.2f} |"
            for row in rows
        ),
        "",
    ]


def gadarian_section(record: Any) -> str:
    """Return the section of stm's first example, and why the effects of both differ."""
    first = max(record["aware"], key=lambda row: abs(row["effect"][0]))
    unaware = max(record["unaware"], key=lambda row: abs(row["effect"][0]))
    clear, n = record["clear"], record["intervals"]
    return "\n".join([
        "## `effects` beside a structural topic model: open answers\n",
        "The published example of R's stm: open answers about immigration, half of them after a text that makes anxious; three topics, effect of "
        "the treatment in points with 90 % intervals. R's stm is not among Debian's packages, so its model was run in an "
        f"implementation for Python, topica {record['version']}, which draws from the posterior as stm does; {record['documents']} documents of {record['tokens']:.0f} words "
        "on average. Ours are 200 refits.\n",
        *_both(record["rows"]),
        "Effects differ because the topics do. A structural topic model knows the treatment while it learns, and with few words a document it finds topics that "
        f"separate the two groups. Our shares of documents in its topics have the same effects (\"{' '.join(first['words'][:3])}\": {100 * first['folded']:+.1f}, its own {100 * first['effect'][0]:+.1f}). "
        f"topica's model without the treatment, a correlated topic model, has {_effect(unaware['effect'])} as its largest effect. The intervals of a structural topic model leave out that its "
        f"topics were selected: with randomly permuted treatments, which have no effect, {clear['theirs']} of {n} of its intervals exclude zero, and {clear['ours']} of {n} of ours; "
        f"{n // 10} are expected.\n",
    ])  # fmt: skip


def poliblog_section(record: Any) -> str:
    """Return the section of the example of stm's vignette."""
    return "\n".join([
        "## `effects` beside a structural topic model: political blogs\n",
        f"The example of stm's vignette, `~ rating + s(day)`: {record['documents']:,} posts of 2008, 20 topics; the difference of liberal and conservative blogs in points "
        "with 90 % intervals; 50 refits.\n",
        *_both(record["rows"]),
    ])  # fmt: skip


def beside_section(rows: Any) -> str:
    """Return the section of planted effects."""
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        for who, label in (("ours", "`effects`"), ("theirs", "topica")):
            own = [row for row in rows if row["case"] == case and row["who"] == who]
            estimate, low, high = np.array([row["effect"] for row in own]).T
            true = np.array([row["true"] for row in own])
            error = np.sqrt(np.mean((estimate - true) ** 2))
            lines.append(f"| {case} | {label} | {len(own)} | {100 * np.mean((low <= true) & (true <= high)):.0f} % | "
                         f"{100 * np.mean(high - low):.2f} | {100 * error:.2f} |")  # fmt: skip
    return "\n".join([
        "## `effects` beside a structural topic model: planted effects\n",
        "90 % intervals on 50 generated corpora of each kind, 250 to 500 documents with 4 to 8 topics. Dirichlet shares are what LDA assumes; the effect is that of the year. "
        "Logistic-normal shares are what stm assumes; the effect is that of a rating, with the day held constant. Both get the same regressors. 50 refits.\n",
        "| documents | | intervals | contain the true effect | mean width, points | root mean squared error |", "|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip
