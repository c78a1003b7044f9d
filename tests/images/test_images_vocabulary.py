"""Visual words: the paper's numbers, the features' equations, seeds, options, plug-ins, saving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from images_support import photograph, scene_corpus, scene_model, small_vocabulary, some_scenes
from PIL import Image
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import tagtopics as tt
from tagtopics.images.decode import Uint8
from tagtopics.images.descriptors import DARKEST, cpam
from tagtopics.images.vocabulary import nearest


@pytest.mark.parametrize("size", [(192, 128), (128, 192)])
def test_a_photograph_has_the_papers_number_of_words(size: tuple[int, int]) -> None:
    counts = small_vocabulary().transform([photograph(*size)])
    assert counts.sum() == 11_970
    assert counts.dtype == np.int32


def test_the_papers_vocabulary_has_128_words() -> None:
    visual = tt.VisualVocabulary(n_sample_tiles=3000)
    counts = visual.fit_transform([scene.pixels for scene in some_scenes(8)])
    assert counts.shape == (8, 128)
    assert list(visual.get_feature_names_out()[[0, 63, 64, 127]]) == [
        "achromatic00", "achromatic63", "chromatic00", "chromatic63",
    ]  # fmt: skip
    assert [book.shape for book in visual.codebooks_] == [(64, 16), (64, 8)]


def slow_cpam(pixels: Uint8, window: int, step: int) -> list[list[Any]]:
    """The features tile by tile, as the definition reads."""
    ycc = np.asarray(Image.fromarray(pixels).convert("YCbCr"), dtype=np.float64)
    half, patterns, colours = window // 2, [], []
    for top in range(0, pixels.shape[0] - window + 1, step):
        for left in range(0, pixels.shape[1] - window + 1, step):
            tile = ycc[top : top + window, left : left + window]
            mean = max(tile[:, :, 0].mean(), DARKEST)
            patterns.append(tile[:, :, 0].ravel() / mean)
            quarters = [
                tile[y : y + half, x : x + half, plane].mean() - 128
                for plane in (1, 2) for y in (0, half) for x in (0, half)
            ]  # fmt: skip
            colours.append(np.array(quarters) / mean)
    return [patterns, colours]


@pytest.mark.parametrize(("window", "step"), [(4, 2), (4, 1), (6, 5), (2, 3), (8, 4)])
def test_features_follow_their_definition(window: int, step: int) -> None:
    pixels = photograph(23, 17)
    pixels[:8] //= 40  # a part so dark that the floor of the luminance counts
    described = cpam(pixels, window, step)
    assert described.grid == (1 + (17 - window) // step, 1 + (23 - window) // step)
    for block, slow in zip(described.blocks, slow_cpam(pixels, window, step), strict=True):
        np.testing.assert_allclose(block, slow, rtol=1e-4, atol=1e-5)


def test_words_do_not_depend_on_the_light() -> None:
    bright = np.clip(photograph(192, 128), 100, 240)
    dim = (bright // 2).astype(np.uint8)
    visual = small_vocabulary()
    same = visual.tile_map(bright).words == visual.tile_map(dim).words
    assert same.mean() > 0.8


def test_the_nearest_entry_is_nearest() -> None:
    rng = np.random.default_rng(0)
    tiles, codebook = rng.random((50, 5), dtype=np.float32), rng.random((7, 5), dtype=np.float32)
    apart = ((tiles[:, np.newaxis] - codebook) ** 2).sum(2)
    assert np.array_equal(nearest(tiles, codebook), apart.argmin(1))


def test_the_tile_map_agrees_with_the_counts() -> None:
    visual, image = small_vocabulary(), photograph(100, 140)
    tiles = visual.tile_map(image)
    counts = visual.transform([image]).toarray()[0]
    assert np.array_equal(np.bincount(tiles.words.ravel(), minlength=len(counts)), counts)
    rows, columns = tiles.words.shape[1:]
    height, width = tiles.pixels.shape[:2]
    assert (rows, columns) == (1 + (height - 4) // 2, 1 + (width - 4) // 2)


def test_equal_seeds_give_equal_bits_at_any_number_of_threads() -> None:
    images = [scene.pixels for scene in some_scenes(8)]
    one, two = (
        tt.VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=4000, n_jobs=n).fit(images)
        for n in (1, 3)
    )
    assert one.same_words(two)
    assert (one.transform(images) != two.transform(images)).nnz == 0
    other = tt.VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=4000, random_state=1).fit(images)
    assert not one.same_words(other)


def test_flat_images_have_small_codebooks() -> None:
    visual = tt.VisualVocabulary().fit([np.full((128, 192, 3), 90, np.uint8)])
    assert visual.vocabulary_ == ("achromatic0", "chromatic0")
    assert visual.transform([photograph()]).sum() > 0


def test_it_is_an_estimator() -> None:
    visual = tt.VisualVocabulary(window=8, step=4, codebook_sizes=(8, 8), n_sample_tiles=500)
    copy = clone(visual)
    assert copy.get_params() == visual.get_params()
    pipeline = make_pipeline(copy, tt.LDA(n_topics=3, max_iter=5, random_state=0))
    theta = pipeline.fit_transform([scene.pixels for scene in some_scenes(8)])
    assert theta.shape == (8, 3)
    np.testing.assert_allclose(theta.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 5}, "window must be a multiple of 2"),
        ({"window": 0}, "window must be"),
        ({"step": 0}, "step must be"),
        ({"codebook_sizes": (64,)}, "codebook_sizes: List should have at least 2 items"),
        ({"codebook_sizes": (0, 64)}, "codebook_sizes.0 must be greater than or equal to 1"),
        ({"working_pixels": 3}, "working_pixels must be"),
        ({"working_pixels": 10**8}, "working_pixels must be"),
        ({"max_pixels": 10**12}, "max_pixels must be"),
        ({"on_error": "ignore"}, "'skip' or 'raise'"),
        ({"n_jobs": -2}, "n_jobs must be"),
        ({"random_state": None}, "random_state must be"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(tt.InputError, match=message):
        tt.VisualVocabulary(**settings).fit([photograph()])


@pytest.mark.parametrize("images", ["photo.jpg", Path("photo.jpg"), [], 17, photograph()])
def test_images_come_in_lists(images: Any) -> None:
    with pytest.raises(tt.InputError, match="images: "):
        small_vocabulary().transform(images)


def test_the_vocabulary_is_saved_with_the_model(tmp_path: Path) -> None:
    model = scene_model()
    model.save(tmp_path / "m.tt")
    loaded = tt.load(tmp_path / "m.tt")
    assert loaded.visual_.same_words(model.visual_)
    images = [scene.pixels for scene in some_scenes(8)[:2]]
    assert (loaded.visual_.transform(images) != model.visual_.transform(images)).nnz == 0


def test_a_model_of_counts_has_no_vocabulary(tmp_path: Path) -> None:
    model = tt.LDA(n_topics=2, max_iter=2, random_state=0).fit(np.eye(4, dtype=int) + 1)
    model.save(tmp_path / "m.tt")
    assert tt.load(tmp_path / "m.tt").visual_ is None


@pytest.mark.parametrize("damage", ["drop", "shape", "nan", "descriptor", "window", "extra", "list"])
def test_a_damaged_vocabulary_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "m.tt"
    scene_model().save(path)
    arrays = load_file(path / "arrays.safetensors")
    description = json.loads((path / "model.json").read_text())
    if damage == "drop":
        del arrays["visual.1"]
    elif damage == "shape":
        arrays["visual.0"] = arrays["visual.0"][:, :5].copy()
    elif damage == "nan":
        arrays["visual.0"][0, 0] = np.nan
    elif damage == "list":
        description["visual"] = ["cpam"]
    else:
        description["visual"][damage] = {"descriptor": "os.system", "window": -4, "extra": 1}[damage]
    save_file(arrays, path / "arrays.safetensors")
    (path / "model.json").write_text(json.dumps(description))
    with pytest.raises(tt.InputError, match=r"m\.tt"):
        tt.load(path)


def test_images_of_other_codebooks_are_refused() -> None:
    with pytest.raises(tt.InputError, match=r"visual=model\.visual_"):
        scene_model().transform(scene_corpus(3, seed=1))
