"""Measure recommendation of subject headings on random splits of TIB core, and write docs/heading-results.md.

    python scripts/name_results.py run SYSTEM SEED...    measure; systems: ours, plain, names
    python scripts/name_results.py page                  write the page from the records

`ours` is a model with default settings and names, `plain` the same without names, `names` names alone.
`ours` also leaves the model and the two parts of the split in build/headings/SEED, where
scripts/annif_results.py trains and asks Annif. The folder tibcore of TAGTOPICS_DATA has the records.
Records of all systems are appended to build/heading-results.jsonl. A seed `v0` splits the training part of
split 0 once more; settings of other systems are chosen on it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.corpus.splits import train_test
from tagtopics.models.persistence import save_model
from tagtopics.recommend.tag_names import fit_tag_names
from tagtopics.tasks.named_tags import NamedAnswer, named_answer, unseen_precision
from tagtopics.tasks.recommendation import all_measures, calibration_error

RECORDS, FOLDER = Path("build/heading-results.jsonl"), Path("build/headings")
URI = "http://example.org/headings/"
LIST, RANKS = 5, 20


def read() -> tuple[tt.Corpus, dict[str, str]]:
    """Return the records, with URIs as tags, and the names of the URIs."""
    folder = Path(os.environ["TAGTOPICS_DATA"]) / "tibcore"
    corpus = tt.read_corpus(
        folder / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects", id="id"
    )
    lines = (folder / "subjects.tsv").read_text(encoding="utf-8").splitlines()[1:]
    names = {URI + tag: name for tag, name in (line.split("\t")[:2] for line in lines)}
    tags = tuple(URI + tag for tag in corpus.tag_names)
    return replace(corpus, split=None, tag_names=tags), names


def parts(corpus: tt.Corpus, seed: str) -> tuple[tt.Corpus, tt.Corpus]:
    """Return the training and the test part of a split."""
    number = int(seed.removeprefix("v"))
    train, test = (corpus.select(rows) for rows in train_test(corpus, number))
    if seed.startswith("v"):
        train, test = (train.select(rows) for rows in train_test(train, number))
    return train, test


class Silent:
    """A recommender that has no opinion: what remains are the names."""

    def __init__(self, recommender: Any) -> None:
        self._own = recommender

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def probabilities(self, counts: Any, doc_topic: Any) -> Any:
        """Return zeros."""
        return np.zeros_like(self._own.probabilities(counts, doc_topic))

    def left_out(self, docs: Any) -> Any:
        """Return zeros."""
        return np.zeros_like(self._own.left_out(docs))


def measures_of(answer: NamedAnswer) -> dict[str, float]:
    """Return all measures of the answers of a model with names."""
    ranked = answer.ranked
    hits = np.take_along_axis(answer.truth, ranked[:, :LIST], axis=1)
    return {
        **all_measures(answer.truth, ranked[:, :LIST], ranked, answer.predicted),
        "calibration_error": calibration_error(answer.probabilities[:, :LIST], hits),
        **unseen_precision(answer),
        **unseen_ranked(answer.truth, ranked, answer.unseen),
    }


def unseen_ranked(truth: Any, ranked: Any, unseen: Any) -> dict[str, float]:
    """Return how many tags without training documents are among the first five, and the share of right ones.

    This counts for every system in the same way, also for those without a threshold.
    """
    first = ranked[:, :LIST]
    new = np.asarray(unseen)[first]
    right = np.take_along_axis(truth, first, axis=1) & new
    return {
        "listed_unseen": float(new.sum()),
        "listed_unseen_precision": float(right.sum() / max(new.sum(), 1)),
    }


def ours(corpus: tt.Corpus, names: dict[str, str], seed: str) -> dict[str, Any]:
    """Fit a model with names, save it with its documents, write the parts for Annif, and measure."""
    train, test = parts(tt.with_thesaurus(corpus, names), seed)
    began, cpu = time.perf_counter(), time.process_time()
    model = tt.TTM(random_state=0).fit(train)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    folder = FOLDER / seed
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder / "model.tt", train)
    for part, documents in (("train", train), ("test", test)):
        write_part(documents, folder / f"{part}.jsonl")
    return {
        **measures_of(named_answer(model, test, RANKS)),
        "seconds": seconds, "cpu_seconds": cpu, "megabytes": megabytes(folder / "model.tt"),
    }  # fmt: skip


def plain(corpus: tt.Corpus, _: dict[str, str], seed: str) -> dict[str, Any]:
    """Measure a model without names."""
    train, test = parts(corpus, seed)
    began, cpu = time.perf_counter(), time.process_time()
    model = tt.TTM(random_state=0).fit(train)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    likely = model.tag_probabilities(test)
    recommender = model.recommender_
    assert recommender is not None
    ranked = recommender.picked(likely, RANKS)
    truth = test.tags.toarray().astype(bool)
    measured = all_measures(truth, ranked[:, :LIST], ranked, recommender.predicted(likely))
    return {**measured, "seconds": seconds, "cpu_seconds": cpu}


def names(corpus: tt.Corpus, known: dict[str, str], seed: str) -> dict[str, Any]:
    """Measure names alone: the same features, without what words and topics say."""
    train, test = parts(tt.with_thesaurus(corpus, known), seed)
    model = tt.TTM(random_state=0).fit(replace(train, thesaurus=None))
    silent: Any = Silent(model.recommender_)
    assert train.thesaurus is not None
    assert train.texts is not None
    model.names_ = fit_tag_names(silent, train.thesaurus, train.texts)
    model.recommender_ = silent
    return measures_of(named_answer(model, test, RANKS))


def write_part(documents: tt.Corpus, path: Path) -> None:
    """Write documents as JSON lines that Annif reads."""
    assert documents.texts is not None
    with path.open("w", encoding="utf-8") as file:
        for d, text in enumerate(documents.texts):
            subjects = [{"uri": tag} for tag in documents.tags_of(d)]
            file.write(
                json.dumps({"document_id": documents.ids[d], "text": text, "subjects": subjects}) + "\n"
            )


def megabytes(folder: Path) -> float:
    """Return the size of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


SYSTEMS = {"ours": ours, "plain": plain, "names": names}


def append(record: dict[str, Any]) -> None:
    """Add a record to those on disk, and print it."""
    RECORDS.parent.mkdir(exist_ok=True)
    with RECORDS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def records() -> Iterator[dict[str, Any]]:
    """Yield all records."""
    if RECORDS.exists():
        yield from map(json.loads, RECORDS.read_text(encoding="utf-8").splitlines())


def run(system: str, seeds: list[str]) -> None:
    """Append the records that are missing."""
    warnings.simplefilter("ignore", tt.CorpusWarning)
    done = {(record["system"], record["seed"]) for record in records()}
    corpus, known = read()
    for seed in seeds:
        if (system, seed) not in done:
            append({"system": system, "seed": seed} | SYSTEMS[system](corpus, known, seed))


if __name__ == "__main__":
    run(sys.argv[2], sys.argv[3:])
