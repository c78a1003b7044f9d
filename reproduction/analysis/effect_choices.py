"""Alternatives to what `effects` does: priors of refits, and how edited topics are refitted (273, 274)."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import tagtopics as tt
from reproduction.analysis.edited_effects import TOPICS, load_dated
from reproduction.analysis.workflow import note
from tagtopics._typing import Float32, Float64
from tagtopics.analysis.choose.compare import match_topics
from tagtopics.analysis.effects import measure
from tagtopics.curation.journal import Curation

LEARN = measure.learn_alpha


def keep(sums: Float64, tokens: Float64, first: Float32) -> Float32:
    """Return the prior of the model."""
    return first


def learn_equal(sums: Float64, tokens: Float64, first: Float32) -> Float32:
    """Return a learned prior with the same pseudo-count for all topics."""
    return np.full_like(first, LEARN(sums, tokens, first).mean())


PRIORS = {"of the model": keep, "learned, equal for all topics": learn_equal, "learned for each topic": LEARN}


def priors_of_refits(draw: Any, seeds: range) -> Any:
    """Return intervals of the effect of the first regressor with each prior, and the true effects."""
    rows = []
    for seed in seeds:
        corpus, topics, design, true = draw(seed)
        model: Any = tt.LDA(len(topics), random_state=seed).fit_topics(corpus)
        pairs = match_topics(topics, model.components_)
        place = dict(zip(pairs.columns.tolist(), pairs.rows.tolist(), strict=True))
        values = {f"x{i}": column for i, column in enumerate(design.T)}
        for name, learn in PRIORS.items():
            with patch.object(measure, "learn_alpha", learn):
                found = tt.effects(model, corpus, on=list(values), values=values, refits=50, seed=seed)
            rows += [
                {"prior": name, "true": true[place[row.topic]], "effect": (row.estimate, row.low, row.high)}
                for row in found.of("x0")
            ]
        note("priors", seed)
    return rows


def refits_of_edits(name: str) -> Any:
    """Return how far refits of a model, and of one with two merged topics, are from the model."""
    corpus, times = load_dated(name)
    model: Any = tt.LDA(TOPICS, random_state=0, max_iter=200).fit_topics(corpus)
    merged = tt.curate(model, "merge", topics=[0, 1])
    bare: Any = copy.copy(merged)
    bare.base_, bare.curation_ = None, Curation()  # as if it had been fitted like this
    hold = partial(measure.find_start, held=True)
    rows = []
    for label, own, start in (
        ("as fitted, free", model, measure.find_start),
        ("as fitted, held", model, lambda base, counts, **_: hold(base, counts)),
        ("merged, free", bare, measure.find_start),
        ("merged, held", bare, lambda base, counts, **_: hold(base, counts)),
        ("merged, topics as fitted held, shares added", merged, measure.find_start),
    ):
        with patch.object(measure, "find_start", start):
            found = tt.effects(own, corpus, on=["time"], values={"time": times}, refits=20)
        slopes = np.polyfit(times, own.doc_topic_, 1)[0]
        off = [(row.estimate - slopes[row.topic]) / (row.high - row.estimate) for row in found.rows]
        rows.append({"corpus": name, "refits": label, "topics": len(found.topics),
                     "difference": max(abs(topic.share - topic.model_share) for topic in found.topics),
                     "similarity": min(topic.similarity for topic in found.topics),
                     "slopes_inside": int(sum(abs(value) <= 1 for value in off)),
                     "width": float(np.mean([row.high - row.low for row in found.rows]))})  # fmt: skip
        note(rows[-1])
    return rows
