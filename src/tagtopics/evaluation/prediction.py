"""Predictions from topics: the class of a document, and links between documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.evaluation.fitted_split import FittedSplit, fit_split, result
from tagtopics.models.base import TopicModel


def evaluate_classification(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False, per_class: int = 100
) -> dict[str, Any]:
    """Train a support vector machine on topic proportions and measure its accuracy on test documents.

    The topics are learned from all training documents. The classifier (radial basis function, on the square
    roots of the proportions) is trained on `per_class` labelled documents of each class, 100 in the paper's
    CORA. If the model infers tags from words, the square roots of their probabilities are features, too.

    Args:
        corpus: documents with labels; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split and of the training samples.
        tags_known: whether the model may use the tags of documents to infer proportions.
        per_class: maximum number of training samples of each class.

    Returns:
        `metrics`: `accuracy`, the accuracy of always predicting the `largest_class`, and the numbers of
        training documents, test documents and documents without a label; `seconds`: `fit` and `score`.
    """
    from sklearn.svm import SVC

    if corpus.labels is None or len({label for label in corpus.labels if label is not None}) < 2:
        raise InputError("classification: the corpus has no labels of at least two classes")
    began = time.perf_counter()
    split = fit_split(corpus, model, seed, tags_known)
    train_rows, train_labels = _labels(split.train)
    test_rows, test_labels = _labels(split.test)
    if len(set(train_labels)) < 2 or not len(test_rows):
        raise InputError("classification: too few labelled documents in the training or test part")
    generator = np.random.default_rng(seed)
    of_class = [np.flatnonzero(train_labels == name) for name in np.unique(train_labels)]
    chosen = np.sort(np.concatenate([generator.permutation(rows)[:per_class] for rows in of_class]))
    rows = train_rows[chosen], test_rows
    train, test = np.sqrt(split.train_topics[rows[0]]), np.sqrt(split.test_topics[test_rows])
    train, test = _append_tags(split, train, test, lambda likely, some: np.sqrt(likely[some]), rows)
    guesses = SVC(C=10.0, gamma="scale").fit(train, train_labels[chosen]).predict(test)
    names, sizes = np.unique(train_labels, return_counts=True)
    metrics = {
        "accuracy": float(np.mean(guesses == test_labels)),
        "largest_class": float(np.mean(test_labels == names[sizes.argmax()])),
        "n_classes": len(names),
        "n_train": len(chosen),
        "n_test": len(test_rows),
        "n_without_label": corpus.n_docs - len(train_rows) - len(test_rows),
    }
    return result(metrics, split.seconds, began)


def _append_tags(
    split: FittedSplit, train: Any, test: Any, of_tags: Callable[..., Any], rows: tuple[Int64, Int64]
) -> tuple[Float32, Float32]:
    """Append features of inferred tags, if there are any, scaled to vary as much in the training rows."""
    if split.train_tags is None or split.test_tags is None:
        return train, test
    more_train, more_test = of_tags(split.train_tags, rows[0]), of_tags(split.test_tags, rows[1])
    scale = np.sqrt(train.var(0).sum() / max(float(more_train.var(0).sum()), 1e-12))
    centre = more_train.mean(0)
    parts = ((train, more_train), (test, more_test))
    first, second = (np.hstack([old, scale * (new - centre)]).astype(np.float32) for old, new in parts)
    return first, second


def _labels(corpus: Corpus) -> tuple[Int64, Any]:
    """Return the rows of the documents with a label, and their labels."""
    labels = corpus.labels or ()
    rows = np.array([d for d, label in enumerate(labels) if label is not None], dtype=np.int64)
    return rows, np.array([labels[d] for d in rows])


_MAX_PAIRS = 3000
"""Maximum number of linked pairs in a part; the same number of pairs without a link is added."""


def evaluate_links(
    corpus: Corpus,
    model: TopicModel,
    *,
    seed: int = 0,
    tags_known: bool = False,
    given: bool = False,
    power: float = 0.5,
) -> dict[str, Any]:
    """Train a support vector machine on products of topic proportions and measure it on test pairs.

    As in the paper, a pair of documents is the Hadamard product of their proportions, but its square roots
    (decision 241); half of the pairs have a link, in training and in test; both documents of a test pair are
    test documents. If the model infers tags from words, the logarithm of the number of tags that both
    documents are expected to share is a feature, too (decision 241).

    Args:
        corpus: documents; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split and of the pairs.
        tags_known: whether the model may use tags to infer proportions. If links are shared tags, this
            gives the answer away.
        given: use the links of the corpus (citations), in either direction; else, as in the paper, a link
            is a shared tag.
        power: exponent of the products; 1 in the paper.

    Returns:
        `metrics`: `auc`, the share of pairs with and without a link that are in the right order; `f1` of the
        links, 0.667 for the answer "always a link"; `accuracy` and the numbers of pairs; `seconds`: `fit`
        and `score`.
    """
    from sklearn.metrics import f1_score, roc_auc_score
    from sklearn.svm import SVC

    if given and corpus.links is None:
        raise InputError("links: the corpus has no links; leave out given=True")
    began = time.perf_counter()
    split = fit_split(corpus, model, seed, tags_known)
    generator = np.random.default_rng(seed)
    train_pairs, train_linked = _draw_pairs(split.train, given, generator, "training")
    test_pairs, test_linked = _draw_pairs(split.test, given, generator, "test")
    parts = ((split.train_topics, train_pairs), (split.test_topics, test_pairs))
    train, test = ((topics[pairs[:, 0]] * topics[pairs[:, 1]]) ** power for topics, pairs in parts)
    train, test = _append_tags(split, train, test, _shared_tags, (train_pairs, test_pairs))
    machine = SVC(C=10.0, gamma="scale").fit(train, train_linked)
    guesses = machine.predict(test)
    metrics = {
        "auc": float(roc_auc_score(test_linked, machine.decision_function(test))),
        "f1": float(f1_score(test_linked, guesses, zero_division=0.0)),
        "accuracy": float(np.mean(guesses == test_linked)),
        "n_train_pairs": len(train_linked),
        "n_test_pairs": len(test_linked),
    }
    return result(metrics, split.seconds, began)


def linked_pairs(corpus: Corpus, given: bool) -> Int64:
    """Return (N, 2): the pairs i < j of documents with a link, in order."""
    tags = corpus.tags.astype(np.int32)
    matrix: Any = corpus.links if given else tags @ tags.T
    upper = sp.triu(sp.csr_array(matrix + matrix.T), k=1).tocoo()
    pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _draw_pairs(corpus: Corpus, given: bool, generator: np.random.Generator, part: str) -> tuple[Int64, Any]:
    """Return pairs (2 N, 2), the first N with a link, and a mask (2 N,) of those."""
    linked = linked_pairs(corpus, given)
    if not len(linked):
        raise InputError(f"links: no two documents of the {part} part are linked")
    known = set(map(tuple, linked.tolist()))
    chosen = linked[np.sort(generator.permutation(len(linked))[:_MAX_PAIRS])]
    most = corpus.n_docs * (corpus.n_docs - 1) // 2 - len(linked)
    wanted = min(len(chosen), most)
    if not wanted:
        raise InputError(f"links: all documents of the {part} part are linked with each other")
    others: set[tuple[int, int]] = set()
    while len(others) < wanted:
        drawn = np.sort(generator.integers(corpus.n_docs, size=(2 * wanted, 2)), axis=1).tolist()
        others.update((i, j) for i, j in drawn if i < j and (i, j) not in known)
    apart = np.array(sorted(others), dtype=np.int64)
    apart = apart[np.sort(generator.permutation(len(apart))[:wanted])]
    return np.concatenate([chosen[:wanted], apart]), np.arange(2 * wanted) < wanted


def _shared_tags(likely: Float32, pairs: Int64) -> Float64:
    """Return (N, 1): the logarithm of the number of tags that both documents are expected to have."""
    rows = np.array_split(pairs, 1 + len(pairs) // 256)
    expected = [np.einsum("nt,nt->n", *likely[part.T], dtype=np.float64) for part in rows]
    return np.log(np.concatenate(expected)[:, np.newaxis] + 1e-12)
