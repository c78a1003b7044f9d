"""The listening socket and the HTTP server: which hosts, which limits, which timeouts."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tagtopics.errors import InputError
from tagtopics.explore.server.middleware import Application
from tagtopics.explore.server.server import Limits

HEADER_SECONDS = 10.0
"""Time in which the headers of a request must arrive."""

MOST_WAITING = 128
"""Connections that may wait for headers at a time; the one that has waited longest is closed first."""


def allowed_hosts(host: str) -> tuple[str, ...] | None:
    """Return the host names that a server on an address accepts; None for any.

    A server on a loopback address accepts only its own names. This stops web pages that rebind their own
    host name to this machine.
    """
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    # "[" is what Starlette before 0.50 reads from an IPv6 host such as [::1]:8000
    return ("localhost", "127.0.0.1", "[::1]", "::1", "[", host.lower()) if local else None


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Its protocol is named, because asyncio sets TCP_NODELAY only then; otherwise every answer on a kept-alive
    connection waits 40 ms.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listening.bind((host, port))
            listening.listen(512)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise InputError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another --port"
        ) from None
    return listening


def make_server(app: Application, limits: Limits) -> uvicorn.Server:
    """Return the HTTP server of an application; run it with `run(sockets=[bind(...)])`."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=type("Protocol", (TimedProtocol,), {"waiting": {}}),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=10,
            limit_concurrency=max(256, 8 * (limits.workers + limits.queue)),
        )
    )


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with limits on headers: uvicorn alone waits for any number of them without end.

    Each server has a subclass, whose `waiting` holds the timers of connections without headers, oldest first.
    """

    waiting: ClassVar[dict[TimedProtocol, asyncio.TimerHandle]]

    def connection_made(self, transport: Any) -> None:
        """Start the timer with the connection."""
        super().connection_made(transport)
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Restart or stop the timer, depending on whether the headers are complete."""
        super().data_received(data)
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def _update_timer(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self not in self.waiting:
            self.waiting[self] = self.loop.call_later(HEADER_SECONDS, self.transport.close)
            if len(self.waiting) > MOST_WAITING:
                oldest = next(iter(self.waiting))
                oldest._stop_timer()
                oldest.transport.close()

    def _stop_timer(self) -> None:
        if self in self.waiting:
            self.waiting.pop(self).cancel()
