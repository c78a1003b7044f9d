"""Requests that wait at the same time: one call answers them, with the same bits, and each fails alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import tagtopics as tt
from tagtopics.explore.server.batching import MOST, Together
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.questions import answers_of

pytest_plugins = ("explore_fixtures",)


class Halves:
    """Answers with the half of an even number, and remembers its calls."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.calls.append(list(numbers))
        for number in numbers:
            if number % 2:
                raise ValueError(f"{number} is odd")
        return [number // 2 for number in numbers]


def test_requests_that_wait_are_answered_in_one_call() -> None:
    halves = Halves()
    together = Together(halves)
    works = [together.work(2 * i) for i in range(MOST + 3)]
    assert [work() for work in works] == list(range(MOST + 3))
    assert [len(call) for call in halves.calls] == [MOST, 3]
    assert together.work(8)() == 4
    assert halves.calls[-1] == [8]


def test_each_request_fails_for_its_own_reason() -> None:
    together = Together(Halves())
    works = [together.work(number) for number in (4, 3, 6)]
    assert works[0]() == 2
    with pytest.raises(ValueError, match="3 is odd"):
        works[1]()
    assert works[2]() == 3


@pytest.mark.parametrize("kind", ["explain", "transform"])
def test_answers_do_not_depend_on_other_requests(model: tt.TTM, corpus: tt.Corpus, kind: str) -> None:
    engine, names = ModelEngine(model), corpus.tag_names
    assert kind in engine.together
    texts = [text[: 40 + 7 * i] for i, text in enumerate((corpus.texts or ())[:30])]
    bodies = [
        json.dumps(
            {"documents": [{"text": text, "tags": names[i % 3 : i % 3 + 1 + i % 2]}] * (1 + i % 2)}
        ).encode()
        for i, text in enumerate(texts)
    ]
    alone = [answers_of(engine, kind, [body])[0] for body in bodies]
    for size in (2, 3, 8):
        for first in range(0, len(bodies), size):
            some = slice(first, first + size)
            assert answers_of(engine, kind, bodies[some]) == alone[some]


def test_answers_that_depend_on_their_place_are_computed_alone(corpus: tt.Corpus) -> None:
    sampled = tt.GibbsLDA(n_topics=3, max_iter=5, random_state=0).fit(corpus)
    assert ModelEngine(sampled).together == frozenset()
    assert ModelEngine(tt.LDA(n_topics=3, max_iter=5, random_state=0).fit(corpus)).together == {"transform"}
