"""`tagtopics curate MODEL name`: names from an endpoint, however it behaves. No other command connects."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cli_running import ROWS, run, write_rows

import tagtopics as tt
from tagtopics.curation import endpoint

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], object]


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def say(handler: BaseHTTPRequestHandler, content: object) -> None:
    """Answer as an OpenAI-compatible API does."""
    send(handler, json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode())


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of a real endpoint, and the requests that it gets."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
            with suppress(OSError):  # the client has left
                answer(self, body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("name")
    rows = [row | {"title": f"About {row['id']}"} for row in ROWS]
    source = write_rows(folder / "titled.jsonl", rows)
    result = run("fit", source, "--topics", 3, "--iterations", 15, "--out", folder / "m.tt")
    assert result.code == 0, result.err
    return folder / "m.tt"


def bytes_of(folder: Path) -> dict[str, str]:
    """Return the digests of all files of the folder around a model: nothing may be left beside it."""
    files = sorted(file for file in folder.parent.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def first_words(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Name a topic by its first word, as a language model would."""
    topic = json.loads(body["messages"][1]["content"])["topic"]
    say(handler, f' "**About {topic["words"][0]}**".\n')


def test_names_are_asked_for_kept_in_the_journal_and_replayed_without_a_request(
    fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(endpoint.KEY, "secret")
    named = tmp_path / "named.tt"
    words = [own[0][0] for own in tt.load(fitted).top_words(1)]
    with serving(first_words) as (address, requests):
        result = run("curate", fitted, "name", address, "small", "--out", named, "--json").json()
    assert [row["name"] for row in result["topics"]] == [f"About {word}" for word in words]
    assert [(one["path"], one["model"], one["key"]) for one in requests] == [
        ("/v1/chat/completions", "small", "Bearer secret")
    ] * 3
    for k, one in enumerate(requests):
        asked = json.loads(one["messages"][1]["content"])
        assert asked["topic"]["words"][0] == words[k]
        assert {other["words"][0] for other in asked["other_topics"]} == {*words} - {words[k]}
        assert asked["topic"]["tags"]
        assert asked["topic"]["titles"][0].startswith("About ")
        assert asked["names_in_use"] == [f"About {word}" for word in words[:k]]
    # the endpoint is gone: the journal has the names
    again = run("curate", named, "replay", "--seed", 5, "--out", tmp_path / "again.tt", "--json").json()
    assert [row["name"] for row in again["topics"]] == [f"About {word}" for word in words]
    log = tt.load(named).curation_.to_json()
    assert [(edit["kind"], edit["name"]) for edit in log["edits"]] == [
        ("rename", f"About {w}") for w in words
    ]
    assert "secret" not in json.dumps(log)
    assert not any(b"secret" in file.read_bytes() for file in named.rglob("*") if file.is_file())


def test_names_of_the_user_stay(fitted: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.tt"
    assert run("curate", fitted, "rename", 1, "mine", "--out", edited).code == 0
    with serving(first_words) as (address, requests):
        rows = run("curate", edited, "name", f"{address}/chat/completions", "small", "--json").json()[
            "topics"
        ]
        assert rows[1]["name"] == "mine"
        assert len(requests) == 2
        assert requests[0]["path"] == "/v1/chat/completions"
        result = run("curate", edited, "name", address, "small")
        assert (result.code, len(requests)) == (2, 2)
    assert "all topics have names" in result.err


def test_the_name_of_a_seed_to_come_is_in_use(fitted: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.tt"
    assert run("curate", fitted, "seed", "One Name", "bread", "oven", "--out", edited).code == 0
    with serving(repeated) as (address, requests):
        result = run("curate", edited, "name", address, "small")
    assert (result.code, len(requests)) == (2, 3)
    assert "already in use" in result.err


def repeated(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    say(handler, "One Name")


def test_a_bad_name_is_asked_for_again(fitted: Path, tmp_path: Path) -> None:
    def stubborn(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        tries, used = len(body["messages"]) // 2, json.loads(body["messages"][1]["content"])["names_in_use"]
        thought = "<think>a <b>long</b>\nthought</think>\n"
        say(handler, thought + (f"name {len(used)}" if tries == 3 else "NAME 0" if used else "x" * 1000))

    out = tmp_path / "named.tt"
    with serving(stubborn) as (address, requests):
        rows = run("curate", fitted, "name", address, "small", "--out", out, "--json").json()["topics"]
    assert [row["name"] for row in rows] == ["name 0", "name 1", "name 2"]
    assert "longer than 60" in requests[1]["messages"][-1]["content"]
    assert "already in use" in requests[-1]["messages"][-1]["content"]


def drip(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Send a byte of the head from time to time, for ever."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    for _ in range(100):
        time.sleep(0.05)
        handler.wfile.write(b"a")


def enormous(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(64):
        handler.wfile.write(b" " * 2**20)


def second_fails(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Give a good name to the first topic only."""
    if json.loads(body["messages"][1]["content"])["names_in_use"]:
        return send(handler, b"no", 500)
    first_words(handler, body)


HOSTILE: dict[str, tuple[Answer, str]] = {
    "silent": (lambda handler, body: time.sleep(3), "seconds|timed out"),
    "dripping": (drip, "seconds|timed out"),
    "status 500": (lambda handler, body: send(handler, b"x" * 5000, 500), "status 500"),
    "status 401": (
        lambda handler, body: send(handler, b"{}", 401),
        "check address, model and TAGTOPICS_API_KEY",
    ),
    "redirect": (
        lambda handler, body: send(handler, b"", 302, Location="http://127.0.0.1:9/v1"),
        "status 302",
    ),
    "HTML": (lambda handler, body: send(handler, b"<html>hi</html>"), "not an answer"),
    "nothing": (lambda handler, body: send(handler, b""), "not an answer"),
    "closed": (lambda handler, body: handler.connection.close(), "127.0.0.1"),
    "no HTTP": (lambda handler, body: handler.wfile.write(b"\x00\xff" * 100 + b"\r\n"), "in HTTP"),
    "other JSON": (lambda handler, body: send(handler, b'{"choices": []}'), "not an answer"),
    "deep JSON": (lambda handler, body: send(handler, b"[" * 100_000), "not an answer"),
    "no text": (lambda handler, body: say(handler, None), "not an answer"),
    "a list": (lambda handler, body: say(handler, ["a"]), "not an answer"),
    "enormous": (enormous, "more than 1,000,000 bytes"),
    "one name for all": (repeated, "already in use"),
    "control characters": (lambda handler, body: say(handler, "red\x1b[31m name"), "control characters"),
    "direction": (lambda handler, body: say(handler, "name\u202etxt"), "control characters"),
    "several lines": (lambda handler, body: say(handler, "one\ntwo"), "several lines"),
    "HTML in a name": (lambda handler, body: say(handler, "<script>alert(1)</script>"), "markup"),
    "long name": (lambda handler, body: say(handler, "x" * 1000), "longer than 60"),
    "empty name": (lambda handler, body: say(handler, ' "" '), "no letters"),
    "surrogate": (lambda handler, body: say(handler, "a\ud800"), "127.0.0.1"),
    "fails later": (second_fails, "status 500"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_endpoint_changes_nothing(kind: str, fitted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, says = HOSTILE[kind]
    monkeypatch.setattr(endpoint, "SECONDS", 0.5 if "seconds" in says else 30.0)
    monkeypatch.setenv(endpoint.KEY, "secret-key")
    before = bytes_of(fitted)
    with serving(answer) as (address, requests):
        result = run("curate", fitted, "name", address, "small")
    assert requests
    assert result.code == 2, result.err
    assert any(part in result.err for part in says.split("|")), result.err
    assert len(result.err.splitlines()) == 1
    assert len(result.err) < 400
    assert "secret-key" not in result.err
    assert result.err.rstrip().isprintable()
    assert bytes_of(fitted) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give the address and the model"),
        (("http://127.0.0.1:9/v1",), "give the address and the model"),
        (("file:///etc/passwd", "small"), "is no address"),
        (("localhost:80", "small"), "is no address"),
        (("http://", "small"), "no host"),
        (("http://[", "small"), "http://["),
        (("http://127.0.0.1:9/v1", "small"), "refused"),
    ],
)
def test_a_wrong_address_changes_nothing(fitted: Path, arguments: tuple[str, ...], says: str) -> None:
    before = bytes_of(fitted)
    result = run("curate", fitted, "name", *arguments)
    assert (result.code, bytes_of(fitted)) == (2, before)
    assert says in result.err


def test_a_key_that_is_none_is_not_shown(fitted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(endpoint.KEY, "secret\nInjected: header")
    with serving(first_words) as (address, requests):
        result = run("curate", fitted, "name", address, "small")
    assert (result.code, requests) == (2, [])
    assert endpoint.KEY in result.err
    assert "secret" not in result.err


WATCH = """
import os, sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        if event.startswith("socket.get") or isinstance(arguments[1], tuple):  # not the path of a Unix socket
            with open(os.environ["WATCHED"], "a") as file:
                file.write(f"{event} {arguments!r}\\n")
sys.addaudithook(watch)
"""
COMMAND = (
    "import sys; from tagtopics.cli import main; sys.exit(max(main(a.split(' ')) for a in sys.argv[1:]))"
)


def test_no_command_opens_a_connection_unless_asked(tmp_path: Path) -> None:
    """Run commands in a process in which, and in whose children, every connection is written down."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(WATCH)
    seen, key = tmp_path / "seen.txt", {endpoint.KEY: "secret", "OPENAI_API_KEY": "secret"}
    path = os.pathsep.join([str(tmp_path / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | key | {"PYTHONPATH": path, "WATCHED": str(seen)}

    def watched(*commands: str) -> str:
        process = subprocess.run(
            [sys.executable, "-c", COMMAND, *commands],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert process.returncode == 0, process.stderr
        return seen.read_text() if seen.exists() else ""

    write_rows(tmp_path / "rows.jsonl")
    quiet = watched(
        "fit rows.jsonl --topics 3 --iterations 15 --out m.tt",
        "topics m.tt",
        "tags m.tt",
        "report m.tt --out m.html",
        "recommend m.tt rows.jsonl",
        "explain m.tt rows.jsonl",
        "curate m.tt rename 0 mine",
        "curate m.tt seed kitchen bread oven",
        "curate m.tt replay --out again.tt",
        "curate m.tt undo",
    )
    assert quiet == ""
    with serving(first_words) as (address, requests):
        loud = watched(f"curate m.tt name {address} small")
    assert "socket.connect" in loud, "the hook must see connections"
    assert len(requests) == 2


def test_names_that_people_write_are_no_problem() -> None:
    for name in ("city traffic", "C++ & Rust", "زبان\u200cها", "词 语", "p-values (statistics)", "a" * 60):
        assert endpoint.problem_of(name) == "", name
