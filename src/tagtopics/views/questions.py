"""The interface between the server and a model: questions about new texts, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class NotOfferedError(Exception):
    """The model does not support this kind of question; the message gives the reason in one line."""


@dataclass(frozen=True)
class Question:
    """A new document: its text and its known tags."""

    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topics:
    """The topics of a document."""

    topics: list[float]  # (K,) proportions
    known_words: int  # number of tokens that the model knows
    unknown_words: int  # number of tokens that it does not know


@dataclass(frozen=True)
class Explained:
    """Which words of a document each of its tags accounts for."""

    tags: list[str]
    words: list[str]
    counts: list[int]
    word_topics: list[int]  # the most probable topic of each word here
    credit: list[list[float]]  # words x tags, rows add up to one
    text: str  # in the form that the spans count in
    spans: list[tuple[int, int, int]]  # start, stop (code points) and place in `words`


@dataclass(frozen=True)
class Recommended:
    """A tag that a document may need."""

    tag: str
    score: float
    words: list[str]  # words of the document that contribute most


@dataclass(frozen=True)
class Related:
    """A document of the collection that is similar to the question."""

    id: str
    row: int
    score: float


@dataclass(frozen=True)
class Pictured:
    """A new photograph: its topics, its recommended tags, and a heat map of each."""

    topics: list[float]
    tags: list[str]
    scores: list[float]
    jpeg: str  # at its working size, base64
    rows: int
    columns: int
    heat: str  # tags x rows x columns, in 255ths, one byte each, base64


class Engine(Protocol):
    """Answers questions about new texts. All calls may come from several threads at once."""

    @property
    def offers(self) -> frozenset[str]:
        """The names of the methods below that the model supports; the others raise `NotOfferedError`."""
        ...

    def transform(self, questions: Sequence[Question]) -> list[Topics]:
        """Return the topics of each document."""
        ...

    def explain(self, questions: Sequence[Question]) -> list[Explained]:
        """Return the credits of each document, which must have tags."""
        ...

    def recommend(self, questions: Sequence[Question], top: int) -> list[list[Recommended]]:
        """Return for each document the tags that it may need, best first."""
        ...

    def photograph(self, content: bytes, top: int) -> Pictured:
        """Return topics, tags and heat maps of a photograph, given as the bytes of its file."""
        ...

    def related(self, questions: Sequence[Question], top: int) -> list[list[Related]]:
        """Return for each document the most similar documents of the collection."""
        ...
