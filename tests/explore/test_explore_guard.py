"""Access to the server: token, other origins, readiness."""

from __future__ import annotations

import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from explore_support import create_app

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine

pytest_plugins = ("explore_fixtures",)


class Client:
    """Asks an application without a network, in a thread of its own."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.get(path, headers=headers)

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, ask()).result()


@pytest.fixture(scope="module")
def client(data: TopicData, model: tt.TTM) -> Client:
    origins = ["https://example.org"]
    return Client(create_app(data, ModelEngine(model), token="secret", origins=origins))


@pytest.mark.parametrize("path", ["/", "/data/map", "/api/v1/topics", "/openapi.json"])
def test_requests_need_the_token(client: Client, path: str) -> None:
    basic = base64.b64encode(b"anyone:secret").decode()
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get(path, headers={"Authorization": "Basic ###"}).status_code == 401
    assert client.get(path, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert client.get(path, headers={"Authorization": f"Basic {basic}"}).status_code == 200


def test_readiness_needs_no_token(client: Client) -> None:
    assert client.get("/ready").json() == {"status": "ready"}  # titles and errors are for those with a token
    answer = client.get("/ready", headers={"Authorization": "Bearer secret"}).json()
    assert answer["title"] == "Four themes"
    assert client.get("/health").status_code == 200


def test_only_named_origins_may_read_answers(client: Client) -> None:
    headers = {"Authorization": "Bearer secret"}
    named = client.get("/api/v1/topics", headers={**headers, "Origin": "https://example.org"})
    assert named.headers["access-control-allow-origin"] == "https://example.org"
    other = client.get("/api/v1/topics", headers={**headers, "Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers
