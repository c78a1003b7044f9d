"""Small fitted things that several tests of images share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import tagtopics as tt
from tagtopics.datasets.scenes import Scene, make_scene_corpus, make_scenes
from tagtopics.images.decode import Uint8


@lru_cache(maxsize=1)
def small_vocabulary() -> tt.VisualVocabulary:
    """Codebooks of 16 and 16 words, of eight scenes."""
    settings = tt.VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=4000)
    return settings.fit([scene.pixels for scene in some_scenes(8)])


@lru_cache(maxsize=2)
def some_scenes(n: int) -> tuple[Scene, ...]:
    return tuple(make_scenes(n, seed=3))


@lru_cache(maxsize=1)
def scene_model() -> tt.TTM:
    """A tag-topic model of 150 scenes."""
    corpus = make_scene_corpus(150, seed=0)
    return tt.TTM(n_topics=24, random_state=0).fit(corpus)


def photograph(width: int = 48, height: int = 32, seed: int = 0) -> Uint8:
    """A picture with structure and colour."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 3), np.cos(y / 4), np.sin((x + y) / 5)], axis=2)
    noisy = 128 + 80 * waves + rng.normal(0, 12, (height, width, 3))
    return np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)
