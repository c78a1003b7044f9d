"""Names of tags from a thesaurus, in the server and the record; names of topics from a file."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from explore_support import Watched

import tagtopics as tt
from tagtopics import write_report
from tagtopics.cli import main
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.schemas import NewDocument

pytest_plugins = ("explore_fixtures",)

NAMES = {"a": "tram", "b": "plankton", "c": "lighthouse"}


def test_recommended_tags_have_names_and_pieces_of_the_text() -> None:
    texts = ["the tram waits here", "plankton blooms early", "trams in the city", "the sea of plankton"] * 5
    corpus = tt.with_thesaurus(tt.read_corpus(texts, tags=[["a"], ["b"]] * 10), NAMES)
    engine = ModelEngine(tt.TTM(2, random_state=0, max_iter=3).fit(corpus))
    texts = ["Lighthouses near the trams", "hello"]
    first, nothing = engine.recommend([NewDocument(text=text) for text in texts], top=3)
    found = {one["tag"]: one for one in first}
    assert (found["c"]["name"], found["c"]["found"]) == ("lighthouse", ["Lighthouses"])
    assert found["a"]["found"] == ["trams"]
    assert nothing == []


def _named_record() -> TopicData:
    """Return a record whose tags have names in a thesaurus, two of them the same."""
    texts = ["the tram waits here", "plankton blooms early", "trams in the city", "the sea of plankton"] * 5
    names = {"a": "Planning", "b": "Planning", "c": "d", "e": "Tram"}
    corpus = tt.with_thesaurus(
        tt.read_corpus(texts, tags=[["a", "c"], ["b", "d"], ["e", "f"], ["a"]] * 5), names
    )
    return topic_data(tt.TTM(2, random_state=0, max_iter=3).fit(corpus), corpus)


def test_tags_of_one_name_are_told_apart_by_their_ids() -> None:
    data = _named_record()
    assert dict(zip(data.tags.names, data.tags.labels or (), strict=True)) == {
        "a": "Planning (a)", "b": "Planning (b)", "c": "d (c)", "d": None, "e": "Tram", "f": None,
    }  # fmt: skip


def test_tags_are_found_at_their_names_in_the_thesaurus(browser: Any, tmp_path: Path) -> None:
    write_report(_named_record(), tmp_path / "report.html")
    watched = Watched(browser, (tmp_path / "report.html").as_uri())
    for name, heading, address in (
        ("Tram", "Tram", "#/tag/e"),
        ("Planning%20(b)", "Planning (b)", "#/tag/b"),
        ("d", "d", "#/tag/d"),
        ("Planning", "No such tag", "#/tag/Planning"),
    ):
        page = watched.open(f"#/tag/{name}")
        assert page.locator("h1").inner_text() == heading
        assert page.evaluate("location.hash") == address
    assert watched.faults == []
    watched.close()


@pytest.mark.parametrize("kind", ["json", "csv", "export"])
def test_report_takes_names_from_a_file(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path, kind: str) -> None:
    model.save(tmp_path / "m.tt", corpus=corpus)
    file = tmp_path / f"names.{kind}"
    if kind == "json":
        topics = {"0": " Ships  at sea ", "1": "Ships at sea", "2": ""}
        file.write_text(json.dumps({"format": "tagtopics topic names", "topics": topics}))
    elif kind == "csv":
        file.write_text('topic,name\r\n1,Ships at sea\r\n0,"Ships at sea"\r\n', "utf-8-sig")
    else:  # the table of `tagtopics export`, edited
        file = tt.export(model, tmp_path / "tables", corpus=corpus) / "topics.csv"
        text = file.read_text()
        for name in model.topic_names()[:2]:
            text = text.replace(name, "Ships at sea")
        file.write_text(text)
    out = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "m.tt"), "--names", str(file), "--out", str(out), "-q"]) == 0
    block = re.search(r'id="index"[^>]*>([^<]+)<', out.read_text())
    assert block is not None
    index = json.loads(gzip.decompress(base64.b64decode(block[1])))
    own = ["Ships at sea", "Ships at sea (2)"]
    assert index["topics"]["names"] == [*own, *model.topic_names()[2:]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"format": "tagtopics topic names", "topics": {"5": "x"}}', "no topic 5; topics are 0 to 4"),
        (b"topic,name\n-1,x\n", "no topic -1"),
        (b'{"format": "other", "topics": {}}', "a report exports"),
        (b'{"topics": ', "a report exports"),
        (b"topic\n1\n", "a report exports"),
        (b"topic,name\none,x\n", "a report exports"),
        (b"topic,name\n1\n", None),
        (b"\xff\xfe", "not UTF-8"),
        (None, "No such file"),
    ],
)
def test_wrong_names_are_refused_in_one_line(
    model: tt.TTM,
    corpus: tt.Corpus,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    message: str | None,
) -> None:
    model.save(tmp_path / "m.tt", corpus=corpus)
    if content is not None:
        (tmp_path / "names").write_bytes(content)
    out = tmp_path / "report.html"
    code = main(
        ["report", str(tmp_path / "m.tt"), "--names", str(tmp_path / "names"), "--out", str(out), "-q"]
    )
    error = capsys.readouterr().err
    assert (code, out.exists()) == ((0, True) if message is None else (2, False))
    assert message is None or (message in error and error.count("\n") == 1)
