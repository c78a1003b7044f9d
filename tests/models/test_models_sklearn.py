"""The estimators in pipelines, grid searches and with all kinds of tags; their parameters and queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus

TEXTS = ["red apple pie", "apple tart and pie", "blue sea sky", "sky over the sea", "red sky pie"] * 8
TAGS = [["food"], ["food", "baking"], ["nature"], ["nature"], ["food", "nature"]] * 8


def test_pipeline_grid_search_and_clone() -> None:
    pipeline = make_pipeline(CountVectorizer(), tt.TTM(2, max_iter=10, random_state=0))
    search = GridSearchCV(pipeline, {"ttm__n_topics": [2, 3]}, cv=2).fit(TEXTS, TAGS)
    assert search.best_params_["ttm__n_topics"] in (2, 3)
    assert np.isfinite(search.best_score_)
    model = clone(search.best_estimator_[-1])
    assert model.get_params() == search.best_estimator_[-1].get_params()
    assert not hasattr(model, "components_")


def test_set_output() -> None:
    counts = pd.DataFrame(CountVectorizer().fit_transform(TEXTS).toarray(), columns=list("abcdefghij"))
    frame = tt.LDA(2, max_iter=5, random_state=0).set_output(transform="pandas").fit_transform(counts)
    assert list(frame.columns) == ["lda0", "lda1"]
    np.testing.assert_allclose(frame.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "y",
    [
        TAGS,
        sp.csr_array(np.eye(3)[[0, 1, 2, 2, 0] * 8]),
        np.eye(3, dtype=int)[[0, 1, 2, 2, 0] * 8],
        pd.DataFrame(np.eye(3, dtype=int)[[0, 1, 2, 2, 0] * 8], columns=["baking", "food", "nature"]),
        ["food", "baking", "nature", "nature", None] * 8,
        np.array([0, 1, 2, 2, 0] * 8),
    ],
    ids=["lists", "sparse", "dense", "frame", "labels", "numbers"],
)
def test_tags_of_every_kind(y: Any) -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    model = tt.TTM(2, max_iter=5, random_state=0).fit(counts, y)
    assert len(model.tag_names_) == 3
    assert model.tag_docs_.sum() >= 32
    table = model.explain(counts, y)
    assert np.isclose(table.of_document(0).credit.sum(), 3)


def test_estimators_have_few_parameters() -> None:
    assert len(tt.TTM().get_params()) <= 11
    assert len(tt.MarkovTTM().get_params()) <= 14
    for estimator in (tt.LDA, tt.ATM, tt.RTM, tt.LabeledLDA):
        assert len(estimator().get_params()) <= 12


def test_named_presets_are_presets() -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    settings: dict[str, Any] = {"max_iter": 6, "random_state": 0}
    fast = tt.Preset(word_exponent=0.75, relaxation=0.8)
    named, given = (tt.LDA(2, preset=preset, **settings).fit(counts) for preset in ("fast", fast))
    np.testing.assert_array_equal(named.components_, given.components_)
    paper = tt.Preset(relaxation=0.0, own_tokens=1e6, scales_priors=False)
    named, given = (
        tt.MarkovTTM(2, preset=preset, **settings).fit(counts, TAGS) for preset in ("paper", paper)
    )
    np.testing.assert_array_equal(named.components_, given.components_)


def test_counts_that_are_too_large_are_refused() -> None:
    with pytest.raises(tt.InputError, match=r"counts: an entry of 1e.38 is too large"):
        tt.LDA(2).fit(np.full((3, 3), 1e38))


def test_no_tags_at_all() -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    ttm = tt.TTM(2, max_iter=5, random_state=0).fit(counts)
    lda = tt.LDA(2, max_iter=5, random_state=0).fit(counts)
    np.testing.assert_array_equal(ttm.components_, lda.components_)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([["a"]], "inconsistent numbers of samples: 40 documents, tags for 1"),
        (np.full((40, 2), 3), "zeros and ones only"),
        ([[["a"]]] * 40, "document 0: each tag must be a string or a number, not a list"),
        ([{"a": 1}] * 40, "document 0: each tag must be a string or a number, not an object"),
    ],
)
def test_wrong_tags(y: Any, says: str) -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    with pytest.raises(tt.InputError, match=says):
        tt.TTM(2).fit(counts, y)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_topics": 0}, "n_topics must be a whole number from 1 to 100,000, not 0"),
        ({"n_topics": 2.5}, "n_topics must be"),
        ({"order": 0}, "order must be a whole number, 1 or more"),
        ({"pairwise_weight": -0.1}, "pairwise_weight must be a number from 0 to 1"),
        ({"pairwise_weight": 0.7, "higher_order_weight": 0.7}, "add up to 1.4"),
        ({"pairwise_weight": "auto"}, "pairwise_weight must be a number from 0 to 1, not 'auto'"),
        ({"preset": "slow"}, "preset must be 'default', 'paper', 'fast' or a Preset, not 'slow'"),
        ({"preset": None}, "preset must be"),
        ({"tag_pseudo_count": "many"}, "tag_pseudo_count must be a number from 0 to 1e"),
        ({"preset": tt.Preset(init="best")}, "init must be 'anchors' or 'random', not 'best'"),
        (
            {"preset": tt.Preset(word_exponent=2)},
            "word_exponent must be a number from 0 to 1, or None for the default, not 2",
        ),
        (
            {"doc_topic_prior": 0},
            "doc_topic_prior must be a number from 1e-09 to 1e.06, or None for the default, not 0",
        ),
        ({"topic_word_prior": float("nan")}, "topic_word_prior must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(tt.InputError, match=says):
        tt.MarkovTTM().set_params(**parameters).fit(np.eye(3))


def test_queries(planted: SyntheticCorpus) -> None:
    corpus = planted.corpus
    model = tt.TTM(6, max_iter=10, random_state=0).fit(corpus)
    assert [len(words) for words in model.top_words(4)] == [4] * 6
    related = model.related(corpus.select([3, 5]), top=3)
    assert [len(rows) for rows in related] == [3, 3]
    assert related[0][0].score >= related[0][1].score
    # a training document's inferred proportions are nearest to its own, or to one hardly different
    assert related[0][0].score > 0.95
    with pytest.raises(tt.InputError, match=r"no tag 'tag0'; did you mean"):
        model.tag_profile("tag0")
    with pytest.raises(tt.InputError, match="tags of each document are missing"):
        model.explain(corpus.counts)


def test_unknown_words_and_tags_are_told(planted: SyntheticCorpus) -> None:
    model = tt.TTM(4, max_iter=5, random_state=0).fit(planted.corpus)
    counts = np.ones((2, 2), dtype=int)
    stranger = tt.read_corpus(counts, tags=[["tag00", "new"], ["new"]])
    with pytest.warns(tt.CorpusWarning, match="unknown to the model left out"):
        proportions = model.transform(stranger, tags=stranger)
    np.testing.assert_allclose(proportions.sum(1), 1, rtol=1e-5)


def test_perplexity_of_fractional_weights_needs_all_tokens() -> None:
    model = tt.LDA(2, max_iter=5, random_state=0).fit(np.eye(4) * 1.5)
    with pytest.raises(tt.InputError, match="needs whole counts"):
        model.perplexity(np.eye(4) * 1.5)
    assert model.perplexity(np.eye(4) * 1.5, completed=False) > 1


KINDS = pd.DataFrame(
    {"author": ["Doe; Roe", "Doe", None, "Roe", "Roe"] * 8, "venue": ["A", "B", "B", "A", ""] * 8}
)


def tagged() -> tt.Corpus:
    return tt.read_corpus(KINDS.assign(text=TEXTS), tags=["author", "venue"])


def test_a_corpus_is_indexed_as_an_array_is() -> None:
    corpus = tagged()
    assert corpus.shape == (len(corpus), corpus.n_words) == (40, corpus.n_words)
    mask = np.arange(40) % 3 == 1
    for rows in (
        [3, 0, -1],
        np.array([5, 5]),
        slice(2, 30, 7),
        slice(None, None, -1),
        mask,
        mask.tolist(),
        7,
    ):
        expected = np.atleast_1d(np.arange(40)[rows])
        found = corpus[rows]
        assert found.ids == tuple(str(row) for row in expected)
        assert (found.counts != corpus.counts[expected]).nnz == (found.tags != corpus.tags[expected]).nnz == 0
    assert [corpus[row].ids for row in range(40)] == [(name,) for name in corpus.ids]
    with pytest.raises(IndexError):
        corpus[40]
    for wrong, message in (([True, False], "2 values for a mask of 40 documents"), ("a", "by row numbers")):
        with pytest.raises(tt.InputError, match=message):
            corpus[wrong]


def test_model_selection_keeps_kinds_of_tags() -> None:
    corpus = tagged()
    train, test = train_test_split(corpus, test_size=0.25, random_state=0)
    assert (len(train), len(test)) == (30, 10)
    assert set(train.ids) | set(test.ids) == set(corpus.ids)
    assert train.tag_names == ("author:Doe", "author:Roe", "venue:A", "venue:B")
    model = tt.TTM(2, max_iter=5, random_state=0, recommender=False)
    assert np.isfinite(cross_val_score(model, corpus, cv=2)).all()
    search = GridSearchCV(model, {"n_topics": [2, 3]}, cv=2).fit(corpus)
    assert search.best_estimator_.tag_kinds_ == ("author", "venue")


@pytest.mark.parametrize("frame", [KINDS, pl.from_pandas(KINDS)], ids=["pandas", "polars"])
def test_columns_of_tags_are_read_as_those_of_a_table(frame: Any) -> None:
    corpus = tagged()
    model = tt.TTM(2, max_iter=5, random_state=0).fit_topics(TEXTS, frame)
    assert model.tag_names_ == corpus.tag_names
    assert np.array_equal(model.tag_sums_, model.fit_topics(corpus).tag_sums_)
    assert np.array_equal(model.transform(TEXTS, frame), model.transform(corpus, corpus))
    search = GridSearchCV(model, {"n_topics": [2, 3]}, cv=2).fit(pd.Series(TEXTS), frame)
    assert search.best_estimator_.tag_kinds_ == ("author", "venue")


def test_commas_in_columns_of_tags_are_reported() -> None:
    frame = pd.DataFrame({"author": ["Doe, Roe", "Doe"] * 20})
    with pytest.warns(tt.CorpusWarning, match="author.*commas"):
        model = tt.TTM(2, max_iter=2).fit_topics(TEXTS, frame)
    assert model.tag_names_ == ("author:Doe", "author:Roe")


def test_truth_values_of_polars_are_an_indicator() -> None:
    frame = pl.DataFrame({"food": [True, False] * 20, "sea": [False, True] * 20})
    assert tt.TTM(2, max_iter=2).fit_topics(TEXTS, frame).tag_names_ == ("food", "sea")


@pytest.mark.parametrize("kind", [tt.TTM, tt.LDA, tt.MarkovTTM])
def test_a_model_without_a_recommender(kind: Any) -> None:
    corpus = tagged()
    model = kind(2, max_iter=2, random_state=0, recommender=False).fit(corpus)
    assert model.recommender_ is None
    with pytest.raises(tt.InputError, match="no recommender; call fit_recommender"):
        model.recommend("apple")
    assert model.fit_recommender(corpus).recommend("apple")[0]
    with pytest.raises(tt.InputError, match="recommender must be True or False, not 'no'"):
        kind(2, recommender="no").fit(corpus)


def test_a_table_without_a_text_column_points_to_read_corpus() -> None:
    with pytest.raises(tt.InputError, match=r"read_corpus\(\.\.\., text='abstract'\)"):
        tt.TTM(2).fit(pd.DataFrame({"abstract": TEXTS, "author": TEXTS}))
    with pytest.raises(tt.InputError, match="zeros and ones only; give tags as lists or strings"):
        tt.TTM(2).fit(TEXTS, pd.DataFrame({"year": [2019, 2020] * 20}))


def test_a_table_of_credit_is_printed_short() -> None:
    model = tt.TTM(2, max_iter=5, random_state=0).fit_topics(TEXTS, TAGS)
    table = model.explain(TEXTS, TAGS)
    lines = str(table).splitlines()
    assert str(table) == repr(table)
    assert lines[0].split() == ["document", "tag", "share", "words", "with", "the", "most", "credit"]
    assert len(lines) == 1 + 7 + 1  # the seven tags of five documents
    assert lines[-1] == f"({len(table):,} rows of 40 documents, 5 shown)"
    assert lines[1].split()[:3] == ["0", "food", "100%"]


def test_html_is_what_a_notebook_shows() -> None:
    model = tt.LDA(2, max_iter=2, random_state=0).fit_topics(TEXTS)
    topics = model.topic_table()._repr_html_()
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in shown
        assert shown.endswith(topics)


def test_completion_offers_public_names_only() -> None:
    assert [name for name in dir(tt) if not name.startswith("_")] == sorted({*tt.__all__, *tt.LAYER_NAMES})
    assert "registry" not in dir(tt.TTM())
    for name in ("fit", "fit_topics", "partial_fit"):  # so editors know the methods of `TTM().fit(...)`
        assert getattr(tt.TTM, name).__annotations__["return"] == "Self"


def test_few_outcomes_leave_probabilities_near_the_base_rate() -> None:
    tickets = {
        "billing": "I want a refund for my invoice",
        "login": "I cannot log in with my password",
        "bug": "The app crashes with an error",
        "shipping": "Where is my parcel and delivery",
    }
    model = tt.TTM(4, random_state=0).fit([*tickets.values()] * 30, [*tickets] * 30)
    (best, *others) = model.recommend("refund")[0]
    assert best.tag == "billing"
    assert best.probability > 0.7
    assert len(others) == 3
    assert max(one.probability for one in others) < 0.25


def test_the_matrix_of_the_caller_stays_as_it_is() -> None:
    X = sp.csr_matrix((np.array([1.0, 2, 1, 3]), np.array([3, 1, 1, 0]), np.array([0, 3, 4])), shape=(2, 4))
    before = X.data.tolist(), X.indices.tolist(), X.indptr.tolist()
    tt.LDA(2, max_iter=1).fit_topics(X)
    tt.LDA(2, max_iter=1).partial_fit(X)
    assert (X.data.tolist(), X.indices.tolist(), X.indptr.tolist()) == before


def test_no_documents_have_no_credit(planted: SyntheticCorpus) -> None:
    model = tt.TTM(2, max_iter=1, random_state=0).fit_topics(planted.corpus)
    assert len(model.explain(planted.corpus.select(np.arange(0))).credit) == 0
