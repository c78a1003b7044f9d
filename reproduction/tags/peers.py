"""Compare the default model with tomotopy's DMR and PLDA, which use tags too.

    python -m reproduction.tags.peers run cora reuters/2 ...  append records to records/tags/peers.jsonl
    python -m reproduction.tags.peers PLDA tibcore ...        one peer alone
    python -m reproduction.tags.peers ours cora reuters/2 ... measure ours again in the records that there are

The split, the words seen and the words predicted are those of `results.py`. Documents are inferred
by one fold-in from the topics of each peer and from its own prior of each test document: for DMR, that of the
document's tags; for PLDA, its priors of the topics of these tags and of the latent topics.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import tomotopy as tp

import reproduction
import tagtopics as tt
from benchmarks.peers import _tokens
from reproduction.curves import SEEN
from reproduction.tags.results import SWEEPS as OUR_SWEEPS
from reproduction.tags.results import TOPICS, curve, read, records, splits
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.holdout import log_likelihoods
from tagtopics.corpus.splits import seen_part, train_test

RECORDS = reproduction.RECORDS / "tags" / "peers.jsonl"
SWEEPS, LABELS, ETA = 300, 200, 0.01
"""Sweeps of the samplers; most tags with a topic of their own in PLDA; prior of words, tomotopy's default."""

MOST_SECONDS = 240.0
"""A sampler that needs more processor seconds ends after the batch of sweeps that it is in."""


def topics_of(model: Any, n_words: int) -> Any:
    """Return p(word | topic), (W, K), smoothed over words that the training part does not have."""
    columns = np.array([int(word) for word in model.used_vocabs])
    tokens = np.asarray(model.get_count_by_topics(), dtype=np.float64)
    phi = np.tile(ETA / (tokens + ETA * n_words), (n_words, 1))
    phi[columns] = np.array([model.get_topic_word_dist(k) for k in range(model.k)]).T
    return np.ascontiguousarray(phi / phi.sum(0), dtype=np.float32)


def perplexities(phi: Any, priors: Any, test: tt.Corpus, seed: int) -> list[float]:
    """Return the perplexity for each share of words seen; priors are (D, K)."""
    found = []
    for percent in SEEN:
        seen, held_out = seen_part(test.counts, seed, percent / 100)
        theta = infer_topics(seen, phi, np.full(phi.shape[1], 1e-6, np.float32), priors)
        total = log_likelihoods(held_out, theta, phi).sum()
        found.append(float(np.exp(-total / held_out.sum(dtype=np.float64))))
    return found


def trained(model: Any) -> dict[str, Any]:
    """Train a sampler; return its sweeps and processor seconds."""
    began, done = time.process_time(), 0
    while done < SWEEPS and time.process_time() - began < MOST_SECONDS:
        model.train(10, workers=1)
        done += 10
    return {"sweeps": done, "seconds": time.process_time() - began}


def dmr(train: tt.Corpus, test: tt.Corpus, seed: int) -> dict[str, Any]:
    """Measure DMR: all tags of a document are its metadata."""
    model = tp.DMRModel(k=TOPICS, eta=ETA, seed=seed)
    names = [[str(t) for t in row] for row in np.split(train.tags.indices, train.tags.indptr[1:-1])]
    for words, tags in zip(_tokens(train.counts), names, strict=True):
        model.add_doc(words, multi_metadata=tags)
    cost = trained(model)
    known = {str(name) for name in model.multi_metadata_dict}
    rows = np.split(test.tags.indices, test.tags.indptr[1:-1])
    priors = np.array(
        [model.get_topic_prior(multi_metadata=[str(t) for t in row if str(t) in known]) for row in rows]
    )
    curves = perplexities(topics_of(model, train.n_words), priors.astype(np.float32), test, seed)
    return {"curve": curves} | cost


def plda(train: tt.Corpus, test: tt.Corpus, seed: int) -> dict[str, Any]:
    """Measure PLDA: the most frequent tags have one topic each, next to latent topics."""
    frequent = np.argsort(-np.asarray(train.tags.sum(0)).ravel(), kind="stable")[:LABELS]
    chosen = {int(t) for t in frequent}
    model = tp.PLDAModel(latent_topics=TOPICS, eta=ETA, seed=seed)
    rows = np.split(train.tags.indices, train.tags.indptr[1:-1])
    for words, row in zip(_tokens(train.counts), rows, strict=True):
        model.add_doc(words, labels=[str(t) for t in row if int(t) in chosen])
    cost = trained(model)
    place = {int(name): i for i, name in enumerate(model.topic_label_dict)}
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=np.float32), (model.k,))
    priors = np.full((test.n_docs, model.k), 1e-6, dtype=np.float32)
    priors[:, len(place) :] = alpha[len(place) :]
    for d, row in enumerate(np.split(test.tags.indices, test.tags.indptr[1:-1])):
        labels = [place[int(t)] for t in row if int(t) in place]
        priors[d, labels] = alpha[labels]
    curves = perplexities(topics_of(model, train.n_words), priors, test, seed)
    return {"curve": curves} | cost


PEERS = {"DMR": dmr, "PLDA": plda}


def measure(name: str, seed: int, peers: list[str]) -> dict[str, Any]:
    """Return the figures of one corpus and one split."""
    corpus = read(name)
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    tt.TTM(TOPICS, max_iter=2, n_jobs=1).fit_topics(train)  # compiles
    began = time.process_time()
    model = tt.TTM(TOPICS, max_iter=OUR_SWEEPS, random_state=seed, n_jobs=1).fit_topics(train)
    cost = {"sweeps": model.n_iter_, "seconds": time.process_time() - began}
    ours = {"curve": curve(model, test, test, seed)} | cost
    of_peers = {peer: PEERS[peer](train, test, seed) for peer in peers}
    return {"corpus": name, "seed": seed, "systems": {"tagtopics": ours} | of_peers}


def lacking(name: str, seed: int, peers: list[str]) -> list[str]:
    """Return the peers that have no record of a split yet."""
    rows = [row["systems"] for row in records(RECORDS) if (row["corpus"], row["seed"]) == (name, seed)]
    return [peer for peer in peers if not any(peer in row for row in rows)]


def measure_ours_again(names: list[str]) -> None:
    """Replace our figures in the records of some corpora; peers keep theirs."""
    rows = records(RECORDS)
    for name, seed in splits(names):
        mine = [row for row in rows if (row["corpus"], row["seed"]) == (name, seed)]
        ours = measure(name, seed, [])["systems"] if mine else {}
        for row in mine:
            row["systems"] |= ours
            print(json.dumps(row), flush=True)  # noqa: T201
    RECORDS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Measure peers that have no record yet, split by split."""
    if sys.argv[1] == "ours":
        measure_ours_again(sys.argv[2:])
        return
    wanted = list(PEERS) if sys.argv[1] == "run" else [sys.argv[1]]
    for name, seed in splits(sys.argv[2:]):
        peers = lacking(name, seed, wanted)
        if not peers:
            continue
        record = measure(name, seed, peers)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
