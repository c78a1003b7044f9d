"""What stands around the server: limits on bodies, the allowed hosts, strict headers."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from tagtopics.explore.metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class _RefusedError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Shield:
    """Wraps an ASGI application.

    Args:
        application: what to guard.
        metrics: told of every request.
        max_bytes: of a request's body.
        larger: the same for some addresses.
        body_seconds: in which a body must have come.
        hosts: names under which the server may be asked, against pages that rebind their own name to this
            machine; None for any.
    """

    def __init__(
        self,
        application: Application,
        *,
        metrics: Metrics,
        max_bytes: int,
        larger: Mapping[str, int],
        body_seconds: float,
        hosts: frozenset[str] | None,
    ) -> None:
        self._application = application
        self._metrics = metrics
        self._max_bytes, self._larger = max_bytes, larger
        self._body_seconds, self._hosts = body_seconds, hosts

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        answer = _Answer(send)
        began = time.perf_counter()
        self._metrics.in_flight += 1
        try:
            await self._guarded(scope, receive, answer)
        finally:
            self._metrics.in_flight -= 1
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.record(route, answer.status, time.perf_counter() - began)

    async def _guarded(self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer) -> None:
        try:
            most = self._larger.get(scope["path"], self._max_bytes)
            self._check(scope, most)
            body = await asyncio.wait_for(_body(receive, most), self._body_seconds)
        except _RefusedError as refused:
            await answer.refuse(refused.status, refused.detail)
        except TimeoutError:
            await answer.refuse(408, "the body of the request came too slowly")
        else:
            await self._application(scope, _once(body, receive), answer.send)

    def _check(self, scope: MutableMapping[str, Any], most: int) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if self._hosts is not None and name not in self._hosts:
            raise _RefusedError(
                421, "this server does not answer under that name; see tagtopics serve --help"
            )
        size = headers.get(b"content-length", b"0")
        if not size.isdigit() or int(size) > most:
            raise _RefusedError(413, f"the body may have {most:,} bytes at the most")


async def _body(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _RefusedError(400, "the connection was closed")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _RefusedError(413, f"the body may have {most:,} bytes at the most")
        if not message.get("more_body"):
            return b"".join(parts)


class _Answer:
    """Sends what the application says, with the headers of every page, and remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await self._send(message)

    async def refuse(self, status: int, detail: str) -> None:
        body = json.dumps({"detail": detail}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _once(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already, and then what really comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
