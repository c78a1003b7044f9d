"""Raw text, dictionaries and data frames in place of corpora and counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV

import tagtopics as tt
from tagtopics.errors import InputError

TEXTS = ["Red apple pie", "apple tart and pie", "blue sea sky", "sky over the sea", "red sky pie"] * 3
TAGS = [["food"], ["food", "baking"], ["nature"], ["nature"], ["food", "nature"]] * 3
FRAME = pd.DataFrame({"text": TEXTS, "tags": TAGS})


def ttm() -> tt.TTM:
    return tt.TTM(2, max_iter=5, random_state=0)


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    return tt.read_corpus(TEXTS, tags=TAGS)


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> tt.TTM:
    return ttm().fit(corpus)


@pytest.mark.parametrize(
    "documents",
    [
        (TEXTS, TAGS),
        (np.array(TEXTS), TAGS),
        (pd.Series(TEXTS), TAGS),
        (FRAME, None),
        (FRAME.drop(columns="tags"), TAGS),
        (pl.from_pandas(FRAME), None),
        (FRAME.to_dict("records"), None),
    ],
    ids=["list", "array", "series", "pandas", "frame and tags", "polars", "dictionaries"],
)
def test_a_fit_to_raw_documents_is_the_fit_to_their_corpus(documents: tuple[Any, Any], model: tt.TTM) -> None:
    X, y = documents
    found = ttm().fit_topics(X, y)
    assert found.tag_names_ == model.tag_names_
    assert np.array_equal(found.components_, model.components_)
    assert found.recipe_ == model.recipe_


@pytest.mark.parametrize(
    "X", [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), FRAME, pl.from_pandas(FRAME)], ids=str
)
def test_queries_take_what_the_fit_takes(X: Any, model: tt.TTM, corpus: tt.Corpus) -> None:
    assert np.array_equal(model.transform(X), model.transform(corpus))
    assert np.array_equal(model.transform(X, TAGS), model.transform(corpus, corpus))
    assert np.array_equal(model.predict_words(X), model.predict_words(corpus))
    assert model.perplexity(X, TAGS) == model.perplexity(corpus, corpus)
    assert model.recommend(X) == model.recommend(corpus)
    assert model.related(X, 2) == model.related(corpus, 2)
    assert model.explain(X, TAGS).credit.tolist() == model.explain(corpus).credit.tolist()
    assert model.score(X) == model.score(corpus)
    assert np.array_equal(model.log_likelihood(X, X), model.log_likelihood(corpus, corpus))


def test_a_table_has_its_own_tags(model: tt.TTM, corpus: tt.Corpus) -> None:
    assert model.explain(FRAME).credit.tolist() == model.explain(corpus).credit.tolist()
    assert np.array_equal(model.transform(FRAME, FRAME), model.transform(corpus, corpus))


def test_one_text(model: tt.TTM) -> None:
    text = "Unknown words, and an APPLE pie &amp; the sky"
    assert model.transform(text).shape == (1, 2)
    assert model.recommend(text) == model.recommend(["apple pie sky"])
    both = model.explain(text, tags=["food", "nature"])
    assert both.credit.tolist() == model.explain(["apple pie sky"], [["food", "nature"]]).credit.tolist()
    assert set(model.explain(text, tags="food").tag) == {"food"}
    assert np.array_equal(model.transform(text, "inferred"), model.transform([text], "inferred"))


def test_more_documents(model: tt.TTM, tmp_path: Path) -> None:
    model.save(tmp_path / "m.tt")
    grown = tt.load(tmp_path / "m.tt").partial_fit(["a new apple", "an apple"], [["food"], ["new"]])
    assert grown.doc_ids_[-2:] == ("15", "16")
    assert "new" in grown.tag_names_
    trained = tt.load(tmp_path / "m.tt").fit_recommender(TEXTS, TAGS)
    assert trained.recommend("apple pie") == model.recommend("apple pie")


def test_columns_of_the_fit_are_used() -> None:
    rows = [{"body": text, "by": tags} for text, tags in zip(TEXTS, TAGS, strict=True)]
    fitted = ttm().fit(tt.read_corpus(rows, text="body", tags="by"))
    assert fitted.explain(rows[:2]).credit.shape == fitted.explain(TEXTS[:2], TAGS[:2]).credit.shape


def test_grid_search_over_texts() -> None:
    search = GridSearchCV(tt.LDA(max_iter=3, random_state=0), {"n_topics": [2, 3]}, cv=2).fit(TEXTS)
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda model: model.explain(TEXTS), "explain: the tags of each document are missing"),
        (lambda model: model.explain("apple"), "explain: the tags of each document are missing"),
        (lambda model: model.transform([["red", "apple"]]), "not lists of words"),
        (lambda model: model.transform({"text": TEXTS}), "not a dictionary"),
        (lambda model: model.transform(TEXTS, "food"), "tags must be the tags of each document"),
        (lambda model: model.transform(["apple", 3]), "a text must be a string, not int"),
        (lambda model: model.transform(FRAME.rename(columns={"text": "x"})), "no column 'text'"),
        (lambda model: model.explain(TEXTS, TAGS[:3]), "inconsistent numbers of samples"),
        (lambda model: ttm().fit(FRAME, TAGS), "has a column of tags, so y cannot be given"),
        (lambda model: ttm().fit(["", "12"]), "no words found"),
    ],
)
def test_mistakes(question: Any, message: str, model: tt.TTM) -> None:
    with pytest.raises(InputError, match=message):
        question(model)


def test_a_model_of_counts_reads_no_text() -> None:
    fitted = tt.LDA(2, max_iter=2, random_state=0).fit(np.eye(4))
    with pytest.raises(InputError, match="fitted to counts, so it cannot read text"):
        fitted.transform(["text"])


def test_warnings_point_at_the_code_of_the_user(model: tt.TTM, corpus: tt.Corpus) -> None:
    other = tt.read_corpus(["apple pie zebra", "sky sea zebra"], tags=[["food"], ["zoo"]])
    calls: list[Any] = [
        lambda: tt.read_corpus(["a cat", ""]),
        lambda: tt.TTM(2, max_iter=1).fit_topics(["a cat", ""]),
        lambda: model.transform(other),
        lambda: model.transform(TEXTS, [["unheard"]] * len(TEXTS)),
        lambda: model.explain(other),
        lambda: model.predict_words(TEXTS, pd.DataFrame({"unheard": [1] * len(TEXTS)})),
        lambda: model.score(other),
    ]
    for call in calls:
        with pytest.warns(tt.CorpusWarning) as found:
            call()
        assert {warning.filename for warning in found} == {__file__}


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        ([], "documents: there are none"),
        ((), "documents: there are none"),
        (pd.DataFrame(index=[0, 1]), "documents: there are none"),
        (pl.LazyFrame({"text": ["sky"]}), "call collect"),
    ],
    ids=["list", "tuple", "no columns", "lazy frame"],
)
def test_no_documents_are_one_clear_line(documents: Any, says: str, model: tt.TTM) -> None:
    for call in (lambda: tt.TTM(2).fit(documents), lambda: model.transform(documents)):
        with pytest.raises(InputError, match=says):
            call()
    with pytest.raises(InputError, match=says):
        model.explain(documents, tags=[])
