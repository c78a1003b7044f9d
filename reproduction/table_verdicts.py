"""Verdicts on tables: Table III, recommendation on texts, credit; and the list of all verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from reproduction.claims import CLAIMS, DATASET_NAMES, GOALS, TABLE_THREE
from reproduction.paper import NEEDS_PHOTOGRAPHS, cells, summary
from reproduction.spec import Record
from reproduction.verdicts import (
    CERTAIN,
    MIN_SPLITS,
    UNDECIDED,
    UNKNOWN,
    Verdict,
    judge,
    mean_gain,
    same_data,
    status_of,
)

BAR = 0.02
"""Maximum distance of our recommender below linear classifiers on words, for texts."""

_TEXTS = ("bibtex", "reuters")
_TEXT_MEASURES = {"precision_at_1": "precision@1", "precision_at_5": "precision@5", "micro_f1": "micro F1"}
_TAG_MEASURES = ("recall", "precision", "rate_plus")
_GOAL = "our goal"

Runs = Mapping[int, tuple[float, ...]]
"""The measures of each run of a system, by the seed of the model."""


def all_verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Return the verdicts on every claim of the paper, then on our own goals."""
    claims = [judge(records, claim) for claim in CLAIMS]
    goals = [judge(records, goal) for goal in GOALS]
    tables = [*table_three_verdicts(records), *recommended_texts(records), *credited(records)]
    verdicts = [same_data(records), *claims, *tables, *goals]
    return sorted(verdicts, key=lambda verdict: verdict.is_goal)


# ------------------------------------------------------------------------------------------- Table III


def table_three_verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Judge the rows of Table III once: by the counts of the data set, else by those from pixels."""
    measured = {r.spec.dataset for r in records if r.spec.task == "recommendation"}
    counts, pixels = "corel5k-images", "corel5k-pixels"
    return _rows(records, pixels if pixels in measured and counts not in measured else counts)


def _rows(records: Sequence[Record], dataset: str) -> list[Verdict]:
    """Judge the rows of the paper's systems and of our recommender; the number of a verdict is Rate+."""

    def runs(model: str, system: str, K: int = 20) -> Runs:
        return _runs(records, dataset, model, system, _TAG_MEASURES, K)

    source = f"Table III, {DATASET_NAMES[dataset]}"
    ttm_h, ttm_p = (runs(model, "two-stage") for model in ("ttm-h", "ttm-p"))
    llda, ours, sml = runs("llda", "scores", 0), runs("ttm-h", "best"), runs("sml", "photographs", 0)
    goal, aim = (f"{word}, {DATASET_NAMES[dataset]}" for word in (_GOAL, "our aim"))
    lacking = f"no records; SML {NEEDS_PHOTOGRAPHS}"
    more = "more topics than 20 do not help {} with the two-stage system"
    return [
        _reaches("TTM-H with the two-stage system reaches its row", ttm_h, TABLE_THREE["TTM-H"], source),
        _reaches("TTM-P with the two-stage system reaches its row", ttm_p, TABLE_THREE["TTM-P"], source),
        _reaches("L-LDA reaches its row", llda, TABLE_THREE["L-LDA"], source),
        _reaches("SML reaches its row", sml, TABLE_THREE["SML"], source, lacking),
        _above("TTM-H above TTM-P, both with the two-stage system", ttm_h, ttm_p, source),
        _above("TTM-H, two-stage, above L-LDA", ttm_h, llda, source),
        _above("TTM-H, two-stage, above SML", ttm_h, sml, source, lacking),
        _no_better(more.format("TTM-H"), ttm_h, runs("ttm-h", "two-stage", 50), source),
        _no_better(more.format("TTM-P"), ttm_p, runs("ttm-p", "two-stage", 50), source),
        _reaches("our recommender on TTM-H reaches the paper's TTM-H", ours, TABLE_THREE["TTM-H"], goal),
        _reaches("our recommender on TTM-H: .36, .26, 58 %", ours, (0.36, 0.26, 0.58), aim),
    ]


def _reaches(
    text: str, ours: Runs, wanted: Sequence[float], source: str, lacking: str = "no records"
) -> Verdict:
    """Judge whether the means of recall, precision and Rate+, rounded as in the paper, reach some values."""
    if not ours:
        return Verdict(text, source, UNKNOWN, lacking)
    means = [summary(values) for values in zip(*ours.values(), strict=True)]
    reached = [
        round(mean, n) >= round(b, n) for (mean, _, _), b, n in zip(means, wanted, (2, 2, 4), strict=True)
    ]
    evidence = f"{_triple([m for m, _, _ in means])} against {_triple(wanted)}{_described(ours)}"
    number = f"Rate+ {100 * means[2][0]:.1f} % against {100 * wanted[2]:.1f} %"
    return Verdict(text, source, _decided(reached, len(ours)), evidence, number)


def _above(text: str, ours: Runs, theirs: Runs, source: str, lacking: str = "no records") -> Verdict:
    """Judge whether each of recall, precision and Rate+ is higher by more than its interval.

    Runs are paired by their seeds. A system with a single run is compared with all runs of the other.
    """
    gains = _gains(ours, theirs)
    if not gains:
        return Verdict(text, source, UNKNOWN, lacking)
    higher = [mean > CERTAIN * error for mean, error, _ in map(summary, gains)]
    a, b = (_triple(_means(runs)) for runs in (ours, theirs))
    evidence, number = f"{a} against {b}{_described(ours)}", f"{mean_gain(gains[2])} of Rate+"
    return Verdict(text, source, _decided(higher, len(gains[0])), evidence, number)


def _no_better(text: str, few: Runs, many: Runs, source: str) -> Verdict:
    """Judge whether more topics raise none of recall, precision and Rate+ by more than its interval."""
    gains = _gains(many, few)
    if not gains:
        return Verdict(text, source, UNKNOWN, "no records")
    no_better = [mean <= CERTAIN * error for mean, error, _ in map(summary, gains)]
    a, b = (_triple(_means(runs)) for runs in (few, many))
    evidence, number = f"K 20: {a}; K 50: {b}{_described(few)}", f"{mean_gain(gains[2])} of Rate+"
    return Verdict(text, source, _decided(no_better, len(gains[0])), evidence, number)


def _gains(ours: Runs, theirs: Runs) -> list[list[float]]:
    """Return for each measure its differences, run by run."""
    if not ours or not theirs:
        return []
    only = next(iter(theirs.values())) if len(theirs) == 1 else None
    pairs = [(values, only or theirs[seed]) for seed, values in ours.items() if only or seed in theirs]
    measures = range(len(pairs[0][0])) if pairs else range(0)
    return [[a[i] - b[i] for a, b in pairs] for i in measures]


def _decided(holds: Sequence[bool], n_runs: int) -> str:
    return status_of(holds) if n_runs >= MIN_SPLITS else UNDECIDED


def _means(runs: Runs) -> list[float]:
    return [fmean(values) for values in zip(*runs.values(), strict=True)]


def _triple(values: Sequence[float]) -> str:
    return f"{values[0]:.3f}, {values[1]:.3f}, {100 * values[2]:.1f} %"


def _described(runs: Runs) -> str:
    return f" (recall, precision, Rate+; {len(runs)} run(s))"


def _runs(
    records: Sequence[Record], dataset: str, model: str, system: str, measures: Sequence[str], K: int
) -> Runs:
    """Return measures of recommendation by the seed of the model."""
    return {
        r.spec.seed: tuple(float(r.metrics[m]) for m in measures)
        for r in records
        if (r.spec.task, r.spec.dataset, r.spec.model, r.spec.system)
        == ("recommendation", dataset, model, system)
        and (not K or r.spec.n_topics == K)
    }


# ------------------------------------------------------------------------------------------------ texts


def recommended_texts(records: Sequence[Record]) -> list[Verdict]:
    """Judge our recommender on texts: at most two points below tuned linear classifiers on TF-IDF words."""
    verdicts = []
    for dataset in _TEXTS:
        systems = (("ttm-h", "best"), ("lda", "linear"))
        runs, others = (_runs(records, dataset, *of, tuple(_TEXT_MEASURES), 0) for of in systems)
        text = f"{dataset}: our recommender within {100 * BAR:.0f} points of linear classifiers, or above"
        if not runs or not others:
            verdicts.append(Verdict(text, _GOAL, UNKNOWN, "no records"))
            continue
        ours, linear = _means(runs), _means(others)
        reached = [round(a, 3) >= round(b - BAR, 3) for a, b in zip(ours, linear, strict=True)]
        pairs = zip(_TEXT_MEASURES.values(), ours, linear, strict=True)
        evidence = "; ".join(f"{name}: {a:.3f} against {b:.3f}" for name, a, b in pairs)
        evidence, number = f"{evidence} ({len(runs)} run(s))", mean_gain([ours[0] - linear[0]])
        verdicts.append(
            Verdict(text, _GOAL, _decided(reached, len(runs)), evidence, f"{number} of precision@1")
        )
    return verdicts


# ----------------------------------------------------------------------------------------------- credit


def credited(records: Sequence[Record]) -> list[Verdict]:
    """Judge credit: TTM-H credits more tokens to their source than L-LDA and naive Bayes, on two corpora."""
    above, gains, lines, n = [], [], [], MIN_SPLITS
    for dataset in ("reuters", "bibtex"):
        ours = cells(records, dataset, "credit", "accuracy", "ttm-h")
        others = {
            "L-LDA": cells(records, dataset, "credit", "accuracy", "llda"),
            "naive Bayes": cells(records, dataset, "credit", "naive_bayes", "ttm-h"),
        }
        for name, theirs in others.items():
            pairs = _paired(ours, theirs)
            if pairs:
                n = min(n, len(pairs))
                above.append(all(a > b for a, b in pairs))
                a, b = (fmean(values) for values in zip(*pairs, strict=True))
                gains.append(a - b)
                place = f"{DATASET_NAMES[dataset]}, over {name}"
                lines.append(f"{place}: {a:.3f} against {b:.3f} ({len(pairs)} mixing(s))")
    text = "credit: TTM-H above L-LDA and naive Bayes in every mixing, on two corpora"
    status = _decided(above, n) if len(above) in (0, 4) else UNKNOWN
    return [Verdict(text, _GOAL, status, "; ".join(lines) or "no records", mean_gain(gains))]


def _paired(
    ours: Mapping[tuple[int, int], float], theirs: Mapping[tuple[int, int], float]
) -> list[tuple[float, float]]:
    """Return the values of the same mixings, for any number of topics."""
    others = {seed: value for (_, seed), value in theirs.items()}
    return [(value, others[seed]) for (_, seed), value in sorted(ours.items()) if seed in others]
