"""What a report takes from other files: names of topics, a text about the collection, an audit."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tagtopics.errors import InputError, one_line
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import compress_json
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


def with_names(data: TopicData, names: dict[int, str]) -> TopicData:
    """Return the record with other names of topics; equal ones get a number."""
    if unknown := sorted(set(names) - set(range(data.n_topics))):
        raise InputError(f"--names: there is no topic {unknown[0]}; topics are 0 to {data.n_topics - 1}")
    return replace(data, names=distinct(names.get(k, name) for k, name in enumerate(data.names)))


class AuditFinding(BaseModel):
    """One finding, as `tagtopics audit --json` prints it."""

    model_config = ConfigDict(strict=True)

    kind: Literal["doubtful", "missing", "duplicate", "implied", "single"]
    change: Literal["remove", "add", "merge", "drop"]
    tag: Annotated[str, Field(min_length=1)]
    score: Annotated[float, Field(ge=0, le=1)]
    document: str | None = None
    row: Annotated[int, Field(ge=0)] | None = None
    other: str | None = None
    words: list[str] = []
    documents: list[str] = []


class AuditFile(BaseModel):
    """What `tagtopics audit --json` prints."""

    findings: list[AuditFinding]


def read_findings(path: str | Path) -> list[AuditFinding]:
    """Return the findings of a file.

    Raises:
        InputError: if the file is not what `tagtopics audit --json` prints.
    """
    content = _read(path, "--audit")
    try:
        return AuditFile.model_validate_json(content).findings
    except ValidationError as error:
        reason = one_line(error)[:200]
        raise InputError(f"--audit {path}: not the output of `tagtopics audit --json`: {reason}") from None


def audit_block(findings: list[AuditFinding]) -> tuple[bytes, str]:
    """Return findings as compressed JSON, and a key under which a browser keeps the answers to them."""
    rows = [finding.model_dump(exclude_defaults=True) for finding in findings]
    for row, finding in zip(rows, findings, strict=True):
        row["score"] = round(finding.score, 4)
    block = compress_json(rows)
    return block, hashlib.sha256(block).hexdigest()[:16]


def _read(path: str | Path, option: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option} {path}: {getattr(error, 'strerror', None) or 'is not UTF-8'}") from None
