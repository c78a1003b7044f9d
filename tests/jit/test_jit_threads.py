"""Threads: every item once, errors end all, no nested pools, and work after a fork."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.jit import threads
from tagtopics.jit.threads import resolve_threads, results_of, run_lanes, run_ranges

SECONDS = 60


@pytest.mark.parametrize("n_threads", [1, 2, 7, 10**8])
def test_ranges_cover_every_item_once(n_threads: int) -> None:
    seen = np.zeros(5000, dtype=int)

    def kernel(first: int, last: int, step: int) -> None:
        seen[first:last] += step

    run_ranges(kernel, np.arange(0, 50_010, 10)[:5001], 100, n_threads, 1)
    assert (seen == 1).all()


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_results_are_in_the_order_of_the_items(n_threads: int) -> None:
    assert results_of(lambda i: i * i, range(100), n_threads) == [i * i for i in range(100)]
    assert results_of(str, [], n_threads) == []


def test_n_jobs_is_bounded() -> None:
    cores = resolve_threads(None)
    assert resolve_threads(-1) == cores
    assert resolve_threads(1) == 1
    assert resolve_threads(-(10**8)) == 1
    assert resolve_threads(10**8) == 4 * cores


def test_no_thread_is_started_for_a_nested_call() -> None:
    names: set[str] = set()
    lock = threading.Lock()

    def inner(items: Iterator[int]) -> None:
        for _ in items:
            with lock:
                names.add(threading.current_thread().name)

    def outer(items: Iterator[int]) -> None:
        for _ in items:
            here = threading.current_thread().name
            names.clear()
            run_lanes(inner, range(50), 1)
            before = threading.active_count()
            run_lanes(inner, range(50), 8)
            assert threading.active_count() <= before
            assert here in threading.current_thread().name

    run_lanes(outer, [1], 1)
    assert names == {threading.current_thread().name}


def test_nested_calls_from_all_threads_of_the_pool_end() -> None:
    done: list[int] = []

    def outer(items: Iterator[int]) -> None:
        for item in items:
            run_lanes(lambda inner: done.extend(inner), range(3), 8)
            done.append(item)

    run_lanes(outer, range(200), 64)
    assert len(done) == 800


def test_an_error_ends_all_lanes() -> None:
    taken: list[int] = []

    def lane(items: Iterator[int]) -> None:
        for item in items:
            taken.append(item)
            if item == 5:
                raise ValueError("no")
            time.sleep(0.001)

    with pytest.raises(ValueError, match="no"):
        run_lanes(lane, range(10_000), 3)
    assert len(taken) < 1000
    run_lanes(lane, range(5), 3)


def _in_fork(work: Callable[[], Any]) -> Any:
    """Return the result of some work in a forked child, which must end in time."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sending.send(work()))
    child.start()
    try:
        assert receiving.poll(SECONDS), "the forked child hangs"
        return receiving.recv()
    finally:
        child.kill()
        child.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.compiled
def test_fit_and_transform_after_a_fork() -> None:
    corpus = tt.make_tagged_corpus(n_docs=600, seed=0).corpus

    def fitted() -> Any:
        model = tt.TTM(8, max_iter=5, random_state=0, n_jobs=2).fit(corpus)
        return model, model.components_.tobytes(), model.transform(corpus).tobytes()

    model, topics, theta = fitted()
    assert threads._pool.cache_info().currsize == 1  # the parent has threads
    assert _in_fork(lambda: fitted()[1:]) == (topics, theta)
    assert _in_fork(lambda: model.transform(corpus).tobytes()) == theta
    assert _in_fork(lambda: _in_fork(lambda: model.transform(corpus).tobytes())) == theta
    assert fitted()[1:] == (topics, theta)
