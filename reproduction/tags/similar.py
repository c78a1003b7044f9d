"""Measure what similar training documents add to tags, for pages/tag-results.md.

    python -m reproduction.tags.similar cora docstrings/2 ...     append to records/tags/similar.jsonl

The splits, the words seen and the words predicted are those of `results.py`. The control is fitted
to documents that have exchanged their tags.
"""

from __future__ import annotations

import sys
from typing import Any

import reproduction
import tagtopics as tt
from reproduction.curves import SEEN, shuffled
from reproduction.tags.results import SWEEPS, TOPICS, measured, read, shown
from tagtopics.corpus.splits import train_test

RECORDS = reproduction.RECORDS / "tags" / "similar.jsonl"


def curve(model: Any, test: tt.Corpus, tags: Any, seed: int, similar: bool) -> list[float]:
    """Return the perplexity for each share of words seen."""
    return [
        model.perplexity(test, tags=tags, seed=seed, seen=percent / 100, similar=similar) for percent in SEEN
    ]


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one corpus and one split."""
    corpus = read(name)
    mixed = shuffled(corpus, seed)
    parts = [[some.select(rows) for rows in train_test(some, seed)] for some in (corpus, mixed)]
    model, control = (
        tt.TTM(TOPICS, max_iter=SWEEPS, random_state=seed).fit_topics(train).fit_recommender(train)
        for train, _ in parts
    )
    test, mixed_test = parts[0][1], parts[1][1]
    curves = {
        "lda": curve(model, test, None, seed, False),
        "known": curve(model, test, test, seed, False),
        "inferred": curve(model, test, "inferred", seed, False),
        "hidden+similar": curve(model, test, None, seed, True),
        "known+similar": curve(model, test, test, seed, True),
        "shuffled+similar": curve(control, mixed_test, mixed_test, seed, True),
    }
    return {"corpus": name, "seed": seed, "curves": curves, "strengths": model.settings_.similar._asdict()}


def main() -> None:
    """Measure what is missing, and print it."""
    for record in measured(sys.argv[1:], RECORDS, measure):
        print(shown(record), record["strengths"], flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
