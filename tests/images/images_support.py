"""Small fitted things that several tests of images share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scenes import MATERIALS, Scene, make_scenes

import tagtopics as tt
from tagtopics.corpus.core import canonical_counts, tag_matrix
from tagtopics.images.decode import Uint8


@lru_cache(maxsize=1)
def small_vocabulary() -> tt.VisualVocabulary:
    """Codebooks of 16 and 16 words, of eight scenes."""
    settings = tt.VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=4000)
    return settings.fit([scene.pixels for scene in some_scenes(8)])


@lru_cache(maxsize=2)
def some_scenes(n: int) -> tuple[Scene, ...]:
    return tuple(make_scenes(n, seed=3))


def scene_corpus(n: int, *, seed: int) -> tt.Corpus:
    """Scenes as visual words, with the vocabulary that they teach."""
    scenes = make_scenes(n, seed=seed)
    visual = tt.VisualVocabulary(random_state=seed)
    names = tuple(sorted(MATERIALS))
    return tt.Corpus(
        counts=canonical_counts(visual.fit_transform([scene.pixels for scene in scenes])),
        tags=tag_matrix([scene.tags for scene in scenes], names),
        vocabulary=visual.vocabulary_,
        tag_names=names,
        ids=tuple(scene.name for scene in scenes),
        visual=visual,
    )


@lru_cache(maxsize=1)
def scene_model() -> tt.TTM:
    """A tag-topic model of 150 scenes."""
    corpus = scene_corpus(150, seed=0)
    return tt.TTM(n_topics=24, random_state=0).fit(corpus)


def photograph(width: int = 48, height: int = 32, seed: int = 0) -> Uint8:
    """A picture with structure and colour."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 3), np.cos(y / 4), np.sin((x + y) / 5)], axis=2)
    noisy = 128 + 80 * waves + rng.normal(0, 12, (height, width, 3))
    return np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)
