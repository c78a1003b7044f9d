"""The server passes the names of tags, and where they are in a text, to its clients."""

from __future__ import annotations

import tagtopics as tt
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
