"""Measure how well edits are found again, for `results.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

import tagtopics as tt
from reproduction.analysis.workflow import load, note
from tagtopics.models.documents import without_tags


def cosine(a: Any, b: Any) -> float:
    """Return the cosine of two topics, (W,)."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


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
