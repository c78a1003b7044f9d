"""What the server needs of a model: questions about new texts. A model's side of it is in `models`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class NotOfferedError(Exception):
    """The model cannot answer this kind of question; the message says why, in one line."""


@dataclass(frozen=True)
class Question:
    """A new document: its text and what is known of its tags."""

    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topics:
    """The topics of a document."""

    topics: list[float]  # (K,) proportions
    known_words: int  # tokens that the model knows
    unknown_words: int  # and those it does not


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
    words: list[str]  # of the document, that speak for it most


@dataclass(frozen=True)
class Related:
    """A document of the collection that resembles the one asked about."""

    id: str
    row: int
    score: float


@dataclass(frozen=True)
class Pictured:
    """A new photograph: its topics, tags that it may need, and where in it each of them is."""

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
        """The names of the methods below that the model can answer; the others raise `NotOfferedError`."""
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
        """Return what the model sees in a photograph, given as the bytes of its file."""
        ...

    def related(self, questions: Sequence[Question], top: int) -> list[list[Related]]:
        """Return for each document those of the collection that resemble it."""
        ...
