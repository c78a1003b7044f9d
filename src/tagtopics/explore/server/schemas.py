"""Requests and answers of the JSON API; the OpenAPI schema is generated from them."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

Tag = Annotated[str, Field(min_length=1, max_length=500)]
NewText = Annotated[str, Field(max_length=100_000)]
T = TypeVar("T")

API = "/api/v1"  # where the routes are
Count = Annotated[int, Query(ge=1, le=500)]
Skip = Annotated[int, Query(ge=0, le=10**9)]
Text = Annotated[str, Query(max_length=200)]
Number = Annotated[int, Path(ge=0, le=10**9)]


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


class RecommendBatch(RankedBatch):
    """Documents, and which tags to recommend."""

    only: Annotated[list[Tag], Field(max_length=1000)] | None = None  # as they are or by name
    exclude: Annotated[list[Tag], Field(max_length=1000)] = []


class DocumentOut(TypedDict):
    """A document of the collection."""

    row: int
    id: str
    tags: list[str]
    topics: list[float]
    text: str | None


class DocumentList(TypedDict):
    """Some of the documents."""

    total: int
    documents: list[DocumentOut]


class Answers(TypedDict, Generic[T]):
    """One answer per document; several results are ordered, best first."""

    documents: list[T]


class TransformOut(TypedDict):
    """Topics of a new document."""

    topics: list[float]  # (K,) proportions
    known_words: int  # number of tokens that the model knows
    unknown_words: int  # number of tokens that it does not know


class ExplainOut(TypedDict):
    """p(tag | word, document) of a new document: `credit` is words x tags."""

    tags: list[str]
    words: list[str]
    counts: list[int]
    word_topics: list[int]  # the most probable topic of each word here
    credit: list[list[float]]  # words x tags, rows add up to one
    text: str  # in the form that the spans count in
    spans: list[tuple[int, int, int]]  # start, stop (code points) and place in `words`


class RecommendedTag(TypedDict):
    """A recommended tag, and the words that suggest it."""

    tag: str
    score: float
    words: list[str]  # words of the document that contribute most
    name: str  # of the tag, if the model has a thesaurus
    found: list[str]  # pieces of the text that are names of the tag
    broader: list[str]  # names of ever broader tags, likewise


class PhotographOut(BaseModel):
    """A new photo: its topics, recommended tags, and a heat map for each of them."""

    topics: list[float]
    tags: list[str]
    scores: list[float]
    jpeg: str  # at its working size, base64
    rows: int
    columns: int
    heat: str  # tags x rows x columns, in 255ths, one byte each, base64


class Failure(TypedDict):
    """Why a request failed, in one line."""

    detail: str
