"""C5K from its photographs: new codebooks and counts, with the tags and the split that are supplied."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from reproduction.spec import ExperimentSpec
from tagtopics.corpus import Corpus, read_corpus, write_matrix_folder
from tagtopics.errors import InputError
from tagtopics.images.vocabulary import VisualVocabulary

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

    The new counts are a matrix folder in `data`; they are computed if missing.
    """
    if not (data / PIXELS / "words.npz").is_file():
        photos = photo_folder()
        data.mkdir(parents=True, exist_ok=True)
        write_matrix_folder(build_corel_from_pixels(photos), data / PIXELS)
    others = [spec for spec in specs if not spec.dataset.startswith("corel5k")]
    tasks = ("statistics", "recommendation")
    counted = [spec for spec in specs if spec.dataset == _COUNTED and spec.task in tasks]
    return [*(replace(spec, dataset=PIXELS) for spec in counted), *others]


def build_corel_from_pixels(folder: str | Path, visual: VisualVocabulary | None = None) -> Corpus:
    """Build the paper's C5K from its photographs: new codebooks, new counts, the folder's tags and split.

    In the matrix folder, `images/ID.jpeg` are the photographs that `ids.txt` names. Codebooks are learnt from
    the training photographs alone, with the settings of the paper if `visual` is None.
    """
    folder = Path(folder)
    corpus = read_corpus(folder)
    if not (folder / "images").is_dir():
        raise InputError(f"{folder}: no images/; the folder has counts, but no photographs")
    paths = [folder / "images" / f"{name}.jpeg" for name in corpus.ids]
    train = np.array([part != "test" for part in corpus.split or ("train",) * len(paths)])
    visual = VisualVocabulary(on_error="raise") if visual is None else visual
    visual.fit([image for image, learn in zip(paths, train, strict=True) if learn])
    counts, faults = visual.count(paths)
    if faults:
        raise InputError(faults[0].reason)
    return replace(
        corpus, counts=counts, vocabulary=visual.vocabulary_, visual=visual, texts=None, recipe=None
    )
