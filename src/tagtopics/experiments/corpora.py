"""The corpora of experiments: data sets as they are, without an artefact, or with fewer tokens."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tagtopics.errors import CorpusWarning
from tagtopics.experiments.spec import THIN, ExperimentSpec

if TYPE_CHECKING:
    from tagtopics.corpus.core import Corpus

ARTEFACT_TAGS = 40
"""Documents with more tags than this, on one and the same list, are taken for an artefact of the data."""

CLASS_TAGS = ("sky", "water", "tree", "people")
"""The paper's classes of C5K: photographs that carry exactly one of these tags."""

THINNING = 50
"""One of so many tokens of C5K is kept for the models that are sampled token by token."""


def load_corpus(spec: ExperimentSpec, own: Path | None = None) -> Corpus:
    """Return the corpus of a spec, from the folder `own` if it is there, else by `load_dataset`."""
    corpus = loaded(spec.dataset, own)
    return without_artefact(corpus) if spec.without_artefact else corpus


@lru_cache(maxsize=2)
def loaded(name: str, own: Path | None) -> Corpus:
    """Return the corpus of a name; the last two are kept."""
    from tagtopics.datasets import load_dataset

    if name == THIN:
        return thinned(with_tag_classes(loaded("corel5k-images", own)))
    place = own / name if own is not None and (own / name / "words.npz").is_file() else name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return load_dataset(place)


def without_artefact(corpus: Corpus) -> Corpus:
    """Leave out documents that share one and the same list of more than `ARTEFACT_TAGS` tags."""
    lists = [tuple(row) for row in _rows(corpus.tags)]
    long = [tags for tags in lists if len(tags) > ARTEFACT_TAGS]
    shared = {tags for tags in long if long.count(tags) > 1}
    return corpus.select([d for d, tags in enumerate(lists) if tags not in shared])


def with_tag_classes(corpus: Corpus) -> Corpus:
    """Label documents that carry exactly one of the paper's four tags with it, and no others."""
    columns = [corpus.tag_names.index(name) for name in CLASS_TAGS if name in corpus.tag_names]
    marks = corpus.tags[:, columns].toarray().astype(bool)
    names = [corpus.tag_names[t] for t in columns]
    labels = [names[row.argmax()] if row.sum() == 1 else None for row in marks]
    return replace(corpus, labels=tuple(labels))


def thinned(corpus: Corpus, share: float = 1 / THINNING) -> Corpus:
    """Keep each token with a small probability, and forget the official split: splits are then random."""
    counts = sp.csr_array(corpus.counts, copy=True)
    counts.data = np.random.default_rng(0).binomial(counts.data, share).astype(counts.data.dtype)
    counts.eliminate_zeros()
    return replace(corpus, counts=counts, split=None)


def _rows(matrix: Any) -> Iterator[list[int]]:
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        yield matrix.indices[start:stop].tolist()
