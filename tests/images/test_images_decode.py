"""Images of every kind become upright RGB at the working size."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from images_support import photograph
from PIL import Image

from tagtopics.errors import InputError
from tagtopics.images.decode import Sizing, read_image, working_size

AS_IS = Sizing(working_pixels=None)


def rgb(seed: int = 0) -> Any:
    return Image.fromarray(photograph(seed=seed))


def sixteen_bits() -> Any:
    return Image.fromarray((photograph()[:, :, 0].astype(np.uint16)) * 257)


def transparent() -> Any:
    image = rgb().convert("RGBA")
    image.putalpha(0)
    return image


KINDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "greyscale": ("PNG", lambda: rgb().convert("L")),
    "one bit": ("PNG", lambda: rgb().convert("1")),
    "palette": ("PNG", lambda: rgb().quantize(256)),
    "grey and alpha": ("PNG", lambda: rgb().convert("LA")),
    "alpha": ("PNG", lambda: rgb().convert("RGBA")),
    "sixteen bits": ("PNG", sixteen_bits),
    "float": ("TIFF", lambda: Image.fromarray(photograph()[:, :, 0].astype(np.float32) / 255)),
    "whole numbers": ("TIFF", lambda: Image.fromarray(photograph()[:, :, 0].astype(np.int32))),
    "CMYK": ("JPEG", lambda: rgb().convert("CMYK")),
    "CMYK TIFF": ("TIFF", lambda: rgb().convert("CMYK")),
    "YCbCr": ("JPEG", lambda: rgb().convert("YCbCr")),
    "WebP": ("WEBP", rgb),
    "BMP": ("BMP", rgb),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_image_is_read(tmp_path: Path, kind: str) -> None:
    format, make = KINDS[kind]
    make().save(tmp_path / "wrong.jpg", format)  # the content counts, not the name
    pixels = read_image(tmp_path / "wrong.jpg", AS_IS)
    assert pixels.shape == (32, 48, 3)
    assert pixels.dtype == np.uint8
    grey, expected = pixels.mean(2), photograph().mean(2)
    if kind in ("greyscale", "sixteen bits", "float", "whole numbers", "grey and alpha"):
        assert (pixels[:, :, 0] == pixels[:, :, 1]).all()
    if kind in ("alpha", "CMYK", "CMYK TIFF", "YCbCr", "WebP", "BMP", "palette"):
        assert np.corrcoef(grey.ravel(), expected.ravel())[0, 1] > 0.9


def test_sixteen_bits_and_floats_keep_their_scale(tmp_path: Path) -> None:
    for name, image in (("a.png", sixteen_bits()), ("b.tiff", KINDS["float"][1]())):
        image.save(tmp_path / name)
        pixels = read_image(tmp_path / name, AS_IS)
        assert np.array_equal(pixels[:, :, 0], photograph()[:, :, 0])


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    transparent().save(tmp_path / "a.png")
    assert (read_image(tmp_path / "a.png", AS_IS) == 255).all()


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG", "TIFF"])
def test_the_first_frame_of_many_counts(tmp_path: Path, format: str) -> None:
    black, white = Image.new("RGB", (40, 30)), Image.new("RGB", (40, 30), "white")
    black.save(tmp_path / "a", format, save_all=True, append_images=[white, white])
    assert read_image(tmp_path / "a", AS_IS).max() < 8


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone(tmp_path: Path, orientation: int) -> None:
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # the transposition that stores the image so
    stored = rgb() if orientation == 1 else rgb().transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "a.png", exif=exif)
    assert np.array_equal(read_image(tmp_path / "a.png", AS_IS), photograph())


def test_the_papers_sizes_are_left_alone() -> None:
    for shape in ((128, 192), (192, 128)):
        pixels = photograph(*reversed(shape))
        assert np.array_equal(read_image(pixels, Sizing()), pixels)


@given(st.integers(4, 20_000), st.integers(4, 20_000), st.integers(64, 10**6))
def test_the_working_size_keeps_area_and_proportions(width: int, height: int, area: int) -> None:
    wide, high = working_size((width, height), Sizing(working_pixels=area))
    assert min(wide, high) >= 4
    assert wide * high <= 1.3 * area + 4 * (wide + high)
    if min(wide, high) > 40:
        assert wide * high == pytest.approx(area, rel=0.05)
        assert wide / high == pytest.approx(width / height, rel=0.05)


def test_a_large_jpeg_is_close_to_its_small_self() -> None:
    large = Image.fromarray(photograph(192, 128)).resize((1920, 1280), Image.Resampling.BICUBIC)
    file = io.BytesIO()
    large.save(file, "JPEG", quality=95)
    small = read_image(Image.open(file), Sizing())
    assert small.shape == (128, 192, 3)
    assert np.abs(small.astype(int) - photograph(192, 128)).mean() < 6


@pytest.mark.parametrize(
    "bad",
    [np.zeros((9, 9), np.float32), np.zeros((9, 9, 2), np.uint8), np.zeros(9, np.uint8),
     np.zeros((0, 9, 3), np.uint8), 17, None, {"a": 1}],
)  # fmt: skip
def test_what_is_no_image_is_an_input_error(bad: Any) -> None:
    with pytest.raises(InputError, match="image"):
        read_image(bad, AS_IS)
