"""A folder of images, or one image, as a corpus of visual words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics.corpus.assemble import Reading, Terms, from_counts
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.counted import Counted
from tagtopics.corpus.images.decode import SUFFIXES, display_name, images_in
from tagtopics.corpus.images.parallel import Fault
from tagtopics.corpus.images.tagfiles import ImageTags, Wanted, image_tags
from tagtopics.corpus.images.vocabulary import VisualVocabulary
from tagtopics.corpus.tags import TagLists
from tagtopics.errors import InputError


def read_images(path: Path, wanted: Wanted, visual: VisualVocabulary | None, terms: Terms) -> Reading:
    """Read a folder of images, or a single image.

    Args:
        path: the folder or the image.
        wanted: where the tags are; see `image_tags`.
        visual: the vocabulary; one that is not fitted yet learns its codebooks here; None for the paper's.
        terms: known words and tags.

    Returns:
        the corpus, which keeps the vocabulary, and what deserves a warning. Images that cannot be read are
        left out, each with a notice that names it, or refused if the vocabulary says `on_error="raise"`.
    """
    paths = sorted(images_in(path)) if path.is_dir() else [path]
    if not paths:
        raise InputError(f"{path}: no images in the folder; they end in {', '.join(sorted(SUFFIXES))}")
    root = path if path.is_dir() else path.parent
    names = [display_name(image.relative_to(root).as_posix()) for image in paths]
    known = image_tags(root, names, wanted) if path.is_dir() or wanted.tags is not None else ImageTags()
    visual = VisualVocabulary() if visual is None else visual
    counts, faults = (visual if hasattr(visual, "codebooks_") else visual.fit(paths)).count(paths)
    bad = {fault.row for fault in faults}
    if len(bad) == len(paths):
        raise InputError(f"{path}: no image can be read; the first: {faults[0].reason}")
    kept = [row for row in range(len(paths)) if row not in bad]
    counted = Counted(
        source=str(path),
        counts=counts[kept],
        vocabulary=visual.vocabulary_,
        tags=_tags(known.tags, kept),
        ids=[names[row] for row in kept],
        labels=_pick(known.labels, kept),
        split=_pick(known.split, kept),
    )
    reading = from_counts(counted, terms)
    return _told(reading, visual, known.odd, faults)


def build_corel_from_pixels(folder: str | Path, visual: VisualVocabulary | None = None) -> Corpus:
    """Build the paper's C5K from its photographs: new codebooks, new counts, the folder's tags and split.

    Codebooks are learnt from the training photographs alone.

    Args:
        folder: a matrix folder whose `images/ID.jpeg` are the photographs that `ids.txt` names.
        visual: the vocabulary; None for the paper's.
    """
    from tagtopics.corpus.read import read_corpus

    folder = Path(folder)
    corpus = read_corpus(folder)
    if not (folder / "images").is_dir():
        raise InputError(f"{folder}: no images/; the counts can be had without, the pixels cannot")
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


def _told(reading: Reading, visual: VisualVocabulary, odd: list[str], faults: Sequence[Fault]) -> Reading:
    """Add to a reading what happened to images: all of it to the notices, the gist to the warnings."""
    lines = [f"image skipped: {fault.reason}" for fault in faults]
    gist = list(lines[:3]) if len(lines) <= 3 else [*lines[:3], f"{len(lines) - 3:,} more images skipped"]
    notices = (*lines, *odd, *reading.corpus.notices)
    corpus = replace(reading.corpus, notices=notices, visual=visual)
    return Reading(corpus, (*gist, *odd, *reading.odd))


def _tags(tags: TagLists | None, kept: list[int]) -> TagLists | None:
    return None if tags is None else TagLists([tags.lists[row] for row in kept], tags.n_repeated)


def _pick(values: Sequence[Any] | None, kept: list[int]) -> list[Any] | None:
    return None if values is None else [values[row] for row in kept]
