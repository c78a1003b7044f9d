"""The server of a model: what surrounds its application, and the socket."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from tagtopics.errors import InputError
from tagtopics.explore.record.photographs import Photographs
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import (
    BodyLimit,
    Gate,
    Limits,
    SecurityHeaders,
    TokenGuard,
    has_token,
)
from tagtopics.explore.server.model_app import model_app

_TWO_LENGTHS = JSONResponse(  # a proxy may read another end of the body, and so another next request
    {"detail": "Content-Length and Transfer-Encoding exclude each other"}, 400, {"Connection": "close"}
)


class ServedModel:
    """An ASGI application that passes requests on to a model; until it has been loaded, they get status 503.

    Attributes:
        facts: what `/ready` tells about the model; empty until it has been loaded.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._app: ASGIApp = JSONResponse(
            {"detail": "the model is being loaded; try again"},
            status_code=503,
            headers={"Retry-After": "2", "Refresh": "2"},  # for programs; for browsers
        )
        self.facts: dict[str, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)

    def load(self, data: TopicData, engine: ModelEngine, photographs: Photographs | None = None) -> None:
        """Answer with a model from now on, and with its photographs if their folder was given."""
        self._app = model_app(data, engine, self._gate, photographs)
        self.facts = {
            "title": data.title,
            "model": data.model,
            "topics": data.n_topics,
            "documents": len(data.documents.ids),
        }


def create_server(
    limits: Limits | None = None,
    hosts: Sequence[str] | None = None,
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> tuple[ASGIApp, ServedModel]:
    """Return a server as an ASGI application, and what to load the model into.

    Args:
        limits: limits on its work.
        hosts: host names that it accepts; None for any. See `allowed_hosts`.
        token: that requests must have, as `Authorization: Bearer TOKEN` or, in a browser, as the password.
        origins: addresses of other web pages that may use the API and embed the pages.
    """
    limits = limits or Limits()
    gate = Gate(limits)
    model = ServedModel(gate)

    @asynccontextmanager
    async def closing(_: FastAPI) -> AsyncIterator[None]:
        yield
        gate.close()

    own = FastAPI(lifespan=closing, openapi_url=None)

    @own.api_route("/health", methods=["GET", "HEAD"])
    async def health() -> dict[str, Any]:
        return {"status": "ok"}

    @own.api_route("/ready", methods=["GET", "HEAD"])
    async def ready(request: Request) -> Response:
        told: dict[str, Any] = {"status": "ready" if model.facts else "loading"}
        if token is None or has_token(request.scope, token):
            told |= model.facts
        return JSONResponse(told, 200 if model.facts else 503)

    own.mount("/", model)
    guarded: ASGIApp = BodyLimit(own, limits)
    guarded = guarded if token is None else TokenGuard(guarded, token)
    if origins:  # around the token: a browser asks for permission without one
        allowed = ["authorization", "content-type"]
        guarded = CORSMiddleware(guarded, allow_origins=list(origins), allow_headers=allowed)
    guarded = TrustedHostMiddleware(guarded, allowed_hosts=list(hosts or ("*",)), www_redirect=False)
    guarded = SecurityHeaders(guarded, origins)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answering: ASGIApp = guarded if scope["type"] == "http" else own
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope.get("headers", ())}:
            answering = _TWO_LENGTHS
        await answering(scope, receive, send)

    return app, model


def is_local(host: str) -> bool:
    """Return whether an address is of this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def allowed_hosts(host: str, names: Sequence[str] = ()) -> tuple[str, ...] | None:
    """Return the host names that a server on an address accepts; None for any.

    A server on a loopback address accepts only its own names, and those given, such as `topics.example.org`
    or `*.example.org`. This stops web pages that rebind their own host name to this machine. Others accept
    all names if none are given.
    """
    for name in names:
        if not re.fullmatch(r"(\*\.)?[\w-]+(\.[\w-]+)*|\[[\da-fA-F:]+\]", name):
            raise InputError(f"--allowed-host {name[:60]!r}: give a name such as topics.example.org, no port")
    # "[" is what Starlette before 0.50 reads from an IPv6 host such as [::1]:8000
    own = ("localhost", "127.0.0.1", "[::1]", "::1", "[", host)
    return (*own, *names) if names or is_local(host) else None


def bind(host: str, port: int, limits: Limits) -> socket.socket:
    """Return a socket that listens on an address; its connections end if clients do not read, on Linux."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        listening = socket.create_server((host, port), family=family, backlog=512, dualstack_ipv6=both)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise InputError(f"cannot listen on {host} port {port}: {reason}; choose another --port") from None
    # Without this, every answer on a kept-alive connection waits 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = int(1000 * limits.unread_seconds)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return listening


def make_server(
    app: ASGIApp, limits: Limits, *, proxies: str = "127.0.0.1", root_path: str = "", log: bool = False
) -> uvicorn.Server:
    """Return the HTTP server of an application; run it with `run(sockets=[bind(...)])`.

    Args:
        app: the application.
        limits: on its work.
        proxies: addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` headers count.
        root_path: path of the server at a proxy, which removes it from requests.
        log: whether to log requests.
    """
    for one in proxies.split(","):
        try:
            ipaddress.ip_network("::" if one.strip() == "*" else one.strip())
        except ValueError:
            raise InputError(
                f"--forwarded-allow-ips {one.strip()[:60]!r}: give addresses or networks, or *"
            ) from None
    root = f"/{root_path.strip('/')}" if root_path.strip("/") else ""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            log_level="info" if log else "warning",
            access_log=log,
            forwarded_allow_ips=proxies,
            root_path=root,
            server_header=False,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=10,
            limit_concurrency=max(256, 8 * (limits.workers + limits.queue)),
        )
    )
