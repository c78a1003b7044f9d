"""The suggest call of Annif's REST API: Annif's `http` backend uses this server as one of its projects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field, ValidationError

from tagtopics.explore.server.collection import as_json
from tagtopics.explore.server.engine import Engine, Question, RecommendedTag
from tagtopics.explore.server.schemas import NewText

PROJECT = "tagtopics"
"""The only project; its address is /v1/projects/tagtopics."""

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 100


class SuggestForm(BaseModel):
    """Fields of a suggest call; others, such as `project`, `language` and metadata, are ignored."""

    text: NewText
    limit: Annotated[int, Field(ge=0, le=100)] = 10
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    explain: bool = False  # not part of Annif's API


class Suggestion(BaseModel):
    """A suggested tag."""

    uri: str  # the tag
    label: str  # its name if the model has a thesaurus, else the tag
    score: float
    notation: None = None


class ExplainedSuggestion(Suggestion):
    """A suggested tag with the reasons for it."""

    words: list[str]  # words of the text that contribute most
    found: list[str]  # pieces of the text that are names of the tag


class SuggestAnswer(BaseModel):
    """Suggested tags, best first."""

    results: list[ExplainedSuggestion | Suggestion]


class ProjectBackend(BaseModel):
    """What computes the suggestions."""

    backend_id: str = PROJECT


class Project(BaseModel):
    """The project as Annif describes one."""

    project_id: str = PROJECT
    name: str
    language: str = "und"  # undetermined, as in BCP 47
    backend: ProjectBackend = ProjectBackend()
    vocab: None = None
    vocab_language: None = None
    is_trained: bool
    modification_time: None = None


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {_FORM: {"schema": SuggestForm.model_json_schema()}}}
}


def annif_routes(
    title: str, engine: Engine, compute: Callable[[Callable[[], bytes]], Awaitable[bytes]]
) -> APIRouter:
    """Return the routes of the project.

    Args:
        title: name of the project.
        engine: recommends the tags.
        compute: runs a function within the limits of the server.
    """
    router = APIRouter(tags=["Annif"])

    @router.get(f"/projects/{PROJECT}")
    async def project() -> Project:
        """Return the project; Annif asks whether it is trained."""
        return Project(name=title, is_trained="recommend" in engine.offers)

    @router.post(f"/projects/{PROJECT}/suggest", response_model=SuggestAnswer, openapi_extra=_BODY)
    async def suggest(request: Request) -> Response:
        """Suggest tags for a text, as Annif does; with `explain=1`, say why."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise HTTPException(415, f"send a form, as {_FORM}")
        body = await request.body()
        content = await compute(lambda: as_json(_suggested(engine, _read_form(body))))
        return Response(content, media_type="application/json")

    return router


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


def _suggested(engine: Engine, form: SuggestForm) -> SuggestAnswer:
    (tags,) = engine.recommend([Question(form.text)], max(1, form.limit))
    chosen = tags[: form.limit]
    found = zip(chosen, falling_scores([tag.score for tag in chosen]), strict=True)
    listed = [(tag, score) for tag, score in found if score >= form.threshold]
    return SuggestAnswer(results=[_suggestion(tag, score, form.explain) for tag, score in listed])


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


def _suggestion(tag: RecommendedTag, score: float, explain: bool) -> Suggestion:
    uri = tag.tag[1:-1] if tag.tag.startswith("<") and tag.tag.endswith(">") else tag.tag
    label = tag.name or tag.tag
    if not explain:
        return Suggestion(uri=uri, label=label, score=score)
    return ExplainedSuggestion(uri=uri, label=label, score=score, words=tag.words, found=tag.found)
