"""Fits and answers in forked and spawned processes, threads, joblib, event loops and server workers."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import httpx
import joblib  # type: ignore[import-untyped]
import process_support as support
import pytest
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

import tagtopics as tt
from tagtopics import _blas
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Limits
from tagtopics.explore.server.server import bind, create_server, make_server

SECONDS = 120
FORKS = hasattr(os, "fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def model() -> tt.TTM:
    """A model, in a process with threads of its own."""
    return support.fit()


@pytest.fixture(scope="module")
def expected() -> str:
    return support.fitted_answers()


def in_fork(work: Callable[[], Any]) -> Any:
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


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_a_forked_child_answers_the_same(model: tt.TTM, expected: str) -> None:
    here = support.answers(model)
    assert in_fork(support.fitted_answers) == expected
    assert in_fork(lambda: support.answers(model)) == here
    assert in_fork(lambda: in_fork(lambda: support.answers(model))) == here


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_a_fork_in_the_middle_of_answers_does_not_hang(model: tt.TTM) -> None:
    here, over = support.answers(model), threading.Event()

    def keep_asking() -> None:
        while not over.is_set():
            support.answers(model)

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(keep_asking) for _ in range(2)]
        try:
            with _blas.single_thread(), _blas._state["lock"]:  # the worst moment: the lock is held
                assert in_fork(lambda: support.answers(model)) == here
            for _ in range(3):
                assert in_fork(lambda: support.answers(model)) == here
        finally:
            over.set()
    assert [done.result() for done in asking] == [None, None]


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("spawn", marks=[pytest.mark.slow] * FORKS),  # the workers of loky are spawned, too
        *({"forkserver"} & set(multiprocessing.get_all_start_methods())),
    ],
)
def test_a_spawned_process_answers_the_same(expected: str, method: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(support.fitted_answers, 2).result(SECONDS) == expected


def test_threads_that_fit_and_ask_at_once_get_the_same(model: tt.TTM, expected: str) -> None:
    here = support.answers(model)
    with ThreadPoolExecutor(6) as pool:
        fits = [pool.submit(support.fitted_answers, n_jobs) for n_jobs in (1, 2, 3)]
        asked = [pool.submit(support.answers, model) for _ in range(9)]
        assert {one.result(SECONDS) for one in fits} == {expected}
        assert {one.result(SECONDS) for one in asked} == {here}


@pytest.mark.parametrize("backend", ["loky", "threading", *["multiprocessing"] * FORKS])
def test_joblib_workers_answer_the_same(expected: str, backend: str) -> None:
    found = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(support.fitted_answers)(n_jobs) for n_jobs in (1, 2)
    )
    assert set(found) == {expected}


def test_a_running_event_loop_is_no_obstacle(expected: str) -> None:
    """As in a notebook, whose cells run inside the loop of their kernel."""

    async def cell() -> tuple[str, str]:
        return support.fitted_answers(), await asyncio.to_thread(support.fitted_answers)

    with ThreadPoolExecutor(1) as pool:  # a browser test may have left a loop in this thread
        assert set(pool.submit(asyncio.run, cell()).result(SECONDS)) == {expected}


def test_one_thread_is_the_limit_until_the_last_has_left() -> None:
    """Both kinds of limit hold in each thread, whoever enters or leaves first."""
    inside, leave = threading.Barrier(2), threading.Event()

    def limits() -> set[int]:
        return {library["num_threads"] for library in threadpool_info()}

    def first() -> None:
        with _blas.single_thread():
            inside.wait(SECONDS)
            inside.wait(SECONDS)
        leave.set()

    def second() -> tuple[set[int], set[int]]:
        inside.wait(SECONDS)
        with _blas.single_thread():
            both = limits()
            inside.wait(SECONDS)
            leave.wait(SECONDS)
            return both, limits()

    before = limits()
    with ThreadPoolExecutor(2) as pool:
        done, found = pool.submit(first), pool.submit(second)
        assert found.result(SECONDS) == ({1}, {1})
        done.result(SECONDS)
    assert limits() == before


def serve(app: Any, bound: socket.socket) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Ray leaves its own handler, if an earlier test used it
    make_server(app, Limits()).run(sockets=[bound])


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_server_workers_forked_from_a_server_that_has_answered() -> None:
    """As gunicorn does it with --preload: threads, caches and pools of the parent exist already."""
    rows = [{"text": f"wave tide salt {i % 7} sea{i % 5}", "tags": [f"t{i % 3}"]} for i in range(30)]
    corpus = tt.read_corpus(rows, text="text", tags="tags")
    served = tt.TTM(3, max_iter=3, random_state=0).fit(corpus)
    app, server = create_server()
    server.load(topic_data(served, corpus, "Forked"), ModelEngine(served))
    body = {"documents": [{"text": "wave salt"}]}

    async def ask() -> Any:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.post("/api/v1/recommend", json=body)).json()

    with ThreadPoolExecutor(1) as pool:
        here = pool.submit(asyncio.run, ask()).result(SECONDS)
    bound = bind("127.0.0.1", 0, Limits())
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=serve, args=(app, bound)) for _ in range(2)]
    for child in children:
        child.start()
    try:
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/api/v1/recommend"
        for _ in range(12):  # each on a new connection, so that both workers get some
            assert httpx.post(address, json=body, timeout=SECONDS).json() == here
    finally:
        bound.close()
        for child in children:
            child.terminate()
            child.join(SECONDS)
    assert {abs(child.exitcode or 0) for child in children} <= {0, signal.SIGTERM}
