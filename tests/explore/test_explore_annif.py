"""The suggest call of Annif: its `http` backend's requests, byte for byte, against a listening server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from explore_support import Recommending, create_app, serving

import tagtopics as tt
from tagtopics.errors import CorpusWarning
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.annif import falling_scores
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Limits

pytest_plugins = ("explore_fixtures",)

URI = "http://example.org/"
NAMES = {f"{URI}a": "tram", f"{URI}b": "plankton", f"{URI}c": "lighthouse"}
TEXT = "Lighthouses near the trams: 50 % & more, + Füße 𝄞"
SUGGEST = "v1/projects/tagtopics/suggest"
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def named_corpus() -> tt.Corpus:
    texts = ["the tram waits here", "plankton blooms early", "trams in the city", "the sea of plankton"] * 5
    return tt.with_thesaurus(tt.read_corpus(texts, tags=[[f"{URI}a"], [f"{URI}b"]] * 10), NAMES)


@pytest.fixture(scope="module")
def named(named_corpus: tt.Corpus) -> tt.TTM:
    return tt.TTM(2, random_state=0, max_iter=3).fit(named_corpus)


@pytest.fixture(scope="module")
def endpoint(named: tt.TTM, named_corpus: tt.Corpus) -> Iterator[str]:
    app = create_app(topic_data(named, named_corpus, "Headings"), ModelEngine(named))
    for address in serving(app):
        yield address + SUGGEST


def suggest(endpoint: str, **fields: Any) -> Any:
    """Send what Annif's backend sends: a form with the text, and perhaps the name of a project."""
    answer = httpx.post(endpoint, data=fields, headers={"User-Agent": "Annif/1.4.0"})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def expected(model: tt.TTM, text: str, top: int) -> list[Any]:
    with pytest.warns(CorpusWarning, match="outside the vocabulary"):
        new = tt.read_corpus([text], tags=[[]], recipe=model.recipe_, vocabulary=model.vocabulary_)
    return list(model.recommend(new, top=top, n_words=5)[0])


def test_backend_gets_the_tags_of_the_model(endpoint: str, named: tt.TTM) -> None:
    assert httpx.get(endpoint.replace("/suggest", "")).json()["is_trained"] is True
    for fields in ({"text": TEXT}, {"text": TEXT, "project": "tagtopics", "language": "en"}):
        found = suggest(endpoint, **fields)
        wanted = expected(named, TEXT, 10)
        assert {f"{URI}a", f"{URI}c"} <= {one["uri"] for one in found}
        assert [one["uri"] for one in found] == [one.tag for one in wanted]
        assert [one["score"] for one in found] == pytest.approx([one.probability for one in wanted])
        assert [one["label"] for one in found] == [NAMES[one.tag] for one in wanted]
        assert all(set(one) == {"uri", "label", "score", "notation"} for one in found)
        assert all(one["notation"] is None for one in found)


def test_tags_without_a_name_are_not_sent() -> None:
    texts = ["the tram waits here", "plankton blooms early"] * 10
    corpus = tt.read_corpus(texts, tags=[[f"{URI}a", "local"], [f"{URI}b", "home"]] * 10)
    model = tt.TTM(2, random_state=0, max_iter=3).fit(tt.with_thesaurus(corpus, NAMES))
    assert {one.tag for one in model.recommend("a tram and plankton", 9)[0]} >= {f"{URI}a", "local", "home"}
    for address in serving(create_app(topic_data(model, corpus, "Headings"), ModelEngine(model))):
        found = suggest(address + SUGGEST, text="a tram and plankton", limit=2)
        assert {one["uri"] for one in found} == {f"{URI}a", f"{URI}b"}
        asked = {
            "documents": [{"text": "a tram and plankton"}],
            "only": ["tram", "local"],
            "exclude": [f"{URI}a"],
        }
        (tags,) = httpx.post(address + "api/v1/recommend", json=asked).json()["documents"]
        assert [one["tag"] for one in tags] == ["local"]
        wrong = httpx.post(address + "api/v1/recommend", json=asked | {"only": ["trams"]})
        assert (wrong.status_code, "did you mean 'tram'" in wrong.text) == (422, True)


def test_reasons_are_given_on_request(endpoint: str) -> None:
    found = {one["label"]: one for one in suggest(endpoint, text=TEXT, explain="1")}
    assert found["lighthouse"]["found"] == ["Lighthouses"]
    assert found["tram"]["found"] == ["trams"]
    assert "trams" in found["tram"]["words"]


def test_limit_and_threshold(endpoint: str) -> None:
    every = suggest(endpoint, text=TEXT)
    assert len(every) >= 2
    assert suggest(endpoint, text=TEXT, limit="1") == every[:1]
    assert suggest(endpoint, text=TEXT, limit="0") == []
    assert suggest(endpoint, text=TEXT, threshold=repr(every[1]["score"])) == every[:2]
    assert suggest(endpoint, text=TEXT, threshold="1") == [one for one in every if one["score"] >= 1]


@pytest.mark.parametrize("text", ["", " ", "hello", "12 ? !", "\0"])
def test_text_without_known_words_gets_nothing(endpoint: str, text: str) -> None:
    assert suggest(endpoint, text=text) == []


def test_labels_without_a_thesaurus_are_the_tags(data: TopicData, model: tt.TTM) -> None:
    tags = ("place:sea", "<http://example.org/x>")
    for address in serving(create_app(data, Recommending(model, tags))):
        found = suggest(address + SUGGEST, text="wave")
    assert [(one["uri"], one["label"]) for one in found] == [(tags[0], tags[0]), (tags[1][1:-1], tags[1])]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"text", 400),
        (b"limit=3", 422),
        (b"text=salt & pepper", 400),
        (b"text=%ff", 400),
        (b"\xff\xfe", 400),
        (b"&".join(b"f%d=1" % i for i in range(101)), 400),
        (b"text=a&text=b", 422),
        (b"text=" + b"x" * 100_001, 422),
        (b"text=a&limit=-1", 422),
        (b"text=a&limit=101", 422),
        (b"text=a&limit=two%0Alines", 422),
        (b"text=a&limit=" + b"9" * 10_000, 422),
        (b"text=a&threshold=nan", 422),
        (b"text=a&threshold=1.1", 422),
        (b"text=a&explain=perhaps", 422),
        (b"text=" + b"x" * 2_000_000, 413),
    ],
)
def test_wrong_forms_are_refused_in_one_line(endpoint: str, content: bytes, status: int) -> None:
    answer = httpx.post(endpoint, content=content, headers=FORM)
    assert answer.status_code == status
    assert re.fullmatch(r".{5,300}", answer.json()["detail"])


def test_other_bodies_methods_and_projects_are_refused(endpoint: str) -> None:
    assert httpx.post(endpoint, json={"text": "tram"}).status_code == 415
    assert httpx.post(endpoint, files={"text": b"tram"}).status_code == 415
    assert httpx.post(endpoint, content=b"text=tram").status_code == 415
    assert httpx.get(endpoint).status_code == 405
    assert httpx.post(endpoint.replace("/tagtopics/", "/other/"), data={"text": "tram"}).status_code == 404


def test_token_and_host_are_checked(data: TopicData, model: tt.TTM) -> None:
    engine = Recommending(model, ("place:sea",))
    for address in serving(create_app(data, engine, hosts=["127.0.0.1"], token="secret")):
        endpoint = address + SUGGEST
        with_token = endpoint.replace("http://", "http://annif:secret@")  # as Annif's configuration has it
        assert httpx.post(endpoint, data={"text": "wave"}).status_code == 401
        assert httpx.get(endpoint.replace("/suggest", "")).status_code == 401
        assert len(suggest(with_token, text="wave")) == 1
        elsewhere = {"host": "rebound.example"}
        assert httpx.post(with_token, data={"text": "wave"}, headers=elsewhere).status_code == 400


def test_limits_of_the_server_hold(data: TopicData, model: tt.TTM) -> None:
    engine: Any = Recommending(model, ("place:sea",))
    for address in serving(create_app(data, engine, Limits(seconds=0.0))):
        answer = httpx.post(address + SUGGEST, data={"text": "wave"})
    assert (answer.status_code, "too long" in answer.json()["detail"]) == (504, True)


def test_model_without_recommender_says_so(data: TopicData, corpus: tt.Corpus) -> None:
    plain: Any = tt.LDA(n_topics=3, max_iter=3, random_state=0).fit_topics(corpus)
    for address in serving(create_app(data, ModelEngine(plain))):
        assert httpx.post(address + SUGGEST, data={"text": "wave"}).status_code == 501
        assert httpx.get(address + "v1/projects/tagtopics").json()["is_trained"] is False


def test_equal_scores_keep_their_order_in_float32() -> None:
    """Annif sorts by scores in float32, and by nothing else."""
    given = [0.9, 0.5, 0.5, 0.5 - 1e-12, 0.1, 0.0, 0.0]
    found = falling_scores(given)
    assert found == pytest.approx(given, abs=1e-6)
    kept = np.asarray(found, dtype=np.float32)
    assert (np.diff(kept[:5]) < 0).all()
    assert kept[5] == kept[6] == 0  # no smaller score is left
    assert falling_scores([]) == []
