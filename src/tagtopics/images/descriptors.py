"""From pixels to features of tiles, in two blocks, each with a codebook.

CPAM is the coloured pattern appearance model of Qiu (2002), which the paper uses: the luminance pattern of a
tile and its colour are two vectors, both divided by the mean luminance, so that lighting has no effect.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32
from tagtopics.images.decode import Uint8

BLOCKS = ("achromatic", "chromatic")
DARKEST = 8.0  # the least mean luminance (of 255) to divide by; darker tiles contain only noise


class Described(NamedTuple):
    """The features of the tiles of one image, row by row."""

    grid: tuple[int, int]  # rows, columns
    blocks: tuple[Float32, ...]  # each (rows * columns, dimensions)


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


def planes_of(pixels: Uint8) -> tuple[Float32, Float32, Float32]:
    """Return luminance (0..255) and two colour differences (-128..127) of RGB pixels, as in JPEG."""
    from PIL import Image

    ycc = np.asarray(Image.fromarray(pixels).convert("YCbCr"), dtype=np.float32)
    return ycc[:, :, 0], ycc[:, :, 1] - 128, ycc[:, :, 2] - 128


def windows(plane: Float32, window: int, step: int) -> Float32:
    """Return (rows, columns, window^2): the pixels of each tile."""
    tiles = np.lib.stride_tricks.sliding_window_view(plane, (window, window))[::step, ::step]
    return tiles.reshape(*tiles.shape[:2], window * window)


def _box_means(plane: Float32, side: int) -> Float32:
    """Return the mean of each square of side x side pixels within the image."""
    across: Any = sum(plane[:, dx : plane.shape[1] - side + 1 + dx] for dx in range(side))
    total: Any = sum(across[dy : plane.shape[0] - side + 1 + dy] for dy in range(side))
    return np.asarray(total * np.float32(1.0 / side**2), dtype=np.float32)
