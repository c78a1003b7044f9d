"""Records of experiments: one JSON line each, appended when an experiment is done."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tagtopics import __version__
from tagtopics.errors import InputError
from tagtopics.experiments.spec import ExperimentSpec


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of one experiment.

    Attributes:
        spec: the experiment.
        metrics: of the task; numbers, and the top words for "topics".
        seconds: `fit` and `score`.
        version: of tagtopics.
        python: of Python.
    """

    spec: ExperimentSpec
    metrics: Mapping[str, Any]
    seconds: Mapping[str, float]
    version: str = __version__
    python: str = field(default_factory=platform.python_version)

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps({"key": self.spec.key, **asdict(self)}, allow_nan=False)

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Parse a line; anything but a record is an `InputError`."""
        try:
            values = json.loads(line)
            spec = ExperimentSpec.from_mapping(values["spec"])
            parts = {name: values[name] for name in ("metrics", "seconds", "version", "python")}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"not a record of an experiment: {str(error)[:80]}") from None
        if not isinstance(parts["metrics"], dict) or not isinstance(parts["seconds"], dict):
            raise InputError("not a record of an experiment: metrics and seconds must be objects")
        return cls(spec=spec, **parts)


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, the last of each spec; an incomplete last line is ignored."""
    if not path.is_file():
        return []
    found: dict[str, Record] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = Record.from_line(line)
        except InputError as error:
            if number == len(lines):  # incomplete: the writer was killed
                continue
            raise InputError(f"{path}, line {number}: {error}; remove the line") from None
        found[record.spec.key] = record
    return list(found.values())


def append_record(path: Path, record: Record) -> None:
    """Append one line in one write; an incomplete last line is removed first."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            whole = file.read().rfind(b"\n") + 1
        os.ftruncate(descriptor, whole)
        os.lseek(descriptor, whole, os.SEEK_SET)
        os.write(descriptor, (record.to_line() + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
