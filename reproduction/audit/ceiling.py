"""Measure how well any rule could find planted duplicates whose names say nothing.

    python -m reproduction.audit.ceiling tibcore 0 1 ...

The rule is a gradient boosting of trees on what `duplicate_tags` compares tags by and the cosine of all their
words. It learns from 300 tags that are split just as the tags asked about, some of which are the same, and is
told which pairs to compare. So it knows more than an audit can. Records are appended to those of
`results.py`; `page.py` shows them.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import tagtopics as tt
from reproduction.audit import results
from tagtopics.analysis.audit import duplicates
from tagtopics.analysis.audit.duplicates import normalize_rows, row_products, weighted_words
from tagtopics.analysis.audit.names import spelling_pairs

LEARNED, OFTEN = 300, (results.FEWEST, 40)
"""Tags to learn from, and the documents that each split tag has at least."""


class Pairs(NamedTuple):
    """Pairs of tags that are compared; pairs of the corpus with similar names are left out."""

    features: Any  # (P, C)
    cosine: Any  # (P,) of the words of the two tags
    right: Any  # (P,) whether the two are halves of one tag
    n_docs: Any  # (P,) documents of the rarer one


def pairs_of(corpus: tt.Corpus, seed: int, n_split: int, fewest: int) -> Pairs:
    """Return the pairs of a corpus some of whose tags are split."""
    results.SPLIT, results.FEWEST = n_split, fewest
    halves, true = results.with_halves(corpus, seed, results.hidden_name)
    profiles = duplicates._make_profiles(weighted_words(halves), sp.csr_array(halves.tags, dtype=np.float64))
    near = duplicates._neighbours(profiles)
    pairs = sorted((set(near) - set(spelling_pairs(corpus.tag_names))) | set(true))
    a, b = np.array(pairs, dtype=np.int64).T
    words = normalize_rows(profiles.sums)
    cosine = row_products(words, a, words, b)
    features = np.column_stack([duplicates._features(profiles, a, b, near)[:, 1:], cosine])
    right = np.array([pair in true for pair in pairs])
    return Pairs(features, cosine, right, np.minimum(profiles.n_docs[a], profiles.n_docs[b]))


def precision(scores: Any, right: Any) -> float:
    """Return the share of right pairs among as many of the best as there are right ones."""
    return float(right[np.argsort(-scores, kind="stable")[: right.sum()]].mean())


def run(name: str, seeds: list[int]) -> None:
    """Append a record for each seed and number of documents."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    corpus = results.read(name)
    known = pairs_of(corpus, 101, LEARNED, results.FEWEST)
    trees = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.05, max_leaf_nodes=15, random_state=0
    )
    trees.fit(known.features, known.right)
    for seed in seeds:
        for fewest in OFTEN:
            asked = pairs_of(corpus, seed, 50, fewest)
            middle = float(np.median(asked.cosine[asked.right]))
            record = {
                "what": f"ceiling from {fewest}", "corpus": name, "seed": seed, "fewest": fewest,
                "n_split": int(asked.right.sum()), "n_pairs": len(asked.right),
                "half": float(np.median(asked.n_docs[asked.right])),
                "cosine": precision(asked.cosine, asked.right),
                "trees": precision(trees.predict_proba(asked.features)[:, 1], asked.right),
                "closer": int((asked.cosine[~asked.right] > middle).sum()),
            }  # fmt: skip
            with results.RECORDS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            sys.stdout.write(json.dumps(record) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run(sys.argv[1], [int(seed) for seed in sys.argv[2:]])
