"""Answers of the JSON API as JSON."""

import json

from tagtopics.explore.server import schemas
from tagtopics.explore.server.collection import as_json

NAMES = ("plain", 'quoted "word"', "back\\slash", "line\nfeed", "größe", "𝔘", "\x01")


def test_an_answer_is_the_json_of_its_schema() -> None:
    words = [schemas.Weighted(name, 0.5**i) for i, name in enumerate(NAMES)]
    tag = schemas.TagOut(tags=["a"], n_docs=[3], topics=[0.25, 1e-12], words=words)
    both = schemas.TagList(total=2, tags=[tag, tag])
    assert schemas.TagList.model_validate_json(as_json(both)) == both


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    words = [schemas.Weighted(chr(0xD800), 1.0)]
    tag = schemas.TagOut.model_construct(tags=["a"], n_docs=[1], topics=[], words=words)
    assert json.loads(as_json(tag))["words"] == [{"name": "?", "weight": 1.0}]
