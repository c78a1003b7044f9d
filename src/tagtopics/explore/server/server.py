"""The server: one model at `/`, several at `/NAME/`, replaced as a whole without a pause; the socket."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from prometheus_client import CollectorRegistry, generate_latest
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from tagtopics.errors import InputError
from tagtopics.explore.record.photographs import Photographs
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import ICON
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import BodyLimit, Gate, Limits, TokenGuard, Watch, has_token
from tagtopics.explore.server.model_app import model_app

_OWN = ("health", "ready", "reload", "metrics")  # paths of the server itself
_TWO_LENGTHS = JSONResponse(  # a proxy may read another end of the body, and so another next request
    {"detail": "Content-Length and Transfer-Encoding exclude each other"}, 400, {"Connection": "close"}
)


@dataclass(frozen=True, eq=False)
class Served:
    """A model that the server answers for."""

    name: str  # in addresses
    data: TopicData
    engine: ModelEngine
    photographs: Photographs | None = None  # of a model of photos, if their folder was given


class Models:
    """An ASGI application that passes requests on to the models.

    Requests that have begun are answered by the models they began with: `replace` only changes what later
    requests find.

    Attributes:
        loaded: what `/ready` tells about each model; empty until they are loaded.
        reloads: how often they were replaced.
        failure: of the last reload.
        wanted: set if they shall be loaded again.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._app: ASGIApp = JSONResponse(
            {"detail": "the models are being loaded; try again"},
            status_code=503,
            headers={"Retry-After": "2", "Refresh": "2"},  # for programs; for browsers
        )
        self.loaded: list[dict[str, Any]] = []
        self.reloads, self.failure, self.wanted = 0, "", threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)

    def replace(self, models: Sequence[Served]) -> None:
        """Answer with these models from now on."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        # This is slow; requests go on meanwhile.
        apps = [model_app(one.data, one.engine, self._gate, one.photographs) for one in models]
        if len(models) == 1:
            self._app = apps[0]
        else:
            page = HTMLResponse(_home_page(models).encode("utf-8", "replace"))
            mounts = [Mount(f"/{one.name}", app) for one, app in zip(models, apps, strict=True)]
            self._app = Router([Route("/", lambda _: page), *mounts])
        self.reloads += bool(self.loaded)
        self.failure = ""
        self.loaded = [
            {
                "name": one.name,
                "title": one.data.title,
                "model": one.data.model,
                "topics": one.data.n_topics,
                "documents": len(one.data.documents.ids),
                "loaded": now,
            }
            for one in models
        ]

    def keep_loaded(
        self,
        load: Callable[[], Sequence[Served]],
        ready: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Load the models, and again whenever it is wanted; return only if they cannot be loaded at first.

        Args:
            load: returns the models.
            ready: called once the first models are there.
            failed: called with the error of a load; earlier models stay.
        """
        while True:
            try:
                self.replace(load())
            except Exception as error:
                self.failure = str(error).splitlines()[0][:300] if str(error) else repr(error)
                failed(error)
            else:
                if not self.reloads:
                    ready()
            if not self.loaded:
                return
            self.wanted.wait()
            self.wanted.clear()


def names_of(paths: Sequence[str]) -> list[str]:
    """Return a name in addresses for each model folder; equal ones get a number."""
    names: list[str] = []
    for path in paths:
        stem = re.sub(r"\.tt$", "", re.split(r"[/\\]", path.rstrip("/\\"))[-1])
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "model"
        number, free = 2, name
        while free in (*names, *_OWN):
            free, number = f"{name}-{number}", number + 1
        names.append(free)
    return names


def _home_page(models: Sequence[Served]) -> str:
    """Return the page that lists several models."""
    rows = "".join(
        f'<li><a href="{one.name}/"><bdi>{escape(one.data.title)}</bdi></a> '
        f"<small>{len(one.data.documents.ids):,} documents, {one.data.n_topics} topics</small></li>"
        for one in models
    )
    style = f"{models[0].name}/static/explorer.css"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Models · tagtopics</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="{ICON}"><link rel="stylesheet" href="{style}"></head>'
        f'<body><main><h1>Models</h1><ul class="models">{rows}</ul></main></body></html>'
    )


def create_server(
    limits: Limits | None = None,
    hosts: Sequence[str] | None = None,
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> tuple[ASGIApp, Models]:
    """Return a server as an ASGI application, and what to give its models to.

    Args:
        limits: limits on its work, for all models together.
        hosts: host names that it accepts; None for any. See `allowed_hosts`.
        token: that requests must have, as `Authorization: Bearer TOKEN` or, in a browser, as the password.
        origins: addresses of other web pages that may use the API and embed the pages.
    """
    limits = limits or Limits()
    gate, registry = Gate(limits), CollectorRegistry()
    models = Models(gate)

    @asynccontextmanager
    async def closing(_: FastAPI) -> AsyncIterator[None]:
        yield
        gate.close()

    own = FastAPI(lifespan=closing, openapi_url=None)
    _add_operation(own, models, registry, token)
    own.mount("/", models)
    guarded: ASGIApp = BodyLimit(own, limits)
    guarded = guarded if token is None else TokenGuard(guarded, token)
    if origins:  # around the token: a browser asks for permission without one
        allowed = ["authorization", "content-type"]
        guarded = CORSMiddleware(guarded, allow_origins=list(origins), allow_headers=allowed)
    guarded = TrustedHostMiddleware(guarded, allowed_hosts=list(hosts or ("*",)), www_redirect=False)
    guarded = Watch(guarded, registry, lambda: gate.pending, origins)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answering: ASGIApp = guarded if scope["type"] == "http" else own
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope.get("headers", ())}:
            answering = _TWO_LENGTHS
        await answering(scope, receive, send)

    return app, models


def _add_operation(app: FastAPI, models: Models, registry: CollectorRegistry, token: str | None) -> None:
    """Add the routes of the server itself."""

    @app.api_route("/health", methods=["GET", "HEAD"])
    async def health() -> dict[str, Any]:
        return {"status": "ok"}

    @app.api_route("/ready", methods=["GET", "HEAD"])
    async def ready(request: Request) -> Response:
        told: dict[str, Any] = {"status": "ready" if models.loaded else "loading"}
        if token is None or has_token(request.scope, token):
            told |= {"models": models.loaded, "reloads": models.reloads, "failure": models.failure}
        return JSONResponse(told, 200 if models.loaded else 503)

    @app.post("/reload", status_code=202)
    async def reload(request: Request) -> dict[str, str]:
        if token is None or not has_token(request.scope, token):
            raise HTTPException(403, "needs the token of --token; or send the signal SIGHUP")
        models.wanted.set()
        return {"status": "reloading; GET /ready tells when it is done"}

    @app.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(generate_latest(registry))


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
    """Return a socket that listens on an address; its connections end if clients do not read, on Linux.

    Its protocol is named, because asyncio sets TCP_NODELAY only then; otherwise every answer on a kept-alive
    connection waits 40 ms.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                milliseconds = int(1000 * limits.unread_seconds)
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
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
