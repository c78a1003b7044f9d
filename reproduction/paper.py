"""From records to the results of the paper: curves over K, paired differences, tables, top words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from reproduction.claims import (
    DATASET_NAMES,
    FIGURES,
    TABLE_THREE,
    TABLE_TWO_ROW,
    TITLES,
    full_name,
)
from reproduction.spec import MODELS, Record

Cells = Mapping[tuple[int, int], float]
"""One measure of one model: (number of topics, split) -> value."""

TEST_TO_TRAIN = 0.25
"""Ratio of test to training documents; the test below corrects for overlapping random splits."""


@dataclass(frozen=True)
class Table:
    """A table as text: title, header, rows, and a note below."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """The difference between two models: mean over K, paired over splits."""

    mean: float  # over splits; positive if the first is better
    error: float  # standard error of the mean; NaN for one split
    p_value: float  # two-sided, corrected resampled t-test (Nadeau and Bengio 2003); NaN for one split
    topics: tuple[int, ...]  # the numbers of topics compared
    n_splits: int


def cells(
    records: Iterable[Record],
    dataset: str,
    task: str,
    measure: str,
    model: str,
    tags_known: bool = False,
    without_artefact: bool = False,
    priors: tuple[float, float] | None = None,
) -> dict[tuple[int, int], float]:
    """Return one measure of one model by (number of topics, split)."""
    wanted = (dataset, task, model, tags_known, without_artefact, priors)
    found = {}
    for record in records:
        s = record.spec
        if (s.dataset, s.task, s.model, s.tags_known, s.without_artefact, s.priors) == wanted:
            value = record.metrics.get(measure)
            if isinstance(value, int | float):
                found[s.n_topics, s.seed] = float(value)
    return found


def over_topics(values: Cells) -> dict[int, tuple[float, float, int]]:
    """Return for each number of topics the mean, its standard error and the number of splits."""
    topics = sorted({K for K, _ in values})
    return {K: summary([value for (k, _), value in values.items() if k == K]) for K in topics}


def summary(values: Sequence[float]) -> tuple[float, float, int]:
    """Return mean, standard error (NaN for one value) and number of some values."""
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return fmean(values), error, len(values)


def compare(better: Cells, worse: Cells, measure: str) -> Comparison | None:
    """Compare two models where both have results; None if they have none in common.

    Perplexity: the relative reduction, 1 - better / worse. Others: the difference, better - worse.
    """
    common = sorted(set(better) & set(worse))
    if not common:
        return None
    splits: dict[int, list[float]] = {}
    for K, seed in common:
        a, b = better[K, seed], worse[K, seed]
        splits.setdefault(seed, []).append(1 - a / b if is_perplexity(measure) else a - b)
    mean, error, n = summary([fmean(values) for values in splits.values()])
    return Comparison(mean, error, _p_value(mean, error, n), tuple(sorted({K for K, _ in common})), n)


def is_perplexity(measure: str) -> bool:
    """Tell whether a measure is a perplexity: lower is better, and differences are relative."""
    return measure.endswith("perplexity")


def _p_value(mean: float, error: float, n: int) -> float:
    """Two-sided p of the corrected resampled t-test: variance s^2 (1/n + test/train), n - 1 degrees."""
    if n < 2 or error == 0:
        return math.nan
    from scipy.stats import t

    corrected = error * math.sqrt(n) * math.sqrt(1 / n + TEST_TO_TRAIN)
    return float(2 * t.sf(abs(mean) / corrected, n - 1))


# --------------------------------------------------------------------------------------------- tables

_SIZES = ("n_docs", "n_tags", "n_words", "tokens_per_doc", "words_per_doc", "tags_per_doc")


def table_two(records: Sequence[Record]) -> Table | None:
    """Return the paper's Table II: our statistics above the paper's."""
    from tagtopics.datasets import read_registry

    rows: list[tuple[str, ...]] = []
    for record in records:
        if record.spec.task != "statistics":
            continue
        name = DATASET_NAMES[record.spec.dataset]
        paper = read_registry()[TABLE_TWO_ROW[record.spec.dataset]].paper
        rows.append((name, *(_size(record.metrics[column], column) for column in _SIZES), agreement(record)))
        rows.append((f"{name}, paper", *(_printed(paper[column], column) for column in _SIZES), ""))
    header = ("data set", "D", "T", "W", "I_d", "W_d", "T_d", "compared with the paper")
    return Table("Table II: the data sets", header, tuple(rows)) if rows else None


def agreement(record: Record) -> str:
    """Return which statistics differ from the paper's in the digits that it prints."""
    from tagtopics.datasets import read_registry

    paper = read_registry()[TABLE_TWO_ROW[record.spec.dataset]].paper
    differ = []
    for symbol, column in zip(("D", "T", "W", "I_d", "W_d", "T_d"), _SIZES, strict=True):
        ours, theirs = float(record.metrics[column]), paper[column]
        digits = 1 if column == "tags_per_doc" else 0
        if round(ours, digits) != theirs:
            cut = math.floor(ours * 10**digits) / 10**digits
            differ.append(f"{symbol}{' (equal if cut, not rounded)' if cut == theirs else ''}")
    return "equal to the digit" if not differ else f"differs: {', '.join(differ)}"


def _size(value: float, column: str) -> str:
    return f"{value:,.0f}" if column.startswith("n_") else f"{value:,.2f}"


def _printed(value: float, column: str) -> str:
    return f"{value:,.1f}" if column == "tags_per_doc" else f"{value:,.0f}"


def curve_table(
    records: Sequence[Record], dataset: str, task: str, without_artefact: bool = False, measure: str = ""
) -> Table | None:
    """Return a measure against the number of topics, mean and standard error over splits, for every model.

    The measure is that of the paper's figure unless another one of the task is given.
    """
    title = TITLES.get(measure, FIGURES[task].title)
    measure = measure or FIGURES[task].measure
    show = number_format(measure)
    lines = {}
    for model, name in MODELS.items():
        for known in (False, True):
            found = over_topics(cells(records, dataset, task, measure, model, known, without_artefact))
            if found:
                lines[f"{name}, tags known" if known else name] = found
    if not lines:
        return None
    topics = sorted({K for found in lines.values() for K in found})
    rows = [
        (name, *(_mean_text(found.get(K), show) for K in topics), _mean_over(found, topics, show))
        for name, found in lines.items()
    ]
    splits = sorted({n for found in lines.values() for _, _, n in found.values()})
    title = f"{title}, {full_name(dataset, without_artefact)}"
    plural = "split" if splits == [1] else "splits"
    note = f"Mean ± standard error over {_range(splits)} {plural}; the last column is the mean over K."
    header = ("model", *(f"K = {K}" for K in topics), "mean")
    return Table(title, header, tuple(rows), note)


def number_format(measure: str) -> Callable[[float], str]:
    """Return the number format of a measure."""
    return (lambda value: f"{value:.1f}") if is_perplexity(measure) else (lambda value: f"{value:.3f}")


def _mean_text(cell: tuple[float, float, int] | None, show: Callable[[float], str]) -> str:
    if cell is None:
        return "–"
    mean, error, _ = cell
    return show(mean) if math.isnan(error) else f"{show(mean)} ± {show(error)}"


def _mean_over(
    found: Mapping[int, tuple[float, float, int]], topics: Sequence[int], show: Callable[[float], str]
) -> str:
    return show(fmean(found[K][0] for K in topics)) if set(found) == set(topics) else "–"


def topics_text(topics: Sequence[int]) -> str:
    """Return numbers of topics: all if they are few, else the first and the last."""
    return ", ".join(map(str, topics)) if len(topics) <= 3 else _range(topics)


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


_SYSTEMS = {
    "best": "our recommender on {}",
    "two-stage": "the paper's two-stage system on {}",
    "scores": "{}, its own scores",
    "linear": "linear classifiers on words, no topics",
    "photographs": "{}, from photos",
}

NEEDS_PHOTOGRAPHS = "not run: needs photos"


def table_three(records: Sequence[Record], dataset: str) -> Table | None:
    """Return the paper's Table III: recall, precision and Rate+ of five tags, and more; means over runs."""
    runs: dict[tuple[str, str, int], list[Record]] = {}
    for record in records:
        spec = record.spec
        if spec.task == "recommendation" and spec.dataset == dataset:
            runs.setdefault((spec.model, spec.system, spec.n_topics), []).append(record)
    if not runs:
        return None
    usual = min((K for _, system, K in runs if system in ("best", "two-stage")), default=0)
    rows: list[tuple[str, ...]] = []
    for (model, system, K), members in runs.items():
        name = _SYSTEMS[system].format(MODELS[model]) + (f", K = {K}" if usual < K else "")
        values = [fmean(float(r.metrics[m]) for r in members) for m in _TAG_MEASURES]
        more = [f"{value:.3f}" for value in values[3:]]
        rows.append((name, *_tag_figures(values), *more, str(len(members))))
    if dataset in ("corel5k-images", "corel5k-pixels") and not any(row[0].startswith("SML") for row in rows):
        rows.append((f"SML: {NEEDS_PHOTOGRAPHS}", *("–",) * 6, "0"))
    if dataset.startswith("corel5k"):
        rows += [
            (f"paper: {name}", *_tag_figures(values), "", "", "", "") for name, values in TABLE_THREE.items()
        ]
    header = ("system", "recall", "precision", "Rate+", "precision@1", "precision@5", "micro F1", "runs")
    title = f"{'Table III: ' if dataset.startswith('corel5k') else ''}five tags, {DATASET_NAMES[dataset]}"
    note = (
        f"The official split, K = {usual} where nothing else is said; runs differ in the seed of the model."
    )
    return Table(title, header, tuple(rows), note)


_TAG_MEASURES = ("recall", "precision", "rate_plus", "precision_at_1", "precision_at_5", "micro_f1")


def _tag_figures(values: Sequence[float]) -> tuple[str, str, str]:
    return f"{values[0]:.3f}", f"{values[1]:.3f}", f"{100 * values[2]:.1f} %"


def credit_table(records: Sequence[Record]) -> Table | None:
    """Return the share of tokens credited to their source, with naive Bayes and an oracle."""
    rows: list[tuple[str, ...]] = []
    datasets = dict.fromkeys(r.spec.dataset for r in records if r.spec.task == "credit")
    for dataset in datasets:
        for model in MODELS:
            found = cells(records, dataset, "credit", "accuracy", model)
            if found:
                rows.append((DATASET_NAMES[dataset], MODELS[model], *_credit_cells(list(found.values()))))
                base = model
        for measure, name in (("naive_bayes", "naive Bayes"), ("oracle", "oracle")):
            found = cells(records, dataset, "credit", measure, base)
            rows.append((DATASET_NAMES[dataset], name, *_credit_cells(list(found.values()))))
    header = ("data set", "model", "accuracy", "mixings")
    return Table("Credit attribution: tokens given to their source", header, tuple(rows)) if rows else None


def _credit_cells(values: Sequence[float]) -> tuple[str, str]:
    mean, error, n = summary(values)
    return _mean_text((mean, error, n), lambda value: f"{value:.3f}"), str(n)


# ------------------------------------------------------------------------------------------ top words

TopWords = Mapping[str, float]
"""A topic: its top words and their probabilities."""


@dataclass(frozen=True)
class MatchedTopic:
    """A topic found by all models: its ten top words in each, and how similar they are."""

    words: Mapping[str, tuple[str, ...]]  # model -> ten words
    similarity: float  # mean cosine between the topics of the other models and the reference


def topics_of(records: Sequence[Record]) -> dict[str, list[TopWords]]:
    """Return the recorded topics of each model, those of the first fit if there are several."""
    found: dict[str, list[TopWords]] = {}
    for record in records:
        if record.spec.task == "topics" and record.spec.model not in found:
            found[record.spec.model] = [dict(topic) for topic in record.metrics["top_words"]]
    return found


def consistent_topics(topics: Mapping[str, Sequence[TopWords]], reference: str, n: int) -> list[MatchedTopic]:
    """Return the n topics of the reference that the other models match best, with their counterparts.

    The counterpart of a topic has the largest cosine of the top words' probabilities.
    """
    others = [model for model in topics if model != reference]
    if reference not in topics or not others:
        return []
    matched = []
    for topic in topics[reference]:
        words = {reference: _ten(topic)}
        likeness = []
        for model in others:
            best = max(topics[model], key=lambda other: _cosine(topic, other))
            likeness.append(_cosine(topic, best))
            words[model] = _ten(best)
        ordered = {model: words[model] for model in topics}
        matched.append(MatchedTopic(ordered, sum(likeness) / len(likeness)))
    return sorted(matched, key=lambda match: -match.similarity)[:n]


def share_with(topics: Sequence[TopWords], word: str) -> float:
    """Return the share of topics that have a word among their ten top words."""
    return sum(word in _ten(topic) for topic in topics) / len(topics)


def intruder_shares(records: Sequence[Record], model: str, word: str) -> dict[tuple[int, int], float]:
    """Return the share of topics with a word among their ten top words, by (number of topics, seed)."""
    return {
        (r.spec.n_topics, r.spec.seed): share_with([dict(topic) for topic in r.metrics["top_words"]], word)
        for r in records
        if r.spec.task == "topics" and r.spec.model == model
    }


def _ten(topic: TopWords) -> tuple[str, ...]:
    return tuple(topic)[:10]


def _cosine(a: TopWords, b: TopWords) -> float:
    product = sum(weight * b.get(word, 0.0) for word, weight in a.items())
    return product / max(math.hypot(*a.values()) * math.hypot(*b.values()), 1e-300)
