"""Verdicts: the claims of the paper and our goals, compared with the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from reproduction.claims import DATASET_NAMES, Claim
from reproduction.paper import (
    Cells,
    Comparison,
    agreement,
    cells,
    compare,
    intruder_shares,
    is_perplexity,
    number_format,
    summary,
    topics_text,
)
from reproduction.spec import MODELS, Record
from tagtopics.corpus.read import number_of

HOLDS, SMALLER, IN_PART = "holds", "right sign, smaller", "holds in part"
UNCERTAIN, FAILS, UNKNOWN = "right sign, not certain", "does not hold", "not measured"
UNDECIDED = "too few splits"
STATUSES = (HOLDS, IN_PART, SMALLER, UNCERTAIN, FAILS, UNDECIDED, UNKNOWN)
"""What a verdict can be, in the order of summaries."""

MIN_SPLITS = 5
"""Fewer splits decide nothing; their figures are shown."""

ENOUGH = 0.8
"""Share of a stated effect that counts as the same effect: 'almost 15 %' means at least 12 %."""

CERTAIN = 2.0
"""Minimum distance of a difference from zero, in standard errors over splits."""

CLOSE = 0.03
"""Differences of F up to this are slight; F this close to one half is chance."""


@dataclass(frozen=True)
class Verdict:
    """A claim, its status, and the evidence."""

    text: str  # the claim in one line
    source: str  # where it is made
    status: str  # of `STATUSES`
    evidence: str  # the figures, separated by semicolons
    number: str = "–"  # the result in one number

    @property
    def is_goal(self) -> bool:
        """Whether the claim is a goal or question of ours, not the paper's."""
        return self.source.startswith("our ")

    def to_json(self) -> dict[str, str]:
        """Return the verdict as JSON."""
        found = {"claim": self.text, "source": self.source, "status": self.status}
        return found | {"number": self.number, "evidence": self.evidence}


class Finding(NamedTuple):
    """What a check found: a status, the result in one number, and the figures behind it."""

    status: str
    number: str
    lines: Sequence[str]


def status_of(holds: Sequence[bool], measured: object = None) -> str:
    """Return the status of a claim of several statements; `measured` is evidence that decides none."""
    if not holds:
        return UNDECIDED if measured else UNKNOWN
    return HOLDS if all(holds) else IN_PART if any(holds) else FAILS


def judge(records: Sequence[Record], claim: Claim) -> Verdict:
    """Compare one claim with the records."""
    status, number, lines = CHECKS[claim.kind](records, claim)
    if status == UNKNOWN:
        return Verdict(claim.text, claim.source, UNKNOWN, "no records")
    lines = [*lines, f"not run: {claim.elsewhere}"] if claim.elsewhere else lines
    return Verdict(claim.text, claim.source, status, "; ".join(lines), number)


# ------------------------------------------------------------------------------------------ comparisons


def _one_over_all(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the first model is better than each of the others, by the stated amount."""
    return _by_pairs(records, claim, [(claim.models[0], other) for other in claim.models[1:]])


def _all_over_all(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that each model before the bar is better than each after it, by the stated amount or more."""
    bar = claim.models.index("|")
    pairs = [(a, b) for a in claim.models[:bar] for b in claim.models[bar + 1 :]]
    return _by_pairs(records, claim, pairs, share=1.0)


def _order(records: Sequence[Record], claim: Claim) -> Finding:
    """Check the first over the second, and the second over all the others."""
    first, second, *rest = claim.models
    return _by_pairs(records, claim, [(first, second), *((second, other) for other in rest)])


def _by_pairs(
    records: Sequence[Record], claim: Claim, pairs: Sequence[tuple[str, str]], share: float = ENOUGH
) -> Finding:
    """Judge pairs (better, worse) on all data sets, by size and certainty."""
    positive, certain, sizes, gains, lines = [], [], [], [], []
    for dataset in claim.datasets:
        for better, worse in pairs:
            result = compared(records, claim, dataset, better, worse)
            if result is None:
                continue
            if result.n_splits >= MIN_SPLITS:
                positive.append(result.mean > 0)
                certain.append(result.mean > CERTAIN * result.error)
                sizes.append(certain[-1] and result.mean >= share * claim.stated)
            pair = f"{MODELS[better]} over {MODELS[worse]}"
            gains.append(result.mean)
            lines.append(f"{DATASET_NAMES[dataset]}, {pair}: {gain_text(result, claim.measure)}")
    number = mean_gain(gains, " %" if is_perplexity(claim.measure) else " points")
    return Finding(_graded(positive, certain, sizes, lines), number, lines)


def mean_gain(gains: Sequence[float], unit: str = " points") -> str:
    """Return the mean of some differences in per cent or points."""
    return f"{100 * fmean(gains):+.1f}{unit}" if gains else "–"


def compared(
    records: Sequence[Record], claim: Claim, dataset: str, better: str, worse: str
) -> Comparison | None:
    """Compare two models of a claim on a data set."""
    first, second = (_cells(records, claim, dataset, model) for model in (better, worse))
    return compare(first, second, claim.measure)


def _cells(records: Sequence[Record], claim: Claim, dataset: str, model: str) -> dict[tuple[int, int], float]:
    of = (dataset, claim.task, claim.measure, model, claim.tags_known, claim.without_artefact)
    return cells(records, *of)


def _graded(
    positive: Sequence[bool], certain: Sequence[bool], sizes: Sequence[bool], lines: Sequence[str]
) -> str:
    """Judge comparisons by sign, certainty and size."""
    status = status_of(sizes, lines)
    if status == FAILS and all(positive):
        return SMALLER if all(certain) else UNCERTAIN
    return status


def gain_text(result: Comparison, measure: str) -> str:
    """Return a difference with its standard error, p-value, topics and splits."""
    unit, factor = (" %", 100) if is_perplexity(measure) else (" points", 100)
    error = "" if math.isnan(result.error) else f" ± {factor * result.error:.1f}"
    p = "" if math.isnan(result.p_value) else f", p {result.p_value:.2f}"
    topics, splits = topics_text(result.topics), number_of(result.n_splits, "split")
    return f"{factor * result.mean:+.1f}{error}{unit} (K {topics}; {splits}{p})"


# ---------------------------------------------------------------------------------------------- curves


def _best_at_every_k(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the first model is below each other one at each number of topics."""
    won: dict[str, list[bool]] = {dataset: [] for dataset in claim.datasets}
    lines, measured = [], False
    for dataset in claim.datasets:
        found = {model: _cells(records, claim, dataset, model) for model in claim.models}
        for K in sorted({K for K, _ in found[claim.models[0]]}):
            at_k = {model: _at(values, K) for model, values in found.items()}
            if not all(at_k.values()):
                continue
            first, *others = at_k.values()
            results = [compare(first, other, claim.measure) for other in others]
            if all(r is not None and r.n_splits >= MIN_SPLITS for r in results):
                won[dataset].append(all(r is not None and _certain(r.mean, r.error) for r in results))
            measured = True
        if won[dataset]:
            name, n = DATASET_NAMES[dataset], len(won[dataset])
            lines.append(f"{name}: lowest beyond doubt at {sum(won[dataset])} of {n} numbers of topics")
    judged = [lowest for at_k in won.values() for lowest in at_k]
    return Finding(status_of(judged, measured), _of(judged, "numbers of topics"), lines)


def _with_k(records: Sequence[Record], claim: Claim) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield for each curve its text, and each number of topics compared with the one before.

    The last comparison is that of the largest with the smallest.
    """
    show = number_format(claim.measure)
    for dataset in claim.datasets:
        for model in claim.models:
            found = _cells(records, claim, dataset, model)
            topics = sorted({K for K, _ in found})
            if len(topics) < 2:
                continue
            steps = [*pairwise(topics), (topics[0], topics[-1])]
            pairs = [compare(_moved(found, b), _moved(found, a), claim.measure) for a, b in steps]
            ends = (topics[0], topics[-1])
            means = [f"{show(fmean(_at(found, K).values()))} at K {K}" for K in ends]
            splits = number_of(len({seed for _, seed in found}), "split")
            text = f"{DATASET_NAMES[dataset]}, {MODELS[model]}: {', '.join(means)} ({splits})"
            yield text, [pair for pair in pairs if pair is not None]


def _improves_with_k(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the measure is better at the largest number of topics than at the smallest."""
    return _judged_with_k(records, claim, lambda steps: _certain(steps[-1].mean, steps[-1].error))


def _no_gain_with_k(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the measure is not certainly better at the largest number of topics than at the smallest."""
    return _judged_with_k(records, claim, lambda steps: not _certain(steps[-1].mean, steps[-1].error))


def _wavers_with_k(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the measure is certainly worse at some larger number of topics."""
    return _judged_with_k(
        records, claim, lambda steps: any(_certain(-step.mean, step.error) for step in steps)
    )


def _judged_with_k(
    records: Sequence[Record], claim: Claim, holds: Callable[[list[Comparison]], bool]
) -> Finding:
    judged, lines = [], []
    for text, steps in _with_k(records, claim):
        lines.append(text)
        if steps and min(step.n_splits for step in steps) >= MIN_SPLITS:
            judged.append(holds(steps))
    return Finding(status_of(judged, lines), _of(judged, "curves"), lines)


def _of(judged: Sequence[bool], what: str) -> str:
    return f"{sum(judged)} of {len(judged)} {what}" if judged else "–"


def _near(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the mean over K is near the stated value, with its interval."""
    near, means, lines = [], [], []
    for dataset in claim.datasets:
        for model in claim.models:
            mean, error, n = _over_splits(_cells(records, claim, dataset, model))
            if n >= MIN_SPLITS:
                near.append(abs(mean - claim.stated) + CERTAIN * error <= CLOSE)
            if n:
                means.append(mean)
                splits = number_of(n, "split")
                lines.append(f"{DATASET_NAMES[dataset]}: {_with_error(mean, error)} ({splits})")
    return Finding(status_of(near, lines), f"{fmean(means):.2f}" if means else "–", lines)


def _close(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that two models differ little, with the interval of the difference."""
    close, gains, lines = [], [], []
    for dataset in claim.datasets:
        result = compared(records, claim, dataset, claim.models[0], claim.models[1])
        if result is not None:
            if result.n_splits >= MIN_SPLITS:
                close.append(abs(result.mean) + CERTAIN * result.error <= CLOSE)
            gains.append(result.mean)
            lines.append(f"{DATASET_NAMES[dataset]}: {gain_text(result, claim.measure)}")
    return Finding(status_of(close, lines), mean_gain(gains), lines)


def _intruder(records: Sequence[Record], claim: Claim) -> Finding:
    """Check that the word is in a smaller share of topics of each TTM than of each other model."""
    shares = {model: intruder_shares(records, model, "paper") for model in claim.models}
    if not all(shares.values()):
        return Finding(UNKNOWN, "–", ())
    cleaner, gains = [], []
    for ours in claim.models[:2]:
        for other in claim.models[2:]:
            result = compare(shares[other], shares[ours], "share")
            if result is not None:
                gains.append(-result.mean)
                if result.n_splits >= MIN_SPLITS:
                    cleaner.append(_certain(result.mean, result.error))
    texts = [f"{MODELS[m]} {100 * fmean(found.values()):.0f} %" for m, found in shares.items()]
    fits = number_of(min(len(found) for found in shares.values()), "fit")
    line = f"of topics, in {fits}: {', '.join(texts)}"
    return Finding(status_of(cleaner, texts), f"{mean_gain(gains)} of topics", [line])


def _certain(mean: float, error: float) -> bool:
    return mean > CERTAIN * error


def _at(values: Cells, K: int) -> dict[tuple[int, int], float]:
    return {cell: value for cell, value in values.items() if cell[0] == K}


def _moved(values: Cells, K: int) -> dict[tuple[int, int], float]:
    """Return the values of one number of topics as if they had none, to compare them with others."""
    return {(0, seed): value for (k, seed), value in values.items() if k == K}


def _over_splits(values: Cells) -> tuple[float, float, int]:
    """Return the mean over topics and splits, its standard error over splits, and their number."""
    seeds = sorted({seed for _, seed in values})
    if not seeds:
        return math.nan, math.nan, 0
    return summary([fmean(v for (_, s), v in values.items() if s == seed) for seed in seeds])


def _with_error(mean: float, error: float) -> str:
    return f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ± {error:.3f}"


Check = Callable[[Sequence[Record], Claim], Finding]
CHECKS: Mapping[str, Check] = {
    "one-over-all": _one_over_all,
    "all-over-all": _all_over_all,
    "order": _order,
    "best-at-every-k": _best_at_every_k,
    "improves-with-k": _improves_with_k,
    "wavers-with-k": _wavers_with_k,
    "no-gain-with-k": _no_gain_with_k,
    "near": _near,
    "close": _close,
    "intruder": _intruder,
}
"""The check for each kind of claim: from records and a claim to what was found."""


# ---------------------------------------------------------------------------------------------- tables


def same_data(records: Sequence[Record]) -> Verdict:
    """Judge Table II: CORA and MED have the paper's statistics in every printed digit."""
    found = {r.spec.dataset: agreement(r) for r in records if r.spec.task == "statistics"}
    texts = {name: found[name] for name in ("cora", "med") if name in found}
    same = [text == "equal to the digit" for text in texts.values()]
    evidence = "; ".join(f"{DATASET_NAMES[name]}: {text}" for name, text in texts.items())
    text, number = "CORA and MED are the paper's own data", _of(same, "data sets")
    return Verdict(text, "Table II", status_of(same), evidence or "no records", number)
