"""Visual words: an estimator that learns codebooks of image tiles; its settings and how a model stores it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Int32
from tagtopics.errors import InputError, one_line, warn
from tagtopics.images.decode import (
    MAX_PIXELS,
    MOST_WORKING_PIXELS,
    WORKING_PIXELS,
    Fault,
    Sizing,
    Uint8,
    describe_skipped,
    each_image,
    list_images,
    quiet_decoders,
    read_image,
)
from tagtopics.images.descriptors import BLOCKS, cpam

_SAMPLE_IMAGES = 1500  # the most images to learn codebooks from; more only take longer


@dataclass(frozen=True)
class TileMap:
    """The visual words of one image by position."""

    words: Int32  # (blocks, rows, columns) the word of each tile, a column of the counts
    pixels: Uint8  # (height, width, 3) the image at its working size
    window: int  # side of a tile in pixels
    step: int  # pixels from one tile to the next


class VisualVocabulary(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts visual words in images: each tile under a sliding window is the nearest entry of a codebook.

    The defaults are those of the paper: 4 x 4 tiles in steps of two in images of 192 x 128 pixels, a codebook
    of 64 patterns and one of 64 colours. A photograph has 11,970 tokens of 128 words.

    Images are paths, arrays (height, width, 3) of uint8, or Pillow images.

    Args:
        codebook_sizes: the number of patterns, and of colours.
        window: side of a tile in pixels, an even number.
        step: pixels from one tile to the next.
        working_pixels: images are scaled to this area with their aspect ratio kept; None for no scaling.
        max_pixels: larger images are refused before they are decoded.
        n_sample_tiles: tiles to learn the codebooks from.
        on_error: "skip" an image that cannot be read, with a warning that names it and an empty row of
            counts, or "raise".
        verbose: show a progress bar on standard error.
        random_state: seed of the sample and of k-means; equal seeds give equal bits for any `n_jobs`.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        codebooks_: one array (words, dimensions) of float32 per block, the tiles that the words stand for.
        vocabulary_: the names of the words, such as `chromatic07`.
    """

    def __init__(
        self,
        *,
        codebook_sizes: Sequence[int] = (64, 64),
        window: int = 4,
        step: int = 2,
        working_pixels: int | None = WORKING_PIXELS,
        max_pixels: int = MAX_PIXELS,
        n_sample_tiles: int = 100_000,
        on_error: str = "skip",
        verbose: bool = False,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.codebook_sizes = codebook_sizes
        self.window = window
        self.step = step
        self.working_pixels = working_pixels
        self.max_pixels = max_pixels
        self.n_sample_tiles = n_sample_tiles
        self.on_error = on_error
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, images: Iterable[Any], y: Any = None) -> Self:
        """Learn the codebooks by k-means from a random sample of the images' tiles."""
        check_settings(self.get_params(deep=False))
        found = list_images(images)
        rng = np.random.default_rng(self.random_state)
        chosen = np.sort(rng.permutation(len(found))[:_SAMPLE_IMAGES])
        per_image = -(-self.n_sample_tiles // max(len(chosen), 1))
        sample = partial(self._sample, n_tiles=per_image)
        sampled, faults = self._each(sample, [found[i] for i in chosen])
        blocks = [np.concatenate(parts) for parts in zip(*(s for s in sampled if s is not None), strict=True)]
        if not blocks:
            raise InputError(f"no image can be read; the first: {faults[0].reason}")
        with single_thread():
            self.codebooks_ = tuple(
                learn_codebook(tiles, size, self.random_state)
                for tiles, size in zip(blocks, self.codebook_sizes, strict=True)
            )
        self.vocabulary_ = self._names()
        return self

    def transform(self, images: Iterable[Any]) -> sp.csr_array:
        """Return counts (images, words) of int32; the row of a skipped image is empty."""
        counts, faults = self.count(images)
        if faults:
            warn(describe_skipped(faults))
        return counts

    def count(self, images: Iterable[Any]) -> tuple[sp.csr_array, list[Fault]]:
        """Return counts (images, words), and the images that could not be read with the reasons."""
        check_is_fitted(self)
        rows, faults = self._each(self._count_one, list_images(images))
        W = len(self.vocabulary_)
        empty = np.zeros(W, dtype=np.int32)
        return sp.csr_array(np.stack([empty if row is None else row for row in rows])), faults

    def tile_map(self, image: Any) -> TileMap:
        """Return the visual words of one image by position."""
        check_is_fitted(self)
        with quiet_decoders(), single_thread():
            pixels = read_image(image, self._sizing())
            words = self._words(pixels)
        return TileMap(words, pixels, self.window, self.step)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the visual words."""
        check_is_fitted(self)
        return np.array(self.vocabulary_, dtype=object)

    def same_words(self, other: Any) -> bool:
        """Tell whether another vocabulary gives the same words to the same tiles."""
        if self is other:
            return True
        if not isinstance(other, VisualVocabulary) or self.vocabulary_ != other.vocabulary_:
            return False
        mine, theirs = ((v.window, v.step, v.working_pixels) for v in (self, other))
        pairs = zip(self.codebooks_, other.codebooks_, strict=True)
        return mine == theirs and all(np.array_equal(a, b) for a, b in pairs)

    def _sample(self, at: int, image: Any, n_tiles: int) -> tuple[Float32, ...]:
        described = cpam(read_image(image, self._sizing()), self.window, self.step)
        rng = np.random.default_rng([self.random_state, at])
        rows = np.sort(rng.permutation(len(described.blocks[0]))[:n_tiles])
        return tuple(block[rows] for block in described.blocks)

    def _count_one(self, at: int, image: Any) -> Int32:
        words = self._words(read_image(image, self._sizing()))
        return np.bincount(words.ravel(), minlength=len(self.vocabulary_)).astype(np.int32)

    def _words(self, pixels: Uint8) -> Int32:
        """Return (blocks, rows, columns): the nearest codebook entry of each tile."""
        described = cpam(pixels, self.window, self.step)
        first, words = 0, []
        for block, codebook in zip(described.blocks, self.codebooks_, strict=True):
            words.append(first + nearest(block, codebook))
            first += len(codebook)
        return np.stack(words).reshape(-1, *described.grid).astype(np.int32)

    def _each(self, function: Callable[[int, Any], Any], images: list[Any]) -> tuple[list[Any], list[Fault]]:
        return each_image(function, images, self.n_jobs, self.on_error, self.verbose)

    def _sizing(self) -> Sizing:
        return Sizing(self.working_pixels, self.window, self.max_pixels)

    def _names(self) -> tuple[str, ...]:
        return tuple(
            f"{name}{word:0{len(str(len(codebook) - 1))}}"
            for name, codebook in zip(BLOCKS, self.codebooks_, strict=True)
            for word in range(len(codebook))
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def learn_codebook(tiles: Float32, size: int, seed: int) -> Float32:
    """Return the k-means centres (size, dimensions) of tiles, the most frequent first.

    There are fewer centres if there are fewer distinct tiles. Run it on one thread: the order in which
    threads add up changes the bits of k-means.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    distinct = np.unique(tiles, axis=0)
    if len(distinct) <= size:
        return distinct
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near-equal tiles need no optimal codebook
        found = KMeans(size, n_init=1, max_iter=60, tol=1e-4, random_state=seed).fit(tiles)
    centres = found.cluster_centers_.astype(np.float32)
    commonest = np.argsort(-np.bincount(found.labels_, minlength=size), kind="stable")
    return np.ascontiguousarray(centres[commonest])


_PAIRS = 2**24  # pairs of a tile and an entry of the codebook that are compared at a time


def nearest(tiles: Float32, codebook: Float32) -> npt.NDArray[np.intp]:
    """Return the nearest entry of each tile: argmin_j |x - c_j|^2 = argmax_j x.c_j - |c_j|^2 / 2."""
    half, step = 0.5 * (codebook * codebook).sum(1), max(1, _PAIRS // len(codebook))
    blocks = [tiles[i : i + step] for i in range(0, max(len(tiles), 1), step)]
    return np.concatenate([np.argmax(block @ codebook.T - half, axis=1) for block in blocks])


PREFIX = "visual."  # of the names of codebooks in the arrays of a model, before a number


class _Settings(BaseModel):
    """The parameters of `VisualVocabulary`; a model stores those that decide how an image becomes words."""

    model_config = ConfigDict(strict=True, extra="forbid")

    descriptor: Literal["cpam"] = "cpam"
    codebook_sizes: Annotated[
        list[Annotated[int, Field(ge=1, le=65536)]], Field(min_length=len(BLOCKS), max_length=len(BLOCKS))
    ]
    window: Annotated[int, Field(ge=2, le=256, multiple_of=2)]
    step: Annotated[int, Field(ge=1, le=256)]
    working_pixels: Annotated[int, Field(ge=64, le=MOST_WORKING_PIXELS)] | None
    max_pixels: Annotated[int, Field(ge=64, le=2 * MAX_PIXELS)]
    on_error: Literal["skip", "raise"]
    random_state: Annotated[int, Field(ge=0)]
    n_sample_tiles: Annotated[int, Field(ge=1, exclude=True)] = 1
    verbose: Annotated[bool, Field(exclude=True)] = False
    n_jobs: Annotated[int | None, Field(ge=-1, exclude=True)] = None


def check_settings(given: dict[str, Any]) -> _Settings:
    """Return the parameters of a vocabulary; the first that is not allowed is an `InputError`."""
    try:
        return _Settings.model_validate({name: _plain(value) for name, value in given.items()})
    except ValidationError as error:
        raise InputError(f"VisualVocabulary: {one_line(error)}") from None


def _plain(value: Any) -> Any:
    """Return a value without NumPy's types, and a tuple as a list."""
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def visual_to_json(visual: VisualVocabulary) -> dict[str, Any]:
    """Return the settings that decide how a new image becomes words."""
    sizes = {"codebook_sizes": list(map(len, visual.codebooks_))}
    return check_settings(visual.get_params(deep=False) | sizes).model_dump()


def visual_to_arrays(visual: VisualVocabulary) -> dict[str, npt.NDArray[Any]]:
    """Return the codebooks under their names in the arrays of a model."""
    return {f"{PREFIX}{i}": np.ascontiguousarray(book) for i, book in enumerate(visual.codebooks_)}


def visual_from(settings: Any, arrays: dict[str, Any]) -> VisualVocabulary:
    """Return the vocabulary of `visual_to_json` and `visual_to_arrays`; anything else is an `InputError`."""
    visual = VisualVocabulary(**check_settings(settings).model_dump(exclude={"descriptor"}))
    codebooks = []
    for i, shape in enumerate(zip(visual.codebook_sizes, (visual.window**2, 8), strict=True)):
        found: Any = arrays.get(f"{PREFIX}{i}")
        fits = found is not None and found.dtype == np.float32 and found.shape == shape
        if not fits or not np.isfinite(found).all():
            raise InputError(
                f"its visual vocabulary is damaged: codebook {i} must be {shape} of finite float32"
            )
        codebooks.append(found)
    visual.codebooks_ = tuple(codebooks)
    visual.vocabulary_ = visual._names()
    return visual
