"""Document classification: predict the class of a document from its topics."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel
from tagtopics.tasks.fitted_split import fit_split, result


def evaluate_classification(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False, per_class: int = 100
) -> dict[str, Any]:
    """Train a support vector machine on topic proportions and measure its accuracy on test documents.

    The topics are learned from all training documents. The classifier (radial basis function, on the square
    roots of the proportions) is trained on `per_class` labelled documents of each class, 100 in the paper's
    CORA.

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
    train_rows, train_labels = _labelled(split.train)
    test_rows, test_labels = _labelled(split.test)
    if len(set(train_labels)) < 2 or not len(test_rows):
        raise InputError("classification: too few labelled documents in the training or test part")
    chosen = _sampled(train_labels, per_class, seed)
    classifier = SVC(C=10.0, gamma="scale")
    classifier.fit(np.sqrt(split.train_topics[train_rows[chosen]]), train_labels[chosen])
    guesses = classifier.predict(np.sqrt(split.test_topics[test_rows]))
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


def _labelled(corpus: Corpus) -> tuple[Int64, Any]:
    """Return the rows of the documents with a label, and their labels."""
    labels = corpus.labels or ()
    rows = np.array([d for d, label in enumerate(labels) if label is not None], dtype=np.int64)
    return rows, np.array([labels[d] for d in rows])


def _sampled(labels: Any, per_class: int, seed: int) -> Int64:
    """Return the positions of at most `per_class` labels of each class, drawn at random."""
    generator = np.random.default_rng(seed)
    parts = []
    for name in np.unique(labels):
        parts.append(generator.permutation(np.flatnonzero(labels == name))[:per_class])
    return np.sort(np.concatenate(parts))
