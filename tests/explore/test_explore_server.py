"""The server without a browser: answers, limits, refusals; whatever is sent, never a 500."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from unittest import mock

import httpx
import numpy as np
import pytest
from explore_support import HOSTILE, Recommending, create_app
from hypothesis import HealthCheck, given, settings

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server import collection
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Gate, Limits
from tagtopics.explore.server.schemas import NewDocument, TransformOut
from tagtopics.explore.server.server import allowed_hosts
from tagtopics.models.results import profile_row, topic_rows

pytest_plugins = ("explore_fixtures",)

Result = TypeVar("Result")
NOTHING = TransformOut(topics=[1.0], known_words=0, unknown_words=0)


def run_async(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: a browser test may have left an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Client:
    """Asks an application without a network."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, **options)

        return run_async(ask())


@pytest.fixture(scope="module")
def app(data: TopicData, model: tt.TTM) -> Any:
    return create_app(data, ModelEngine(model), hosts=allowed_hosts("127.0.0.1"))


@pytest.fixture(scope="module")
def ask(app: Any) -> Client:
    return Client(app)


def posted(ask: Client, path: str, *documents: dict[str, Any], **more: Any) -> Any:
    answer = ask("POST", f"/api/v1/{path}", json={"documents": list(documents)} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()["documents"]


@pytest.mark.parametrize("kind", ["transform", "explain", "recommend", "related"])
def test_questions_are_sent_as_json(ask: Client, kind: str) -> None:
    path, content = f"/api/v1/{kind}", json.dumps({"documents": [{"text": "wave", "tags": ["place:sea"]}]})
    for name in ("application/json", "Application/JSON; charset=utf-8"):
        assert ask("POST", path, content=content, headers={"content-type": name}).status_code == 200
    assert ask("POST", path, content=content, headers={"content-type": "text/plain"}).status_code == 422
    assert ask("GET", path).status_code == 405


def test_collection_is_the_models(ask: Client, model: tt.TTM) -> None:
    topics = ask("GET", "/api/v1/topics?words=3").json()["topics"]
    assert [row["topic"] for row in topics] == list(range(5))
    assert topics == json.loads(json.dumps(topic_rows(model, 3)))
    tags = ask("GET", "/api/v1/tags?query=PLACE:&n=2").json()
    assert tags["total"] == 4
    assert len(tags["tags"]) == 2
    documents = ask("GET", "/api/v1/documents?n=3&skip=70").json()
    assert [row["row"] for row in documents["documents"]] == [70, 71]
    one = ask("GET", "/api/v1/documents/4").json()
    assert one["id"] == "text 4"
    assert one["text"].startswith(one["text"][0].upper())


def test_tags_together_are_the_models(ask: Client, model: tt.TTM) -> None:
    answer = ask("GET", "/api/v1/tags/together", params={"tag": ["place:sea", "also:kitchen"]}).json()
    assert answer == json.loads(json.dumps(profile_row(model, ["place:sea", "also:kitchen"], 10)))


def test_new_documents_get_the_models_answers(ask: Client, model: tt.TTM) -> None:
    document = {"text": "Waves and tide and salt in the harbour", "tags": ["place:sea", "also:garden"]}
    (topics,) = posted(ask, "transform", document)
    assert sum(topics["topics"]) == pytest.approx(1, abs=1e-4)
    assert topics["known_words"] == 3
    (explained,) = posted(ask, "explain", document)
    assert explained["words"] == ["harbour", "salt", "tide"]
    assert np.allclose(np.sum(explained["credit"], axis=1), 1)
    related = posted(ask, "related", document, document, top=4)
    assert [len(row) for row in related] == [4, 4]
    assert related[0] == related[1]


def test_explain_answers_if_no_word_is_known(ask: Client) -> None:
    (empty,) = posted(ask, "explain", {"text": "xylophone", "tags": ["place:sea"]})
    assert (empty["tags"], empty["words"], empty["credit"]) == (["place:sea"], [], [])
    mixed = posted(
        ask, "explain", {"text": "wave", "tags": ["place:sea"]}, {"text": "", "tags": ["also:garden"]}
    )
    assert [len(row["words"]) for row in mixed] == [1, 0]


def test_a_missing_document_is_404(ask: Client) -> None:
    answer = ask("GET", "/api/v1/documents/72")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "no document 72; rows go from 0 to 71"


def test_collection_answers_are_computed_in_a_worker(data: TopicData, model: tt.TTM) -> None:
    threads: list[str] = []

    def recorded(model: tt.TTM, n_words: int) -> Any:
        threads.append(threading.current_thread().name)
        return topic_rows(model, n_words)

    ask = Client(create_app(data, ModelEngine(model)))
    with mock.patch.object(collection, "topic_rows", recorded):
        assert len(ask("GET", "/api/v1/topics?words=7").json()["topics"][0]["words"]) == 7
    (thread,) = threads
    assert thread.startswith("tagtopics")


@pytest.mark.parametrize("path", ["transform", "explain", "related"])
def test_batch_gives_what_singles_give(ask: Client, path: str) -> None:
    documents = [
        {"text": text, "tags": tags}
        for text, tags in (
            ("wave tide", ["place:sea", "also:garden"]),
            ("", ["also:music"]),
            ("violin chord opera", ["place:sea"]),
        )
    ]
    whole = posted(ask, path, *documents)
    singles = [posted(ask, path, document)[0] for document in documents]
    assert whole == singles


def test_a_batch_of_recommendations_is_that_of_the_model(ask: Client) -> None:
    documents = [{"text": "wave tide salt"}, {"text": "violin chord"}, {"text": ""}]
    whole = posted(ask, "recommend", *documents, top=3)
    for row, document in zip(whole, documents, strict=True):
        (alone,) = posted(ask, "recommend", document, top=3)
        assert [one["tag"] for one in row] == [one["tag"] for one in alone]
        assert np.allclose([one["score"] for one in row], [one["score"] for one in alone], rtol=1e-5)


def test_large_answers_are_written_in_a_worker(data: TopicData, model: tt.TTM) -> None:
    """The event loop only sends the bytes: whatever takes long is computed elsewhere."""
    threads: set[str] = set()

    class Slow(list[Any]):
        def __iter__(self) -> Any:
            threads.add(threading.current_thread().name)
            return super().__iter__()

    engine: Any = ModelEngine(model)
    engine.transform = lambda documents: Slow([NOTHING for _ in documents])
    posted(Client(create_app(data, engine)), "transform", {"text": "wave"})
    assert {name.split("_")[0] for name in threads} <= {"tagtopics"}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("explain", {"documents": [{"text": "wave"}]}, 422),
        ("explain", {"documents": [{"text": "wave", "tags": ["no such"]}]}, 422),
        ("transform", {"documents": [{"text": "wave", "tags": [HOSTILE[0]]}]}, 422),
        ("transform", {"documents": []}, 422),
        ("transform", {"documents": [{"text": "x"}] * 65}, 422),
        ("transform", {"documents": [{"text": "x" * 100_001}]}, 422),
        ("transform", {"documents": [{"text": "x", "extra": 1}]}, 422),
        ("transform", [], 422),
        ("related", {"documents": [{"text": "x"}], "top": 0}, 422),
        ("related", {"documents": [{"text": "x"}], "top": 10**30}, 422),
    ],
)
def test_wrong_questions_are_refused_in_one_line(ask: Client, path: str, body: Any, status: int) -> None:
    answer = ask("POST", f"/api/v1/{path}", json=body)
    assert answer.status_code == status
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"documents": [{"text": "\\ud800"}]}',
        b'{"documents": [{"text": "a\\u0000b"}]}',
        b"\xff\xfe",
        b"{" * 5000,
        b"[" * 100_000,
        b"NaN",
        b"",
        b'{"documents": [{"text": "x", "tags": ["\\udfff"]}]}',
    ],
)
def test_broken_bodies_are_refused(ask: Client, content: bytes) -> None:
    answer = ask("POST", "/api/v1/transform", content=content, headers={"content-type": "application/json"})
    assert answer.status_code in {200, 400, 422}


def test_pages_and_headers(ask: Client) -> None:
    for path in (
        "/",
        "/static/explorer.js",
        "/static/explorer.css",
        "/data/index",
        "/data/bodies/0",
        "/health",
    ):
        answer = ask("GET", path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert ask("GET", "/data/index").json()["title"] == "Four themes"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2f..%2fetc%2fpasswd",
        "/data/bodies/-1",
        "/data/bodies/99999", "/model.json", "/corpus/ids.txt", "/data/bodies/..%2findex",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(ask: Client, path: str) -> None:
    assert ask("GET", path).status_code in {404, 422}


def test_other_names_of_the_host_are_refused(ask: Client) -> None:
    assert ask("GET", "/health", headers={"host": "rebound.example"}).status_code == 400
    assert ask("GET", "/health", headers={"host": "[::1]:8000"}).status_code == 200
    assert allowed_hosts("0.0.0.0") is None


def test_large_bodies_are_refused(data: TopicData, model: tt.TTM) -> None:
    ask = Client(create_app(data, ModelEngine(model), Limits(body_bytes=1000)))
    assert ask("POST", "/api/v1/transform", content=b"x" * 1001).status_code == 413

    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 100

    assert ask("POST", "/api/v1/transform", content=unannounced()).status_code == 413


def test_slow_bodies_are_refused(data: TopicData, model: tt.TTM) -> None:
    ask = Client(create_app(data, ModelEngine(model), Limits(body_seconds=0.05)))

    async def dripping() -> AsyncIterator[bytes]:
        for _ in range(20):
            await asyncio.sleep(0.02)
            yield b"x"

    assert ask("POST", "/api/v1/transform", content=dripping()).status_code == 408


class Blocked:
    """An engine that answers only when it is let go."""

    offers = frozenset({"transform"})

    def __init__(self, model: tt.TTM) -> None:
        self.model = model
        self.go = threading.Event()

    def transform(self, documents: list[NewDocument]) -> list[TransformOut]:
        self.go.wait(10)
        return [NOTHING for _ in documents]


def test_overload_answers_503_and_recovers(data: TopicData, model: tt.TTM) -> None:
    engine: Any = Blocked(model)
    app = create_app(data, engine, Limits(workers=1, queue=2))

    async def flood() -> list[int]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            body = {"documents": [{"text": "x"}]}
            waiting = [asyncio.create_task(client.post("/api/v1/transform", json=body)) for _ in range(12)]
            while sum(task.done() for task in waiting) < 9:  # all are refused that will be
                await asyncio.sleep(0.01)
            assert (await client.get("/health")).status_code == 200
            engine.go.set()
            codes = [answer.status_code for answer in await asyncio.gather(*waiting)]
            return [*codes, (await client.post("/api/v1/transform", json=body)).status_code]

    codes = run_async(flood())
    assert sorted(codes[:-1]) == [200] * 3 + [503] * 9
    assert codes[-1] == 200


def test_slow_answers_time_out_and_hold_their_place(data: TopicData, model: tt.TTM) -> None:
    engine: Any = Blocked(model)
    ask = Client(create_app(data, engine, Limits(workers=1, queue=0, seconds=0.05)))
    body = {"documents": [{"text": "x"}]}
    assert ask("POST", "/api/v1/transform", json=body).status_code == 504
    assert ask("POST", "/api/v1/transform", json=body).status_code == 503
    engine.go.set()


def test_gate_hands_on_errors() -> None:
    async def fail() -> None:
        gate = Gate(Limits(workers=1, queue=1, seconds=1.0))
        with pytest.raises(ZeroDivisionError):
            await gate.run(lambda: 1 // 0)
        assert gate.pending == 0
        gate.close()

    run_async(fail())


def test_models_without_tags_or_recommender_say_so(data: TopicData, corpus: tt.Corpus) -> None:
    plain: Any = tt.LDA(n_topics=3, max_iter=3, random_state=0).fit_topics(corpus)
    ask = Client(create_app(data, ModelEngine(plain)))
    for path in ("recommend", "explain"):
        answer = ask("POST", f"/api/v1/{path}", json={"documents": [{"text": "wave"}]})
        assert answer.status_code == 501
    assert posted(ask, "transform", {"text": "wave"})


@pytest.fixture(scope="module")
def recommending(model: tt.TTM) -> Recommending:
    return Recommending(model, ("place:sea", "also:music"))


def test_recommended_tags_come_with_words(data: TopicData, recommending: Recommending) -> None:
    ask = Client(create_app(data, recommending))
    (rows,) = posted(ask, "recommend", {"text": "wave tide violin chord"}, top=1)
    assert rows == [
        {"tag": "place:sea", "score": 0.9, "words": ["wave"], "name": "", "found": [], "broader": []}
    ]


def test_openapi_names_every_endpoint(ask: Client) -> None:
    paths = ask("GET", "/openapi.json").json()["paths"]
    wanted = ("topics", "tags", "documents", "transform", "recommend", "explain", "related")
    assert {f"/api/v1/{name}" for name in wanted} <= set(paths)
    assert json.dumps(paths)


def test_no_input_is_an_internal_error(data: TopicData, recommending: Recommending) -> None:
    """Requests made from the OpenAPI schema, right ones and wrong ones, against every endpoint."""
    import schemathesis  # slow to import: not in every process that collects the tests

    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(data, recommending))
    bounded = settings(
        max_examples=4,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    without_input = {"/v1/projects/tagtopics"}
    statuses: set[int] = set()
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    assert len(operations) >= 11
    for operation in operations:
        for mode in schemathesis.GenerationMode:
            if mode.is_negative and operation.path in without_input:
                continue  # they take no input that could be wrong

            @bounded
            @given(case=operation.as_strategy(generation_mode=mode))
            def check(case: Any) -> None:
                status = case.call().status_code
                statuses.add(status)
                assert status < 500 or status == 501, case.as_curl_command()  # 501: this model cannot

            check()
    assert {200, 422} <= statuses
