"""Names of tags from a thesaurus: in answers of the server, and different for different tags."""

from __future__ import annotations

import tagtopics as tt
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.schemas import NewDocument

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


def test_tags_of_one_name_are_told_apart_by_their_ids() -> None:
    texts = ["the tram waits here", "plankton blooms early", "trams in the city", "the sea of plankton"] * 5
    names = {"a": "Planning", "b": "Planning", "c": "d", "e": "Tram"}
    corpus = tt.with_thesaurus(
        tt.read_corpus(texts, tags=[["a", "c"], ["b", "d"], ["e", "f"], ["a"]] * 5), names
    )
    data = topic_data(tt.TTM(2, random_state=0, max_iter=3).fit(corpus), corpus)
    assert dict(zip(data.tags.names, data.tags.labels or (), strict=True)) == {
        "a": "Planning (a)", "b": "Planning (b)", "c": "d (c)", "d": None, "e": "Tram", "f": None,
    }  # fmt: skip
