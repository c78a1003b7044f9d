"""Questions about new documents: how each kind is answered, and a short way from a request to its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel, ValidationError

from tagtopics.errors import InputError
from tagtopics.explore.server import schemas
from tagtopics.explore.server.batching import Together
from tagtopics.explore.server.collection import NoSuchDocumentError, as_json
from tagtopics.explore.server.engine import Engine, NotOfferedError, Question
from tagtopics.explore.server.middleware import (
    Application,
    Gate,
    OverloadedError,
    Receive,
    Send,
    TooSlowError,
    replayed,
    whole_body,
)

PREFIX = "/api/v1"

_BATCHES: dict[str, type[schemas.Batch]] = {
    "transform": schemas.Batch,
    "explain": schemas.Batch,
    "recommend": schemas.RankedBatch,
    "related": schemas.RankedBatch,
}
"""What a request of each kind has."""

_SMALL = 16_000
"""Bytes of the largest body that is answered together with others, so that none waits for a large one."""


def answer_of(engine: Engine, kind: str, batch: Any) -> BaseModel:
    """Return the answer to a batch of questions; `batch` is of the class that the kind has."""
    asked = [Question(one.text, tuple(dict.fromkeys(one.tags))) for one in batch.documents]
    if kind == "transform":
        return schemas.TransformAnswer(documents=engine.transform(asked))
    if kind == "explain":
        return schemas.ExplainAnswer(documents=engine.explain(asked))
    if kind == "recommend":
        return schemas.RecommendAnswer(documents=engine.recommend(asked, batch.top))
    return schemas.RelatedAnswer(documents=engine.related(asked, batch.top))


def answers_of(engine: Engine, kind: str, bodies: Sequence[bytes]) -> list[bytes]:
    """Return the JSON of the answers to some requests of one kind, all computed in one call."""
    batches = [_BATCHES[kind].model_validate_json(body) for body in bodies]
    ends = accumulate((len(batch.documents) for batch in batches), initial=0)
    documents = [one for batch in batches for one in batch.documents]
    found: Any = answer_of(engine, kind, schemas.Batch.model_construct(documents=documents))
    build = type(found).model_construct
    return [as_json(partial(build, documents=found.documents[a:b])) for a, b in pairwise(ends)]


def refusal_of(error: Exception) -> tuple[int, str, dict[str, str]]:
    """Return status, reason and headers of the answer to a request that failed; raise unexpected errors."""
    if isinstance(error, OverloadedError):
        return 503, "too many requests at once; try again", {"Retry-After": "1"}
    if isinstance(error, TooSlowError):
        return 504, "the answer took too long; try a shorter text", {}
    if isinstance(error, NoSuchDocumentError):
        return 404, str(error), {}
    if isinstance(error, NotOfferedError):
        return 501, str(error), {}
    if isinstance(error, InputError):
        return 422, str(error).encode("utf-8", "replace").decode(), {}
    raise error


class ShortWay:
    """Wraps the application of a model: answers valid questions itself, and passes everything else on.

    The routes of FastAPI take longer than the answer for a short text. What they would refuse, they refuse:
    a request that is not valid is passed on with its body. Short requests that wait at the same time are
    answered in one call.

    Args:
        app: the application.
        engine: answers the questions.
        gate: where they are computed.
    """

    def __init__(self, app: Application, engine: Engine, gate: Gate) -> None:
        self._app, self._engine, self._gate = app, engine, gate
        self._together = {kind: Together(partial(answers_of, engine, kind)) for kind in engine.together}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        kind = _kind_of(scope)
        if kind is None:
            await self._app(scope, receive, send)
            return
        body = await whole_body(receive)
        try:
            self._gate.check()
            content = await self._gate.run(self._answer(kind, body))
        except ValidationError:
            await self._app(scope, replayed(body, receive), send)
            return
        except Exception as error:
            status, detail, headers = refusal_of(error)
            content = json.dumps({"detail": detail}, ensure_ascii=False, separators=(",", ":")).encode()
        else:
            status, headers = 200, {}
        scope["route"] = SimpleNamespace(path=f"{PREFIX}/{kind}")  # for the metrics
        headers |= {"content-length": str(len(content)), "content-type": "application/json"}
        lines = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": content})

    def _answer(self, kind: str, body: bytes) -> Callable[[], bytes]:
        if kind in self._together and len(body) <= _SMALL:
            return self._together[kind].work(body)

        def work() -> bytes:
            batch = _BATCHES[kind].model_validate_json(body)
            return as_json(lambda: answer_of(self._engine, kind, batch))

        return work


def _kind_of(scope: MutableMapping[str, Any]) -> str | None:
    """Return the kind of question that a request with JSON asks; None for any other request."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
    kind = path.removeprefix(f"{PREFIX}/")
    if kind == path or kind not in _BATCHES:
        return None
    sent = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return kind if sent.partition(b";")[0].strip().lower() == b"application/json" else None
