"""Encodings for the page: numbers as bytes, JSON that is safe inside HTML."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64


def root_bytes(values: Float32 | Float64, bits: int) -> str:
    """Return numbers between 0 and 1 as base64 of whole numbers, q = sqrt(value) * (2^bits - 1).

    The square root gives small proportions more precision. `bits` is 8 or 16.
    """
    most = (1 << bits) - 1
    steps = np.rint(np.sqrt(np.clip(values, 0, 1)) * most)
    return base64.b64encode(steps.astype("<u1" if bits == 8 else "<u2").tobytes()).decode()


def rounded(values: Any, digits: int = 4) -> list[float]:
    """Return numbers rounded to significant digits."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64).tolist()]


def safe_json(value: Any) -> str:
    """Return JSON that is safe inside HTML: without `<`, `>`, `&` and Unicode line separators."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode()


def packed(value: Any) -> bytes:
    """Return compressed JSON; equal values give equal bytes."""
    return gzip.compress(safe_json(value).encode(), compresslevel=8, mtime=0)


def base64_of(data: bytes) -> str:
    """Return bytes as base64, which is safe inside HTML."""
    return base64.b64encode(data).decode()
