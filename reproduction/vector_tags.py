"""What vectors add to recommended tags (decision 230): test documents of three random splits.

    python -m reproduction.vector_tags CORPORA VECTORS [NAME ...]

CORPORA has one folder for each collection; VECTORS has NAME.npy, vectors of its documents in their order.
Prints a Markdown table: P@1 / P@5 / nDCG@20 of the tags of 600 test documents, means of three splits. At most
5,000 documents are trained on. Ridge and nearest documents of the vectors alone are those of scikit-learn;
their settings are chosen on 400 validation documents.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import tagtopics as tt
from tagtopics._blas import single_thread
from tagtopics.bp.relations import unit_vectors

COLUMNS = {"anthology": ("papers", "authors"), "tibcore": ("documents", "subjects")}
N_VALIDATION, N_TEST, N_TRAIN, N_TOPICS, RANKS = 400, 600, 5000, 50, 20


def read(folder: Path) -> tt.Corpus:
    """Return a collection as the vectors are made for."""
    if folder.name not in COLUMNS:
        return tt.read_corpus(folder)
    file, tags = COLUMNS[folder.name]
    return tt.read_corpus(folder / f"{file}.jsonl.gz", text=["title", "abstract"], tags=tags)


def measure(scores: Any, truth: Any) -> Any:
    """Return P@1, P@5 and nDCG@20 of scores (D, T)."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :RANKS]
    hits, discounts = np.take_along_axis(truth, best, axis=1), 1 / np.log2(np.arange(2, RANKS + 2))
    ideal = np.cumsum(discounts)[np.minimum(truth.sum(1), RANKS) - 1]
    return np.array([hits[:, 0].mean(), hits[:, :5].mean(), (hits @ discounts / ideal).mean()])


def baselines(train: Any, targets: Any) -> Iterator[tuple[str, Any]]:
    """Yield methods that know the vectors alone, with their settings."""
    for strength in (1.0, 3.0, 10.0, 30.0):
        yield "ridge", Ridge(alpha=strength).fit(train, targets)
    for n in (10, 30, 100):
        weigh = "distance"
        yield "nearest", KNeighborsRegressor(n, weights=weigh, metric="cosine").fit(train, targets)


def compare(corpus: tt.Corpus, vectors: Any, seed: int) -> dict[str, Any]:
    """Return the measures of all methods on one split, and the weight of the vectors."""
    usable = np.flatnonzero((np.diff(corpus.counts.indptr) > 0) & (np.diff(corpus.tags.indptr) > 0))
    order = np.random.default_rng(seed).permutation(usable)
    validation, test, train = np.split(order, [N_VALIDATION, N_VALIDATION + N_TEST])
    train = np.sort(train[:N_TRAIN])
    model = tt.TTM(N_TOPICS, random_state=seed, n_jobs=1).fit_topics(corpus.select(train))
    model.fit_recommender(corpus.select(train), vectors=vectors[train])
    assert model.recommender_ is not None
    place = {tag: t for t, tag in enumerate(corpus.tag_names)}
    columns = [place[tag] for tag in model.recommender_.tag_names]
    truth = {part: corpus.tags[rows].toarray() > 0 for part, rows in (("v", validation), ("t", test))}
    scores = np.full((len(test), corpus.n_tags), -1.0, dtype=np.float32)
    found: dict[str, Any] = {}
    chosen: dict[str, float] = {}
    for name, own in (("words", None), ("both", vectors[test])):
        scores[:, columns] = model.tag_probabilities(corpus.select(test), vectors=own)
        found[name] = measure(scores, truth["t"])
    with single_thread():
        for name, method in baselines(vectors[train], corpus.tags[train].toarray().astype(np.float32)):
            gain = measure(method.predict(vectors[validation]), truth["v"])[2]
            if gain > chosen.get(name, -1.0):
                chosen[name] = gain
                found[name] = measure(method.predict(vectors[test]), truth["t"])
    known = model.recommender_.with_vectors
    return found | {"weight": 0.0 if known is None else known.vector_weight}


def main(arguments: list[str]) -> None:
    """Print the rows of all collections, or of those named."""
    corpora, vectors, *names = arguments
    sys.stdout.write(
        "| | ridge of vectors | nearest of vectors | words and topics | with vectors | weight |\n"
    )
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for name in names or ("reuters", "tibcore", "anthology"):
        corpus = read(Path(corpora) / name)
        rows = unit_vectors(np.load(Path(vectors) / f"{name}.npy", allow_pickle=False), corpus.n_docs)
        splits = [compare(corpus, rows, seed) for seed in range(3)]
        cells = [
            " / ".join(f"{x:.3f}".lstrip("0") for x in np.mean([split[method] for split in splits], axis=0))
            for method in ("ridge", "nearest", "words", "both")
        ]
        weights = ", ".join(f"{split['weight']:g}" for split in splits)
        sys.stdout.write(f"| {name} | {' | '.join(cells)} | {weights} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
