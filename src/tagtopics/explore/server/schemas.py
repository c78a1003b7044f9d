"""Requests and answers of the JSON API; the OpenAPI schema is generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tagtopics.explore.server.engine import ExplainOut, RecommendedTag, RelatedDocument, TransformOut

Tag = Annotated[str, Field(min_length=1, max_length=500)]
NewText = Annotated[str, Field(max_length=100_000)]


class NewDocument(BaseModel):
    """A document that the model has not seen."""

    model_config = ConfigDict(extra="forbid")
    text: NewText
    tags: Annotated[list[Tag], Field(max_length=50)] = []


class Batch(BaseModel):
    """One document or several."""

    model_config = ConfigDict(extra="forbid")
    documents: Annotated[list[NewDocument], Field(min_length=1, max_length=64)]


class RankedBatch(Batch):
    """Documents, and the number of results for each."""

    top: Annotated[int, Field(ge=1, le=100)] = 10


@dataclass(slots=True)
class Weighted:
    """A name with a weight. A plain class: an answer may have hundreds of thousands of them."""

    name: str
    weight: float


class TopicOut(BaseModel):
    """A topic of the model."""

    topic: int
    share: float
    coherence: float | None
    words: list[Weighted]


class TagOut(BaseModel):
    """The profile of a tag, or of several together."""

    tags: list[str]
    n_docs: list[int]
    topics: list[float]
    words: list[Weighted]


class DocumentOut(BaseModel):
    """A document of the collection."""

    row: int
    id: str
    tags: list[str]
    topics: list[float]
    text: str | None = None


class Failure(BaseModel):
    """Why a request failed, in one line."""

    detail: str


class TopicList(BaseModel):
    """All topics."""

    topics: list[TopicOut]


class TagList(BaseModel):
    """Some of the tags."""

    total: int
    tags: list[TagOut]


class DocumentList(BaseModel):
    """Some of the documents."""

    total: int
    documents: list[DocumentOut]


class TransformAnswer(BaseModel):
    """One answer per document."""

    documents: list[TransformOut]


class ExplainAnswer(BaseModel):
    """One answer per document."""

    documents: list[ExplainOut]


class RecommendAnswer(BaseModel):
    """One list per document, best first."""

    documents: list[list[RecommendedTag]]


class RelatedAnswer(BaseModel):
    """One list per document, most similar first."""

    documents: list[list[RelatedDocument]]
