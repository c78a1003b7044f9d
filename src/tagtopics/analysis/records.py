"""What the results of all analyses have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

OnProgress = Callable[[float], None]  # called with the share of the work that is done, from 0 to 1


@dataclass(frozen=True)
class Record:
    """A result, or a part of one, that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, except those that `repr` leaves out, and all properties for JSON."""
        names = [field.name for field in fields(self) if field.repr]
        names += [name for name in dir(type(self)) if isinstance(getattr(type(self), name), property)]
        return {name: _plain(getattr(self, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_dict() if isinstance(value, Record) else value
