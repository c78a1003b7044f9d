"""The journal of a curated model: edits in their order, and the topics, words and seeds they lead to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tagtopics.errors import InputError, one_line

_Topic = Annotated[int, Field(ge=0)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]

# Of each kind of edit: least and largest number of topics, both in words, whether it has words, and a name.
_KINDS: dict[str, tuple[int, float, str, bool, bool]] = {
    "rename": (1, 1, "one topic", False, True),
    "merge": (2, math.inf, "two or more different topics", False, False),
    "ban": (0, 0, "no topics", True, False),
    "seed": (0, 0, "no topics", True, True),
}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Edit(_Record):
    """One edit of a model's topics.

    Attributes:
        kind: rename, merge, ban or seed.
        topics: the topics it is about, by their number at that time.
        words: to ban, or of a seeded topic.
        name: of the renamed or seeded topic.
    """

    kind: Literal["rename", "merge", "ban", "seed"]
    topics: tuple[_Topic, ...] = ()
    words: tuple[str, ...] = ()
    name: _Name | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        least, most, wanted, has_words, has_name = _KINDS[self.kind]
        if not least <= len(self.topics) <= most or len(set(self.topics)) != len(self.topics):
            raise ValueError(f"{self.kind} takes {wanted}")
        if bool(self.words) != has_words:
            raise ValueError(f"{self.kind} takes {'words' if has_words else 'no words'}")
        if (self.name is not None) != has_name:
            raise ValueError(f"{self.kind} takes {'a name' if has_name else 'no name'}")
        return self

    def __str__(self) -> str:
        parts = [self.kind, *map(str, self.topics), *([repr(self.name)] if self.name else []), *self.words]
        return " ".join(parts)


class CuratedTopic(_Record):
    """A topic of the model, as the next fit takes it up.

    Attributes:
        topic: its number in the model; None for a seeded topic that has not been fitted yet.
        name: given by the user, or None.
        curated: whether the user named, merged or seeded it. Its words are then a prior of the
            next fit; those of other topics are only where it starts.
        share: of all tokens.
        words: its most probable words with p(word | topic).
    """

    topic: _Topic | None
    name: _Name | None = None
    curated: bool = True
    share: Annotated[float, Field(ge=0, le=1)] = 0.0
    words: dict[str, Annotated[float, Field(ge=0, le=1)]]


class Curation(_Record):
    """The journal of a model: what the user changed, and what the next fit starts from.

    Attributes:
        version: of this layout.
        edits: since the model was fitted, oldest first; these can be undone.
        earlier: edits that were part of the fit.
        topics: all topics as they are now, and seeded topics to come; empty if there are no edits.
        banned: words that the model must not know.
    """

    version: Literal[1] = 1
    edits: tuple[Edit, ...] = ()
    earlier: tuple[Edit, ...] = ()
    topics: tuple[CuratedTopic, ...] = ()
    banned: tuple[str, ...] = ()

    @property
    def names(self) -> dict[int, str]:
        """The names given by the user, by topic."""
        return {c.topic: c.name for c in self.topics if c.topic is not None and c.name is not None}

    @classmethod
    def of_seeds(cls, seeds: Mapping[str, Sequence[str]]) -> Curation:
        """Return a journal for a first fit: a topic for each name, around the words given for it."""
        try:
            topics = [
                CuratedTopic(topic=None, name=name, words=dict.fromkeys(words, 1.0 / max(len(set(words)), 1)))
                for name, words in seeds.items()
            ]
        except ValidationError as error:
            raise InputError(f"seeds: {one_line(error)}") from None
        if empty := [topic.name for topic in topics if not topic.words or "" in topic.words]:
            raise InputError(f"seeds: the topic {empty[0]!r} has no words, or an empty one")
        return cls(topics=tuple(topics))

    def without_undo(self) -> Curation:
        """Return the journal of a model that has learned more since; its edits can no longer be undone."""
        return self.model_copy(update={"edits": (), "earlier": (*self.earlier, *self.edits)})

    def to_json(self) -> dict[str, Any]:
        """Return the journal as objects, lists, strings and numbers."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, value: Any) -> Curation:
        """Return the journal that `to_json` wrote; else raise `InputError`."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise InputError(f"journal of edits: {one_line(error)}") from None


def curation_of(model: Any) -> Curation:
    """Return the journal of a model; an empty one if there are no edits."""
    return Curation() if model.curation_ is None else model.curation_


def make_edit(kind: str, **parts: Any) -> Edit:
    """Return an edit; raise `InputError` if its parts do not fit its kind."""
    try:
        return Edit(kind=kind, **parts)  # type: ignore[arg-type]
    except ValidationError as error:
        problem = one_line(error)
        raise InputError(problem if problem.startswith(f"{kind} takes") else f"{kind}: {problem}") from None
