"""Names of topics from a file: what *Export all names* of a report writes, or a table of topics."""

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

_LONGEST = 80  # characters of a name; `static/names.js` has the same


class _NamesFile(BaseModel):
    format: Literal["tagtopics topic names"]
    topics: dict[int, str]


def read_names(path: str | Path) -> dict[int, str]:
    """Return names by topic, of JSON from a report or of a CSV table with columns `topic` and `name`."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--names {path}: {getattr(error, 'strerror', None) or 'is not UTF-8'}") from None
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


def with_names(data: TopicData, names: dict[int, str]) -> TopicData:
    """Return the record with other names of topics; equal ones get a number."""
    if unknown := sorted(set(names) - set(range(data.n_topics))):
        raise InputError(f"--names: there is no topic {unknown[0]}; topics are 0 to {data.n_topics - 1}")
    return replace(data, names=distinct(names.get(k, name) for k, name in enumerate(data.names)))
