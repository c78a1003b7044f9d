"""Errors and warnings about the input of the user, and the wording that their messages share."""

import difflib
import inspect
import json
import warnings
from collections.abc import Iterable
from itertools import islice
from typing import Any

_MOST_COMPARED, _LONGEST_COMPARED = 20_000, 80
"""Names to compare with one that does not exist, and their length, so that a typing error takes no time."""


class InputError(ValueError):
    """The user's input is wrong.

    The message is one line: what is wrong, where, and what to do. The command turns it into exit code 2.
    """


class MissingExtraError(InputError, ImportError):
    """A feature needs a package that is an extra of tagtopics and is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'tagtopics[{extra}]'")
        self.feature, self.extra = feature, extra


class CorpusWarning(UserWarning):
    """Something in the data was decided for the user: an empty document kept, a repeated tag counted once."""


_BETWEEN = {"tagtopics", "sklearn", "joblib", "contextlib", "functools"}
"""Packages whose functions may be between the code of the user and a warning."""


def warn(message: str) -> None:
    """Give a `CorpusWarning` that points at the code of the user, which called the library."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CorpusWarning, stacklevel=level)


class Unusual(str):
    """A notice of what the user may not expect: it is a warning, too."""


def one_line(error: BaseException) -> str:
    """Return the message of an error as one line of at most 300 characters, to quote in another message.

    Of all that pydantic finds, it is the first problem: which setting, what is wrong, its value.
    """
    if not hasattr(error, "error_count"):
        return " ".join(str(error).split())[:200]
    problem: Any = error.errors(include_url=False)[0]  # type: ignore[attr-defined]
    name = ".".join(str(part) for part in problem["loc"] if _is_name(part))
    if problem["type"] == "extra_forbidden":
        return f"unknown setting {name[:60]!r}"
    message = " ".join(problem["msg"].removeprefix("Value error, ").replace("Input should", "must").split())
    if name:
        message = f"{name}{' ' if message.startswith('must') else ': '}{message}"
    if name and problem["type"] != "missing":
        message += f", not {repr(problem['input'])[:60]}"
    return message[:300]


def json_problem(error: Exception) -> str:
    """Return what is wrong with a line of JSON, and at which character."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)[:100]


def similar_names(name: str, names: Iterable[str], n: int = 3) -> str:
    """Return "; did you mean ...?" with the names most similar to one that does not exist, or ""."""
    short = [other for other in islice(names, _MOST_COMPARED) if len(other) <= _LONGEST_COMPARED]
    close = difflib.get_close_matches(name[:_LONGEST_COMPARED], short, n=n)
    return f"; did you mean {', '.join(map(repr, close))}?" if close else ""


def _is_name(part: int | str) -> bool:
    """Tell whether a part of a place is a field or a position, not one of the types of a union."""
    return isinstance(part, int) or (part.isidentifier() and part not in {"int", "float", "str"})
