"""Around the server: request metrics, limits on bodies and computation, security headers."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def policy(frames: Sequence[str] = ()) -> str:
    """Return the content security policy; pages at the addresses in `frames` may embed ours."""
    embedding = " ".join(frames) or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {embedding}"
    )


_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Prometheus metrics of one server: requests by route and status, their duration, work in progress.

    Args:
        pending: returns the number of requests that compute or wait.
    """

    def __init__(self, pending: Callable[[], int]) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "tagtopics_requests", "Requests", ("route", "status"), registry=registry
        )  # exported as tagtopics_requests_total
        self._seconds = Histogram(
            "tagtopics_request_seconds", "Duration", ("route",), registry=registry, buckets=_BUCKETS
        )
        self.in_flight = Gauge("tagtopics_requests_in_flight", "Open requests", registry=registry)
        Gauge("tagtopics_work_pending", "Running and waiting work", registry=registry).set_function(pending)

    def record(self, route: str, status: int, seconds: float) -> None:
        """Count one request; `route` is the pattern of the path, not the path itself."""
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> str:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self._registry).decode()


class _RefusedError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Middleware:
    """Wraps an ASGI application.

    Args:
        application: what to wrap.
        metrics: records every request.
        max_bytes: maximum size of a body.
        larger: maximum size of a body for paths that end so.
        body_seconds: time in which a body must arrive.
        frames: addresses of web pages that may embed the pages.
    """

    def __init__(
        self,
        application: Application,
        *,
        metrics: Metrics,
        max_bytes: int,
        larger: Mapping[str, int],
        body_seconds: float,
        frames: Sequence[str] = (),
    ) -> None:
        self._application = application
        self._headers = (*_HEADERS, (b"content-security-policy", policy(frames).encode()))
        self._metrics = metrics
        self._max_bytes, self._larger = max_bytes, larger
        self._body_seconds = body_seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        answer = _Answer(send, self._headers)
        began = time.perf_counter()
        self._metrics.in_flight.inc()
        try:
            await self._limited(scope, receive, answer)
        finally:
            self._metrics.in_flight.dec()
            self._metrics.record(_label(scope), answer.status, time.perf_counter() - began)

    async def _limited(self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer) -> None:
        larger = (most for end, most in self._larger.items() if scope["path"].endswith(end))
        most = next(larger, self._max_bytes)
        try:
            _check_length(scope, most)
            async with asyncio.timeout(self._body_seconds):
                body = await _body(receive, most)
        except _RefusedError as refused:
            await answer.refuse(refused.status, refused.detail)
        except TimeoutError:
            await answer.refuse(408, f"the request body took longer than {self._body_seconds:g} seconds")
        else:
            await self._application(scope, replayed(body, receive), answer.send)


def _label(scope: MutableMapping[str, Any]) -> str:
    """Return the pattern of the path, with the prefix that some versions of FastAPI leave out."""
    route = str(getattr(scope.get("route"), "path", "other"))
    known = (prefix for prefix in ("/api/v1", "/v1") if f"{prefix}/" in scope["path"])
    prefix = next(known, "")
    return route if route == "other" or route.startswith(prefix) else prefix + route


def _check_length(scope: MutableMapping[str, Any], most: int) -> None:
    size = dict(scope["headers"]).get(b"content-length", b"0")
    if not size.isdigit() or int(size) > most:
        raise _RefusedError(413, f"the request body may have at most {most:,} bytes")


async def _body(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _RefusedError(400, "the connection was closed")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _RefusedError(413, f"the request body may have at most {most:,} bytes")
        if not message.get("more_body"):
            return b"".join(parts)


class _Answer:
    """Adds the security headers to an answer and remembers its status."""

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._send, self._headers = send, headers
        self.status = 500

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._headers]
        await self._send(message)

    async def refuse(self, status: int, detail: str) -> None:
        body = json.dumps({"detail": detail}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first returns a body that was read already."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


T = TypeVar("T")


class OverloadedError(Exception):
    """The queue is full."""


class TooSlowError(Exception):
    """The answer took longer than allowed."""


class Gate:
    """Runs functions in worker threads, with a bounded queue and a time limit.

    A thread cannot be stopped, so a function that exceeds the time limit runs to its end and occupies its
    worker until then; slow work cannot accumulate.

    Args:
        workers: functions that run at the same time.
        queue: functions that may wait.
        seconds: time limit for waiting and running.
    """

    def __init__(self, workers: int, queue: int, seconds: float) -> None:
        self._workers, self._places, self._seconds = workers, workers + queue, seconds
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by process: a forked server has no threads yet
        self.pending = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, or raise `OverloadedError` or `TooSlowError`."""
        if os.getpid() not in self._pools:
            self._pools = {os.getpid(): ThreadPoolExecutor(self._workers, thread_name_prefix="tagtopics")}
            self.pending = 0
        self.check()
        self.pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pools[os.getpid()], work)
        future.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(future)
        except TimeoutError:
            raise TooSlowError from None

    def check(self) -> None:
        """Raise `OverloadedError` if the queue is full."""
        if self.pending >= self._places:
            raise OverloadedError

    def close(self) -> None:
        """Wait for running functions and refuse new ones."""
        if os.getpid() in self._pools:
            self._pools.pop(os.getpid()).shutdown(wait=True, cancel_futures=True)

    def _leave(self, future: asyncio.Future[T]) -> None:
        self.pending -= 1
        if not future.cancelled():
            future.exception()  # retrieved, so that asyncio does not warn about it
