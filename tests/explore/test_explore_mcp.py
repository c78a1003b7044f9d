"""Agents ask a model with the Model Context Protocol: the real client, on a pipe and on a port."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

import tagtopics as tt
from tagtopics.cli import main
from tagtopics.corpus import TextRecipe
from tagtopics.explore.server.tools import MOST_TOKENS, Tools, count_tokens, to_text
from tagtopics.models.results import topic_rows

TEXT = "Draw random samples with a seed, then apply a filter to the signal."
TAGS = ["subpackage:numpy.random", "subpackage:scipy.signal"]
NAMES = ["suggest_tags", "list_tags", "list_topics", "compare", "explain", "related"]
COMMAND = [sys.executable, "-c", "from tagtopics.cli import command; command()", "mcp"]

Call = tuple[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tt.TTM, tt.Corpus]:
    corpus = tt.load_dataset("docstrings")
    model = tt.TTM(n_topics=8, max_iter=15, random_state=0).fit(corpus)
    path = tmp_path_factory.mktemp("mcp") / "docstrings.tt"
    model.save(path, corpus=corpus)
    return path, model, corpus


def ask(place: Path | str, *calls: Call) -> tuple[list[Tool], list[CallToolResult]]:
    """Return the tools of a server, and its answers to some calls: started for a model, or at an address."""

    async def talk() -> tuple[list[Tool], list[CallToolResult]]:
        async with httpx2.AsyncClient(headers={"Authorization": "Bearer secret"}) as http:
            if isinstance(place, str):
                return await talk_over(streamable_http_client(place, http_client=http))
            started = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(place)])
            return await talk_over(stdio_client(started))

    async def talk_over(transport: Any) -> tuple[list[Tool], list[CallToolResult]]:
        async with Client(transport) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have a loop in this one
        return thread.submit(anyio.run, talk).result()


def text_of(answer: CallToolResult) -> str:
    (block,) = answer.content
    assert block.type == "text"
    return block.text


def content_of(answer: CallToolResult) -> Any:
    assert not answer.is_error, text_of(answer)
    return json.loads(text_of(answer))


def bytes_of(folder: Path) -> dict[str, tuple[str, int]]:
    """Return digest and time of change of all files of a folder."""
    return {
        str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def close_to(value: float) -> Any:
    return pytest.approx(float(value), abs=5.1e-4)  # three digits


CALLS: list[Call] = [
    ("suggest_tags", {"text": TEXT, "top": 4}),
    ("list_tags", {"contains": "RANDOM"}),
    ("list_topics", {}),
    ("compare", {"tags": TAGS}),
    ("explain", {"text": TEXT, "tags": TAGS}),
    ("related", {"text": TEXT, "top": 3}),
    ("suggest_tags", {"document": "numpy.zeros"}),
    ("explain", {"document": "numpy.zeros"}),
    ("related", {"document": "numpy.zeros"}),
    ("explain", {"text": TEXT}),
]


def check_answers(answers: list[Any], model: tt.TTM, corpus: tt.Corpus) -> None:
    """Compare answers to `CALLS` with those of the Python API."""
    suggested, listed, topics, compared, explained, related, of_id, own, near, inferred = answers

    def same_tags(rows: list[dict[str, Any]], documents: Any, top: int) -> None:
        (expected,) = model.recommend(documents, top, n_words=5)
        assert [row["tag"] for row in rows] == [one.tag for one in expected]
        assert [row["probability"] for row in rows] == [close_to(one.probability) for one in expected]
        assert [row["because"] for row in rows] == [[word for word, _ in one.words] for one in expected]

    zeros = corpus.select([corpus.ids.index("numpy.zeros")])
    same_tags(suggested["tags"], [TEXT], 4)
    same_tags(of_id["tags"], zeros, 5)

    containing = {tag for tag in model.tag_names_ if "random" in tag}
    assert listed["total"] == len(containing) > 1
    assert {row["tag"] for row in listed["tags"]} == containing
    for row in listed["tags"]:
        profile = model.tag_profile(row["tag"], n_words=5)
        assert (row["documents"], row["words"]) == (profile.n_docs[0], [word for word, _ in profile.words])
    docs = [row["documents"] for row in listed["tags"]]
    assert docs == sorted(docs, reverse=True)

    table = model.topic_table(8)
    assert [row["topic"] for row in topics["topics"]] == list(table.topic)
    assert [tuple(row["words"]) for row in topics["topics"]] == list(table.words)
    assert [row["name"] for row in topics["topics"]] == list(table.name)
    typical = {row["topic"]: [tag["name"] for tag in row["tags"]] for row in topic_rows(model, 8)}
    assert {row["topic"]: row["tags"] for row in topics["topics"]} == typical

    for row, tags in ((compared["together"], TAGS), *((row, [row["tag"]]) for row in compared["tags"])):
        profile = model.tag_profile(*tags, n_words=8)
        assert row["words"] == [word for word, _ in profile.words]
        for topic in row["topics"]:
            assert topic["share"] == close_to(profile.topics[topic["topic"]])
            assert topic["name"] == model.topic_names()[topic["topic"]]
    assert [row["tag"] for row in compared["tags"]] == TAGS

    for answer, credit in (
        (explained, model.explain(TEXT, tags=TAGS)),
        (own, model.explain(zeros)),
        (inferred, model.explain(TEXT, tags=[one.tag for one in model.recommend(TEXT, 3)[0]])),
    ):
        assert {row["tag"] for row in answer["tags"]} == set(credit.tag)
        assert sum(row["share"] for row in answer["tags"]) == pytest.approx(1, abs=0.01)
        expected = {(t, w): c for t, w, c in zip(credit.tag, credit.word, credit.credit, strict=True)}
        told = [(row["tag"], one["word"], one["credit"]) for row in answer["tags"] for one in row["words"]]
        assert len(told) > 5
        assert [c for _, _, c in told] == [close_to(expected[tag, word]) for tag, word, _ in told]

    for row, one in zip(related["documents"], model.related(TEXT, 3)[0], strict=True):
        assert (row["id"], row["similarity"]) == (one.id, close_to(one.score))
    others = [one for one in model.related(zeros, 6, tags=zeros)[0] if one.id != "numpy.zeros"][:5]
    assert [row["id"] for row in near["documents"]] == [one.id for one in others]


def test_on_a_pipe_the_answers_are_those_of_python(fitted: tuple[Path, tt.TTM, tt.Corpus]) -> None:
    path, model, corpus = fitted
    before = bytes_of(path)
    tools, answers = ask(path, *CALLS)
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
    check_answers([content_of(answer) for answer in answers], model, corpus)
    assert bytes_of(path) == before, "a tool changed the model"
    assert len(before) > 1


def test_what_is_wrong_is_told_to_the_agent(fitted: tuple[Path, tt.TTM, tt.Corpus]) -> None:
    wrong: list[tuple[Call, str]] = [
        (("suggest_tags", {}), "give either a text, or the id of a document"),
        (("suggest_tags", {"text": "a", "document": "b"}), "give either a text"),
        (("suggest_tags", {"text": TEXT, "kind": "colour"}), "no tags of kind 'colour'; its kinds are"),
        (("suggest_tags", {"text": TEXT, "threshold": 2}), "threshold must be less than or equal to 1"),
        (("suggest_tags", {"text": "a" * 100_001}), "at most 100000 characters"),
        (("list_topics", {"top": 0}), "top must be greater than or equal to 1"),
        (("list_topics", {"model": "x"}), "model: Unexpected keyword argument"),
        (("list_tags", {"skip": "many"}), "skip must be a valid integer"),
        (("compare", {"tags": ["package:numpy"]}), "at least 2 items"),
        (("compare", {"tags": ["package:numpy", "package:numpy"]}), "two or more different tags"),
        (("compare", {"tags": ["numpy", "package:scipy"]}), "did you mean 'package:numpy'"),
        (("compare", {"tags": ["x" * 400] * 9}), "the model has no tag"),
        (("compare", {"tags": [1] * 5000}), "tags"),
        (("explain", {"text": TEXT, "tags": ["nothing"]}), "no tag 'nothing'"),
        (("related", {"document": "numpy.zeroes"}), "did you mean 'numpy.zeros'"),
        (("delete_model", {}), "no tool 'delete_model'; the tools are suggest_tags, list_tags"),
    ]
    _, answers = ask(fitted[0], *(call for call, _ in wrong))
    for answer, (call, says) in zip(answers, wrong, strict=True):
        assert answer.is_error, call
        assert says in text_of(answer), call
        assert len(text_of(answer)) < 400, call


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """A model whose tags, titles, ids and words are very long, of several scripts."""
    rows = []
    for d in range(60):
        tags = [f"kind{t}:" + "长标签"[t % 3] * 2000 + f" {t}" for t in range(d % 7, d % 7 + 12)]
        words = " ".join(f"word{w}" + "abcdefgh"[w % 8] * 300 for w in range(d % 5, d % 5 + 30))
        rows.append(
            {"id": f"{d}-" + "i" * 3000, "title": "\u0001<b>" + "🎈" * 3000, "text": words, "tags": tags}
        )
    path = tmp_path_factory.mktemp("long") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = tt.read_corpus(path, recipe=TextRecipe(min_df=1, max_df=1.0))
    assert corpus.titles is not None
    return Tools(tt.TTM(n_topics=12, max_iter=10, random_state=0).fit(corpus), corpus)


def test_no_answer_is_longer_than_promised(long_names: Tools) -> None:
    tools: Any = long_names
    corpus = tools._corpus
    document, tags = corpus.ids[0], list(corpus.tag_names[:10])
    text = corpus.texts[0]
    assert min(map(len, tags)) > 2000
    asked = {
        "suggest_tags": {"text": text, "top": 50},
        "list_tags": {"top": 50},
        "list_topics": {"top": 50},
        "compare": {"tags": tags},
        "explain": {"document": document},
        "related": {"text": text, "top": 50},
    }
    assert list(asked) == [function.__name__ for function in tools.all()]
    for name, arguments in asked.items():
        answer = getattr(tools, name)(**arguments)
        assert count_tokens(answer) <= MOST_TOKENS, name
        assert len(answer.encode()) < 2 * MOST_TOKENS, name
        rows = next(value for value in json.loads(answer).values() if isinstance(value, list))
        assert rows, name
        assert "…" in answer, name
    for name in ("list_tags", "related"):
        assert re.fullmatch(r"\d+ more", json.loads(getattr(tools, name)(**asked[name]))["more"]), name


def test_a_long_list_is_read_in_parts(fitted: tuple[Path, tt.TTM, tt.Corpus]) -> None:
    found: list[str] = []
    tools, more = Tools(*fitted[1:]), "first"
    while more:
        answer = json.loads(tools.list_tags(top=50, skip=len(found)))
        found += [row["tag"] for row in answer["tags"]]
        more = answer.get("more", "")
        assert more == (f"{answer['total'] - len(found)} more" if len(found) < answer["total"] else "")
    assert len(found) == len(set(found)) == len(fitted[1].tag_names_) > 100
    assert json.loads(tools.list_tags(skip=10_000)) == {"total": len(found), "tags": []}


def test_tokens_are_not_underestimated() -> None:
    """The numbers on the right are the larger ones of the tokenizers cl100k_base and o200k_base."""
    for text, tokens in (
        ("🎈🧿🦀🪐🫠🧬", 18),
        ("鱻龘靐齉爩麤灪龗鸞", 22),
        ("የርዕስ ሞዴሎች መለያዎች", 38),
        ("主题模型与标签文献的词语解释", 17),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43),
        ('[{"word":"a","credit":0.123},{"word":"b","credit":0.456}]', 22),
    ):
        assert count_tokens(text) >= tokens, text


def test_rows_that_cannot_be_cut_enough_are_an_error() -> None:
    with pytest.raises(tt.InputError, match="too long"):
        to_text("rows", [{str(i): i for i in range(2000)}], {})


def test_models_with_less_say_so(tmp_path: Path) -> None:
    corpus = tt.read_corpus(["bread oven flour", "boat wind sail", "bread flour", "boat sail"] * 3)
    plain = Tools(tt.LDA(n_topics=2, random_state=0).fit(corpus), None)
    assert len(json.loads(plain.list_topics())["topics"]) == 2
    assert len(json.loads(plain.related(text="bread and flour"))["documents"]) == 5
    assert json.loads(plain.related(text="nothing known")) == {
        "note": "no word that the model knows",
        "documents": [],
    }
    with pytest.raises(tt.InputError, match="nothing about tags"):
        plain.list_tags()
    with pytest.raises(tt.InputError, match="nothing about tags"):
        plain.compare(["a", "b"])
    with pytest.raises(tt.InputError, match="nothing about tags"):
        plain.explain(text="bread")
    with pytest.raises(tt.InputError, match="saved without its documents"):
        plain.related(document="0")


@pytest.fixture(scope="module")
def address(fitted: tuple[Path, tt.TTM, tt.Corpus]) -> Iterator[str]:
    """A server on a port, with a token and the name of a proxy."""
    command = [*COMMAND, str(fitted[0]), "--http", "--port", "0", "--allowed-host", "topics.example.org"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TAGTOPICS_TOKEN": "secret"}
    ) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()


def test_on_a_port_the_answers_are_those_of_python(
    fitted: tuple[Path, tt.TTM, tt.Corpus], address: str
) -> None:
    path, model, corpus = fitted
    before = bytes_of(path)
    tools, answers = ask(address, *CALLS)
    assert [tool.name for tool in tools] == NAMES
    check_answers([content_of(answer) for answer in answers], model, corpus)
    assert bytes_of(path) == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "topics.example.org"}, 200),
        ({"Host": "evil.example.org"}, 421),
        ({"Host": "127.0.0.1.evil.example.org:8000"}, 421),
        ({"Origin": "https://evil.example.org"}, 403),
        ({"Origin": "https://topics.example.org"}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_other_hosts_pages_and_tokens_are_refused(address: str, headers: dict[str, str], status: int) -> None:
    usual = {
        "Authorization": "Bearer secret",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    started = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": started}
    answer = httpx2.post(address, content=json.dumps(body), headers=usual | headers)
    assert answer.status_code == status, answer.text


def test_a_large_request_is_refused(address: str) -> None:
    headers = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
    assert httpx2.post(address, content=b" " * 2_000_001, headers=headers).status_code == 413


def test_the_command_says_what_is_wrong(
    fitted: tuple[Path, tt.TTM, tt.Corpus],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = str(fitted[0])
    for arguments, says in (
        ([path, "--token", "x"], "need --http"),
        ([path, "--http", "--allowed-host", "a:80"], "no port"),
        ([path, "--http", "--allowed-host", "*.example.org"], "whole names only"),
        (["nothing.tt"], "nothing.tt"),
    ):
        assert main(["mcp", *arguments]) == 2
        assert says in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    monkeypatch.delitem(sys.modules, "tagtopics.explore.server.mcp_server", raising=False)
    assert main(["mcp", path]) == 2
    assert "pip install 'tagtopics[mcp]'" in capsys.readouterr().err
