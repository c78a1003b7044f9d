"""What all tests share: where the real data is, if it is there at all."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from unittest import mock

import hypothesis
import pytest

from benchmarks.synthetic import SyntheticCorpus

hypothesis.settings.register_profile("untimed", deadline=None)  # no test asserts a time
hypothesis.settings.load_profile("untimed")
hypothesis.settings.register_profile("uncompiled", max_examples=5, deadline=None)
if os.environ.get("NUMBA_DISABLE_JIT") == "1":  # `make coverage`: kernels run as plain Python, which is slow
    hypothesis.settings.load_profile("uncompiled")


def _data_directory() -> Path | None:
    named = os.environ.get("TAGTOPICS_DATA")
    candidates = [Path(named)] if named else []
    candidates.append(Path(__file__).resolve().parents[2] / "shared" / "data")
    return next((path for path in candidates if path.is_dir()), None)


SLOW = ("scale_cluster", "packaging_distribution", "crash_points", "bench_smoke", "scale_killed",
        "process_bits", "process_container", "process_home", "process_paths", "process_workers",
        "explore_unpatched_annif", "explore_looks", "cli_settings", "cli_killed", "baselines_independent",
        "reproduction_analysis", "reproduction_photos", "reproduction_systems")  # fmt: skip
"""The files of `make test-slow`: clusters, packages, processes, pictures, the paper's experiments."""

LONG = ("explore_browser", "docs", "models_contract", "explore_entity", "explore_map", "explore_sharing",
        "fuzz", "models_online", "explore_live", "explore_figures", "explore_audit_page", "explore_mcp",
        "explore_axe", "corpus_patterns", "explore_export_looks", "scale_fitting", "cli_process", "jit_cache",
        "explore_areas", "scale_sharding", "models_saving", "cli_demo")  # fmt: skip
"""The other files that take long, longest first: two processes that start with them end at the same time."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files in memory if there is room: writers flush every file, which a disk does slowly."""
    memory = Path("/dev/shm")
    if sys.platform != "linux" or not os.access(memory, os.W_OK) or config.getoption("basetemp"):
        return
    found = os.statvfs(memory)
    if found.f_bavail * found.f_frsize > 2**32 and not found.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import slow files, and Ray with them, to deselect all their tests."""
    slow = collection_path.stem.removeprefix("test_") in SLOW
    return True if slow and "not slow" in config.getoption("markexpr") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow files and tests of real data; put long files first. The order within a file stays."""
    place = {f"test_{name}": i for i, name in enumerate(SLOW + LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))
    for item in items:
        real = item.get_closest_marker("real_data") or "data_directory" in getattr(item, "fixturenames", ())
        if real or place.get(item.path.stem, len(place)) < len(SLOW):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Keep modules and tests out of later garbage collections, which take 0.3 seconds with them."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="session", autouse=True)
def docstrings_are_read_once() -> Iterator[None]:
    """Build the corpus of docstrings, which nothing can change, once for all tests that load it by name."""
    from tagtopics.datasets import docstrings

    with mock.patch.object(docstrings, "load_docstrings", lru_cache(docstrings.load_docstrings)):
        yield


@pytest.fixture(scope="session")
def reader_parent_address() -> Iterator[str | None]:
    """Where processes that read files are forked; None where they cannot be."""
    if sys.platform != "linux":
        yield None
        return
    from forked_readers import reader_parent

    with reader_parent() as address:
        yield address


@pytest.fixture(scope="module")
def forked(reader_parent_address: str | None) -> Iterator[None]:
    """Read files in forked processes: what is read is tested, not the start of Python for each file."""
    if reader_parent_address is None:
        yield
        return
    from forked_readers import forked_readers

    with forked_readers(reader_parent_address, seconds=60, megabytes=2048):
        yield


@pytest.fixture(scope="session")
def planted() -> SyntheticCorpus:
    """A small corpus with planted topics, tags, credits and groups."""
    from benchmarks.synthetic import make_tagged_corpus

    return make_tagged_corpus(seed=0)


@pytest.fixture(scope="session")
def planted_folder(planted: SyntheticCorpus, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same as a matrix folder."""
    from tagtopics import write_matrix_folder

    folder = tmp_path_factory.mktemp("planted") / "corpus"
    write_matrix_folder(planted.corpus, folder)
    return str(folder)
