"""The findings of an audit inside a report, to accept or refuse."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tagtopics.errors import InputError
from tagtopics.explore.report.page import packed


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
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"--audit {path}: {error.strerror or 'cannot be read'}") from None
    try:
        return AuditFile.model_validate_json(content).findings
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        reason = f"{where[:80]}: {first['msg'][:120]}"
        raise InputError(f"--audit {path}: not the output of `tagtopics audit --json`: {reason}") from None


def audit_block(findings: list[AuditFinding]) -> tuple[bytes, str]:
    """Return findings as compressed JSON, and a key under which a browser keeps the answers to them."""
    rows = [finding.model_dump(exclude_defaults=True) for finding in findings]
    for row, finding in zip(rows, findings, strict=True):
        row["score"] = round(finding.score, 4)
    block = packed(rows)
    return block, hashlib.sha256(block).hexdigest()[:16]
