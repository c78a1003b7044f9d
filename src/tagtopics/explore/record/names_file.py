"""What a report takes from other files: names of topics, and a text about the collection."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.models.naming import distinct

_MOST_ABOUT = 20_000  # characters
_LONGEST = 80  # characters of a name; `explorer/data.js` has the same


class _NamesFile(BaseModel):
    format: Literal["tagtopics topic names"]
    topics: dict[int, str]


def read_names(path: str | Path) -> dict[int, str]:
    """Return names by topic, of JSON from a report or of a CSV table with columns `topic` and `name`."""
    text = _read(path, "--names")
    try:
        if text.lstrip().startswith("{"):
            names = _NamesFile.model_validate_json(text).topics
        else:
            names = {int(row["topic"]): row["name"] or "" for row in csv.DictReader(io.StringIO(text))}
    except (ValidationError, ValueError, KeyError, TypeError, csv.Error):
        raise InputError(
            f"--names {path}: give the JSON that a report exports, or a CSV file with columns topic and name"
        ) from None
    return {k: " ".join(name.split())[:_LONGEST] for k, name in names.items() if name.strip()}


def read_about(path: str | Path) -> str:
    """Return a text about the collection, such as its source, licence and contact: paragraphs in Markdown."""
    text = _read(path, "--about").strip()
    if len(text) > _MOST_ABOUT:
        raise InputError(f"--about {path}: has {len(text):,} characters; at most {_MOST_ABOUT:,} are shown")
    return text


def _read(path: str | Path, option: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option} {path}: {getattr(error, 'strerror', None) or 'is not UTF-8'}") from None


def with_names(data: TopicData, names: dict[int, str]) -> TopicData:
    """Return the record with other names of topics; equal ones get a number."""
    if unknown := sorted(set(names) - set(range(data.n_topics))):
        raise InputError(f"--names: there is no topic {unknown[0]}; topics are 0 to {data.n_topics - 1}")
    return replace(data, names=distinct(names.get(k, name) for k, name in enumerate(data.names)))
