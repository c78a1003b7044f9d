"""Measure how well edits and seeds are found again, for `results.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from reproduction import probable_words
from reproduction.analysis.workflow import load, note
from tagtopics.models.documents import without_tags

PLANTED = [(300, 150, 6, 10, 40, 0.8), (600, 500, 10, 20, 60, 0.85), (1000, 1000, 20, 40, 60, 0.85),
           (500, 300, 10, 20, 30, 0.7)]  # fmt: skip
"""Documents, words, topics, tags, tokens a document and `own_topic` of generated corpora."""


def cosine(a: Any, b: Any) -> float:
    """Return the cosine of two topics, (W,)."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def telling(topics: Any, vocabulary: tuple[str, ...], topic: int, n: int = 3) -> list[str]:
    """Return words that are frequent in one topic and rare in the others; topics are (K, W)."""
    share = topics / np.maximum(topics.sum(0), 1e-300)
    return [vocabulary[w] for w in np.argsort(-(topics[topic] * share[topic] ** 2))[:n]]


def seeds() -> Any:
    """Return the cosine of seeded topics with planted ones, in a new fit and added to a fitted model."""
    rows = []
    for docs, words, K, tags, tokens, own in PLANTED:
        for seed in range(900, 905):
            made = make_tagged_corpus(docs, words, K, tags, 3, tokens, 2, own, seed=seed)
            truth, corpus = np.asarray(made.topics, dtype=np.float64), made.corpus
            named = {f"seeded {k}": telling(truth, corpus.vocabulary, k) for k in range(3)}
            start: Any = tt.LDA(K - 2, random_state=1).fit_topics(corpus)
            for name, chosen in named.items():
                start = tt.curate(start, "seed", name=name, words=chosen)
            fresh = tt.fit_curated(tt.LDA(K - 3, random_state=7), corpus, tt.Curation.of_seeds(named))
            added = tt.fit_curated(tt.LDA(K - 2, random_state=7), corpus, start.curation_)
            rows.append({
                "docs": docs, "topics": K, "seed": seed,
                "fresh": [cosine(fresh.components_[K - 3 + k], truth[k]) for k in range(3)],
                "added": [cosine(added.components_[K - 2 + k], truth[k]) for k in range(3)],
            })  # fmt: skip
        note(rows[-1])
    return rows


def real_seeds(name: str, K: int = 20) -> Any:
    """Return the cosine of seeded topics with topics of another fit, guided by their words and unguided.

    The topics are the five largest that the unguided fit with the same seed finds, too (cosine of 0.7).
    """
    corpus = load(name)
    first: Any = tt.LDA(K, random_state=0).fit_topics(corpus)
    other: Any = tt.LDA(K, random_state=7).fit_topics(corpus)
    best = [max(cosine(a, b) for b in other.components_) for a in first.components_]
    shares = np.where(first.background_topics(), 0, first.topic_shares())
    chosen = [int(k) for k in np.argsort(-shares) if best[k] >= 0.7][:5]
    topics = first.components_.astype(np.float64)
    named = {f"seeded {k}": telling(topics, corpus.vocabulary, k) for k in chosen}
    guided = tt.fit_curated(
        tt.LDA(K - len(chosen), random_state=7), without_tags(corpus), tt.Curation.of_seeds(named)
    )
    place = K - len(chosen)
    found = [cosine(guided.components_[place + i], topics[k]) for i, k in enumerate(chosen)]
    top = [{w for w, _ in probable_words(guided, 10)[place + i]} for i in range(len(chosen))]
    kept = [len(set(named[f"seeded {k}"]) & top[i]) for i, k in enumerate(chosen)]
    rows = [{"corpus": name, "words": named[f"seeded {k}"], "guided": found[i], "unguided": best[k],
             "seeds_on_top": kept[i]} for i, k in enumerate(chosen)]  # fmt: skip
    note(rows)
    return rows


def replay(name: str, K: int = 20) -> Any:
    """Return the cosine of edited topics before and after a replay, with two other seeds each."""
    corpus = load(name)
    model: Any = tt.LDA(K, random_state=0).fit_topics(corpus)
    rows = []
    for sequence in range(2):
        rng = np.random.default_rng([41, sequence])
        named, *merged = rng.choice(K, 4, replace=False).tolist()
        edited: Any = tt.curate(model, "rename", topics=[named], name="kept")
        edited = tt.curate(edited, "merge", topics=merged)
        touched = [t.topic for t in edited.curation_.topics if t.curated and t.topic is not None]
        for seed in (11, 12):
            fresh: Any = tt.LDA(edited.n_topics, random_state=seed)
            again = tt.fit_curated(fresh, without_tags(corpus), edited.curation_)
            cosines = [cosine(again.components_[k], edited.components_[k]) for k in touched]
            rows.append({"corpus": name, "sequence": sequence, "seed": seed, "cosines": cosines})
            note(rows[-1])
    return rows
