"""Answers of the JSON API as JSON."""

import json

from pydantic import TypeAdapter

from tagtopics.explore.report.page import compact_json
from tagtopics.explore.server import schemas

NAMES = ("plain", 'quoted "word"', "back\\slash", "line\nfeed", "größe", "𝔘", "\x01")


def test_an_answer_is_the_json_of_its_schema() -> None:
    one = schemas.DocumentOut(row=3, id="a", tags=list(NAMES), topics=[0.25, 1e-12], text=None)
    both = schemas.DocumentList(total=2, documents=[one, one])
    assert TypeAdapter(schemas.DocumentList).validate_json(compact_json(both)) == both


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert json.loads(compact_json([{"name": chr(0xD800), "weight": 1.0}])) == [{"name": "?", "weight": 1.0}]
