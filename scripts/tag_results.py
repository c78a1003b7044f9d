"""Measure what tags are worth, and write docs/tag-results.md.

    python scripts/tag_results.py run cora reuters ...    append records to build/tag-results.jsonl
    python scripts/tag_results.py page                    write the page and its figure from the records

Corpora are folders of TAGTOPICS_DATA. Each split is random, four fifths for training; strengths are learned
on documents set aside inside the training part. All systems of a split see and predict the same words.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.corpus.splits import train_test

RECORDS = Path("build/tag-results.jsonl")
SEEN, SPLITS, TOPICS, SWEEPS = (0, 5, 10, 20, 50, 80), 5, 50, 100
TEXTS: dict[str, dict[str, Any]] = {
    "anthology": {"file": "papers.jsonl.gz", "tags": ["authors", "venue", "year"]},
    "tibcore": {"file": "documents.jsonl.gz", "tags": "subjects"},
}


def read(name: str) -> tt.Corpus:
    """Return a corpus without its official split."""
    if name == "docstrings":
        return replace(tt.load_dataset(name), split=None)
    folder = Path(os.environ["TAGTOPICS_DATA"]) / name
    if name in TEXTS:
        file, tags = TEXTS[name]["file"], TEXTS[name]["tags"]
        recipe = tt.TextRecipe(min_df=3)
        return tt.read_corpus(folder / file, text=["title", "abstract"], tags=tags, id="id", recipe=recipe)
    return replace(tt.read_corpus(folder), split=None)


def shuffled(corpus: tt.Corpus, seed: int) -> tt.Corpus:
    """Return a corpus whose documents have exchanged their tags at random."""
    order = np.random.default_rng(seed).permutation(corpus.n_docs)
    return replace(corpus, tags=corpus.tags[order])


def curve(model: Any, test: tt.Corpus, tags: Any, seed: int) -> list[float]:
    """Return the perplexity for each share of words seen."""
    return [model.perplexity(test, tags=tags, seed=seed, seen=percent / 100) for percent in SEEN]


def fitted(model: Any, train: tt.Corpus) -> tuple[Any, float]:
    """Fit the topics of a model and what tags say; return it and the seconds."""
    began = time.perf_counter()
    model.fit_topics(train)
    return model, time.perf_counter() - began


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one corpus and one split."""
    corpus = read(name)
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    given = {"max_iter": SWEEPS, "random_state": seed}
    lda, lda_seconds = fitted(tt.LDA(TOPICS, **given), train)
    model, seconds = fitted(tt.TTM(TOPICS, **given), train)
    paper, paper_seconds = fitted(tt.TTM(TOPICS, preset="paper", **given), train)
    pairs, _ = fitted(tt.TTM(TOPICS, order=1, **given), train)
    mixed = shuffled(corpus, seed)
    mixed_train, mixed_test = (mixed.select(rows) for rows in train_test(mixed, seed))
    control, _ = fitted(tt.TTM(TOPICS, **given), mixed_train)
    curves = {
        "lda default": curve(lda, test, None, seed),
        "lda": curve(model, test, None, seed),
        "known": curve(model, test, test, seed),
        "known, no joint part": curve(pairs, test, test, seed),
        "shuffled": curve(control, mixed_test, mixed_test, seed),
        "paper hidden": curve(paper, test, None, seed),
        "paper known": curve(paper, test, test, seed),
    }
    model.fit_recommender(train)
    curves["inferred"] = curve(model, test, "inferred", seed)
    top = [[word for word, _ in words] for words in model.top_words()]
    return {
        "corpus": name,
        "seed": seed,
        "curves": curves,
        "settings": {key: list(value) if isinstance(value, tuple) else value
                     for key, value in model._numbers().items()},
        "seconds": {"lda": lda_seconds, "ttm": seconds, "paper": paper_seconds},
        "same_topics": bool(np.array_equal(lda.components_, model.components_)),
        "largest_topic": {"ttm": float(model.topic_shares().max()),
                          "paper": float(paper.topic_shares().max())},
        "npmi": {"ttm": float(np.nanmean(model.coherence(train))),
                 "paper": float(np.nanmean(paper.coherence(train)))},
        "diversity": len({word for words in top for word in words}) / sum(map(len, top)),
    }  # fmt: skip


def run(names: list[str]) -> None:
    """Measure corpora that have no record yet, split by split."""
    RECORDS.parent.mkdir(exist_ok=True)
    done = {(record["corpus"], record["seed"]) for record in records()}
    for seed in range(1, SPLITS + 1):
        for name in names:
            if (name, seed) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = measure(name, seed)
            with RECORDS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            shares = {key: [round(x) for x in values] for key, values in record["curves"].items()}
            print(name, seed, shares, flush=True)  # noqa: T201


def records() -> list[dict[str, Any]]:
    """Return all records."""
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    run(sys.argv[2:]) if sys.argv[1] == "run" else None
