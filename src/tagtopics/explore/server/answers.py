"""Answers that a client may have already: their bytes in parts, ETags, and a cache of recent ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping

import xxhash
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tagtopics._gzip import in_pieces

PART_BYTES = 1 << 16
"""Size of a part; the last one may be smaller."""


class Answer:
    """The bytes of an answer, with their ETag.

    Large answers stay in parts. To copy 14 MB takes 10 ms, in which the interpreter's lock is kept and no
    other client is answered.

    Args:
        content: the bytes, in pieces of any size.
    """

    def __init__(self, content: Iterable[bytes]) -> None:
        self.parts = tuple(in_pieces(content, PART_BYTES))
        self.size = sum(map(len, self.parts))
        digest = xxhash.xxh3_128()
        for part in self.parts:
            digest.update(part)
        self.etag = f'"{digest.hexdigest()}"'


def unless_known(
    request: Request, answer: Answer, media_type: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with an ETag, of status 304 if the client has the answer already."""
    own = {"ETag": answer.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding", **(headers or {})}
    known = request.headers.get("if-none-match", "")
    if answer.etag in (one.strip().removeprefix("W/") for one in known.split(",")):
        return Response(status_code=304, headers=own)
    return _InParts(answer, media_type, own)


class _InParts(Response):
    """Sends the parts one by one; the server answers others in between."""

    def __init__(self, answer: Answer, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(media_type=media_type, headers={"Content-Length": str(answer.size), **headers})
        self._parts = answer.parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for part in self._parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


class AnswerCache:
    """Recent answers, least recently used first, up to a number of bytes in all.

    It is used from the event loop only; the answers themselves are computed elsewhere.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._n_bytes = 0

    def get(self, key: Hashable) -> Answer | None:
        """Return a stored answer, or None."""
        if key in self._answers:
            self._answers.move_to_end(key)
        return self._answers.get(key)

    def put(self, key: Hashable, answer: Answer) -> None:
        """Store an answer; older ones are dropped to make space."""
        before = self._answers.pop(key, None)
        self._n_bytes += answer.size - (before.size if before else 0)
        self._answers[key] = answer
        while self._n_bytes > self._max_bytes:
            _, dropped = self._answers.popitem(last=False)
            self._n_bytes -= dropped.size
