"""The record and the report without a browser: what goes in, what comes out, how large it may be."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from explore_support import HOSTILE, make_hostile_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.cli.app import run
from tagtopics.explore.record.spans import SpanFinder
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import VERSION, TopicData
from tagtopics.explore.report import html_report
from tagtopics.explore.report.bodies import Bodies
from tagtopics.explore.report.html_report import ReportOptions, render_report, write_report
from tagtopics.explore.report.page import Packing, compress_json, report_page, safe_json, script
from tagtopics.explore.report.prepare import (
    fixed_index,
    index_of,
    kinds_of_tags,
    known_words,
    listed_index,
)
from tagtopics.explore.report.timeline import time_of
from tagtopics.models.persistence import load_with_corpus

pytest_plugins = ("explore_fixtures",)


def test_record_is_plain_json(data: TopicData) -> None:
    plain = json.loads(json.dumps(data.to_json(), allow_nan=False))
    assert plain["version"] == VERSION
    assert np.array_equal(np.array(plain["topic_word"], dtype=np.float32), data.topic_word)
    assert np.array_equal(np.array(plain["documents"]["credit"], dtype=np.float32), data.documents.credit)
    assert plain["tags"]["names"] == list(data.tags.names)


def test_record_of_any_model_with_and_without_corpus(corpus: tt.Corpus) -> None:
    for kind in (tt.LDA, tt.TTM, tt.ATM, tt.LabeledLDA):
        parameters: dict[str, Any] = {"max_iter": 5, "random_state": 0}
        if kind is not tt.LabeledLDA:
            parameters["n_topics"] = 3
        model = kind(**parameters).fit(corpus)
        for documents in (corpus, None):
            record = topic_data(model, documents)
            assert np.allclose(record.topic_word.sum(1), 1, atol=1e-4)
            assert record.topic_share.sum() == pytest.approx(1)
            html, _ = render_report(record, tt.ReportOptions())
            assert b"<!doctype html>" in html


def test_a_topic_may_have_no_tokens(model: tt.TTM, corpus: tt.Corpus) -> None:
    empty = copy.copy(model)
    empty.topic_sums_ = model.topic_sums_ * np.r_[0, np.ones(len(model.topic_sums_) - 1)]
    html, _ = render_report(topic_data(empty, corpus), tt.ReportOptions())
    assert b"<!doctype html>" in html


def test_another_corpus_is_refused(model: tt.TTM, corpus: tt.Corpus) -> None:
    with pytest.raises(tt.InputError, match="not the one"):
        topic_data(model, corpus.select([0, 1]))


def test_credits_of_record_are_those_of_explain(data: TopicData, model: tt.TTM, corpus: tt.Corpus) -> None:
    table = model.explain(corpus.select([5]))
    part = data.documents.credit[slice(*data.documents.credit_offsets[5:7])]
    assert np.allclose(part, table.credit, atol=1e-6)


def test_spans_are_the_counted_words(corpus: tt.Corpus) -> None:
    assert corpus.recipe is not None
    assert corpus.texts is not None
    finder = SpanFinder(corpus.vocabulary, corpus.recipe)
    for d in range(0, corpus.n_docs, 7):
        text, spans = finder.find(corpus.texts[d])
        found = np.bincount([w for _, _, w in spans], minlength=corpus.n_words)
        assert np.array_equal(found, corpus.counts[[d]].toarray().ravel())
        for start, stop, w in spans:
            assert text[start:stop].lower() == corpus.vocabulary[w]


def test_spans_of_n_grams_take_the_longest() -> None:
    recipe = tt.TextRecipe(ngram_range=(1, 2), stop_words=("of",))
    text, spans = SpanFinder(("sea", "sea salt", "pepper"), recipe).find("Sea of salt, SEA pepper")
    assert [(text[start:stop], w) for start, stop, w in spans] == [
        ("Sea of salt", 1),
        ("SEA", 0),
        ("pepper", 2),
    ]


@given(
    st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False), lambda inner: st.lists(inner))
)
@settings(max_examples=40, deadline=None)
def test_json_in_html_says_the_same_and_holds_no_markup(value: Any) -> None:
    text = safe_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == json.loads(json.dumps(value))


def test_text_survives_as_utf_16_pieces(data: TopicData, corpus: tt.Corpus) -> None:
    """The page counts in UTF-16 units; the collection has a character beyond them in every text."""
    assert corpus.texts is not None
    _, number = known_words(data)
    body = Bodies(data).bodies([3])[0]
    units = body["t"].encode("utf-16-le")
    at = 0
    for gap, length, word in zip(*[iter(body["s"])] * 3, strict=True):
        at += gap
        piece = units[2 * at : 2 * (at + length)].decode("utf-16-le")
        assert piece.lower() == data.words[int(np.flatnonzero(number == body["w"][word])[0])]
        at += length


def test_all_documents_come_once_and_topics_take_turns(data: TopicData) -> None:
    order = data.documents.by_topic()
    assert sorted(order.tolist()) == list(range(len(data.documents.ids)))
    best = data.documents.topics.argmax(1)
    alive = len(set(best.tolist()))
    assert len(set(best[order[:alive]].tolist())) == alive


def test_report_keeps_to_its_size(data: TopicData, tmp_path: Path) -> None:
    whole = write_report(data, tmp_path / "whole.html")
    assert whole.n_bodies == whole.n_listed == whole.n_docs == 72
    assert (tmp_path / "whole.html").stat().st_size == whole.n_bytes
    limit = (whole.n_bytes - 2000) / 1e6
    small = write_report(data, tmp_path / "small.html", options=ReportOptions(max_mb=limit))
    assert small.n_bytes <= limit * 1e6
    assert small.n_bodies < 72
    with pytest.raises(tt.InputError, match="max_mb"):
        write_report(data, tmp_path / "none.html", options=ReportOptions(max_mb=0.01))
    assert not (tmp_path / "none.html").exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_tags_that_are_called_alike_without_their_kinds_are_known(data: TopicData) -> None:
    names = ("package:numpy", "plain", "subpackage::numpy", "package:scipy", "http://numpy.org", "x:id:1")
    labels = (None, None, None, None, None, "plain")
    tags = replace(data.tags, names=names, labels=labels)
    part = mock.Mock(tags=tags)
    kinds = kinds_of_tags(part)
    assert kinds["names"] == ["package", "", "subpackage", "x"]
    assert [ord(letter) - ord("#") for letter in kinds["of"][6:]] == [0, 1, 2, 0, 1, 3]
    assert kinds["homonyms"] == [0, 1, 2, 5]
    many = tuple(f"kind{i}:same" for i in range(9))
    part.tags = replace(data.tags, names=many, labels=None)
    assert kinds_of_tags(part) == {"names": [""], "of": "#" * 18, "homonyms": []}


def test_a_little_room_lists_some_documents(data: TopicData) -> None:
    """What topics, words and tags leave is shared by the list and the texts, however little it is."""
    none, whole = (
        len(report_page(data.title, {}, {"index": compress_json(index_of(data, np.arange(n)))}, {}))
        for n in (0, 72)
    )
    listed = [
        render_report(data, tt.ReportOptions(max_mb=(none + 3500 + share * (whole - none)) / 1e6))[1].n_listed
        for share in (0.1, 0.4, 0.8, 1.2, 2)
    ]
    assert listed == sorted(listed)
    assert listed[1] > 0
    assert listed[-1] == 72


def test_the_perplexity_of_a_report_is_called_that_of_training(data: TopicData) -> None:
    assert "training_perplexity" in data.facts
    assert "perplexity" not in data.facts
    assert "Perplexity of training documents" in script()


def test_equal_records_give_equal_bytes(data: TopicData) -> None:
    assert render_report(data, tt.ReportOptions())[0] == render_report(data, tt.ReportOptions())[0]


def test_report_holds_no_address_of_another_host(data: TopicData) -> None:
    html = render_report(data, tt.ReportOptions())[0].decode()
    outside = set(re.findall(r"https?://[^\s\"'<>&]+", html))
    assert outside <= {"http://www.w3.org/2000/svg"}  # a namespace, not a place
    assert "default-src 'none'" in html.replace("&#39;", "'")


def test_names_of_users_never_stand_in_the_html(hostile_data: TopicData) -> None:
    html = render_report(hostile_data, tt.ReportOptions())[0].decode()
    assert "window.pwned" not in html.replace(f"<title>{_escaped(HOSTILE[1])}", "")
    block = re.search(r'id="index">([^<]*)<', html)
    assert block is not None
    index = json.loads(gzip.decompress(base64.b64decode(block.group(1))))
    assert index["tags"]["names"] == list(make_hostile_corpus().tag_names)


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def test_years_are_means_of_their_documents(data: TopicData, corpus: tt.Corpus) -> None:
    years = time_of(data)
    assert years is not None
    assert years["periods"] == ["1990", "1991", "1992", "1993", "1994", "1995"]
    rows = [d for d in range(corpus.n_docs) if "year:1992" in corpus.tags_of(d)]
    assert np.allclose(years["shares"][2], data.documents.topics[rows].mean(0), rtol=1e-3)


def test_kept_corpus_comes_back(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    model.save(tmp_path / "m.tt")
    assert load_with_corpus(tmp_path / "m.tt")[1] is None
    model.save(tmp_path / "m.tt", corpus=corpus)
    again = load_with_corpus(tmp_path / "m.tt")[1]
    assert again is not None
    assert again.ids == corpus.ids
    assert again.texts == corpus.texts


def test_fit_then_report_has_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"text": f"sea wave tide {i}", "tags": ["a", "b"]}) for i in ("one", "two", "three")]
    (tmp_path / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    model, report = str(tmp_path / "m.tt"), str(tmp_path / "r.html")
    assert run(["fit", str(tmp_path / "p.jsonl"), "--topics", "2", "--out", model, "--quiet"]) == 0
    capsys.readouterr()
    assert run(["report", model, "-o", report, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["n_texts"] == answer["n_docs"] == 3
    assert list(answer["seconds"]) == ["load", "record", "render"]
    assert all(answer["seconds"][step] > 0 for step in ("load", "record", "render"))
    assert Path(report).stat().st_size == answer["bytes"]
    with mock.patch("webbrowser.open", return_value=False) as opened:
        assert run(["report", model, "-o", report, "--open"]) == 0
    opened.assert_called_once_with(Path(report).as_uri())
    assert f"open {report} yourself" in capsys.readouterr().err
    assert run(["report", str(tmp_path / "nothing"), "-o", report]) == 2
    assert run(["report", model, "-o", str(tmp_path)]) == 2
    assert run(["report", model, "-o", report, "--max-mb", "0.001"]) == 2


def test_the_length_of_a_long_list_is_estimated_from_samples(
    data: TopicData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is as long as its space allows, up to what an estimate may miss, and never longer."""
    order, fixed = data.documents.by_topic(), Packing().added(fixed_index(data))
    sizes = [fixed.added(listed_index(data, order[:n])).size() for n in range(73)]
    monkeypatch.setattr(html_report, "_SAMPLE", 12)
    for space in np.linspace(sizes[0] + 400, 2.2 * sizes[-1], 6).astype(int).tolist():
        docs, index = html_report.fitting_index(data, space)
        limit = sizes[0] + (space - sizes[0]) * 0.6
        most = max(n for n in range(73) if sizes[n] <= limit)
        assert 0.8 * most - 3 <= len(docs) <= most
        assert len(base64.b64encode(index)) <= max(0.8 * space, limit)
        found = json.loads(gzip.decompress(index))
        assert found["sizes"]["listed"] == len(docs)
        assert found["sizes"]["counted"] in (72, len(docs))
        rest = order[len(docs) :] if found["sizes"]["counted"] == 72 else order[:0]
        assert found == json.loads(json.dumps(index_of(data, docs, rest)))
