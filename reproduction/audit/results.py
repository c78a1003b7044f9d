"""Measure `tagtopics audit` on planted errors; `page.py` writes pages/audit-results.md.

    python -m reproduction.audit.results noise reuters 0 1 ...       planted wrong and missing tags, ours
    python -m reproduction.audit.results corrected reuters 0 ...     micro F1 after corrections
    python -m reproduction.audit.results cleanlab reuters 0 1 ...    the same errors with cleanlab
    python -m reproduction.audit.results noise_frequent,cleanlab_frequent reuters 0    wrong tags by frequency
    python -m reproduction.audit.results seconds reuters 0           seconds of both, one after the other
    python -m reproduction.audit.results duplicates reuters 0 ...    planted duplicates
    python -m reproduction.audit.results variants reuters 0 ...      planted duplicates with similar names

The numbers are seeds of the planted errors. Several measurements are divided by commas: `noise,corrected` fit
one model for both.

Corpora are folders of TAGTOPICS_DATA. Errors are planted in the training part (the official split, else a
random one); the clean test part shows what a correction is worth. Records are appended to
records/audit/results.jsonl.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import reproduction
import tagtopics as tt
from tagtopics.analysis.audit.audit import _recommender_for
from tagtopics.analysis.audit.duplicates import duplicate_tags
from tagtopics.analysis.audit.names import name_words, spelling_pairs
from tagtopics.analysis.audit.taggings import collect_taggings, doubtful_taggings, missing_taggings
from tagtopics.corpus.splits import train_test

RECORDS = reproduction.RECORDS / "audit" / "results.jsonl"
SHARE, SPLIT, FEWEST = 0.05, 50, 10
TEXTS: dict[str, tuple[str, str]] = {
    "anthology": ("papers.jsonl.gz", "authors"),
    "tibcore": ("documents.jsonl.gz", "subjects"),
}
MANY_TAGS = 1000
"""With more tags, the linear model of cleanlab is a ridge regression in closed form."""


def read(name: str) -> tt.Corpus:
    """Return a corpus; subject headings have their names, where they are known."""
    if name == "docstrings":
        return tt.load_dataset(name)
    folder = Path(os.environ["TAGTOPICS_DATA"]) / name
    if name not in TEXTS:
        return tt.read_corpus(folder)
    file, tags = TEXTS[name]
    corpus = tt.read_corpus(folder / file, text=["title", "abstract"], tags=tags)
    if name != "tibcore":
        return corpus
    lines = (folder / "subjects.tsv").read_text(encoding="utf-8").splitlines()
    names = dict(line.split("\t")[:2] for line in lines)
    named = [names.get(tag) or tag for tag in corpus.tag_names]
    taken = {name: named.count(name) for name in set(named)}
    unique = [
        f"{name} ({tag})" if taken[name] > 1 else name
        for name, tag in zip(named, corpus.tag_names, strict=True)
    ]
    return replace(corpus, tag_names=tuple(unique))


def planted(corpus: tt.Corpus, seed: int, frequent: bool = False) -> tuple[tt.Corpus, Any, Any]:
    """Return a corpus without some taggings and with random others, and the keys of both.

    The key of a tagging is document times number of tags plus tag. Removed ones are drawn from all taggings,
    added ones from all pairs of a document and a tag that it does not have; with `frequent`, tags are drawn
    by the number of their documents.
    """
    generator = np.random.default_rng(seed)
    D, T = corpus.tags.shape
    keys = np.repeat(np.arange(D), np.diff(corpus.tags.indptr)) * T + corpus.tags.indices
    n = round(SHARE * len(keys))
    gone = generator.permutation(len(keys))[:n]
    if frequent:
        tags = corpus.tags.indices[generator.integers(0, len(keys), 4 * n + 100)]
        drawn = np.unique(generator.integers(0, D, len(tags)) * T + tags)
    else:
        drawn = np.unique(generator.integers(0, D * T, 4 * n + 100))
    added = generator.permutation(np.setdiff1d(drawn, keys))[:n]
    new = np.sort(np.concatenate([np.delete(keys, gone), added]))
    tags = sp.csr_array((np.ones(len(new), np.int8), (new // T, new % T)), shape=(D, T))
    tags.sort_indices()
    return replace(corpus, tags=tags), added, keys[gone]


def average_precision(keys: Any, scores: Any, true: Any) -> float:
    """Return the average precision of ranked taggings; true ones that are not ranked count as never found."""
    order = np.lexsort((keys, -scores))
    hit = np.isin(keys[order], true)
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].sum() / len(true))


@lru_cache(maxsize=1)
def audited(
    name: str, seed: int, frequent: bool = False
) -> tuple[Any, dict[str, Any], dict[str, Any], tuple[float, float]]:
    """Return a model, the keys and scores of doubtful and missing taggings, and seconds to fit and audit."""
    noisy, topics = noisy_parts(name, seed, frequent)[0], topics_of(name)
    began = time.process_time()
    model = copy(topics[0]).fit_recommender(noisy)
    fitted = time.process_time()
    keys, scores = findings(model, noisy)
    done = time.process_time()
    return model, keys, scores, (topics[1] + fitted - began, done - fitted)


@lru_cache(maxsize=1)
def topics_of(name: str) -> tuple[Any, float]:
    """Return a model without a recommender, and the seconds of its fit.

    Topics do not depend on tags, so that one fit does for all seeds; what does is trained for each seed.
    """
    train = clean_parts(name)[0]
    began = time.process_time()
    model = tt.TTM(random_state=0).fit_topics(train)
    return model, time.process_time() - began


def findings(model: Any, noisy: tt.Corpus) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys and the scores of doubtful and missing taggings, given a model."""
    doc_topic = model.transform(noisy)
    recommender = _recommender_for(model, noisy, noisy.counts, doc_topic)
    assert recommender is not None
    names = name_words(noisy, noisy.tag_names)
    taggings = collect_taggings(noisy, recommender, noisy.counts, doc_topic, names)
    found = {"doubtful": doubtful_taggings(taggings), "missing": missing_taggings(taggings)}
    keys = {kind: verdicts.docs * noisy.n_tags + verdicts.tags for kind, verdicts in found.items()}
    return keys, {kind: verdicts.scores for kind, verdicts in found.items()}


@lru_cache(maxsize=1)
def clean_parts(name: str) -> tuple[tt.Corpus, tt.Corpus]:
    """Return the training and the test part."""
    whole = read(name)
    train, test = (whole.select(rows) for rows in train_test(whole, 0))
    return train, test


@lru_cache(maxsize=1)
def noisy_parts(name: str, seed: int, frequent: bool = False) -> tuple[tt.Corpus, tt.Corpus, dict[str, Any]]:
    """Return the training part with planted errors, the clean test part, and the errors by kind."""
    train, test = clean_parts(name)
    noisy, added, removed = planted(train, seed, frequent)
    return noisy, test, {"doubtful": added, "missing": removed}


def measure_noise(name: str, seed: int, frequent: bool = False) -> dict[str, Any]:
    """Return our figures for one corpus and one seed."""
    noisy, _, truth = noisy_parts(name, seed, frequent)
    _, keys, scores, (fit, audit) = audited(name, seed, frequent)
    return {
        "what": "noise_frequent" if frequent else "noise", "corpus": name, "seed": seed,
        "n_planted": len(truth["doubtful"]),
        "n_docs": noisy.n_docs, "n_tags": noisy.n_tags, "fit_seconds": fit, "audit_seconds": audit,
        **{kind: average_precision(keys[kind], scores[kind], truth[kind]) for kind in keys},
        "reliability": {kind: reliability(scores[kind], np.isin(keys[kind], truth[kind])) for kind in keys},
    }  # fmt: skip


def measure_corrected(name: str, seed: int) -> dict[str, Any]:
    """Return micro F1 on clean test documents before and after corrections, and without any errors."""
    noisy, test, truth = noisy_parts(name, seed)
    model, keys, scores, _ = audited(name, seed)
    f1 = corrected_f1(model, noisy, test, keys, scores, truth) | {"clean": clean_f1(name)}
    return {"what": "corrected", "corpus": name, "seed": seed, "f1": f1}


@lru_cache(maxsize=1)
def clean_f1(name: str) -> float:
    """Return micro F1 of a model of documents without planted errors."""
    train, test = clean_parts(name)
    return micro_f1(copy(topics_of(name)[0]).fit_recommender(train), test)


def reliability(scores: Any, right: Any) -> list[list[float]]:
    """Return number, mean score and share of right findings for scores from .05, .2, .4, .6 and .8 on."""
    rows = []
    for low, high in ((0.05, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = (scores >= low) & (scores < high)
        if inside.any():
            rows.append([int(inside.sum()), float(scores[inside].mean()), float(right[inside].mean())])
    return rows


def corrected_f1(
    model: Any, noisy: tt.Corpus, test: tt.Corpus, keys: Any, scores: Any, truth: Any
) -> dict[str, float]:
    """Return micro F1 on clean test documents: before, after a review, after accepting scores from .5 on.

    The review sees as many findings of each kind as errors were planted, and accepts the right ones.
    """
    top = {kind: keys[kind][: len(truth[kind])] for kind in keys}
    reviewed = {kind: top[kind][np.isin(top[kind], truth[kind])] for kind in keys}
    unseen = {kind: keys[kind][scores[kind] >= 0.5] for kind in keys}
    results = {"before": micro_f1(model, test)}
    for how, chosen in (("reviewed", reviewed), ("unseen", unseen)):
        fixed = corrected(noisy, chosen)
        results[how] = micro_f1(copy(model).fit_recommender(fixed), test)
    return results


def corrected(noisy: tt.Corpus, chosen: dict[str, Any]) -> tt.Corpus:
    """Return a corpus without the doubtful taggings chosen and with the missing ones."""
    D, T = noisy.tags.shape
    keys = np.repeat(np.arange(D), np.diff(noisy.tags.indptr)) * T + noisy.tags.indices
    new = np.union1d(np.setdiff1d(keys, chosen["doubtful"]), chosen["missing"]).astype(np.int64)
    tags = sp.csr_array((np.ones(len(new), np.int8), (new // T, new % T)), shape=(D, T))
    tags.sort_indices()
    return replace(noisy, tags=tags)


def micro_f1(model: Any, test: tt.Corpus) -> float:
    """Return the F-measure over all pairs of test document and tag."""
    likely = model.recommender_.probabilities(test.counts, model.transform(test))
    predicted = sp.csr_array(model.recommender_.predict_tags(likely))
    hits = float((predicted.astype(np.float64) * test.tags).sum())
    return 2 * hits / max(float(predicted.sum() + test.tags.sum()), 1.0)


# ----------------------------------------------------------------------------------------------- cleanlab


def measure_cleanlab(name: str, seed: int, frequent: bool = False) -> dict[str, Any]:
    """Return the figures of cleanlab for the same planted errors."""
    from sklearn.feature_extraction.text import TfidfTransformer

    whole = read(name)
    noisy, added, removed = planted(whole.select(train_test(whole, 0)[0]), seed, frequent)
    began = time.process_time()
    X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(noisy.counts), dtype=np.float32)
    model = Ridge(X) if noisy.n_tags > MANY_TAGS else Logistic(X)
    order = np.random.default_rng(0).permutation(noisy.n_docs)
    fifths = np.array_split(order, 5)
    best = tuned_setting(name, model, fifths, noisy.tags)
    tuned = time.process_time()
    likely = np.zeros(noisy.tags.shape, dtype=np.float32)
    for held in fifths:
        likely[held] = model.probabilities(np.setdiff1d(order, held), held, noisy.tags, best)
    quality = cleanlab_quality(likely, noisy.tags)
    done = time.process_time()
    carried = noisy.tags.toarray().ravel() > 0
    there = np.flatnonzero(carried)
    absent = np.flatnonzero(~carried)
    if len(absent) > 4_000_000:
        worst = np.argpartition(quality.ravel()[absent], 4_000_000)[:4_000_000]
        absent = absent[worst]
    return {
        "what": "cleanlab_frequent" if frequent else "cleanlab", "corpus": name, "seed": seed,
        "model": type(model).__name__, "setting": best,
        "tune_seconds": tuned - began, "seconds": done - tuned,
        "doubtful": average_precision(there, -quality.ravel()[there], added),
        "missing": average_precision(absent, -quality.ravel()[absent], removed),
    }  # fmt: skip


def tuned_setting(name: str, model: Any, fifths: list[Any], tags: Any) -> float:
    """Return the best setting on one fold; that of an earlier seed, if there is one."""
    for record in records():
        if record["what"] == "cleanlab" and record["corpus"] == name:
            return float(record["setting"])
    held, rest = fifths[0], np.concatenate(fifths[1:])
    answers = (model.probabilities(rest, held, tags, setting) for setting in model.settings)
    found = [model.quality(likely, tags[held]) for likely in answers]
    return float(model.settings[int(np.argmax(found))])


def cleanlab_quality(likely: Any, tags: Any) -> Any:
    """Return (D, T): the label quality of each tag of each document, some thousand tags at a time."""
    from cleanlab.multilabel_classification.rank import (
        get_label_quality_scores_per_class,
    )

    parts = []
    for first in range(0, likely.shape[1], 2000):
        some = tags[:, first : first + 2000].toarray() > 0
        labels = [np.flatnonzero(row).tolist() for row in some]
        parts.append(
            get_label_quality_scores_per_class(
                labels, likely[:, first : first + 2000].astype(np.float64)
            ).astype(np.float32)
        )
    return np.concatenate(parts, axis=1)


class Logistic:
    """One logistic regression for each tag."""

    settings = (1.0, 10.0, 100.0)

    def __init__(self, X: Any) -> None:
        self._X = X

    def probabilities(self, train: Any, test: Any, tags: Any, setting: float) -> Any:
        """Return (test, T): the probability of each tag."""
        from sklearn.linear_model import LogisticRegression

        known = tags[train].toarray()
        likely = np.zeros((len(test), tags.shape[1]), dtype=np.float32)
        for t in range(tags.shape[1]):
            if known[:, t].any():
                fitted = LogisticRegression(solver="liblinear", C=setting).fit(self._X[train], known[:, t])
                likely[:, t] = fitted.predict_proba(self._X[test])[:, 1]
        return likely

    @staticmethod
    def quality(likely: Any, tags: Any) -> float:
        """Return the mean log probability of tags."""
        p, y = np.clip(likely, 1e-4, 1 - 1e-4), tags.toarray()
        return float(np.where(y > 0, np.log(p), np.log(1 - p)).mean())


class Ridge:
    """Linear ridge regression of all tags in closed form; its answers are clipped to probabilities."""

    settings = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

    def __init__(self, X: Any) -> None:
        self._kernel = (X @ X.T).toarray()

    def probabilities(self, train: Any, test: Any, tags: Any, setting: float) -> Any:
        """Return (test, T): the probability of each tag."""
        from scipy.linalg import cho_factor, cho_solve

        inner = self._kernel[np.ix_(train, train)] + setting * np.eye(len(train), dtype=np.float32)
        weights = cho_solve(cho_factor(inner), self._kernel[np.ix_(train, test)]).T
        return np.clip(sp.csr_array(tags[train], dtype=np.float32).T.dot(weights.T).T, 1e-4, 1 - 1e-4)

    @staticmethod
    def quality(likely: Any, tags: Any) -> float:
        """Return the average precision of the pairs of document and tag, the first million of them.

        By the log probability, the best answer to thousands of rare tags is to say nothing about any of them.
        """
        pairs = likely.ravel()
        first = np.argpartition(-pairs, min(1_000_000, len(pairs) - 1))[:1_000_000]
        return average_precision(first, pairs[first], np.flatnonzero(tags.toarray()))


def measure_seconds(name: str, seed: int) -> dict[str, Any]:
    """Return the seconds of ours and of cleanlab, one after the other; for a machine without other work.

    The audit is the second one, so that nothing has to be loaded or compiled.
    """
    noisy, model = noisy_parts(name, seed)[0], audited(name, seed)[0]
    began = time.process_time()
    findings(model, noisy)
    audit = time.process_time() - began
    theirs = measure_cleanlab(name, seed)["seconds"]
    fit = audited(name, seed)[3][0]
    return {"what": "seconds", "corpus": name, "seed": seed, "fit": fit, "audit": audit, "cleanlab": theirs}


# --------------------------------------------------------------------------------------------- duplicates


def measure_duplicates(name: str, seed: int) -> dict[str, Any]:
    """Return the figures for tags split into two halves, the second with a name that says nothing."""
    return duplicate_figures(read(name), name, seed, hidden_name) | {"what": "duplicates"}


def measure_variants(name: str, seed: int) -> dict[str, Any]:
    """Return the figures for tags split into two halves, the second with a variant of the name."""
    return duplicate_figures(read(name), name, seed, variant_of) | {"what": "variants"}


def duplicate_figures(
    corpus: tt.Corpus, name: str, seed: int, renamed: Callable[[str, np.random.Generator], str]
) -> dict[str, Any]:
    """Return the figures for tags split into two halves, the second renamed.

    `precision` counts all pairs. `precision_known` leaves out pairs of two tags of the corpus whose names are
    alike: most of these are duplicates that the corpus has anyway, so nothing is known about them.
    """
    halves, true = with_halves(corpus, seed, renamed)
    began = time.process_time()
    pairs = duplicate_tags(halves)
    seconds = time.process_time() - began
    found = [(min(a, b), max(a, b)) for a, b in zip(pairs.tags.tolist(), pairs.others.tolist(), strict=True)]
    right = np.array([pair in true for pair in found])
    split = {tag for pair in true for tag in pair}
    spelled = spelling_pairs(halves.tag_names)
    own = np.array([p not in spelled or not split.isdisjoint(p) for p in found])
    nearest: dict[int, float] = {}
    for pair, score in zip(found, pairs.scores, strict=True):
        for tag in pair:
            if pair not in true and tag not in split:
                nearest.setdefault(tag, score)
    siblings = np.array(list(nearest.values()))
    return {
        "corpus": name, "seed": seed, "n_split": len(true), "seconds": seconds,
        "precision": float(right[: len(true)].mean()), "candidates": int(right.sum()),
        "precision_known": float(right[own][: len(true)].mean()),
        "flagged_siblings": float((siblings >= 0.5).mean()), "n_siblings": len(siblings),
        "found": int((right & (pairs.scores >= 0.5)).sum()), "flagged": int((pairs.scores >= 0.5).sum()),
    }  # fmt: skip


def hidden_name(_: str, generator: np.random.Generator) -> str:
    """Return twelve random letters."""
    return "".join(chr(97 + int(i)) for i in generator.integers(0, 26, 12))


def variant_of(tag: str, generator: np.random.Generator) -> str:
    """Return a name as people vary it: other order, an initial, capitals, a hyphen, or a typing error."""
    words = tag.split()
    ways = [tag.swapcase(), tag + "s" if not tag.endswith("s") else tag[:-1]]
    if len(words) > 1:
        ways += [" ".join([words[-1], *words[:-1]]), f"{words[0][0]}. {' '.join(words[1:])}", "-".join(words)]
    if len(tag) >= 8:
        place = int(generator.integers(2, len(tag) - 2))
        ways.append(tag[:place] + tag[place + 1 :])
    return ways[int(generator.integers(len(ways)))]


def with_halves(
    corpus: tt.Corpus, seed: int, renamed: Callable[[str, np.random.Generator], str]
) -> tuple[tt.Corpus, set[tuple[int, int]]]:
    """Return a corpus with some tags split at random into two, and the pairs."""
    generator = np.random.default_rng(seed)
    columns = sp.csc_array(corpus.tags)
    n_docs = np.diff(columns.indptr)
    spelt = np.array([sum(map(str.isalpha, name)) >= 4 for name in corpus.tag_names])
    chosen = generator.permutation(np.flatnonzero((n_docs >= FEWEST) & spelt))[:SPLIT]
    tags = np.repeat(np.arange(corpus.n_tags), n_docs)
    for place, tag in enumerate(chosen):
        begin, end = columns.indptr[tag : tag + 2]
        tags[begin + generator.permutation(end - begin)[: (end - begin) // 2]] = corpus.n_tags + place
    shape = (corpus.n_docs, corpus.n_tags + len(chosen))
    matrix = sp.csr_array((np.ones(len(tags), np.int8), (columns.indices, tags)), shape=shape)
    matrix.sort_indices()
    taken = set(corpus.tag_names)
    names = []
    for place, tag in enumerate(chosen):
        name = renamed(corpus.tag_names[tag], generator)
        names.append(name if name not in taken else f"{name} {place}")
        taken.add(names[-1])
    pairs = {(int(tag), corpus.n_tags + place) for place, tag in enumerate(chosen)}
    return replace(corpus, tags=matrix, tag_names=(*corpus.tag_names, *names)), pairs


MEASURES: dict[str, Any] = {
    "noise": measure_noise,
    "noise_frequent": partial(measure_noise, frequent=True),
    "corrected": measure_corrected,
    "cleanlab": measure_cleanlab,
    "cleanlab_frequent": partial(measure_cleanlab, frequent=True),
    "seconds": measure_seconds,
    "duplicates": measure_duplicates,
    "variants": measure_variants,
}


def run(measurements: list[str], name: str, seeds: list[int]) -> None:
    """Append the records that are still missing."""
    RECORDS.parent.mkdir(exist_ok=True)
    done = {(r["what"], r["corpus"], r["seed"]) for r in records() if "earlier" not in r}
    for seed, what in product(seeds, measurements):
        if (what, name, seed) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = MEASURES[what](name, seed)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()


def records() -> Iterator[dict[str, Any]]:
    """Yield the latest records; `earlier` says of which version a record is, if not of the present one."""
    if RECORDS.exists():
        found = map(json.loads, RECORDS.read_text(encoding="utf-8").splitlines())
        yield from {(r["what"], r["corpus"], r["seed"]): r for r in found}.values()


if __name__ == "__main__":
    run(sys.argv[1].split(","), sys.argv[2], [int(n) for n in sys.argv[3:]])
