"""What is measured on the photographs of C5K themselves: its counts made anew, and SML."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics.errors import InputError
from tagtopics.experiments.spec import ExperimentSpec

if TYPE_CHECKING:
    from tagtopics.corpus.core import Corpus

PIXELS = "corel5k-pixels"
"""The data set that `from_pixels` makes."""

_COUNTED = "corel5k-images"


def photograph_folder() -> Path:
    """Return the matrix folder of C5K with `images/` in it; an `InputError` where there is none."""
    named = os.environ.get("TAGTOPICS_DATA")
    folder = Path(named).expanduser() / _COUNTED if named else None
    if folder is None or not (folder / "images").is_dir():
        raise InputError(
            "SML and --from-pixels need photographs: TAGTOPICS_DATA must name a directory with "
            "corel5k-images/images; they are not for download"
        )
    return folder


def from_pixels(specs: Sequence[ExperimentSpec], own: Path) -> list[ExperimentSpec]:
    """Return specs with Table III of C5K from its photographs on in the place of all others of C5K.

    Args:
        specs: of any data sets.
        own: where the matrix folder of the new counts is, or is made.
    """
    if not (own / PIXELS / "words.npz").is_file():
        from tagtopics.corpus import write_matrix_folder
        from tagtopics.corpus.images.folder import build_corel_from_pixels

        photographs = photograph_folder()
        own.mkdir(parents=True, exist_ok=True)
        write_matrix_folder(build_corel_from_pixels(photographs), own / PIXELS)
    others = [spec for spec in specs if not spec.dataset.startswith("corel5k")]
    tasks = ("statistics", "recommendation")
    counted = [spec for spec in specs if spec.dataset == _COUNTED and spec.task in tasks]
    return [*(replace(spec, dataset=PIXELS) for spec in counted), *others]


def measure_sml(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Fit SML to the training photographs of a corpus and recommend five tags to each test photograph."""
    from tagtopics.corpus.splits import train_test
    from tagtopics.tasks.recommendation import measured_scores

    images = photograph_folder() / "images"
    train, test = (corpus.select(rows) for rows in train_test(corpus, spec.seed))
    began = time.perf_counter()
    sml = model.estimator.fit([images / f"{name}.jpeg" for name in train.ids], train.tags)
    fitted = time.perf_counter()
    scores = sml.scores([images / f"{name}.jpeg" for name in test.ids])
    metrics = measured_scores(test.tags.toarray(), scores)
    return {"metrics": metrics, "seconds": {"fit": fitted - began, "score": time.perf_counter() - fitted}}
