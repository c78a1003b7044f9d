"""The specification of `joining`."""

from __future__ import annotations


def joined(texts: list[bytes], places: list[int], numbers: bytes) -> bytes:
    """Return the texts at some places, each followed by its number; commas separate the numbers."""
    parts = zip(places, numbers.split(b","), strict=True) if places else ()
    return b"".join(texts[place] + number for place, number in parts)
