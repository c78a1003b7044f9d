"""Answers of the JSON API about the collection: topics, tags, documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, HTTPException, Query
from fastapi.responses import Response

from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.middleware import Gate
from tagtopics.explore.server.schemas import API, Count, DocumentList, DocumentOut, Number, Skip, Tag, Text
from tagtopics.models.results import profile_row, topic_rows


def add_collection_routes(app: FastAPI, data: TopicData, model: Any, gate: Gate) -> None:
    """Add topics and tags, as `tagtopics topics --json` and `tags --json` print them, and documents."""
    names, table = data.tags.names, data.documents
    by_size = np.argsort(-data.tags.n_docs, kind="stable").tolist()
    labels = dict(zip(model.tag_names_, model.tag_labels(), strict=True))
    tagged: dict[str, Any] = {"tags": ["collection"]}

    def profile(tags: Sequence[str], n_words: int) -> dict[str, Any]:
        if not hasattr(model, "tag_profile"):
            raise HTTPException(501, f"{type(model).__name__} has no profiles of tags; fit --model ttm")
        return profile_row(model, tags, n_words, names=labels)

    @app.get(f"{API}/topics", **tagged)
    async def topics(words: Count = 10) -> Response:
        """Return all topics with their words."""
        return await gate.answer(lambda: {"topics": topic_rows(model, words)})

    @app.get(f"{API}/tags", **tagged)
    async def tags(query: Text = "", n: Count = 50, skip: Skip = 0, words: Count = 10) -> Response:
        """Return the tags whose name contains the query, most frequent first, with their profiles."""

        def listed() -> dict[str, Any]:
            found = [names[t] for t in by_size if query.casefold() in names[t].casefold()]
            rows = [profile([name], words) for name in found[skip : skip + n]]
            return {"total": len(found), "tags": rows}

        return await gate.answer(listed)

    @app.get(f"{API}/tags/together", **tagged)
    async def together(
        tag: Annotated[list[Tag], Query(min_length=1, max_length=10)], words: Count = 10
    ) -> Response:
        """Return the joint profile of several tags."""
        return await gate.answer(lambda: profile(tag, words))

    @app.get(f"{API}/documents", response_model=DocumentList, **tagged)
    async def documents(query: Text = "", n: Count = 50, skip: Skip = 0) -> Response:
        """Return the documents whose id contains the query, in the order of the collection."""

        def listed() -> DocumentList:
            found = [row for row, name in enumerate(table.ids) if query.casefold() in name.casefold()]
            rows = [_document(data, row) for row in found[skip : skip + n]]
            return {"total": len(found), "documents": rows}

        return await gate.answer(listed)

    @app.get(f"{API}/documents/{{row}}", response_model=DocumentOut, **tagged)
    async def document(row: Number) -> Response:
        """Return one document by its row in the collection."""
        if row >= len(table.ids):
            raise HTTPException(404, f"no document {row}; rows go from 0 to {len(table.ids) - 1}")
        return await gate.answer(lambda: _document(data, row, whole=True))


def _document(data: TopicData, row: int, *, whole: bool = False) -> DocumentOut:
    table = data.documents
    tags = table.tag_index[slice(*table.tag_offsets[row : row + 2])]
    return DocumentOut(
        row=row,
        id=table.ids[row],
        tags=[data.tags.names[t] for t in tags],
        topics=table.topics[row].tolist(),
        text=table.texts[row] if whole and table.texts is not None else None,
    )
