"""Answers of the JSON API that need the record only: topics, tags, documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel

from tagtopics._blas import single_thread
from tagtopics._typing import Float32
from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import compact_json
from tagtopics.explore.server import schemas
from tagtopics.jit.threads import results_of
from tagtopics.jit.top import largest_in_rows


class NoSuchDocumentError(Exception):
    """There is no document of this number; the message names the range."""


_ROWS = 64
"""Rows whose weights are in memory at a time, for each core."""


class Collection:
    """Topics, tags and documents of a record, as the JSON API returns them."""

    def __init__(self, data: TopicData) -> None:
        self._data = data
        self._column = {name: t for t, name in enumerate(data.tags.names)}
        self._by_size = np.argsort(-data.tags.n_docs, kind="stable").tolist()
        self._folded_tags = [name.casefold() for name in data.tags.names]
        self._folded_ids = [name.casefold() for name in data.documents.ids]

    def topics(self, n_words: int) -> schemas.TopicList:
        """Return all topics with their most probable words."""
        data = self._data
        known, words = len(data.coherence) > 0, self._words(data.topic_word, n_words)
        rows = [
            schemas.TopicOut.model_construct(
                topic=k,
                share=float(data.topic_share[k]),
                coherence=float(data.coherence[k]) if known else None,
                words=words[k],
            )
            for k in range(data.n_topics)
        ]
        return schemas.TopicList.model_construct(topics=rows)

    def tags(self, query: str, n: int, skip: int, n_words: int) -> schemas.TagList:
        """Return the tags whose name contains the query, most frequent first."""
        wanted = query.casefold()
        found = [t for t in self._by_size if wanted in self._folded_tags[t]]
        rows = self._profiles([[t] for t in found[skip : skip + n]], n_words)
        return schemas.TagList.model_construct(total=len(found), tags=rows)

    def together(self, names: Sequence[str], n_words: int) -> schemas.TagOut:
        """Return the joint profile of several tags."""
        for name in names:
            if name not in self._column:
                raise InputError(f"the model has no tag {name[:80]!r}")
        (row,) = self._profiles([[self._column[name] for name in dict.fromkeys(names)]], n_words)
        return row

    def documents(self, query: str, n: int, skip: int) -> schemas.DocumentList:
        """Return the documents whose id contains the query."""
        wanted = query.casefold()
        found = [d for d, name in enumerate(self._folded_ids) if wanted in name]
        rows = [self._document(d, with_text=False) for d in found[skip : skip + n]]
        return schemas.DocumentList.model_construct(total=len(found), documents=rows)

    def document(self, row: int) -> schemas.DocumentOut:
        """Return one document."""
        n_docs = len(self._data.documents.ids)
        if row >= n_docs:
            raise NoSuchDocumentError(f"no document {row}; rows go from 0 to {n_docs - 1}")
        return self._document(row, with_text=True)

    def _profiles(self, groups: Sequence[Sequence[int]], n_words: int) -> list[schemas.TagOut]:
        """Return the joint profile of each group of tags."""
        data = self._data
        joint = np.array([data.tags.joint(columns) for columns in groups]).reshape(-1, data.n_topics)
        rows = zip(groups, joint, self._mixed_words(joint.astype(np.float32), n_words), strict=True)
        return [
            schemas.TagOut.model_construct(
                tags=[data.tags.names[t] for t in columns],
                n_docs=[int(data.tags.n_docs[t]) for t in columns],
                topics=topics.tolist(),
                words=words,
            )
            for columns, topics, words in rows
        ]

    def _document(self, row: int, with_text: bool) -> schemas.DocumentOut:
        table = self._data.documents
        tags = table.tag_index[slice(*table.tag_offsets[row : row + 2])]
        return schemas.DocumentOut.model_construct(
            row=row,
            id=table.ids[row],
            tags=[self._data.tags.names[t] for t in tags],
            topics=table.topics[row].astype(float).tolist(),
            text=table.texts[row] if with_text and table.texts is not None else None,
        )

    def _mixed_words(self, topics: Float32, n: int) -> list[list[schemas.Weighted]]:
        """Return the n most probable words of each mixture of topics, (R, K)."""

        def of_part(first: int) -> list[list[schemas.Weighted]]:
            return self._words(topics[first : first + _ROWS] @ self._data.topic_word, n)

        with single_thread():
            found = results_of(of_part, range(0, len(topics), _ROWS))
        return [words for part in found for words in part]

    def _words(self, weights: Float32, n: int) -> list[list[schemas.Weighted]]:
        """Return the n words with the largest weights of each row of (R, W)."""
        best = largest_in_rows(weights, n)
        values, names = np.take_along_axis(weights, best, axis=1), self._data.words
        rows = zip(best.tolist(), values.tolist(), strict=True)
        return [[schemas.Weighted(names[w], p) for w, p in zip(*row, strict=True)] for row in rows]


def as_json(answer: BaseModel) -> bytes:
    """Return the JSON of an answer; a lone surrogate in a name becomes a question mark."""
    return compact_json(answer.model_dump())
