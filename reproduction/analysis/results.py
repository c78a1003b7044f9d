"""Measure `choose`, `effects` and `trends`, and write pages/analysis-results.md.

    python -m reproduction.analysis.results PART...   # measure parts, each with its own record
    python -m reproduction.analysis.results page      # write the page from the records

Parts that need real data read the directory of matrix folders in TAGTOPICS_DATA. Rules and settings were
developed on generated corpora with other settings and seeds than those here.
"""

# sentences of a page
from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from reproduction import PAGES, RECORDS, probable_words
from reproduction.analysis.correlated_effects import correlated_coverage
from reproduction.analysis.curation import real_seeds, replay, seeds
from reproduction.analysis.edited_effects import CORPORA as EDITED
from reproduction.analysis.edited_effects import edited_effects
from reproduction.analysis.effect_choices import priors_of_refits, refits_of_edits
from reproduction.analysis.numbers import SHAPES, hard_numbers
from reproduction.analysis.page import page
from reproduction.analysis.peers import Drawn, draw_correlated, gadarian, planted_intervals, poliblog
from reproduction.analysis.workflow import WORKFLOW, load, note
from tagtopics.analysis.choose.choose import SWEEPS, choice_rows, fit_grid, make_restarts
from tagtopics.analysis.choose.compare import found_again, match_topics
from tagtopics.bp.holdout import topic_coherence
from tagtopics.corpus.splits import train_test

GRID = (5, 10, 15, 25, 35, 50, 75, 100, 150)
PLANTED = {
    10: [(700, 700, 20, 50, 0.85), (900, 400, 25, 70, 0.75), (500, 900, 12, 90, 0.9)],
    25: [(1200, 1200, 50, 70, 0.85), (900, 900, 35, 90, 0.9), (1800, 1000, 80, 50, 0.8)],
    50: [(1800, 1800, 70, 70, 0.9), (2200, 1300, 100, 90, 0.8), (1600, 2000, 60, 100, 0.85)],
    100: [(3000, 2500, 130, 70, 0.9), (2800, 1800, 200, 100, 0.85), (3500, 3000, 150, 60, 0.9)],
}
"""Planted topics -> documents, words, tags, tokens a document and `own_topic` of three corpora."""

CORPORA = ("reuters", "cora", "med", "anthology", "tibcore")


def planted(n_topics: int) -> Any:
    """Return what `choose` recommends for three corpora with a known number of topics, five restarts."""
    rows = []
    for i, (docs, words, tags, tokens, own) in enumerate(PLANTED[n_topics]):
        corpus = make_tagged_corpus(docs, words, n_topics, tags, 3, tokens, 2, own, seed=70 + i).corpus
        found = tt.choose_topics(corpus, GRID, restarts=5, seed=1).to_dict()
        rows.append({"planted": n_topics, "docs": docs, "words": words, **found})
        note(rows[-1])
    return rows


def coherence(name: str, n_topics: int = 50, restarts: int = 10) -> Any:
    """Return the held-out NPMI of topics found in at least 80 % of restarts, and of the others."""
    corpus = load(name)
    train, test = (corpus.select(part) for part in train_test(corpus, 0))
    row = fit_grid(make_restarts(train, restarts, 0), [n_topics], tt.LDA(max_iter=SWEEPS))[0]
    model = tt.LDA(n_topics, random_state=0).fit_topics(train)
    found = np.sum([found_again(model.components_, topics) for topics in row.topics], axis=0)
    words = [[word for word, _ in own] for own in probable_words(model, 10)]
    npmi, stable = topic_coherence(test, words), found >= 0.8 * restarts
    means = [float(npmi[part].mean()) if part.any() else None for part in (stable, ~stable)]
    return [{"corpus": name, "stable": int(stable.sum()), "npmi_stable": means[0], "npmi_rest": means[1],
             "stability": choice_rows([row])[0].stability}]  # fmt: skip


def reuters() -> Any:
    """Return the table of reuters, 8 numbers of topics, 10 restarts, and its seconds."""
    corpus = load("reuters")
    tt.LDA(5, max_iter=2).fit_topics(corpus)  # compile
    began, used = time.perf_counter(), time.process_time()
    choice = tt.choose_topics(corpus, (5, 10, 20, 30, 50, 75, 100, 150), restarts=10)
    result = {
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - used,
        "load": os.getloadavg()[0],
        **choice.to_dict(),
    }
    note(result["seconds"], choice)
    return result


def corpus_with_effects(seed: int) -> tuple[tt.Corpus, Any, Any, dict[str, Any]]:
    """Draw documents whose topic shares depend on their year and venue.

    Returns:
        The corpus with tags `year:...` and `venue:...`, the topics (K, W), the shares (D, K), and
        the true effect of each term, (K,).
    """
    rng = np.random.default_rng([17, seed])
    K, W, D = int(rng.integers(4, 9)), int(rng.integers(300, 601)), int(rng.integers(250, 451))
    years, venues = rng.integers(2010, 2020, D), rng.choice(3, D, p=[0.5, 0.3, 0.2])
    slope = rng.permutation(np.linspace(-1, 1, K)) * 0.25 / K / 4.5
    of_venue = rng.normal(size=(3, K)) * 0.15 / K
    of_venue -= of_venue.mean(1, keepdims=True)
    means = 1 / K + np.outer(years - 2014.5, slope) + of_venue[venues]
    concentration = float(rng.choice([1.0, 2.0, 4.0]))
    shares = np.array([rng.dirichlet(concentration * np.maximum(mean, 1e-3)) for mean in means])
    topics = rng.dirichlet(np.full(W, 0.05), size=K)
    lengths = np.maximum(rng.poisson(rng.integers(50, 121), D), 5)
    counts = np.array([rng.multinomial(n, share @ topics) for n, share in zip(lengths, shares, strict=True)])
    names = [[f"year:{year}", f"venue:{'abc'[venue]}"] for year, venue in zip(years, venues, strict=True)]
    corpus = tt.read_corpus(counts, tags=names)
    weights = np.bincount(venues, minlength=3) / D
    centred = of_venue - weights @ of_venue
    return corpus, topics, shares, {"year": slope, **{f"venue:{'abc'[v]}": centred[v] for v in range(3)}}


def coverage(seeds: Sequence[int], refits: int = 50) -> Any:
    """Return whether each 90 % interval contains the planted effect, and the errors, by kind of effect."""
    rows = []
    for seed in seeds:
        corpus, topics, _, truth = corpus_with_effects(seed)
        model = tt.LDA(len(topics), random_state=seed).fit_topics(corpus)
        found = tt.effects(model, corpus, on=["year"], kinds=["venue"], refits=refits, seed=seed)
        pairs = match_topics(topics, model.components_)
        planted_of = {int(k): int(j) for j, k in zip(pairs.rows, pairs.columns, strict=True)}
        for row in found.rows:
            true = truth[row.term][planted_of[row.topic]]
            rows.append({"seed": seed, "kind": row.term.partition(":")[0],
                         "covered": bool(row.low <= true <= row.high),
                         "error": float(row.estimate - true)})  # fmt: skip
        if seed % 10 == 9:
            note(seed + 1, np.mean([row["covered"] for row in rows]))
    return rows


def draw_years(seed: int) -> Drawn:
    """Draw Dirichlet shares, which LDA assumes; the first regressor is the year."""
    corpus, topics, _, truth = corpus_with_effects(seed)
    has = {name: corpus.tags[:, [t]].toarray().ravel() for t, name in enumerate(corpus.tag_names)}
    years = np.sum([float(name[5:]) * has[name] for name in has if name.startswith("year:")], axis=0)
    design = np.column_stack([years, has["venue:a"], has["venue:b"]]).astype(np.float64)
    return corpus, topics, design, truth["year"]


def anthology() -> Any:
    """Return the seconds of 200 refits on anthology with year, venue and all authors, and clear effects."""
    corpus = load("anthology")
    model = tt.LDA(30, random_state=0).fit_topics(corpus)
    began, used = time.perf_counter(), time.process_time()
    found = tt.effects(model, corpus, on=["year"], kinds=["venue"], given=["authors"], refits=200)
    return {
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - used,
        "load": os.getloadavg()[0],
        "docs": found.n_docs,
        "authors": sum(tag.startswith("authors:") for tag in corpus.tag_names),
        "words": {topic.topic: list(topic.words) for topic in found.topics},
        "rows": [vars(row) for row in found.of("year") if row.clear],
        "clear": sum(row.clear for row in found.rows),
        "all": len(found.rows),
    }


BESIDE: dict[str, Callable[[int], Drawn]] = {
    "Dirichlet shares, 50 to 120 tokens": draw_years,
    "logistic-normal shares, 60 to 140 tokens": partial(draw_correlated, tokens=None, strength=1.0),
    "logistic-normal shares, 10 tokens": partial(draw_correlated, tokens=10, strength=1.0),
    "logistic-normal shares, 10 tokens, no effect": partial(draw_correlated, tokens=10, strength=0.0),
}
"""Generated corpora for the intervals of `effects` and of stm."""

PARTS: dict[str, Callable[[], Any]] = {
    **{f"planted-{n}": partial(planted, n) for n in PLANTED},
    **{f"hard_numbers-{shape.split()[0]}": partial(hard_numbers, shape) for shape in SHAPES},
    **{f"coherence-{name}": partial(coherence, name) for name in CORPORA},
    "reuters": reuters,
    **{f"coverage-{i}": partial(coverage, range(50 * i, 50 * i + 50)) for i in range(4)},
    **{f"correlated-{i}": partial(correlated_coverage, range(50 * i, 50 * i + 50)) for i in range(4)},
    **{f"edited-{name}": partial(edited_effects, name) for name in EDITED},
    "priors": partial(priors_of_refits, draw_years, range(300, 340)),
    **{f"refits-{name}": partial(refits_of_edits, name) for name in EDITED},
    "anthology": anthology,
    **WORKFLOW,
    "seeds": seeds,
    "gadarian": gadarian,
    "poliblog": poliblog,
    **{
        f"beside-{i}": partial(planted_intervals, draw, name, range(50))
        for i, (name, draw) in enumerate(BESIDE.items())
    },
    **{f"real_seeds-{name}": partial(real_seeds, name) for name in ("reuters", "cora", "docstrings")},
    **{f"replay-{name}": partial(replay, name) for name in ("reuters", "cora", "docstrings")},
}
"""What can be measured; each part has its own record. Run reuters, anthology and bib on an idle machine."""


def main() -> None:
    """Measure the named parts, or write the page."""
    folder = RECORDS / "analysis"
    for name in sys.argv[1:]:
        if name == "page":
            (PAGES / "analysis-results.md").write_text(page(folder), encoding="utf-8")
            continue
        if name not in PARTS:
            raise SystemExit(f"unknown part {name}; there are: {', '.join(PARTS)}")
        record = folder / f"{name}.json"
        record.write_text(json.dumps(PARTS[name](), indent=1))


if __name__ == "__main__":
    main()
