"""What reaches the terminal is inert, what reaches a program is JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from cli_running import Result, run, write_rows

from tagtopics.cli.output import clean, clean_line, plain, show

HOSTILE = ("[bold]x[/bold]", "[/]", "[link=file:///etc]y", "\x1b[31mred", "bell\x07", "\u202egnp", ":smile:")


@pytest.fixture(scope="module")
def hostile_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"id": f"{tag}{i}", "text": f"[red]word{i} {tag} common \x1b]0;title\x07", "tags": [tag, HOSTILE[i]]}
        for i, tag in enumerate(HOSTILE)
    ]
    write_rows(folder / "a.jsonl", rows)
    options = ("--token-pattern", r"\S+", "--topics", 2, "--iterations", 2)
    result = run("fit", folder / "a.jsonl", *options, "--out", folder / "[m].tt")
    assert result.code == 0, result.err
    inert(result)
    return folder


def inert(result: Result) -> None:
    assert result.code == 0, result.err
    for character in ("\x1b", "\x07", "\u202e"):
        assert character not in result.out + result.err


@pytest.mark.parametrize(
    "arguments",
    [("topics", "[m].tt"), ("tags", "[m].tt"), ("tags", "[m].tt", "[bold]x[/bold]", "[/]"),
     ("explain", "[m].tt", "a.jsonl"), ("related", "[m].tt", "a.jsonl")],
)  # fmt: skip
def test_markup_and_control_characters_are_inert(
    arguments: tuple[str, ...], hostile_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile_model)
    result = run(*arguments)
    inert(result)
    assert "[bold]x[/bold]" in result.out.replace("\n", "")


def test_markup_in_errors_is_inert(hostile_model: Path) -> None:
    result = run("tags", hostile_model / "[m].tt", "\x1b[1m[bold]")
    assert result.code == 2
    assert "\x1b" not in result.err
    assert "[bold]" in result.err


def test_tags_in_json_are_as_they_were(hostile_model: Path) -> None:
    rows = run("tags", hostile_model / "[m].tt", "--json").json()["tags"]
    assert {row["tags"][0] for row in rows} == {tag.replace("\u202e", "") for tag in HOSTILE}


def test_long_words_are_cut_in_tables_only(tmp_path: Path) -> None:
    long, longest = "w" * 200, "x" * 50_000
    rows = [{"text": f"{longest} {long} sea", "tags": [longest]}] * 3
    source, model = write_rows(tmp_path / "a.jsonl", rows), tmp_path / "m.tt"
    fitted = run("fit", source, "--topics", 2, "--iterations", 2, "--out", model)
    assert fitted.code == 0, fitted.err
    for result in (fitted, run("topics", model), run("tags", model), run("explain", model, source)):
        assert "…" in result.out
        assert "xxx" in result.out
        assert len(result.out) < 10_000
    assert plain(f"{long} {long}x").plain == f"{long} {long[1:]}…"
    assert longest in run("topics", model, "--json").out


def test_clean() -> None:
    assert clean("plain naïve 語 می\u200cروم") == "plain naïve 語 می\u200cروم"
    assert clean("a\x1bb\x00c\x9bd") == "a\\x1bb\\x00c\\x9bd"
    assert clean_line(" a\n b\t\x07 ") == "a b \\x07"


def test_json_never_holds_nan(capsys: pytest.CaptureFixture[str]) -> None:
    payload = {"a": math.nan, "b": [np.float32(1.5), np.int64(2), math.inf], "c": {"d": None, "e": True}}
    show(True, payload, lambda _: None)
    assert json.loads(capsys.readouterr().out) == {
        "a": None,
        "b": [1.5, 2, None],
        "c": {"d": None, "e": True},
    }
