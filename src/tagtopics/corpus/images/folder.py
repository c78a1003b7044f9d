"""A folder of images, or one image, as documents of visual words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics.corpus.core import Corpus, Documents
from tagtopics.corpus.images.decode import SUFFIXES, display_name, images_in
from tagtopics.corpus.images.tagfiles import ImageTags, image_tags
from tagtopics.corpus.images.vocabulary import VisualVocabulary
from tagtopics.corpus.recipe import ReadOptions
from tagtopics.errors import InputError


def read_images(path: Path, options: ReadOptions) -> Documents:
    """Read a folder of images, or a single image.

    Images that cannot be read are left out, each with a notice that names it, or refused if the vocabulary
    has `on_error="raise"`.

    Args:
        path: the folder or the image.
        options: `tags` says where the tags are, see `image_tags`; `visual` is the vocabulary, which learns
            its codebooks here if it is not fitted.
    """
    paths = sorted(images_in(path)) if path.is_dir() else [path]
    if not paths:
        raise InputError(f"{path}: no images in the folder; they end in {', '.join(sorted(SUFFIXES))}")
    root = path if path.is_dir() else path.parent
    names = [display_name(image.relative_to(root).as_posix()) for image in paths]
    known = image_tags(root, names, options) if path.is_dir() or options.tags is not None else ImageTags()
    visual = VisualVocabulary() if options.visual is None else options.visual
    counts, faults = (visual if hasattr(visual, "codebooks_") else visual.fit(paths)).count(paths)
    bad = {fault.row for fault in faults}
    if len(bad) == len(paths):
        raise InputError(f"{path}: no image can be read; the first: {faults[0].reason}")
    kept = [row for row in range(len(paths)) if row not in bad]
    skipped = [f"image skipped: {fault.reason}" for fault in faults]
    more = [f"{len(skipped) - 3:,} more images skipped"] if len(skipped) > 3 else []
    return Documents(
        source=str(path),
        counts=counts[kept],
        vocabulary=visual.vocabulary_,
        tags=_pick(known.tags, kept),
        ids=[names[row] for row in kept],
        labels=_pick(known.labels, kept),
        split=_pick(known.split, kept),
        visual=visual,
        warnings=[*skipped[:3], *more, *known.unusual],
        notices=[*skipped, *known.unusual],
    )


def build_corel_from_pixels(folder: str | Path, visual: VisualVocabulary | None = None) -> Corpus:
    """Build the paper's C5K from its photographs: new codebooks, new counts, the folder's tags and split.

    Codebooks are learnt from the training photographs alone.

    Args:
        folder: a matrix folder whose `images/ID.jpeg` are the photographs that `ids.txt` names.
        visual: the vocabulary; None for one with the settings of the paper.
    """
    from tagtopics.corpus.read import read_corpus

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


def _pick(values: Sequence[Any] | None, kept: list[int]) -> list[Any] | None:
    return None if values is None else [values[row] for row in kept]
