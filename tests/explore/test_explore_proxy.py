"""The server behind a proxy or open to a network: names, headers, tokens, clients that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from explore_support import create_app

import tagtopics as tt
from tagtopics.cli.app import run
from tagtopics.errors import InputError
from tagtopics.explore import commands
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Limits
from tagtopics.explore.server.server import allowed_hosts, bind, create_server, make_server

pytest_plugins = ("explore_fixtures",)

FORWARDED = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


@contextmanager
def listening(app: Any, limits: Limits | None = None, **options: Any) -> Iterator[tuple[Any, int]]:
    """Serve an application as the command does; yield the server and its port."""
    limits = limits or Limits()
    bound = bind("127.0.0.1", 0, limits)
    server = make_server(app, limits, **options)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    wait(lambda: server.started)
    yield server, bound.getsockname()[1]
    server.should_exit = server.force_exit = True
    thread.join(20)


def wait(holds: Callable[[], Any]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came true")


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what the server knows about the request."""
    if scope["type"] != "http":
        return
    body = json.dumps([scope["scheme"], scope["client"][0], scope["root_path"], scope["path"]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


# ------------------------------------------------------------------------------------------- proxies


def test_names_of_a_proxy_are_accepted_and_no_others() -> None:
    app, _ = create_server(hosts=allowed_hosts("127.0.0.1", ["Topics.example.org", "*.example.net"]))
    with listening(app) as (_, port):

        def status(host: str) -> int:
            return httpx.get(f"http://127.0.0.1:{port}/health", headers={"Host": host}).status_code

        for host in ("topics.example.org", "TOPICS.example.org:443", "a.example.net", f"localhost:{port}"):
            assert status(host) == 200
        for host in ("example.org", "topics.example.org.evil.example", "rebound.example"):
            assert status(host) == 400


def test_an_open_server_can_be_limited_to_names() -> None:
    assert allowed_hosts("0.0.0.0") is None
    named = allowed_hosts("0.0.0.0", ["topics.example.org"])
    assert named is not None
    assert {"topics.example.org", "localhost"} <= set(named)
    assert "*" not in named


@pytest.mark.parametrize("name", ["", "*", "a*.org", "https://a.org", "a.org:80", "a.org/b", "a b"])
def test_what_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="give a name such as"):
        allowed_hosts("127.0.0.1", [name])


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [
        ("127.0.0.1", ["https", "203.0.113.7"]),
        ("10.0.0.1, 127.0.0.0/8", ["https", "203.0.113.7"]),
        ("*", ["https", "203.0.113.7"]),
        ("10.0.0.1", ["http", "127.0.0.1"]),
    ],
)
def test_only_named_proxies_tell_scheme_and_client(proxies: str, seen: list[str]) -> None:
    with listening(echo, proxies=proxies) as (_, port):
        assert httpx.get(f"http://127.0.0.1:{port}/", headers=FORWARDED).json()[:2] == seen


@pytest.mark.parametrize("proxies", ["proxy", "10.0.0.1/99", "10.0.0.1,,", "127.0.0.1:80"])
def test_what_is_no_address_of_a_proxy_is_refused(proxies: str) -> None:
    with pytest.raises(InputError, match="--forwarded-allow-ips"):
        make_server(echo, Limits(), proxies=proxies)


@pytest.mark.parametrize("root", ["/topics", "topics/"])
def test_addresses_below_a_path_of_the_proxy(root: str, data: TopicData, model: tt.TTM) -> None:
    app = create_app(data, ModelEngine(model), token="secret")
    with listening(app, root_path=root) as (_, port):
        address, token = f"http://127.0.0.1:{port}", {"Authorization": "Bearer secret"}
        assert httpx.get(f"{address}/health").status_code == 200
        assert httpx.get(f"{address}/").status_code == 401
        assert httpx.get(f"{address}/api/v1/topics", headers=token).status_code == 200
        moved = httpx.get(f"{address}/api/v1/topics/", headers=FORWARDED | token | {"Host": "example.org"})
        assert moved.headers["location"] == "https://example.org/topics/api/v1/topics"


# ------------------------------------------------------------------------------------- the command


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The servers that the command would run."""
    found: list[Any] = []

    def keep(server: Any, listening: socket.socket, *rest: Any, **options: Any) -> None:
        listening.close()
        found.append(server)

    monkeypatch.delenv("TAGTOPICS_TOKEN", raising=False)
    monkeypatch.setattr(commands, "_serve", keep)
    return found


def status_of(server: Any, token: str) -> int:
    """Return the status of a path that needs a token."""

    async def ask() -> int:
        transport = httpx.ASGITransport(app=server.config.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (
                await client.get("/api/v1/topics", headers={"Authorization": f"Bearer {token}"})
            ).status_code

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, ask()).result()


@pytest.mark.parametrize("source", ["file", "variable", "option"])
def test_a_token_from_a_file_a_variable_or_the_command_line(
    source: str,
    served: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "token").write_text("secret\nand a comment\n")
    given = {"file": ["--token-file", str(tmp_path / "token")], "option": ["--token", "secret"]}
    if source == "variable":
        monkeypatch.setenv("TAGTOPICS_TOKEN", "secret")
    assert run(["serve", "m.tt", "--port", "0", *given.get(source, [])]) == 0
    assert [status_of(served[0], token) for token in ("secret", "wrong")] == [503, 401]  # 503: no model yet
    notes = [line for line in capsys.readouterr().err.splitlines() if "can see --token" in line]
    assert len(notes) == (source == "option")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token", " "], "--token: the token must not be empty"),
        (["--token-file", "none"], "none: No such file"),
        (["--token-file", "/dev/null"], "--token-file /dev/null: the token must not be empty"),
        (["--token", "a", "--token-file", "b"], "give one of them"),
        (["--allowed-host", "https://a.org"], "--allowed-host 'https://a.org'"),
        (["--forwarded-allow-ips", "proxy"], "--forwarded-allow-ips 'proxy'"),
    ],
)
def test_wrong_settings_are_one_line(
    arguments: list[str], message: str, served: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "m.tt", "--port", "0", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert served == []


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [([], False), (["--host", "0.0.0.0"], True), (["--host", "0.0.0.0", "--token", "a"], False)],
)
def test_an_open_server_without_a_token_is_noted(
    arguments: list[str], warned: bool, served: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "m.tt", "--port", "0", *arguments]) == 0
    assert len(served) == 1
    assert ("note: whoever can reach http://0.0.0.0:" in capsys.readouterr().err) is warned


@pytest.mark.parametrize("log", [True, False])
def test_requests_are_logged_if_asked(log: bool, capfd: pytest.CaptureFixture[str]) -> None:
    with listening(echo, log=log) as (_, port):
        httpx.get(f"http://127.0.0.1:{port}/there?q=1", headers=FORWARDED)
    printed = capfd.readouterr()
    assert ('203.0.113.7:0 - "GET /there?q=1 HTTP/1.1" 200' in printed.out + printed.err) is log


# ----------------------------------------------------------------------------- clients that misbehave


def asked(app: Any, path: str, method: str = "POST", headers: Any = ()) -> int:
    """Return the status of an answer that is given without reading the body."""
    statuses = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("localhost", 80),
        "client": ("127.0.0.1", 1), "headers": [(b"host", b"localhost"), *headers],
    }  # fmt: skip
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, app(scope, receive, send)).result()
    return int(statuses[0])


def test_no_body_is_read_without_the_token(data: TopicData, model: tt.TTM) -> None:
    app = create_app(data, ModelEngine(model), token="secret")
    for path in ("/api/v1/transform", "/api/v1/photograph", "/none/photograph"):
        assert asked(app, path) == 401


def test_no_photograph_is_read_if_none_is_answered(data: TopicData, model: tt.TTM) -> None:
    kind = [(b"content-type", b"image/jpeg")]
    assert asked(create_app(data, ModelEngine(model)), "/api/v1/photograph", headers=kind) == 501


def test_the_page_answers_head(data: TopicData, model: tt.TTM) -> None:
    assert asked(create_app(data, ModelEngine(model)), "/", "HEAD") == 200


def test_a_body_with_two_lengths_ends_the_connection() -> None:
    """A proxy may take the rest for the body, the server for a request of another user."""
    app, _ = create_server()
    first = (
        b"GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    with listening(app) as (_, port), socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(first + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux limits this time")
def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def large(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"x" * 30_000_000})

    with listening(large, Limits(unread_seconds=0.2)) as (server, port), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait(lambda: server.server_state.connections)
        wait(lambda: not server.server_state.connections)
