"""Answers of a fitted model to questions about new texts and photographs, for the server."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp
from fastapi import HTTPException

from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.text import TermCounter, clean_text, without_html
from tagtopics.errors import InputError
from tagtopics.explore.record.heat_maps import counts_of, tag_maps
from tagtopics.explore.record.spans import SpanFinder
from tagtopics.explore.server.schemas import (
    ExplainOut,
    NewDocument,
    PhotographOut,
    RecommendedTag,
    TransformOut,
)
from tagtopics.recommend.choice import Choice

_WORDS_BEHIND = 6  # words given as the reason for a recommended tag
_ANY = Choice()
MOST_PIXELS = 25_000_000  # of a photograph; a larger one is not decoded


class ModelEngine:
    """Answers questions about new documents; all methods may be called from several threads at once.

    Args:
        model: a model of texts (with a recipe) or of images; others support no questions.

    Attributes:
        model: the model, for one thread.
    """

    def __init__(self, model: Any) -> None:
        self.model: Any = copy.copy(model)
        self.model.n_jobs = 1  # the server runs several requests in parallel
        if model.visual_ is not None:
            self.model.visual_ = copy.copy(model.visual_)
            self.model.visual_.max_pixels = min(model.visual_.max_pixels, MOST_PIXELS)
        self._roots = model.foreground_roots()  # for `related`; computed once
        self._tags = {name: t for t, name in enumerate(model.tag_names_)}
        if model.recipe_ is not None:
            self._spans = SpanFinder(model.vocabulary_, model.recipe_)
            self._counter = TermCounter(model.vocabulary_, model.recipe_)

    @property
    def offers(self) -> frozenset[str]:
        """The names of the methods that the model supports; the others are refused with status 501."""
        recommends = getattr(self.model, "recommender_", None) is not None
        if self.model.recipe_ is None:
            seen = recommends and self.model.visual_ is not None
            return frozenset({"photograph"} if seen else ())
        explains = bool(self._tags) and hasattr(self.model, "explain")
        extra = {"explain": explains, "recommend": recommends}
        return frozenset({"transform", "related", *(name for name, offered in extra.items() if offered)})

    def warm(self) -> None:
        """Ask one question of every kind, so that no user waits for what the first answer computes."""
        text = " ".join(self.model.vocabulary_[:20])
        asked = [NewDocument(text=text, tags=list(self.model.tag_names_[:1]))]
        for name, top in (("transform", ()), ("explain", ()), ("related", (1,)), ("recommend", (1,))):
            if name in self.offers:
                getattr(self, name)(asked, *top)

    def transform(self, documents: Sequence[NewDocument]) -> list[TransformOut]:
        """Return the topics of each document; known tags are used."""
        corpus, unknown = self._corpus("transform", documents)
        theta = self.model.transform(corpus, corpus if self._tags else None)
        tokens = np.asarray(corpus.counts.sum(1)).ravel()
        rounded = [[float(f"{value:.6g}") for value in row] for row in theta]
        return [
            TransformOut(topics=row, known_words=int(known), unknown_words=missing)
            for row, known, missing in zip(rounded, tokens, unknown, strict=True)
        ]

    def explain(self, documents: Sequence[NewDocument]) -> list[ExplainOut]:
        """Return p(tag | word, document) of each document, which must have tags."""
        self.check_offer("explain")
        if not all(document.tags for document in documents):
            raise InputError("explain: every document needs at least one tag")
        corpus, _ = self._corpus("explain", documents)
        theta = self.model.transform(corpus, corpus)
        shares = np.asarray(self.model.explain(corpus).credit if corpus.counts.nnz else (), dtype=np.float64)
        sizes = np.diff(corpus.counts.indptr) * np.diff(corpus.tags.indptr)
        parts = np.split(shares, np.cumsum(sizes)[:-1])
        return [self._explain_document(corpus, d, theta[d], part) for d, part in enumerate(parts)]

    def _explain_document(self, corpus: Corpus, d: int, theta: Any, credit: Any) -> ExplainOut:
        model, (counts, tags) = self.model, (corpus.counts[[d]], corpus.tags[[d]])
        columns, (text, spans) = counts.indices, self._spans.find((corpus.texts or ())[d])
        place = {w: i for i, w in enumerate(columns.tolist())}
        return ExplainOut(
            tags=[model.tag_names_[t] for t in tags.indices],
            words=[model.vocabulary_[w] for w in columns],
            counts=counts.data.tolist(),
            word_topics=(model.components_[:, columns].T * theta).argmax(1).tolist(),
            credit=credit.reshape(len(columns), len(tags.indices)).tolist(),
            text=text,
            spans=[(a, b, place[w]) for a, b, w in spans if w in place],
        )

    def recommend(
        self, documents: Sequence[NewDocument], top: int, choice: Choice = _ANY
    ) -> list[list[RecommendedTag]]:
        """Return for each document the `top` tags that it may need, best first; those it has are ignored."""
        corpus, _ = self._corpus("recommend", [NewDocument(text=document.text) for document in documents])
        answers = self.model.recommend_choice(corpus, _WORDS_BEHIND, choice._replace(top=top))
        return [
            [
                RecommendedTag(
                    tag=one.tag,
                    score=float(one.probability),
                    words=[word for word, _ in one.words],
                    name=one.name,
                    found=list(one.found),
                    broader=list(one.broader),
                )
                for one in row
            ]
            for row in answers
        ]

    def related(self, documents: Sequence[NewDocument], top: int) -> list[list[dict[str, Any]]]:
        """Return for each document the most related documents of the collection."""
        corpus, _ = self._corpus("related", documents)
        found = self.model.related_among(self._roots, corpus, top, corpus if self._tags else None)
        return [[asdict(one) for one in row] for row in found]

    def photograph(self, content: bytes, top: int) -> PhotographOut:
        """Return topics, tags and heat maps of a photograph, given as the bytes of its file."""
        self.check_offer("photograph")
        counts = counts_of(self.model.visual_, content)
        (found,) = self.model.recommend(counts, top=top)
        known = [one for one in found if one.tag in self._tags]
        if not known:
            raise InputError("the model has no tag for this photograph")
        tags = [one.tag for one in known]
        return PhotographOut(
            topics=[float(share) for share in self.model.transform(counts)[0]],
            tags=tags,
            scores=[float(one.probability) for one in known],
            **tag_maps(self.model, content, tags).for_page(),
        )

    def check_offer(self, name: str) -> None:
        """Raise status 501, with the reason, if the model does not support a method."""
        if name not in self.offers:
            kind = type(self.model).__name__
            reasons = {
                "explain": f"{kind} does not credit words to tags; fit --model ttm",
                "recommend": f"this {kind} does not recommend tags",
                "photograph": "this model was not fitted to photographs with tags",
            }
            raise HTTPException(
                501, reasons.get(name, "the model was fitted to counts and has no text recipe")
            )

    def _corpus(self, name: str, documents: Sequence[NewDocument]) -> tuple[Corpus, list[int]]:
        """Return new texts as a corpus in the columns of the model, and the unknown words of each."""
        self.check_offer(name)
        model, tags = self.model, [document.tags for document in documents]
        if unknown := [tag for row in tags for tag in sorted(row) if tag not in self._tags]:
            raise InputError(f"the model has no tag {clean_text(unknown[0])[:80]!r}")
        strip = without_html if model.recipe_.strip_html else str
        texts = tuple(strip(clean_text(document.text)) for document in documents)
        counts, missing = zip(*(self._counter.count([text]) for text in texts), strict=True)
        corpus = Corpus(
            counts=sp.csr_array(sp.vstack(counts, format="csr")),
            tags=tag_matrix(tags, self._tags),
            vocabulary=model.vocabulary_,
            tag_names=model.tag_names_,
            ids=tuple(str(i) for i in range(len(texts))),
            texts=texts,
            recipe=model.recipe_,
        )
        return corpus, list(missing)
