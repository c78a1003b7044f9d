"""Words with weights in answers: the same JSON as of a list of objects."""

import json
from typing import Any

import numpy as np
import pytest

from tagtopics.explore.server import schemas
from tagtopics.explore.server.collection import RankedWords, as_json, heads_of

NAMES = ("plain", 'quoted "word"', "back\\slash", "line\nfeed", "größe", "𝔘", "\x01")


def ranked(places: list[int], weights: list[float]) -> RankedWords:
    return RankedWords(NAMES, heads_of(NAMES), np.array(places, np.int64), np.array(weights, np.float32))


@pytest.mark.parametrize("places", [[], [0], [6, 5, 4, 3, 2, 1, 0]])
def test_ranked_words_are_written_like_a_list(places: list[int]) -> None:
    words = ranked(places, np.linspace(0.5, 1e-9, len(places)).tolist())
    fields: dict[str, Any] = {"tags": ["a"], "n_docs": [3], "topics": [0.25, 1e-12]}
    short = schemas.TagOut.model_construct(**fields, words=words)
    long = schemas.TagOut(**fields, words=list(words))
    assert as_json(lambda: short) == long.model_dump_json().encode()
    both = schemas.TagList.model_construct(total=2, tags=[short, short])
    assert as_json(lambda: both) == schemas.TagList(total=2, tags=[long, long]).model_dump_json().encode()


def test_ranked_words_are_a_sequence() -> None:
    words = ranked([4, 0], [0.5, 0.25])
    assert len(words) == 2
    assert words[0] == schemas.Weighted("größe", 0.5)
    assert words[1:] == [schemas.Weighted("plain", 0.25)]


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    names = (chr(0xD800),)
    words = RankedWords(names, heads_of(names), np.zeros(1, np.int64), np.ones(1, np.float32))
    tag = schemas.TagOut.model_construct(tags=["a"], n_docs=[1], topics=[], words=words)
    assert json.loads(as_json(lambda: tag))["words"] == [{"name": "?", "weight": 1.0}]
