"""The server: the explorer's pages and a JSON API."""

from __future__ import annotations

import gzip
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from tagtopics.errors import InputError
from tagtopics.explore.map.terrain import map_index, terrain_of
from tagtopics.explore.record.heat_maps import PhotographAnswer
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.bodies import CHUNK, Bodies
from tagtopics.explore.report.page import live_page, packed, script, style
from tagtopics.explore.report.prepare import index_of
from tagtopics.explore.server import schemas
from tagtopics.explore.server.annif import annif_routes
from tagtopics.explore.server.answers import Answer, AnswerCache, unless_known
from tagtopics.explore.server.collection import Collection, NoSuchDocumentError, as_json
from tagtopics.explore.server.engine import Engine, NotOfferedError, Question
from tagtopics.explore.server.guard import TokenGuard, api_page
from tagtopics.explore.server.hosting import Served, Switchboard
from tagtopics.explore.server.middleware import (
    Application,
    Gate,
    Metrics,
    Middleware,
    OverloadedError,
    Receive,
    Send,
    TooSlowError,
)

PREFIX = "/api/v1"

Count = Annotated[int, Query(ge=1, le=500)]
Skip = Annotated[int, Query(ge=0, le=10**9)]
Text = Annotated[str, Query(max_length=200)]

_Answer = TypeVar("_Answer")
_PHOTOGRAPH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Failure} for code in (400, 404, 408, 413, 415, 422, 501, 503, 504)
}


@dataclass(frozen=True)
class Limits:
    """Limits on the work of the server."""

    workers: int = 2  # requests computed at the same time
    queue: int = 128  # requests that may wait
    seconds: float = 30.0  # for one answer, waiting included
    body_bytes: int = 2_000_000
    photograph_bytes: int = 12_000_000
    body_seconds: float = 10.0  # in which a body must arrive
    cache_bytes: int = 32_000_000  # of answers about the collection


def create_app(
    data: TopicData,
    engine: Engine,
    limits: Limits | None = None,
    hosts: Sequence[str] | None = None,
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> Application:
    """Return the server of one model as an ASGI application; see `create_server`."""
    app, board = create_server(limits, hosts, token=token, origins=origins)
    board.replace([Served("model", data, engine)])
    return app


def create_server(
    limits: Limits | None = None,
    hosts: Sequence[str] | None = None,
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> tuple[Application, Switchboard]:
    """Return a server as an ASGI application, and what to give its models to.

    Args:
        limits: limits on its work, for all models together.
        hosts: host names that it accepts; None for any. See `listener.allowed_hosts`.
        token: that requests must have, as `Authorization: Bearer TOKEN` or, in a browser, as the password.
        origins: addresses of other web pages that may use the API and embed the pages.
    """
    limits = limits or Limits()
    gate = Gate(limits.workers, limits.queue, limits.seconds)
    metrics = Metrics(lambda: gate.pending)
    board = Switchboard(lambda one: _model_app(one, limits, gate), metrics.text, token)
    guarded: Any = _Closing(board, gate)
    guarded = guarded if token is None else TokenGuard(guarded, token)
    if origins:  # outermost: a browser asks for permission without a token
        allowed = ["authorization", "content-type"]
        guarded = CORSMiddleware(guarded, allow_origins=list(origins), allow_headers=allowed)
    trusted = TrustedHostMiddleware(guarded, allowed_hosts=list(hosts or ("*",)), www_redirect=False)
    app = Middleware(
        trusted,
        metrics=metrics,
        max_bytes=limits.body_bytes,
        larger={"/api/v1/photograph": limits.photograph_bytes},
        body_seconds=limits.body_seconds,
        frames=origins,
    )
    return app, board


class _Closing:
    """Wraps an ASGI application: ends the work of a gate with the server."""

    def __init__(self, app: Application, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                self._gate.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def _model_app(one: Served, limits: Limits, gate: Gate) -> Application:
    """Return the pages and the API of one model."""
    data, engine = one.data, one.engine
    app = FastAPI(
        title="tagtopics",
        description="Topics, tags and documents of a model, and its answers about new documents.",
        version=f"{data.version}",
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(_pages(data, engine.offers), include_in_schema=False)
    app.include_router(_operation())
    collection, cache = Collection(data), AnswerCache(limits.cache_bytes)
    app.include_router(_collection(collection, gate, cache), prefix=PREFIX, responses=_REFUSALS)
    app.include_router(_questions(engine, gate), prefix=PREFIX, responses=_REFUSALS)
    suggesting = annif_routes(data.title, engine, lambda work: _compute(gate, work))
    app.include_router(suggesting, prefix="/v1", responses=_REFUSALS)
    page = api_page(app.openapi())
    app.add_api_route("/docs", lambda: HTMLResponse(page), include_in_schema=False)
    _handle_errors(app)
    return app


def _pages(data: TopicData, offers: frozenset[str]) -> APIRouter:
    """Serve the page, its style sheet and script, and its data."""
    router = APIRouter()
    order = data.documents.by_topic()
    bodies_of = Bodies(data)
    index = packed(index_of(data, order))
    places = packed(map_index(terrain_of(data), order))
    n_bodies = len(order) if data.documents.has_words else 0
    settings = {"live": True, "bodies": n_bodies, "chunk": CHUNK, "offers": sorted(offers)}
    page = live_page(data.title, settings)

    @lru_cache(maxsize=64)
    def pack(at: int) -> bytes:
        rows = order[at * CHUNK : (at + 1) * CHUNK]
        return packed(bodies_of.bodies(rows))

    @router.get("/")
    async def home() -> Response:
        return HTMLResponse(page)

    @router.get("/static/explorer.js")
    async def code(request: Request) -> Response:
        return unless_known(request, Answer(script().encode()), "text/javascript; charset=utf-8")

    @router.get("/static/explorer.css")
    async def looks(request: Request) -> Response:
        return unless_known(request, Answer(style().encode()), "text/css; charset=utf-8")

    @router.get("/data/index")
    def whole_index(request: Request) -> Response:
        return _zipped(index, request)

    @router.get("/data/map")
    def whole_map(request: Request) -> Response:
        return _zipped(places, request)

    @router.get("/data/bodies/{at}")
    def bodies(at: Annotated[int, Path(ge=0, le=10**9)], request: Request) -> Response:
        if at * CHUNK >= n_bodies:
            raise HTTPException(404, "no such document")
        return _zipped(pack(at), request)

    return router


def _zipped(content: bytes, request: Request) -> Response:
    if "gzip" in request.headers.get("accept-encoding", ""):
        zipped = {"Content-Encoding": "gzip"}
        return unless_known(request, Answer(content), "application/json", zipped)
    return unless_known(request, Answer(gzip.decompress(content)), "application/json")


def _operation() -> APIRouter:
    """Describe the routes of the server itself, for the schema; `hosting.Switchboard` answers them."""
    router = APIRouter(tags=["operation"])

    @router.get("/health")
    async def health() -> dict[str, str | int]:
        """Return the status of the server."""
        raise HTTPException(404)

    @router.get("/ready", responses={503: {"description": "The models are being loaded."}})
    async def ready() -> dict[str, Any]:
        """Return the loaded models and when they were loaded."""
        raise HTTPException(404)

    @router.post("/reload", status_code=202, responses={403: {"description": "The token is missing."}})
    async def reload() -> dict[str, str]:
        """Load the models again; requests are answered by the old ones meanwhile."""
        raise HTTPException(404)

    @router.get("/metrics", response_class=PlainTextResponse)
    async def counters() -> str:
        """Return metrics in the Prometheus text format."""
        raise HTTPException(404)

    return router


def _collection(collection: Collection, gate: Gate, cache: AnswerCache) -> APIRouter:
    """Serve what the model has learned: topics, tags, documents. Answers are cached by query."""
    router = APIRouter(tags=["collection"])

    async def answer(request: Request, compute: Callable[..., BaseModel], *given: Any) -> Response:
        key = (compute.__name__, *given)
        found = cache.get(key)
        if found is None:
            found = await _compute(gate, lambda: Answer(as_json(compute(*given))))
            cache.put(key, found)
        return unless_known(request, found, "application/json")

    @router.get("/topics", response_model=schemas.TopicList)
    async def topics(request: Request, words: Count = 10) -> Response:
        """Return all topics with their most probable words."""
        return await answer(request, collection.topics, words)

    @router.get("/tags", response_model=schemas.TagList)
    async def tags(
        request: Request, query: Text = "", n: Count = 50, skip: Skip = 0, words: Count = 10
    ) -> Response:
        """Return the tags whose name contains the query, most frequent first, with their profiles."""
        return await answer(request, collection.tags, query, n, skip, words)

    @router.get("/tags/together", response_model=schemas.TagOut)
    async def together(
        request: Request,
        tag: Annotated[list[schemas.Tag], Query(min_length=1, max_length=10)],
        words: Count = 10,
    ) -> Response:
        """Return the joint profile of several tags."""
        return await answer(request, collection.together, tuple(tag), words)

    @router.get("/documents", response_model=schemas.DocumentList)
    async def documents(request: Request, query: Text = "", n: Count = 50, skip: Skip = 0) -> Response:
        """Return the documents whose id contains the query, in the order of the collection."""
        return await answer(request, collection.documents, query, n, skip)

    @router.get("/documents/{row}", response_model=schemas.DocumentOut)
    async def document(request: Request, row: Annotated[int, Path(ge=0, le=10**9)]) -> Response:
        """Return one document by its row in the collection."""
        return await answer(request, collection.document, row)

    return router


def _questions(engine: Engine, gate: Gate) -> APIRouter:
    """Serve answers about new documents, one or a batch at a time."""
    router = APIRouter(tags=["new documents"])

    async def answer(work: Callable[[], BaseModel]) -> Response:
        # in a worker: large answers would block the event loop
        content = await _compute(gate, lambda: as_json(work()))
        return Response(content, media_type="application/json")

    @router.post("/transform", response_model=schemas.TransformAnswer)
    async def transform(batch: schemas.Batch) -> Response:
        """Return the topics of new documents."""
        return await answer(lambda: schemas.TransformAnswer(documents=engine.transform(_asked(batch))))

    @router.post("/explain", response_model=schemas.ExplainAnswer)
    async def explain(batch: schemas.Batch) -> Response:
        """Return how much of each word each of the given tags accounts for."""
        return await answer(lambda: schemas.ExplainAnswer(documents=engine.explain(_asked(batch))))

    @router.post("/recommend", response_model=schemas.RecommendAnswer)
    async def recommend(batch: schemas.RankedBatch) -> Response:
        """Recommend tags for new documents, with the words that suggest each."""
        return await answer(
            lambda: schemas.RecommendAnswer(documents=engine.recommend(_asked(batch), batch.top))
        )

    @router.post("/related", response_model=schemas.RelatedAnswer)
    async def related(batch: schemas.RankedBatch) -> Response:
        """Return documents of the collection that resemble new ones."""
        return await answer(lambda: schemas.RelatedAnswer(documents=engine.related(_asked(batch), batch.top)))

    @router.post("/photograph", openapi_extra=_PHOTOGRAPH)
    async def photograph(request: Request, top: Annotated[int, Query(ge=1, le=20)] = 5) -> PhotographAnswer:
        """Return the topics of a photo, recommended tags, and a heat map for each tag."""
        kind = request.headers.get("content-type", "")
        if not kind.startswith(("image/", "application/octet-stream")):
            raise HTTPException(415, "send the bytes of an image, as application/octet-stream")
        content = await request.body()
        return await _compute(gate, lambda: engine.photograph(content, top))

    return router


def _asked(batch: schemas.Batch) -> list[Question]:
    return [Question(one.text, tuple(dict.fromkeys(one.tags))) for one in batch.documents]


async def _compute(gate: Gate, work: Callable[[], _Answer]) -> _Answer:
    try:
        return await gate.run(work)
    except Exception as error:
        status, detail, headers = _refusal_of(error)
        raise HTTPException(status, detail, headers) from None


def _refusal_of(error: Exception) -> tuple[int, str, dict[str, str]]:
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


def _handle_errors(app: FastAPI) -> None:
    """Describe a wrong request in one line, without echoing its content."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        line = f"{place}: {first['msg']}".encode("ascii", "replace").decode()
        return JSONResponse({"detail": line[:300]}, status_code=422)

    @app.exception_handler(InputError)
    async def wrong(_: Request, error: InputError) -> Response:
        status, detail, headers = _refusal_of(error)
        return JSONResponse({"detail": detail}, status, headers)
