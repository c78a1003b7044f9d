"""Names that may be spellings of one name."""

from __future__ import annotations

import pytest

from tagtopics.analysis.audit.names import alike, fold_word, name_parts, spelling_pairs
from tagtopics.corpus.tags import bare_name

SAME = [
    ("Wen Li", "Li Wen", "order"),
    ("Wen Li", "Li, W.", "initials"),
    ("Li, W.", "W. Li", "order"),
    ("neural network", "Neural Networks", "equal"),
    ("data-base", "database", "equal"),
    ("José García", "Jose Garcia", "equal"),
    ("category", "categories", "equal"),
    ("box", "boxes", "equal"),
    ("network analysis", "Network analyses", "equal"),
    ("Alexandra Petrova", "Alexandra Petrva", "typo"),
    ("Alexandra Petrova", "Alexandra Petorva", "typo"),
    ("banana", "banano", "short typo"),
    ("John A. Smith", "John Smith", "part"),
    ("J. R. Smith", "John Robert Smith", "initials"),
]
DIFFERENT = [
    ("Wen Li", "Wei Zhang"),
    ("A. Smith", "B. Smith"),
    ("statphys22", "statphys23"),
    ("2019", "2020"),
    ("cat", "bat"),
    ("Smith", "John Smith"),
    ("", "x"),
    ("!?", "??"),
]


@pytest.mark.parametrize(("one", "other", "how"), SAME)
def test_spellings_of_one_name_are_alike(one: str, other: str, how: str) -> None:
    assert alike(name_parts(one), name_parts(other)) == how
    assert alike(name_parts(other), name_parts(one)) == how
    assert spelling_pairs([one, "unrelated entry", other]) == {(0, 2): how}


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_names_are_not(one: str, other: str) -> None:
    assert alike(name_parts(one), name_parts(other)) is None
    assert spelling_pairs([one, other]) == {}


def test_tags_of_different_kinds_are_never_paired() -> None:
    assert spelling_pairs(["author:Wen Li", "editor:Wen Li", "author:Li Wen"]) == {(0, 2): "order"}


def test_a_key_that_many_tags_share_is_ignored() -> None:
    names = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}x Smith" for i in range(200)]
    assert len(spelling_pairs(names)) < 200 * 199 / 2


def test_odd_names() -> None:
    assert bare_name("author:Jane Doe") == "Jane Doe"
    assert bare_name("http://example.org/1") == "http://example.org/1"
    assert bare_name(":") == ":"
    assert fold_word("GROSS") == "gross"
    assert name_parts("") == ()
    assert name_parts("\u202e\ud800🦊") == ()
    assert spelling_pairs(["", "", "🦊", "🦊\u200d"]) == {}
