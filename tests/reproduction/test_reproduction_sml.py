"""Gaussian mixtures and the baseline that is made of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scenes import make_scenes
from scipy.special import logsumexp
from scipy.stats import norm

import tagtopics as tt
from reproduction.systems.sml import SML, Mixture, fit_mixture, log_densities, log_likelihood, merge_mixtures


def three_clouds(seed: int, n: int = 900) -> Any:
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [8, 0], [0, 8]], dtype=np.float32)
    return (centres[rng.integers(0, 3, n)] + rng.normal(0, 0.5, (n, 2))).astype(np.float32)


PIXELS = make_scenes(1, size=(48, 32))[0].pixels
FLOOR = np.full(2, 1e-3, dtype=np.float32)


def test_densities_follow_their_definition() -> None:
    rng = np.random.default_rng(0)
    weights = np.array([0.2, 0.8], np.float32)
    means, variances = (
        rng.normal(size=(2, 3)).astype(np.float32),
        rng.uniform(0.5, 2, (2, 3)).astype(np.float32),
    )
    x = rng.normal(size=(6, 3)).astype(np.float32)
    apart = norm.logpdf(x[:, np.newaxis], means, np.sqrt(variances)).sum(2)
    logs = np.log(weights) + apart
    mixture = Mixture(weights, means, variances)
    np.testing.assert_allclose(log_densities(mixture, x), logs, rtol=1e-4, atol=1e-5)
    assert log_likelihood(mixture, x) == pytest.approx(logsumexp(logs, axis=1).mean(), rel=1e-4)


def test_em_never_lowers_the_likelihood() -> None:
    x = three_clouds(0)
    scores = [
        log_likelihood(fit_mixture(x, 3, FLOOR, np.random.default_rng(1), n), x) for n in (0, 1, 2, 5, 20)
    ]
    assert all(later >= earlier - 1e-4 for earlier, later in itertools.pairwise(scores))


def test_merged_mixtures_come_near_the_mixture_of_all_samples() -> None:
    parts = [three_clouds(seed) for seed in range(6)]
    own = [fit_mixture(x, 6, FLOOR, np.random.default_rng(i), 30) for i, x in enumerate(parts)]
    merged = merge_mixtures(own, 6, FLOOR, np.random.default_rng(0), 30)
    together = fit_mixture(np.concatenate(parts), 6, FLOOR, np.random.default_rng(0), 60)
    fresh = three_clouds(99)
    assert merged.weights.sum() == pytest.approx(1, rel=1e-4)
    assert log_likelihood(merged, fresh) == pytest.approx(log_likelihood(together, fresh), abs=0.4)


def test_a_mixture_has_no_more_gaussians_than_samples() -> None:
    x = three_clouds(0, n=3)
    assert len(fit_mixture(x, 8, FLOOR, np.random.default_rng(0), 3).weights) == 3


def test_sml_knows_the_materials_of_new_scenes() -> None:
    learn, new = make_scenes(60, seed=0), make_scenes(15, seed=77)
    settings = SML(4, 16, step=8, max_iter=8, random_state=0)
    model = settings.fit([scene.pixels for scene in learn], [list(scene.tags) for scene in learn])
    answers = model.recommend([scene.pixels for scene in new], top=3)
    hits = [tag in scene.tags for scene, answer in zip(new, answers, strict=True) for tag, _ in answer]
    chance = np.mean([len(scene.tags) for scene in new]) / 12
    assert np.mean(hits) > 2 * chance


def test_equal_seeds_give_equal_scores_at_any_number_of_threads() -> None:
    scenes = make_scenes(6, seed=0)
    images, tags = [scene.pixels for scene in scenes], [list(scene.tags) for scene in scenes]
    one, three = (SML(2, 4, step=8, max_iter=3, n_jobs=n).fit(images, tags).scores(images) for n in (1, 3))
    assert np.array_equal(one, three)


def test_a_tag_of_no_image_is_never_recommended() -> None:
    indicator = np.array([[1, 0], [1, 0]])
    model = SML(2, 2, max_iter=2).fit([PIXELS, PIXELS[::-1]], indicator)
    assert model.scores([PIXELS[:, ::-1]])[0, 1] == -np.inf


def test_sml_says_what_is_wrong() -> None:
    with pytest.raises(tt.InputError, match="n_frequencies"):
        SML(n_frequencies=65).fit([PIXELS], [["a"]])
    with pytest.raises(tt.InputError, match="step must be"):
        SML(step=0).fit([PIXELS], [["a"]])
    with pytest.raises(tt.InputError, match=r"no such image: gone\.jpg"):
        SML().fit(["gone.jpg"], [["a"]])
