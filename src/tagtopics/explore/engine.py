"""The interface between the server and a model: questions about new documents, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class NotOfferedError(Exception):
    """The model cannot answer this kind of question; the message gives the reason in one line."""


@dataclass(frozen=True)
class Question:
    """A new document: its text and its known tags."""

    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topics:
    """The topics of a document."""

    topics: list[float]  # (K,) proportions
    known_words: int  # tokens that the model knows
    unknown_words: int  # other tokens


@dataclass(frozen=True)
class Explained:
    """Which words of a document each of its tags accounts for."""

    tags: list[str]
    words: list[str]
    counts: list[int]
    word_topics: list[int]  # the most probable topic of each word here
    credit: list[list[float]]  # words x tags, rows sum to one
    text: str  # normalised; the spans refer to it
    spans: list[tuple[int, int, int]]  # start, stop (code points), index in `words`


@dataclass(frozen=True)
class Recommended:
    """A recommended tag."""

    tag: str
    score: float
    words: list[str]  # of the document that suggest it most


@dataclass(frozen=True)
class Related:
    """A document of the collection with similar topics."""

    id: str
    row: int
    score: float


@dataclass(frozen=True)
class Pictured:
    """A new photo: its topics, recommended tags, and where in the photo each tag is."""

    topics: list[float]
    tags: list[str]
    scores: list[float]
    jpeg: str  # at its working size, base64
    rows: int
    columns: int
    heat: str  # tags x rows x columns, in 255ths, one byte each, base64


class Engine(Protocol):
    """Answers questions about new documents. It may be called from several threads at once."""

    @property
    def offers(self) -> frozenset[str]:
        """The methods below that the model supports; the others raise `NotOfferedError`."""
        ...

    def transform(self, questions: Sequence[Question]) -> list[Topics]:
        """Return the topics of each document."""
        ...

    def explain(self, questions: Sequence[Question]) -> list[Explained]:
        """Return the credits of each document, which must have tags."""
        ...

    def recommend(self, questions: Sequence[Question], top: int) -> list[list[Recommended]]:
        """Return recommended tags for each document, best first."""
        ...

    def photograph(self, content: bytes, top: int) -> Pictured:
        """Return topics, tags and heat maps of a photo, given as the bytes of its file."""
        ...

    def related(self, questions: Sequence[Question], top: int) -> list[list[Related]]:
        """Return similar documents of the collection for each document."""
        ...
