"""Compare the ranks of doubtful taggings with three simple ones, for planted errors and without any.

    python -m reproduction.audit.baselines reuters 0

The baselines are a random order, the share of the 20 nearest documents by TF-IDF words that lack the tag, and
the recommender's score without the document. Wrong tags are planted uniformly or by frequency. Records are
appended to those of `results.py`; `page.py` shows and draws them.
"""

from __future__ import annotations

import json
import sys
import warnings
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

import tagtopics as tt
from reproduction.audit import results
from tagtopics.analysis.audit.audit import _doubtful_tags, _recommender_for
from tagtopics.analysis.audit.names import name_words
from tagtopics.analysis.audit.taggings import collect_taggings, doubtful_taggings

NEAREST = 20


def lack_of_neighbours(corpus: tt.Corpus, docs: Any, tags: Any) -> Any:
    """Return (P,): the share of the nearest documents that lack the tag, weighted by their cosines."""
    from sklearn.feature_extraction.text import TfidfTransformer

    X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts))
    known = sp.csr_array(corpus.tags, dtype=np.float64)
    found = np.zeros(len(docs))
    for first in range(0, corpus.n_docs, 500):
        rows = np.arange(first, min(first + 500, corpus.n_docs))
        alike = (X[rows] @ X.T).toarray()
        alike[np.arange(len(rows)), rows] = 0
        near = np.argpartition(-alike, NEAREST, axis=1)[:, :NEAREST]
        weights = np.take_along_axis(alike, near, 1) + 1e-9
        weights /= weights.sum(1, keepdims=True)
        votes = sp.csr_array((weights.ravel(), near.ravel(), np.arange(len(rows) + 1) * NEAREST),
                             shape=(len(rows), corpus.n_docs)) @ known  # fmt: skip
        here = (docs >= first) & (docs < first + 500)
        found[here] = np.asarray(votes.toarray()[docs[here] - first, tags[here]])
    return 1 - found


def measure(name: str, seed: int, how: str) -> dict[str, Any]:
    """Return the average precision of each order; of data without planted errors, the scores only."""
    clean = results.clean_parts(name)[0]
    noisy, _, truth = results.noisy_parts(name, seed, how == "frequent") if how != "clean" else (clean, 0, {})
    model = copy(results.topics_of(name)[0]).fit_recommender(noisy)
    doc_topic = model.transform(noisy)
    recommender = _recommender_for(model, noisy, noisy.counts, doc_topic)
    assert recommender is not None
    names = name_words(noisy, noisy.tag_names)
    taggings = collect_taggings(noisy, recommender, noisy.counts, doc_topic, names)
    found, planted = doubtful_taggings(taggings), truth.get("doubtful", np.zeros(0))
    keys = found.docs * noisy.n_tags + found.tags
    record = {"what": f"baselines {how}", "corpus": name, "seed": seed,
              "reliability": results.reliability(found.scores, np.isin(keys, planted))}  # fmt: skip
    if how == "clean":
        return record
    listed = _doubtful_tags(taggings, names)
    there = taggings.carried
    docs, tags = taggings.docs[there], taggings.tags[there]
    own = docs * noisy.n_tags + tags
    precision = results.average_precision
    return record | {
        "ours": precision(keys, found.scores, planted),
        "listed": precision(listed.docs * noisy.n_tags + listed.tags, listed.scores, planted),
        "random": len(planted) / noisy.tags.nnz,
        "neighbours": precision(own, lack_of_neighbours(noisy, docs, tags), planted),
        "recommender": precision(own, -taggings.signals[there, 1], planted),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for seed in sys.argv[2:]:
        for how in ("uniform", "frequent", "clean"):
            line = json.dumps(measure(sys.argv[1], int(seed), how))
            with results.RECORDS.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
