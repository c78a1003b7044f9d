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
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.jit import threads
from tagtopics.jit.threads import (
    beside,
    current_threads,
    limit_threads,
    results_of,
    run_lanes,
    run_ranges,
    thread_limit,
)

SECONDS = 60


@pytest.mark.parametrize("n_jobs", [1, 2, 7, 10**8])
def test_ranges_cover_every_item_once(n_jobs: int) -> None:
    seen, end = np.zeros(5000, dtype=int), time.monotonic() + SECONDS
    names = set()

    def kernel(first: int, last: int, step: int) -> None:
        names.add(threading.current_thread().name)
        while n_jobs > 1 and len(names) < 2 and time.monotonic() < end:  # until another thread has begun
            time.sleep(0.001)
        seen[first:last] += step

    with thread_limit(n_jobs):
        run_ranges(kernel, np.arange(0, 50_010, 10)[:5001], 100, 1)
    assert (seen == 1).all()
    assert (len(names) > 1) == (n_jobs > 1)


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_results_are_in_the_order_of_the_items(n_jobs: int) -> None:
    with thread_limit(n_jobs):
        assert results_of(lambda i: i * i, range(100)) == [i * i for i in range(100)]
        assert results_of(str, []) == []


def test_the_limit_is_that_of_the_context() -> None:
    cores = current_threads()
    for n_jobs, expected in ((-1, cores), (1, 1), (-(10**8), 1), (10**8, 4 * cores), (None, cores)):
        with thread_limit(n_jobs):
            assert current_threads() == expected
            with thread_limit(None):
                assert current_threads() == expected
            with thread_limit(3):
                assert current_threads() == 3
            assert current_threads() == expected
    assert current_threads() == cores


def test_methods_run_within_their_own_limit() -> None:
    class Model:
        n_jobs: int | None = 3

        @limit_threads
        def threads(self, plus: int) -> int:
            """Return a number."""
            return current_threads() + plus

    model = Model()
    assert model.threads(plus=1) == 4
    model.n_jobs = None
    with thread_limit(2):
        assert model.threads(1) == 3
    assert Model.threads.__doc__ == "Return a number."


@pytest.mark.compiled
def test_estimators_compute_within_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel of a fit and of its queries sees `n_jobs`."""
    corpus = make_tagged_corpus(n_docs=120, seed=0).corpus
    tt.LDA(4, max_iter=1).fit(corpus)  # the first fit of a process may compile kernels, on all cores
    found: list[int | None] = []

    def note() -> int:
        found.append(threads._limit.get())
        return 1

    monkeypatch.setattr(threads, "current_threads", note)
    model = tt.TTM(4, max_iter=3, random_state=0, n_jobs=3).fit(corpus)
    model.transform(corpus, tags="inferred")
    model.perplexity(corpus)
    model.predict_words(corpus)
    model.log_likelihood(corpus, corpus)
    model.recommend(corpus)
    model.tag_probabilities(corpus)
    model.leave_one_out_tags(corpus)
    model.related(corpus)
    model.explain(corpus)
    model.partial_fit(corpus)
    assert len(found) > 100
    assert set(found) == {3}


def test_no_thread_is_started_for_a_nested_call() -> None:
    def outer(items: Iterator[int]) -> None:
        for _ in items:
            with thread_limit(8):
                assert current_threads() == 1
                before, here = threading.active_count(), threading.current_thread()
                assert {*results_of(lambda _: threading.current_thread(), range(50))} == {here}
                assert threading.active_count() <= before

    with thread_limit(2):
        run_lanes(outer, range(4))
        assert current_threads() == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_work_is_done_beside_a_block_within_the_same_limit(n_jobs: int) -> None:
    here, begun = threading.current_thread(), threading.Event()

    def work() -> tuple[int, bool]:
        begun.set()
        return current_threads(), threading.current_thread() is here

    with thread_limit(n_jobs), beside(work) as result:
        assert begun.wait(SECONDS)  # it need not wait for the block
        assert result() == result() == (n_jobs, n_jobs == 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("asked", [True, False])
def test_an_error_beside_a_block_is_raised(n_jobs: int, asked: bool) -> None:
    def fail() -> None:
        raise tt.InputError("wrong")

    def run() -> None:
        with thread_limit(n_jobs), beside(fail) as result:
            if asked:
                result()

    with pytest.raises(tt.InputError, match="wrong"):
        run()


def test_a_block_that_is_interrupted_ends_with_the_work_beside_it() -> None:
    go, done = threading.Event(), list[int]()

    def work() -> None:
        assert go.wait(SECONDS)
        done.append(1)

    def run() -> None:
        with thread_limit(2), beside(work):
            threading.Timer(0.05, go.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == [1]


def test_fewer_lanes_leave_threads_to_the_work_in_them() -> None:
    seen: list[int] = []
    with thread_limit(3):
        run_lanes(lambda items: seen.extend(current_threads() for _ in items), range(4), 1)
    assert seen == [3] * 4


def test_nested_calls_from_all_threads_of_the_pool_end() -> None:
    done: list[int] = []

    def outer(items: Iterator[int]) -> None:
        for item in items:
            run_lanes(lambda inner: done.extend(inner), range(3))
            done.append(item)

    with thread_limit(64):
        run_lanes(outer, range(200))
    assert len(done) == 800


def test_an_error_ends_all_lanes() -> None:
    taken: list[int] = []

    def lane(items: Iterator[int]) -> None:
        for item in items:
            taken.append(item)
            if item == 5:
                raise ValueError("no")
            time.sleep(0.001)

    with thread_limit(3):
        with pytest.raises(ValueError, match="no"):
            run_lanes(lane, range(10_000))
        assert len(taken) < 1000
        run_lanes(lane, range(5))


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
    corpus = make_tagged_corpus(n_docs=600, seed=0).corpus

    def fitted() -> Any:
        model = tt.TTM(8, max_iter=5, random_state=0, n_jobs=2).fit(corpus)
        return model, model.components_.tobytes(), model.transform(corpus).tobytes()

    model, topics, theta = fitted()
    assert threads._pool.cache_info().currsize == 1  # the parent has threads
    assert _in_fork(lambda: fitted()[1:]) == (topics, theta)
    assert _in_fork(lambda: model.transform(corpus).tobytes()) == theta
    assert _in_fork(lambda: _in_fork(lambda: model.transform(corpus).tobytes())) == theta
    assert fitted()[1:] == (topics, theta)
