"""Tables of a model in notebooks."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest

import tagtopics as tt

pytest_plugins = ("explore_fixtures",)


def test_table_of_topics(model: tt.TTM) -> None:
    table = model.topic_table(4)
    assert sorted(table.topic) == list(range(5))
    assert list(table.share) == sorted(table.share, reverse=True)
    assert sum(table.share) == pytest.approx(1)
    assert table.words[0] == tuple(word for word, _ in model.top_words(4)[table.topic[0]])
    assert len(table.to_dict()["words"]) == len(table) == str(table).count("\n") + 1


def test_html_escapes_words(hostile_model: tt.TTM) -> None:
    html = hostile_model.topic_table(50)._repr_html_()
    assert "<script>" not in html
    assert escape("<script>window.pwned=1</script>") in html


def test_explained_documents_show_the_shares_of_their_tags(model: tt.TTM, corpus: tt.Corpus) -> None:
    table = model.explain(corpus.select([0, 1]))
    html = table._repr_html_()
    for doc in (0, 1):
        own = table.of_document(doc)
        for tag in set(own.tag.tolist()):
            mine = own.tag == tag
            share = (own.count * own.credit)[mine].sum() / (own.count * own.credit).sum()
            assert f">{tag}</td><td style='text-align:right'>{share:.0%}</td>" in html
            best = np.argmax(np.where(mine, own.count * own.credit, -1))
            assert f"{own.word[best]} {own.credit[best]:.2f}" in html
    assert "9.000" not in html
    assert "5 shown" in model.explain(corpus)._repr_html_()


def test_profiles_of_tags_show_shares(model: tt.TTM) -> None:
    profile = model.tag_profile("place:sea", "also:kitchen")
    html = profile._repr_html_()
    assert f"{profile.topics.max():.1%}" in html
    assert f"place:sea ({profile.n_docs[0]} documents)" in html


def test_notebook_shows_topics_of_fitted_models_only(model: tt.TTM) -> None:
    assert ">share</th>" in model._repr_mimebundle_()["text/html"]
    assert ">share</th>" not in tt.TTM(n_topics=5)._repr_mimebundle_()["text/html"]
