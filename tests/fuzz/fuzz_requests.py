"""Campaign over requests to `tagtopics serve`, a real process: methods, paths, headers and bodies.

A request ends well if it is answered with a status below 500, or with one that says what is refused (501,
503, 504). If what was sent is not HTTP, the connection may also be closed, or wait for more.
"""

from __future__ import annotations

import collections
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fuzz_models import change_value, save_model

_ANSWERED, _REFUSED, _SILENT = "read", "refused", "no answer"
_REFUSALS = (501, 503, 504)
_PATIENCE, _SHORT = 60.0, 0.25
"""Seconds to wait for the answer to a request, and to something that need not be one."""

_BATCH = {"documents": [{"text": "alpha beta naïve zeta eta", "tags": ["a"]}, {"text": "", "tags": []}]}
_GET = (
    "/api/v1/topics?words=3",
    "/api/v1/tags?query=t&n=2&skip=1&words=3",
    "/api/v1/tags/together?tag=a&tag=t1&words=2",
    "/api/v1/documents?query=doc&n=3&skip=2",
    "/api/v1/documents/3",
    "/v1/projects/tagtopics",
    "/data/bodies/0",
    "/data/index",
    "/data/map",
    "/static/explorer.js",
    "/",
    "/docs",
    "/openapi.json",
    "/health",
    "/ready",
)
_METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "X" * 200)
_HEADERS = (
    b"Host: example.org",
    b"Host: ",
    b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-7",
    b"Content-Type: multipart/form-data; boundary=x",
    b"Content-Encoding: gzip",
    b"Accept-Encoding: gzip;q=nan, \xff",
    b"If-None-Match: " + b'"x",' * 500,
    b"Range: bytes=5-1",
    b"Expect: 100-continue",
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA",
    b"Origin: null",
    b"Authorization: Basic ====",
    b"Cookie: " + b"a=b; " * 2000,
    b"X-Forwarded-For: ::1, \x80",
)
_VALUES = (
    *(b"", b"0", b"1", b"7", b"-1", b"500", b"501", b"1e3", b"9" * 30, b"9" * 5000, b"nan"),
    *(b"%00", b"%FF", b"%ED%A0%80", b"%F0%9D%84%9E", b"%", b"+", b"x" * 199, b"x" * 201),
    *(b"a", b"t1", b"doc", b"a&tag=a"),
)


def until_interrupted(n: int) -> Iterator[int]:
    """Count to n, with progress on standard error, and end early after an interrupt (Ctrl-C)."""
    stopped: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    for i in range(n):
        if stopped:
            break
        if i % 100 == 0:
            sys.stderr.write(f"{i:,} of {n:,}\n")
            sys.stderr.flush()
        yield i
    signal.signal(signal.SIGINT, before)


class Asked(NamedTuple):
    """A request, and whether its server can tell where it ends."""

    method: bytes
    target: bytes
    headers: tuple[bytes, ...]
    body: bytes
    framed: bool = True

    def raw(self) -> bytes:
        """Return the bytes to send."""
        lines = [self.method + b" " + self.target + b" HTTP/1.1", *self.headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


def fuzz_requests(mutate: Callable[..., bytes]) -> Callable[..., dict[str, Any]]:
    """Return a campaign of changed requests to one server."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        save_model(place / "m.tt")
        with _serving(place) as (port, process):
            found = _sent(n, lambda: _request(rng, mutate), port, process.pid)
            found["bad"] += [] if process.poll() is None else [f"the server ended with {process.returncode}"]
            alive, _ = _ask(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 10)
            found["bad"] += [] if alive == 200 else [f"the server does not answer at the end ({alive})"]
        log = (place / "server.log").read_text(encoding="utf-8", errors="replace")
        found["bad"] += re.findall(r"^\w*(?:Error|Exception)\b.*", log, flags=re.MULTILINE)[:20]
        return found

    return run


def _sent(n: int, request: Callable[[], Asked], port: int, server: int) -> dict[str, Any]:
    endings: collections.Counter[str] = collections.Counter()
    statuses: collections.Counter[str] = collections.Counter()
    bad: list[str] = []
    megabytes = [0.0]
    for i in until_interrupted(n):
        asked = request()
        status, text = _ask(port, asked.raw(), _PATIENCE if asked.framed else _SHORT)
        how = _SILENT if status is None else _ANSWERED if status < 400 else _REFUSED
        wrong = asked.framed if status is None else status >= 500 and status not in _REFUSALS
        endings[how] += 1
        statuses[str(status)] += 1
        if wrong:
            bad.append(f"request {i}: {status} {text[:200]!r} to {asked.raw()[:2000]!r}")
        if i == n // 4:
            megabytes = [_megabytes(server)]
    return {
        "n": endings.total(),
        "endings": dict(endings),
        "statuses": dict(sorted(statuses.items())),
        "bad": bad,
        "server_megabytes": [*megabytes, _megabytes(server)],  # after a quarter of the requests, at the end
    }


def _megabytes(process: int) -> float:
    found = re.search(r"VmRSS:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return round(int(found[1]) / 1024, 1) if found else 0.0


@contextmanager
def _serving(place: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Serve the model of a folder; yield the port and the process, which is ended afterwards."""
    program = f"from tagtopics.cli.app import run; run(['serve', {str(place / 'm.tt')!r}, '--port', '0'])"
    told = place / "server.log"
    with told.open("wb") as log:
        process = subprocess.Popen([sys.executable, "-u", "-c", program], stdout=log, stderr=log)
        try:
            while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)/", told.read_bytes())):
                assert process.poll() is None, told.read_text()
                time.sleep(0.05)
            port = int(found[1])
            ready = b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            while _ask(port, ready, 5)[0] != 200:
                assert process.poll() is None, told.read_text()
            yield port, process
        finally:
            process.terminate()
            process.wait(30)


def _ask(port: int, raw: bytes, seconds: float) -> tuple[int | None, bytes]:
    """Return the status of an answer, None without one, and what was received."""
    received = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
            connection.sendall(raw)
            while part := connection.recv(1 << 16):
                received += part
    except OSError:  # the time is over, or the server closed the connection before it had read everything
        pass
    found = [int(status) for status in re.findall(rb"(?:^|\r\n\r\n)HTTP/1\.1 (\d{3})", received)]
    final = [status for status in found if status >= 200]
    return (final[0] if final else None), received


def _request(rng: np.random.Generator, mutate: Callable[..., bytes]) -> Asked:
    """Return a request with one to three changes."""
    asked = _valid(rng)
    for _ in range(int(rng.geometric(0.7))):
        asked = _changed(asked, rng, mutate)
    if rng.random() < 0.05:  # not HTTP any more
        raw = mutate(asked.raw(), rng)
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        return Asked(first, b"", tuple(headers), body, framed=False)
    length = b"Content-Length: " + str(len(asked.body)).encode()
    return asked._replace(headers=(*asked.headers, length, b"Connection: close"))


def _valid(rng: np.random.Generator) -> Asked:
    host = (b"Host: localhost",)
    kind = rng.random()
    if kind < 0.35:
        return Asked(b"GET", _GET[int(rng.integers(0, len(_GET)))].encode(), host, b"")
    if kind < 0.5:
        form = b"text=alpha+beta+zeta+eta&limit=5&threshold=0.1&explain=1"
        headers = (*host, b"Content-Type: application/x-www-form-urlencoded")
        return Asked(b"POST", b"/v1/projects/tagtopics/suggest", headers, form)
    if kind < 0.53:
        headers = (*host, b"Content-Type: image/png")
        return Asked(b"POST", b"/api/v1/photograph?top=3", headers, b"\x89PNG\r\n\x1a\n" + rng.bytes(40))
    name = ("explain", "recommend", "transform", "related")[int(rng.integers(0, 4))]
    batch = _BATCH | ({"top": 3} if name in ("recommend", "related") else {})
    body = json.dumps(batch, ensure_ascii=False).encode()
    return Asked(b"POST", f"/api/v1/{name}".encode(), (*host, b"Content-Type: application/json"), body)


def _changed(asked: Asked, rng: np.random.Generator, mutate: Callable[..., bytes]) -> Asked:
    kind = rng.random()
    if kind < 0.6 and asked.body:
        return asked._replace(body=_changed_body(asked.body, rng, mutate))
    path, mark, query = asked.target.partition(b"?")
    if kind < 0.6 and mark:
        fields = query.split(b"&")
        at = int(rng.integers(0, len(fields)))
        fields[at] = fields[at].partition(b"=")[0] + b"=" + _VALUES[int(rng.integers(0, len(_VALUES)))]
        return asked._replace(target=path + mark + b"&".join(fields))
    if kind < 0.7:
        target = mutate(asked.target, rng)
        quoted = re.sub(rb"[^!-~]", lambda found: b"%%%02X" % found[0][0], target)
        return asked._replace(target=target if rng.random() < 0.1 else quoted or b"/")
    if kind < 0.8:
        return asked._replace(method=_METHODS[int(rng.integers(0, len(_METHODS)))].encode())
    if kind < 0.9:
        return asked._replace(headers=(*asked.headers, _HEADERS[int(rng.integers(0, len(_HEADERS)))]))
    at = int(rng.integers(0, len(asked.headers)))
    changed = mutate(asked.headers[at], rng).replace(b"\r\n", b" ")
    return asked._replace(headers=(*asked.headers[:at], changed, *asked.headers[at + 1 :]))


def _changed_body(body: bytes, rng: np.random.Generator, mutate: Callable[..., bytes]) -> bytes:
    try:
        value = json.loads(body)
    except ValueError:
        return mutate(body, rng)
    if rng.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return mutate(body, rng)
    change_value(value, rng)
    return json.dumps(value).encode()
