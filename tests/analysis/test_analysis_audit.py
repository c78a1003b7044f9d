"""`tt.audit`: the findings, their order and reasons, and odd collections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from changed_tags import apply_changes
from tagtopics.analysis.audit.changes import KINDS, Change
from tagtopics.errors import InputError


@pytest.fixture(scope="module")
def papers() -> tuple[tt.Corpus, Any]:
    docstrings = tt.load_dataset("docstrings")
    corpus = docstrings.select(np.arange(0, docstrings.n_docs, 8))
    return corpus, tt.TTM(10, random_state=0, max_iter=20).fit(corpus)


def test_findings_are_sorted_and_complete(papers: tuple[tt.Corpus, Any]) -> None:
    corpus, model = papers
    found = tt.audit(model, corpus)
    order = [KINDS.index(finding.kind) for finding in found]
    assert order == sorted(order)
    for kind in KINDS:
        mine = [finding for finding in found if finding.kind == kind]
        assert [f.score for f in mine] == sorted((f.score for f in mine), reverse=True)
        for finding in mine:
            assert 0.05 <= finding.score <= 1
            assert finding.tag in corpus.tag_names
            assert (finding.document is not None) == (kind in ("doubtful", "missing", "implied"))
            assert (finding.other is not None) == (kind in ("duplicate", "implied"))
            if finding.row is not None:
                assert corpus.ids[finding.row] == finding.document
                has = finding.tag in corpus.tags_of(finding.row)
                assert has == (kind == "doubtful")
                words = {corpus.vocabulary[w] for w in corpus.counts[[finding.row]].indices}
                assert words.isdisjoint(finding.words) == (kind == "doubtful") or not finding.words
    assert tt.audit(model, corpus) == found


def test_the_model_and_corpus_stay_as_they_are(papers: tuple[tt.Corpus, Any]) -> None:
    corpus, model = papers
    before = model.recommender_
    tt.audit(model, corpus, kinds=["doubtful"])
    assert model.recommender_ is before


def test_proposed_changes_can_be_applied(papers: tuple[tt.Corpus, Any]) -> None:
    corpus, model = papers
    found = tt.audit(model, corpus, kinds=["doubtful", "missing", "duplicate"])
    chosen = {Change(f.change, f.tag, f.document, f.row) for f in found if f.change != "merge"}
    rare = corpus.tag_names[int(np.argmin(corpus.tags.sum(0)))]
    row = next(d for d in range(corpus.n_docs) if rare not in corpus.tags_of(d))
    chosen |= {Change("add", rare, corpus.ids[row], row)}  # an audit may find nothing
    expected = _taggings(corpus)
    for c in chosen:
        this = {(c.document, c.tag)}
        expected = expected - this if c.change == "remove" else expected | this
    assert _taggings(apply_changes(corpus, list(chosen))) == expected != _taggings(corpus)


def _taggings(corpus: tt.Corpus) -> set[tuple[str | None, str]]:
    tags = corpus.tags.tocoo()
    return {(corpus.ids[d], corpus.tag_names[t]) for d, t in zip(tags.row, tags.col, strict=True)}


def test_other_documents_get_a_recommender_of_their_own(papers: tuple[tt.Corpus, Any]) -> None:
    """A corpus that the model was not fitted to: its own tags, rows in another order."""
    corpus, model = papers
    some = corpus.select(np.arange(corpus.n_docs)[::-1][:150])
    renamed = replace(some, tag_names=tuple(f"new {name}" for name in some.tag_names))
    found = tt.audit(model, renamed)
    assert {f.tag for f in found} <= set(renamed.tag_names)
    untrained = tt.TTM(10, random_state=0, max_iter=20).fit_topics(corpus)
    assert {f.kind for f in tt.audit(untrained, corpus)} == {f.kind for f in tt.audit(model, corpus)}


def test_names_of_a_thesaurus_are_evidence() -> None:
    """Tags that are numbers, with names in a thesaurus, are judged as tags that are names."""
    docstrings = tt.load_dataset("docstrings")
    plain = docstrings.select(np.arange(0, docstrings.n_docs, 8))
    kept = np.array([":" in name for name in plain.tag_names])
    names = [name.replace(":", " ").replace(".", " ") for name in plain.tag_names]
    texts = [" ".join(np.repeat(plain.vocabulary, row)) for row in plain.counts.toarray()]
    named = replace(plain, texts=tuple(texts), tag_names=tuple(names))
    ids = tuple(f"n{i}" for i in range(len(names)))
    numbered = tt.with_thesaurus(replace(named, tag_names=ids), dict(zip(ids, names, strict=True)))
    assert kept.any()
    model = tt.TTM(10, random_state=0, max_iter=20).fit_topics(plain)
    kinds = ["doubtful", "missing", "duplicate"]
    found = [
        [(f.kind, f.row, f.score) for f in tt.audit(model, corpus, kinds=kinds)]
        for corpus in (named, numbered)
    ]
    assert found[0] == found[1] != []


def test_refused_findings_are_not_found_again(papers: tuple[tt.Corpus, Any]) -> None:
    corpus, model = papers
    found = tt.audit(model, corpus)
    refused = [Change(f.change, f.tag, f.document, f.row, f.other) for f in found[::2]]
    again = tt.audit(model, corpus, refused=refused)
    assert 0 < len(again) < len(found)
    assert set(again) <= set(found[1::2])
    assert {f.kind for f in found[1::2]} == {f.kind for f in again}


@pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning")
@pytest.mark.parametrize(
    "lists",
    [
        [[], [], []],
        [["a"], [], []],
        [["a"], ["a"], ["a"]],
        [["a", "\u202e🦊"], ["🦊\u0301", ""], ["<b>&amp;"]],
    ],
)
def test_odd_collections(lists: list[list[str]]) -> None:
    corpus = tt.read_corpus(["red apple", "", "green pear and apple"], tags=lists)
    model = tt.TTM(2, random_state=0, max_iter=3).fit(corpus)
    for finding in tt.audit(model, corpus, min_score=0):
        assert 0 <= finding.score <= 1
        assert finding.row != 1 or finding.kind not in ("doubtful", "missing")


def test_mistakes_are_told(papers: tuple[tt.Corpus, Any]) -> None:
    corpus, model = papers
    for wrong in ({"kinds": ["strange"]}, {"kinds": "missing"}, {"min_score": 2.0}, {"n_words": -1}):
        with pytest.raises(InputError):
            tt.audit(model, corpus, **wrong)
