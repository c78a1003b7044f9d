"""What users would otherwise do: scikit-learn's vectoriser, a topic model, a page by pyLDAvis.

    python -m benchmarks.e2e_peers NAME FILE REPORT TOPICS

prints one JSON object with the seconds of each step.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """What pyLDAvis wants to know of a model."""

    topics: Any  # (K, W)
    documents: Any  # (D, K)
    iterations: int


def tomotopy(counts: Any, words: Any, n_topics: int) -> Fitted:
    """Sample 100 sweeps, as in the examples of its documentation."""
    import tomotopy as tp

    model, n_sweeps = tp.LDAModel(k=n_topics, seed=0), 100
    for d in range(counts.shape[0]):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        model.add_doc(np.repeat(words[counts.indices[row]], counts.data[row]).tolist() or [words[0]])
    model.train(n_sweeps, workers=2)
    column = {word: w for w, word in enumerate(words)}
    topics = np.zeros((n_topics, len(words)))
    used = [column[word] for word in model.used_vocabs]
    topics[:, used] = [model.get_topic_word_dist(k) for k in range(n_topics)]
    return Fitted(topics, np.array([doc.get_topic_dist() for doc in model.docs]), n_sweeps)


def gensim(counts: Any, words: Any, n_topics: int) -> Fitted:
    """Make one online pass, the default, on two processes."""
    from gensim.matutils import Sparse2Corpus, corpus2dense
    from gensim.models import LdaMulticore

    corpus = Sparse2Corpus(counts, documents_columns=False)
    names = dict(enumerate(words))
    model = LdaMulticore(corpus, num_topics=n_topics, id2word=names, workers=2, random_state=0)
    documents = model.get_document_topics(corpus, minimum_probability=0)
    return Fitted(model.get_topics(), corpus2dense(documents, n_topics, counts.shape[0]).T, 1)


def sklearn(counts: Any, words: Any, n_topics: int) -> Fitted:
    """Make ten batch passes, the default, on two processes."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(n_topics, n_jobs=2, random_state=0)
    documents = model.fit_transform(counts)
    return Fitted(model.components_, documents, model.n_iter_)


PEERS: Mapping[str, Callable[[Any, Any, int], Fitted]] = {
    "tomotopy": tomotopy,
    "gensim": gensim,
    "sklearn": sklearn,
}


def run(name: str, path: Path, report: Path, n_topics: int) -> dict[str, Any]:
    """Go all the way; return the seconds of each step, and sizes."""
    from sklearn.feature_extraction.text import CountVectorizer

    clock = [time.perf_counter()]
    with path.open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    clock.append(time.perf_counter())
    vectorizer = CountVectorizer(stop_words="english")
    counts = vectorizer.fit_transform(texts).tocsr()
    words = vectorizer.get_feature_names_out().astype(object)
    clock.append(time.perf_counter())
    fitted = PEERS[name](counts, words, n_topics)
    clock.append(time.perf_counter())
    with_page = find_spec("pyLDAvis") is not None
    if with_page:
        _write_page(fitted, counts, words, report)
    clock.append(time.perf_counter())
    steps = dict(zip(("read", "count", "sweeps", "render"), np.diff(clock).tolist(), strict=True))
    return {
        "seconds": steps,
        "n_tokens": int(counts.sum()),
        "n_words": len(words),
        "iterations": fitted.iterations,
        "page": with_page,
    }


def _write_page(fitted: Fitted, counts: Any, words: Any, report: Path) -> None:
    """Write pyLDAvis's page; documents without a word have no place in it."""
    import pyLDAvis

    lengths = np.asarray(counts.sum(1)).ravel()
    kept = lengths > 0
    documents = fitted.documents[kept].astype(float)
    topics = np.asarray(fitted.topics, dtype=float)
    prepared = pyLDAvis.prepare(
        topics / topics.sum(1, keepdims=True),
        documents / documents.sum(1, keepdims=True),
        lengths[kept],
        words,
        np.asarray(counts.sum(0)).ravel(),
        mds="mmds",  # its default may give complex coordinates, which it then cannot write
        n_jobs=2,
    )
    pyLDAvis.save_html(prepared, str(report))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    name, path, report, n_topics = sys.argv[1:]
    sys.stdout.write(json.dumps(run(name, Path(path), Path(report), int(n_topics))) + "\n")
