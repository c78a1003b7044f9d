"""Measure what tags are worth, and write docs/tag-results.md.

    python scripts/tag_results.py run cora reuters ...    append records to build/tag-results.jsonl
    python scripts/tag_results.py page                    write the page and its figure from the records

Corpora are folders of TAGTOPICS_DATA. Each split is random, four fifths for training; strengths are learned
on documents set aside inside the training part. All systems of a split see and predict the same words.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

import tagtopics as tt
from tagtopics.corpus.splits import train_test

RECORDS = Path("build/tag-results.jsonl")
SEEN, SPLITS, TOPICS, SWEEPS = (0, 5, 10, 20, 50, 80), 5, 50, 100
TEXTS: dict[str, dict[str, Any]] = {
    "anthology": {"file": "papers.jsonl.gz", "tags": ["authors", "venue", "year"]},
    "tibcore": {"file": "documents.jsonl.gz", "tags": "subjects"},
}


def read(name: str) -> tt.Corpus:
    """Return a corpus without its official split."""
    if name == "docstrings":
        return replace(tt.load_dataset(name), split=None)
    folder = Path(os.environ["TAGTOPICS_DATA"]) / name
    if name in TEXTS:
        file, tags = TEXTS[name]["file"], TEXTS[name]["tags"]
        recipe = tt.TextRecipe(min_df=3)
        return tt.read_corpus(folder / file, text=["title", "abstract"], tags=tags, id="id", recipe=recipe)
    return replace(tt.read_corpus(folder), split=None)


def shuffled(corpus: tt.Corpus, seed: int) -> tt.Corpus:
    """Return a corpus whose documents have exchanged their tags at random."""
    order = np.random.default_rng(seed).permutation(corpus.n_docs)
    return replace(corpus, tags=corpus.tags[order])


def curve(model: Any, test: tt.Corpus, tags: Any, seed: int) -> list[float]:
    """Return the perplexity for each share of words seen."""
    return [model.perplexity(test, tags=tags, seed=seed, seen=percent / 100) for percent in SEEN]


def fitted(model: Any, train: tt.Corpus) -> tuple[Any, float]:
    """Fit the topics of a model and what tags say; return it and the seconds."""
    began = time.perf_counter()
    model.fit_topics(train)
    return model, time.perf_counter() - began


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one corpus and one split."""
    corpus = read(name)
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    given: dict[str, Any] = {"max_iter": SWEEPS, "random_state": seed}
    lda, lda_seconds = fitted(tt.LDA(TOPICS, **given), train)
    model, seconds = fitted(tt.TTM(TOPICS, **given), train)
    paper, paper_seconds = fitted(tt.TTM(TOPICS, preset="paper", **given), train)
    pairs, _ = fitted(tt.TTM(TOPICS, order=1, **given), train)
    mixed = shuffled(corpus, seed)
    mixed_train, mixed_test = (mixed.select(rows) for rows in train_test(mixed, seed))
    control, _ = fitted(tt.TTM(TOPICS, **given), mixed_train)
    curves = {
        "lda default": curve(lda, test, None, seed),
        "lda": curve(model, test, None, seed),
        "known": curve(model, test, test, seed),
        "known, no joint part": curve(pairs, test, test, seed),
        "shuffled": curve(control, mixed_test, mixed_test, seed),
        "paper hidden": curve(paper, test, None, seed),
        "paper known": curve(paper, test, test, seed),
    }
    model.fit_recommender(train)
    curves["inferred"] = curve(model, test, "inferred", seed)
    top = [[word for word, _ in words] for words in model.top_words()]
    return {
        "corpus": name,
        "seed": seed,
        "curves": curves,
        "settings": {key: list(value) if isinstance(value, tuple) else value
                     for key, value in model._numbers().items()},
        "seconds": {"lda": lda_seconds, "ttm": seconds, "paper": paper_seconds},
        "same_topics": bool(np.array_equal(lda.components_, model.components_)),
        "largest_topic": {"ttm": float(model.topic_shares().max()),
                          "paper": float(paper.topic_shares().max())},
        "npmi": {"ttm": float(np.nanmean(model.coherence(train))),
                 "paper": float(np.nanmean(paper.coherence(train)))},
        "diversity": len({word for words in top for word in words}) / sum(map(len, top)),
    }  # fmt: skip


def run(names: list[str]) -> None:
    """Measure corpora that have no record yet, split by split."""
    RECORDS.parent.mkdir(exist_ok=True)
    done = {(record["corpus"], record["seed"]) for record in records()}
    for seed in range(1, SPLITS + 1):
        for name in names:
            if (name, seed) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = measure(name, seed)
            with RECORDS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            shares = {key: [round(x) for x in values] for key, values in record["curves"].items()}
            print(name, seed, shares, flush=True)  # noqa: T201


def records() -> list[dict[str, Any]]:
    """Return all records."""
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


def change(rows: list[dict[str, Any]], system: str, place: int) -> tuple[float, float]:
    """Return the mean change against LDA in per cent, and half its 90 % interval, over splits."""
    ratios = [row["curves"][system][place] / row["curves"]["lda"][place] for row in rows]
    values = 100 * (np.array(ratios) - 1)
    half = (
        float(t.ppf(0.95, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
        if len(values) > 1
        else 0.0
    )
    return float(values.mean()), half


def curve_table(by_corpus: dict[str, list[dict[str, Any]]], system: str) -> list[str]:
    """Return a table of the changes of a system against LDA."""
    lines = [
        "| corpus | splits | " + " | ".join(f"{seen} %" for seen in SEEN) + " |",
        "|---" * (len(SEEN) + 2) + "|",
    ]
    for name, rows in by_corpus.items():
        form = "{:+.1f} ± {:.1f}" if len(rows) > 1 else "{:+.1f}"
        cells = [form.format(*change(rows, system, place)) for place in range(len(SEEN))]
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |")
    return lines


def strengths_table(by_corpus: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return a table of the mean learned strengths, in tokens."""
    lines = [
        "| corpus | hidden: flat, base | flat, base | mean of the tags | joint | words of the tags | M |",
        "|---" * 7 + "|",
    ]
    for name, rows in by_corpus.items():
        mean = {key: float(np.mean([row["settings"][key] for row in rows])) for key in rows[0]["settings"]}

        def parts(prefix: str, mean: dict[str, float] = mean) -> str:
            found = {key.removeprefix(prefix): value for key, value in mean.items() if key.startswith(prefix)}
            return ", ".join(f"{kind} {value:.2f}".strip() for kind, value in found.items())

        hidden, known = (
            f"{mean[f'{name}.flat']:.2f}, {mean[f'{name}.base']:.2f}" for name in ("hidden", "known")
        )
        joint, shrinkage = f"{mean['known.joint']:.2f}", f"{mean['shrinkage']:.0f}"
        cells = (name, hidden, known, parts("known.mean."), joint, parts("known.words."), shrinkage)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def other_table(by_corpus: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return a table of topics and fit times, with the paper's model beside the default."""
    lines = [
        "| corpus | largest topic: TTM, TTM-H | NPMI: TTM, TTM-H | seconds: LDA, TTM, TTM-H |",
        "|---" * 4 + "|",
    ]
    for name, rows in by_corpus.items():

        def mean(key: str, system: str, rows: list[dict[str, Any]] = rows) -> float:
            return float(np.mean([row[key][system] for row in rows]))

        shares = ", ".join(f"{mean('largest_topic', system):.1%}" for system in ("ttm", "paper"))
        npmi = ", ".join(f"{mean('npmi', system):.3f}" for system in ("ttm", "paper"))
        seconds = ", ".join(f"{mean('seconds', system):.1f}" for system in ("lda", "ttm", "paper"))
        lines.append(f"| {name} | {shares} | {npmi} | {seconds} |")
    return lines


def page() -> None:
    """Write docs/tag-results.md and the figure of the guide."""
    by_corpus: dict[str, list[dict[str, Any]]] = {}
    for record in records():
        by_corpus.setdefault(record["corpus"], []).append(record)
    sections = [HEAD]
    for title, system in TABLES.items():
        sections += [f"## {title}", "\n".join(curve_table(by_corpus, system))]
    sections += ["## Strengths, in tokens", "\n".join(strengths_table(by_corpus))]
    sections += ["## Topics and time", "\n".join(other_table(by_corpus))]
    Path("docs/tag-results.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    draw(by_corpus["docstrings"])


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw perplexity against the share of words seen, on docstrings."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tagtopics"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for label, system, style in LINES:
        values = np.mean([row["curves"][system] for row in rows], axis=0)
        axes.plot(SEEN, values, style, label=label)
    axes.set(xlabel="words of a document seen, %", ylabel="perplexity of the other words", yscale="log")
    axes.set_title("What tags are worth: docstrings, 50 topics (lower is better)", fontsize=10)
    axes.yaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_minor_formatter("{x:.0f}")
    axes.legend(frameon=False)
    figure.savefig("docs/images/tags-curve.svg", metadata={"Date": None})


HEAD = """# What tags are worth

Perplexity of held-out words against LDA with learned priors, in per cent: mean over random splits, and half
of the 90 % interval; below zero is better. The columns are the share of a document's words that are seen; the
held-out words are the same for all. 50 topics, at most 100 sweeps. TTM-H is the paper's model,
`TTM(preset="paper")`. Written by `scripts/tag_results.py`.

Measured with six rounds of EM for the words of tags; now there are up to 24, which helps on docstrings and
photographs ([decision 014](decisions/014-what-tags-say.md)). The machine was busy: the seconds below are no
comparison of speed."""

TABLES = {
    "Tags known": "known",
    "Tags hidden and inferred": "inferred",
    "Tags known, without what they say together": "known, no joint part",
    "Control: tags shuffled between documents": "shuffled",
    "LDA with default priors": "lda default",
    "The paper's TTM-H, tags hidden": "paper hidden",
    "The paper's TTM-H, tags known": "paper known",
}

LINES = [
    ("LDA", "lda", "k--"),
    ("tags inferred from the words", "inferred", "C0-"),
    ("tags known", "known", "C3-"),
    ("tags shuffled", "shuffled", "C7:"),
]

if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run(sys.argv[2:])
    else:
        page()
