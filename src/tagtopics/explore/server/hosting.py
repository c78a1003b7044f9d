"""Which models a server has: one at `/`, several at `/NAME/`; replaced as a whole, without a pause."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from types import SimpleNamespace
from typing import Any

from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import ICON
from tagtopics.explore.server.engine import Engine
from tagtopics.explore.server.guard import given_token
from tagtopics.explore.server.middleware import Application, Receive, Send

_OWN = ("/health", "/ready", "/reload", "/metrics")
"""Paths of the server itself."""


@dataclass(frozen=True, eq=False)
class Served:
    """A model that the server answers for."""

    name: str  # in addresses
    data: TopicData
    engine: Engine


@dataclass
class Status:
    """What the server tells about itself."""

    models: tuple[dict[str, Any], ...] = ()  # empty until they are loaded
    reloads: int = 0
    failure: str = ""  # of the last reload
    wanted: threading.Event = field(default_factory=threading.Event)


def names_of(paths: Sequence[str]) -> list[str]:
    """Return a name in addresses for each model folder; equal ones get a number."""
    names: list[str] = []
    for path in paths:
        stem = re.sub(r"\.tt$", "", re.split(r"[/\\]", path.rstrip("/\\"))[-1])
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "model"
        number, free = 2, name
        while free in names or f"/{free}" in _OWN:
            free, number = f"{name}-{number}", number + 1
        names.append(free)
    return names


_LOADING = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>tagtopics</title>'
    b'<meta http-equiv="refresh" content="2"><meta name="viewport" content="width=device-width"></head>'
    b"<body><main><h1>tagtopics</h1><p>The model is being loaded. Reload this page in a moment.</p></main>"
    b"</body></html>"
)
"""For browsers that come long before the models are there."""

_PATIENCE, _PAUSE = 20.0, 0.1
"""Seconds that a browser waits for the models, and between two looks."""


class Switchboard:
    """An ASGI application that passes requests on to the models.

    Requests that have begun are answered by the models they began with: `replace` only changes what later
    requests find.

    Args:
        build: returns the application of a model.
        metrics: returns the metrics of the server.
        token: needed for `POST /reload`; None if only a signal reloads.
    """

    def __init__(
        self, build: Callable[[Served], Application], metrics: Callable[[], str], token: str | None
    ) -> None:
        self._build, self._metrics, self._token = build, metrics, token
        self._apps: Mapping[str, Application] = {}
        self._home = b""
        self.status = Status()

    def replace(self, models: Sequence[Served]) -> None:
        """Answer with these models from now on."""
        if not models:
            raise InputError("serve: no models")
        loaded = datetime.now(UTC).isoformat(timespec="seconds")
        apps = {one.name: self._build(one) for one in models}  # slow; requests go on meanwhile
        described = tuple(
            {
                "name": one.name,
                "title": one.data.title,
                "model": one.data.model,
                "topics": one.data.n_topics,
                "documents": len(one.data.documents.ids),
                "loaded": loaded,
            }
            for one in models
        )
        self._apps, self._home = apps, _home_page(models).encode("utf-8", "replace")
        self.status.reloads += bool(self.status.models)
        self.status.models, self.status.failure = described, ""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        path, by_reader = scope["path"], b"text/html" in dict(scope["headers"]).get(b"accept", b"")
        if by_reader and path not in _OWN:
            await self._loaded()
        apps = self._apps
        if path in _OWN:
            await self._own(scope, send)
        elif not apps and by_reader:
            await _answer(send, 503, _LOADING, "text/html; charset=utf-8", [(b"retry-after", b"2")])
        elif not apps:
            await _json(send, 503, {"detail": "the models are being loaded; try again"}, retry=True)
        elif len(apps) == 1:
            await next(iter(apps.values()))(scope, receive, send)
        else:
            await self._one_of(apps, scope, receive, send)

    async def _loaded(self) -> None:
        """Wait for the models, but not for long. A page that reloads itself would lose its place."""
        for _ in range(int(_PATIENCE / _PAUSE)):
            if self._apps:
                return
            await asyncio.sleep(_PAUSE)

    async def _one_of(
        self, apps: Mapping[str, Application], scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        name, slash, _ = scope["path"].lstrip("/").partition("/")
        if name in apps and slash:
            inner = dict(scope) | {"root_path": f"{scope.get('root_path', '')}/{name}"}
            await apps[name](inner, receive, send)
            scope["route"] = inner.get("route")  # for the metrics
        elif name in apps:
            await _answer(send, 307, b"", "text/plain", [(b"location", f"/{name}/".encode())])
        elif scope["path"] == "/":
            await _answer(send, 200, self._home, "text/html; charset=utf-8")
        elif scope["path"] == "/static/explorer.css":
            await next(iter(apps.values()))(scope, receive, send)
        else:
            await _json(send, 404, {"detail": f"no such page; the models are {', '.join(apps)}"[:300]})

    async def _own(self, scope: MutableMapping[str, Any], send: Send) -> None:
        scope["route"] = SimpleNamespace(path=scope["path"])  # for the metrics
        status, path, reading = self.status, scope["path"], scope["method"] in ("GET", "HEAD")
        first: dict[str, Any] = dict(status.models[0]) if status.models else {}
        if path == "/reload":
            await self._reload(scope, send)
        elif not reading:
            await _json(send, 405, {"detail": "use GET"})
        elif path == "/health":
            known = {key: value for key, value in first.items() if key in ("model", "topics")}
            await _json(send, 200, {"status": "ok", **known})
        elif path == "/metrics":
            await _answer(send, 200, self._metrics().encode(), "text/plain; charset=utf-8")
        else:
            ready = bool(status.models)
            told: dict[str, Any] = {"status": "ready" if ready else "loading", "models": list(status.models)}
            told |= {"reloads": status.reloads, "failure": status.failure}
            await _json(send, 200 if ready else 503, told, retry=not ready)

    async def _reload(self, scope: MutableMapping[str, Any], send: Send) -> None:
        given = given_token(dict(scope["headers"]))
        if scope["method"] != "POST":
            await _json(send, 405, {"detail": "use POST"})
        elif self._token is None or given is None or not hmac.compare_digest(given, self._token.encode()):
            await _json(send, 403, {"detail": "needs the token of --token; or send the signal SIGHUP"})
        else:
            self.status.wanted.set()
            await _json(send, 202, {"status": "reloading; GET /ready tells when it is done"})


async def _json(send: Send, status: int, value: dict[str, Any], *, retry: bool = False) -> None:
    headers = [(b"retry-after", b"2")] if retry else []
    await _answer(send, status, json.dumps(value).encode(), "application/json", headers)


async def _answer(
    send: Send, status: int, body: bytes, kind: str, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    own = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})


def _home_page(models: Sequence[Served]) -> str:
    """Return the page that lists several models."""
    rows = "".join(
        f'<li><a href="{one.name}/"><bdi>{escape(one.data.title)}</bdi></a> <small>{_sizes(one)}</small></li>'
        for one in models
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Models · tagtopics</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="{ICON}"><link rel="stylesheet" href="static/explorer.css"></head>'
        f'<body><main><h1>Models</h1><ul class="models">{rows}</ul></main></body></html>'
    )


def _sizes(one: Served) -> str:
    return f"{len(one.data.documents.ids):,} documents, {one.data.n_topics} topics"


class Reloader:
    """Loads the models in a thread of its own: at the start, and again whenever it is asked to.

    Args:
        board: gets the models.
        load: returns the models; an `InputError` at the start ends the server.
        ready: called once the first models are there.
        failed: called with the first error at the start, and with errors of later reloads.
    """

    def __init__(
        self,
        board: Switchboard,
        load: Callable[[], Sequence[Served]],
        ready: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._board, self._load, self._ready, self._failed = board, load, ready, failed
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="tagtopics-loader", daemon=True)

    def start(self) -> None:
        """Begin to load."""
        self._thread.start()

    def ask(self, *_: Any) -> None:
        """Load again, soon; may be called from a signal handler."""
        self._board.status.wanted.set()

    def stop(self) -> None:
        """End the thread, unless it is loading."""
        self._ended = True
        self._board.status.wanted.set()

    def _run(self) -> None:
        if self._loaded():
            self._ready()
        while self._board.status.models:
            self._board.status.wanted.wait()
            self._board.status.wanted.clear()
            if self._ended:
                return
            self._loaded()

    def _loaded(self) -> bool:
        try:
            self._board.replace(self._load())
        except Exception as error:
            self._board.status.failure = str(error).splitlines()[0][:300] if str(error) else repr(error)
            self._failed(error)
            return False
        return True
