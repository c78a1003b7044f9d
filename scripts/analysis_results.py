"""Measure `choose`, `effects` and `trends`, and write docs/analysis-results.md.

    python scripts/analysis_results.py RECORDS PART...   # measure parts; RECORDS is a folder of JSON files
    python scripts/analysis_results.py RECORDS page      # write the page from the records

Parts that need real data read the directory of matrix folders in TAGTOPICS_DATA. Rules and settings were
developed on generated corpora with other settings and seeds than those here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.analysis.choose import choice_rows, recommend
from tagtopics.analysis.grid import fit_grid, make_restarts
from tagtopics.analysis.matching import found_again
from tagtopics.corpus.splits import train_test

GRID = (5, 10, 15, 25, 35, 50, 75, 100, 150)
PLANTED = {
    10: [(700, 700, 20, 50, 0.85), (900, 400, 25, 70, 0.75), (500, 900, 12, 90, 0.9)],
    25: [(1200, 1200, 50, 70, 0.85), (900, 900, 35, 90, 0.9), (1800, 1000, 80, 50, 0.8)],
    50: [(1800, 1800, 70, 70, 0.9), (2200, 1300, 100, 90, 0.8), (1600, 2000, 60, 100, 0.85)],
    100: [(3000, 2500, 130, 70, 0.9), (2800, 1800, 200, 100, 0.85), (3500, 3000, 150, 60, 0.9)],
}
"""Planted topics -> documents, words, tags, tokens a document and `own_topic` of three corpora."""

CORPORA = ("reuters", "cora", "med", "anthology", "tibcore")


def note(*values: Any) -> None:
    """Write progress to standard error."""
    sys.stderr.write(" ".join(map(str, values)) + "\n")


def planted() -> Any:
    """Return what `choose` recommends for corpora with a known number of topics, five restarts."""
    rows = []
    for n_topics, settings in PLANTED.items():
        for i, (docs, words, tags, tokens, own) in enumerate(settings):
            corpus = tt.make_tagged_corpus(docs, words, n_topics, tags, 3, tokens, 2, own, seed=70 + i).corpus
            fitted = list(fit_grid(make_restarts(corpus, 5, 1), GRID, tt.LDA()))
            found = recommend(fitted, 1)
            rows.append({"planted": n_topics, "docs": docs, "words": words, **found._asdict()})
            note(rows[-1])
    return rows


def load(name: str) -> tt.Corpus:
    """Return a real corpus by name."""
    folder = Path(os.environ["TAGTOPICS_DATA"])
    if name == "anthology":
        source = folder / "anthology" / "papers.jsonl.gz"
        return tt.read_corpus(source, text=["title", "abstract"], tags=["authors", "venue", "year"])
    if name == "tibcore":
        return tt.read_corpus(
            folder / "tibcore" / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects"
        )
    return tt.read_corpus(folder / name)


def coherence(n_topics: int = 50, restarts: int = 10) -> Any:
    """Return the held-out NPMI of topics found in at least 80 % of restarts, and of the others."""
    rows = []
    for name in CORPORA:
        corpus = load(name)
        train, test = (corpus.select(part) for part in train_test(corpus, 0))
        row = next(fit_grid(make_restarts(train, restarts, 0), [n_topics], tt.LDA()))
        model = tt.LDA(n_topics, random_state=0).fit_topics(train)
        found = np.sum([found_again(model.components_, topics) for topics in row.topics], axis=0)
        npmi, stable = model.coherence(test), found >= 0.8 * restarts
        means = [float(npmi[part].mean()) if part.any() else None for part in (stable, ~stable)]
        rows.append({"corpus": name, "stable": int(stable.sum()), "npmi_stable": means[0],
                     "npmi_rest": means[1], "stability": choice_rows([row])[0].stability})  # fmt: skip
        note(rows[-1])
    return rows


def reuters() -> Any:
    """Return the table of reuters, 8 numbers of topics, 10 restarts, and its seconds."""
    corpus = load("reuters")
    tt.LDA(5, max_iter=2).fit_topics(corpus)  # compile
    began = time.perf_counter()
    choice = tt.choose_topics(corpus, (5, 10, 20, 30, 50, 75, 100, 150), restarts=10)
    result = {"seconds": time.perf_counter() - began, **choice.to_dict()}
    note(result["seconds"], choice)
    return result


PARTS: dict[str, Callable[[], Any]] = {"planted": planted, "coherence": coherence, "reuters": reuters}


def main() -> None:
    """Measure the named parts, or write the page."""
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        record = folder / f"{name}.json"
        record.write_text(json.dumps(PARTS[name](), indent=1))


if __name__ == "__main__":
    main()
