"""Photographs that are generated: landscapes of twelve materials, whose regions and tags are known.

    write_scenes("photos", make_scenes(60))        a folder of PNG files and tags.json

A scene has a backdrop, a ground, and a few objects in front, each with a mask and its own lighting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Uint8 = npt.NDArray[np.uint8]
Texture = Callable[[np.random.Generator, int, int], Float64]
"""A material: from a generator, height and width to colours (height, width, 3) in 0..1."""


@dataclass(frozen=True)
class Scene:
    """One generated photograph.

    Attributes:
        name: `scene-0007`.
        pixels: (height, width, 3) RGB.
        region: (height, width) the number of each pixel's material in `MATERIALS`.
    """

    name: str
    pixels: Uint8
    region: Uint8

    @property
    def tags(self) -> tuple[str, ...]:
        """The materials in the picture, in the order of `MATERIALS`."""
        return tuple(MATERIALS[i] for i in np.unique(self.region))

    def mask(self, tag: str) -> Bool:
        """Return the region of a tag, (height, width) of bool."""
        return np.asarray(self.region == MATERIALS.index(tag))


def make_scenes(n_scenes: int, *, size: tuple[int, int] = (192, 128), seed: int = 0) -> list[Scene]:
    """Generate scenes of a width and height; a scene does not depend on how many there are."""
    width, height = size
    return [_scene(f"scene-{i:04}", np.random.default_rng([seed, i]), height, width) for i in range(n_scenes)]


def write_scenes(folder: str | Path, scenes: list[Scene]) -> None:
    """Write scenes as a new folder of images for `read_corpus`: PNG files and `tags.json`."""
    from PIL import Image

    Path(folder).mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        Image.fromarray(scene.pixels).save(Path(folder, f"{scene.name}.png"))
    tags = {f"{scene.name}.png": list(scene.tags) for scene in scenes}
    Path(folder, "tags.json").write_text(json.dumps(tags, indent=1), encoding="utf-8")


# ------------------------------------------------------------------------------------------ composition


def _scene(name: str, rng: np.random.Generator, height: int, width: int) -> Scene:
    """Paint a sky, a ground below a wavy horizon, and up to two objects in front."""
    backdrop = rng.choice(["sky", "sunset", "night"], p=[0.6, 0.2, 0.2])
    grounds = rng.permutation(["water", "grass", "sand", "snow", "field"])
    rows = np.arange(height)[:, np.newaxis]
    horizon = _wavy_line(rng, width, rng.uniform(0.25, 0.5) * height, 0.04 * height)
    layers = [(backdrop, rows >= np.zeros(width)), (grounds[0], rows >= horizon)]
    if rng.random() < 0.4:
        shore = _wavy_line(rng, width, rng.uniform(0.65, 0.8) * height, 0.06 * height)
        layers.append((grounds[1], rows >= shore))
    fronts = rng.permutation(["brick", "foliage", "rock", "wood"])
    for material in fronts[: rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2])]:
        layers.append((material, _THINGS[material](rng, height, width)))
    region = _composed(layers)
    return Scene(name, _painted(rng, region), region)


def _composed(layers: list[tuple[str, Bool]]) -> Uint8:
    """Stack regions; a material on less than 4 % of the picture is left out."""
    region = np.zeros(layers[0][1].shape, dtype=np.uint8)
    for material, mask in layers:
        region[mask] = MATERIALS.index(material)
    shown = np.bincount(region.ravel(), minlength=len(MATERIALS)) / region.size
    kept = [layer for layer in layers if shown[MATERIALS.index(layer[0])] >= 0.04]
    return region if len(kept) == len(layers) else _composed(kept)


def _painted(rng: np.random.Generator, region: Uint8) -> Uint8:
    """Return the pixels: each region in its material, lit, with a little noise."""
    height, width = region.shape
    image = np.zeros((height, width, 3))
    light = rng.uniform(0.8, 1.1)
    for i in np.unique(region):
        inside = region == i
        colours = TEXTURES[MATERIALS[i]](rng, height, width) * rng.uniform(0.9, 1.1) * light
        image[inside] = colours[inside]
    image += rng.normal(0, 0.008, image.shape)
    return np.asarray(np.rint(255 * np.clip(image, 0, 1)), dtype=np.uint8)


def _wavy_line(rng: np.random.Generator, width: int, at: float, swing: float) -> Float64:
    x = np.arange(width) / width
    phase = rng.uniform(0, 2 * np.pi, 3)
    waves = sum(np.sin(2 * np.pi * (k + 1) * x + phase[k]) / (k + 1) for k in range(3))
    return np.asarray(at + swing * waves)


def _wall(rng: np.random.Generator, height: int, width: int) -> Bool:
    """Return a rectangle that stands on the ground."""
    w, h = rng.uniform(0.25, 0.45) * width, rng.uniform(0.4, 0.65) * height
    left, bottom = rng.uniform(0, width - w), rng.uniform(0.8, 1.0) * height
    y, x = np.mgrid[:height, :width]
    return np.asarray((x >= left) & (x < left + w) & (y >= bottom - h) & (y < bottom))


def _crown(rng: np.random.Generator, height: int, width: int) -> Bool:
    """Return an irregular shape: the crown of a tree, or a boulder."""
    y, x = np.mgrid[:height, :width]
    centre = rng.uniform(0.2, 0.8) * width, rng.uniform(0.4, 0.7) * height
    radius = rng.uniform(0.2, 0.32) * height
    angle = np.arctan2(y - centre[1], x - centre[0])
    ragged = radius * (1 + 0.12 * np.sin(5 * angle + rng.uniform(0, 6)) + 0.06 * np.sin(11 * angle))
    return np.asarray(np.hypot((x - centre[0]) / 1.25, y - centre[1]) < ragged)


_THINGS = {"brick": _wall, "wood": _wall, "foliage": _crown, "rock": _crown}

# -------------------------------------------------------------------------------------------- materials


def _clouds(rng: np.random.Generator, height: int, width: int, coarsest: int, gain: float = 0.5) -> Float64:
    """Return (height, width) fractal noise in 0..1: smooth random grids of `coarsest` pixels and finer."""
    total, scale, weight, cell = np.zeros((height, width)), 0.0, 1.0, coarsest
    while cell >= 1:
        total += weight * _smooth_grid(rng, height, width, cell, cell)
        scale += weight
        weight, cell = weight * gain, cell // 2
    return total / scale


def _smooth_grid(rng: np.random.Generator, height: int, width: int, tall: int, wide: int) -> Float64:
    """Return (height, width): random values on a grid of tall x wide pixels, smoothly interpolated."""
    grid = rng.random((height // tall + 2, width // wide + 2))
    y, x = np.arange(height) / tall, np.arange(width) / wide
    i, j = y.astype(int), x.astype(int)
    v, u = _ease(y - i)[:, np.newaxis], _ease(x - j)[np.newaxis]
    top = grid[np.ix_(i, j)] * (1 - u) + grid[np.ix_(i, j + 1)] * u
    low = grid[np.ix_(i + 1, j)] * (1 - u) + grid[np.ix_(i + 1, j + 1)] * u
    return np.asarray(top * (1 - v) + low * v)


def _ease(t: Float64) -> Float64:
    return t * t * (3 - 2 * t)


def _mix(a: tuple[float, float, float], b: tuple[float, float, float], share: Float64) -> Float64:
    share = np.clip(share, 0, 1)[..., np.newaxis]
    return np.asarray(np.array(a) * (1 - share) + np.array(b) * share)


def _fall(height: int, width: int) -> Float64:
    return np.broadcast_to(np.linspace(0, 1, height)[:, np.newaxis], (height, width))


def _sky(rng: np.random.Generator, height: int, width: int) -> Float64:
    blue = _mix((0.25, 0.48, 0.82), (0.6, 0.78, 0.93), 1.6 * _fall(height, width))
    cloud = np.clip(3.5 * _clouds(rng, height, width, 48) - rng.uniform(1.6, 2.3), 0, 1)[..., np.newaxis]
    return np.asarray(blue * (1 - cloud) + 0.95 * cloud)


def _sunset(rng: np.random.Generator, height: int, width: int) -> Float64:
    streaks = _smooth_grid(rng, height, width, 6, 60)
    return _mix((0.55, 0.22, 0.35), (0.98, 0.62, 0.22), 1.7 * _fall(height, width) + 0.35 * (streaks - 0.5))


def _night(rng: np.random.Generator, height: int, width: int) -> Float64:
    dark = _mix((0.03, 0.04, 0.12), (0.1, 0.1, 0.25), _fall(height, width))
    stars = (rng.random((height, width)) < 0.006) * rng.uniform(0.3, 0.9, (height, width))
    return np.asarray(dark + stars[..., np.newaxis])


def _water(rng: np.random.Generator, height: int, width: int) -> Float64:
    ripples = 0.6 * _smooth_grid(rng, height, width, 3, 18) + 0.4 * _smooth_grid(rng, height, width, 2, 7)
    return _mix((0.04, 0.2, 0.3), (0.4, 0.66, 0.7), 2.2 * ripples - 0.6)


def _grass(rng: np.random.Generator, height: int, width: int) -> Float64:
    blades = 0.7 * _smooth_grid(rng, height, width, 7, 2) + 0.3 * _clouds(rng, height, width, 16)
    return _mix((0.1, 0.3, 0.04), (0.5, 0.72, 0.2), 2.0 * blades - 0.5)


def _sand(rng: np.random.Generator, height: int, width: int) -> Float64:
    grains = 0.5 * _clouds(rng, height, width, 32) + 0.5 * rng.random((height, width))
    return _mix((0.72, 0.6, 0.42), (0.93, 0.84, 0.66), grains)


def _snow(rng: np.random.Generator, height: int, width: int) -> Float64:
    return _mix((0.74, 0.8, 0.9), (0.98, 0.98, 1.0), 1.6 * _clouds(rng, height, width, 40, 0.4) - 0.2)


def _field(rng: np.random.Generator, height: int, width: int) -> Float64:
    """Return a ploughed field: dark furrows."""
    y, x = np.mgrid[:height, :width]
    bend = 6 * _smooth_grid(rng, height, width, 40, 60)
    furrows = 0.5 + 0.5 * np.sin(2 * np.pi * (x * rng.uniform(-0.3, 0.3) + y + bend) / 7)
    soil = 0.75 * furrows + 0.4 * _clouds(rng, height, width, 8) - 0.1
    return _mix((0.24, 0.13, 0.07), (0.52, 0.34, 0.2), soil)


def _brick(rng: np.random.Generator, height: int, width: int) -> Float64:
    y, x = np.mgrid[:height, :width]
    course = y // 8
    column = (x + 8 * (course % 2)) // 16
    mortar = (y % 8 < 2) | ((x + 8 * (course % 2)) % 16 < 2)
    tone = rng.random((course.max() + 1, column.max() + 1))[course, column]
    stone = _mix((0.5, 0.16, 0.1), (0.74, 0.34, 0.24), 0.7 * tone + 0.3 * rng.random((height, width)))
    return np.where(mortar[..., np.newaxis], np.array([0.78, 0.74, 0.7]), stone)


def _foliage(rng: np.random.Generator, height: int, width: int) -> Float64:
    leaves = 0.5 * _smooth_grid(rng, height, width, 4, 4) + 0.5 * _smooth_grid(rng, height, width, 2, 2)
    return _mix((0.01, 0.08, 0.03), (0.22, 0.5, 0.16), 2.6 * leaves - 0.8)


def _rock(rng: np.random.Generator, height: int, width: int) -> Float64:
    return _mix((0.22, 0.22, 0.23), (0.68, 0.66, 0.63), 2.4 * _clouds(rng, height, width, 24, 0.7) - 0.7)


def _wood(rng: np.random.Generator, height: int, width: int) -> Float64:
    """Return planks with a grain."""
    x = np.mgrid[:height, :width][1]
    plank = x // 14
    grain = 0.6 * _smooth_grid(rng, height, width, 30, 2) + 0.4 * rng.random(plank.max() + 1)[plank]
    boards = _mix((0.36, 0.22, 0.1), (0.72, 0.52, 0.3), grain)
    return np.where((x % 14 < 1)[..., np.newaxis], np.array([0.16, 0.09, 0.04]), boards)


TEXTURES: Mapping[str, Texture] = {
    "sky": _sky, "sunset": _sunset, "night": _night, "water": _water, "grass": _grass, "sand": _sand,
    "snow": _snow, "field": _field, "brick": _brick, "foliage": _foliage, "rock": _rock, "wood": _wood,
}  # fmt: skip
"""The materials by name."""

MATERIALS: tuple[str, ...] = tuple(TEXTURES)
"""The possible tags of scenes, in the order of `Scene.region`."""
