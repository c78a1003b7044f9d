"""Compare one pass in mini-batches with batch fits: perplexity of test documents, as a Markdown table.

    python -m reproduction.online_results docstrings --batches 1500 1000 500
    TAGTOPICS_DATA=... python -m reproduction.online_results reuters --batches 4000 2000 1000

Documents come in an order shuffled by the seed. Test documents are those of the official split, else a fifth,
drawn once. "first batch alone" is the model before the second batch came: what the other batches are worth.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import tagtopics as tt

ESTIMATORS = {"TTM": tt.TTM, "LDA": tt.LDA}


def divided(corpus: tt.Corpus) -> tuple[tt.Corpus, tt.Corpus]:
    """Return the training and the test documents."""
    if corpus.split is not None:
        is_test = np.array(corpus.split) == "test"
    else:
        shuffled = np.random.default_rng(0).permutation(corpus.n_docs)
        is_test = np.ones(corpus.n_docs, dtype=bool)
        is_test[shuffled[: int(0.8 * corpus.n_docs)]] = False
    return corpus.select(~is_test), corpus.select(is_test)


def timed(learn: Any) -> tuple[Any, float]:
    """Return the result of a function, and the seconds it took."""
    began = time.perf_counter()
    return learn(), time.perf_counter() - began


def measured(
    estimator: Any, train: tt.Corpus, test: tt.Corpus, n_topics: int, seed: int, batches: list[int]
) -> dict[str, tuple[float, float]]:
    """Return perplexity and seconds of each way of learning, by name."""
    shuffled = train.select(np.random.default_rng(seed).permutation(train.n_docs))
    found = {}
    model, seconds = timed(partial(estimator(n_topics, random_state=seed).fit, shuffled))
    found["batch engine"] = (model.perplexity(test), seconds)
    for size in batches:
        online = estimator(n_topics, random_state=seed)
        first, rest = shuffled.select(np.arange(size)), shuffled.select(np.arange(size, shuffled.n_docs))
        _, seconds = timed(partial(online.partial_fit, first, batch_size=size))
        found[f"first {size} alone"] = (online.perplexity(test), seconds)
        _, more = timed(partial(online.partial_fit, rest, batch_size=size))
        found[f"online, {size}"] = (online.perplexity(test), seconds + more)
    return found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="the name of a data set")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[2000, 1000])
    parser.add_argument("--models", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    given = parser.parse_args()
    warnings.simplefilter("ignore", tt.CorpusWarning)
    train, test = divided(tt.load_dataset(given.corpus))
    tt.LDA(2, max_iter=1, random_state=0).partial_fit(train.select(range(20)), batch_size=10)  # compiles
    say(f"{given.corpus}: {train.n_docs} training and {test.n_docs} test documents, K={given.topics}\n")
    say("| model | learned | perplexity by seed | against batch, by seed | mean | seconds, mean |")
    say("|---|---|---|---|---|---|")
    for kind in given.models:
        runs = [
            measured(ESTIMATORS[kind], train, test, given.topics, seed, given.batches)
            for seed in range(given.seeds)
        ]
        for row in rows(kind, runs):
            say(row)


def rows(kind: str, runs: list[dict[str, tuple[float, float]]]) -> Iterator[str]:
    """Yield the rows of the table for one model."""
    batch = np.array([run["batch engine"][0] for run in runs])
    for name in runs[0]:
        values = np.array([run[name][0] for run in runs])
        behind = 100 * (values / batch - 1)
        figures = " ".join(f"{v:.0f}" for v in values), " ".join(f"{b:+.1f}" for b in behind)
        seconds = np.mean([run[name][1] for run in runs])
        yield f"| {kind} | {name} | {figures[0]} | {figures[1]} | {behind.mean():+.1f} % | {seconds:.1f} |"


def say(line: str) -> None:
    """Print a line and flush."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
