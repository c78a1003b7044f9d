"""The Dockerfile and the page on containers and proxies: read, and run as far as possible without Docker."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tagtopics as tt
from tagtopics.cli.app import _parser

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "deployment.md").read_text(encoding="utf-8")
LINES = [
    line.split(maxsplit=1)
    for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]


def values(instruction: str) -> list[str]:
    return [text for name, text in LINES if name == instruction]


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def options(arguments: list[str]) -> dict[str, Any]:
    """Return the options that the command line parser of `serve` reads."""
    assert arguments[0] == "serve"
    command = _parser("serve").commands["serve"]
    return dict(command.make_context("serve", arguments[1:]).params)


def test_the_user_of_the_image_owns_nothing_but_the_cache() -> None:
    names = [name for name, _ in LINES]
    last = len(names) - 1 - names[::-1].index("FROM")
    (user,) = values("USER")
    assert 0 not in map(int, user.split(":"))
    assert names.index("USER") > last
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    assert all("--chown" not in text for text in values("COPY"))
    made = [text for text in values("RUN") if "install --directory" in text]
    assert [shlex.split(text)[-1] for text in made] == ["/var/cache/tagtopics"]
    assert {"/models", "/var/cache/tagtopics"} == set(json.loads(values("VOLUME")[0]))


def test_what_is_copied_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for text in values("COPY") if "--from" not in text for name in text.split()[:-1]}
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"README.md", "hatch_build.py", *project["license-files"]} <= copied


def test_what_is_run_installs_extras_that_exist(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', " ".join(values("RUN")))
    assert "serve" in extras.split(",")
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for line in values("RUN"):
        assert subprocess.run(["sh", "-n", "-c", line], check=False).returncode == 0
    make = next(shlex.split(line) for line in values("RUN") if line.startswith("install"))
    own = [word for word in make if not word.startswith(("--owner", "--group"))]
    subprocess.run([*own[:-1], str(tmp_path / "cache")], check=True)
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_the_command_serves_and_is_healthy(tmp_path: Path) -> None:
    rows = [{"text": text, "tags": [text[0]]} for text in ("alpha beta", "gamma delta") * 4]
    corpus = tt.read_corpus(rows)
    tt.TTM(2, max_iter=2, random_state=0).fit(corpus).save(tmp_path / "model.tt", corpus=corpus)
    start, arguments = json.loads(values("ENTRYPOINT")[0]), json.loads(values("CMD")[0])
    assert start == ["tagtopics"]
    code = "from tagtopics.cli import command; command()"
    variables = dict(pair.split("=", 1) for text in values("ENV") for pair in shlex.split(text))
    del variables["PATH"], variables["XDG_CACHE_HOME"]  # of the image
    line = [sys.executable, "-c", code, *arguments, "--port", "0"]
    with subprocess.Popen(
        line, cwd=tmp_path, env=os.environ | variables, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://0\.0\.0\.0:(\d+)/", server.stdout.readline())
            assert found is not None
            check = json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2])
            assert check[:2] == ["python", "-c"]
            assert ":8000/" in check[2]
            asked = [sys.executable, "-c", check[2].replace(":8000/", f":{found[1]}/")]
            assert subprocess.run(asked, check=False).returncode == 0
            missing = [sys.executable, "-c", asked[2].replace("/health", "/none")]
            assert subprocess.run(missing, capture_output=True, check=False).returncode != 0
        finally:
            server.send_signal(signal.SIGTERM)


def test_the_unit_file_starts_a_server() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block("ini"))
    assert unit.sections() == ["Unit", "Service", "Install"]
    service = unit["Service"]
    given = options(shlex.split(service["ExecStart"])[1:])
    assert given["token_file"].endswith("/token")
    assert service["LoadCredential"].startswith("token:")
    assert given["allowed_host"] == ["topics.example.org"]
    assert f"XDG_CACHE_HOME=/var/cache/{service['CacheDirectory']}" in service["Environment"].split()


def test_the_proxy_passes_on_what_the_server_reads() -> None:
    text = block("nginx")
    depth = 0
    for mark in re.findall("[{}]", text):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert all(line.endswith((";", "{", "}")) for line in lines)
    settings = [line.rstrip(";").split() for line in lines]
    assert ["proxy_pass", "http://127.0.0.1:8000/"] in settings
    headers = {row[1]: row[2] for row in settings if row[0] == "proxy_set_header"}
    assert headers == {
        "Host": "$host",
        "X-Forwarded-For": "$proxy_add_x_forwarded_for",
        "X-Forwarded-Proto": "$scheme",
    }
    assert ["client_max_body_size", "12m"] in settings


def test_options_on_the_page_exist() -> None:
    known = {name for option in _parser("serve").commands["serve"].params for name in option.opts}
    named = set(re.findall(r"^\| `(--[\w-]+)", PAGE, re.MULTILINE))
    assert len(named) >= 5
    assert named <= known
    with pytest.raises(Exception, match="No such option"):
        options(["serve", "m.tt", "--no-such-option"])
