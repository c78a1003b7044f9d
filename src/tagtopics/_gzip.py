"""Compression with gzip on several threads; equal content gives equal bytes, whatever the number of threads.

The content is cut into pieces of a fixed size, which threads compress one by one. A piece may refer to the
end of the piece before, so the result is about as small as that of one thread, and it is one ordinary
member of gzip: any program reads it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, NamedTuple

PIECE = 1 << 19
"""Bytes of a piece: many enough that cutting costs less than a thousandth of the size."""

_WINDOW = 1 << 15
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system


class Deflated(NamedTuple):
    """Content, and the same compressed; `gzip_of` joins several of them without compressing again."""

    content: bytes
    blocks: bytes

    @property
    def size(self) -> int:
        """The number of compressed bytes."""
        return len(self.blocks)


def deflated(content: bytes, level: int) -> Deflated:
    """Compress content, as a part of a gzip file.

    Args:
        content: any bytes.
        level: of zlib, from 1, fast, to 9, small.
    """
    if len(content) <= PIECE:
        return Deflated(content, _blocks(content, b"", level) if content else b"")
    return Deflated(content, b"".join(blocks for _, blocks in _compressed([content], level)))


def gzip_of(parts: Iterable[Deflated]) -> bytes:
    """Return a gzip file of the contents of parts, one after the other."""
    return b"".join(_member(parts))


def gzipped(content: bytes, level: int) -> bytes:
    """Return content as a gzip file."""
    return gzip_of([deflated(content, level)])


def write_gzip(file: IO[bytes], content: Iterable[bytes], level: int) -> None:
    """Write content that comes in parts of any size to a file, compressed, without keeping all of it."""
    for part in _member(_compressed(content, level)):
        file.write(part)


def _member(parts: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield a gzip file of contents and their compressed blocks."""
    checksum, size = 0, 0
    yield _HEADER
    for content, blocks in parts:
        checksum, size = zlib.crc32(content, checksum), size + len(content)
        yield blocks
    yield b"\x03\x00" + struct.pack("<II", checksum, size & 0xFFFFFFFF)  # an empty last block ends the stream


def _compressed(content: Iterable[bytes], level: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield pieces of content and their blocks; only some are compressed ahead of the one that is yielded."""
    n_threads = min(os.cpu_count() or 1, 8)
    before = b""
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[tuple[bytes, Future[bytes]]] = deque()
        for piece in in_pieces(content, PIECE):
            waiting.append((piece, pool.submit(_blocks, piece, before, level)))
            before = piece[-_WINDOW:]
            if len(waiting) > 2 * n_threads:
                first, blocks = waiting.popleft()
                yield first, blocks.result()
        for piece, blocks in waiting:
            yield piece, blocks.result()


def in_pieces(content: Iterable[bytes], n_bytes: int) -> Iterator[bytes]:
    """Yield the same content in pieces of `n_bytes`; the last one may be shorter."""
    kept: list[bytes] = []
    size = 0
    for part in content:
        kept.append(part)
        size += len(part)
        if size >= n_bytes:
            whole = b"".join(kept)
            end = size - size % n_bytes
            for start in range(0, end, n_bytes):
                yield whole[start : start + n_bytes]
            kept, size = [whole[end:]], size - end
    if size:
        yield b"".join(kept)


def _blocks(piece: bytes, before: bytes, level: int) -> bytes:
    """Return a piece as blocks of deflate that end on a whole byte and are not the last ones."""
    settings = level, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(*settings, before) if before else zlib.compressobj(*settings)
    return packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
