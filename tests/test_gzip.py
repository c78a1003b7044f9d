"""Compression on several threads: one ordinary gzip member, equal bytes, about the same size."""

from __future__ import annotations

import gzip
import io
import zlib
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics import _gzip


def text_of(n_bytes: int) -> bytes:
    """Return text with words of Zipf's frequencies."""
    words = np.random.default_rng(0).zipf(1.3, n_bytes // 3) % 5000
    return " ".join(map(str, words.tolist())).encode()[:n_bytes]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=300)), st.integers(1, 9), st.integers(1, 200))
def test_parts_of_any_size_come_back(parts: list[bytes], level: int, piece: int) -> None:
    with patch.object(_gzip, "PIECE", piece):
        whole, file = _gzip.gzipped(b"".join(parts), level), io.BytesIO()
        _gzip.write_gzip(file, parts, level)
    assert file.getvalue() == whole
    assert gzip.decompress(whole) == b"".join(parts)


def test_parts_are_joined_without_compressing_again() -> None:
    one, other = text_of(5000), b"{}" * 300
    parts = [_gzip.deflated(one, 6), _gzip.deflated(b"", 6), _gzip.deflated(other, 6)]
    whole = _gzip.gzip_of(parts)
    assert gzip.decompress(whole) == one + other
    assert len(whole) == sum(part.size for part in parts) + 20


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_number_of_threads_changes_no_byte(cores: int) -> None:
    content = text_of(3 * _gzip.PIECE + 1234)
    with patch("os.cpu_count", return_value=cores):
        packed = _gzip.gzipped(content, 6)
    assert packed == _gzip.gzipped(content, 6)
    unpacker = zlib.decompressobj(31)
    assert unpacker.decompress(packed) == content
    assert unpacker.eof
    assert not unpacker.unused_data  # a single member: browsers read no second one
    assert len(packed) < 1.002 * len(gzip.compress(content, 6))
