"""Answers that a client may have already: their bytes, ETags, and a cache of recent ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping

import xxhash
from starlette.requests import Request
from starlette.responses import Response


class Answer:
    """The bytes of an answer, with their ETag."""

    def __init__(self, content: bytes) -> None:
        self.content, self.size = content, len(content)
        self.etag = f'"{xxhash.xxh3_128(content).hexdigest()}"'


def unless_known(
    request: Request, answer: Answer, media_type: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with an ETag, of status 304 if the client has the answer already."""
    own = {"ETag": answer.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding", **(headers or {})}
    known = request.headers.get("if-none-match", "")
    if answer.etag in (one.strip().removeprefix("W/") for one in known.split(",")):
        return Response(status_code=304, headers=own)
    return Response(answer.content, media_type=media_type, headers=own)


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
