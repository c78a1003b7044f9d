"""One function for every image, on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tagtopics.corpus.images.decode import display_name, quiet_decoders
from tagtopics.errors import InputError

T = TypeVar("T")


class Fault(NamedTuple):
    """Why an image was skipped."""

    row: int
    reason: str


class Effort(NamedTuple):
    """How images are processed."""

    n_jobs: int | None = None  # threads; None or -1 for all cores
    on_error: str = "skip"  # or "raise"
    verbose: bool = False  # a progress bar on standard error


def each_image(
    function: Callable[[int, Any], T], images: list[Any], effort: Effort
) -> tuple[list[T | None], list[Fault]]:
    """Apply a function to the number and the image of each image in a list.

    BLAS runs on one thread, so that the number of threads does not change results.

    Returns:
        The results in order, None for an image on which the function raised an `InputError`, and the reasons.
    """

    def attempt(at: int) -> T | Fault:
        try:
            return function(at, images[at])
        except InputError as error:
            return Fault(at, str(error))

    results: list[T | None] = []
    faults: list[Fault] = []
    with quiet_decoders(), threadpool_limits(limits=1), ThreadPoolExecutor(_threads(effort.n_jobs)) as pool:
        for result in _with_progress(pool.map(attempt, range(len(images))), len(images), effort.verbose):
            if isinstance(result, Fault):
                if effort.on_error == "raise":
                    pool.shutdown(cancel_futures=True)
                    raise InputError(result.reason)
                faults.append(result)
            results.append(None if isinstance(result, Fault) else result)
    return results, faults


def listed(images: Any) -> list[Any]:
    """Return images as a list; a single image or an empty list is an `InputError`."""
    if isinstance(images, str | bytes | os.PathLike) or not isinstance(images, Iterable):
        raise InputError(f"images: give a list of paths or of arrays, not {display_name(images)!r}")
    if isinstance(images, np.ndarray) and images.ndim in (2, 3):
        raise InputError("images: this is one image; give a list of them")
    found = list(images)
    if not found:
        raise InputError("images: the list is empty")
    return found


def skipped(faults: list[Fault]) -> str:
    """Return a line that names the first three skipped images."""
    some = "; ".join(fault.reason for fault in faults[:3])
    more = f"; and {len(faults) - 3:,} more" if len(faults) > 3 else ""
    return f"{len(faults):,} image(s) skipped: {some}{more}"


def _threads(n_jobs: int | None) -> int:
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _with_progress(results: Iterable[T], n: int, verbose: bool) -> Iterable[T]:
    """Return results, with a progress bar if `verbose`."""
    if not verbose:
        return results
    from rich.console import Console
    from rich.progress import track

    return track(results, "Reading images", total=n, console=Console(stderr=True))
