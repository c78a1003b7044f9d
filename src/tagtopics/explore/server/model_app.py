"""The application of one model: the explorer's pages and a JSON API."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response

from tagtopics.errors import InputError
from tagtopics.explore.map.terrain import map_index, terrain_of
from tagtopics.explore.record.photographs import Photographs
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.bodies import CHUNK, Bodies
from tagtopics.explore.report.page import compact_json, compress_json, live_page, script, style
from tagtopics.explore.report.prepare import index_of
from tagtopics.explore.server import schemas
from tagtopics.explore.server.annif import add_annif_routes
from tagtopics.explore.server.collection import add_collection_routes
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Gate
from tagtopics.explore.server.schemas import API, Number, PhotographOut
from tagtopics.models.results import RelatedDocument
from tagtopics.recommend.choice import Choice

_PHOTOGRAPH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Failure} for code in (400, 404, 408, 413, 415, 422, 501, 503, 504)
}


def model_app(
    data: TopicData, engine: ModelEngine, gate: Gate, photographs: Photographs | None = None
) -> FastAPI:
    """Return the pages and the API of one model; `gate` runs what takes long."""
    app = FastAPI(
        title="tagtopics",
        description="Topics, tags and documents of a model, and its answers about new documents.",
        version=f"{data.version}",
        docs_url=None,
        redoc_url=None,
        responses=_REFUSALS,
    )
    _add_pages(app, data, engine.offers, len(photographs.docs) if photographs else 0)
    if photographs is not None:
        _add_photographs(app, photographs, gate)
    add_collection_routes(app, data, engine.model, gate)
    _add_questions(app, engine, gate)
    add_annif_routes(app, data.title, engine, gate)
    _handle_errors(app)
    return app


def _add_pages(app: FastAPI, data: TopicData, offers: frozenset[str], n_photos: int) -> None:
    """Serve the page, its style sheet and script, and its data."""
    order = data.documents.by_topic()
    bodies_of = Bodies(data)
    index = compress_json(index_of(data, order))
    places = compress_json(map_index(terrain_of(data), order))
    n_bodies = len(order) if data.documents.has_words else 0
    settings = {"live": True, "bodies": n_bodies, "chunk": CHUNK, "offers": sorted(offers)}
    page = live_page(data.title, settings | {"photos": n_photos, "heated": n_photos})

    @lru_cache(maxsize=64)
    def pack(at: int) -> bytes:
        return compress_json(bodies_of.bodies(order[at * CHUNK : (at + 1) * CHUNK]))

    def zipped(content: bytes) -> Response:
        return Response(content, media_type="application/json", headers={"Content-Encoding": "gzip"})

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def home() -> Response:
        return HTMLResponse(page)

    @app.get("/static/explorer.js", include_in_schema=False)
    async def code() -> Response:
        return Response(script(), media_type="text/javascript")

    @app.get("/static/explorer.css", include_in_schema=False)
    async def looks() -> Response:
        return Response(style(), media_type="text/css")

    @app.get("/data/index", include_in_schema=False)
    async def whole_index() -> Response:
        return zipped(index)

    @app.get("/data/map", include_in_schema=False)
    async def whole_map() -> Response:
        return zipped(places)

    @app.get("/data/bodies/{at}", include_in_schema=False)
    def bodies(at: Number) -> Response:
        if at * CHUNK >= n_bodies:
            raise HTTPException(404, "no such document")
        return zipped(pack(at))


def _add_photographs(app: FastAPI, photographs: Photographs, gate: Gate) -> None:
    """Serve every photo, with heat maps that are computed when a page asks for them."""

    @lru_cache(maxsize=256)
    def heated(row: int) -> bytes:
        return compact_json(photographs.picture(row).for_page())

    @lru_cache(maxsize=4096)
    def small(row: int) -> bytes:
        return base64.b64decode(photographs.thumbnail(row).jpeg)

    async def content(row: int, make: Callable[[int], bytes], kind: str) -> Response:
        if row not in photographs.docs:
            raise HTTPException(404, "no such photo")
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(await gate.run(lambda: make(row)), media_type=kind, headers=headers)

    @app.get("/data/photos/{row}", include_in_schema=False)
    async def photo(row: Number) -> Response:
        return await content(row, heated, "application/json")

    @app.get("/data/thumbnails/{row}", include_in_schema=False)
    async def thumbnail(row: Number) -> Response:
        return await content(row, small, "image/jpeg")


def _add_questions(app: FastAPI, engine: ModelEngine, gate: Gate) -> None:
    """Serve answers about new documents."""
    tagged: dict[str, Any] = {"tags": ["new documents"]}

    @app.post(f"{API}/transform", response_model=schemas.Answers[schemas.TransformOut], **tagged)
    async def transform(batch: schemas.Batch) -> Response:
        """Return the topics of new documents."""
        return await gate.answer(lambda: {"documents": engine.transform(batch.documents)})

    @app.post(f"{API}/explain", response_model=schemas.Answers[schemas.ExplainOut], **tagged)
    async def explain(batch: schemas.Batch) -> Response:
        """Return how much of each word each of the given tags accounts for."""
        return await gate.answer(lambda: {"documents": engine.explain(batch.documents)})

    @app.post(f"{API}/recommend", response_model=schemas.Answers[list[schemas.RecommendedTag]], **tagged)
    async def recommend(batch: schemas.RecommendBatch) -> Response:
        """Recommend tags for new documents, with the words that suggest each."""
        choice = Choice(only=batch.only, exclude=batch.exclude)
        return await gate.answer(lambda: {"documents": engine.recommend(batch.documents, batch.top, choice)})

    @app.post(f"{API}/related", response_model=schemas.Answers[list[RelatedDocument]], **tagged)
    async def related(batch: schemas.RankedBatch) -> Response:
        """Return documents of the collection that resemble new ones."""
        return await gate.answer(lambda: {"documents": engine.related(batch.documents, batch.top)})

    @app.post(f"{API}/photograph", openapi_extra=_PHOTOGRAPH, **tagged)
    async def photograph(request: Request, top: Annotated[int, Query(ge=1, le=20)] = 5) -> PhotographOut:
        """Return the topics of a photo, recommended tags, and a heat map for each tag."""
        kind = request.headers.get("content-type", "")
        if not kind.startswith(("image/", "application/octet-stream")):
            raise HTTPException(415, "send the bytes of an image, as application/octet-stream")
        engine.check_offer("photograph")  # before 12 MB are read
        content = await request.body()
        return await gate.run(lambda: engine.photograph(content, top))


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
        return JSONResponse({"detail": str(error).encode("utf-8", "replace").decode()}, status_code=422)
