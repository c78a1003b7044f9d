"""Write pages/tag-results.md and the picture of the guide, from the records of the other modules.

    python -m reproduction.tags.page

Reads the files of records/tags, as far as they are there, and the record of a million documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t

from reproduction import PAGES, RECORDS, ROOT
from reproduction.curves import SEEN
from reproduction.tags.results import records
from reproduction.tags.texts import FITS, HEAD, PEERS, PHOTOGRAPHS, SIMILAR, WRONG
from reproduction.tags.wrong import ROWS as WRONG_ROWS
from reproduction.tags.wrong import SEEN_WORDS

PAGE, PICTURE = PAGES / "tag-results.md", ROOT / "docs" / "images" / "tags-curve.svg"
FILES = {"curves": "results", "figures": "tasks", "systems": "peers", "fits": "fits", "similar": "similar",
         "wrong": "wrong"}  # fmt: skip
SHARES = tuple(f"{seen} %" for seen in SEEN)
LARGE = ROOT / "benchmarks" / "results" / "scale" / "sweeps-1000000-100-default.json"
MOST_RATIO, MOST_MB = 1.5, 4096

Rows = dict[str, list[dict[str, Any]]]
"""Records by corpus, one for each split."""


class Change(NamedTuple):
    """A mean over splits, and half of its 90 % interval, 0 for a single split."""

    mean: float
    half: float
    splits: int

    def text(self, digits: int = 1) -> str:
        """Return the figure as it stands in tables."""
        half = f" ± {self.half:.{digits}f}" if self.splits > 1 else ""
        return f"{self.mean:+.{digits}f}{half}"


class Part(NamedTuple):
    """Whether one corpus reaches a goal, and its figure."""

    place: str
    figure: str
    met: bool


def change(values: Any) -> Change:
    """Return the mean of values and half of its 90 % interval."""
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    half = float(t.ppf(0.95, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return Change(float(values.mean()), half, n)


def against_lda(rows: list[dict[str, Any]], system: str, place: int) -> Change:
    """Return the change of perplexity against LDA, in per cent."""
    return change([100 * (row["curves"][system][place] / row["curves"]["lda"][place] - 1) for row in rows])


def difference(rows: list[dict[str, Any]], task: str, better: str, worse: str) -> Change | None:
    """Return the difference of two systems in a task, paired over splits; None if one was not run."""
    found = [row["figures"][task] for row in rows if task in row["figures"]]
    pairs = [(row[better], row[worse]) for row in found if better in row and worse in row]
    return change([a - b for a, b in pairs]) if pairs else None


def by_corpus(of: str) -> Rows:
    """Return the records of a file, by corpus; those of systems of one split are put together."""
    found: Rows = {}
    for record in records(RECORDS / "tags" / f"{FILES[of]}.jsonl"):
        members = found.setdefault(record["corpus"], [])
        same = [row for row in members if of == "systems" and row["seed"] == record["seed"]]
        if same:
            same[0]["systems"] |= record["systems"]
        else:
            members.append(record)
    return dict(sorted(found.items()))


# ------------------------------------------------------------------------------------------------ goals


def curve_goal(rows: Rows, system: str, seen: int, most: Callable[[str], float]) -> list[Part]:
    """Judge the perplexity of a system against LDA on each corpus."""
    found = {name: against_lda(members, system, SEEN.index(seen)) for name, members in rows.items()}
    return [Part(name, f"{value.text()} %", value.mean <= most(name)) for name, value in found.items()]


def median_goal(rows: Rows, system: str, seen: int, most: float) -> list[Part]:
    """Judge the median over corpora of a change against LDA."""
    if not rows:
        return []
    values = [against_lda(members, system, SEEN.index(seen)).mean for members in rows.values()]
    return [Part("median", f"{np.median(values):+.1f} %", bool(np.median(values) <= most))]


def task_goal(
    rows: Rows, task: str, better: str, worse: str, least: float = 0.0, factor: float = 100
) -> list[Part]:
    """Judge the difference of two systems in a task on each corpus, in points."""
    parts = []
    for name, members in rows.items():
        found = difference(members, task, better, worse)
        if found is not None:
            scaled = Change(factor * found.mean, factor * found.half, found.splits)
            parts.append(Part(name, f"{scaled.text()} points", found.mean >= least))
    return parts


def median_points(rows: Rows, task: str, better: str, worse: str, least: float) -> list[Part]:
    """Judge the median over corpora of a difference, in points."""
    found = [difference(members, task, better, worse) for members in rows.values()]
    values = [100 * value.mean for value in found if value is not None]
    if not values:
        return []
    return [Part("median", f"{np.median(values):+.1f} points", bool(np.median(values) >= least))]


def hidden_goal(rows: Rows, most: float) -> list[Part]:
    """Judge TTM with tags hidden against `LDA` with its default priors, at the share where it is worst."""
    parts = []
    for name, members in rows.items():
        found = [
            change([100 * (row["curves"]["lda"][i] / row["curves"]["lda default"][i] - 1) for row in members])
            for i in range(len(SEEN))
        ]
        worst = max(found, key=lambda value: value.mean)
        parts.append(Part(name, f"{worst.text()} %", worst.mean <= most))
    return parts


def faster_goal(rows: Rows, peer: str) -> list[Part]:
    """Judge the processor seconds of a fit against those of a peer."""
    parts = []
    for name, members in rows.items():
        found = [row["systems"] for row in members if peer in row["systems"]]
        if found:
            ratio = float(np.mean([row[peer]["seconds"] / row["tagtopics"]["seconds"] for row in found]))
            parts.append(Part(name, f"{ratio:.1f} times", ratio > 1))
    return parts


def ratio_of_fits(members: list[dict[str, Any]]) -> float | None:
    """Return the seconds of a fit of TTM over those of TTM-H of version 0.1.0; None if one is missing."""
    seconds = {row["system"]: row["seconds"] for row in members}
    both = "default" in seconds and "0.1.0" in seconds
    return seconds["default"] / seconds["0.1.0"] if both else None


def fit_goal(rows: Rows) -> list[Part]:
    """Judge the time of a fit."""
    found = {name: ratio_of_fits(members) for name, members in rows.items()}
    return [
        Part(name, f"{ratio:.2f} times", ratio <= MOST_RATIO)
        for name, ratio in found.items()
        if ratio is not None
    ]


def memory_goal() -> list[Part]:
    """Judge the peak memory of a million documents."""
    if not LARGE.exists():
        return []
    peak = json.loads(LARGE.read_text(encoding="utf-8"))["peak_mb"]
    return [Part("a million documents", f"{peak:,.0f} MB", peak <= MOST_MB)]


def peer_goal(rows: Rows, peer: str, seen: int, similar: Rows | None = None) -> list[Part]:
    """Judge our perplexity against that of a peer, tags known to both; `similar` has ours to use instead."""
    parts, place = [], SEEN.index(seen)
    for name, members in rows.items():
        found = [row for row in members if peer in row["systems"]]
        ours = {row["seed"]: row["systems"]["tagtopics"]["curve"] for row in found}
        if similar is not None:
            ours = {row["seed"]: row["curves"]["known+similar"] for row in similar.get(name, [])}
        pairs = [(ours[row["seed"]], row["systems"][peer]["curve"]) for row in found if row["seed"] in ours]
        ratios = [of_us[place] / of_peer[place] for of_us, of_peer in pairs]
        if ratios:
            value = change(100 * (np.array(ratios) - 1))
            parts.append(Part(name, f"{value.text()} %", value.mean < 0))
    return parts


def goals(
    curves: Rows, tasks: Rows, peers: Rows, fits: Rows, similar: Rows
) -> Iterator[tuple[str, list[Part]]]:
    """Yield each goal with its figures."""
    yield from curve_goals(curves)
    for peer in ("DMR", "PLDA"):
        for seen in (5, 10, 80):
            below = f"{seen} % seen: below tomotopy's {peer}"
            yield f"tags known, {below}", peer_goal(peers, peer, seen)
            yield f"tags known and similar documents, {below}", peer_goal(peers, peer, seen, similar)
        yield f"a fit takes less processor time than tomotopy's {peer}", faster_goal(peers, peer)
    yield from task_goals(tasks)
    yield f"a fit takes at most {MOST_RATIO} times the time of TTM-H of version 0.1.0", fit_goal(fits)
    yield "memory of a fit below 4 GB", memory_goal()


def curve_goals(curves: Rows) -> Iterator[tuple[str, list[Part]]]:
    """Yield the goals of perplexity."""
    texts = {name: rows for name, rows in curves.items() if name != "corel5k-images"}
    for seen in (5, 10):
        known = curve_goal(curves, "known", seen, lambda _: -8.0)
        yield f"tags known, {seen} % seen: 8 % below LDA", known
        yield f"tags known, {seen} % seen: median 15 % below LDA", median_goal(curves, "known", seen, -15.0)
    at_80 = curve_goal(curves, "known", 80, lambda name: -10.0 if name == "cora" else 0.0)
    yield "tags known, 80 % seen: below LDA, cora 10 %", at_80
    yield "tags known, 80 % seen: median 5 % below LDA", median_goal(curves, "known", 80, -5.0)
    for seen in SEEN[1:]:
        yield (
            f"tags inferred, {seen} % seen: below LDA on texts",
            curve_goal(texts, "inferred", seen, lambda _: 0.0),
        )
    yield "tags hidden, any share seen: at most 0.3 % above `LDA`", hidden_goal(curves, 0.3)
    for seen in SEEN:
        yield f"shuffled tags, {seen} % seen: within 0.3 % of LDA", shuffled_goal(curves, seen)


def task_goals(tasks: Rows) -> Iterator[tuple[str, list[Part]]]:
    """Yield the goals of links, classes, topics and credit."""
    yield "links, tags hidden: F above LDA's", task_goal(tasks, "links", "TTM", "LDA", 1e-9)
    yield "links, tags hidden: median 2 points above LDA", median_points(tasks, "links", "TTM", "LDA", 2.0)
    yield "classes, tags hidden: at or above LDA", task_goal(tasks, "classes", "TTM", "LDA")
    for other in ("ATM", "LDA + tags"):
        yield (
            f"classes, tags known: above {other}",
            task_goal(tasks, "classes, tags known", "TTM", other, 1e-9),
        )
    for measure in ("NPMI", "diversity"):
        yield f"{measure} of topics: at or above LDA's", task_goal(tasks, measure, "TTM", "LDA")
    for sweeps in (50, 100, 200):
        task = f"largest topic, {sweeps} sweeps"
        yield f"{task}: at most LDA's and 3 points", task_goal(tasks, task, "LDA", "TTM", -0.03)
    yield "credit: at or above TTM-H", task_goal(tasks, "credit", "TTM", "TTM-H")
    for other in ("naive Bayes", "L-LDA"):
        yield f"credit: above {other}", task_goal(tasks, "credit", "TTM", other, 1e-9)


def shuffled_goal(rows: Rows, seen: int) -> list[Part]:
    """Judge that shuffled tags change nothing."""
    found = {name: against_lda(members, "shuffled", SEEN.index(seen)) for name, members in rows.items()}
    return [Part(name, f"{value.text()} %", abs(value.mean) <= 0.3) for name, value in found.items()]


def goal_table(found: list[tuple[str, list[Part]]]) -> list[str]:
    """Return the goals, those that are missed first, with the corpora that miss them."""
    lines = ["| goal | met on | falls short on |", "|---|---|---|"]
    measured = [(goal, parts) for goal, parts in found if parts]
    for goal, parts in sorted(measured, key=lambda row: all(part.met for part in row[1])):
        short = "; ".join(f"{part.place} {part.figure}" for part in parts if not part.met)
        lines.append(f"| {goal} | {sum(part.met for part in parts)} of {len(parts)} | {short or '–'} |")
    return lines


# ----------------------------------------------------------------------------------------------- tables


def curve_table(rows: Rows, system: str, columns: Sequence[str] = SHARES) -> list[str]:
    """Return the changes of a system against LDA."""
    lines = [f"| corpus | splits | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for name, members in rows.items():
        cells = [against_lda(members, system, place).text() for place in range(len(columns))]
        lines.append(f"| {name} | {len(members)} | " + " | ".join(cells) + " |")
    return lines


def strengths_table(rows: Rows) -> list[str]:
    """Return the mean learned strengths, in tokens."""
    lines = [
        "| corpus | hidden: flat, base | flat, base | mean of the tags | joint | words of the tags | M |",
        "|---" * 7 + "|",
    ]
    for name, members in rows.items():
        keys = members[0]["settings"]
        mean = {key: float(np.mean([row["settings"][key] for row in members])) for key in keys}

        def parts(prefix: str, mean: dict[str, float] = mean) -> str:
            found = {key.removeprefix(prefix): value for key, value in mean.items() if key.startswith(prefix)}
            return ", ".join(f"{kind} {value:.2f}".strip() for kind, value in found.items())

        hidden, known = (
            f"{mean[f'{key}.flat']:.2f}, {mean[f'{key}.base']:.2f}" for key in ("hidden", "known")
        )
        joint, shrinkage = f"{mean['known.joint']:.2f}", f"{mean['shrinkage']:.0f}"
        cells = (name, hidden, known, parts("known.mean."), joint, parts("known.words."), shrinkage)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def task_table(rows: Rows, task: str) -> list[str]:
    """Return a task's figure of every system, the mean over splits."""
    found = {
        name: [row["figures"][task] for row in members if task in row["figures"]]
        for name, members in rows.items()
    }
    found = {name: members for name, members in found.items() if members}
    systems = list(dict.fromkeys(system for members in found.values() for row in members for system in row))
    lines = ["| corpus | splits | " + " | ".join(systems) + " |", "|---" * (len(systems) + 2) + "|"]
    for name, members in found.items():
        values = [[row[system] for row in members if system in row] for system in systems]
        cells = [f"{np.mean(value):.3f}" if value else "–" for value in values]
        lines.append(f"| {name} | {len(members)} | " + " | ".join(cells) + " |")
    return lines if found else []


def peer_table(rows: Rows) -> list[str]:
    """Return the perplexity of ours and of the peers, the mean over splits."""
    shares = " | ".join(f"{seen} %" for seen in SEEN)
    lines = [f"| corpus | splits | system | sweeps | seconds | {shares} |", "|---" * (len(SEEN) + 5) + "|"]
    for name, members in rows.items():
        for system in members[0]["systems"]:
            of = [row["systems"][system] for row in members if system in row["systems"]]
            cells = " | ".join(f"{value:.0f}" for value in np.mean([row["curve"] for row in of], axis=0))
            sweeps, seconds = (np.mean([row[key] for row in of]) for key in ("sweeps", "seconds"))
            lines.append(f"| {name} | {len(of)} | {system} | {sweeps:.0f} | {seconds:.1f} | {cells} |")
    return lines if rows else []


def fit_table(rows: Rows) -> list[str]:
    """Return the processor seconds of fits with this version and with 0.1.0."""
    lines = [
        "| corpus | documents | TTM-H of 0.1.0, seconds | sweeps | TTM, seconds | sweeps | ratio |",
        "|---" * 7 + "|",
    ]
    for name, members in rows.items():
        ratio, of = ratio_of_fits(members), {row["system"]: row for row in members}
        if ratio is not None:
            cells = [f"{of[key]['seconds']:.1f} | {of[key]['sweeps']}" for key in ("0.1.0", "default")]
            lines.append(f"| {name} | {members[0]['documents']:,} | {' | '.join(cells)} | {ratio:.2f} |")
    return lines


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw perplexity against the share of words seen, on docstrings."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tagtopics"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for label, system, style in LINES:
        values = np.mean([row["curves"][system] for row in rows], axis=0)
        axes.plot(SEEN, values, style, label=label)
    axes.set(xlabel="words of a document seen, %", ylabel="perplexity of the other words", yscale="log")
    axes.set_title("What tags are worth: docstrings, 50 topics (lower is better)", fontsize=10)
    axes.yaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_minor_formatter("{x:.0f}")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def page(curves: Rows, tasks: Rows, peers: Rows, fits: Rows, similar: Rows, wrong: Rows) -> str:
    """Return the text of the page."""
    judged = goal_table(list(goals(curves, tasks, peers, fits, similar)))
    sections = [HEAD]
    sections += ["## Right, inferred and wrong tags", WRONG] if wrong else []
    for system, title in WRONG_ROWS.items() if wrong else ():
        sections += [f"### {title}", "\n".join(curve_table(wrong, system, SEEN_WORDS))]
    sections += ["## Goals", "\n".join(judged), PHOTOGRAPHS]
    for title, system in CURVES.items():
        sections += [f"## {title}", "\n".join(curve_table(curves, system))]
    sections += ["## With similar documents", SIMILAR] if similar else []
    for title, system in SIMILAR_CURVES.items() if similar else ():
        sections += [f"### {title}", "\n".join(curve_table(similar, system))]
    sections += ["## Strengths, in tokens", "\n".join(strengths_table(curves))]
    for title, task in TASKS.items():
        lines = task_table(tasks, task)
        sections += [f"## {title}", "\n".join(lines)] if lines else []
    if peers:
        sections += ["## tomotopy's DMR and PLDA, tags known", PEERS, "\n".join(peer_table(peers))]
    if fits:
        sections += ["## Time of a fit", FITS, "\n".join(fit_table(fits))]
    return "\n\n".join(sections) + "\n"


CURVES = {
    "Tags known": "known",
    "Tags hidden and inferred": "inferred",
    "Tags known, without what they say together": "known, no joint part",
    "Control: tags shuffled between documents": "shuffled",
    "LDA with default priors": "lda default",
    "The paper's TTM-H, tags hidden": "paper hidden",
    "The paper's TTM-H, tags known": "paper known",
}

SIMILAR_CURVES = {
    "Tags hidden": "hidden+similar",
    "Tags known": "known+similar",
    "Control: shuffled tags, known": "shuffled+similar",
}

TASKS = {
    "Links: F, tags hidden": "links",
    "Classes: accuracy, tags hidden": "classes",
    "Classes: accuracy, tags known": "classes, tags known",
    "Credit: tokens credited to their source": "credit",
    "Coherence of topics (NPMI)": "NPMI",
    "Diversity of topics": "diversity",
    "Largest topic after 50 sweeps": "largest topic, 50 sweeps",
    "Largest topic after 100 sweeps": "largest topic, 100 sweeps",
    "Largest topic after 200 sweeps": "largest topic, 200 sweeps",
}

LINES = [
    ("LDA", "lda", "k--"),
    ("tags inferred from the words", "inferred", "C0-"),
    ("tags known", "known", "C3-"),
    ("tags shuffled", "shuffled", "C7:"),
]

if __name__ == "__main__":
    measured = by_corpus("curves")
    others = (by_corpus(of) for of in ("figures", "systems", "fits", "similar", "wrong"))
    PAGE.write_text(page(measured, *others), encoding="utf-8")
    draw(measured["docstrings"])
