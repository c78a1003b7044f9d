"""Effects beside a structural topic model, for `results.py`.

R's stm is not packaged by Debian. topica (PyPI) has an implementation of it in Python, with the method of
composition, and the data of stm's published example: `pip install topica`.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from reproduction.analysis.correlated_effects import draw_effects
from reproduction.analysis.workflow import load, note
from tagtopics._typing import Float64
from tagtopics.analysis.choose.compare import match_topics
from tagtopics.bp.fold_in import infer_topics

Interval = tuple[float, float, float]  # estimate, low, high
Drawn = tuple[tt.Corpus, Float64, Float64, Float64]
"""A corpus, its topics (K, W), regressors (D, P), and the true effects (K,) of the first of them."""


def tokens_of(corpus: tt.Corpus) -> list[list[str]]:
    """Return the documents of a corpus as lists of tokens."""
    rows = (corpus.counts[[d]] for d in range(corpus.n_docs))
    return [
        [corpus.vocabulary[w] for w, n in zip(row.indices, row.data, strict=True) for _ in range(int(n))]
        for row in rows
    ]


def theirs(
    corpus: tt.Corpus, n_topics: int, design: Float64, seed: int, *, knows: bool = True
) -> tuple[Float64, list[Interval]]:
    """Return topics (K, W) of topica, and effects of the first regressor with 90 % intervals.

    A structural topic model knows the regressors while it learns; a correlated topic model does not.
    """
    topica: Any = import_module("topica")  # typed in part
    names = [f"x{i}" for i in range(design.shape[1])]
    if knows:
        model = topica.STM(num_topics=n_topics, seed=seed)
        model.fit(tokens_of(corpus), design, prevalence_names=names)
    else:
        model = topica.CTM(num_topics=n_topics, seed=seed)
        model.fit(tokens_of(corpus))
    found = topica.stm.estimate_effect(model, design, feature_names=names, nsims=25, ci=0.9, seed=seed)
    table = found.to_frame()
    own = table[table["feature"] == "x0"].sort_values("topic")
    columns = (own[name].tolist() for name in ("coef", "ci_low", "ci_high"))
    place = {word: w for w, word in enumerate(model.vocabulary)}
    order = [place.get(word, -1) for word in corpus.vocabulary]
    phi = np.where(np.array(order) >= 0, np.asarray(model.topic_word)[:, order], 0.0)
    return phi, list(zip(*columns, strict=True))


def ours(
    corpus: tt.Corpus, n_topics: int, design: Float64, seed: int, refits: int
) -> tuple[Float64, list[Interval]]:
    """Return the same of a default model and `effects`."""
    model: Any = tt.LDA(n_topics, random_state=seed).fit_topics(corpus)
    values = {f"x{i}": column for i, column in enumerate(design.T)}
    found = tt.effects(model, corpus, on=list(values), values=values, refits=refits, seed=seed)
    rows = sorted(found.of("x0"), key=lambda row: row.topic)
    return model.components_.astype(np.float64), [(row.estimate, row.low, row.high) for row in rows]


def beside(corpus: tt.Corpus, n_topics: int, design: Float64, refits: int) -> Any:
    """Return the effects of both, topics matched by their words, largest of ours first."""
    (own, effects), (other, other_effects) = (
        ours(corpus, n_topics, design, 0, refits),
        theirs(corpus, n_topics, design, 0),
    )
    pairs = match_topics(own, other)
    cosines = (own[pairs.rows] * other[pairs.columns]).sum(1) / (
        np.linalg.norm(own[pairs.rows], axis=1) * np.linalg.norm(other[pairs.columns], axis=1)
    )
    rows = [
        {"ours": effects[k], "theirs": other_effects[j], "cosine": cosine,
         "our_words": top_words(corpus, own[k]), "their_words": top_words(corpus, other[j])}
        for k, j, cosine in zip(pairs.rows.tolist(), pairs.columns.tolist(), cosines.tolist(), strict=True)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -abs(row["ours"][0]))


def top_words(corpus: tt.Corpus, topic: Float64) -> list[str]:
    """Return the six most probable words of a topic (W,)."""
    return [corpus.vocabulary[w] for w in np.argsort(-topic)[:6]]


def gadarian(permutations: int = 100) -> Any:
    """Return effects of the treatment in stm's published example, of both, and why they differ.

    `folded` are the effects on the topics of topica, with our shares of documents in them; `unaware` those of
    topica's model that does not know the treatment; `clear` counts intervals that exclude zero after the
    treatments of the documents were permuted.
    """
    topica: Any = import_module("topica")  # typed in part

    table = topica.datasets.load_gadarian()
    corpus = tt.read_corpus([{"text": text} for text in table["open.ended.response"]])
    treated = table["treatment"].to_numpy(dtype=np.float64)
    design = treated[:, np.newaxis]
    phi, aware = theirs(corpus, 3, design, 0)
    prior = np.full(3, 0.1, dtype=np.float32)
    shares = infer_topics(corpus.counts, np.ascontiguousarray(phi.T, dtype=np.float32), prior)
    folded = shares[treated == 1].mean(0) - shares[treated == 0].mean(0)
    other, unaware = theirs(corpus, 3, design, 0, knows=False)
    clear = {"ours": 0, "theirs": 0}
    for i in range(permutations):
        permuted = np.random.default_rng([37, i]).permutation(design)
        for name, found in (
            ("ours", ours(corpus, 3, permuted, i, 50)),
            ("theirs", theirs(corpus, 3, permuted, i)),
        ):
            clear[name] += sum(low > 0 or high < 0 for _, low, high in found[1])
    return {
        "documents": corpus.n_docs,
        "tokens": float(corpus.counts.sum() / corpus.n_docs),
        "version": topica.__version__,
        "rows": beside(corpus, 3, design, 200),
        "aware": [{"words": top_words(corpus, topic), "effect": effect, "folded": own}
                  for topic, effect, own in zip(phi, aware, folded.tolist(), strict=True)],
        "unaware": [{"words": top_words(corpus, topic), "effect": effect}
                    for topic, effect in zip(other, unaware, strict=True)],
        "clear": clear,
        "intervals": 3 * permutations,
    }  # fmt: skip


def poliblog() -> Any:
    """Return the effect of a liberal blog on 20 topics in stm's vignette, `~ rating + s(day)`, of both."""
    topica: Any = import_module("topica")  # typed in part

    corpus = load("poliblog")
    with (Path(os.environ["TAGTOPICS_DATA"]) / "poliblog" / "meta.csv").open(encoding="utf-8") as file:
        meta = [(row["rating"] == "Liberal", float(row["day"])) for row in csv.DictReader(file)]
    liberal, days = np.array(meta, dtype=np.float64).T
    design = np.column_stack([liberal, topica.design.s(days)[0]])
    return {"documents": corpus.n_docs, "rows": beside(corpus, 20, design, 50)}


def draw_correlated(seed: int, tokens: int | None, strength: float) -> Drawn:
    """Draw logistic-normal shares, which stm assumes; the first regressor is the rating, 0 or 1."""
    planted = draw_effects(seed, tokens, strength)
    angle = 2 * np.pi * planted.days
    design = np.column_stack([planted.ratings, np.sin(angle), np.cos(angle)])
    true = planted.of_rating["rating:b"] - planted.of_rating["rating:a"]
    return planted.corpus, planted.topics, design, true


def planted_intervals(draw: Callable[[int], Drawn], name: str, seeds: Sequence[int]) -> Any:
    """Return the 90 % intervals of both, and the true effects, on generated corpora."""
    rows = []
    for seed in seeds:
        corpus, topics, design, true = draw(seed)
        both = {
            "ours": ours(corpus, len(topics), design, seed, 50),
            "theirs": theirs(corpus, len(topics), design, seed),
        }
        for who, (found, effects) in both.items():
            pairs = match_topics(topics, found)
            for j, k in zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True):
                rows.append({"case": name, "seed": seed, "who": who, "true": true[j], "effect": effects[k]})
        note(name, seed)
    return rows
