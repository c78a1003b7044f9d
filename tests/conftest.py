"""What all tests share: where the real data is, if it is there at all."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

from tagtopics.datasets.synthetic import SyntheticCorpus

hypothesis.settings.register_profile("uncompiled", max_examples=5, deadline=None)
if os.environ.get("NUMBA_DISABLE_JIT") == "1":  # `make coverage`: kernels run as plain Python, which is slow
    hypothesis.settings.load_profile("uncompiled")
    from tagtopics.kernels import edges

    edges.prefetch = lambda *_: None  # type: ignore[assignment]  # an instruction of the processor


def _data_directory() -> Path | None:
    named = os.environ.get("TAGTOPICS_DATA")
    candidates = [Path(named)] if named else []
    candidates.append(Path(__file__).resolve().parents[2] / "shared" / "data")
    return next((path for path in candidates if path.is_dir()), None)


SLOW = ("scale_cluster", "packaging_distribution", "crash_points", "bench_smoke", "docs", "models_contract",
        "cli_scale", "explore_browser", "kernels_cache", "scale_killed", "fuzz", "inference_learn_priors",
        "kernels_twins", "models_planted", "images_cli")  # fmt: skip
"""The files that take longest, longest first: two processes that start with them end at the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow files first; the order within a file stays."""
    place = {f"test_{name}": i for i, name in enumerate(SLOW)}
    items.sort(key=lambda item: place.get(item.path.stem, len(SLOW)))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no name for a test: two workers may make them differently and collect different tests."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The directory of real matrix folders; the test skips, and says so, where there is none."""
    path = _data_directory()
    if path is None:
        pytest.skip("no real data: set TAGTOPICS_DATA to a directory of matrix folders")
    return path


@pytest.fixture(scope="session")
def planted() -> SyntheticCorpus:
    """A small corpus with planted topics, tags, credits and groups."""
    from tagtopics import make_tagged_corpus

    return make_tagged_corpus(seed=0)
