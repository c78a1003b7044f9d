"""Effects beside a structural topic model, for `results.py`.

R's stm is not packaged by Debian. topica (PyPI) has an implementation of it in Python, with the method of
composition, and the data of stm's published example: `pip install topica`.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.analysis.choose.compare import match_topics


def tokens_of(corpus: tt.Corpus) -> list[list[str]]:
    """Return the documents of a corpus as lists of tokens."""
    rows = (corpus.counts[[d]] for d in range(corpus.n_docs))
    return [
        [corpus.vocabulary[w] for w, n in zip(row.indices, row.data, strict=True) for _ in range(int(n))]
        for row in rows
    ]


def structural(
    corpus: tt.Corpus, n_topics: int, values: Any, seed: int
) -> tuple[Any, list[tuple[float, float, float]]]:
    """Return the topics (K, W) of a structural topic model, and the effect of a number with its interval."""
    topica: Any = import_module("topica")  # typed in part

    model = topica.STM(num_topics=n_topics, seed=seed)
    design = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    model.fit(tokens_of(corpus), design, prevalence_names=["x"])
    found = topica.stm.estimate_effect(model, design, feature_names=["x"], nsims=25, ci=0.9, seed=seed)
    table = found.to_frame()
    own = table[table["feature"] == "x"].sort_values("topic")
    columns = (own[name].tolist() for name in ("coef", "ci_low", "ci_high"))
    place = {word: w for w, word in enumerate(model.vocabulary)}
    order = [place.get(word, -1) for word in corpus.vocabulary]
    phi = np.where(np.array(order) >= 0, np.asarray(model.topic_word)[:, order], 0.0)
    return phi, list(zip(*columns, strict=True))


def stm() -> Any:
    """Return effects of the treatment in stm's published example, ours and those of stm's model."""
    topica: Any = import_module("topica")  # typed in part

    table = topica.datasets.load_gadarian()
    corpus = tt.read_corpus([{"text": text} for text in table["open.ended.response"]])
    treated = table["treatment"].to_numpy(dtype=np.float64)
    began = time.perf_counter()
    model: Any = tt.LDA(3, random_state=0).fit_topics(corpus)
    ours = tt.effects(model, corpus, on=["treatment"], values={"treatment": treated}, refits=200)
    seconds = [time.perf_counter() - began]
    began = time.perf_counter()
    phi, theirs = structural(corpus, 3, treated, 0)
    seconds.append(time.perf_counter() - began)
    pairs = match_topics(model.components_.astype(np.float64), phi)
    own = {row.topic: row for row in ours.rows}
    rows = []
    for k, j in zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True):
        words = [corpus.vocabulary[w] for w in np.argsort(-phi[j])[:6]]
        ours_k = (own[k].estimate, own[k].low, own[k].high)
        rows.append({"ours": ours_k, "theirs": theirs[j], "our_words": [w for w, _ in model.top_words(6)[k]],
                     "their_words": words})  # fmt: skip
    return {"documents": corpus.n_docs, "seconds": seconds, "version": topica.__version__, "rows": rows}
