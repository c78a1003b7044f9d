"""Stories: captioned views of a report in order, as the page writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tagtopics.errors import InputError

_MOST_BYTES = 1_000_000


class Step(BaseModel):
    """A view, by its address in the explorer, and what to say about it."""

    model_config = ConfigDict(extra="forbid")
    view: Annotated[str, Field(pattern="^#/", max_length=4000)]
    caption: Annotated[str, Field(max_length=600)] = ""


class Story(BaseModel):
    """Captioned views in order."""

    model_config = ConfigDict(extra="forbid")
    format: Literal["tagtopics story"]
    title: Annotated[str, Field(max_length=200)] = ""
    steps: Annotated[list[Step], Field(min_length=1, max_length=200)]


def read_story(path: str | Path) -> dict[str, Any]:
    """Return the story in a file, ready for the page."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"--story {path}: {error.strerror or error}") from None
    if len(content) > _MOST_BYTES:
        raise InputError(f"--story {path}: is larger than {_MOST_BYTES // 1_000_000} MB")
    try:
        return Story.model_validate_json(content).model_dump(exclude={"format"})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"--story {path}: {place}: {first['msg']}; save it from the page Story") from None
