"""Answers with their ETags."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request

from tagtopics.explore.server.answers import Answer, unless_known


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


def test_an_answer_is_sent_with_its_size() -> None:
    start, body = _sent(Answer(b"text"))
    assert dict(start["headers"])[b"content-length"] == b"4"
    assert body["body"] == b"text"


def test_a_known_answer_is_not_sent() -> None:
    answer = Answer(b"text")
    start, body = _sent(answer, f'"other", {answer.etag}')
    assert (start["status"], body["body"]) == (304, b"")
