"""Texts joined with numbers: the kernel returns what its twin returns."""

from __future__ import annotations

import numpy as np
import pytest

from tagtopics.jit.joining import Texts
from tagtopics.jit.joining_reference import joined

TEXTS = [b"one:", b"", b" two ", "\u00e9,".encode(), b"long " * 40]


@pytest.mark.parametrize("places", [[], [0], [1], [4, 4, 0, 1, 3, 2], [3, 1, 3]])
def test_the_kernel_joins_what_its_twin_joins(places: list[int]) -> None:
    numbers = b",".join(str(10.0**place - place).encode() for place in places)
    found = Texts(TEXTS).joined(np.array(places, dtype=np.int64), numbers)
    assert found == joined(TEXTS, places, numbers)


def test_no_texts_are_joined() -> None:
    assert Texts([]).joined(np.empty(0, dtype=np.int64), b"") == b""
