"""Corpora of the experiments: complete data sets, or without an artefact, or with fewer tokens."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tagtopics.errors import CorpusWarning, InputError
from tagtopics.experiments.spec import THIN, ExperimentSpec

if TYPE_CHECKING:
    from tagtopics.corpus.core import Corpus

ARTEFACT_TAGS = 40
"""Documents that share one list of more than this many tags are an artefact of the data."""

CLASS_TAGS = ("sky", "water", "tree", "people")
"""The paper's classes of C5K: photos with exactly one of these tags."""

THINNING = 50
"""Models sampled token by token use one of this many tokens of C5K."""


def load_corpus(spec: ExperimentSpec, data: Path | None = None) -> Corpus:
    """Return the corpus of a spec, from the folder `data` if it is there, else from `load_dataset`."""
    corpus = loaded(spec.dataset, data)
    return without_artefact(corpus) if spec.without_artefact else corpus


@lru_cache(maxsize=2)
def loaded(name: str, data: Path | None) -> Corpus:
    """Return a data set by name; the last two are cached."""
    from tagtopics.datasets import load_dataset

    if name == THIN:
        return thinned(with_tag_classes(loaded("corel5k-images", data)))
    place = data / name if data is not None and (data / name / "words.npz").is_file() else name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return load_dataset(place)


def without_artefact(corpus: Corpus) -> Corpus:
    """Remove documents that share one list of more than `ARTEFACT_TAGS` tags."""
    lists = [tuple(row) for row in _rows(corpus.tags)]
    long = [tags for tags in lists if len(tags) > ARTEFACT_TAGS]
    shared = {tags for tags in long if long.count(tags) > 1}
    return corpus.select([d for d, tags in enumerate(lists) if tags not in shared])


def with_tag_classes(corpus: Corpus) -> Corpus:
    """Label the documents that have exactly one of the paper's four tags with it."""
    columns = [corpus.tag_names.index(name) for name in CLASS_TAGS if name in corpus.tag_names]
    marks = corpus.tags[:, columns].toarray().astype(bool)
    names = [corpus.tag_names[t] for t in columns]
    labels = [names[row.argmax()] if row.sum() == 1 else None for row in marks]
    return replace(corpus, labels=tuple(labels))


def thinned(corpus: Corpus, share: float = 1 / THINNING) -> Corpus:
    """Keep each token with a small probability, and drop the official split: splits are then random."""
    counts = sp.csr_array(corpus.counts, copy=True)
    counts.data = np.random.default_rng(0).binomial(counts.data, share).astype(counts.data.dtype)
    counts.eliminate_zeros()
    return replace(corpus, counts=counts, split=None)


def _rows(matrix: Any) -> Iterator[list[int]]:
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        yield matrix.indices[start:stop].tolist()


# ----------------------------------------------------------------------------------------- photos of C5K

PIXELS = "corel5k-pixels"
"""The data set that `with_pixel_counts` creates."""

_COUNTED = "corel5k-images"


def photo_folder() -> Path:
    """Return the matrix folder of C5K with its photos in `images/`; an `InputError` if there is none."""
    named = os.environ.get("TAGTOPICS_DATA")
    folder = Path(named).expanduser() / _COUNTED if named else None
    if folder is None or not (folder / "images").is_dir():
        raise InputError(
            "SML and --from-pixels need the photos of C5K, which cannot be downloaded: set TAGTOPICS_DATA "
            "to a directory with corel5k-images/images"
        )
    return folder


def with_pixel_counts(specs: Sequence[ExperimentSpec], data: Path) -> list[ExperimentSpec]:
    """Return the specs with those of C5K replaced by its Table III, computed from photos.

    Args:
        specs: of any data sets.
        data: the folder for the new counts, a matrix folder; they are computed if missing.
    """
    if not (data / PIXELS / "words.npz").is_file():
        from tagtopics.corpus import write_matrix_folder
        from tagtopics.corpus.images.folder import build_corel_from_pixels

        photos = photo_folder()
        data.mkdir(parents=True, exist_ok=True)
        write_matrix_folder(build_corel_from_pixels(photos), data / PIXELS)
    others = [spec for spec in specs if not spec.dataset.startswith("corel5k")]
    tasks = ("statistics", "recommendation")
    counted = [spec for spec in specs if spec.dataset == _COUNTED and spec.task in tasks]
    return [*(replace(spec, dataset=PIXELS) for spec in counted), *others]
