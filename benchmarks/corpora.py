"""Training, validation and test documents: the same documents and tokens for every system."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.large_corpus import make_large_corpus
from benchmarks.limits import Limits
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.corpus.core import Corpus, canonical_counts, canonical_tags
from tagtopics.corpus.splits import completion, train_test
from tagtopics.datasets import load_dataset

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("cora", "reuters", "bibtex", "docstrings", "generated")
SPLIT_SEED = 0
_MOST_VALIDATION = 500
"""Maximum number of validation documents; otherwise a tenth of the training documents."""


class Completion(NamedTuple):
    """Documents for document completion: CSR (D, W) each."""

    seen: Any
    held_out: Any


class Task(NamedTuple):
    """A corpus split into training, validation and test documents."""

    name: str
    train: Corpus
    validation: Completion
    test: Completion


def load_task(name: str, limits: Limits) -> Task:
    """Return a task, from the cache of an earlier process if there is one."""
    size = f"{limits.generated_docs if name == 'generated' else 'all'}-{limits.scored_docs}"
    path = ROOT / "build" / "bench" / "tasks" / f"{name}-{size}.npz"
    if not path.exists():
        _save(path, _make_task(name, limits))
    return _read(name, path)


def available(name: str) -> str | None:
    """Return why a corpus is not available, or None."""
    if name in ("docstrings", "generated", "tiny"):
        return None
    directory = data_directory()
    if directory is None:
        return "no data: set TAGTOPICS_DATA to a directory of matrix folders"
    return None if (directory / name / "words.npz").is_file() else f"no folder {name} in the data directory"


def data_directory() -> Path | None:
    """Return the directory of matrix folders: TAGTOPICS_DATA, else shared/data beside the project."""
    named = os.environ.get("TAGTOPICS_DATA")
    candidates = [Path(named)] if named else [ROOT.parent / "shared" / "data"]
    return next((path for path in candidates if path.is_dir()), None)


def generated_corpus(n_docs: int, words_per_doc: int, seed: int = 0) -> Corpus:
    """Draw a Zipfian corpus of 20,000 words, 1,000 tags and 100 topics."""
    chunks = list(make_large_corpus(n_docs, words_per_doc, tags_per_doc=4, seed=seed))
    counts = sp.vstack([chunk[0] for chunk in chunks], format="csr")
    tags = sp.vstack([chunk[1] for chunk in chunks], format="csr")
    return named_corpus(counts, tags)


def named_corpus(counts: Any, tags: Any) -> Corpus:
    """Return matrices as a corpus whose words, tags and documents are named by numbers."""
    D, W = counts.shape
    return Corpus(
        counts=canonical_counts(counts),
        tags=canonical_tags(tags),
        vocabulary=tuple(f"w{i}" for i in range(W)),
        tag_names=tuple(f"t{i}" for i in range(tags.shape[1])),
        ids=tuple(map(str, range(D))),
    )


def _source(name: str, limits: Limits) -> Corpus:
    makers: dict[str, Callable[[], Corpus]] = {
        "generated": lambda: generated_corpus(limits.generated_docs, 50),
        "tiny": lambda: make_tagged_corpus(n_docs=200).corpus,
        "docstrings": lambda: load_dataset("docstrings"),
    }
    if name in makers:
        return makers[name]()
    return load_dataset(str((data_directory() or Path()) / name))


def _make_task(name: str, limits: Limits) -> Task:
    """Split a corpus; words without training documents and documents without words are left out."""
    corpus = _source(name, limits)
    rng = np.random.default_rng(SPLIT_SEED)
    train, test = (rng.permutation(rows) for rows in train_test(corpus, SPLIT_SEED))
    n_validation = min(_MOST_VALIDATION, len(train) // 10)
    validation, train = train[:n_validation], np.sort(train[n_validation:])
    words = np.flatnonzero(np.asarray(corpus.counts[train].sum(0)).ravel())
    counts = sp.csr_array(corpus.counts[:, words])
    train = train[np.diff(counts.indptr)[train] > 0]
    return Task(
        name,
        named_corpus(counts[train], corpus.tags[train]),
        Completion(*completion(sp.csr_array(counts[np.sort(validation)]), SPLIT_SEED)),
        Completion(*completion(sp.csr_array(counts[np.sort(test[: limits.scored_docs])]), SPLIT_SEED)),
    )


_PARTS = ("counts", "tags", "validation_seen", "validation_held", "test_seen", "test_held")


def _save(path: Path, task: Task) -> None:
    matrices = (task.train.counts, task.train.tags, *task.validation, *task.test)
    arrays: dict[str, Any] = {}
    for part, matrix in zip(_PARTS, matrices, strict=True):
        arrays |= {f"{part}_{field}": getattr(matrix, field) for field in ("data", "indices", "indptr")}
        arrays[f"{part}_shape"] = np.array(matrix.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(temporary, **arrays)
    os.replace(temporary, path)


def _read(name: str, path: Path) -> Task:
    with np.load(path) as stored:
        matrices = [
            sp.csr_array(
                tuple(stored[f"{part}_{field}"] for field in ("data", "indices", "indptr")),
                shape=tuple(stored[f"{part}_shape"]),
            )
            for part in _PARTS
        ]
    return Task(name, named_corpus(*matrices[:2]), Completion(*matrices[2:4]), Completion(*matrices[4:]))
