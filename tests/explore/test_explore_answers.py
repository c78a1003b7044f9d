"""Answers in parts: the same bytes, and the same ETag, however they were cut."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from tagtopics.explore.server.answers import PART_BYTES, Answer, unless_known


def _sent(answer: Answer, known: str = "") -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"if-none-match", known.encode())]}

    async def send(message: Any) -> None:
        messages.append(message)

    async def receive() -> Any:
        raise AssertionError

    response = unless_known(Request(scope), answer, "text/plain")
    with ThreadPoolExecutor(1) as other:  # a browser of another test may have a loop in this thread
        other.submit(lambda: asyncio.run(response(scope, receive, send))).result()
    return messages


@given(st.lists(st.integers(0, 3 * PART_BYTES), max_size=8))
def test_parts_are_the_pieces_in_order(sizes: list[int]) -> None:
    pieces = [bytes([65 + i]) * size for i, size in enumerate(sizes)]
    answer = Answer(pieces)
    whole = b"".join(pieces)
    assert b"".join(answer.parts) == whole
    assert (answer.size, answer.etag) == (len(whole), Answer([whole]).etag)
    assert all(len(part) >= PART_BYTES for part in answer.parts[:-1])


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, 20 * PART_BYTES + 1])
def test_an_answer_is_sent_in_parts(size: int) -> None:
    start, *bodies = _sent(Answer([b"x" * size]))
    assert dict(start["headers"])[b"content-length"] == str(size).encode()
    assert b"".join(one["body"] for one in bodies) == b"x" * size
    assert max(len(one["body"]) for one in bodies) <= 4 * PART_BYTES
    assert [one.get("more_body", False) for one in bodies] == [True] * (len(bodies) - 1) + [False]


def test_a_known_answer_is_not_sent() -> None:
    answer = Answer([b"text"])
    start, body = _sent(answer, f'"other", {answer.etag}')
    assert (start["status"], body["body"]) == (304, b"")
