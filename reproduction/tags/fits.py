"""Measure the processor seconds of fits with tags, for pages/tag-results.md.

    python -m reproduction.tags.fits default cora reuters ...     TTM, append to records/tags/fits.jsonl
    python -m reproduction.tags.fits paper cora reuters ...       TTM-H of this version
    PYTHONPATH=OLD/src python -m reproduction.tags.fits 0.1.0 cora reuters ...    TTM-H of a checkout of 0.1.0

Topics and the tag prior are learned from all documents with 50 topics, default settings and one thread; the
recommender is not trained. A first fit of few documents compiles. Corpora are folders of TAGTOPICS_DATA. The
program runs with both versions, so it uses little of either.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import reproduction
import tagtopics as tt

RECORDS = reproduction.RECORDS / "tags" / "fits.jsonl"
TOPICS, REPEATS, FEW = 50, 3, 200
TEXTS = {"anthology": ("papers.jsonl.gz", ["authors", "venue", "year"]),
         "tibcore": ("documents.jsonl.gz", "subjects")}  # fmt: skip


def read(name: str) -> Any:
    """Return a corpus."""
    if name == "docstrings":
        return tt.load_dataset(name)
    folder = Path(os.environ["TAGTOPICS_DATA"]) / name
    if name not in TEXTS:
        return tt.read_corpus(folder)
    file, tags = TEXTS[name]
    return tt.read_corpus(folder / file, text=["title", "abstract"], tags=tags, id="id")


def fitted(system: str, corpus: Any, **given: Any) -> Any:
    """Return a model with its topics; version 0.1.0 learns nothing else in `fit`."""
    kind: Any = tt.MarkovTTM if system == "paper" else tt.TTM
    model = kind(TOPICS, random_state=0, n_jobs=1, **given)
    return model.fit(corpus) if system == "0.1.0" else model.fit_topics(corpus)


def measure(system: str, name: str) -> dict[str, Any]:
    """Return the least of some processor times of a fit: what other work adds is never negative."""
    corpus = read(name)
    fitted(system, corpus.select(range(FEW)), max_iter=2)
    seconds, sweeps = [], 0
    for _ in range(REPEATS):
        began = time.process_time()
        sweeps = fitted(system, corpus).n_iter_
        seconds.append(time.process_time() - began)
    return {"system": system, "corpus": name, "documents": corpus.n_docs, "tokens": int(corpus.counts.sum()),
            "sweeps": int(sweeps), "seconds": min(seconds)}  # fmt: skip


def main() -> None:
    """Measure corpora and append their records."""
    system, *names = sys.argv[1:]
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = measure(system, name)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
