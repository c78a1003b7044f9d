"""A server whose model is loaded while it answers; readiness, embedding, the command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from explore_support import serving

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.server import create_server

pytest_plugins = ("explore_fixtures",)


def get(address: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(address, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, body = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body.decode()


@pytest.fixture(scope="module")
def engine(model: tt.TTM) -> ModelEngine:
    return ModelEngine(model)


def test_a_server_without_a_model_is_alive_but_not_ready(data: TopicData, engine: ModelEngine) -> None:
    app, served = create_server()
    for address in serving(app):
        assert get(f"{address}health") == (200, {"status": "ok"})
        assert get(f"{address}ready")[0] == 503
        assert get(f"{address}api/v1/topics")[0] == 503
        served.load(data, engine)
        assert get(f"{address}ready")[0] == 200
        assert get(f"{address}api/v1/topics")[0] == 200


def test_browsers_try_again_until_the_model_is_loaded(
    browser: Any, data: TopicData, engine: ModelEngine
) -> None:
    app, served = create_server()
    for address in serving(app):
        page = browser.new_page()
        assert page.goto(address).status == 503
        served.load(data, engine)
        page.wait_for_selector("html[data-ready=yes]", timeout=20_000)
        page.close()


def test_only_named_pages_may_embed(data: TopicData, engine: ModelEngine) -> None:
    for origins, expected in (((), "'none'"), (("https://example.org",), "https://example.org")):
        app, served = create_server(origins=origins)
        served.load(data, engine)
        for address in serving(app):
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert answer.headers["content-security-policy"].endswith(f"frame-ancestors {expected}")


def test_command_answers_once_the_model_is_loaded(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    model.save(tmp_path / "a.tt", corpus=corpus)
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", run, "serve", str(tmp_path / "a.tt"), "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"Serving a at (http://127\.0\.0\.1:\d+/)", server.stdout.readline())
            assert found is not None
            assert get(f"{found.group(1)}ready") == (
                200,
                {"status": "ready", "title": "a", "model": "TTM", "topics": 5, "documents": 72},
            )
            assert get(f"{found.group(1)}api/v1/topics")[0] == 200
        finally:
            server.kill()


def test_command_ends_if_a_model_is_missing(tmp_path: Path) -> None:
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", run, "serve", str(tmp_path / "none.tt"), "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "none.tt" in ended.stderr
    assert "Traceback" not in ended.stderr
