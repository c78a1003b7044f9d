"""What vectors add to topics (decision 209): agreement of topics with classes that no model has seen.

    python -m reproduction.vectors CORPORA VECTORS [--strengths] [NAME:TOPICS ...]

CORPORA has one folder for each collection; VECTORS has NAME.npy, vectors of its documents in their order.
Prints a Markdown table. With --strengths, the strength is given instead of learned, and the perplexity of a
fifth of the documents is printed next to the agreement.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import tagtopics as tt
from tagtopics.bp.holdout import log_likelihoods
from tagtopics.corpus.splits import completion, train_test

STRENGTHS = (0.0, 3.0, 10.0, 30.0, 100.0, 300.0)
RUNS = ("bbc:10", "bbc:20", "reuters:10", "reuters:20", "dblp:10", "dblp:20")


def read(folder: Path, vectors: Path) -> tuple[tt.Corpus, Any, Any]:
    """Return the documents of one class that have words, their vectors and their classes."""
    texts = folder / "documents.jsonl.gz"
    corpus = tt.read_corpus(texts, text="text", tags="label") if texts.exists() else tt.read_corpus(folder)
    found = np.load(vectors, allow_pickle=False)
    rows = np.flatnonzero((np.diff(corpus.tags.indptr) == 1) & (np.diff(corpus.counts.indptr) > 0))
    part = corpus.select(rows)
    return part, found[rows], part.tags.indices


def agreement(classes: Any, labels: Any) -> str:
    """Return normalised mutual information and adjusted Rand index."""
    return f"{normalized_mutual_info_score(classes, labels):.3f} / {adjusted_rand_score(classes, labels):.3f}"


def compare(name: str, n_topics: int, corpus: tt.Corpus, vectors: Any, classes: Any) -> None:
    """Print a row of the table: k-means of the vectors, LDA without and with them."""
    clusters = KMeans(n_topics, n_init=3, random_state=0).fit(vectors).labels_
    plain = tt.LDA(n_topics, random_state=0).fit_topics(corpus)
    began = time.perf_counter()
    model = tt.LDA(n_topics, random_state=0).fit_topics(corpus, vectors=vectors)
    seconds = time.perf_counter() - began
    shuffled = np.random.default_rng(1).permutation(vectors)
    control = tt.LDA(n_topics, random_state=0).fit_topics(corpus, vectors=shuffled).vector_strength_
    found = [
        agreement(classes, labels) for labels in (clusters, *(m.doc_topic_.argmax(1) for m in (plain, model)))
    ]
    cells = [name, str(n_topics), *found, f"{model.vector_strength_:g}", f"{control:g}", f"{seconds:.0f}"]
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def sweep_strengths(name: str, n_topics: int, corpus: tt.Corpus, vectors: Any, classes: Any) -> None:
    """Print agreement and perplexity, with four fifths of the words seen, for each strength."""
    train, test = train_test(corpus, 0)
    seen, hidden = completion(corpus.counts[test], 0)
    cells = [name, str(n_topics)]
    for strength in STRENGTHS:
        with patch("tagtopics.models.relate._learn_strength", lambda *_, s=strength: s):
            model = tt.LDA(n_topics, random_state=0).fit_topics(corpus.select(train), vectors=vectors[train])
        theta = model.transform(seen, vectors=vectors[test])
        logs = log_likelihoods(hidden, theta, model.phi()).sum() / hidden.sum()
        cells.append(f"{agreement(classes[train], model.doc_topic_.argmax(1))}, {np.exp(-logs):.0f}")
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> None:
    """Print the rows of all runs, or of those named."""
    work = sweep_strengths if "--strengths" in arguments else compare
    corpora, vectors, *runs = [argument for argument in arguments if argument != "--strengths"]
    for name, topics in (run.split(":") for run in runs or RUNS):
        work(name, int(topics), *read(Path(corpora) / name, Path(vectors) / f"{name}.npy"))


if __name__ == "__main__":
    main(sys.argv[1:])
