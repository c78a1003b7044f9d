"""Measure recommendation with names of tags on random splits: `name_results.py RECORDS NAMES [--splits N]`.

RECORDS are JSON lines with `title`, `abstract` and `subjects`; NAMES is a file for `--tag-names`. Prints one
line of JSON for each split, with names and without: the measures of `evaluate --task recommendation`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.corpus.splits import train_test
from tagtopics.tasks.recommendation import evaluate_recommendation


def measured(corpus: tt.Corpus, seed: int) -> dict[str, Any]:
    """Return the measures of a model with default settings on one split, and the processor seconds."""
    began = time.process_time()
    result = evaluate_recommendation(corpus, tt.TTM(random_state=0), seed=seed)
    return {**result["metrics"], "processor_seconds": time.process_time() - began}


def validation_of(corpus: tt.Corpus, seed: int) -> tt.Corpus:
    """Return the training part of a split, to choose settings on."""
    return corpus.select(train_test(corpus, seed)[0])


def main() -> None:
    """Print the measures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records")
    parser.add_argument("names")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--validation", action="store_true", help="split the training part once more")
    options = parser.parse_args()
    warnings.simplefilter("ignore", tt.CorpusWarning)
    corpus = tt.read_corpus(options.records, text=["title", "abstract"], tags="subjects", id="id")
    corpus = replace(corpus, split=None)
    named = tt.with_thesaurus(corpus, options.names)
    for system, documents in (("names", named), ("no names", corpus)):
        rows = []
        for seed in range(options.splits):
            part = validation_of(documents, seed) if options.validation else documents
            rows.append(measured(part, seed))
            print(json.dumps({"system": system, "seed": seed} | rows[-1]), flush=True)  # noqa: T201
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        print(json.dumps({"system": system, "seed": "mean"} | means), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
