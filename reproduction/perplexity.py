"""Perplexity of hidden words with default settings, from commit to commit and beside tomotopy.

    TAGTOPICS_DATA=... python -m reproduction.perplexity run COMMIT PYTHON [CORPUS...]
    TAGTOPICS_DATA=... python -m reproduction.perplexity run tomotopy "" [CORPUS...]
    python -m reproduction.perplexity page

`run` appends to records/words: PYTHON is an interpreter that has tagtopics of that commit. `page` writes
pages/perplexity.md. Documents are split 4 : 1 by each seed, topics learned with K = 50, and a fifth of the
tokens of each test document predicted from the others.

tomotopy: a fifth of the training documents choose its priors in 100 sweeps, then 1,000 sweeps follow with
these. Its topics are given our inference of new documents, with its alpha.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import reproduction
import tagtopics as tt
from reproduction.analysis import workflow
from reproduction.topic_words import load
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.holdout import log_likelihoods, perplexity
from tagtopics.corpus.splits import completion

RECORDS = reproduction.RECORDS / "words" / "perplexity.jsonl"
PAGE = "perplexity.md"
CORPORA = ("docstrings", "bbc", "reuters", "anthology", "tibcore", "cora", "bibtex")
K, SEEDS = 50, range(3)
ETAS = (0.02, 0.05, 0.1, 0.2)
ALPHAS = ((0.1, 10), (0.1, 0), (0.05, 0), (0.02, 0))  # and every how many sweeps they are learned; 0 is never
TRIED_SWEEPS, SWEEPS = 100, 1000


def split(corpus: tt.Corpus, seed: int) -> tuple[tt.Corpus, tt.Corpus]:
    """Return four fifths of the documents, and the others."""
    order, n = np.random.default_rng(seed).permutation(corpus.n_docs), round(0.2 * corpus.n_docs)
    return corpus.select(np.sort(order[n:])), corpus.select(np.sort(order[:n]))


def ours(python: str, train: tt.Corpus, test: tt.Corpus, seed: int) -> dict[str, Any]:
    """Fit `LDA` with default settings, in another environment."""
    worker = Path(__file__).with_name("perplexity_worker.py")
    with tempfile.TemporaryDirectory() as name:
        paths = [str(Path(name) / f"{part}.npz") for part in ("train", "test")]
        for path, part in zip(paths, (train, test), strict=True):
            sp.save_npz(path, sp.csr_matrix(part.counts))
        command = [python, str(worker), *paths, str(K), str(seed)]
        found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def tomotopy(train: tt.Corpus, test: tt.Corpus, seed: int) -> dict[str, Any]:
    """Sample with the priors that predict validation documents best: eta with learned alpha, then alpha."""
    first, validation = split(train, 100 + seed)

    def tried(eta: float, alpha: tuple[float, int]) -> float:
        return sample(first, validation, seed, eta, alpha, TRIED_SWEEPS)

    eta = min(ETAS, key=lambda value: tried(value, ALPHAS[0]))
    alpha = min(ALPHAS, key=lambda value: tried(eta, value))
    found = sample(train, test, seed, eta, alpha, SWEEPS)
    return {"perplexity": found, "eta": eta, "alpha": alpha[0], "learned": alpha[1] > 0}


def sample(
    train: tt.Corpus, test: tt.Corpus, seed: int, eta: float, alpha: tuple[float, int], sweeps: int
) -> float:
    """Return the perplexity of topics that tomotopy samples, on one thread."""
    import tomotopy as tp

    model = tp.LDAModel(k=K, alpha=alpha[0], eta=eta, seed=seed)
    model.optim_interval = alpha[1]
    counts = train.counts
    for d in range(train.n_docs):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        words = np.repeat(counts.indices[row], counts.data[row])
        if len(words):
            model.add_doc([str(w) for w in words])
    model.train(sweeps, workers=1)
    phi = np.full((train.n_words, K), eta)
    known = [int(word) for word in model.used_vocabs]
    sums = np.asarray(model.get_count_by_topics(), dtype=np.float64) + eta * len(known)
    phi[known] = np.array([model.get_topic_word_dist(k) for k in range(K)]).T * sums
    phi = (phi / phi.sum(0)).astype(np.float32)
    seen, hidden = completion(test.counts, seed)
    theta = infer_topics(seen, phi, np.array(model.alpha, dtype=np.float32) * np.ones(K, np.float32))
    return perplexity(float(log_likelihoods(hidden, theta, phi).sum()), float(hidden.sum()))


def run(system: str, python: str, corpora: list[str]) -> None:
    """Append the records that are missing."""
    warnings.simplefilter("ignore")
    known = {(r["system"], r["corpus"], r["seed"]) for r in records()}
    for corpus in corpora or CORPORA:
        documents = load(corpus)
        for seed in SEEDS[:1] if system == "tomotopy" else SEEDS:
            if (system, corpus, seed) in known:
                continue
            parts = split(documents, seed)
            found = tomotopy(*parts, seed) if system == "tomotopy" else ours(python, *parts, seed)
            row = {"system": system, "corpus": corpus, "seed": seed, **found}
            with RECORDS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            workflow.note(row)


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []


def changes(rows: list[dict[str, Any]], corpus: str, before: str, after: str) -> Any:
    """Return the changes of perplexity in percent, split by split, from one system to another."""
    found = {(r["system"], r["seed"]): r["perplexity"] for r in rows if r["corpus"] == corpus}
    both = [seed for seed in SEEDS if (before, seed) in found and (after, seed) in found]
    return np.array([100 * (found[after, seed] / found[before, seed] - 1) for seed in both])


def table(rows: list[dict[str, Any]], before: str, after: str) -> str:
    """Return a Markdown table of two systems: mean perplexities, and the change of each split."""
    lines = [f"| corpus | {before} | {after} | change, mean | split by split |", "|---" * 5 + "|"]
    means = []
    for corpus in CORPORA:
        change = changes(rows, corpus, before, after)
        if not len(change):
            continue
        found = {(r["system"], r["seed"]): r["perplexity"] for r in rows if r["corpus"] == corpus}
        own = [np.mean([found[system, seed] for seed in SEEDS[: len(change)]]) for system in (before, after)]
        means.append(change.mean())
        splits = ", ".join(f"{value:+.1f}" for value in change)
        lines.append(f"| {corpus} | {own[0]:,.1f} | {own[1]:,.1f} | {means[-1]:+.1f} % | {splits} |")
    return "\n".join([*lines, "", f"Median of the means: {np.median(means):+.1f} %."])


def page() -> str:
    """Return the page."""
    rows = records()
    commits = [name for name in dict.fromkeys(r["system"] for r in rows) if name != "tomotopy"]
    priors = "; ".join(
        f"{r['corpus']} eta {r['eta']:g}, alpha {r['alpha']:g}{' at first, learned' if r['learned'] else ''}"
        for r in rows
        if r["system"] == "tomotopy"
    )
    etas, alphas = (", ".join(map(str, values)) for values in (ETAS, [a for a, every in ALPHAS if not every]))
    return f"""# Perplexity of hidden words

Written by `python -m reproduction.perplexity page` from `records/words/perplexity.jsonl`.
`LDA` with default settings, K = {K}; a fifth of the tokens of each test document is predicted from the
others. Documents are split 4 : 1 at random; the vocabulary has the words of all.

## From commit {commits[0]} to commit {commits[-1]}

{table(rows, commits[0], commits[-1])}

## Beside tomotopy 0.14.0

Priors are chosen in {TRIED_SWEEPS} sweeps on a fifth of the training documents: eta of {etas} with
learned alpha, then alpha learned or fixed at {alphas}. {SWEEPS:,} sweeps follow, on all training documents.
Topics of both infer new documents in the same way, ours.

{table(rows, "tomotopy", commits[-1])}

Chosen: {priors}.
"""


if __name__ == "__main__":
    if sys.argv[1:2] == ["page"]:
        (reproduction.PAGES / PAGE).write_text(page(), encoding="utf-8")
    else:
        run(sys.argv[2], sys.argv[3], sys.argv[4:])
