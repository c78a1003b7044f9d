"""Answers of the JSON API that need the record only: topics, tags, documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from fastapi import HTTPException

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Int64
from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.schemas import (
    DocumentList,
    DocumentOut,
    TagList,
    TagOut,
    TopicList,
    TopicOut,
    Weighted,
)
from tagtopics.jit.top import largest_in_rows

_ROWS = 64  # profiles of tags whose words are in memory at a time


class Collection:
    """Topics, tags and documents of a record, as the JSON API returns them."""

    def __init__(self, data: TopicData) -> None:
        self._data = data
        self._column = {name: t for t, name in enumerate(data.tags.names)}
        self._by_size = np.argsort(-data.tags.n_docs, kind="stable").tolist()

    def topics(self, n_words: int) -> TopicList:
        """Return all topics with their words."""
        data = self._data
        coherence = data.coherence.tolist() or [None] * data.n_topics
        words = self._words(data.topic_word, data.listed_words(n_words))
        rows = zip(data.topic_share.tolist(), coherence, words, strict=True)
        topics = [
            TopicOut(topic=k, share=share, coherence=own, words=listed)
            for k, (share, own, listed) in enumerate(rows)
        ]
        return TopicList(topics=topics)

    def tags(self, query: str, n: int, skip: int, n_words: int) -> TagList:
        """Return the tags whose name contains the query, most frequent first."""
        wanted, names = query.casefold(), self._data.tags.names
        found = [t for t in self._by_size if wanted in names[t].casefold()]
        return TagList(total=len(found), tags=self._profiles([[t] for t in found[skip : skip + n]], n_words))

    def together(self, names: Sequence[str], n_words: int) -> TagOut:
        """Return the joint profile of several tags."""
        for name in names:
            if name not in self._column:
                raise InputError(f"the model has no tag {name[:80]!r}")
        (row,) = self._profiles([[self._column[name] for name in dict.fromkeys(names)]], n_words)
        return row

    def documents(self, query: str, n: int, skip: int) -> DocumentList:
        """Return the documents whose id contains the query."""
        wanted = query.casefold()
        found = [d for d, name in enumerate(self._data.documents.ids) if wanted in name.casefold()]
        return DocumentList(
            total=len(found), documents=[self._document(d, None) for d in found[skip : skip + n]]
        )

    def document(self, row: int) -> DocumentOut:
        """Return one document, with its text."""
        table = self._data.documents
        if row >= len(table.ids):
            raise HTTPException(404, f"no document {row}; rows go from 0 to {len(table.ids) - 1}")
        return self._document(row, None if table.texts is None else table.texts[row])

    def _profiles(self, groups: Sequence[Sequence[int]], n_words: int) -> list[TagOut]:
        """Return the joint profile of each group of tags."""
        data = self._data
        joint = np.array([data.tags.joint(columns) for columns in groups]).reshape(-1, data.n_topics)
        words: list[list[Weighted]] = []
        with single_thread():
            for part in np.split(joint.astype(np.float32), range(_ROWS, len(joint), _ROWS)):
                weights = part @ data.topic_word
                words += self._words(weights, largest_in_rows(weights, n_words))
        return [
            TagOut(
                tags=[data.tags.names[t] for t in columns],
                n_docs=data.tags.n_docs[columns].tolist(),
                topics=topics.tolist(),
                words=own,
            )
            for columns, topics, own in zip(groups, joint, words, strict=True)
        ]

    def _document(self, row: int, text: str | None) -> DocumentOut:
        table = self._data.documents
        tags = table.tag_index[slice(*table.tag_offsets[row : row + 2])]
        return DocumentOut(
            row=row,
            id=table.ids[row],
            tags=[self._data.tags.names[t] for t in tags],
            topics=table.topics[row].tolist(),
            text=text,
        )

    def _words(self, weights: Float32, best: Int64) -> list[list[Weighted]]:
        """Return the words in some columns (R, n) of each row of (R, W), with their weights."""
        values, names = np.take_along_axis(weights, best, axis=1), self._data.words
        rows = zip(best.tolist(), values.tolist(), strict=True)
        return [[Weighted(name=names[w], weight=p) for w, p in zip(*row, strict=True)] for row in rows]
