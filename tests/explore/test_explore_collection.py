"""Answers of the JSON API as JSON."""

import json

from pydantic import TypeAdapter

from tagtopics.explore.report.page import compact_json
from tagtopics.explore.server import schemas

NAMES = ("plain", 'quoted "word"', "back\\slash", "line\nfeed", "größe", "𝔘", "\x01")


def test_an_answer_is_the_json_of_its_schema() -> None:
    words = [schemas.Weighted(name=name, weight=0.5**i) for i, name in enumerate(NAMES)]
    tag = schemas.TagOut(tags=["a"], n_docs=[3], topics=[0.25, 1e-12], words=words)
    both = schemas.TagList(total=2, tags=[tag, tag])
    assert TypeAdapter(schemas.TagList).validate_json(compact_json(both)) == both


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    words = [schemas.Weighted(name=chr(0xD800), weight=1.0)]
    assert json.loads(compact_json(words)) == [{"name": "?", "weight": 1.0}]
