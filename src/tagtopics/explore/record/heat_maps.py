"""Heat maps of the tags of an image: the credit of its visual words by tile."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32
from tagtopics.errors import InputError
from tagtopics.files import atomic_file, check_target
from tagtopics.images.decode import Uint8, display_name
from tagtopics.images.vocabulary import TileMap

# Colours from no credit to full credit, dark to light, so that they are readable in grey, too.
_RAMP = np.array([[20, 11, 82], [135, 32, 107], [220, 72, 62], [251, 159, 28], [252, 253, 164]], dtype=float)
_MOST_COLUMNS = 48  # of a heat map in a page


@dataclass(frozen=True)
class TagMaps:
    """Heat maps of one image."""

    name: str  # of the image
    tags: tuple[str, ...]  # the T tags
    credit: Float32  # (T, rows, columns) share of each tile that each tag accounts for; 1 in all over tags
    tiles: TileMap  # the image and its grid of tiles

    def at_pixels(self) -> Float32:
        """Return (T, height, width): the credit at each pixel of the image at its working size."""
        from scipy.ndimage import map_coordinates

        height, width = self.tiles.pixels.shape[:2]
        centre = (self.tiles.window - 1) / 2
        grid = np.mgrid[:height, :width]
        places = (grid - centre) / self.tiles.step
        layers = [map_coordinates(layer, places, order=1, mode="nearest") for layer in self.credit]
        return np.stack(layers).astype(np.float32)

    def overlay(self, tag: str) -> Uint8:
        """Return (height, width, 3): the image in grey under the colours of one tag's credit.

        All tags of an image share one scale: the lightest colour is the highest credit of any tag.
        """
        if tag not in self.tags:
            raise InputError(f"no heat map of {tag!r}; there are {', '.join(self.tags)}")
        maps = self.at_pixels()
        heat = maps[self.tags.index(tag)] / max(float(maps.max()), 1e-6)
        grey = self.tiles.pixels.mean(2, keepdims=True)
        places = heat * (len(_RAMP) - 1)
        colours = np.stack([np.interp(places, range(len(_RAMP)), channel) for channel in _RAMP.T], axis=2)
        return np.asarray(np.rint(0.4 * grey + 0.6 * colours), dtype=np.uint8)

    def for_page(self) -> dict[str, Any]:
        """Return the image as JPEG and its heat maps, as `Picture` and `PhotographOut` have them."""
        from PIL import Image

        stride = -(-self.credit.shape[2] // _MOST_COLUMNS)
        heat = np.rint(255 * np.clip(self.credit[:, ::stride, ::stride], 0, 1)).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(self.tiles.pixels).save(file, "JPEG", quality=82)
        return {
            "jpeg": base64.b64encode(file.getvalue()).decode(),
            "rows": heat.shape[1],
            "columns": heat.shape[2],
            "heat": base64.b64encode(heat.tobytes()).decode(),
        }


def tag_maps(model: Any, image: Any, tags: Sequence[str], *, smoothing: float = 1.0) -> TagMaps:
    """Compute the heat maps of an image's tags.

    The credit of a tile is the mean credit of its words, p(tag | word, image) of `model.explain`,
    smoothed by a Gaussian over neighbouring tiles.

    Args:
        model: a tag-topic model that was fitted on images.
        image: a path, an array (height, width, 3) of uint8, or a Pillow image.
        tags: tags of the image that the model knows.
        smoothing: standard deviation of the Gaussian, in tiles; 0 for none.
    """
    from scipy.ndimage import gaussian_filter

    visual = visual_of(model)
    names = tuple(dict.fromkeys(tags))
    if not names:
        raise InputError("tag_maps: name at least one tag")
    if not smoothing >= 0:
        raise InputError(f"tag_maps: smoothing must be 0 or more tiles, not {smoothing}")
    for tag in names:
        model.tag_profile(tag, n_words=1)  # raises for an unknown tag, with similar names
    tiles = visual.tile_map(image)
    credit = _credit_of_words(model, tiles, names)[:, tiles.words].mean(1)
    if smoothing:
        credit = np.stack([gaussian_filter(layer, smoothing, mode="nearest") for layer in credit])
    return TagMaps(display_name(image), names, np.asarray(credit, dtype=np.float32), tiles)


def recommended_tags(model: Any, image: Any, top: int = 5) -> list[str]:
    """Return the recommended tags of an image, down to the recommender's threshold, at least one."""
    found = model.recommend(counts_of(visual_of(model), image), top=top)[0]
    recommender = model.recommender_
    threshold = dict(zip(recommender.tag_names, recommender.calibration.threshold, strict=True))
    return [one.tag for rank, one in enumerate(found) if rank == 0 or one.probability >= threshold[one.tag]]


def counts_of(visual: Any, image: Any) -> Any:
    """Return the visual words of one image, (1, W)."""
    counts, faults = visual.count([image])
    if faults:
        raise InputError(faults[0].reason)
    return counts


def write_maps(maps: TagMaps, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write one overlay PNG per tag, and all credits to `NAME.npz` (`tags`, `credit`, `pixels`).

    Args:
        maps: of one image.
        folder: where to write; created if it does not exist.
        overwrite: replace existing files; without, one is an `InputError`, and nothing is written.

    Returns:
        the files; the last one is that of the arrays.
    """
    from PIL import Image

    stem, slugs = _slug(Path(maps.name).stem), [_slug(tag) for tag in maps.tags]
    names = [slug if slugs.count(slug) == 1 else f"{slug}-{i + 1}" for i, slug in enumerate(slugs)]
    files = [*(f"{stem}-{name}.png" for name in names), f"{stem}.npz"]
    paths = [check_target(Path(folder, file), "file", None, overwrite=overwrite) for file in files]
    for tag, path in zip(maps.tags, paths[:-1], strict=True):
        with atomic_file(path) as temporary:
            Image.fromarray(maps.overlay(tag)).save(temporary, optimize=True)
    arrays = {"tags": np.array(maps.tags, dtype=str), "credit": maps.credit, "pixels": maps.tiles.pixels}
    with atomic_file(paths[-1]) as temporary:
        np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]
    return paths


def visual_of(model: Any) -> Any:
    """Return the visual vocabulary of a model of images; raise `InputError` for other models."""
    visual = getattr(model, "visual_", None)
    if visual is None:
        raise InputError("this model was not fitted on images; fit it on a folder of images first")
    if not hasattr(model, "explain"):
        raise InputError(f"{type(model).__name__} has no credits; heat maps need a tag-topic model (TTM)")
    return visual


def _credit_of_words(model: Any, tiles: TileMap, tags: tuple[str, ...]) -> Float32:
    """Return (T, W): p(tag | word, image); equal shares for words that the image does not have."""
    W = len(model.vocabulary_)
    counts = np.bincount(tiles.words.ravel(), minlength=W)
    table = model.explain(sp.csr_array(counts[np.newaxis]), [list(tags)])
    credit = np.full((len(tags), W), 1 / len(tags), dtype=np.float32)
    column = {word: w for w, word in enumerate(model.vocabulary_)}
    credit[[tags.index(tag) for tag in table.tag], [column[word] for word in table.word]] = table.credit
    return credit


def _slug(name: str) -> str:
    """Return a file name that is safe on any system: at most 60 letters, digits, dots and dashes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60] or "image"
