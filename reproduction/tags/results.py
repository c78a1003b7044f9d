"""Measure how well words are predicted with and without tags, for pages/tag-results.md.

    python -m reproduction.tags.results run cora reuters/2 ...    append to records/tags/results.jsonl

`page.py` writes the page. Corpora are folders of TAGTOPICS_DATA; `reuters/2` is split 2 alone.
Each split is random, four fifths for training; strengths are learned on documents set aside inside the
training part. All systems of a split see and predict the same words.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import reproduction
import tagtopics as tt
from reproduction.curves import SEEN, shuffled
from tagtopics.corpus.splits import train_test

RECORDS = reproduction.RECORDS / "tags" / "results.jsonl"
Record = dict[str, Any]
SPLITS, TOPICS, SWEEPS = 5, 50, 100
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


def curve(model: Any, test: tt.Corpus, tags: Any, seed: int) -> list[float]:
    """Return the perplexity for each share of words seen."""
    return [model.perplexity(test, tags=tags, seed=seed, seen=percent / 100) for percent in SEEN]


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one corpus and one split."""
    corpus = read(name)
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    given: dict[str, Any] = {"max_iter": SWEEPS, "random_state": seed}
    lda = tt.LDA(TOPICS, **given).fit_topics(train)
    model = tt.TTM(TOPICS, **given).fit_topics(train)
    paper = tt.MarkovTTM(TOPICS, **given).fit_topics(train)
    pairs = tt.TTM(TOPICS, order=1, **given).fit_topics(train)
    mixed = shuffled(corpus, seed)
    mixed_train, mixed_test = (mixed.select(rows) for rows in train_test(mixed, seed))
    control = tt.TTM(TOPICS, **given).fit_topics(mixed_train)
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
    return {
        "corpus": name,
        "seed": seed,
        "curves": curves,
        "settings": {key: list(value) if isinstance(value, tuple) else value
                     for key, value in model._numbers().items()},
        "same_topics": bool(np.array_equal(lda.components_, model.components_)),
    }  # fmt: skip


def waiting(names: list[str], path: Path) -> Iterator[tuple[str, int]]:
    """Yield corpora and splits that a file of records lacks."""
    path.parent.mkdir(exist_ok=True)
    for name, seed in splits(names):
        if (name, seed) not in {(record["corpus"], record["seed"]) for record in records(path)}:
            yield name, seed


def splits(names: list[str]) -> Iterator[tuple[str, int]]:
    """Yield corpora and splits by name: `cora` is all splits, `cora/2` is one."""
    wanted = [(name.partition("/")[0], int(name.partition("/")[2] or 0)) for name in names]
    for seed in range(1, SPLITS + 1):
        yield from ((name, seed) for name, only in wanted if only in (0, seed))


def records(path: Path) -> list[dict[str, Any]]:
    """Return all records of a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def measured(names: list[str], path: Path, measure: Callable[[str, int], Record]) -> Iterator[Record]:
    """Measure corpora that have no record yet, split by split; append each record to a file and yield it."""
    for name, seed in waiting(names, path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = measure(name, seed)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        yield record


def shown(record: Record) -> str:
    """Return the corpus, the split and the rounded curves of a record."""
    curves = {key: [round(x) for x in values] for key, values in record["curves"].items()}
    return f"{record['corpus']} {record['seed']} {curves}"


def run(names: list[str]) -> None:
    """Measure what is missing, and print it."""
    for record in measured(names, RECORDS, measure):
        print(shown(record), flush=True)  # noqa: T201


if __name__ == "__main__":
    run(sys.argv[2:])
