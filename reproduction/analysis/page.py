"""Write pages/analysis-results.md from the records of `results.py`."""

# ruff: noqa: E501  # sentences of a page
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduction.analysis.interval_sections import (
    by_kind,
    correlated_section,
    covers,
    edited_section,
    hard_numbers_section,
    interval_text,
    priors_section,
    refits_section,
)
from reproduction.analysis.peer_sections import beside_section, gadarian_section, poliblog_section

HEAD = """# The analyst's workflow

Written by `reproduction/analysis/results.py` from the records in `reproduction/records/analysis`. Intervals of `choose` for correlated, short and
unequal topics are of 19 November 2026, all figures of `effects` except those of anthology of the day before. The other figures were measured earlier in November, before priors
and the exponent were chosen on held-out documents (decision 206); planted numbers and reuters also before `choose` extended its numbers and rounded its intervals
outwards. The rules of `choose` and `effects` were developed on generated corpora with other settings and seeds than those reported here; for drifts, see there. The
machine had two cores. Times are from runs without other programs; for the other figures, other programs used the machine, too.
"""


def page(folder: Path) -> str:
    """Return the page of all records in a folder; losses come first."""
    found = {name: records(folder, name) for name in SECTIONS}
    sections = [SECTIONS[name](rows) + _age(folder, name) for name, rows in found.items() if rows]
    lines = [SUMMARY[name](rows) for name, rows in found.items() if rows and name in SUMMARY]
    rows = [f"| {line.what} | {line.goal} | {line.figure} | {line.verdict} |" for line in lines]
    losses, met = (
        [row for row, line in zip(rows, lines, strict=True) if line.met is ok] for ok in (False, True)
    )
    table = [
        "## Goals, those not met first\n",
        "| what | goal | measured | |",
        "|---|---|---|---|",
        *losses,
        *met,
        "",
    ]
    return "\n".join([HEAD, *table, *sections])


def records(folder: Path, name: str) -> Any:
    """Return the record of a part, or the rows of all records `name-*.json`, joined; else an earlier one."""
    if (folder / f"{name}.json").exists():
        return json.loads((folder / f"{name}.json").read_text())
    parts = sorted(folder.glob(f"{name}-*.json"), key=lambda path: _order(path.stem))
    if not parts and (folder / "earlier" / f"{name}.json").exists():
        return json.loads((folder / "earlier" / f"{name}.json").read_text())
    return [row for path in parts for row in json.loads(path.read_text())]


def _age(folder: Path, name: str) -> str:
    """Return a sentence if the record is from an earlier version, in the folder `earlier`."""
    if list(folder.glob(f"{name}.json")) + list(folder.glob(f"{name}-*.json")):
        return ""
    sweeps = " with up to 100 sweeps for each fit (60 now)" if name in ("planted", "coherence") else ""
    return f"\nMeasured with an earlier version of the code{sweeps}; not repeated since.\n"


def _order(stem: str) -> tuple[int, str]:
    last = stem.rpartition("-")[2]
    return (int(last), "") if last.isdigit() else (0, last)


class Line(NamedTuple):
    """A goal and what was measured."""

    what: str
    goal: str
    figure: str
    met: bool

    @property
    def verdict(self) -> str:
        """In words."""
        return "met" if self.met else "**not met**"


def _cost(record: Any) -> str:
    """Return the seconds of a record in a sentence."""
    used, load = record["processor_seconds"], record["load"]
    return (
        f"{record['seconds']:.0f} s, of which this program had {used:.0f} processor seconds (about {used / 2:.0f} s "
        f"on two idle cores), at a load average of {load:.1f}."
    )


def _planted_section(rows: Any) -> str:
    errors = [abs(row["recommended"] - row["planted"]) / row["planted"] for row in rows]
    inside = sum(map(covers, rows))
    lines = [
        f"| {row['planted']} | {row['docs']:,} | {row['words']:,} | {row['best_score']} | {row['estimate']:.1f} | "
        f"{row['recommended']} | {interval_text(row)} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: planted numbers of topics\n",
        f"Mean absolute error of the recommended number: **{100 * np.mean(errors):.0f} %**; worst "
        f"{100 * max(errors):.0f} %. The interval contains the planted number for {inside} of {len(rows)} corpora. Grid "
        f"5, 10, 15, 25, 35, 50, 75, 100, 150; five restarts.\n",
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


def _coverage_section(rows: Any) -> str:
    lines = [
        f"| {row['kind']} | {row['intervals']:,} | {100 * row['coverage']:.1f} % | {100 * row['rmse']:.2f} |"
        for row in by_kind(rows)
    ]
    corpora = rows["corpora"] if isinstance(rows, dict) else len({row["seed"] for row in rows})
    return "\n".join([
        "## `effects`: 90 % intervals on generated corpora\n",
        f"{corpora} corpora of 250 to 450 documents with 4 to 8 topics, whose shares depend on the year (10 years) and on the venue "
        "(3 venues); documents from pure to mixed; 50 refits each. An interval counts if it contains the planted "
        "effect on the planted topic that is matched with the topic of the model.\n",
        "| effect of | intervals | contain the planted effect | root mean squared error, % of tokens |",
        "|---|---|---|---|", *lines, "",
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


def _bib_section(record: Any) -> str:
    fit, report = record["steps"]["fit"], record["steps"]["report"]
    names = {"import": "start both commands", "read": "read the file", "count": "count words", "start": "first topics", "sweeps": "sweeps", "tags": "words of tags",
             "recommender": "recommender", "save": "save", "load": "load the model", "record": "collect what the report shows",
             "render": "draw and write the report"}  # fmt: skip
    steps = {**{k: v for k, v in fit.items() if k != "fit"}, **report}
    if "import" in fit:
        steps["import"] = fit["import"] + report["import"]
    lines = [f"| {names[step]} | {seconds:.1f} |" for step, seconds in steps.items()]
    return "\n".join([
        "## A bibliography to a report\n",
        f"anthology as BibTeX, written by bibtexparser: {record['entries']:,} entries. `tagtopics fit x.bib`, then `tagtopics report x.tt`, all defaults: "
        f"{_cost(record)} The report has {record['bytes'] / 1e6:.1f} MB. "
        f"{_first_use(record)}{_shown(record)}\n",
        "| step | seconds |", "|---|---|", *lines, "",
    ])  # fmt: skip


def _first_use(record: Any) -> str:
    """Return a sentence if the kernels were compiled during the measurement."""
    return "This includes the compilation of all kernels on first use. " if record.get("first_use") else ""


def _shown(record: Any) -> str:
    there = [what for what, found in record["shown"].items() if found]
    return f"Of the first paper, the model has: {', '.join(there)}." if there else ""


def _background_section(rows: Any) -> str:
    lines = []
    for row in rows:
        spread = "; ".join(f"{topic['name']} ({100 * topic['share']:.1f} %)" for topic in row["background"])
        lines.append(
            f"| {row['corpus']} | {100 * row['largest']:.1f} % | {row['name']} | {spread or 'none'} |"
        )
    return "\n".join([
        "## Background topics\n", "Default models (`TTM`, 20 topics).\n",
        "| corpus | largest topic that is not background | its name | background |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _flat(rows: Any, name: str) -> Any:
    return np.array([value for row in rows for value in row[name]])


def _seeds_section(rows: Any) -> str:
    sizes = sorted({(row["docs"], row["topics"]) for row in rows})
    lines = []
    for docs, topics in sizes:
        own = [row for row in rows if (row["docs"], row["topics"]) == (docs, topics)]
        fresh, added = _flat(own, "fresh"), _flat(own, "added")
        lines.append(f"| {docs:,} | {topics} | {(fresh >= 0.9).sum()} of {len(fresh)} | {fresh.min():.3f} | "
                     f"{(added >= 0.9).sum()} of {len(added)} | {added.min():.3f} |")  # fmt: skip
    return "\n".join([
        "## Seeded topics: generated corpora\n",
        "Five corpora of each size, three words for each of three planted topics. Found: cosine of at least 0.9 with the planted topic. "
        "The way seeded topics start was chosen on corpora with other seeds.\n",
        "| documents | planted topics | found in a new fit | least cosine | found when added to a fitted model | least cosine |",
        "|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _real_seeds_section(rows: Any) -> str:
    lines = [
        f"| {row['corpus']} | {', '.join(row['words'])} | {row['guided']:.3f} | {row['unguided']:.3f} | {row['seeds_on_top']} of 3 |"
        for row in rows
    ]
    return "\n".join([
        "## Seeded topics: real corpora\n",
        "20 topics; the five largest topics of one fit that another fit with another seed finds roughly, too, are seeded by three of their words each in a third fit. "
        "Cosine with the topic of the first fit, guided by the seeds, and the best of the second fit, without seeds.\n",
        "| corpus | seeds | guided | unguided | seeds among the ten top words |", "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _replay_section(rows: Any) -> str:
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        cosines = _flat([row for row in rows if row["corpus"] == corpus], "cosines")
        lines.append(f"| {corpus} | {len(cosines)} | {cosines.min():.3f} | {cosines.mean():.3f} |")
    return "\n".join([
        "## Edits replayed with other seeds\n",
        "Two random sequences of a new name and a merge of three topics, of 20, each replayed with two other seeds. Cosine of edited topics before and after.\n",
        "| corpus | edited topics | least cosine | mean cosine |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _planted_line(rows: Any) -> Line:
    errors = [abs(row["recommended"] - row["planted"]) / row["planted"] for row in rows]
    figure = f"{100 * np.mean(errors):.0f} % on {len(rows)} corpora"
    return Line(
        "`choose`: mean error of a planted number of topics",
        "at most 25 %",
        figure,
        bool(np.mean(errors) <= 0.25),
    )


def _hard_numbers_line(rows: Any) -> Line:
    inside, closed = sum(map(covers, rows)), sum(row["interval"][1] is not None for row in rows)
    figure = f"{inside} of {len(rows)}; {closed} with an upper end"
    return Line("`choose`: intervals contain the planted number", "85 %", figure, inside >= 0.85 * len(rows))


def _coherence_line(rows: Any) -> Line:
    wins = sum(row["npmi_stable"] > row["npmi_rest"] for row in rows)
    return Line(
        "`choose`: stable topics are more coherent",
        "5 of 5 corpora",
        f"{wins} of {len(rows)}",
        wins == len(rows) == 5,
    )


def _reuters_line(record: Any) -> Line:
    seconds = record["seconds"]
    return Line("`choose`: reuters, 8 numbers, 10 restarts", "120 s", f"{seconds:.0f} s", seconds <= 120)


def _coverage_line(rows: Any) -> Line:
    shares = {row["kind"]: 100 * row["coverage"] for row in by_kind(rows)}
    figure = ", ".join(f"{share:.1f} % ({kind})" for kind, share in shares.items())
    return Line(
        "`effects`: coverage of 90 % intervals",
        "87 to 93 %",
        figure,
        all(87 <= v <= 93 for v in shares.values()),
    )


def _correlated_line(rows: Any) -> Line:
    return _coverage_line(rows)._replace(what="`effects`: the same, of formulas and correlated topics")


def _edited_line(rows: Any) -> Line:
    measured = [row for row in rows if "refused" not in row]
    near = sum(row["difference"] <= 0.01 and row["slopes_inside"] == row["topics"] for row in measured)
    figure = f"{near} of {len(measured)}; {len(rows) - len(measured)} refused"
    what = "`effects` after random edits: shares within 1 point, slopes within intervals"
    return Line(what, "all", figure, near == len(measured))


def _anthology_line(record: Any) -> Line:
    seconds = record["seconds"]
    return Line("`effects`: anthology, all authors, 200 refits", "300 s", f"{seconds:.0f} s", seconds <= 300)


def _bib_line(record: Any) -> Line:
    seconds = record["seconds"]
    return Line("anthology as BibTeX to a report", "30 s", f"{seconds:.0f} s", seconds <= 30)


def _background_line(rows: Any) -> Line:
    most = max(row["largest"] for row in rows)
    return Line("largest topic that is not background", "20 %", f"{100 * most:.1f} % at most", most <= 0.2)


def _seeds_line(rows: Any) -> Line:
    fresh, added = _flat(rows, "fresh") >= 0.9, _flat(rows, "added") >= 0.9
    figure = (
        f"{fresh.sum()} of {len(fresh)} in a new fit, {added.sum()} of {len(added)} added to a fitted model"
    )
    return Line("seeded topics found (cosine of 0.9)", "found", figure, bool(fresh.all() and added.all()))


def _real_seeds_line(rows: Any) -> Line:
    better = sum(row["guided"] > row["unguided"] for row in rows)
    found = sum(row["guided"] >= 0.9 for row in rows)
    figure = f"{found} of {len(rows)}; {better} closer than without seeds"
    return Line("seeded topics of real corpora found (cosine of 0.9)", "found", figure, found == len(rows))


def _replay_line(rows: Any) -> Line:
    least = float(_flat(rows, "cosines").min())
    return Line("edits replayed with other seeds: least cosine", "0.9", f"{least:.3f}", least >= 0.9)


SUMMARY: dict[str, Callable[[Any], Line]] = {
    "planted": _planted_line,
    "hard_numbers": _hard_numbers_line,
    "coherence": _coherence_line,
    "reuters": _reuters_line,
    "coverage": _coverage_line,
    "correlated": _correlated_line,
    "edited": _edited_line,
    "anthology": _anthology_line,
    "bib": _bib_line,
    "background": _background_line,
    "seeds": _seeds_line,
    "real_seeds": _real_seeds_line,
    "replay": _replay_line,
}


SECTIONS: dict[str, Callable[[Any], str]] = {
    "bib": _bib_section,
    "planted": _planted_section,
    "hard_numbers": hard_numbers_section,
    "coherence": _coherence_section,
    "reuters": _reuters_section,
    "coverage": _coverage_section,
    "correlated": correlated_section,
    "priors": priors_section,
    "edited": edited_section,
    "refits": refits_section,
    "anthology": _anthology_section,
    "gadarian": gadarian_section,
    "poliblog": poliblog_section,
    "beside": beside_section,
    "seeds": _seeds_section,
    "real_seeds": _real_seeds_section,
    "replay": _replay_section,
    "background": _background_section,
}
