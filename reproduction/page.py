"""The page about the reproduction and its figures; everything on it is computed from records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reproduction.claims import DATASET_NAMES, FIGURES, SAME_WORDS, full_name
from reproduction.curves import curve_tables
from reproduction.open_choices import open_choice_tables
from reproduction.paper import (
    Table,
    cells,
    compare,
    consistent_topics,
    credit_table,
    curve_table,
    number_format,
    over_topics,
    table_three,
    table_two,
    topics_of,
)
from reproduction.spec import MODELS, Record
from reproduction.table_verdicts import all_verdicts
from reproduction.verdicts import CERTAIN, ENOUGH, MIN_SPLITS, STATUSES, Verdict, gain_text
from tagtopics.errors import MissingExtraError
from tagtopics.files import atomic_file, check_target

_PAIRS = (
    ("ttm-h", "ttm-p"), ("ttm-h", "lda"), ("ttm-h", "rtm"), ("ttm-h", "atm"), ("ttm-p", "lda"),
    ("ttm-p", "rtm"), ("ttm-p", "atm"), ("lda", "rtm"), ("lda", "atm"),
    ("ttm", "lda"), ("lda", "gibbs"), ("lda", "vb"),
    ("ttm-h", "rtm-last"), ("ttm-h", "atm-last"), ("rtm", "rtm-last"), ("atm", "atm-last"),
)  # fmt: skip


_RULE = f"""\
A claimed difference holds if, on every data set that was run, the mean over K is more than {CERTAIN:.0f}
standard errors (over splits) above zero and at least {100 * ENOUGH:.0f} % of the size that the paper states
(100 % for our goals). It holds in part if only some of the comparisons do. If none does but all have the
right sign, the verdict tells whether size or certainty is missing. Fewer than {MIN_SPLITS} splits decide
nothing: the verdict is "too few splits". Claims that a value is near another one, or that two models are
close, hold if the whole interval of two standard errors is. Where there is one official split, runs with
other seeds of the model take the place of splits. p is the two-sided p-value of the corrected resampled
t-test, which accounts for overlapping splits and is stricter than the rule."""


_MARK = "Written by `make reproduce`"
"""In the first lines of every page; a file without it is not overwritten."""


def write_page(records: Sequence[Record], target: Path) -> list[Verdict]:
    """Write the page, with its figures in `images/` next to it, and return the verdicts.

    Records of data sets outside the grids are ignored. A file that this function did not write is refused.
    """
    check_page_target(target)
    records = sorted((r for r in records if r.spec.dataset in DATASET_NAMES), key=_place)
    figures = draw_figures(records, target.parent / "images")
    verdicts = all_verdicts(records)
    text = "\n".join(_page(records, verdicts, {path.stem: path.name for path in figures}))
    with atomic_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return verdicts


def check_page_target(path: Path) -> Path:
    """Return the path of the page; an existing file must be such a page, and its figures be ours too."""
    for task in FIGURES:
        check_target(_figure(path.parent / "images", task), "figure", _is_ours)
    return check_target(path, "page of results", _is_ours, option="--page")


def _is_ours(path: Path) -> bool:
    """Tell whether a page or figure is ours: all of them name tagtopics at their beginning."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        begin = file.read(4096)
    return _MARK.encode() in begin or b">tagtopics<" in begin


def _figure(folder: Path, task: str) -> Path:
    return folder / f"reproduction-{task}.svg"


def _place(record: Record) -> tuple[Any, ...]:
    spec = record.spec
    models = list(MODELS)
    model = models.index(spec.model) if spec.model else -1
    place = (list(DATASET_NAMES).index(spec.dataset), model, spec.n_topics, spec.system, spec.seed)
    return *place, spec.priors or ()


def _page(records: Sequence[Record], verdicts: Sequence[Verdict], figures: dict[str, str]) -> Iterable[str]:
    yield from _opening(records)
    yield from _summary(verdicts)
    yield from _section("What the paper leaves open", open_choice_tables(records))
    yield from _details(verdicts)
    yield from _markdown(_coverage(records))
    yield from _section("The data", [table_two(records)])
    for task in FIGURES:
        yield from _task_section(records, task, figures)
    yield from _section("What tags are worth", curve_tables(records))
    yield from _top_words(records)
    recommended = [table_three(records, dataset) for dataset in DATASET_NAMES]
    yield from _section("Tag recommendation", recommended)
    yield from _section("Credit attribution", [credit_table(records)])
    yield Path(__file__).with_name("method.md").read_text(encoding="utf-8")


def _opening(records: Sequence[Record]) -> Iterable[str]:
    commits = Counter(f"commit {r.commit}" if r.commit else "code before commit d462144" for r in records)
    sources = ", ".join(f"{n} with {commit}" for commit, n in commits.most_common())
    yield "# The paper's experiments, reproduced"
    yield ""
    yield (
        f"{_MARK} from {len(records)} records ({sources}): every figure and verdict is computed from them. "
        "[How it is measured](#how-it-is-measured-and-where-that-differs-from-the-paper) says what later "
        "code changes."
    )
    yield ""


def _summary(verdicts: Sequence[Verdict]) -> Iterable[str]:
    """Yield the verdicts with one number each: the paper's claims, then our own goals."""
    for heading, ours in (("The paper's claims", False), ("Our own goals and questions", True)):
        found = [verdict for verdict in verdicts if verdict.is_goal == ours]
        counts = Counter(verdict.status for verdict in found)
        summary = "; ".join(f"{status}: {counts[status]}" for status in STATUSES if counts[status])
        yield f"## {heading}"
        yield ""
        yield f"{len(found)} in all. {summary[:1].upper()}{summary[1:]}."
        yield ""
        rows = tuple((v.text, v.number, f"**{v.status}**") for v in found)
        yield from _markdown(Table("", ("claim", "measured", "verdict"), rows))
    yield (
        'Measured is the mean over data sets, models and numbers of topics; "n of m" counts those for which '
        "the claim holds. Gains in perplexity are in per cent of it, above zero if it is lower. Table III is "
        "judged once, by the counts of its data set."
    )
    yield ""


def _coverage(records: Sequence[Record]) -> Table:
    """Return the numbers of topics and splits behind the figures."""
    groups: dict[tuple[str, str, bool], list[Record]] = {}
    for record in records:
        spec = record.spec
        if spec.task != "statistics":
            groups.setdefault((spec.task, spec.dataset, spec.without_artefact), []).append(record)
    rows = []
    for (task, dataset, without), members in sorted(groups.items()):
        name = full_name(dataset, without)
        topics = sorted({r.spec.n_topics for r in members if r.spec.n_topics and r.spec.system != "linear"})
        splits = len({r.spec.seed for r in members})
        fit = sum(r.seconds["fit"] for r in members)
        rows.append((task, name, ", ".join(map(str, topics)), str(splits), str(len(members)), f"{fit:.0f}"))
    header = ("task", "data set", "K", "splits", "records", "seconds to fit")
    note = "Tasks share fits: the seconds of a shared fit are counted in every row that used it."
    return Table("Coverage", header, tuple(rows), note)


def _details(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "## Figures behind the verdicts"
    yield ""
    yield _RULE
    yield ""
    for verdict in verdicts:
        yield f"**{verdict.text}** ({verdict.source}): {verdict.status}"
        yield ""
        yield from (f"- {line}" for line in verdict.evidence.split("; "))
        yield ""


def _task_section(records: Sequence[Record], task: str, figures: dict[str, str]) -> Iterable[str]:
    heading = FIGURES[task].heading
    tables: list[Table | None] = []
    for without in (False, True):
        for dataset in DATASET_NAMES:
            tables.append(curve_table(records, dataset, task, without))
            tables.append(_differences(records, dataset, task, without))
            if task == "perplexity":
                tables.append(curve_table(records, dataset, task, without, SAME_WORDS))
    if not any(tables):
        return
    yield f"## {heading}"
    yield ""
    picture = figures.get(f"reproduction-{task}")
    if picture is not None:
        yield f"![{heading} against the number of topics](images/{picture})"
        yield ""
    if task == "perplexity":
        yield _unigram(records)
        yield ""
        yield from _markdown(_origins(records))
    for table in tables:
        yield from _markdown(table)


def _unigram(records: Sequence[Record]) -> str:
    """Return a line about the perplexity of word frequencies alone."""
    lines = []
    for dataset, name in DATASET_NAMES.items():
        values = {
            r.spec.seed: float(r.metrics["unigram_perplexity"])
            for r in records
            if r.spec.task == "perplexity" and r.spec.dataset == dataset and not r.spec.without_artefact
        }
        if values:
            lines.append(f"{name} {sum(values.values()) / len(values):.1f}")
    return f"Word frequencies alone, without topics, have perplexity: {', '.join(lines)}."


def _origins(records: Sequence[Record]) -> Table | None:
    """Return the sources of the gain over sampled models: the algorithm, the tags, averaging the chain."""
    rows = []
    for dataset, name in DATASET_NAMES.items():
        found = {m: cells(records, dataset, "perplexity", "perplexity", m) for m in MODELS}
        for other in ("atm", "rtm"):
            pairs = (("ttm-h", other), ("lda", other), ("ttm-h", "lda"), (other, f"{other}-last"))
            results = [compare(found[better], found[worse], "perplexity") for better, worse in pairs]
            texts = ["–" if r is None else gain_text(r, "perplexity") for r in results]
            if any(results):
                rows.append((name, MODELS[other], *texts))
    header = ("data set", "model", "TTM-H over it", "LDA over it: the algorithm", "TTM-H over LDA: the tags",
              "it over its last sample: the averaging")  # fmt: skip
    return Table("Where the gain in perplexity comes from", header, tuple(rows)) if rows else None


def _differences(records: Sequence[Record], dataset: str, task: str, without: bool) -> Table | None:
    """Return the differences between pairs of models, tags hidden, paired over splits."""
    measure = FIGURES[task].measure
    found = {m: cells(records, dataset, task, measure, m, without_artefact=without) for m in MODELS}
    rows = []
    for better, worse in _PAIRS:
        result = compare(found[better], found[worse], measure)
        if result is not None:
            rows.append((f"{MODELS[better]} over {MODELS[worse]}", gain_text(result, measure)))
    what = "perplexity saved" if task == "perplexity" else f"gain in {'F' if measure == 'f1' else measure}"
    title = f"Differences in the mean over K, paired over splits, {full_name(dataset, without)}"
    return Table(title, ("models", what), tuple(rows)) if rows else None


def _top_words(records: Sequence[Record]) -> Iterable[str]:
    topics = topics_of(records)
    matches = consistent_topics(topics, "ttm-h", 3)
    rows = []
    for number, match in enumerate(matches, start=1):
        for model, words in match.words.items():
            rows.append((f"{number} ({match.similarity:.2f})", MODELS[model], " ".join(words)))
    if not rows:
        return
    show = number_format("coherence")
    coherence = [
        f"{MODELS[r.spec.model]} {show(float(r.metrics['coherence']))}"
        for r in records
        if r.spec.task == "topics" and not r.spec.seed
    ]
    note = (
        "The three topics of TTM-H that the other models match best (mean cosine in brackets), each with the "
        "nearest topic of every model. Mean coherence (NPMI) of the ten top words of all topics: "
        f"{', '.join(coherence)}."
    )
    header = ("topic", "model", "ten top words")
    yield from _section("Top words", [Table("Three topics of CORA", header, tuple(rows), note)])


def _section(heading: str, tables: Sequence[Table | None]) -> Iterable[str]:
    if any(tables):
        yield f"## {heading}"
        yield ""
        for table in tables:
            yield from _markdown(table)


def _markdown(table: Table | None) -> Iterable[str]:
    """Yield the lines of a Markdown table, with vertical bars escaped."""
    if table is None:
        return
    if table.title:
        yield f"**{table.title}**"
        yield ""
    yield f"| {' | '.join(table.header)} |"
    yield f"|{'---|' * len(table.header)}"
    for row in table.rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
    if table.note:
        yield table.note
        yield ""


_STYLE = {
    "lda": ("#7f7f7f", "o", "--"),
    "atm": ("#1f77b4", "s", "-"),
    "atm-last": ("#1f77b4", "s", ":"),
    "rtm": ("#2ca02c", "^", "-"),
    "rtm-last": ("#2ca02c", "^", ":"),
    "ttm-p": ("#ff7f0e", "D", "-"),
    "ttm-h": ("#d62728", "v", "-"),
    "ttm": ("#9467bd", "P", "-"),
}


def draw_figures(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw one figure per task, with a panel for each data set, and return the files.

    Equal records give equal bytes.
    """
    matplotlib, make_figure = _matplotlib()
    drawn = []
    settings = {"svg.hashsalt": "tagtopics", "svg.fonttype": "path", "font.size": 9}
    with matplotlib.rc_context(settings):
        for task in FIGURES:
            datasets = [name for name in DATASET_NAMES if _curves(records, name, task)]
            if datasets:
                path = _figure(folder, task)
                _draw(make_figure, records, task, datasets, path)
                drawn.append(path)
    return drawn


def _draw(
    make_figure: Any, records: Sequence[Record], task: str, datasets: Sequence[str], path: Path
) -> None:
    figure = make_figure(figsize=(4.2 * len(datasets), 3.2), layout="constrained")
    panels = figure.subplots(1, len(datasets), squeeze=False)
    for panel, dataset in zip(panels[0], datasets, strict=True):
        for model, curve in _curves(records, dataset, task).items():
            color, marker, line = _STYLE[model]
            means = [mean for mean, _, _ in curve.values()]
            errors = [0.0 if math.isnan(error) else error for _, error, _ in curve.values()]
            look = {"color": color, "marker": marker, "linestyle": line, "markersize": 4, "capsize": 2}
            panel.errorbar(list(curve), means, yerr=errors, label=MODELS[model], linewidth=1.2, **look)
        panel.set_title(DATASET_NAMES[dataset])
        panel.set_xlabel("number of topics, K")
        panel.set_ylabel(FIGURES[task].axis)
        panel.grid(alpha=0.3)
    fullest = max(panels[0], key=lambda panel: len(panel.containers))
    fullest.legend(fontsize=7)
    with atomic_file(path) as temporary:
        figure.savefig(temporary, metadata={"Date": None, "Creator": "tagtopics"})


def _curves(
    records: Sequence[Record], dataset: str, task: str
) -> dict[str, dict[int, tuple[float, float, int]]]:
    measure = FIGURES[task].measure
    found = {model: over_topics(cells(records, dataset, task, measure, model)) for model in _STYLE}
    return {model: curve for model, curve in found.items() if curve}


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing figures", "plot") from None
    return matplotlib, Figure
