"""`effects` of edited models, compared with the documents' topic shares in the edited model itself."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from reproduction.analysis.workflow import load, note
from tagtopics.errors import InputError

CORPORA = ("poliblog", "anthology", "reuters")
SEQUENCES = 17
DOCS, TOPICS = 2000, 15


def random_edits(model: Any, corpus: tt.Corpus, rng: np.random.Generator) -> tuple[Any, list[str]]:
    """Return a model after two to five random edits, and what they were."""
    made = []
    for _ in range(int(rng.integers(2, 6))):
        n = len(model.components_)
        kind = str(rng.choice(["merge", "merge", "rename", "ban"] if n > 2 else ["rename", "ban"]))
        topics = rng.choice(n, 2 if kind == "merge" else 1, replace=False).tolist()
        more: dict[str, Any] = {"topics": topics}
        if kind == "ban":
            more = {"words": [model.top_words(5)[topics[0]][-1][0]]}
        elif kind == "rename":
            more["name"] = f"name {rng.integers(1000)}"
        model = tt.curate(model, kind, corpus=corpus, **more)
        made.append(f"{kind} {more.get('words', topics)}")
    return model, made


def edited_effects(name: str, sequences: int = SEQUENCES) -> Any:
    """Return, for each sequence of edits, the largest difference of a share, and covered slopes."""
    corpus, times = load_dated(name)
    model = tt.LDA(TOPICS, random_state=0, max_iter=200).fit_topics(corpus)
    rows = list[dict[str, Any]]()
    for i in range(sequences):
        changed, made = random_edits(model, corpus, np.random.default_rng([31, i]))
        try:
            found = tt.effects(changed, corpus, on=["time"], values={"time": times}, refits=20)
        except InputError as error:
            rows.append({"corpus": name, "edits": made, "refused": str(error)})
            note(rows[-1])
            continue
        slopes = np.polyfit(times, changed.doc_topic_, 1)[0]
        rows.append({
            "corpus": name,
            "edits": made,
            "topics": len(found.topics),
            "difference": max(abs(topic.share - topic.model_share) for topic in found.topics),
            "similarity": min(topic.similarity for topic in found.topics),
            "slopes_inside": sum(bool(row.low <= slopes[row.topic] <= row.high) for row in found.rows),
        })  # fmt: skip
        note(rows[-1])
    return rows


def load_dated(name: str) -> tuple[tt.Corpus, Any]:
    """Return some documents, and their times: day, year, or the place in the collection."""
    corpus = load(name)
    rows = np.sort(np.random.default_rng(0).permutation(corpus.n_docs)[:DOCS])
    if name == "poliblog":
        with (Path(os.environ["TAGTOPICS_DATA"]) / name / "meta.csv").open(encoding="utf-8") as file:
            times = np.array([float(row["day"]) for row in csv.DictReader(file)])
    elif name == "anthology":
        times = np.array([float(next(t[5:] for t in corpus.tags_of(d) if t.startswith("year:")))
                          for d in range(corpus.n_docs)])  # fmt: skip
    else:
        times = np.arange(corpus.n_docs) / corpus.n_docs
    return corpus.select(rows), times[rows]
