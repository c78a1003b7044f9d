"""Measure links, classes, credit and topics with and without tags, for pages/tag-results.md.

    python -m reproduction.tags.tasks run cora reuters/2 ...    append records to records/tags/tasks.jsonl

Corpora, splits and settings are those of `results.py`; `reuters/2` is split 2 alone. A link is a
shared tag, so test tags are hidden for links; a model that can infer hidden tags does so. Where tags have
kinds, links and credit are about one kind. Credit is measured on mixed documents (`evaluation.credit`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import reproduction
import tagtopics as tt
from reproduction import probable_words
from reproduction.run import FittedOnce
from reproduction.tags.results import SWEEPS, TOPICS, measured, read
from tagtopics.bp.holdout import topic_coherence
from tagtopics.corpus.splits import train_test

RECORDS = reproduction.RECORDS / "tags" / "tasks.jsonl"
LINKED = {"anthology": "authors", "docstrings": "takes"}
CREDITED = {"anthology": "venue", "docstrings": "subpackage"}
"""The kind of tag that links and credit are about, of corpora that have kinds."""

Maker = Callable[[int], Any]
MAKERS: dict[str, Maker] = {
    "LDA": tt.LDA,
    "TTM": tt.TTM,
    "TTM-H": tt.MarkovTTM,
    "LDA + tags": lambda k: tt.MarkovTTM(k, pairwise_weight=0.0, higher_order_weight=0.0),
    "ATM": tt.ATM,
    "L-LDA": lambda _: tt.LabeledLDA(),
}
"""`LDA + tags` has the topics of LDA; known tags add five tokens of their mean profile, as in TTM-H."""

SAMPLED = ("ATM", "L-LDA")
"""Systems that keep their own number of sweeps."""

GROWN = (50, 100, 200)
"""Sweeps after which the largest topic of the anthology is measured."""


def one_kind(corpus: tt.Corpus, kind: str | None) -> tt.Corpus:
    """Return a corpus with the tags of one kind, or as it is."""
    if kind is None:
        return corpus
    columns = [t for t, name in enumerate(corpus.tag_names) if name.startswith(f"{kind}:")]
    names = tuple(corpus.tag_names[t] for t in columns)
    return replace(corpus, tags=corpus.tags[:, columns], tag_names=names)


def make(system: str, seed: int) -> FittedOnce:
    """Return a model that several tasks share."""
    model = MAKERS[system](TOPICS).set_params(random_state=seed)
    return FittedOnce(model if system in SAMPLED else model.set_params(max_iter=SWEEPS))


def links(corpus: tt.Corpus, models: dict[str, Any], seed: int) -> dict[str, float]:
    """Return the F-measure of links, tags hidden."""
    return {
        name: tt.evaluate(corpus, models[name], "links", seed=seed)["metrics"]["f1"]
        for name in ("LDA", "TTM", "TTM-H")
    }


def classes(
    corpus: tt.Corpus, models: dict[str, Any], seed: int, systems: tuple[str, ...], known: bool = False
) -> dict[str, float]:
    """Return the accuracy of classification."""
    return {
        name: tt.evaluate(corpus, models[name], "classification", seed=seed, tags_known=known)["metrics"][
            "accuracy"
        ]
        for name in systems
    }


def credit(corpus: tt.Corpus, seed: int) -> dict[str, float]:
    """Return the share of tokens credited to their source."""
    found: dict[str, float] = {}
    for name in ("TTM", "TTM-H", "L-LDA"):
        metrics = tt.evaluate(corpus, make(name, seed).estimator, "credit", seed=seed)["metrics"]
        found |= {name: metrics["accuracy"], "naive Bayes": metrics["naive_bayes"]}
    return found


def quality(corpus: tt.Corpus, models: dict[str, Any], seed: int) -> dict[str, dict[str, float]]:
    """Return the mean coherence (NPMI) of topics, and the share of different words among their top words."""
    train = corpus.select(train_test(corpus, seed)[0])
    found: dict[str, dict[str, float]] = {"NPMI": {}, "diversity": {}}
    for name in ("LDA", "TTM", "TTM-H"):
        model = models[name].fit_topics(train)
        top = [[word for word, _ in words] for words in probable_words(model, 10)]
        found["NPMI"][name] = float(np.nanmean(topic_coherence(train, top)))
        found["diversity"][name] = len({word for words in top for word in words}) / sum(map(len, top))
    return found


def largest(corpus: tt.Corpus, seed: int) -> dict[str, dict[str, float]]:
    """Return the share of the largest topic after some numbers of sweeps."""
    train = corpus.select(train_test(corpus, seed)[0])
    return {
        f"largest topic, {sweeps} sweeps": {
            name: float(
                MAKERS[name](TOPICS)
                .set_params(max_iter=sweeps, tol=0.0, random_state=seed)
                .fit_topics(train)
                .topic_shares()
                .max()
            )
            for name in ("LDA", "TTM", "TTM-H")
        }
        for sweeps in GROWN
    }


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one corpus and one split; a task that the corpus does not allow is left out."""
    corpus = read(name)
    linked = one_kind(corpus, LINKED.get(name))
    models = {system: make(system, seed) for system in MAKERS}
    known = ("LDA + tags", "TTM", "TTM-H", *(("ATM",) if name == "cora" else ()))
    of_links = models if linked is corpus else {system: make(system, seed) for system in MAKERS}
    tasks: dict[str, Callable[[], Any]] = {
        "topics": lambda: quality(corpus, models, seed),
        "links": lambda: links(linked, of_links, seed),
        "classes": lambda: classes(corpus, models, seed, ("LDA", "TTM", "TTM-H")),
        "classes, tags known": lambda: classes(corpus, models, seed, known, known=True),
        "credit": lambda: credit(one_kind(corpus, CREDITED.get(name)), seed),
    }
    if name == "anthology":
        tasks["largest topic"] = lambda: largest(corpus, seed)
    figures: dict[str, Any] = {}
    for task, run_task in tasks.items():
        try:
            found = run_task()
        except tt.InputError as error:
            print(f"{name}: {error}", flush=True)  # noqa: T201
            continue
        figures |= found if task in ("topics", "largest topic") else {task: found}
    return {"corpus": name, "seed": seed, "figures": figures}


def main() -> None:
    """Measure what is missing, and print it."""
    for record in measured(sys.argv[2:], RECORDS, measure):
        print(json.dumps(record), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
