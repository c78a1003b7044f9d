"""A server of several models, replaced while it answers; readiness, reload, embedding, images."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from explore_support import Watched, serving

import tagtopics as tt
from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.server import Served, create_server, names_of

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
def two(data: TopicData, model: tt.TTM, hostile_data: TopicData, hostile_model: tt.TTM) -> list[Served]:
    return [
        Served("themes", data, ModelEngine(model)),
        Served("hostile", hostile_data, ModelEngine(hostile_model)),
    ]


def test_names_are_for_addresses_and_unique() -> None:
    given = ["a/papers.tt", "b/papers.tt/", "C:\\x\\Über uns.tt", "health.tt", "...", "/"]
    assert names_of(given) == ["papers", "papers-2", "ber-uns", "health-2", "model", "model-2"]


def test_several_models_have_pages_under_their_names(browser: Any, two: list[Served]) -> None:
    app, models = create_server()
    models.replace(two)
    for address in serving(app):
        assert [one["name"] for one in get(f"{address}ready")[1]["models"]] == ["themes", "hostile"]
        assert get(f"{address}themes/api/v1/topics")[1]["topics"][0]["words"]
        assert get(f"{address}nothing/")[0] == 404
        assert get(f"{address}api/v1/topics")[0] == 404
        assert get(f"{address}hostile/api/v1/documents/99999")[0] == 404
        assert 'route="/api/v1/topics"' in get(f"{address}metrics")[1]
        watched = Watched(browser, address)
        page = watched.page
        page.goto(address)
        assert page.get_by_role("link").count() == 2
        page.get_by_role("link", name="Four themes").click()
        page.wait_for_selector("html[data-ready=yes]", timeout=20_000)
        assert page.url.startswith(f"{address}themes/")
        assert page.evaluate("window.pwned") is None
        assert watched.faults == []
        watched.close()


def test_a_server_without_models_is_alive_but_not_ready(two: list[Served]) -> None:
    app, models = create_server()
    for address in serving(app):
        assert get(f"{address}health") == (200, {"status": "ok"})
        assert get(f"{address}ready")[0] == 503
        assert get(f"{address}api/v1/topics")[0] == 503
        models.replace(two[:1])
        assert get(f"{address}ready")[0] == 200
        assert get(f"{address}api/v1/topics")[0] == 200


def test_browsers_try_again_until_the_models_are_loaded(browser: Any, two: list[Served]) -> None:
    app, models = create_server()
    for address in serving(app):
        page = browser.new_page()
        assert page.goto(address).status == 503
        models.replace(two[:1])
        page.wait_for_selector("html[data-ready=yes]", timeout=20_000)
        page.close()


def test_models_are_replaced_while_requests_are_answered(two: list[Served]) -> None:
    app, models = create_server()
    models.replace(two[:1])
    answers: list[tuple[int, Any]] = []
    stop = threading.Event()

    def ask(address: str) -> None:
        while not stop.is_set():
            answers.append(get(f"{address}api/v1/topics"))

    for address in serving(app):
        threads = [threading.Thread(target=ask, args=(address,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(6):
            models.replace([two[i % 2]])
            enough = len(answers) + 3
            wait(lambda n=enough: len(answers) >= n)
        stop.set()
        for thread in threads:
            thread.join(20)
    assert len(answers) > 10
    assert {status for status, _ in answers} == {200}
    assert {len(answer["topics"]) for _, answer in answers} <= {5, 3}


def test_reload_needs_the_token_and_keeps_the_models_if_it_fails(two: list[Served]) -> None:
    app, models = create_server(token="secret")
    broken = threading.Event()
    errors: list[Exception] = []

    def load() -> list[Served]:
        if broken.is_set():
            raise InputError("papers.tt: no such folder")
        return two[:1]

    started = threading.Event()
    arguments = (load, started.set, errors.append)
    threading.Thread(target=models.keep_loaded, args=arguments, daemon=True).start()
    assert started.wait(20)
    token = {"Authorization": "Bearer secret"}
    for address in serving(app):
        assert get(f"{address}reload", "POST")[0] == 401
        assert get(f"{address}reload", **token)[0] == 404
        assert get(f"{address}reload", "POST", **token)[0] == 202
        wait(lambda at=address: get(f"{at}ready", **token)[1]["reloads"] == 1)
        broken.set()
        assert get(f"{address}reload", "POST", **token)[0] == 202
        wait(lambda at=address: get(f"{at}ready", **token)[1]["failure"] == "papers.tt: no such folder")
        assert get(f"{address}ready")[0] == 200
        assert get(f"{address}api/v1/topics", **token)[0] == 200
    assert len(errors) == 1


def test_reload_without_a_token_of_the_server_is_refused(two: list[Served]) -> None:
    app, models = create_server()
    models.replace(two[:1])
    for address in serving(app):
        assert get(f"{address}reload", "POST", Authorization="Bearer ")[0] == 403


def test_only_named_pages_may_embed(two: list[Served]) -> None:
    for origins, expected in (((), "'none'"), (("https://example.org",), "https://example.org")):
        app, models = create_server(origins=origins)
        models.replace(two[:1])
        for address in serving(app):
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert answer.headers["content-security-policy"].endswith(f"frame-ancestors {expected}")


def wait(true: Any) -> None:
    for _ in range(300):
        if true():
            return
        time.sleep(0.03)
    raise AssertionError("it never came true")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP")
def test_command_serves_several_models_and_reloads_at_a_signal(
    model: tt.TTM, corpus: tt.Corpus, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        model.save(tmp_path / f"{name}.tt", corpus=corpus)
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", run, "serve", *(str(tmp_path / f"{name}.tt") for name in "ab")]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"Serving a, b at (http://127\.0\.0\.1:\d+/)", server.stdout.readline())
            assert found is not None
            address = found.group(1)
            assert get(f"{address}b/api/v1/topics")[0] == 200
            server.send_signal(signal.SIGHUP)
            wait(lambda: get(f"{address}ready")[1]["reloads"] == 1)
            assert get(f"{address}a/api/v1/topics")[0] == 200
        finally:
            server.kill()


def test_command_ends_if_a_model_is_missing(tmp_path: Path) -> None:
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", run, "serve", str(tmp_path / "none.tt"), "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "none.tt" in ended.stderr
    assert "Traceback" not in ended.stderr
