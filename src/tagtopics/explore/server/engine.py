"""Questions about new texts and photographs, and their answers by a fitted model, for the server."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.markup import without_html
from tagtopics.corpus.text import TermCounter, clean_text
from tagtopics.errors import InputError
from tagtopics.explore.record.heat_maps import PhotographAnswer, pictured
from tagtopics.explore.record.spans import TextSpans, normalised_text
from tagtopics.models.results import RelatedDocument as RelatedDocument
from tagtopics.models.ttm import TTM
from tagtopics.recommend.recommender import Recommendation


class NotOfferedError(Exception):
    """The model does not support this kind of question; the message gives the reason in one line."""


@dataclass(frozen=True)
class Question:
    """A new document: its text and its known tags."""

    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class TransformOut:
    """Topics of a new document."""

    topics: list[float]  # (K,) proportions
    known_words: int  # number of tokens that the model knows
    unknown_words: int  # number of tokens that it does not know


@dataclass(frozen=True)
class ExplainOut:
    """p(tag | word, document) of a new document: `credit` is words x tags."""

    tags: list[str]
    words: list[str]
    counts: list[int]
    word_topics: list[int]  # the most probable topic of each word here
    credit: list[list[float]]  # words x tags, rows add up to one
    text: str  # in the form that the spans count in
    spans: list[tuple[int, int, int]]  # start, stop (code points) and place in `words`


@dataclass(frozen=True)
class RecommendedTag:
    """A recommended tag, and the words that suggest it."""

    tag: str
    score: float
    words: list[str]  # words of the document that contribute most
    name: str = ""  # of the tag, if the model has a thesaurus
    found: list[str] = field(default_factory=list)  # pieces of the text that are names of the tag


class Engine(Protocol):
    """Answers questions about new texts. All calls may come from several threads at once."""

    @property
    def offers(self) -> frozenset[str]:
        """The names of the methods below that the model supports; the others raise `NotOfferedError`."""
        ...

    def transform(self, questions: Sequence[Question]) -> list[TransformOut]:
        """Return the topics of each document."""
        ...

    def explain(self, questions: Sequence[Question]) -> list[ExplainOut]:
        """Return the credits of each document, which must have tags."""
        ...

    def recommend(self, questions: Sequence[Question], top: int) -> list[list[RecommendedTag]]:
        """Return for each document the tags that it may need, best first."""
        ...

    def photograph(self, content: bytes, top: int) -> PhotographAnswer:
        """Return topics, tags and heat maps of a photograph, given as the bytes of its file."""
        ...

    def related(self, questions: Sequence[Question], top: int) -> list[list[RelatedDocument]]:
        """Return for each document the most similar documents of the collection."""
        ...


_WORDS_BEHIND = 6
"""Words given as the reason for a recommended tag."""


class ModelEngine:
    """Implements `Engine` for a fitted model; all methods may be called from several threads.

    Args:
        model: a model of texts (with a recipe) or of images; others support no questions.
    """

    def __init__(self, model: Any) -> None:
        self._model = copy.copy(model)
        self._model.n_jobs = 1  # the server runs several requests in parallel
        means = model.tag_means()
        self._model.tag_means = lambda: means  # (T, K), the same in every request
        roots = model.foreground_roots()
        self._model.foreground_roots = lambda: roots  # (D, K), for `related`
        self._tags = {name: t for t, name in enumerate(model.tag_names_)}
        if model.recipe_ is not None:
            self._spans = TextSpans(model.vocabulary_, model.recipe_)
            self._counter = TermCounter(model.vocabulary_, model.recipe_)

    @property
    def offers(self) -> frozenset[str]:
        """The kinds of questions that the model supports."""
        recommends = getattr(self._model, "recommender_", None) is not None
        if self._model.recipe_ is None:
            seen = recommends and getattr(self._model, "visual_", None) is not None
            return frozenset({"photograph"} if seen else ())
        offered = {"transform", "related"}
        if self._tags and hasattr(self._model, "explain"):
            offered.add("explain")
        if recommends:
            offered.add("recommend")
        return frozenset(offered)

    def warm(self) -> None:
        """Ask one question of every kind, so that no user waits for what the first answer computes."""
        if self._model.recipe_ is None:
            return
        text = " ".join(self._model.vocabulary_[:20])
        asked = [Question(text, tuple(self._model.tag_names_[:1]))]
        self.transform(asked)
        self.related(asked, 1)
        if "explain" in self.offers:
            self.explain(asked)
        if "recommend" in self.offers:
            self.recommend(asked, 1)

    def transform(self, questions: Sequence[Question]) -> list[TransformOut]:
        """Return the topics of each document; known tags are used."""
        corpus, unknown = self._corpus(questions)
        theta = self._model.transform(corpus, corpus if self._tags else None)
        tokens = np.asarray(corpus.counts.sum(1)).ravel()
        rows = zip(theta, tokens, unknown, strict=True)
        return [TransformOut(_numbers(row), int(known), missing) for row, known, missing in rows]

    def explain(self, questions: Sequence[Question]) -> list[ExplainOut]:
        """Return the credits of each document."""
        if "explain" not in self.offers:
            raise NotOfferedError(
                f"{type(self._model).__name__} does not credit words to tags; fit --model ttm"
            )
        for question in questions:
            if not question.tags:
                raise InputError("explain: every document needs at least one tag")
        texts = self._texts(questions)
        found = [self._spans.find(normalised_text(text, self._model.recipe_)) for text in texts]
        counts, _ = self._counter.count(texts)
        tags = tag_matrix([question.tags for question in questions], self._tags)
        theta, shares = self._topics_and_shares(counts, tags)
        parts = np.split(shares, np.cumsum(np.diff(counts.indptr) * np.diff(tags.indptr))[:-1])
        rows = zip(texts, found, theta, parts, strict=True)
        return [self._explained(_row(counts, d), _row(tags, d)[0], *row) for d, row in enumerate(rows)]

    def _topics_and_shares(self, counts: Any, tags: Any) -> tuple[Any, Any]:
        """Return the topics of documents, (D, K), and p(tag | word, document) of all their words, flat."""
        model = self._model
        if isinstance(model, TTM):
            return model.topics_and_shares(counts, tags)
        names = {"vocabulary": model.vocabulary_, "tag_names": model.tag_names_}
        ids = tuple(str(d) for d in range(counts.shape[0]))
        corpus = Corpus(counts=counts, tags=tags, ids=ids, **names)
        shares = np.asarray(model.explain(corpus).credit if counts.nnz else (), dtype=np.float64)
        return model.transform(corpus, corpus), shares

    def recommend(self, questions: Sequence[Question], top: int) -> list[list[RecommendedTag]]:
        """Return for each document its recommended tags."""
        if "recommend" not in self.offers:
            raise NotOfferedError(f"this {type(self._model).__name__} does not recommend tags")
        corpus, _ = self._corpus([Question(question.text) for question in questions])
        answers = self._model.recommend_with_reasons(corpus, top=top, n_words=_WORDS_BEHIND)
        return [[_recommended(one) for one in row] for row in answers]

    def related(self, questions: Sequence[Question], top: int) -> list[list[RelatedDocument]]:
        """Return for each document the documents of the collection with the most similar topics."""
        corpus, _ = self._corpus(questions)
        found: list[list[RelatedDocument]] = self._model.related(
            corpus, top, tags=corpus if self._tags else None
        )
        return found

    def photograph(self, content: bytes, top: int) -> PhotographAnswer:
        """Return topics, tags and heat maps of a photograph."""
        if "photograph" not in self.offers:
            raise NotOfferedError("this model was not fitted to photographs with tags")
        with tempfile.TemporaryDirectory(prefix="tagtopics-") as folder:
            path = Path(folder) / "photograph"
            path.write_bytes(content)
            try:
                return pictured(self._model, path, top)
            except InputError as error:
                raise InputError(str(error).replace(f"{folder}/", "")) from None

    def _corpus(self, questions: Sequence[Question]) -> tuple[Corpus, list[int]]:
        """Return new texts as a corpus in the columns of the model, and the unknown words of each."""
        model = self._model
        if model.recipe_ is None:
            raise NotOfferedError("the model was fitted to counts and has no text recipe")
        texts = self._texts(questions)
        counted = [self._counter.count([text]) for text in texts]
        rows = [counts for counts, _ in counted]
        corpus = Corpus(
            counts=rows[0] if len(rows) == 1 else sp.csr_array(sp.vstack(rows, format="csr")),
            tags=tag_matrix([question.tags for question in questions], self._tags),
            vocabulary=model.vocabulary_,
            tag_names=model.tag_names_,
            ids=tuple(str(i) for i in range(len(texts))),
            texts=texts,
            recipe=model.recipe_,
        )
        return corpus, [unknown for _, unknown in counted]

    def _texts(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Return the texts of questions as the model reads them; raise `InputError` for unknown tags."""
        for question in questions:
            if unknown := sorted(tag for tag in question.tags if tag not in self._tags):
                raise InputError(f"the model has no tag {clean_text(unknown[0])[:80]!r}")
        strip = without_html if self._model.recipe_.strip_html else str
        return tuple(strip(clean_text(question.text)) for question in questions)

    def _explained(
        self,
        counted: tuple[Any, Any],
        tags: Any,
        text: str,
        spans: Sequence[tuple[int, int, int]],
        theta: Any,
        credit: Any,
    ) -> ExplainOut:
        columns, counts = counted
        posterior = self._model.components_[:, columns].T * theta
        words, place = columns.tolist(), {w: i for i, w in enumerate(columns.tolist())}
        return ExplainOut(
            tags=[self._model.tag_names_[t] for t in tags.tolist()],
            words=[self._model.vocabulary_[w] for w in words],
            counts=counts.tolist(),
            word_topics=posterior.argmax(1).tolist(),
            credit=credit.astype(np.float64).reshape(len(words), len(tags)).tolist(),
            text=normalised_text(text, self._model.recipe_),
            spans=[(a, b, place[w]) for a, b, w in spans if w in place],
        )


def _row(matrix: Any, row: int) -> tuple[Any, Any]:
    """Return the columns and the values of one row of a CSR matrix."""
    entries = slice(*matrix.indptr[row : row + 2])
    return matrix.indices[entries], matrix.data[entries]


def _recommended(one: Recommendation) -> RecommendedTag:
    words = [word for word, _ in one.words]
    return RecommendedTag(one.tag, float(one.probability), words, one.name, list(one.found))


def _numbers(row: Any) -> list[float]:
    return [float(f"{value:.6g}") for value in row]
