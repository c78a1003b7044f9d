"""Claims held against records: every verdict is computed, none is written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from types import MappingProxyType

from tagtopics.experiments.claims import CLAIMS, DATASET_NAMES, GOALS, Claim
from tagtopics.experiments.grading import FAILS, SMALLER, UNCERTAIN, UNKNOWN, Verdict, status_of
from tagtopics.experiments.paper import Comparison, cells, compare, over_topics
from tagtopics.experiments.records import Record
from tagtopics.experiments.spec import MODELS
from tagtopics.experiments.table_verdicts import credited, recommended_texts, same_data, table_three
from tagtopics.experiments.topics import share_with, topics_of

ENOUGH = 0.8
"""Share of a stated effect that counts as the same effect: 'almost 15 %' is 12 % or more."""

CERTAIN = 2.0
"""How many standard errors of the splits a difference must be away from zero."""

CLOSE = 0.03
"""Differences of F up to this are slight; F within this of one half is chance."""


def all_verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Return the verdicts on every claim of the paper, then on our own goals."""
    claims = [judge(records, claim) for claim in CLAIMS]
    goals = [judge(records, goal) for goal in GOALS]
    tables = [*table_three(records), *recommended_texts(records), *credited(records)]
    return [same_data(records), *claims, *tables, *goals]


def judge(records: Sequence[Record], claim: Claim) -> Verdict:
    """Hold one claim against the records."""
    status, evidence = CHECKS[claim.kind](records, claim)
    if claim.elsewhere and status != UNKNOWN:
        evidence += f"; not run: {claim.elsewhere}"
    return Verdict(claim.text, claim.source, status, evidence or "no records")


# ------------------------------------------------------------------------------------------ comparisons


def _one_over_all(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that the first model is better than each of the others, by the stated amount."""
    return _by_pairs(records, claim, [(claim.models[0], other) for other in claim.models[1:]])


def _all_over_all(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that each model before the bar is better than each after it, by the stated amount or more."""
    bar = claim.models.index("|")
    pairs = [(a, b) for a in claim.models[:bar] for b in claim.models[bar + 1 :]]
    return _by_pairs(records, claim, pairs, share=1.0)


def _order(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check the first over the second, and the second over all the others."""
    first, second, *rest = claim.models
    return _by_pairs(records, claim, [(first, second), *((second, other) for other in rest)])


def _by_pairs(
    records: Sequence[Record], claim: Claim, pairs: Sequence[tuple[str, str]], share: float = ENOUGH
) -> tuple[str, str]:
    """Judge pairs (better, worse) on all data sets: each must have the size and be certain."""
    positive, certain, sizes, lines = [], [], [], []
    for dataset in claim.datasets:
        for better, worse in pairs:
            result = compared(records, claim, dataset, better, worse)
            if result is None:
                continue
            if result.n_splits > 1:  # one split has no standard error, and decides nothing
                positive.append(result.mean > 0)
                certain.append(result.mean > CERTAIN * result.error)
                sizes.append(certain[-1] and result.mean >= share * claim.stated)
            pair = f"{MODELS[better]} over {MODELS[worse]}"
            lines.append(f"{DATASET_NAMES[dataset]}, {pair}: {gain_text(result, claim.measure)}")
    return _graded(positive, certain, sizes), "; ".join(lines)


def compared(
    records: Sequence[Record], claim: Claim, dataset: str, better: str, worse: str
) -> Comparison | None:
    """Compare two models of a claim on a data set, tags hidden."""
    first, second = (
        cells(records, dataset, claim.task, claim.measure, model, without_artefact=claim.without_artefact)
        for model in (better, worse)
    )
    return compare(first, second, claim.measure)


def _graded(positive: Sequence[bool], certain: Sequence[bool], sizes: Sequence[bool]) -> str:
    """Judge comparisons: better at all, beyond doubt, and by as much as stated."""
    status = status_of(sizes)
    if status == FAILS and all(positive):
        return SMALLER if all(certain) else UNCERTAIN
    return status


def gain_text(result: Comparison, measure: str) -> str:
    """Return a difference with its standard error, p and what is behind it."""
    unit, factor = (" %", 100) if measure == "perplexity" else (" points", 100)
    error = "" if math.isnan(result.error) else f" ± {factor * result.error:.1f}"
    p = "" if math.isnan(result.p_value) else f", p {result.p_value:.2f}"
    topics = ", ".join(map(str, result.topics))
    return f"{factor * result.mean:+.1f}{error}{unit} (K {topics}; {result.n_splits} split(s){p})"


# ---------------------------------------------------------------------------------------------- curves


def _best_at_every_k(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that the first model has the lowest mean of all at each number of topics."""
    won, lines = [], []
    for dataset in claim.datasets:
        curves = {m: _means(records, claim, dataset, m) for m in claim.models}
        common = set.intersection(*(set(curve) for curve in curves.values()))
        for K in sorted(common):
            best = min(curves, key=lambda model: curves[model][K])
            won.append(best == claim.models[0])
            lines.append(f"{DATASET_NAMES[dataset]}, K {K}: {MODELS[best]} {curves[best][K]:.0f}")
    return status_of(won), "lowest: " + "; ".join(lines) if lines else ""


def _improves_with_k(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that perplexity at the most topics is below that at the fewest."""
    falls, lines = [], []
    for dataset, model, curve in _curves(records, claim):
        first, last = min(curve), max(curve)
        falls.append(curve[last] < curve[first])
        change = f"{curve[first]:.0f} at K {first}, {curve[last]:.0f} at K {last}"
        lines.append(f"{DATASET_NAMES[dataset]}, {MODELS[model]}: {change}")
    return status_of(falls), "; ".join(lines)


def _wavers_with_k(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that some step to more topics lowers the measure."""
    wavers, lines = [], []
    for dataset, model, curve in _curves(records, claim):
        wavers.append(any(curve[b] < curve[a] for a, b in pairwise(sorted(curve))))
        values = ", ".join(f"{curve[K]:.3f} at K {K}" for K in sorted(curve))
        lines.append(f"{DATASET_NAMES[dataset]}, {MODELS[model]}: {values}")
    return status_of(wavers), "; ".join(lines)


def _near(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that the mean over K is near the stated value."""
    near, lines = [], []
    for dataset in claim.datasets:
        for model in claim.models:
            curve = _means(records, claim, dataset, model)
            if curve:
                near.append(abs(fmean(curve.values()) - claim.stated) <= CLOSE)
                lines.append(f"{DATASET_NAMES[dataset]}: {fmean(curve.values()):.3f} (K {_listed(curve)})")
    return status_of(near), "; ".join(lines)


def _close(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that two models differ by little."""
    close, lines = [], []
    for dataset in claim.datasets:
        result = compared(records, claim, dataset, claim.models[0], claim.models[1])
        if result is not None:
            close.append(abs(result.mean) <= CLOSE)
            lines.append(f"{DATASET_NAMES[dataset]}: {gain_text(result, claim.measure)}")
    return status_of(close), "; ".join(lines)


def _intruder(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that the word is in a smaller share of topics of each TTM than of each other model."""
    topics = topics_of(records)
    if not set(claim.models) <= set(topics):
        return UNKNOWN, ""
    shares = {model: share_with(topics[model], "paper") for model in claim.models}
    ours, others = [shares[m] for m in claim.models[:2]], [shares[m] for m in claim.models[2:]]
    cleaner = [a < b for a in ours for b in others]
    lines = [f"{MODELS[m]} {100 * share:.0f} % of {len(topics[m])} topics" for m, share in shares.items()]
    return status_of(cleaner), "among the ten top words of " + ", ".join(lines)


Check = Callable[[Sequence[Record], Claim], tuple[str, str]]
CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "one-over-all": _one_over_all,
        "all-over-all": _all_over_all,
        "order": _order,
        "best-at-every-k": _best_at_every_k,
        "improves-with-k": _improves_with_k,
        "wavers-with-k": _wavers_with_k,
        "near": _near,
        "close": _close,
        "intruder": _intruder,
    }
)
"""How each kind of claim is checked: records and a claim to a status and its evidence."""


def _means(records: Sequence[Record], claim: Claim, dataset: str, model: str) -> dict[int, float]:
    found = over_topics(cells(records, dataset, claim.task, claim.measure, model))
    return {K: mean for K, (mean, _, _) in found.items()}


def _curves(records: Sequence[Record], claim: Claim) -> Iterator[tuple[str, str, dict[int, float]]]:
    """Yield the curves of a claim that have at least two points."""
    for dataset in claim.datasets:
        for model in claim.models:
            curve = _means(records, claim, dataset, model)
            if len(curve) > 1:
                yield dataset, model, curve


def _listed(curve: Mapping[int, float]) -> str:
    return ", ".join(map(str, sorted(curve)))
