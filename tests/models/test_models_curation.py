"""Edits of topics: undone to the bit, saved with the model, and the prior of the next fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics._typing import Float64
from tagtopics.curation.journal import Edit
from tagtopics.models.persistence import load_with_corpus

SEQUENCES = 100


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    return make_tagged_corpus(n_docs=150, n_words=120, n_tags=12, n_topics=6, seed=3).corpus


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> Any:
    return tt.TTM(8, max_iter=15, random_state=0).fit_topics(corpus)


def bits(model: Any) -> dict[str, Any]:
    """Return everything that a model has learned, as bytes and plain values."""
    found: dict[str, Any] = {}
    for name, value in sorted(vars(model).items()):
        if isinstance(value, np.ndarray):
            found[name] = (value.shape, str(value.dtype), value.tobytes("C"))
        elif hasattr(value, "indptr"):
            found[name] = tuple(part.tobytes() for part in (value.data, value.indices, value.indptr))
        elif name not in ("base_", "recommender_", "tag_prior_"):
            found[name] = value
    return found


def random_edit(model: Any, rng: np.random.Generator) -> dict[str, Any]:
    K = len(model.components_)
    kind = str(rng.choice(["rename", "ban", "seed"] + (["merge", "merge"] if K > 3 else [])))
    topics = rng.choice(K, 2, replace=False).tolist()
    words = [str(word) for word in rng.choice(model.vocabulary_, 2, replace=False)]
    return {
        "rename": {"topics": topics[:1], "name": f"name {rng.integers(1000)}"},
        "merge": {"topics": topics},
        "ban": {"words": words},
        "seed": {"words": words, "name": f"seed {rng.integers(10**9)}"},
    }[kind] | {"kind": kind}


@pytest.mark.compiled
@pytest.mark.parametrize("part", range(10))
def test_undo_restores_equal_bits(model: Any, corpus: tt.Corpus, part: int) -> None:
    """Ten of the hundred random sequences of edits; after each, everything is undone step by step."""
    before = bits(model)
    for sequence in range(SEQUENCES // 10):
        rng = np.random.default_rng(10 * part + sequence)
        states = [model]
        for _ in range(int(rng.integers(1, 5))):
            edit = random_edit(states[-1], rng)
            states.append(tt.curate(states[-1], corpus=corpus, **edit))
        state = states.pop()
        while states:
            state = tt.undo(state, corpus=corpus)
            assert bits(state) == bits(states.pop())
        assert bits(state) == before
    assert bits(model) == before


def test_a_merge_keeps_all_other_topics(model: Any) -> None:
    merged = tt.curate(model, "merge", topics=[5, 2])
    assert len(merged.components_) == merged.n_topics == 7
    others = {0: 0, 1: 1, 3: 3, 4: 4, 5: 6, 6: 7}  # new number: old number
    ours, theirs = merged.top_words(10), model.top_words(10)
    for new, old in others.items():
        assert {w for w, _ in ours[new]} == {w for w, _ in theirs[old]}
    shares = model.topic_shares()
    assert merged.topic_shares()[2] == pytest.approx(shares[2] + shares[5])
    expected = (model.components_[2] * shares[2] + model.components_[5] * shares[5]) / (shares[2] + shares[5])
    assert cosine(merged.components_[2], expected) > 0.999
    assert merged.doc_topic_[:, 2] == pytest.approx(model.doc_topic_[:, 2] + model.doc_topic_[:, 5], abs=1e-6)
    assert merged.doc_topic_.sum(1) == pytest.approx(1, abs=1e-5)
    assert merged.transform(np.ones((1, 120))).shape == (1, 7)


def test_ban_and_rename(model: Any, corpus: tt.Corpus) -> None:
    word = model.top_words(1)[3][0][0]
    without = tt.curate(model, "ban", words=[word])
    assert word not in without.vocabulary_
    assert without.components_.sum(1) == pytest.approx(1, abs=1e-4)
    assert without.explain(corpus).credit.shape
    named = tt.curate(tt.curate(model, "rename", topics=[3], name="My topic"), "merge", topics=[3, 4])
    assert named.topic_names()[3] == "My topic"
    assert "My topic" in named.topic_table().name
    more = tt.curate(model, "ban", words=[word]).partial_fit(corpus.select(np.arange(40)))
    assert word not in more.vocabulary_
    with pytest.raises(tt.InputError, match="no edits"):
        tt.undo(more)


@pytest.mark.parametrize(
    ("kind", "parts", "says"),
    [
        ("rename", {"topics": [1]}, "a name"),
        ("rename", {"topics": [99], "name": "x"}, "topics 0 to 7"),
        ("merge", {"topics": [1]}, "two or more"),
        ("merge", {"topics": [1, 1]}, "different"),
        ("ban", {"words": ["no such word"]}, "no word"),
        ("ban", {}, "words"),
        ("seed", {"name": "x", "words": ["no such word"]}, "no word"),
        ("rename", {"topics": [-1], "name": "x"}, "greater"),
        ("explode", {}, "explode"),
    ],
)
def test_impossible_edits_are_one_line(model: Any, kind: str, parts: dict[str, Any], says: str) -> None:
    with pytest.raises(tt.InputError, match=says) as error:
        tt.curate(model, kind, **parts)
    assert "\n" not in str(error.value)
    with pytest.raises(tt.InputError, match="no edits"):
        tt.undo(model)


def test_the_journal_is_saved_with_the_model(model: Any, corpus: tt.Corpus, tmp_path: Path) -> None:
    edited = tt.curate(model, "rename", topics=[1], name="<b>One</b>")
    edited = tt.curate(edited, "merge", topics=[1, 2])
    edited = tt.curate(edited, "ban", words=[model.vocabulary_[5]])
    edited.save(tmp_path / "m.tt", corpus=corpus)
    loaded, documents = load_with_corpus(tmp_path / "m.tt")
    again: Any = loaded
    assert again.curation_ == edited.curation_
    assert again.topic_names()[1] == "<b>One</b>"
    for _ in range(3):
        again = tt.undo(again, corpus=documents)
    for name in ("components_", "doc_topic_", "tag_sums_", "topic_sums_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.vocabulary_ == model.vocabulary_
    again.save(tmp_path / "m.tt")
    assert sorted(path.name for path in (tmp_path / "m.tt").iterdir()) == ["arrays.safetensors", "model.json"]


def test_a_damaged_base_or_journal_is_refused(model: Any, tmp_path: Path) -> None:
    tt.curate(model, "merge", topics=[1, 2]).save(tmp_path / "m.tt")
    place = tmp_path / "m.tt" / "base" / "arrays.safetensors"
    place.write_bytes(place.read_bytes()[:-1] + b"x")
    with pytest.raises(tt.InputError, match="digest"):
        tt.load(tmp_path / "m.tt")
    for wrong in ({"version": 2}, "[", {"edits": [{"kind": "merge", "topics": [1]}]}, {"more": 1}):
        with pytest.raises(tt.InputError, match="journal"):
            tt.Curation.from_json(wrong)


def cosine(a: Any, b: Any) -> float:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


@pytest.mark.compiled
def test_a_replayed_journal_reaches_the_edited_topics(model: Any, corpus: tt.Corpus) -> None:
    """The journal, as JSON, with other seeds: merged and named topics come back at their numbers."""
    edited = tt.curate(model, "merge", topics=[1, 2])
    edited = tt.curate(edited, "rename", topics=[4], name="four")
    journal = tt.Curation.from_json(edited.curation_.to_json())
    for seed in (11, 12, 13):
        fresh = tt.TTM(edited.n_topics, max_iter=30, random_state=seed)
        again = tt.fit_curated(fresh, corpus, journal)
        for topic in (1, 4):
            assert cosine(again.components_[topic], edited.components_[topic]) >= 0.9
        assert again.topic_names()[4] == "four"
        assert again.curation_.earlier == edited.curation_.edits
        assert not hasattr(fresh, "components_")


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("docs", "words", "K", "seed"), [(300, 150, 6, 5), (600, 500, 10, 31), (500, 300, 10, 32)]
)
def test_seeded_topics_are_found(docs: int, words: int, K: int, seed: int) -> None:
    """Three words of a planted topic are enough, in a new fit and added to a fitted model."""
    planted = make_tagged_corpus(n_docs=docs, n_words=words, n_tags=2 * K, n_topics=K, seed=seed)
    truth: Float64 = np.asarray(planted.topics, dtype=np.float64)
    corpus = planted.corpus
    telling = truth * (truth / truth.sum(0)) ** 2
    named = {f"seeded {k}": [corpus.vocabulary[w] for w in np.argsort(-telling[k])[:3]] for k in range(3)}
    start: Any = tt.LDA(K - 2, random_state=1).fit_topics(corpus)
    for name, chosen in named.items():
        start = tt.curate(start, "seed", name=name, words=chosen)
    fresh = tt.fit_curated(tt.LDA(K - 3, random_state=7), corpus, tt.Curation.of_seeds(named))
    added = tt.fit_curated(tt.LDA(K - 2, random_state=7), corpus, start.curation_)
    for found in (fresh, added):
        assert found.topic_names()[-3:] == tuple(named)
        for k in range(3):
            assert cosine(found.components_[k - 3], truth[k]) >= 0.9
    assert fresh.n_topics == K


def test_seeds_grow_as_words_occur_together() -> None:
    """Four documents of two topics: the start is one for seeds and their companions, zero for the others."""
    from tagtopics.curation.guided import _grow_seeds

    counts = sp.csr_array(np.array([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 2, 1], [0, 0, 0, 2, 1]]) * 20)
    seeds = np.array([[1], [0], [0], [0], [0]], dtype=bool)
    grown = _grow_seeds(counts, seeds, 2)
    assert grown[0, 0] == pytest.approx(0.99)
    assert (grown[1:3, 0] > 0.6).all()
    assert grown[3:, 0] == pytest.approx(0, abs=0.15)
    assert np.isfinite(_grow_seeds(sp.csr_array(np.eye(3)), np.eye(3, 2, dtype=bool), 2)).all()


def test_seeds_must_have_words() -> None:
    wrongs: list[dict[str, list[str]]] = [{"a": []}, {"": ["x"]}, {"a": [""]}]
    for wrong in wrongs:
        with pytest.raises(tt.InputError, match="seeds"):
            tt.Curation.of_seeds(wrong)


def test_bits_do_not_depend_on_threads(corpus: tt.Corpus) -> None:
    models: list[Any] = []
    for threads in (1, 3):
        fitted: Any = tt.TTM(6, max_iter=5, random_state=0, n_jobs=threads).fit_topics(corpus)
        edited = tt.curate(fitted, "merge", topics=[1, 3], corpus=corpus)
        models.append(tt.fit_curated(edited, corpus, edited.curation_))
    np.testing.assert_array_equal(models[0].components_, models[1].components_)


def test_other_models_are_refused(corpus: tt.Corpus) -> None:
    sampled: Any = tt.RTM(3, max_iter=2, random_state=0).fit(corpus)
    with pytest.raises(tt.InputError, match="RTM"):
        tt.curate(sampled, "merge", topics=[0, 1])
    assert str(Edit(kind="merge", topics=(1, 2))) == "merge 1 2"


def test_words_of_any_length_can_be_edited(tmp_path: Path) -> None:
    long = "ab" * 500
    corpus = tt.read_corpus([f"{long} bread oven", "wine glass bread", "tram night late"])
    model = tt.LDA(2, max_iter=2, random_state=0).fit_topics(corpus)
    edited = tt.curate(model, "rename", topics=[0], name="first")
    edited = tt.curate(edited, "ban", words=[long])
    edited.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.curation_.banned == (long,)
    assert long in tt.undo(loaded).vocabulary_
