"""Recommendations of a model that uses the names of tags, also of tags that no training document carries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.models.base import TopicModel
from tagtopics.models.recommending import texts_of


class NamedAnswer(NamedTuple):
    """Answers for D documents; columns are the tags that documents carry or get, and one for no tag."""

    tags: list[str]
    truth: Any  # (D, C) booleans
    ranked: Int64  # (D, n) columns, best first
    probabilities: Float64  # (D, n) of the ranked tags
    predicted: Any  # (D, C) booleans
    unseen: Any  # (C,) booleans: no training document carries the tag


def named_answer(model: TopicModel, test: Corpus, n_ranks: int) -> NamedAnswer:
    """Return the recommendations of a model for test documents."""
    names, recommender = model.names_, model.recommender_
    assert names is not None  # the caller asked
    assert recommender is not None
    counts, _ = model.new_documents(test, None)
    rows = names.candidates(recommender, counts, model.infer(counts, None), texts_of(test))
    found = [(row.tags, row.probabilities, row.probabilities >= names.threshold) for row in rows]
    used = {names.tags[t] for tags, _, likely in found for t in (*tags[:n_ranks], *tags[likely])}
    columns = {tag: c for c, tag in enumerate(sorted(used | set(test.tag_names)))}
    D, none = test.n_docs, len(columns)
    truth, predicted = np.zeros((D, none + 1), dtype=bool), np.zeros((D, none + 1), dtype=bool)
    ranked, probabilities = np.full((D, n_ranks), none), np.zeros((D, n_ranks))
    for d, (tags, p, likely) in enumerate(found):
        truth[d, [columns[tag] for tag in test.tags_of(d)]] = True
        predicted[d, [columns[names.tags[t]] for t in tags[likely]]] = True
        first = [columns[names.tags[t]] for t in tags[:n_ranks]]
        ranked[d, : len(first)], probabilities[d, : len(first)] = first, p[: len(first)]
    seen = {tag for tag, n in zip(recommender.tag_names, recommender.tag_docs, strict=True) if n}
    unseen = np.array([tag not in seen for tag in columns] + [False])
    return NamedAnswer([*columns, ""], truth, ranked, probabilities, predicted, unseen)


def unseen_precision(answer: NamedAnswer) -> dict[str, float]:
    """Return how many tags without training documents are predicted, and the share that is right."""
    given = answer.predicted & answer.unseen
    right = float((given & answer.truth).sum() / max(given.sum(), 1))
    return {"n_unseen": float(given.sum()), "unseen_precision": right}
