"""Requests that wait at the same time are answered in one call, which takes less time than several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")

MOST = 8
"""Requests that are answered in one call."""


class Together(Generic[Request, Answer]):
    """Makes a function of every request, for the worker threads of a `Gate`, which run them in order.

    The first of these functions that runs also answers the requests of others that have not run yet; those
    then only return their answers.

    Args:
        answer_all: returns the answers to some requests. If it fails, each request is tried alone, so that a
            request fails only for a reason of its own. It may be called from several threads at once.
    """

    def __init__(self, answer_all: Callable[[Sequence[Request]], Sequence[Answer]]) -> None:
        self._answer_all = answer_all
        self._waiting: deque[tuple[Request, Future[Answer]]] = deque()

    def work(self, request: Request) -> Callable[[], Answer]:
        """Return a function that returns the answer to a request; it must be run."""
        future: Future[Answer] = Future()
        self._waiting.append((request, future))

        def run() -> Answer:
            if not future.done():  # then it waits, or another thread is at it
                self._answer_some()
            return future.result()

        return run

    def _answer_some(self) -> None:
        some = self._taken()
        try:
            answers = self._answer_all([request for request, _ in some])
        except Exception:
            for request, future in some:
                self._answer_alone(request, future)
        else:
            for (_, future), answer in zip(some, answers, strict=True):
                future.set_result(answer)

    def _answer_alone(self, request: Request, future: Future[Answer]) -> None:
        try:
            (answer,) = self._answer_all([request])
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(answer)

    def _taken(self) -> list[tuple[Request, Future[Answer]]]:
        some: list[tuple[Request, Future[Answer]]] = []
        while len(some) < MOST:
            try:
                some.append(self._waiting.popleft())
            except IndexError:
                break
        return some
