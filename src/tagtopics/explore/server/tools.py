"""Questions that agents ask a model, and short answers. No question changes the model or a file.

Annotations are evaluated here (no `from __future__`): the schema of the arguments is made from them.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence, Sized
from string import ascii_lowercase
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError, similar_names
from tagtopics.explore.server.schemas import NewText, Tag
from tagtopics.models.base import TopicModel
from tagtopics.models.results import profile_row, topic_rows

MOST_TOKENS = 1500
"""Of an answer, as `count_tokens` counts them."""

_NAME_LENGTHS = (200, 60, 20, 6)  # characters of a name: the first at which one row fits is used
_WORDS, _LEAST_CREDIT = 10, 0.05  # words of a tag that `explain` lists, and how much of each the tag has
_NO_WORD = "no word that the model knows"

Text = Annotated[NewText | None, Field(description="A text; or name a document instead.")]
Document = Annotated[
    str | None, Field(description="The id of a document of the collection, as `related` lists.")
]
Tags = Annotated[list[Tag], Field(max_length=10, description="Tags, exactly as `list_tags` gives them.")]
Top = Annotated[int, Field(ge=1, le=50, description="The largest number of results.")]
Skip = Annotated[int, Field(ge=0, description="How many results to leave out, to read a long list in parts.")]


class Tools:
    """The questions about one model. The docstrings are what an agent reads.

    Args:
        model: a fitted model.
        corpus: its documents, if they were saved; questions about them by id need them.
    """

    def __init__(self, model: TopicModel, corpus: Corpus | None) -> None:
        self._model: Any = copy.copy(model)
        self._model.n_jobs = 1  # several questions are answered at once
        self._corpus = corpus
        self._row = {} if corpus is None else {name: d for d, name in enumerate(corpus.ids)}
        self._roots = model.foreground_roots()  # for `related`; computed once

    def all(self) -> tuple[Callable[..., str], ...]:
        """Return the questions, each a function of the arguments that an agent gives."""
        return (
            self.suggest_tags, self.list_tags, self.list_topics, self.compare, self.explain, self.related
        )  # fmt: skip

    def suggest_tags(
        self,
        text: Text = None,
        document: Document = None,
        top: Top = 5,
        threshold: Annotated[float, Field(ge=0, le=1, description="The least probability of a tag.")] = 0.0,
        kind: Annotated[str | None, Field(description="Only tags written `kind:name`.")] = None,
    ) -> str:
        """Suggest tags for a text: each with its probability and the words of the text that speak for it."""
        asked = self._documents(text, document)
        (found,) = self._model.recommend(asked, top, threshold=threshold, kind=kind, n_words=5)
        rows = [
            {"tag": one.tag, "probability": _round(one.probability), "because": [w for w, _ in one.words]}
            | ({"name": one.name} if one.name else {})
            | ({"named_in_text": list(one.found[:5])} if one.found else {})
            for one in found
        ]
        return to_text("tags", rows, _note(rows, f"{_NO_WORD}, or no tag is probable enough"))

    def list_tags(
        self,
        contains: Annotated[str, Field(max_length=500, description="Only tags with this in the name.")] = "",
        top: Top = 20,
        skip: Skip = 0,
    ) -> str:
        """List the tags of the collection, most frequent first: number of documents and typical words."""
        model, wanted = self._require_tags(), contains.casefold()
        order = np.argsort(-model.tag_docs_, kind="stable").tolist()
        labels = model.tag_labels()
        names = [(model.tag_names_[t], labels[t]) for t in order]
        names = [pair for pair in names if any(wanted in name.casefold() for name in pair)]
        rows = []
        for tag, label in names[skip : skip + top]:
            profile = model.tag_profile(tag, n_words=5)
            row = {"tag": tag, "documents": profile.n_docs[0], "words": [word for word, _ in profile.words]}
            rows.append(self._readable(row) | ({"name": label} if label != tag else {}))
        return to_text("tags", rows, {"total": len(names)}, len(names) - skip)

    def list_topics(self, top: Top = 20, skip: Skip = 0) -> str:
        """List the topics, largest first: number, name, share of all words, words and typical tags."""
        found = sorted(topic_rows(self._model, 8), key=lambda row: -row["share"])
        rows = []
        for row in found[skip : skip + top]:
            words, tags = [one["word"] for one in row["words"]], [one["name"] for one in row["tags"]]
            told = {"topic": row["topic"], "name": row["name"], "share": _round(row["share"])}
            told = self._readable(told | {"words": words, "tags": tags})
            rows.append(told | ({"background": True} if row["background"] else {}))
        return to_text("topics", rows, {"total": len(found)}, len(found) - skip)

    def compare(self, tags: Annotated[Tags, Field(min_length=2)]) -> str:
        """Compare two or more tags: words and topics of each alone, and of all together."""
        model, names = self._require_tags(), self._model.topic_names()
        chosen = list(dict.fromkeys(model.tag_names_[model.tag_column(tag)] for tag in tags))
        if len(chosen) < 2:
            raise InputError("compare: name two or more different tags")

        def row(*together: str) -> dict[str, Any]:
            found = profile_row(model, together, 8)
            topics = [
                {"topic": one["topic"], "name": names[one["topic"]], "share": _round(one["probability"])}
                for one in found["topics"]
            ]
            return self._readable({"words": [one["word"] for one in found["words"]], "topics": topics})

        docs = dict(zip(model.tag_names_, model.tag_docs_.tolist(), strict=True))
        rows = [{"tag": tag, "documents": int(docs[tag])} | row(tag) for tag in chosen]
        return to_text("tags", rows, {"together": row(*chosen)})

    def explain(self, text: Text = None, document: Document = None, tags: Tags | None = None) -> str:
        """Tell which words of a text each of its tags accounts for, and its share of all words.

        Without tags, those of the document are used, or those suggested for the text.
        """
        model, asked, given = self._require_tags("explain"), self._documents(text, document), tags
        if given:
            names = list(dict.fromkeys(model.tag_names_[model.tag_column(tag)] for tag in given))
        elif document is not None:
            names = [tag for tag in asked.tags_of(0) if tag in set(model.tag_names_)][:10]
        else:
            (found,) = model.recommend(asked, 3)
            names = [one.tag for one in found if one.tag in set(model.tag_names_)]
        if not names:
            raise InputError("explain: there are no tags to explain with; give tags")
        table, rows = model.explain(asked, tags=[names]), []
        tokens = table.credit * table.count
        for tag in names:
            own = np.flatnonzero(table.tag == tag)
            share = _round(tokens[own].sum() / max(table.count[own].sum(), 1e-9))
            best = own[np.argsort(-tokens[own], kind="stable")]
            best = best[table.credit[best] >= _LEAST_CREDIT]
            words = [{"word": table.word[i], "credit": _round(table.credit[i])} for i in best[:_WORDS]]
            row = self._readable({"tag": tag, "share": share, "words": words})
            rows.append(row | ({"more": f"{len(best) - _WORDS} more words"} if len(best) > _WORDS else {}))
        rows.sort(key=lambda row: -row["share"])
        return to_text("tags", rows, _note(table, _NO_WORD))

    def related(self, text: Text = None, document: Document = None, top: Top = 5) -> str:
        """Find the documents of the collection whose topics are most similar to those of a text."""
        asked = self._documents(text, document)
        own = asked if document is not None and self._model.tag_names_ and asked.tags.nnz else None
        (found,) = self._model.related_among(self._roots, asked, top + (document is not None), own)
        rows = [
            {"id": one.id, "similarity": _round(one.score)} | ({"title": one.title} if one.title else {})
            for one in found
            if one.id != document
        ][:top]
        return to_text("documents", rows, _note(rows, _NO_WORD))

    def _documents(self, text: str | None, document: str | None) -> Any:
        """Return what is asked about: a list of one text, or a corpus of one document."""
        if (text is None) == (document is None):
            raise InputError("give either a text, or the id of a document")
        if document is None:
            return [text]
        if self._corpus is None:
            raise InputError("the model was saved without its documents; give a text")
        if document not in self._row:
            raise InputError(f"no document {document[:80]!r}{similar_names(document, self._row)}")
        return self._corpus.select([self._row[document]])

    def _require_tags(self, method: str = "tag_profile") -> Any:
        if not (self._model.tag_names_ and hasattr(self._model, method)):
            raise InputError("this model has learned nothing about tags; fit a TTM to documents with tags")
        return self._model

    def _readable(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row; the words of photographs are codes, and left out."""
        return {key: value for key, value in row.items() if key != "words" or self._model.visual_ is None}


def to_text(
    name: str, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], total: int | None = None
) -> str:
    """Return facts and rows as JSON of at most `MOST_TOKENS` tokens, and how many of `total` rows are left.

    The last rows are left out if there is no room. Long names end with an ellipsis.
    """
    total = len(rows) if total is None else max(total, 0)
    for length in _NAME_LENGTHS:
        for n in range(len(rows), -1, -1):
            more = {"more": f"{total - n} more"} if total > n else {}
            answer = _shorten({**facts, name: rows[:n], **more}, length)
            text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
            if count_tokens(text) <= MOST_TOKENS and (n or not rows):
                return text
    raise InputError("the answer is too long; ask for less")


def count_tokens(text: str) -> float:
    """Return more tokens than a tokenizer makes: two lower-case letters are one, and every other byte is one.

    A tokenizer makes at most one of a byte; of emoji, rare scripts and random letters almost as many.
    """
    content = text.encode("utf-8", "replace")
    return (len(content) + len(content.translate(None, ascii_lowercase.encode()))) / 2


def _shorten(value: Any, length: int) -> Any:
    """Return a value with no name longer than some characters."""
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[: length - 1]}…"
    if isinstance(value, Mapping):
        return {key: _shorten(one, length) for key, one in value.items()}
    return [_shorten(one, length) for one in value] if isinstance(value, list | tuple) else value


def _note(found: Sized, why_none: str) -> dict[str, str]:
    return {} if len(found) else {"note": why_none}


def _round(value: float) -> float:
    return round(float(value), 3)
