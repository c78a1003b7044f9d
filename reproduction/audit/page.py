"""Write pages/audit-results.md from the records of `results.py`.

python -m reproduction.audit.page
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction import PAGES, ROOT
from reproduction.audit.results import FEWEST, SPLIT, records

CORPORA = ("reuters", "bibtex", "tibcore", "anthology")
KINDS = ("doubtful", "missing")
ORDERS = {
    "ours": "audit",
    "neighbours": "nearest documents",
    "recommender": "recommender",
    "random": "random",
}
PICTURE = ROOT / "docs" / "images" / "audit-baselines.svg"
SEEDS, RATIO, TWICE, TENTH, PRECISION, SIBLINGS = 5, 1.15, 2, 0.1, 0.9, 0.05
"""The goals: seeds, ratios to cleanlab and simple orders, share of the time, precision, flagged siblings."""

Rows = list[dict[str, Any]]

HEAD = """# Audit: planted errors

Written by `reproduction/audit/page.py` from the records of `results.py`. 5 % of the taggings of
the training documents are removed, and as many added at random: every pair of a document and a tag that it
does not have is equally likely.

"""

HOW = """## How it was measured

Settings of the audit were chosen on the docstrings, CORA and Corel, and later ones
with other seeds on CORA, bibtex, Reuters, TIB core and the anthology (thresholds: on a fifth of their
training parts), the part of the other tags on seed 0,
so that these are not untouched test data (decisions 270 and 231). That documents without
tags need random ones, too, was found in these results of Reuters. Duplicates were measured before words
were credited to tags in every fifth sweep (decision 223), which changes the profiles of tags in the third
digit.
Seconds are processor seconds of one seed, ours and cleanlab's measured one after the other on a machine
without other work, and the audit is the second one of a process, so that nothing is loaded or compiled. So
they do not compare with earlier versions of this page. 'fit' includes the recommender and is not needed for
a model that exists. Topics do not depend on tags: they are learned once for all seeds, and the recommender
for each seed. cleanlab gets
probabilities from five folds of a linear model on TF-IDF words, tuned on one fold of the first seed: a
logistic regression for each tag, tuned by its likelihood, or, for more than 1,000 tags, a ridge regression
of all tags in closed form, which is much faster, tuned by average precision. (By the likelihood, the
strongest regularisation is best for thousands of rare tags, whose ranks are then worse.) The time of
cleanlab does not include tuning."""

CEILING = """### What is possible with hidden names

A tag is told from its neighbours by the words and other tags of its documents, and half of few documents says
little. `ceiling.py` lets boosted trees learn from 300 tags that are split in the same way, some
of them the same tags, adds the right pairs to those compared, and leaves out pairs of the corpus with similar
names, as 'known' does. So they know more than an audit can, and still miss the goal; this is no proof, as
other signals might tell more. 'Half' is the median number of documents of a half. The trees are one learner
with one setting; the anthology was not measured."""


def page() -> None:
    """Write the page from the records."""
    draw_baselines()
    tables = (noise_table, baseline_table, f1_table, reliability_table, duplicate_table, ceiling_table)
    parts = [HEAD + "## Where it falls short\n\n" + "\n".join(losses()), HOW, *(table() for table in tables)]
    (PAGES / "audit-results.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def of(what: str) -> dict[str, Rows]:
    """Return the records of one measurement by corpus: those of the present version, if there are any."""
    found: dict[str, Rows] = {}
    for record in records():
        if record["what"] == what:
            found.setdefault(record["corpus"], []).append(record)
    present = {name: [row for row in rows if "earlier" not in row] or rows for name, rows in found.items()}
    return {name: sorted(present[name], key=lambda row: row["seed"]) for name in CORPORA if name in present}


def mean(rows: Rows, *path: str) -> float:
    """Return the mean of a value of records."""

    def value(row: Any) -> float:
        for name in path:
            row = row[name]
        return float(row)

    return float(np.mean([value(row) for row in rows]))


def compared() -> dict[str, tuple[Rows, Rows]]:
    """Return our records and those of cleanlab by corpus: of the seeds that both have, else all of ours."""
    theirs, both = of("cleanlab"), {}
    for name, all_ours in of("noise").items():
        seeds = {row["seed"] for row in theirs.get(name, ())}
        ours = [row for row in all_ours if row["seed"] in seeds] or all_ours
        both[name] = ours, [r for r in theirs.get(name, []) if r["seed"] in {row["seed"] for row in ours}]
    return both


# ------------------------------------------------------------------------------------------------- losses


def seconds(name: str, ours: Rows, theirs: Rows) -> tuple[float, float, float]:
    """Return the seconds of fit, audit and cleanlab, measured one after the other where they are."""
    found = of("seconds").get(name)
    if found:
        return mean(found, "fit"), mean(found, "audit"), mean(found, "cleanlab")
    return mean(ours, "fit_seconds"), mean(ours, "audit_seconds"), mean(theirs, "seconds")


def losses() -> list[str]:
    """Return a line for each goal that was missed or not measured."""
    parts = _noise_losses, _baseline_losses, _f1_losses, _duplicate_losses, _few_seeds, _earlier
    return [line for part in parts for line in part()] or ["Nowhere."]


def _noise_losses() -> list[str]:
    lines = []
    for name, (ours, theirs) in compared().items():
        if not theirs:
            lines.append(f"- {name}: cleanlab was not run.")
            continue
        for kind in KINDS:
            mine, other = mean(ours, kind), mean(theirs, kind)
            if mine < RATIO * other:
                why = ", which is impossible" if RATIO * other > 1 else ""
                lines.append(
                    f"- {name}: {kind} tags have {mine / other:.2f} times the average precision of cleanlab "
                    f"({mine:.3f} of {other:.3f}); {RATIO} was the goal{why}."
                )
        _, audit, other = seconds(name, ours, theirs)
        share = audit / other
        if share > TENTH:
            lines.append(
                f"- {name}: given a model, the audit takes {share:.0%} of the time of cleanlab; a tenth was "
                "the goal."
            )
    lines.append("- If the model has to be fitted first, a tenth of the time is met nowhere.")
    return lines


def _baseline_losses() -> list[str]:
    lines = []
    for name, rows in of("baselines frequent").items():
        best, ours = max(mean(rows, order) for order in ORDERS if order != "ours"), mean(rows, "ours")
        if ours < TWICE * best:
            why = "impossible" if TWICE * best > 1 else "missed"
            lines.append(
                f"- {name}: planted by frequency, the audit has {ours:.3f} and the best simple order "
                f"{best:.3f}; twice as much was the goal, which is {why}."
            )
    return lines


def _f1_losses() -> list[str]:
    found, lines = of("corrected"), []
    for name in CORPORA:
        if name not in found:
            lines.append(f"- {name}: F1 after corrections was not measured.")
            continue
        rows = found[name]
        for how in ("reviewed", "unseen"):
            title = "a review" if how == "reviewed" else "accepting all scores from .5 on"
            gain = mean(rows, "f1", how) - mean(rows, "f1", "before")
            n_up = sum(row["f1"][how] > row["f1"]["before"] for row in rows)
            if gain <= 0 or n_up < len(rows):
                lines.append(
                    f"- {name}: F1 changes by {gain:+.4f} after {title}, and rises for {n_up} of "
                    f"{len(rows)} seeds."
                )
    return lines


def _duplicate_losses() -> list[str]:
    lines = []
    for what, title in (("duplicates", "hidden"), ("variants", "similar")):
        for name, rows in of(what).items():
            share, known = mean(rows, "precision"), mean(rows, "precision_known")
            if share < PRECISION:
                lines.append(
                    f"- {name}: duplicates with {title} names have a precision of {share:.2f}, {known:.2f} "
                    f"without pairs of the corpus itself whose names are alike; {PRECISION} was the goal."
                )
            if mean(rows, "flagged_siblings") > SIBLINGS:
                lines.append(f"- {name}: {mean(rows, 'flagged_siblings'):.1%} of siblings are flagged.")
    return lines


def _few_seeds() -> list[str]:
    lines = []
    for what in ("noise", "cleanlab", "corrected", "duplicates", "variants"):
        few = [f"{name} ({len(rows)})" for name, rows in of(what).items() if len(rows) < SEEDS]
        if few:
            lines.append(f"- Fewer than {SEEDS} seeds of '{what}': {', '.join(few)}.")
    return lines


def _earlier() -> list[str]:
    """Return which records are of earlier versions."""
    found: dict[str, list[str]] = {}
    baselines = (f"baselines {how}" for how in ("uniform", "frequent", "clean"))
    for what in ("noise", "noise_frequent", "seconds", "corrected", "duplicates", "variants", *baselines):
        for name, rows in of(what).items():
            for version in dict.fromkeys(row["earlier"] for row in rows if "earlier" in row):
                found.setdefault(version, []).append(f"{what} of {name}")
    return [f"- Measured {version}: {', '.join(rows)}." for version, rows in found.items()]


# ------------------------------------------------------------------------------------------------- tables


def noise_table() -> str:
    """Return the table of average precision and seconds."""
    lines = ["## Wrong and missing tags", "", "Average precision of the ranked taggings.", ""]
    lines += ["| corpus (documents, tags) | seeds | doubtful: ours / cleanlab | ratio "
              "| missing: ours / cleanlab | ratio | "
              "seconds: fit + audit / cleanlab |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, (ours, theirs) in compared().items():
        cells = [f"{name} ({ours[0]['n_docs']:,}, {ours[0]['n_tags']:,})", str(len(ours))]
        for kind in KINDS:
            mine = mean(ours, kind)
            if theirs:
                cells += [f"{mine:.3f} / {mean(theirs, kind):.3f}", f"{mine / mean(theirs, kind):.2f}"]
            else:
                cells += [f"{mine:.3f} / not measured", ""]
        if theirs:
            cells.append("{:.1f} + {:.1f} / {:.1f}".format(*seconds(name, ours, theirs)))
        else:
            cells.append(f"{mean(ours, 'fit_seconds'):.1f} + {mean(ours, 'audit_seconds'):.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def baseline_table() -> str:
    """Return the table of average precision beside that of simple orders."""
    lines = ["### Simple baselines", "",
             "Average precision of planted wrong tags, one seed: the order of the audit, the share of the 20",
             "nearest documents (TF-IDF) that lack the tag, the recommender's score without the document,",
             "and a random order. 'Listed' is the order of the findings, where persons whose name no other",
             "can have come last (decision 270). The ratio is that to the best baseline.", "",
             "| corpus | planted | audit | listed | nearest documents | recommender | random | ratio |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for how in ("uniform", "frequent"):
        for name, rows in of(f"baselines {how}").items():
            values = {order: mean(rows, order) for order in (*ORDERS, "listed")}
            best = max(values[order] for order in ORDERS if order != "ours")
            shown = [values[order] for order in ("ours", "listed", "neighbours", "recommender", "random")]
            cells = [name, "uniformly" if how == "uniform" else "by frequency", *(f"{v:.3f}" for v in shown)]
            lines.append(f"| {' | '.join(cells)} | {values['ours'] / best:.2f} |")
    return "\n".join(lines)


def draw_baselines() -> None:
    """Draw the average precision of errors planted by frequency."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "tagtopics"
    from matplotlib.figure import Figure

    found = of("baselines frequent")
    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    axes = figure.subplots()
    for i, (order, label) in enumerate(ORDERS.items()):
        axes.bar(
            np.arange(len(found)) + 0.2 * i, [mean(rows, order) for rows in found.values()], 0.18, label=label
        )
    axes.set_xticks(np.arange(len(found)) + 0.3, list(found))
    axes.set_ylabel("average precision")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def f1_table() -> str:
    """Return the table of micro F1 before and after corrections."""
    lines = ["## What corrections are worth", "",
             "Micro F1 of recommended tags on clean test documents, and the change by corrections, with the",
             "number of seeds for which it rises. A review sees as many findings of each kind as errors were",
             "planted, and accepts the right ones; without a review, all scores from .5 on are accepted.", "",
             "| corpus | seeds | with errors | reviewed | without review | no errors |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name, rows in of("corrected").items():
        cells = [f"{mean(rows, 'f1', 'before'):.4f}"]
        for how in ("reviewed", "unseen"):
            gains = [row["f1"][how] - row["f1"]["before"] for row in rows]
            n_up = sum(gain > 0 for gain in gains)
            cells.append(f"{mean(rows, 'f1', how):.4f} ({np.mean(gains):+.4f}, {n_up})")
        cells.append(f"{mean(rows, 'f1', 'clean'):.4f}")
        lines.append(f"| {name} | {len(rows)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def reliability_table() -> str:
    """Return how often findings are right, by score."""
    lines = ["## What scores mean", "",
             "Findings of the first seed by score: how many, mean score, and the share that was planted.",
             "Corpora have errors of their own, which count as wrong here. The last rows show that scores",
             "are no probabilities: too low where errors are planted, and low without errors.", "",
             "| corpus | kind | .05 to .2 | .2 to .4 | .4 to .6 | .6 to .8 | from .8 |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    shown = [
        (name, kind, rows[0]["reliability"][kind]) for name, rows in of("noise").items() for kind in KINDS
    ]
    for how, title in (("frequent", "doubtful, by frequency"), ("clean", "doubtful, none planted")):
        shown += [(name, title, rows[0]["reliability"]) for name, rows in of(f"baselines {how}").items()]
    for name, kind, parts in shown:
        cells = ["-"] * 5
        for n, score, right in parts:
            cells[min(int(score / 0.2), 4)] = f"{n:,}: {score:.2f}, {right:.2f}"
        lines.append(f"| {name} | {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def duplicate_table() -> str:
    """Return the tables of planted duplicates."""
    lines = ["## Duplicates", "",
             f"{SPLIT} tags with {FEWEST} documents or more and four letters in their names (all, if there "
             "are fewer) are split at random into two halves. The second half gets a variant of the name, as",
             "people write it (capitals, plural, hyphen, order, initial, or one letter left out), or random "
             "letters, so that spelling cannot help. 'Known'",
             "leaves out pairs of two tags of the corpus with similar names: most of these are real "
             "duplicates ([appendix](appendix/101-duplicate-authors.md)).",
             "Siblings are the best-scored partners of tags that were not split; flagged means a score from "
             ".5 on. 'Compared' is how many halves were compared at all.", "",
             "| names | corpus | seeds | split | compared | precision at that rank | known | found with .5 "
             "| siblings flagged | seconds |",
             "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for what, title in (("duplicates", "hidden"), ("variants", "variants")):
        for name, rows in of(what).items():
            cells = [title, name, f"{len(rows)}", f"{rows[0]['n_split']}", f"{mean(rows, 'candidates'):.0f}"]
            cells.append(f"{mean(rows, 'precision'):.2f}")
            cells.append(f"{mean(rows, 'precision_known'):.2f}")
            cells += [f"{mean(rows, 'found'):.0f}", f"{mean(rows, 'flagged_siblings'):.1%}"]
            lines.append(f"| {' | '.join(cells)} | {mean(rows, 'seconds'):.1f} |")
    return "\n".join(lines)


def ceiling_table() -> str:
    """Return the table of what is possible where names are hidden."""
    lines = [CEILING, "", "| corpus | documents of a tag | seeds | split | half "
             "| precision of trees |", "|---|---|---|---|---|---|"]  # fmt: skip
    for what in dict.fromkeys(row["what"] for row in records() if row["what"].startswith("ceiling")):
        for name, rows in of(what).items():
            cells = [name, f"from {rows[0]['fewest']}", f"{len(rows)}", f"{mean(rows, 'n_split'):.0f}"]
            lines.append(f"| {' | '.join(cells)} | {mean(rows, 'half'):.0f} | {mean(rows, 'trees'):.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    page()
