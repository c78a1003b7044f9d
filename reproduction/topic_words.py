"""Compare lists of ten words of each topic, ours and those of scikit-learn's NMF: pages/topic-words.md.

    TAGTOPICS_DATA=... python -m reproduction.topic_words run [CORPUS...]   append to records/words
    python -m reproduction.topic_words page                                 write the page from the records

Topics are learned from a half of the documents, drawn by the seed; NPMI is counted in the other half. The
first three kinds of lists are of the same topics of `LDA`, with default settings. NMF factorises TF-IDF, with
default settings and a start from singular vectors (NNDSVD). As a control, our rule is applied to its factors.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer

import reproduction
import tagtopics as tt
from reproduction.analysis import workflow
from tagtopics.bp.holdout import topic_coherence
from tagtopics.jit.top import largest_in_rows
from tagtopics.models.topic_words import choose_topic_words, list_words

RECORDS = reproduction.RECORDS / "words" / "results.jsonl"
CORPORA, TOPICS, SEEDS, N = ("bbc", "docstrings", "reuters", "anthology", "tibcore"), (20, 50), range(5), 10
LISTS = {
    "listed": "listed",
    "telling": "most telling",
    "probable": "most probable",
    "nmf": "NMF of TF-IDF",
    "nmf listed": "NMF, our rule",
}
T_QUANTILE = 2.776  # of 97.5 %, with four degrees of freedom


def load(name: str) -> tt.Corpus:
    """Return a real corpus by name."""
    if name == "bbc":
        source = Path(os.environ["TAGTOPICS_DATA"]) / "bbc" / "documents.jsonl.gz"
        return tt.read_corpus(source, text="text", tags="label")
    return workflow.load(name)


def lists(corpus: tt.Corpus, n_topics: int, seed: int) -> dict[str, Any]:
    """Return the ten words of each topic, (K, 10), by the kind of list."""
    model = tt.LDA(n_topics, random_state=seed).fit_topics(corpus)
    factors = NMF(n_topics, init="nndsvd", random_state=seed)
    factors.fit(TfidfTransformer().fit_transform(corpus.counts))
    sums = factors.components_.sum(1) + 1e-300
    chosen = choose_topic_words(factors.components_ / sums[:, np.newaxis], sums / sums.sum(), corpus.counts)
    return {
        "listed": model.listed_words(N),
        "telling": list_words(model.components_, model.topic_shares(), None, N),
        "probable": largest_in_rows(model.components_, N),
        "nmf": largest_in_rows(factors.components_, N),
        "nmf listed": chosen[:, :N],
    }


def measure(corpus: tt.Corpus, n_topics: int, seed: int) -> dict[str, dict[str, float]]:
    """Return NPMI in the other half, and the share of different words, of each kind of list."""
    order = np.random.default_rng(seed).permutation(corpus.n_docs)
    learned, other = corpus.select(order[::2]), corpus.select(order[1::2])
    found = {}
    for kind, columns in lists(learned, n_topics, seed).items():
        words = [[corpus.vocabulary[w] for w in own] for own in columns]
        npmi = float(topic_coherence(other, words).mean())
        found[kind] = {"npmi": npmi, "diversity": len(np.unique(columns)) / columns.size}
    return found


def run(names: list[str]) -> None:
    """Append the records that are missing."""
    warnings.simplefilter("ignore")
    RECORDS.parent.mkdir(exist_ok=True)
    known = {(r["corpus"], r["topics"], r["seed"]) for r in records()}
    for name in names or CORPORA:
        corpus = load(name)
        for key in [(name, K, seed) for K in TOPICS for seed in SEEDS]:
            if key not in known:
                row = dict(zip(("corpus", "topics", "seed"), key, strict=True))
                row |= {"documents": corpus.n_docs, "lists": measure(corpus, *key[1:])}
                with RECORDS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                workflow.note(row)


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []


def interval(values: Any, digits: int = 3) -> str:
    """Return the mean of five values and half the width of its 95 % interval."""
    half = T_QUANTILE * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {half:.{digits}f}"


def table(rows: list[dict[str, Any]], measured: str) -> str:
    """Return a Markdown table of one measure, and how much the lists shown exceed those of NMF."""
    lines = [f"| corpus | K | {' | '.join(LISTS.values())} | listed - NMF |", "|---" * 8 + "|"]
    for name in CORPORA:
        for K in TOPICS:
            own = [row["lists"] for row in rows if (row["corpus"], row["topics"]) == (name, K)]
            values = {kind: np.array([found[kind][measured] for found in own]) for kind in LISTS}
            cells = [*values.values(), values["listed"] - values["nmf"]]
            lines.append(f"| {name} | {K} | {' | '.join(map(interval, cells))} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    rows = records()
    sizes = ", ".join(f"{n} {d:,}" for n, d in sorted({(row["corpus"], row["documents"]) for row in rows}))
    return f"""# Words of topics

Written by `python -m reproduction.topic_words page` from `records/words`.
Ten words of each topic: those that tagtopics lists ([decision 256](../../docs/decisions/256-topic-words.md)),
the most telling ones (by contribution alone) and the most probable ones, all three of the same topics of
`LDA`; and the words with the largest weights in scikit-learn's NMF of TF-IDF. Topics are learned from a half
of the documents, drawn by each of five seeds. Documents: {sizes}. Mean of five seeds and 95 % interval of the
mean.
The rule was chosen with seed 0 of these corpora. It can be applied to any topics: "NMF, our rule" has
the words that it lists for the factors of NMF.

## NPMI in the other half of the documents (higher is better)

{table(rows, "npmi")}

## Diversity: share of different words in all lists (higher is better)

{table(rows, "diversity")}
"""


if __name__ == "__main__":
    if sys.argv[1:2] == ["page"]:
        (reproduction.PAGES / "topic-words.md").write_text(page(), encoding="utf-8")
    else:
        run(sys.argv[2:])
