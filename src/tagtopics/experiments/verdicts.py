"""Verdicts: the claims of the paper and our goals, compared with the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from tagtopics.experiments.claims import CLAIMS, DATASET_NAMES, GOALS, TABLE_THREE, Claim
from tagtopics.experiments.paper import (
    NEEDS_PHOTOGRAPHS,
    Comparison,
    agreement,
    cells,
    compare,
    over_topics,
    share_with,
    topics_of,
)
from tagtopics.experiments.spec import MODELS, Record

HOLDS, SMALLER, IN_PART = "holds", "right sign, smaller", "holds in part"
UNCERTAIN, FAILS, UNKNOWN = "right sign, not certain", "does not hold", "not measured"

ENOUGH = 0.8
"""Share of a stated effect that counts as the same effect: 'almost 15 %' means at least 12 %."""

CERTAIN = 2.0
"""Minimum distance of a difference from zero, in standard errors over splits."""

CLOSE = 0.03
"""Differences of F up to this are slight; F this close to one half is chance."""

BAR = 0.02
"""Maximum distance of our recommender below linear classifiers on words, for texts."""

_TEXTS = ("bibtex", "reuters")
_TEXT_MEASURES = {"precision_at_1": "precision@1", "precision_at_5": "precision@5", "micro_f1": "micro F1"}
_GOAL = "our goal"

Figures = Sequence[float] | None


@dataclass(frozen=True)
class Verdict:
    """A claim, its status, and the evidence."""

    text: str  # the claim in one line
    source: str  # where it is made
    status: str  # `HOLDS`, `SMALLER`, `IN_PART`, `UNCERTAIN`, `FAILS` or `UNKNOWN`
    evidence: str  # the figures in one line

    def to_json(self) -> dict[str, str]:
        """Return the verdict as JSON."""
        return {"claim": self.text, "source": self.source, "status": self.status, "evidence": self.evidence}


def status_of(holds: Sequence[bool]) -> str:
    """Return the status of a claim that makes several statements."""
    if not holds:
        return UNKNOWN
    return HOLDS if all(holds) else IN_PART if any(holds) else FAILS


def all_verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Return the verdicts on every claim of the paper, then on our own goals."""
    claims = [judge(records, claim) for claim in CLAIMS]
    goals = [judge(records, goal) for goal in GOALS]
    tables = [*table_three_verdicts(records), *recommended_texts(records), *credited(records)]
    return [same_data(records), *claims, *tables, *goals]


def judge(records: Sequence[Record], claim: Claim) -> Verdict:
    """Compare one claim with the records."""
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
    """Judge pairs (better, worse) on all data sets, by size and certainty."""
    positive, certain, sizes, lines = [], [], [], []
    for dataset in claim.datasets:
        for better, worse in pairs:
            result = compared(records, claim, dataset, better, worse)
            if result is None:
                continue
            if result.n_splits > 1:  # one split has no standard error
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
    """Judge comparisons by sign, certainty and size."""
    status = status_of(sizes)
    if status == FAILS and all(positive):
        return SMALLER if all(certain) else UNCERTAIN
    return status


def gain_text(result: Comparison, measure: str) -> str:
    """Return a difference with its standard error, p-value, topics and splits."""
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
    """Check that perplexity is lower at the largest number of topics than at the smallest."""
    falls, lines = [], []
    for dataset, model, curve in _curves(records, claim):
        first, last = min(curve), max(curve)
        falls.append(curve[last] < curve[first])
        change = f"{curve[first]:.0f} at K {first}, {curve[last]:.0f} at K {last}"
        lines.append(f"{DATASET_NAMES[dataset]}, {MODELS[model]}: {change}")
    return status_of(falls), "; ".join(lines)


def _wavers_with_k(records: Sequence[Record], claim: Claim) -> tuple[str, str]:
    """Check that the measure falls at some larger number of topics."""
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
    """Check that two models differ little."""
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
CHECKS: Mapping[str, Check] = {
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
"""The check for each kind of claim: from records and a claim to a status and its evidence."""


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


# ---------------------------------------------------------------------------------------------- tables


def same_data(records: Sequence[Record]) -> Verdict:
    """Judge Table II: CORA and MED have the paper's statistics in every printed digit."""
    found = {r.spec.dataset: agreement(r) for r in records if r.spec.task == "statistics"}
    texts = {name: found[name] for name in ("cora", "med") if name in found}
    same = [text == "equal to the digit" for text in texts.values()]
    evidence = "; ".join(f"{DATASET_NAMES[name]}: {text}" for name, text in texts.items())
    return Verdict(
        "CORA and MED are the paper's own data", "Table II", status_of(same), evidence or "no records"
    )


# ------------------------------------------------------------------------------------------- Table III


def table_three_verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Judge the rows of Table III, for the counts of the data set and for those computed from pixels."""
    measured = {r.spec.dataset for r in records if r.spec.task == "recommendation"}
    datasets = [name for name in ("corel5k-images", "corel5k-pixels") if name in measured]
    return [verdict for name in datasets or ["corel5k-images"] for verdict in _rows(records, name)]


def _rows(records: Sequence[Record], dataset: str) -> list[Verdict]:
    """Judge the rows of the paper's systems and of our recommender."""
    found = _figures(records, dataset, ("recall", "precision", "rate_plus"))
    source = f"Table III, {DATASET_NAMES[dataset]}"
    ttm_h, ttm_p = (found.get((model, "two-stage")) for model in ("ttm-h", "ttm-p"))
    llda, ours = found.get(("llda", "scores")), found.get(("ttm-h", "best"))
    sml = found.get(("sml", "photographs"))
    goal, aim = (f"{word}, {DATASET_NAMES[dataset]}" for word in (_GOAL, "our aim"))
    rows: list[tuple[str, Figures, Figures, str]] = [
        ("TTM-H with the two-stage system reaches its row", ttm_h, TABLE_THREE["TTM-H"], source),
        ("TTM-P with the two-stage system reaches its row", ttm_p, TABLE_THREE["TTM-P"], source),
        ("L-LDA reaches its row", llda, TABLE_THREE["L-LDA"], source),
        ("SML reaches its row", sml, TABLE_THREE["SML"], source),
        ("TTM-H above TTM-P, both with the two-stage system", ttm_h, ttm_p, source),
        ("TTM-H, two-stage, above L-LDA", ttm_h, llda, source),
        ("TTM-H, two-stage, above SML", ttm_h, sml, source),
        ("our recommender on TTM-H reaches the paper's TTM-H", ours, TABLE_THREE["TTM-H"], goal),
        ("our recommender on TTM-H: .36, .26, 58 %", ours, (0.36, 0.26, 0.58), aim),
    ]
    lacking = f"no records; SML {NEEDS_PHOTOGRAPHS}" if found and sml is None else "no records"
    return [_reaches(*row, lacking if "SML" in row[0] else "no records") for row in rows]


def _reaches(text: str, ours: Figures, wanted: Figures, source: str, lacking: str) -> Verdict:
    """Judge whether recall, precision and Rate+, rounded as in the paper, reach the wanted values."""
    if ours is None or wanted is None:
        return Verdict(text, source, UNKNOWN, lacking)
    digits = (2, 2, 4)
    reached = [round(a, n) >= round(b, n) for a, b, n in zip(ours, wanted, digits, strict=True)]
    evidence = f"{_triple(ours)} against {_triple(wanted)} (recall, precision, Rate+)"
    return Verdict(text, source, status_of(reached), evidence)


def _triple(values: Sequence[float]) -> str:
    return f"{values[0]:.3f}, {values[1]:.3f}, {100 * values[2]:.1f} %"


def _figures(
    records: Sequence[Record], dataset: str, measures: Sequence[str]
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return measures of recommendation by model and system."""
    return {
        (r.spec.model, r.spec.system): tuple(float(r.metrics[m]) for m in measures)
        for r in records
        if r.spec.task == "recommendation" and r.spec.dataset == dataset
    }


# ------------------------------------------------------------------------------------------------ texts


def recommended_texts(records: Sequence[Record]) -> list[Verdict]:
    """Judge our recommender on texts: at most two points below tuned linear classifiers on TF-IDF words."""
    verdicts = []
    for dataset in _TEXTS:
        found = _figures(records, dataset, tuple(_TEXT_MEASURES))
        ours, linear = found.get(("ttm-h", "best")), found.get(("lda", "linear"))
        text = f"{dataset}: our recommender within {100 * BAR:.0f} points of linear classifiers, or above"
        if ours is None or linear is None:
            verdicts.append(Verdict(text, _GOAL, UNKNOWN, "no records"))
            continue
        reached = [round(a, 3) >= round(b - BAR, 3) for a, b in zip(ours, linear, strict=True)]
        pairs = zip(_TEXT_MEASURES.values(), ours, linear, strict=True)
        evidence = "; ".join(f"{name}: {a:.3f} against {b:.3f}" for name, a, b in pairs)
        verdicts.append(Verdict(text, _GOAL, status_of(reached), evidence))
    return verdicts


# ----------------------------------------------------------------------------------------------- credit


def credited(records: Sequence[Record]) -> list[Verdict]:
    """Judge credit: TTM-H credits more tokens to their source than L-LDA and naive Bayes, on two corpora."""
    above, lines = [], []
    for dataset in ("reuters", "bibtex"):
        ours = cells(records, dataset, "credit", "accuracy", "ttm-h")
        others = {
            "L-LDA": cells(records, dataset, "credit", "accuracy", "llda"),
            "naive Bayes": cells(records, dataset, "credit", "naive_bayes", "ttm-h"),
        }
        for name, theirs in others.items():
            pairs = _paired(ours, theirs)
            if pairs:
                above.append(all(a > b for a, b in pairs))
                a, b = (fmean(values) for values in zip(*pairs, strict=True))
                place = f"{DATASET_NAMES[dataset]}, over {name}"
                lines.append(f"{place}: {a:.3f} against {b:.3f} ({len(pairs)} mixing(s))")
    text = "credit: TTM-H above L-LDA and naive Bayes in every mixing, on two corpora"
    status = status_of(above) if len(above) in (0, 4) else UNKNOWN
    return [Verdict(text, _GOAL, status, "; ".join(lines) or "no records")]


def _paired(
    ours: Mapping[tuple[int, int], float], theirs: Mapping[tuple[int, int], float]
) -> list[tuple[float, float]]:
    """Return the values of the same mixings, for any number of topics."""
    others = {seed: value for (_, seed), value in theirs.items()}
    return [(value, others[seed]) for (_, seed), value in sorted(ours.items()) if seed in others]
