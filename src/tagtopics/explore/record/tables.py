"""A model as plain tables: topics, words, documents, tags, credits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics.corpus.core import Corpus
from tagtopics.models.base import TopicModel
from tagtopics.models.documents import training_documents
from tagtopics.models.rankings import typical_tags

Table = dict[str, Any]
"""Columns of equal length by name; `pandas.DataFrame(table)` makes a frame of it."""


def export_tables(model: TopicModel, corpus: Corpus | None = None, *, n_words: int = 50) -> dict[str, Table]:
    """Return tables of a model, each a dictionary of columns.

    `topics` (topic, name, background, share, words, tags), `topic_words` (topic, word, probability),
    `documents` (id, topic, share: one row for each topic of each document), `tags` (tag, documents, topic,
    share: likewise), `words` (word, tokens, topic: the most probable one), and with the corpus of a `TTM`
    `credits` (id, word, count, tag, credit).

    Args:
        model: fitted.
        corpus: the documents it was fitted to, for credits.
        n_words: words of each topic in `topic_words`.
    """
    check_is_fitted(model)
    listed = [(k, *entry) for k, words in enumerate(model.top_words(n_words)) for entry in words]
    tokens = model.components_.astype(np.float64) * model.topic_sums_[:, np.newaxis]  # (K, W)
    tables: dict[str, Table] = {
        "topics": _topics(model),
        "topic_words": {
            "topic": [k for k, _, _ in listed],
            "word": [word for _, word, _ in listed],
            "probability": [p for _, _, p in listed],
        },
        "documents": _long("id", model.doc_ids_, model.doc_topic_),
        "tags": _tags(model),
        "words": {
            "word": list(model.vocabulary_),
            "tokens": tokens.sum(0).tolist(),
            "topic": tokens.argmax(0).tolist(),
        },
    }
    if corpus is not None and model.tag_names_ and hasattr(model, "explain"):
        tables["credits"] = _credits(model, training_documents(model, corpus))
    return tables


def _topics(model: TopicModel) -> Table:
    names, background, tags = model.topic_names(), model.background_topics(), typical_tags(model, 3)
    return {
        "topic": list(range(len(names))),
        "name": list(names),
        "background": background.tolist(),
        "share": model.topic_shares().tolist(),
        "words": [" ".join(word for word, _ in row) for row in model.top_words(10)],
        "tags": ["; ".join(entry["tag"] for entry in row) for row in tags],
    }


def _long(key: str, names: Any, proportions: Any, **more: Any) -> Table:
    """Return a row for each topic of each name."""
    N, K = np.shape(proportions)
    repeated = {column: np.repeat(values, K).tolist() for column, values in more.items()}
    return {
        key: [name for name in names for _ in range(K)],
        **repeated,
        "topic": np.tile(np.arange(K), N).tolist(),
        "share": np.asarray(proportions, dtype=np.float64).ravel().tolist(),
    }


def _tags(model: TopicModel) -> Table:
    K = len(model.components_)
    known = bool(model.tag_names_) and hasattr(model, "tag_sums_")
    means = model.tag_means() if known else np.empty((0, K))
    names, docs = (model.tag_names_, model.tag_docs_) if known else ((), np.empty(0, dtype=np.int64))
    return _long("tag", names, means, documents=docs)


def _credits(model: Any, corpus: Corpus) -> Table:
    table = model.explain(corpus)
    return {
        "id": [corpus.ids[d] for d in table.doc.tolist()],
        "word": table.word.tolist(),
        "count": table.count.tolist(),
        "tag": table.tag.tolist(),
        "credit": table.credit.tolist(),
    }
