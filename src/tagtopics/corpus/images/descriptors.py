"""From pixels to features of tiles. A descriptor is a function in a table; its blocks have a codebook each.

CPAM is the coloured pattern appearance model of Qiu (2002), the paper's: the pattern of a tile's luminance
and its colour are two vectors, both over the tile's mean luminance, and so independent of the light.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32
from tagtopics.corpus.images.decode import Uint8

DARKEST = 8.0
"""Mean luminance (of 255) below which a tile counts as so bright; darker ones hold noise alone."""


class Described(NamedTuple):
    """The tiles of one image, row by row."""

    grid: tuple[int, int]  # rows, columns
    blocks: tuple[Float32, ...]  # each (rows * columns, dimensions)


class Descriptor(NamedTuple):
    """One kind of visual words."""

    describe: Callable[[Uint8, int, int], Described]  # RGB pixels, window, step
    block_names: tuple[str, ...]
    codebook_sizes: tuple[int, ...]
    dimensions: Callable[[int], tuple[int, ...]]  # of each block, by window
    window: int
    step: int
    multiple: int = 1  # the window must be one of it


def cpam(pixels: Uint8, window: int, step: int) -> Described:
    """Return the achromatic (window^2) and the chromatic (2 x 4) vectors of all tiles of an RGB image."""
    luminance, blue, red = planes_of(pixels)
    pattern = windows(luminance, window, step)
    rows, columns = pattern.shape[:2]
    half = window // 2
    colour = np.empty((rows, columns, 8), dtype=np.float32)
    for i, plane in enumerate((blue, red)):
        means = _box_means(plane, half)
        for j, (dy, dx) in enumerate(((0, 0), (0, half), (half, 0), (half, half))):
            colour[:, :, 4 * i + j] = means[dy::step, dx::step][:rows, :columns]
    scale = 1.0 / np.maximum(pattern.mean(2, keepdims=True), np.float32(DARKEST))
    blocks = ((pattern * scale).reshape(rows * columns, -1), (colour * scale).reshape(rows * columns, -1))
    return Described((rows, columns), blocks)


DESCRIPTORS: dict[str, Descriptor] = {
    "cpam": Descriptor(
        describe=cpam,
        block_names=("achromatic", "chromatic"),
        codebook_sizes=(64, 64),
        dimensions=lambda window: (window * window, 8),
        window=4,
        step=2,
        multiple=2,
    ),
}
"""The descriptors by name. One of your own goes in here; a saved model looks its descriptor up by name."""


def planes_of(pixels: Uint8) -> tuple[Float32, Float32, Float32]:
    """Return luminance (0..255) and two colour differences (-128..127) of RGB pixels, as JPEG has them."""
    from PIL import Image

    ycc = np.asarray(Image.fromarray(pixels).convert("YCbCr"), dtype=np.float32)
    return ycc[:, :, 0], ycc[:, :, 1] - 128, ycc[:, :, 2] - 128


def windows(plane: Float32, window: int, step: int) -> Float32:
    """Return (rows, columns, window^2): the pixels of each tile."""
    rows, columns = (1 + (side - window) // step for side in plane.shape)
    tiles = np.empty((rows, columns, window * window), dtype=np.float32)
    for j in range(window * window):
        dy, dx = divmod(j, window)
        tiles[:, :, j] = plane[dy::step, dx::step][:rows, :columns]
    return tiles


def _box_means(plane: Float32, side: int) -> Float32:
    """Return the mean of the side x side pixels from each pixel on, where they all lie within the image."""
    across: Any = sum(plane[:, dx : plane.shape[1] - side + 1 + dx] for dx in range(side))
    total: Any = sum(across[dy : plane.shape[0] - side + 1 + dy] for dy in range(side))
    return np.asarray(total * np.float32(1.0 / side**2), dtype=np.float32)
