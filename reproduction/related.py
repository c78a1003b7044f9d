"""How well `related` finds documents that share a tag (decision 233), beside TF-IDF and given vectors.

    python -m reproduction.related CORPORA [VECTORS] [NAME ...]

CORPORA has one folder for each collection; VECTORS may have NAME.npy, vectors of its documents in order.
Prints a Markdown table: the mean AUC, and the share of the first ten documents that share a tag, over 400
held-out documents whose tags are hidden.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score

import tagtopics as tt
from tagtopics.datasets import load_dataset

TOPICS, HELD_OUT = 50, 400
NAMES = ("reuters", "docstrings", "cora", "tibcore", "anthology")
COLUMNS: dict[str, dict[str, Any]] = {
    "anthology/papers.jsonl.gz": {"text": ["title", "abstract"], "tags": "authors"},
    "tibcore/documents.jsonl.gz": {"text": ["title", "abstract"], "tags": "subjects"},
}


def read(name: str, corpora: Path) -> tt.Corpus:
    """Return a collection."""
    if name == "docstrings":
        return load_dataset(name)
    for path, columns in COLUMNS.items():
        if path.startswith(f"{name}/"):
            return tt.read_corpus(corpora / path, **columns)
    return tt.read_corpus(corpora / name)


def scores_of(corpus: tt.Corpus, train: Any, test: Any, vectors: Any) -> dict[str, Any]:
    """Return (D, N) for each way to compare the held-out documents with the others."""
    known = corpus.select(train)
    model = tt.TTM(TOPICS, random_state=0).fit(known)
    counts = corpus.counts[test]
    weights = TfidfTransformer(sublinear_tf=True).fit(corpus.counts[train])
    found = {"TF-IDF": (weights.transform(counts) @ weights.transform(corpus.counts[train]).T).toarray()}
    if vectors is not None:
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        found["vectors"] = unit[test] @ unit[train].T
    recommender, model.recommender_ = model.recommender_, None
    found["topics"] = _table(model.related(counts, len(train)), len(train))
    model.recommender_ = recommender
    found["related"] = _table(model.related(counts, len(train)), len(train))
    return found


def _table(answers: list[list[Any]], n_docs: int) -> Any:
    table = np.zeros((len(answers), n_docs))
    for row, answer in zip(table, answers, strict=True):
        row[[one.row for one in answer]] = [one.score for one in answer]
    return table


def main(arguments: list[str]) -> None:
    """Print the rows of all collections, or of those named."""
    corpora, *rest = arguments
    vectors = Path(rest.pop(0)) if rest and Path(rest[0]).is_dir() else None
    for name in rest or NAMES:
        corpus = read(name, Path(corpora))
        file = None if vectors is None else vectors / f"{name}.npy"
        given = np.load(file, allow_pickle=False) if file is not None and file.exists() else None
        usable = np.flatnonzero((np.diff(corpus.counts.indptr) > 0) & (np.diff(corpus.tags.indptr) > 0))
        order = np.random.default_rng(0).permutation(usable)
        test, train = np.sort(order[:HELD_OUT]), np.sort(order[HELD_OUT:])
        share = (corpus.tags[test].astype(float) @ corpus.tags[train].T.astype(float)).toarray() > 0
        rows = np.flatnonzero(share.any(1) & ~share.all(1))
        for what, table in scores_of(corpus, train, test, given).items():
            auc = np.mean([roc_auc_score(share[i], table[i]) for i in rows])
            first = np.mean([share[i][np.argsort(-table[i], kind="stable")[:10]].mean() for i in rows])
            sys.stdout.write(f"| {name} | {what} | {auc:.3f} | {first:.3f} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
