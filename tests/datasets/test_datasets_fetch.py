"""Fetching, against a real server on this machine: whole and checked, or not at all."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tagtopics.datasets.load import (
    DatasetEntry,
    RemoteFile,
    fetch_dataset,
    is_cached,
    read_registry,
)
from tagtopics.errors import InputError

BODY = bytes(range(256)) * 1024


class Handler(BaseHTTPRequestHandler):
    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/whole")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY[:1000] if self.path == "/truncated" else BODY)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Handler.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def remote(address: str, sha256: str = hashlib.sha256(BODY).hexdigest(), size: int = len(BODY)) -> RemoteFile:
    return RemoteFile(role="counts", name="words.mat", address=address, size=size, sha256=sha256)


def entry_of(file: RemoteFile) -> DatasetEntry:
    return read_registry()["cora"].model_copy(update={"files": (file,)})


def assert_fails(file: RemoteFile, directory: Path, match: str) -> None:
    """The error is one line and names the address; no file is left, whole or in part."""
    with pytest.raises(InputError, match=match) as caught:
        fetch_dataset(entry_of(file))
    assert "\n" not in str(caught.value)
    assert "http" in str(caught.value)
    assert [path for path in directory.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("path", ["/whole", "/moved"])
def test_a_file_arrives_whole_and_only_once(server: str, path: str, tmp_path: Path) -> None:
    entry = entry_of(remote(server + path))
    assert not is_cached(entry)
    folder = fetch_dataset(entry)
    assert (folder / "words.mat").read_bytes() == BODY
    assert [file.name for file in folder.iterdir()] == ["words.mat"]
    assert is_cached(entry)
    asked = len(Handler.requests)
    fetch_dataset(entry)
    assert len(Handler.requests) == asked


def test_a_damaged_file_in_the_cache_is_told_and_not_replaced(server: str, tmp_path: Path) -> None:
    """It may be a file of the user that has this name."""
    entry = entry_of(remote(server + "/whole"))
    (tmp_path / "cora").mkdir()
    (tmp_path / "cora" / "words.mat").write_bytes(b"\0" * len(BODY))
    with pytest.raises(InputError, match=r"words\.mat: is damaged, or another file .* remove it"):
        fetch_dataset(entry)
    (tmp_path / "cora" / "words.mat").unlink()
    assert (fetch_dataset(entry) / "words.mat").read_bytes() == BODY


def test_a_wrong_checksum_is_an_error(server: str, tmp_path: Path) -> None:
    assert_fails(remote(server + "/whole", sha256="0" * 64), tmp_path, "SHA256.*expected .0000")


def test_a_truncated_body_is_an_error(server: str, tmp_path: Path) -> None:
    assert_fails(remote(server + "/truncated"), tmp_path, "1000 out of 262144 bytes")


def test_a_missing_file_is_an_error(server: str, tmp_path: Path) -> None:
    assert_fails(remote(server + "/missing"), tmp_path, r"cannot fetch .*missing.*404.*TAGTOPICS_DATA")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # urllib leaves its socket
def test_a_server_that_is_gone_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody else gets the port, and nobody listens there
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        assert_fails(remote(address), tmp_path, "cannot fetch .*refused.*TAGTOPICS_DATA")


def test_a_cache_that_cannot_be_written_is_an_error(server: str, tmp_path: Path) -> None:
    (tmp_path / "cora").write_text("not a directory")
    with pytest.raises(InputError, match=r"cannot fetch .*cora"):
        fetch_dataset(entry_of(remote(server + "/whole")))


def test_the_cache_is_where_the_user_or_the_platform_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = entry_of(remote("https://example.invalid/words.mat"))
    for name, place in (("TAGTOPICS_CACHE", tmp_path / "a"), ("XDG_CACHE_HOME", tmp_path / "b")):
        monkeypatch.delenv("TAGTOPICS_CACHE", raising=False)
        monkeypatch.setenv(name, str(place))
        folder = place / ("cora" if name == "TAGTOPICS_CACHE" else "tagtopics/cora")
        folder.mkdir(parents=True)
        assert not is_cached(entry)
        (folder / "words.mat").write_bytes(BODY)
        assert is_cached(entry)
