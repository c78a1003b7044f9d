"""Decoding images: the size in the header is checked before any pixel; many images use several threads."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tagtopics._blas import single_thread
from tagtopics.errors import InputError, MissingExtraError, one_line
from tagtopics.jit.threads import current_threads, thread_limit

Uint8: TypeAlias = npt.NDArray[np.uint8]

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP")  # Pillow's other readers (PDF, ...) are never used
SUFFIXES = frozenset({".jpg", ".jpeg", ".jpe", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp"})
MAX_PIXELS = 89_478_485  # the largest image by default, Pillow's limit: a quarter of a gigabyte of RGB
WORKING_PIXELS = 192 * 128  # the paper's photographs: 95 x 63 tiles of 4 x 4 pixels in steps of two
MOST_WORKING_PIXELS = 2**22  # the largest working size; tiles and their features take about 300 MB then


class Sizing(NamedTuple):
    """The working size and the size limits of images."""

    working_pixels: int | None = WORKING_PIXELS  # area to scale to, None for no scaling
    smallest_side: int = 4  # of the window; smaller images have no tile
    max_pixels: int = MAX_PIXELS


def read_image(source: Any, sizing: Sizing) -> Uint8:
    """Return an image as RGB (height, width, 3) of uint8, upright and at its working size.

    Only the first frame is used, transparency is rendered on white, sixteen bits are reduced to eight.

    Args:
        source: a path, the bytes of a file, a Pillow image, or an array (height, width) or
            (height, width, 3 or 4) of uint8.
        sizing: the working size and the limits.

    Raises:
        InputError: names the image and says what is wrong with it.
    """
    pillow = _pillow()
    name = display_name(source)
    try:
        with _open(pillow, source, sizing, name) as image:
            return _pixels(pillow, image, sizing)
    except InputError:
        raise
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise InputError(f"{name}: {_too_large(sizing)}") from None
    except FileNotFoundError:
        raise InputError(f"no such image: {name}") from None
    except Exception as error:  # decoders raise all kinds of errors on damaged files
        reason = one_line(error).encode("utf-8", "backslashreplace").decode()[:160]
        if type(error).__name__ == "UnidentifiedImageError" or not reason:
            reason = f"not an image in a known format: {', '.join(FORMATS)}"
        raise InputError(f"{name}: cannot be read as an image ({reason})") from None


@contextmanager
def quiet_decoders() -> Iterator[None]:
    """Silence the warnings of Pillow about unusual files; real problems become an `InputError`.

    Warning filters are global, so enter this once around a pool of threads, not within them.
    """
    pillow = _pillow()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        yield


def is_image(path: Path) -> bool:
    """Tell from the name whether a file is an image; hidden files are not."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def images_in(folder: Path) -> Iterator[Path]:
    """Yield the images in a folder and its sub-folders, except hidden ones."""
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(where) / name for name in files if is_image(Path(name)))


def holds_images(path: Path) -> bool:
    """Tell whether a path is an image, or a folder of images that is not a matrix folder."""
    if not path.is_dir():
        return is_image(path)
    return not (path / "words.npz").is_file() and next(images_in(path), None) is not None


def display_name(source: Any) -> str:
    """Return the name of an image as one line; bytes that are not UTF-8 are escaped."""
    if isinstance(source, str | os.PathLike):
        raw = os.fspath(source)
        text = os.fsdecode(raw) if isinstance(raw, bytes) else raw
        return " ".join(text.encode("utf-8", "backslashreplace").decode().split())[:300]
    if isinstance(source, bytes):
        return "the image"
    filename = getattr(source, "filename", "")
    return display_name(filename) if isinstance(filename, str) and filename else type(source).__name__


def working_size(size: tuple[int, int], sizing: Sizing) -> tuple[int, int]:
    """Return the width and height to scale to: the working area with the aspect ratio kept."""
    (width, height), area, least = size, sizing.working_pixels, sizing.smallest_side
    if area is None or width * height == area:
        return width, height
    scale = math.sqrt(area / (width * height))
    most = max(area // least, least)
    sides = (round(side * scale) for side in (width, height))
    wide, high = (min(max(side, least), most) for side in sides)
    return wide, high


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("reading images", "images") from None
    return Image


@contextmanager
def _open(pillow: Any, source: Any, sizing: Sizing, name: str) -> Iterator[Any]:
    """Open an image and check its size, without decoding it."""
    with ExitStack() as stack:
        if isinstance(source, pillow.Image):
            image = source
        elif isinstance(source, np.ndarray):
            image = _of_array(pillow, source)
        elif isinstance(source, bytes):
            image = stack.enter_context(pillow.open(io.BytesIO(source), formats=FORMATS))
        elif isinstance(source, str | os.PathLike):
            path = Path(os.fsdecode(source))
            if path.exists() and not path.is_file():
                raise InputError(f"{name}: is not a regular file")
            if path.exists() and path.stat().st_size == 0:
                raise InputError(f"{name}: the file is empty")
            image = stack.enter_context(pillow.open(source, formats=FORMATS))
        else:
            kind = type(source).__name__
            raise InputError(f"an image must be a path, an array or a Pillow image, not {kind}")
        _check_size(image, sizing, name)
        yield image


def _check_size(image: Any, sizing: Sizing, name: str) -> None:
    width, height = image.size
    if width * height > sizing.max_pixels:
        raise InputError(f"{name}: {width:,} x {height:,} pixels; {_too_large(sizing)}")
    if sizing.working_pixels is None and width * height > MOST_WORKING_PIXELS:
        raise InputError(
            f"{name}: {width:,} x {height:,} pixels, at most {MOST_WORKING_PIXELS:,} without scaling; set "
            "working_pixels"
        )
    if min(width, height) < sizing.smallest_side:
        least = sizing.smallest_side
        raise InputError(f"{name}: {width} x {height} pixels are too few; a tile needs {least} x {least}")


def _too_large(sizing: Sizing) -> str:
    return f"larger than {sizing.max_pixels:,} pixels; scale it down, or raise max_pixels"


def _of_array(pillow: Any, array: npt.NDArray[Any]) -> Any:
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,), (4,)):
        raise InputError(
            f"an image array must be (height, width, 3) of uint8, not {array.shape} of {array.dtype}"
        )
    if 0 in array.shape:
        raise InputError(f"an image array has no pixels: {array.shape}")
    return pillow.fromarray(np.ascontiguousarray(array))


def _pixels(pillow: Any, image: Any, sizing: Sizing) -> Uint8:
    from PIL import ImageOps

    size = working_size(image.size, sizing)
    if size != image.size and hasattr(image, "draft"):
        image.draft(None, size)  # a JPEG is decoded at the smallest fitting scale
    image = ImageOps.exif_transpose(image)
    size = working_size(image.size, sizing)
    image = _to_rgb(pillow, image)
    if size != image.size:
        image = image.resize(size, pillow.Resampling.BICUBIC, reducing_gap=3.0)
    return np.asarray(image, dtype=np.uint8)


def _to_rgb(pillow: Any, image: Any) -> Any:
    if image.mode == "RGB":
        return image
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return pillow.fromarray(_eight_bits(np.asarray(image))).convert("RGB")
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        white = pillow.new("RGBA", rgba.size, (255, 255, 255, 255))
        return pillow.alpha_composite(white, rgba).convert("RGB")
    return image.convert("RGB")


def _eight_bits(values: npt.NDArray[Any]) -> Uint8:
    """Return luminances of more than eight bits in 0..255; the largest value tells their range."""
    finite = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    largest = finite.max()
    top = next(top for top in (1.0, 255.0, 65535.0, max(largest, 1.0)) if largest <= top)
    if values.dtype.kind != "f" and top < 255.0:
        top = 255.0
    if values.dtype == np.uint16:
        top = 65535.0
    return np.clip(np.rint(finite * (255.0 / top)), 0, 255).astype(np.uint8)


T = TypeVar("T")


class Fault(NamedTuple):
    """Why an image was skipped."""

    row: int
    reason: str


def each_image(
    function: Callable[[int, Any], T],
    images: list[Any],
    n_jobs: int | None,
    on_error: str = "raise",
    verbose: bool = False,
) -> tuple[list[T | None], list[Fault]]:
    """Apply a function to the number and the image of each image in a list.

    Return the results in order, and what went wrong: unless `on_error` is "raise", the result for an image
    on which the function raised an `InputError` is None. BLAS runs on one thread, so that the number of
    threads does not change results. `verbose` shows a progress bar on standard error.
    """
    from rich.console import Console
    from rich.progress import track

    faults: list[Fault] = []

    def attempt(at: int) -> T | None:
        try:
            return function(at, images[at])
        except InputError as error:
            if on_error == "raise":
                raise
            faults.append(Fault(at, str(error)))
            return None

    with thread_limit(n_jobs):
        n_threads = current_threads()
    with quiet_decoders(), single_thread(), ThreadPoolExecutor(n_threads) as pool:
        attempts = pool.map(attempt, range(len(images)))
        shown = track(
            attempts, "Reading images", len(images), console=Console(stderr=True), disable=not verbose
        )
        return list(shown), sorted(faults)


def list_images(images: Any) -> list[Any]:
    """Return images as a list; a single image or an empty list is an `InputError`."""
    if isinstance(images, str | bytes | os.PathLike) or not isinstance(images, Iterable):
        raise InputError(f"images: give a list of paths or of arrays, not {display_name(images)!r}")
    if isinstance(images, np.ndarray) and images.ndim in (2, 3):
        raise InputError("images: this is one image; give a list of them")
    found = list(images)
    if not found:
        raise InputError("images: the list is empty")
    return found


def describe_skipped(faults: list[Fault]) -> str:
    """Return a line that names the first three skipped images."""
    some = "; ".join(fault.reason for fault in faults[:3])
    more = f"; and {len(faults) - 3:,} more" if len(faults) > 3 else ""
    return f"{len(faults):,} image(s) skipped: {some}{more}"
