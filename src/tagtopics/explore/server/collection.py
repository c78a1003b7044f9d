"""Answers of the JSON API about the collection: topics, tags, documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import HTTPException

from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.schemas import DocumentList, DocumentOut
from tagtopics.models.rankings import profile_row, topic_rows


class Collection:
    """Topics and tags of a model, as `tagtopics topics --json` and `tags --json` print them, and documents.

    Args:
        data: its record, which has the documents.
        model: the model.
    """

    def __init__(self, data: TopicData, model: Any) -> None:
        self._documents, self._model, self._tag_names = data.documents, model, data.tags.names
        self._by_size = np.argsort(-data.tags.n_docs, kind="stable").tolist()
        self._labels = dict(zip(model.tag_names_, model.tag_labels(), strict=True))

    def topics(self, n_words: int) -> dict[str, Any]:
        """Return all topics with their words."""
        return {"topics": topic_rows(self._model, n_words)}

    def tags(self, query: str, n: int, skip: int, n_words: int) -> dict[str, Any]:
        """Return the tags whose name contains the query, most frequent first."""
        wanted, names = query.casefold(), self._tag_names
        found = [names[t] for t in self._by_size if wanted in names[t].casefold()]
        rows = [self.together([name], n_words) for name in found[skip : skip + n]]
        return {"total": len(found), "tags": rows}

    def together(self, names: Sequence[str], n_words: int) -> dict[str, Any]:
        """Return the profile of a tag, or of several together."""
        if not hasattr(self._model, "tag_profile"):
            raise HTTPException(501, f"{type(self._model).__name__} has no profiles of tags; fit --model ttm")
        return profile_row(self._model, names, n_words, names=self._labels)

    def documents(self, query: str, n: int, skip: int) -> DocumentList:
        """Return the documents whose id contains the query."""
        wanted = query.casefold()
        found = [d for d, name in enumerate(self._documents.ids) if wanted in name.casefold()]
        return DocumentList(
            total=len(found), documents=[self._document(d, None) for d in found[skip : skip + n]]
        )

    def document(self, row: int) -> DocumentOut:
        """Return one document, with its text."""
        table = self._documents
        if row >= len(table.ids):
            raise HTTPException(404, f"no document {row}; rows go from 0 to {len(table.ids) - 1}")
        return self._document(row, None if table.texts is None else table.texts[row])

    def _document(self, row: int, text: str | None) -> DocumentOut:
        table = self._documents
        tags = table.tag_index[slice(*table.tag_offsets[row : row + 2])]
        return DocumentOut(
            row=row,
            id=table.ids[row],
            tags=[self._tag_names[t] for t in tags],
            topics=table.topics[row].tolist(),
            text=text,
        )
