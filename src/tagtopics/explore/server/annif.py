"""The suggest call of Annif's REST API: Annif's `http` backend uses this server as one of its projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

import numpy as np
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field, ValidationError

from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Gate
from tagtopics.explore.server.schemas import NewDocument, NewText
from tagtopics.recommend.choice import Choice

_PROJECT = "/v1/projects/tagtopics"
_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 100


class SuggestForm(BaseModel):
    """Fields of a suggest call; others, such as `project`, `language` and metadata, are ignored."""

    text: NewText
    limit: Annotated[int, Field(ge=0, le=100)] = 10
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    explain: bool = False  # not part of Annif's API


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {_FORM: {"schema": SuggestForm.model_json_schema()}}}
}


def add_annif_routes(app: FastAPI, title: str, engine: ModelEngine, gate: Gate) -> None:
    """Add the routes of the only project, which has the title of the collection."""

    @app.get(_PROJECT, tags=["Annif"])
    async def project() -> dict[str, Any]:
        """Return the project as Annif describes one; Annif asks whether it is trained."""
        return {
            "project_id": "tagtopics",
            "name": title,
            "language": "und",  # undetermined, as in BCP 47
            "backend": {"backend_id": "tagtopics"},
            "vocab": None,
            "vocab_language": None,
            "is_trained": "recommend" in engine.offers,
            "modification_time": None,
        }

    @app.post(f"{_PROJECT}/suggest", tags=["Annif"], openapi_extra=_BODY)
    async def suggest(request: Request) -> Response:
        """Suggest tags for a text, as Annif does; with `explain=1`, say why."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise HTTPException(415, f"send a form, as {_FORM}")
        body = await request.body()
        return await gate.answer(lambda: _suggest(engine, _read_form(body)))


def _read_form(body: bytes) -> SuggestForm:
    try:
        fields = parse_qs(
            body.decode(),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:  # also of what is not UTF-8
        detail = f"not a form of at most {_MOST_FIELDS} fields in UTF-8; encode & and % in the text"
        raise HTTPException(400, detail) from None
    try:
        once = {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
        return SuggestForm.model_validate(once)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([one | {"loc": ("body", *one["loc"])} for one in found]) from None


def _suggest(engine: ModelEngine, form: SuggestForm) -> dict[str, Any]:
    """Return suggested tags, best first: `label` is the name of a tag, if the model has a thesaurus."""
    named = Choice(named=True)  # Annif fails if it gets a subject that is not in its vocabulary
    (tags,) = engine.recommend([NewDocument(text=form.text)], max(1, form.limit), named)
    chosen, results = tags[: form.limit], []
    for one, score in zip(chosen, falling_scores([one["score"] for one in chosen]), strict=True):
        tag = one["tag"]
        uri = tag[1:-1] if tag.startswith("<") and tag.endswith(">") else tag
        reasons = {"words": one["words"], "found": one["found"]} if form.explain else {}
        if score >= form.threshold:
            results.append(
                {"uri": uri, "label": one["name"] or tag, "score": score, "notation": None} | reasons
            )
    return {"results": results}


def falling_scores(scores: Sequence[float]) -> list[float]:
    """Return scores in float32 of which each is smaller than the one before, equal ones by the least step.

    Annif keeps scores in float32 and no other order, so that its choice among equal ones would not be ours.
    """
    falling: list[float] = []
    for score in np.asarray(scores, dtype=np.float32):
        if falling and score >= falling[-1]:
            score = np.nextafter(np.float32(falling[-1]), np.float32(0))
        falling.append(float(score))
    return falling
