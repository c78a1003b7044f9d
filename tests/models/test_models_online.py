"""Incremental learning: mini-batches, new words and tags, forgetting, and the same bits."""

from __future__ import annotations

import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus, make_tagged_corpus
from tagtopics.corpus.align import join_corpora

BOTH = pytest.mark.parametrize("estimator", [tt.LDA, tt.TTM], ids=["LDA", "TTM"])
ARRAYS = ("components_", "doc_topic_", "topic_sums_", "tag_sums_", "tag_squares_", "tag_docs_")
FOOD, SEA, MUSIC = ([f"{name}{i}" for i in range(10)] for name in ("food", "sea", "music"))


def written(subjects: list[list[str]], tags: list[list[str]], seed: int = 0) -> tt.Corpus:
    """Return documents of twenty words, each about one subject, with their tags."""
    rng = np.random.default_rng(seed)
    rows = [
        {"id": f"{seed}-{d}", "text": " ".join(rng.choice(words, 20)), "tags": doc_tags}
        for d, (words, doc_tags) in enumerate(zip(subjects, tags, strict=True))
    ]
    return tt.read_corpus(rows)


def about(words: list[str], tags: list[str], n: int = 60, seed: int = 0) -> tt.Corpus:
    return written([words] * n, [tags] * n, seed)


def two_subjects(n: int = 100) -> tt.Corpus:
    """Half of the documents about food, half about the sea; a tag of each, and one of all."""
    return written([FOOD, SEA] * n, [["cook", "any"], ["sailor", "any"]] * n)


def topic_of(model: Any, words: list[str]) -> int:
    """Return the topic that has most of some words."""
    columns = [model.vocabulary_.index(word) for word in words]
    return int(model.components_[:, columns].sum(1).argmax())


def assert_same(found: Any, expected: Any) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("vocabulary_", "tag_names_", "doc_ids_", "n_iter_", "stop_reason_"):
        assert getattr(found, name) == getattr(expected, name), name


@BOTH
def test_one_batch_is_a_fit(estimator: Any, planted: SyntheticCorpus) -> None:
    online = estimator(6, max_iter=10, random_state=0).partial_fit(planted.corpus)
    assert online.recommender_ is None
    assert_same(online, estimator(6, max_iter=10, random_state=0).fit(planted.corpus))


@BOTH
def test_equal_batches_give_equal_bits(estimator: Any, planted: SyntheticCorpus) -> None:
    """At any number of threads, and whether partial_fit cuts the batches or the caller does."""
    corpus = planted.corpus
    expected = estimator(6, max_iter=10, random_state=0, n_jobs=1).partial_fit(corpus, batch_size=400)
    found = estimator(6, max_iter=10, random_state=0, n_jobs=3)
    for first in (0, 400):  # the last 200 documents are half a batch, so they are a batch of their own
        found.partial_fit(corpus.select(np.arange(first, first + 400)))
    assert_same(found.partial_fit(corpus.select(np.arange(800, 1000))), expected)


def test_a_short_last_batch_joins_the_one_before(planted: SyntheticCorpus) -> None:
    corpus = planted.corpus
    model = tt.LDA(4, max_iter=3, random_state=0).partial_fit(corpus, batch_size=600)
    again = tt.LDA(4, max_iter=3, random_state=0).partial_fit(corpus.select(np.arange(600)))
    assert_same(model, again.partial_fit(corpus.select(np.arange(600, 1000))))
    whole = tt.LDA(4, max_iter=3, random_state=0).partial_fit(corpus, batch_size=900)
    assert_same(whole, tt.LDA(4, max_iter=3, random_state=0).fit(corpus))


@BOTH
def test_saved_and_loaded_it_goes_on_the_same(
    estimator: Any, tmp_path: Path, planted: SyntheticCorpus
) -> None:
    first, second = (planted.corpus.select(rows) for rows in (np.arange(500), np.arange(500, 1000)))
    model = estimator(6, max_iter=10, random_state=0).fit(first)
    model.save(tmp_path / "model.tt")
    loaded: Any = tt.load(tmp_path / "model.tt")
    assert_same(loaded.partial_fit(second, forgetting=800), model.partial_fit(second, forgetting=800))


@BOTH
def test_nothing_is_lost(estimator: Any, planted: SyntheticCorpus) -> None:
    """Without forgetting every token is in some topic, and every document is there by its name."""
    corpus = planted.corpus
    model = estimator(6, max_iter=10, random_state=0).partial_fit(corpus, batch_size=250)
    assert model.topic_sums_.sum() == pytest.approx(corpus.counts.sum(), rel=1e-6)
    assert model.doc_ids_ == corpus.ids
    assert model.doc_topic_.shape == (1000, 6)
    np.testing.assert_allclose(model.doc_topic_.sum(1), 1, rtol=1e-5)
    if estimator is tt.TTM:
        np.testing.assert_array_equal(model.tag_docs_, corpus.tags.sum(0))
        np.testing.assert_allclose(model.tag_sums_.sum(1), model.tag_docs_, rtol=1e-5)
    related = model.related(corpus.select([990]), top=3)[0]
    assert max(row.score for row in related) > 0.9


@BOTH
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_one_pass_finds_planted_topics_and_predicts_as_well(estimator: Any, seed: int) -> None:
    truth = make_tagged_corpus(n_docs=1500, seed=seed)
    train, test = truth.corpus.select(np.arange(1200)), truth.corpus.select(np.arange(1200, 1500))
    online = estimator(12, random_state=seed).partial_fit(train, batch_size=400)
    batch = estimator(12, random_state=seed).fit_topics(train)
    assert online.perplexity(test) < 1.03 * batch.perplexity(test)
    true, found = (rows / np.linalg.norm(rows, axis=1, keepdims=True)
                   for rows in (truth.topics, online.components_))  # fmt: skip
    cosine = true @ found.T
    assert cosine[linear_sum_assignment(-cosine)].mean() > 0.9


# ---------------------------------------------------------------------------------- new words and tags


def test_new_words_and_tags_can_be_asked_for() -> None:
    model = tt.TTM(3, random_state=0).fit(two_subjects())
    more = about(MUSIC, ["violinist", "any"], 100, seed=1)
    model.partial_fit(more)
    assert set(MUSIC) <= set(model.vocabulary_)
    assert model.tag_names_ == ("any", "cook", "sailor", "violinist")
    assert model.tag_docs_.tolist() == [300, 100, 100, 100]
    assert model.n_features_in_ == model.components_.shape[1] == 30
    profile = model.tag_profile("violinist")
    assert {word for word, _ in profile.words} == set(MUSIC)
    assert profile.n_docs == (100,)
    table = model.explain(more.select([0]))
    assert set(table.tag) == {"any", "violinist"}
    model.fit_recommender(join_corpora(two_subjects(), more))
    assert [rows[0].tag for rows in model.recommend(more.select([0, 1]), top=2)] != []
    assert all("violinist" in [row.tag for row in rows] for rows in model.recommend(more, top=2))
    old = model.recommend(two_subjects(2), top=2)
    assert "cook" in [row.tag for row in old[0]]
    assert "sailor" in [row.tag for row in old[1]]


def test_old_topics_survive_new_subjects() -> None:
    model = tt.TTM(3, random_state=0).fit(two_subjects())
    before = {word for word, _ in model.tag_profile("cook").words}
    model.partial_fit(about(MUSIC, ["violinist"], 100, seed=1))
    assert {word for word, _ in model.tag_profile("cook").words} == before == set(FOOD)


def test_credits_of_a_loaded_model_grow_and_its_recommender_is_not_stale(tmp_path: Path) -> None:
    old, more = two_subjects(), about(MUSIC, ["violinist", "any"], 100, seed=1)
    tt.TTM(3, random_state=0).fit(old).save(tmp_path / "m.tt")
    model: Any = tt.load(tmp_path / "m.tt")
    credited = model.tag_words_.sum()
    model.partial_fit(more)
    assert model.tag_words_.shape == (4, 30)
    assert credited <= model.tag_words_.sum() <= credited + more.counts.sum()
    table = model.explain(more.select([0]))
    assert table.credit[table.tag == "violinist"].sum() > 0
    with pytest.raises(tt.InputError, match="no recommender; call fit_recommender with all of its documents"):
        model.recommend(more)
    model.save(tmp_path / "again.tt")
    again: Any = tt.load(tmp_path / "again.tt")
    with pytest.raises(tt.InputError, match="no recommender"):
        again.recommend(more)
    again.fit_recommender(more)
    assert again.recommend(more.select([0]), top=2)


def test_credits_grow_with_every_batch() -> None:
    old, more = two_subjects(), about(MUSIC, ["violinist", "any"], 100, seed=1)
    model = tt.TTM(3, random_state=0).partial_fit(old)
    tokens = model.tag_words_.sum()
    assert 0 < tokens < old.counts.sum()
    model.partial_fit(more)
    assert tokens <= model.tag_words_.sum() < tokens + more.counts.sum()


def test_tags_of_another_kind_than_before_can_be_asked_for(tmp_path: Path) -> None:
    """Kinds are those of the fit; a tag of none of them counts as one of the first."""
    old = written([FOOD, SEA] * 40, [["by:cook", "at:home"], ["by:sailor", "at:sea"]] * 40)
    model = tt.TTM(3, max_iter=20, random_state=0).fit_topics(old)
    assert model.tag_kinds_ == ("at", "by")
    more = about(MUSIC, ["violinist", "at:home"], 20, seed=1)
    model.partial_fit(more)
    assert model.tag_kinds_ == ("at", "by")
    model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert (loaded.tag_kinds_, loaded.settings_) == (model.tag_kinds_, model.settings_)
    np.testing.assert_array_equal(loaded.predict_words(more, more), model.predict_words(more, more))


def test_explaining_documents_without_words_gives_an_empty_table() -> None:
    model = tt.TTM(3, random_state=0).fit(two_subjects())
    table = model.explain(np.zeros((2, 20), dtype=int), [["cook"], []])
    assert len(table) == len(table.best()) == 0


def test_matrices_have_fixed_columns_and_open_tags() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (40, 8))
    model = tt.TTM(2, max_iter=5, random_state=0).partial_fit(counts, [["a"], ["b"]] * 20)
    model.partial_fit(sp.csr_array(counts[:10]), [["c"]] * 10)
    assert model.tag_names_ == ("a", "b", "c")
    assert model.doc_ids_ == tuple(str(d) for d in range(50))
    model.partial_fit(counts[:5], np.eye(3, dtype=int)[[0, 1, 2, 0, 1]])
    assert model.tag_docs_.tolist() == [22, 22, 11]
    model.fit_recommender(counts[:5], np.eye(3, dtype=int)[[0, 1, 2, 0, 1]])
    assert {row.tag for row in model.recommend(counts[:1], top=3)[0]} == {"a", "b", "c"}
    with pytest.raises(ValueError, match="7 features"):
        model.partial_fit(counts[:, :7])
    with pytest.raises(tt.InputError, match="the indicator has 2 columns, the model has 3 tags"):
        model.partial_fit(counts[:4], np.eye(2, dtype=int)[[0, 1, 0, 1]])


def test_a_model_of_a_table_may_grow_by_a_corpus() -> None:
    table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (30, 3)), columns=["boat", "oven", "wind"])
    model = tt.LDA(2, max_iter=5, random_state=0).fit(table, ["x", "y"] * 15)
    model.partial_fit(tt.read_corpus([{"text": "boat wind sail", "tags": ["z"]}] * 5))
    assert model.vocabulary_ == ("boat", "oven", "wind", "sail")
    assert list(model.get_feature_names_out()) == ["lda0", "lda1"]
    wider = table.assign(sail=1)
    assert model.transform(wider).shape == (30, 2)
    model.fit_recommender(wider, ["x", "y", "z"] * 10)
    assert {row.tag for row in model.recommend(wider[:1], top=3)[0]} == {"x", "y", "z"}


# ---------------------------------------------------------------------------------- odd batches


@BOTH
def test_an_empty_batch_changes_nothing(estimator: Any, planted: SyntheticCorpus) -> None:
    nothing = planted.corpus.select([])
    with pytest.raises(tt.InputError, match="no documents to start from"):
        estimator(3).partial_fit(nothing)
    model = estimator(3, max_iter=5, random_state=0).fit(planted.corpus)
    expected = deepcopy(model)
    assert_same(model.partial_fit(nothing), expected)
    assert model.recommend(planted.corpus.select([0]), top=1)


@BOTH
def test_documents_without_words(estimator: Any, planted: SyntheticCorpus) -> None:
    model = estimator(3, max_iter=5, random_state=0).fit(planted.corpus)
    sums, docs = model.topic_sums_.copy(), model.tag_docs_.copy()
    silent = sp.csr_array((4, planted.corpus.n_words), dtype=np.int32)
    model.partial_fit(silent, planted.corpus.tags[:4] if estimator is tt.TTM else None)
    np.testing.assert_allclose(model.topic_sums_, sums, rtol=1e-6)
    np.testing.assert_array_equal(model.tag_docs_, docs)
    np.testing.assert_allclose(model.doc_topic_[-4:], 1 / 3, rtol=1e-6)


def test_a_batch_without_tags() -> None:
    model = tt.TTM(2, random_state=0).fit(two_subjects())
    sums = model.tag_sums_.copy()
    model.partial_fit(about(SEA, [], 50, seed=2))
    np.testing.assert_array_equal(model.tag_sums_, sums)
    assert model.topic_sums_[topic_of(model, SEA)] == pytest.approx(3000, rel=0.02)


def test_a_model_without_tags_may_get_some() -> None:
    model = tt.TTM(2, random_state=0).fit(about(FOOD, [], 50))
    model.partial_fit(about(FOOD, ["cook"], 50, seed=1))
    assert model.tag_profile("cook").n_docs == (50,)
    model.fit_recommender(about(FOOD, ["cook"], 50, seed=1))
    assert model.recommend(about(FOOD, [], 1, seed=3), top=1)[0][0].tag == "cook"


@BOTH
def test_a_batch_of_unknown_words(estimator: Any) -> None:
    model = estimator(3, random_state=0).fit(two_subjects())
    model.partial_fit(about(MUSIC, ["violinist"], 50, seed=1))
    assert np.isfinite(model.components_).all()
    assert model.topic_sums_.sum() == pytest.approx(250 * 20, rel=1e-5)
    columns = [model.vocabulary_.index(word) for word in MUSIC]
    tokens = (
        model.components_[:, columns].sum(1) * model.topic_sums_
    )  # words that come together stay together
    assert tokens.max() == pytest.approx(50 * 20, rel=0.05)


# ---------------------------------------------------------------------------------- forgetting


def test_without_forgetting_an_old_topic_keeps_its_tokens() -> None:
    model = tt.TTM(2, random_state=0).fit(two_subjects())
    food = topic_of(model, FOOD)
    for seed in range(1, 5):
        model.partial_fit(about(SEA, ["sailor", "any"], 100, seed=seed))
    assert model.topic_sums_[food] == pytest.approx(2000, rel=0.02)
    means = model.tag_means()[model.tag_names_.index("any")]
    assert means[food] == pytest.approx(100 / 600, abs=0.02)


def test_with_a_half_life_it_loses_half_every_so_many_documents() -> None:
    model = tt.TTM(2, random_state=0).fit(two_subjects())
    food = topic_of(model, FOOD)
    for n, seed in enumerate(range(1, 5), start=1):
        model.partial_fit(about(SEA, ["sailor", "any"], 100, seed=seed), forgetting=100)
        assert model.topic_sums_[food] == pytest.approx(2000 * 0.5**n, rel=0.05)
    assert model.topic_sums_[food] / model.topic_sums_.sum() < 0.04
    assert model.tag_means()[model.tag_names_.index("any"), food] < 0.04
    assert model.tag_means().sum(1) == pytest.approx(1)
    assert model.tag_docs_[model.tag_names_.index("any")] == 600  # how many there were is not forgotten
    assert model.tag_profile("cook").topics[food] > 0.95  # what is said of food alone is still about food


def test_a_forgotten_topic_is_free_for_a_new_subject() -> None:
    """Two topics, three subjects: the new one takes the place of the one that no longer occurs."""
    model = tt.LDA(2, random_state=0).fit(two_subjects())
    food = topic_of(model, FOOD)
    for seed in range(1, 13):
        model.partial_fit(about(SEA, [], 100, seed=seed), forgetting=50)
    model.partial_fit(written([MUSIC, SEA] * 100, [[]] * 200, seed=20), forgetting=50)
    assert topic_of(model, MUSIC) == food
    assert {word for word, _ in model.top_words(10)[food]} == set(MUSIC)


# ---------------------------------------------------------------------------------- who may, and mistakes


def test_only_belief_propagation_goes_on() -> None:
    assert hasattr(tt.LDA(), "partial_fit")
    assert hasattr(tt.TTM(), "partial_fit")
    for other in (tt.ATM(), tt.RTM(), tt.LabeledLDA()):
        assert not hasattr(other, "partial_fit")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number, 1 or more, not 0"),
        ({"batch_size": 2.5}, "batch_size must be"),
        ({"forgetting": 0}, "forgetting must be a number of documents above 0, not 0"),
        ({"forgetting": float("nan")}, "forgetting must be"),
        ({"y": [["a"]]}, "a corpus has its own tags"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], says: str) -> None:
    model = tt.TTM(2, max_iter=2, random_state=0).fit(two_subjects(5))
    with pytest.raises(tt.InputError, match=says):
        model.partial_fit(two_subjects(5), **options)


def test_another_number_of_topics_is_refused() -> None:
    model = tt.LDA(2, max_iter=2, random_state=0).fit(two_subjects(5)).set_params(n_topics=3)
    with pytest.raises(tt.InputError, match="the model has 2 topics, n_topics is 3"):
        model.partial_fit(two_subjects(5))


def test_no_warning_of_new_names() -> None:
    model = tt.TTM(2, max_iter=3, random_state=0).fit(two_subjects(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(about(MUSIC, ["violinist"], 5))
