"""Around the server: limits on bodies and computation, the token, security headers."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tagtopics.explore.report.page import compact_json

_HEADERS = (
    (b"cache-control", b"no-cache"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_OPEN = ("/health", "/ready")  # paths that need no token, for programs that watch the server

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """Limits on the work of the server."""

    workers: int = 2  # requests computed at the same time
    queue: int = 128  # requests that may wait
    seconds: float = 30.0  # for one answer, waiting included
    body_bytes: int = 2_000_000
    photograph_bytes: int = 12_000_000
    body_seconds: float = 10.0  # in which a body must arrive
    unread_seconds: float = 30.0  # that a client may leave an answer unread


class Gate:
    """Runs functions in worker threads, with a bounded queue and a time limit.

    A thread cannot be stopped, so a function that exceeds the time limit runs to its end and occupies its
    worker until then; slow work cannot accumulate.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by process: a forked server has no threads yet
        self.pending = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`; status 503 if the queue is full, 504 if it takes too long."""
        limits, process = self._limits, os.getpid()
        if process not in self._pools:
            self._pools = {process: ThreadPoolExecutor(limits.workers, thread_name_prefix="tagtopics")}
            self.pending = 0
        if self.pending >= limits.workers + limits.queue:
            raise HTTPException(503, "too many requests at once; try again", {"Retry-After": "1"})
        self.pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pools[process], work)
        future.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(limits.seconds):
                return await asyncio.shield(future)
        except TimeoutError:
            raise HTTPException(504, "the answer took too long; try a shorter text") from None

    async def answer(self, compute: Callable[[], Any]) -> Response:
        """Return what a function computes as JSON; both in a worker, because large answers take long."""
        content = await self.run(lambda: compact_json(compute()))
        return Response(content, media_type="application/json")

    def close(self) -> None:
        """Wait for running functions and refuse new ones."""
        if os.getpid() in self._pools:
            self._pools.pop(os.getpid()).shutdown(wait=True, cancel_futures=True)

    def _leave(self, future: asyncio.Future[T]) -> None:
        self.pending -= 1
        if not future.cancelled():
            future.exception()  # retrieved, so that asyncio does not warn about it


class BodyLimit:
    """Wraps an ASGI application: large and slow bodies are refused while they are read."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        limits, size, complete = self._limits, 0, False
        most = limits.photograph_bytes if scope["path"].endswith("/photograph") else limits.body_bytes
        end = asyncio.get_running_loop().time() + limits.body_seconds

        async def limited() -> Message:
            nonlocal size, complete
            try:
                async with asyncio.timeout_at(None if complete else end):
                    message = await receive()
            except TimeoutError:
                detail = f"the request body took longer than {limits.body_seconds:g} seconds"
                raise HTTPException(408, detail, {"Connection": "close"}) from None
            size, complete = size + len(message.get("body", b"")), not message.get("more_body")
            if size > most:
                detail = f"the request body may have at most {most:,} bytes"
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self._app(scope, limited, send)


def has_token(scope: Scope, token: str) -> bool:
    """Tell whether a request has a token: as a bearer token, or as the password of any user."""
    scheme, _, given = HTTPConnection(scope).headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2].decode("latin-1")
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(given.strip().encode("latin-1"), token.encode())


class TokenGuard:
    """Wraps an ASGI application: requests without the token get status 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._app
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        is_open = path in _OPEN or scope["type"] == "lifespan"
        if not is_open and not has_token(scope, self._token):
            detail = "this server needs a token: Authorization: Bearer TOKEN"
            app = JSONResponse({"detail": detail}, 401, {"WWW-Authenticate": 'Basic realm="tagtopics"'})
        await app(scope, receive, send)


class SecurityHeaders:
    """Wraps an ASGI application: answers get headers that restrict what pages may do.

    Args:
        app: what to wrap.
        frames: addresses of web pages that may embed ours.
    """

    def __init__(self, app: ASGIApp, frames: Sequence[str]) -> None:
        self._app = app
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
        ) + (" ".join(frames) or "'none'")
        self._headers = (*_HEADERS, (b"content-security-policy", policy.encode()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        await self._app(scope, receive, secured)
