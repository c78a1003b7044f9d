"""The claims of the paper: text, source, and the measure that each is about.

`verdicts.py` compares them with the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim."""

    text: str  # in one line
    source: str  # where the paper makes it
    kind: str  # how it is checked; a name of `verdicts.CHECKS`
    task: str  # of the records it is about
    measure: str  # of those records' metrics
    datasets: tuple[str, ...]  # on which it is checked
    models: tuple[str, ...]  # compared; the first, or each before the next, is claimed to be better
    stated: float = 0.0  # the size of the effect, or the value; 0 for a claim of direction
    elsewhere: str = ""  # data sets of the claim that are not run here
    without_artefact: bool = False  # about CORA without the documents that share one long list of authors
    tags_known: bool = False  # about test documents whose tags are known


class Figure(NamedTuple):
    """A figure of the paper: one measure of a task against the number of topics."""

    measure: str  # of the records' metrics
    axis: str
    heading: str
    title: str  # of our tables
    source: str


FIGURES: Mapping[str, Figure] = {
    "perplexity": Figure("perplexity", "perplexity", "Word prediction",
                         "Perplexity of held-out words (lower is better)",
                         "Section 5.2.1, the figure of perplexity"),
    "links": Figure("f1", "F-measure", "Link prediction",
                    "F-measure of link prediction (higher is better)",
                    "Section 5.2.2, the figure of link prediction"),
    "classification": Figure("accuracy", "accuracy", "Document classification",
                             "Accuracy of document classification (higher is better)",
                             "Section 5.2.3, the figure of classification"),
}  # fmt: skip
"""The figures by task."""

SAME_WORDS = "same_words_perplexity"
"""The paper's measure: perplexity of the words that proportions were inferred from."""

TITLES: Mapping[str, str] = {
    SAME_WORDS: "Perplexity of the words inferred from, the paper's protocol (lower is better)"
}
"""Titles of tables of other measures than those of the figures."""

_NO_C30K = "C30K (not available)"
_ALGORITHMS = "Section 3.3, comparison with Gibbs sampling and variational Bayes"


def _claim(
    task: str, text: str, kind: str, models: tuple[str, ...], stated: float = 0.0, measure: str = ""
) -> Claim:
    no_med = task == "classification"
    return Claim(
        text=text, source=FIGURES[task].source, kind=kind, task=task,
        measure=measure or FIGURES[task].measure, models=models, stated=stated,
        datasets=("cora", "corel5k-thin") if no_med else ("cora", "med", "corel5k-thin"),
        elsewhere=f"MED (its classes could not be found), {_NO_C30K}" if no_med else _NO_C30K,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim("perplexity", "TTM-P: almost 15 % less perplexity than ATM and RTM", "one-over-all",
          ("ttm-p", "atm", "rtm"), 0.15),
    _claim("perplexity", "TTM-H: 5 % less perplexity than TTM-P", "one-over-all", ("ttm-h", "ttm-p"), 0.05),
    _claim("perplexity", "TTM-P: almost 15 % less than ATM and RTM, by the paper's protocol", "one-over-all",
          ("ttm-p", "atm", "rtm"), 0.15, SAME_WORDS),
    _claim("perplexity", "TTM-H: 5 % less than TTM-P, by the paper's protocol", "one-over-all",
          ("ttm-h", "ttm-p"), 0.05, SAME_WORDS),
    _claim("perplexity", "TTM-H: the lowest perplexity at every number of topics", "best-at-every-k",
          ("ttm-h", "ttm-p", "atm", "rtm")),
    _claim("perplexity", "perplexity falls as the number of topics rises", "improves-with-k",
          ("ttm-p", "ttm-h", "atm", "rtm")),
    Claim(text="'paper' is an intruder in topics of ATM and RTM, not in those of TTM-P and TTM-H",
          source="Section 5.2.1, the figure of top words", kind="intruder", task="topics",
          measure="top_words", datasets=("cora",), models=("ttm-p", "ttm-h", "atm", "rtm")),
    _claim("links", "ATM predicts links no better than chance, F close to .5", "near", ("atm",), 0.5),
    _claim("links", "RTM predicts links significantly better than ATM", "one-over-all", ("rtm", "atm")),
    _claim("links", "TTM-H: about 8 points more F than RTM", "one-over-all", ("ttm-h", "rtm"), 0.08),
    _claim("links", "TTM-P deviates slightly from RTM", "close", ("ttm-p", "rtm")),
    _claim("links", "more topics do not always raise F", "wavers-with-k", ("ttm-h", "ttm-p")),
    _claim("classification", "ATM classifies better than RTM", "one-over-all", ("atm", "rtm")),
    _claim("classification", "TTM-P classifies better than RTM", "one-over-all", ("ttm-p", "rtm")),
    _claim("classification", "TTM-H: 6 points more accuracy than TTM-P", "one-over-all",
           ("ttm-h", "ttm-p"), 0.06),
    _claim("classification", "more topics do not raise accuracy", "no-gain-with-k",
           ("ttm-h", "ttm-p", "atm", "rtm")),
    Claim(text="belief propagation is more accurate than Gibbs sampling", source=_ALGORITHMS,
          kind="one-over-all", task="perplexity", measure="perplexity", datasets=("cora", "med"),
          models=("lda", "gibbs")),
)  # fmt: skip
"""Claims about figures. Those about Table III are its rows, below."""


def _ranking(task: str, measure: str, without_artefact: bool) -> Claim:
    where = ", without the artefact" if without_artefact else ""
    return Claim(
        text=f"{task}: TTM-H > TTM-P > RTM, ATM, LDA{where}", source="our goal", kind="order", task=task,
        measure=measure, datasets=("cora",), models=("ttm-h", "ttm-p", "rtm", "atm", "lda"),
        without_artefact=without_artefact,
    )  # fmt: skip


GOALS: tuple[Claim, ...] = (
    Claim(text="Gibbs sampling is more accurate than variational Bayes", source="our question",
          kind="one-over-all", task="perplexity", measure="perplexity", datasets=("cora", "med"),
          models=("gibbs", "vb")),
    Claim(text="TTM-P and TTM-H at least 12 % below ATM and RTM in perplexity", source="our goal",
          kind="all-over-all", task="perplexity", measure="perplexity", datasets=("cora", "med"),
          models=("ttm-p", "ttm-h", "|", "atm", "rtm"), stated=0.12),
    *(
        Claim(text=f"{task}, tags known: TTM-H above LDA's topics with the same tags", source="our question",
              kind="one-over-all", task=task, measure=FIGURES[task].measure, datasets=("cora",),
              models=("ttm-h", "lda-tags"), tags_known=True)
        for task in ("perplexity", "classification")
    ),
    _ranking("links", "f1", False),
    _ranking("links", "f1", True),
    _ranking("classification", "accuracy", False),
    _ranking("classification", "accuracy", True),
)  # fmt: skip
"""Our own goals, checked in the same way."""

TABLE_THREE: Mapping[str, tuple[float, float, float]] = {
    "TTM-H": (0.33, 0.22, 0.5385),
    "TTM-P": (0.30, 0.21, 0.4929),
    "L-LDA": (0.26, 0.14, 0.5077),
    "SML": (0.29, 0.23, 0.5269),
}
"""Table III, C5K: recall, precision and Rate+."""

DATASET_NAMES: Mapping[str, str] = {
    "cora": "CORA", "med": "MED", "corel5k-images": "C5K", "corel5k": "C5K (blobs)",
    "corel5k-thin": "C5K (1/50 of the tokens)", "corel5k-pixels": "C5K (from pixels)",
    "bibtex": "bibtex", "reuters": "reuters",
}  # fmt: skip
"""Names of the data sets in tables."""

TABLE_TWO_ROW: Mapping[str, str] = {"cora": "cora", "med": "med"} | dict.fromkeys(
    ("corel5k-images", "corel5k", "corel5k-pixels"), "corel5k"
)
"""The registry entry with the paper's row of Table II."""


def full_name(dataset: str, without_artefact: bool) -> str:
    """Return the name of a data set in tables, with what was left out of it."""
    return f"{DATASET_NAMES[dataset]}{' without the artefact' if without_artefact else ''}"
