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
from tagtopics.analysis.matching import found_again, match_topics
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


def corpus_with_effects(seed: int) -> tuple[tt.Corpus, Any, Any, dict[str, Any]]:
    """Draw documents whose topic shares depend on their year and venue.

    Returns:
        The corpus with tags `year:...` and `venue:...`, the topics (K, W), the shares of documents (D, K), and
        the true effect of each term, (K,).
    """
    rng = np.random.default_rng([17, seed])
    K, W, D = int(rng.integers(4, 9)), int(rng.integers(300, 601)), int(rng.integers(250, 451))
    years, venues = rng.integers(2010, 2020, D), rng.choice(3, D, p=[0.5, 0.3, 0.2])
    slope = rng.permutation(np.linspace(-1, 1, K)) * 0.25 / K / 4.5
    of_venue = rng.normal(size=(3, K)) * 0.15 / K
    of_venue -= of_venue.mean(1, keepdims=True)
    means = 1 / K + np.outer(years - 2014.5, slope) + of_venue[venues]
    concentration = float(rng.choice([1.0, 2.0, 4.0]))
    shares = np.array([rng.dirichlet(concentration * np.maximum(mean, 1e-3)) for mean in means])
    topics = rng.dirichlet(np.full(W, 0.05), size=K)
    lengths = np.maximum(rng.poisson(rng.integers(50, 121), D), 5)
    counts = np.array([rng.multinomial(n, share @ topics) for n, share in zip(lengths, shares, strict=True)])
    names = [[f"year:{year}", f"venue:{'abc'[venue]}"] for year, venue in zip(years, venues, strict=True)]
    corpus = tt.read_corpus(counts, tags=names)
    weights = np.bincount(venues, minlength=3) / D
    centred = of_venue - weights @ of_venue
    return corpus, topics, shares, {"year": slope, **{f"venue:{'abc'[v]}": centred[v] for v in range(3)}}


def coverage(corpora: int = 200, refits: int = 50) -> Any:
    """Return how many 90 % intervals contain the planted effects."""
    covered: dict[str, list[bool]] = {}
    errors: dict[str, list[float]] = {}
    for seed in range(corpora):
        corpus, topics, _, truth = corpus_with_effects(seed)
        model = tt.LDA(len(topics), random_state=seed).fit_topics(corpus)
        found = tt.effects(model, corpus, on=["year"], kinds=["venue"], refits=refits, seed=seed)
        pairs = match_topics(topics, model.components_)
        planted_of = {int(k): int(j) for j, k in zip(pairs.rows, pairs.columns, strict=True)}
        for row in found.rows:
            true = truth[row.term][planted_of[row.topic]]
            kind = row.term.partition(":")[0]
            covered.setdefault(kind, []).append(bool(row.low <= true <= row.high))
            errors.setdefault(kind, []).append(float(row.estimate - true))
        if seed % 10 == 9:
            note(seed + 1, {kind: (len(v), float(np.mean(v))) for kind, v in covered.items()})
    return {
        "corpora": corpora,
        "refits": refits,
        "rows": [
            {"kind": kind, "intervals": len(v), "coverage": float(np.mean(v)),
             "rmse": float(np.sqrt(np.mean(np.square(errors[kind]))))}
            for kind, v in covered.items()
        ],
    }  # fmt: skip


PARTS: dict[str, Callable[[], Any]] = {
    "planted": planted,
    "coherence": coherence,
    "reuters": reuters,
    "coverage": coverage,
}


def main() -> None:
    """Measure the named parts, or write the page."""
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        record = folder / f"{name}.json"
        record.write_text(json.dumps(PARTS[name](), indent=1))


if __name__ == "__main__":
    main()
