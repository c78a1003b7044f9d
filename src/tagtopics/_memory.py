"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def release_freed() -> None:
    """Give freed memory back to the system; the C library keeps much of it, unless it is asked.

    Only glibc can be asked; elsewhere nothing happens. It takes some milliseconds.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, Windows
        return None
