"""Measure `choose`, `effects` and `trends`, and write docs/analysis-results.md.

    python scripts/analysis_results.py RECORDS PART...   # measure parts; RECORDS is a folder of JSON files
    python scripts/analysis_results.py RECORDS page      # write the page from the records

Parts that need real data read the directory of matrix folders in TAGTOPICS_DATA. Rules and settings were
developed on generated corpora with other settings and seeds than those here.
"""

# ruff: noqa: E501  # sentences of a page
from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import tagtopics as tt
from tagtopics.analysis.choose import choice_rows, recommend
from tagtopics.analysis.grid import fit_grid, make_restarts
from tagtopics.analysis.matching import found_again, match_topics
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


def note(*values: Any) -> None:
    """Write progress to standard error."""
    sys.stderr.write(" ".join(map(str, values)) + "\n")


def planted() -> Any:
    """Return what `choose` recommends for corpora with a known number of topics, five restarts, 100 sweeps."""
    rows = []
    for n_topics, settings in PLANTED.items():
        for i, (docs, words, tags, tokens, own) in enumerate(settings):
            corpus = tt.make_tagged_corpus(docs, words, n_topics, tags, 3, tokens, 2, own, seed=70 + i).corpus
            fitted = list(fit_grid(make_restarts(corpus, 5, 1), GRID, tt.LDA()))
            found = recommend(fitted, 1)
            rows.append({"planted": n_topics, "docs": docs, "words": words, **found._asdict()})
            note(rows[-1])
    return rows


def load(name: str) -> tt.Corpus:
    """Return a real corpus by name."""
    folder = Path(os.environ["TAGTOPICS_DATA"])
    if name == "anthology":
        source = folder / "anthology" / "papers.jsonl.gz"
        return tt.read_corpus(source, text=["title", "abstract"], tags=["authors", "venue", "year"])
    if name == "tibcore":
        return tt.read_corpus(
            folder / "tibcore" / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects"
        )
    return tt.read_corpus(folder / name)


def coherence(n_topics: int = 50, restarts: int = 10) -> Any:
    """Return the held-out NPMI of topics found in at least 80 % of restarts, and of the others."""
    rows = []
    for name in CORPORA:
        corpus = load(name)
        train, test = (corpus.select(part) for part in train_test(corpus, 0))
        row = next(fit_grid(make_restarts(train, restarts, 0), [n_topics], tt.LDA()))
        model = tt.LDA(n_topics, random_state=0).fit_topics(train)
        found = np.sum([found_again(model.components_, topics) for topics in row.topics], axis=0)
        npmi, stable = model.coherence(test), found >= 0.8 * restarts
        means = [float(npmi[part].mean()) if part.any() else None for part in (stable, ~stable)]
        rows.append({"corpus": name, "stable": int(stable.sum()), "npmi_stable": means[0],
                     "npmi_rest": means[1], "stability": choice_rows([row])[0].stability})  # fmt: skip
        note(rows[-1])
    return rows


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


def coverage(corpora: int = 200, refits: int = 50) -> Any:
    """Return how many 90 % intervals contain the planted effects."""
    covered: dict[str, list[bool]] = {}
    errors: dict[str, list[float]] = {}
    for seed in range(corpora):
        corpus, topics, _, truth = corpus_with_effects(seed)
        model = tt.LDA(len(topics), random_state=seed).fit_topics(corpus)
        found = tt.effects(model, corpus, on=["year"], kinds=["venue"], refits=refits, seed=seed)
        pairs = match_topics(topics, model.components_)
        planted_of = {int(k): int(j) for j, k in zip(pairs.rows, pairs.columns, strict=True)}
        for row in found.rows:
            true = truth[row.term][planted_of[row.topic]]
            kind = row.term.partition(":")[0]
            covered.setdefault(kind, []).append(bool(row.low <= true <= row.high))
            errors.setdefault(kind, []).append(float(row.estimate - true))
        if seed % 10 == 9:
            note(seed + 1, {kind: (len(v), float(np.mean(v))) for kind, v in covered.items()})
    return {
        "corpora": corpora,
        "refits": refits,
        "rows": [
            {"kind": kind, "intervals": len(v), "coverage": float(np.mean(v)),
             "rmse": float(np.sqrt(np.mean(np.square(errors[kind]))))}
            for kind, v in covered.items()
        ],
    }  # fmt: skip


def corpus_with_drifts(seed: int, moved: float) -> tuple[tt.Corpus, set[str]]:
    """Draw documents of ten years with one to three of 40 tags; of ten tags, a share moves to another topic.

    The topics of all documents change over time, too: one rises and one falls.
    """
    rng = np.random.default_rng([23, seed])
    D, W, K, T = 1500, 800, 15, 40
    topics, profiles = rng.dirichlet(np.full(W, 0.05), size=K), rng.dirichlet(np.full(K, 0.3), size=T)
    shifts = np.zeros((T, K))
    drifting = rng.choice(T, 10, replace=False)
    for tag in drifting:
        source = profiles[tag].argmax()
        target = rng.choice(np.flatnonzero(np.arange(K) != source))
        amount = min(moved, float(profiles[tag, source]))
        shifts[tag, source], shifts[tag, target] = -amount, amount
    years = rng.integers(2010, 2020, D)
    names, counts = [], np.empty((D, W), dtype=np.int64)
    for d in range(D):
        tags = rng.choice(T, int(rng.integers(1, 4)), replace=False)
        when = (years[d] - 2010) / 9
        mean = (profiles[tags] + when * shifts[tags]).mean(0)
        mean[0], mean[1] = mean[0] + 0.1 * when, mean[1] + 0.1 * (1 - when)
        share = rng.dirichlet(5 * mean / mean.sum() + 1e-3)
        counts[d] = rng.multinomial(max(int(rng.poisson(80)), 5), share @ topics)
        names.append([f"year:{years[d]}", *(f"tag:{tag}" for tag in tags)])
    return tt.read_corpus(counts, tags=names), {f"tag:{tag}" for tag in drifting}


def drifts() -> Any:
    """Return how well planted drifts of tags are found, for two sizes of drift."""
    rows = []
    for moved in (0.5, 0.3):
        areas, hits, reported, false = [], 0, 0, 0
        for seed in range(5):
            corpus, drifting = corpus_with_drifts(seed, moved)
            model = tt.LDA(20, random_state=seed).fit_topics(corpus)
            found = tt.trends(model, corpus, refits=10, seed=seed).drifts
            truth = [row.tag in drifting for row in found]
            areas.append(float(roc_auc_score(truth, [row.score for row in found])))
            marked = {row.tag for row in found if row.drifts}
            hits, reported = hits + len(marked & drifting), reported + len(marked)
            false += len(marked - drifting)
            note(moved, seed, areas[-1], len(marked), len(marked & drifting))
        rows.append({"moved": moved, "auc": areas, "found": hits, "planted": 50, "reported": reported,
                     "false": false})  # fmt: skip
    return rows


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
        "rows": [row._asdict() for row in found.of("year") if row.clear],
        "clear": sum(row.clear for row in found.rows),
        "all": len(found.rows),
    }


PARTS: dict[str, Callable[[], Any]] = {
    "planted": planted,
    "coherence": coherence,
    "reuters": reuters,
    "coverage": coverage,
    "drifts": drifts,
    "anthology": anthology,
}


def page(folder: Path) -> str:
    """Return the page of all records in a folder."""
    measured = [name for name in PARTS if (folder / f"{name}.json").exists()]
    sections = [SECTIONS[name](json.loads((folder / f"{name}.json").read_text())) for name in measured]
    head = """# How many topics, effects and time

Written by `scripts/analysis_results.py`. The rules of `choose` and `effects` were developed on generated corpora with other settings
and seeds than those reported here; for drifts, see there. The machine had two cores, which other programs used at the same time except for reuters.
The first two sections were measured with up to 100 sweeps for each fit, before the fits of `choose` were limited to 60. Repeated with 60,
the corpora with 10 and 25 planted topics have the same recommended numbers; the others were not repeated.
"""
    return "\n".join([head, *sections])


def _cost(record: Any) -> str:
    """Return the seconds of a record in a sentence."""
    used, load = record["processor_seconds"], record["load"]
    return (
        f"{record['seconds']:.0f} s, of which this program had {used:.0f} processor seconds (about {used / 2:.0f} s "
        f"on two idle cores), at a load average of {load:.1f}."
    )


def _planted_section(rows: Any) -> str:
    errors = [abs(row["recommended"] - row["planted"]) / row["planted"] for row in rows]
    inside = sum(row["interval"][0] <= row["planted"] <= row["interval"][1] for row in rows)
    lines = [
        f"| {row['planted']} | {row['docs']:,} | {row['words']:,} | {row['best_score']} | {row['estimate']:.1f} | "
        f"{row['recommended']} | {row['interval'][0]} to {row['interval'][1]} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: planted numbers of topics\n",
        f"Mean absolute error of the recommended number: **{100 * np.mean(errors):.0f} %**; worst "
        f"{100 * max(errors):.0f} %. The interval contains the planted number for {inside} of {len(rows)} corpora: it is "
        "over restarts on one corpus, and too short to be an interval of the truth. Grid "
        f"{', '.join(map(str, GRID))}; five restarts.\n",
        "| planted | documents | words | best score at | found again | recommended | interval |",
        "|---|---|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _coherence_section(rows: Any) -> str:
    wins = sum(row["npmi_stable"] > row["npmi_rest"] for row in rows)
    lines = [
        f"| {row['corpus']} | {100 * row['stability']:.0f} % | {row['stable']} of 50 | {row['npmi_stable']:.3f} | "
        f"{row['npmi_rest']:.3f} |"
        for row in rows
    ]
    return "\n".join([
        "## `choose`: topics that are found again are more coherent\n",
        "50 topics, ten restarts; NPMI of ten words, counted in documents that no fit has seen. Topics found in at least 80 % of the "
        f"restarts are more coherent on {wins} of {len(rows)} corpora.\n",
        "| corpus | found again | found in 8 or more of 10 | their NPMI | NPMI of the others |",
        "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _reuters_section(record: Any) -> str:
    lines = [
        f"| {row['n_topics']} | {row['score']:.4f} | {row['error']:.4f} | {100 * row['stability']:.0f} % |"
        for row in record["rows"]
    ]
    return "\n".join([
        "## `choose`: reuters, 8 numbers of topics, 10 restarts\n",
        f"{_cost(record)} Recommended: {record['recommended']}; {' '.join(record['notes'])}.\n",
        "| topics | score | error | found again |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _coverage_section(record: Any) -> str:
    lines = [
        f"| {row['kind']} | {row['intervals']:,} | {100 * row['coverage']:.1f} % | {100 * row['rmse']:.2f} |"
        for row in record["rows"]
    ]
    return "\n".join([
        "## `effects`: 90 % intervals on generated corpora\n",
        f"{record['corpora']} corpora of 250 to 450 documents with 4 to 8 topics, whose shares depend on the year (10 years) and on the venue "
        f"(3 venues); documents from pure to mixed; {record['refits']} refits each. An interval counts if it contains the planted "
        "effect on the planted topic that is matched with the topic of the model.\n",
        "| effect of | intervals | contain the planted effect | root mean squared error, % of tokens |",
        "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _drifts_section(rows: Any) -> str:
    lines = [
        f"| {100 * row['moved']:.0f} % | {np.mean(row['auc']):.3f} | {min(row['auc']):.3f} | {row['found']} of {row['planted']} | "
        f"{row['false']} of {row['reported']} |"
        for row in rows
    ]
    return "\n".join([
        "## `trends`: planted drifts of tags\n",
        "Five corpora for each size of drift: 1,500 documents of ten years, 40 tags, one to three on a document. Of ten tags, a share of the tokens "
        "(at most that of the main topic) moves from the main topic to another one over the years. The area under the ROC curve ranks all tags by their score. "
        "The method was developed on corpora of the same generator with other seeds. It replaced a simpler one after four results of "
        "that on the corpora of the first row (AUC .863, 1.000, .990, .960) had been seen, so these figures are somewhat optimistic. \n",
        "| share that moves | mean AUC | least AUC | drifts reported | false reports |", "|---|---|---|---|---|", *lines, "",
    ])  # fmt: skip


def _anthology_section(record: Any) -> str:
    lines = [
        f"| {row['topic']} | {' '.join(record['words'][str(row['topic'])])} | {100 * row['estimate']:+.2f} | "
        f"{100 * row['low']:+.2f} to {100 * row['high']:+.2f} |"
        for row in record["rows"][:12]
    ]
    return "\n".join([
        "## `effects`: anthology, 200 refits\n",
        f"{record['docs']:,} papers; effects of the year and of the venue, given {record['authors']:,} authors, on 30 topics. "
        f"{_cost(record)} "
        f"{record['clear']} of {record['all']} intervals exclude zero. The largest effects of the year, per year:\n",
        "| topic | words | effect, % of tokens | 90 % interval |", "|---|---|---|---|", *lines, "",
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[Any], str]] = {
    "planted": _planted_section,
    "coherence": _coherence_section,
    "reuters": _reuters_section,
    "coverage": _coverage_section,
    "drifts": _drifts_section,
    "anthology": _anthology_section,
}


def main() -> None:
    """Measure the named parts, or write the page."""
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name == "page":
            target = Path(__file__).resolve().parents[1] / "docs" / "analysis-results.md"
            target.write_text(page(folder), encoding="utf-8")
            continue
        record = folder / f"{name}.json"
        record.write_text(json.dumps(PARTS[name](), indent=1))


if __name__ == "__main__":
    main()
