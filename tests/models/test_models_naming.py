"""Names of topics: telling, unique, the same each time; and which topics are background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics._typing import Float64
from tagtopics.models.naming import (
    background_topics,
    distinct,
    find_topic_phrases,
    foreground,
    name_by_tags,
    name_topics,
    typical_tags,
)
from tagtopics.models.topic_words import list_words

WORDS = ("the", "model", "models", "translation", "machine", "speech", "audio", "parser")


def topics(*rows: dict[str, float]) -> Float64:
    """Return topics over WORDS with the given weights, and a little of each other word."""
    phi = np.array([[row.get(word, 0.001) for word in WORDS] for row in rows])
    return np.asarray(phi / phi.sum(1, keepdims=True))


PHI = topics(
    {"the": 0.5, "translation": 0.2, "machine": 0.2, "model": 0.1},
    {"the": 0.5, "speech": 0.3, "audio": 0.2},
    {"the": 0.5, "models": 0.3, "model": 0.3, "parser": 0.1},
)
SHARE = np.array([0.5, 0.3, 0.2])


def listed(phi: Float64, share: Float64, words: Sequence[str]) -> list[list[str]]:
    """Return the words of each topic, by contribution."""
    return [[words[w] for w in own] for own in list_words(phi, share, None, 20).tolist()]


def test_names_have_phrases_one_word_of_a_stem_and_the_tag_of_the_topic() -> None:
    sums = np.array([[1.0, 9.0, 0.0], [6.0, 1.0, 5.0]])
    names = name_topics(listed(PHI, SHARE, WORDS), ["machine translation"], sums, ["venue:ICASSP", "Ann"])
    assert names[0].startswith("machine translation, ")
    assert names[1].startswith("speech, audio")
    assert names[1].endswith("(ICASSP)")
    assert "parser" in names[2]
    assert names[2].count("model") == 1
    assert "Ann" in names[0]
    assert (
        name_topics(listed(PHI, SHARE, WORDS), ["machine translation"], sums, ["venue:ICASSP", "Ann"])
        == names
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 12), st.integers(0, 10**6))
def test_names_are_unique_and_never_empty(n_topics: int, n_words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.3), n_topics)
    phi[-1] = phi[0]  # equal topics still get different names
    words = [f"w{w % 3}" if w % 2 else f"word{w}" for w in range(n_words)]
    names = name_topics(listed(phi, rng.dirichlet(np.ones(n_topics)), words))
    assert len(set(names)) == n_topics
    assert all(names)


def test_repeated_names_are_numbered_around_names_that_look_numbered() -> None:
    assert distinct(["a", "a (2)", "a", "a"]) == ("a", "a (2)", "a (3)", "a (4)")


def documents_of_topics(n_docs: int, even: float) -> Float64:
    """Return documents of one of four topics each, and about equal parts of a fifth, the first."""
    rng = np.random.default_rng(1)
    theta = np.full((n_docs, 5), 0.01)
    theta[np.arange(n_docs), 1 + np.arange(n_docs) % 4] = 1.0
    theta[:, 0] = even * rng.uniform(0.5, 1.5, n_docs)
    return np.asarray(theta / theta.sum(1, keepdims=True))


@pytest.mark.parametrize("even", [0.1, 0.3, 1.5])
def test_topics_that_distinguish_few_documents_are_background(even: float) -> None:
    theta = documents_of_topics(200, even)
    share = theta.mean(0)
    assert background_topics(share, theta).tolist() == [True, False, False, False, False]
    assert not background_topics(share, theta[:4]).any()  # too few documents to tell
    for by in (4, 50):
        sums = np.stack([theta[t::by].sum(0) for t in range(by)])
        assert background_topics(share, theta, sums).tolist() == [True, False, False, False, False]
    of_first = np.vstack([np.eye(5)[0] * 10 + 0.1] * 3 + [sums[0]])  # most tags stand for it
    assert not background_topics(share, theta, of_first).any()


def test_the_subject_of_a_frequent_tag_is_not_background() -> None:
    theta = documents_of_topics(1000, 0.05)
    share = theta.mean(0)
    sums = np.stack([theta[t::50].sum(0) for t in range(50)])
    for n_docs, still in ((30, False), (10, True)):  # a tag whose documents are half about it
        own = n_docs * np.array([0.5, 0.125, 0.125, 0.125, 0.125])
        assert background_topics(share, theta, np.vstack([sums, own]))[0] == still


def test_large_topics_and_topics_by_chance_are_not_background() -> None:
    theta = np.full((100, 3), 0.01)
    theta[:70, 0], theta[70:90, 1], theta[90:, 2] = 1, 1, 1
    assert not background_topics(theta.mean(0), theta).any()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        theta = rng.permuted(np.eye(6)[rng.integers(0, 6, 90)] + 0.02, axis=1)  # no document is like another
        assert not background_topics(theta.mean(0) / theta.mean(0).sum(), theta).any()
    assert not background_topics(np.array([1.0]), theta[:, :1]).any()
    assert not background_topics(np.array([0.9, 0.1]), theta[:0, :2]).any()


def test_foreground_adds_up_to_one_without_background() -> None:
    theta = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    kept = foreground(theta, np.array([True, False, False]))
    assert kept[0] == pytest.approx([0, 0.6, 0.4])
    assert kept[1].tolist() == [0, 0, 0]
    assert foreground(theta, np.zeros(3, dtype=bool)) is theta


@pytest.fixture(scope="module")
def common() -> tt.TTM:
    """A model of five themes and function words in every document, with phrases in its texts."""
    rng = np.random.default_rng(0)
    themes = [
        "machine translation quality bilingual",
        "speech recognition audio acoustic",
        "syntax tree parser grammar",
        "image caption visual scene",
        "question answer passage reader",
    ]
    common = [f"common{i}" for i in range(12)]
    rows = []
    for d in range(200):
        theme = themes[d % 5].split()
        words = [" ".join(theme[:2]), *rng.choice(theme[2:], 10), *rng.choice(common, rng.integers(2, 30))]
        rows.append({"text": " ".join(rng.permutation(words)), "tags": ["ann" if d % 2 else "bob"]})
    corpus = tt.read_corpus(rows)
    return tt.MarkovTTM(n_topics=6, random_state=1, max_iter=50).fit(corpus)


def test_phrases_are_found_in_texts_and_saved(common: tt.TTM, tmp_path: Path) -> None:
    assert {"machine translation", "speech recognition"} <= set(common.phrases_)
    assert any("machine translation" in name for name in common.topic_names())
    common.save(tmp_path / "m.tt")
    again = tt.load(tmp_path / "m.tt")
    assert again.topic_names() == common.topic_names()
    assert again.phrases_ == common.phrases_


def test_phrases_are_found_among_many_words() -> None:
    rng = np.random.default_rng(1)
    themes = ["pre trained language models", "low resource languages survey"]
    rows = []
    for d in range(200):
        rare = [f"rare{d % 2}{i}" for i in rng.integers(0, 300, 30)]
        words = [themes[d % 2], *rare, themes[d % 2]]
        rows.append({"text": " ".join(rng.permutation(words)), "tags": [f"t{d % 2}"]})
    model = tt.LDA(n_topics=2, random_state=0, max_iter=40).fit(tt.read_corpus(rows))
    assert {"pre trained language models", "low resource languages survey"} <= set(model.phrases_)
    assert sorted(name.split(",")[0] for name in model.topic_names()) == sorted(themes)


def test_names_leave_out_pieces_of_contractions_and_citations() -> None:
    words = [["et", "al", "parsing", "ll", "speech"], ["speech", "vs", "parsing", "et"]]
    assert name_topics(words, ["et al", "al parsing"]) == ("parsing, speech", "speech, parsing")
    assert name_topics([["et", "ll"]]) == ("et, ll",)
    assert name_topics([["edition", "ba", "ii", "updated", "iii"]]) == ("edition, updated",)


def test_short_words_and_their_plurals_have_one_stem() -> None:
    assert name_topics([["llms", "large", "llm", "prompts"]]) == ("llms, large, prompts",)
    assert name_topics([["art", "arm", "arts", "museum"]]) == ("art, arm, museum",)


def test_phrases_are_joined_only_if_the_texts_have_them() -> None:
    phi = np.array([[0.4, 0.3, 0.2, 0.05, 0.05], [0.05, 0.05, 0.1, 0.4, 0.4]])
    words = ["element", "wise", "structuring", "x", "y"]
    own, pairs = listed(phi, np.array([0.5, 0.5]), words), ["structuring element", "element wise"]
    assert name_topics(own, pairs)[0] == "element wise, structuring, x"
    joined = name_topics(own, [*pairs, "structuring element wise"])
    assert joined[0] == "structuring element wise, x, y"


def test_phrases_keep_the_stop_words_inside_them() -> None:
    texts = [
        "the state of the art method",
        "method of a state-of-the-art parser",
        "state. Of the art and method",
    ]
    corpus = tt.read_corpus(texts * 4, recipe=tt.TextRecipe(min_df=1))
    words = [["state", "art", "method", "parser"]]
    found = find_topic_phrases(corpus, words, np.ones((12, 1)))
    assert "state of the art" not in found  # two of three do not suffice
    corpus = tt.read_corpus(texts[:2] * 4, recipe=tt.TextRecipe(min_df=1))
    found = find_topic_phrases(corpus, words, np.ones((8, 1)))
    assert "state of the art" in found
    assert not any(phrase.startswith("method of") for phrase in found)
    assert name_topics(words, ["state of the art"]) == ("state of the art, method, parser",)


def test_topics_of_photos_are_named_by_tags() -> None:
    sums = np.array([[8.0, 2.0], [1.0, 9.0], [0.0, 3.0], [3.0, 3.0]])
    names = name_by_tags(sums, np.array([0.4, 0.6]), ["kind:sky", "water", "boat", "grass"])
    assert names == ("sky, grass", "water, boat")
    assert name_by_tags(sums[:0], np.array([0.4, 0.6]), []) == ("no tags", "no tags (2)")
    alike = np.array(
        [[9.0, 8.0, 0.0], [7.0, 9.0, 0.0], [5.0, 5.0, 1.0], [2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1, 1, 40]]
    )
    names = name_by_tags(alike, np.array([0.2, 0.2, 0.6]), ["sky", "plane", "jet", "sea", "fog", "rest"])
    assert names[:2] == ("sky, plane, jet, sea", "plane, sky, jet, fog")  # more tags, no numbers


def test_tags_with_twice_as_much_of_a_topic_are_typical_before_frequent_tags() -> None:
    means = np.array([[0.15, 0.15, 0.7], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.9, 0.1, 0.0]])
    docs = np.array([4000, 12, 6, 50, 0.05])
    share = np.array([0.1, 0.1, 0.8])
    found = typical_tags(means * docs[:, np.newaxis], share, 3)
    # The frequent tag has more of the first two topics than the collection, but not twice as much; the last
    # one has too little text, and no tag has more of the last topic.
    assert found == [[1, 0, 4], [2, 0, 1], []]
    frequent = typical_tags(means[[0, 3]] * docs[[0, 3], np.newaxis], np.array([0.1, 0.2, 0.7]), 3)
    assert frequent == [[0], [], [1]]


@pytest.mark.parametrize("seed", range(3))
def test_first_tags_have_twice_as_much_of_a_topic_if_any_has(seed: int) -> None:
    rng = np.random.default_rng(seed)
    docs = np.concatenate([[900, 700, 400], rng.integers(1, 20, 300)])
    means = np.vstack([rng.dirichlet(np.full(20, 20.0), 3), rng.dirichlet(np.full(20, 0.2), 300)])
    share = docs @ means / docs.sum()
    first = [tags[0] for tags in typical_tags(means * docs[:, np.newaxis], share, 5)]
    assert min(means[t, k] / share[k] for k, t in enumerate(first)) >= 2


def test_background_is_left_out_of_tags_and_similarity(common: tt.TTM) -> None:
    from tagtopics.models.results import profile_row, topic_rows

    background = common.background_topics()
    assert background.sum() == 1
    frequent = np.argsort(-common.components_[background][0])[:16]
    assert sum(common.vocabulary_[w].startswith("common") for w in frequent) == 12
    rows = topic_rows(common, 5)
    assert [row["background"] for row in rows] == background.tolist()
    assert all(not row["tags"] for row in rows if row["background"])
    listed = {entry["topic"] for entry in profile_row(common, ["ann"], 5, n_topics=6)["topics"]}
    assert listed == set(np.flatnonzero(~background).tolist())
    table = common.topic_table()
    assert str(table).count("(background)") == background.sum()
    assert dict(zip(table.topic, table.name, strict=True))[0] == common.topic_names()[0]


@pytest.mark.real_data
def test_no_real_topic_swallows_reuters(data_directory: Path) -> None:
    corpus = tt.read_corpus(data_directory / "reuters")
    model = tt.LDA(n_topics=20, random_state=0, max_iter=30).fit_topics(corpus)
    assert model.topic_shares()[~model.background_topics()].max() < 0.2
    assert len(set(model.topic_names())) == 20
