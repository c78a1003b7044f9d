"""Measure what wrong tags cost beside what right ones gain, for pages/tag-results.md.

    python -m reproduction.tags.wrong cora reuters/2 ...     append to records/tags/wrong.jsonl

The model is fitted with the right tags. Each test document then gets its own tags, none, those that are
inferred from the words seen, or as many wrong ones: drawn uniformly, or by how often they occur. A fifth of
its words are predicted from 1, 5 or 20 of the others, or from half of all its words.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

import reproduction
import tagtopics as tt
from reproduction.run import current_commit
from reproduction.tags.results import SWEEPS, TOPICS, measured, read, shown
from tagtopics._typing import CSR, Float64
from tagtopics.corpus.splits import train_test

RECORDS = reproduction.RECORDS / "tags" / "wrong.jsonl"
SEEN_WORDS = ("1 word", "5 words", "20 words", "half")
"""How many words of a document are seen."""

ROWS = {
    "known": "Right tags",
    "inferred": "Inferred tags",
    "similar": "No tags, similar documents",
    "by frequency": "Wrong tags, drawn by frequency",
    "uniform": "Wrong tags, drawn uniformly",
}
"""The tags that documents get: their name in records, and the heading of their table.

Similar documents were measured up to commit c998b43, the last one that used them to predict words.
"""


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the perplexities of one corpus and one split."""
    corpus = read(name)
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    model = tt.TTM(TOPICS, max_iter=SWEEPS, random_state=seed).fit_topics(train).fit_recommender(train)
    generator = np.random.default_rng(seed)
    counts, tags = model.new_documents(test, test)
    frequency = np.asarray(model.new_documents(train, train)[1].sum(0), dtype=np.float64)
    given = {
        "lda": None,
        "known": tags,
        "inferred": "inferred",
        "by frequency": wrong_tags(tags, frequency, generator),
        "uniform": wrong_tags(tags, np.ones_like(frequency), generator),
    }
    parts = [split_words(counts, words, seed) for words in SEEN_WORDS]
    curves = {key: [perplexity(model, *part, some) for part in parts] for key, some in given.items()}
    return {"corpus": name, "seed": seed, "commit": current_commit(), "curves": curves}


def wrong_tags(tags: CSR, weights: Float64, generator: np.random.Generator) -> CSR:
    """Return (D, T): for each document as many tags as it has, drawn by their weights from the others."""
    drawn = sp.lil_array(tags.shape, dtype=np.int8)
    for d in range(tags.shape[0]):
        own = tags.indices[tags.indptr[d] : tags.indptr[d + 1]]
        chances = weights.copy()
        chances[own] = 0.0
        n = min(len(own), int((chances > 0).sum()))
        drawn[d, generator.choice(len(chances), n, replace=False, p=chances / chances.sum())] = 1
    return sp.csr_array(drawn)


def split_words(counts: CSR, words: str, seed: int) -> tuple[CSR, CSR]:
    """Return the words seen, and the fifth of each document's words that is to be predicted."""
    docs = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    docs, tokens = (np.repeat(values, counts.data.astype(np.int64)) for values in (docs, counts.indices))
    order = np.lexsort((np.random.default_rng(seed).random(len(docs)), docs))
    docs, tokens = docs[order], tokens[order]
    length = np.bincount(docs, minlength=counts.shape[0])
    place = np.arange(len(docs)) - (np.cumsum(length) - length)[docs]
    first_hidden = np.ceil(0.8 * length)[docs]
    most = 0.5 * length[docs] if words == "half" else float(words.split()[0])
    parts = (place < np.minimum(most, first_hidden), place >= first_hidden)
    seen, hidden = (
        sp.csr_array(sp.coo_array((np.ones(part.sum()), (docs[part], tokens[part])), counts.shape))
        for part in parts
    )
    return seen, hidden


def perplexity(model: tt.TTM, seen: CSR, hidden: CSR, tags: Any) -> float:
    """Return the perplexity of the hidden words."""
    total = model.log_likelihood(seen, hidden, tags).sum()
    return float(np.exp(-total / hidden.sum()))


def main() -> None:
    """Measure what is missing, and print it."""
    for record in measured(sys.argv[1:], RECORDS, measure):
        print(shown(record), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
