"""Many topics on long documents: LDA with its defaults beside tomotopy, perplexity against seconds.

    python -m benchmarks.large_k                              K = 1,000, to results/large_k/k1000.json
    python -m benchmarks.large_k --topics 500 --seconds 60    a quick look

Abstracts of the ACL Anthology are joined, in their order, to documents of about 1,300 words. Both systems see
the same documents, and one evaluator scores the topics of both. tomotopy has 1,000 sweeps, eta .01 and an
alpha that it optimises itself, and stops when its seconds are used up.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tagtopics as tt
from benchmarks import machine
from benchmarks.corpora import Completion, Task, data_directory, named_corpus
from benchmarks.evaluator import Evaluator
from benchmarks.limits import FULL, Limits
from benchmarks.ours import _Observer
from benchmarks.peers import Priors, _tomotopy_lda
from benchmarks.recorder import Recorder
from tagtopics.corpus.splits import completion

RECORD = Path(__file__).parent / "results" / "large_k" / "k1000.json"
WORDS = 1300
"""Words of a document, at the least."""

_PEER_PRIORS = Priors(alpha=0.1, eta=0.01)


def long_documents(counts: Any, least: int = WORDS) -> sp.csr_array:
    """Return consecutive documents, CSR (D, W), joined until each has `least` words; the rest is left out."""
    tokens = np.cumsum(np.asarray(counts.sum(1), dtype=np.int64))
    group, n, start = np.full(len(tokens), -1), 0, 0
    for d, total in enumerate(tokens):
        if total - (tokens[start - 1] if start else 0) >= least:
            group[start : d + 1], n, start = n, n + 1, d + 1
    inside = group >= 0
    places = group[inside], np.flatnonzero(inside)
    joined = sp.csr_array((np.ones(inside.sum(), counts.dtype), places), shape=(n, len(tokens)))
    return sp.csr_array(joined @ counts)


def long_task() -> Task:
    """Return four fifths of the long documents to learn from, and a tenth each for validation and test."""
    folder = data_directory()
    if folder is None or not (folder / "anthology" / "papers.jsonl.gz").is_file():
        sys.exit("no data: set TAGTOPICS_DATA to a directory with the folder anthology")
    corpus = tt.read_corpus(folder / "anthology" / "papers.jsonl.gz", text="abstract", tags="authors")
    counts = long_documents(corpus.counts)
    order, tenth = np.random.default_rng(0).permutation(counts.shape[0]), counts.shape[0] // 10
    test, validation, train = (np.sort(part) for part in np.split(order, [tenth, 2 * tenth]))
    known = np.flatnonzero(np.asarray(counts[train].sum(0)).ravel())
    counts = sp.csr_array(counts[:, known])
    no_tags = sp.csr_array((len(train), 0), dtype=np.int8)
    parts = (Completion(*completion(sp.csr_array(counts[rows]), 0)) for rows in (validation, test))
    return Task("long", named_corpus(counts[train], no_tags), *parts)


def run_ours(task: Task, limits: Limits, **parameters: Any) -> dict[str, Any]:
    """Fit LDA with its defaults."""
    model = tt.LDA(limits.n_topics, random_state=0, n_jobs=limits.workers, **parameters)
    tt.LDA(4, max_iter=2, random_state=0).fit_topics(task.train)  # loads compiled code
    recorder = Recorder(Evaluator(task, limits.workers), limits.seconds, limits.our_ratio, 1e9)
    recorder.start()
    model.fit_topics(task.train, callbacks=[_Observer(model, recorder)])
    recorder.tick(1e9, lambda: (model.components_.T, model.doc_topic_prior_))
    priors = {"alpha": float(model.doc_topic_prior_[0]), "eta": model.topic_word_prior_}
    return {"curve": recorder.curve, "priors": priors, "sweeps": model.n_iter_, "reason": model.stop_reason_}


def run_tomotopy(task: Task, limits: Limits) -> dict[str, Any]:
    """Sample with tomotopy."""
    recorder = Recorder(
        Evaluator(task, limits.workers), limits.seconds, limits.gibbs_ratio, limits.gibbs_sweeps
    )
    found = _tomotopy_lda("DEFAULT")(task, recorder, 0, limits, _PEER_PRIORS)
    return {"curve": recorder.curve, "priors": _PEER_PRIORS._asdict(), "scheme": found["scheme"]}


def ratios(ours: dict[str, Any], peer: dict[str, Any]) -> dict[str, float | None]:
    """Return how many times sooner ours reaches the last perplexity of the peer; None if it never does."""
    goal = peer["perplexity"][-1]
    first = next((i for i, value in enumerate(ours["perplexity"]) if value <= goal), None)
    names = ("seconds", "cpu_seconds")
    return {name: None if first is None else round(peer[name][-1] / ours[name][first], 1) for name in names}


def main() -> None:
    """Run both systems and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600.0, help="of training, each system")
    parser.add_argument("--out", type=Path, default=RECORD)
    parser.add_argument("--prior", type=float, help="topic_word_prior of ours, in place of the default")
    parser.add_argument("--ours-only", action="store_true")
    options = parser.parse_args()
    limits = FULL._replace(n_topics=options.topics, seconds=options.seconds, gibbs_ratio=1.6)
    task = long_task()
    counts = task.train.counts
    record: dict[str, Any] = {
        "corpus": {"documents": task.train.n_docs, "words": task.train.n_words, "tokens": int(counts.sum())},
        "limits": limits._asdict(),
        "load": machine.load_average(),
    }
    parameters = {} if options.prior is None else {"topic_word_prior": options.prior}
    record["ours"] = run_ours(task, limits, **parameters)
    if not options.ours_only:
        record["tomotopy"] = run_tomotopy(task, limits)
        record["times_sooner"] = ratios(record["ours"]["curve"], record["tomotopy"]["curve"])
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
