"""What a fitted model knows of tags: strengths, tag words and predictions, on planted and shuffled tags."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import mixture_reference
import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp.graph import build_graph
from tagtopics.corpus.splits import seen_part, train_test
from tagtopics.tag_prior import learn
from tagtopics.tag_prior.learn import TagSettings
from tagtopics.tag_prior.prior import Strengths

K, SWEEPS = 12, 25


class Planted(NamedTuple):
    train: tt.Corpus
    test: tt.Corpus
    model: Any


def fitted(corpus: tt.Corpus) -> Planted:
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    return Planted(train, test, tt.TTM(K, max_iter=SWEEPS, random_state=0, n_jobs=1).fit(train))


def generated(**sizes: Any) -> tt.Corpus:
    return make_tagged_corpus(**{"n_docs": 400, "n_words": 200, "doc_length": 30, "seed": 0} | sizes).corpus


@pytest.fixture(scope="module")
def planted() -> Planted:
    return fitted(generated())


@pytest.fixture(scope="module")
def shuffled() -> Planted:
    corpus = generated()
    return fitted(replace(corpus, tags=corpus.tags[np.random.default_rng(1).permutation(corpus.n_docs)]))


def small(kind: Any = tt.TTM, **parameters: Any) -> Any:
    return kind(3, max_iter=8, random_state=0, **parameters)


# ---------------------------------------------------------------------------------- what is learned


def test_topics_are_those_of_lda(planted: Planted) -> None:
    lda = tt.LDA(K, max_iter=SWEEPS, random_state=0, n_jobs=1).fit_topics(planted.train)
    np.testing.assert_array_equal(planted.model.components_, lda.components_)


def test_planted_tags_have_strengths(planted: Planted) -> None:
    hidden, known = planted.model.settings_.hidden, planted.model.settings_.known
    assert sum(known.mean) + known.joint > 1
    assert (hidden.mean, hidden.joint, hidden.words) == ((0.0,), 0.0, (0.0,))


def test_shuffled_tags_have_none(shuffled: Planted) -> None:
    settings = shuffled.model.settings_
    assert settings.known == settings.hidden
    hidden = shuffled.model.perplexity(shuffled.test)
    assert shuffled.model.perplexity(shuffled.test, shuffled.test) == pytest.approx(hidden, rel=3e-3)


@pytest.mark.parametrize("n_topics", [2, 6])
def test_shuffled_tags_have_none_if_any_further_component_helps(n_topics: int) -> None:
    corpus = generated(n_docs=300, n_words=100, doc_length=800)  # long documents and too few topics
    mixed = replace(corpus, tags=corpus.tags[np.random.default_rng(1).permutation(corpus.n_docs)])
    settings = tt.TTM(n_topics, max_iter=15, random_state=0).fit_topics(mixed).settings_
    assert settings.known == settings.hidden


@pytest.mark.parametrize("seen", [0.0, 0.05, 0.8])
def test_known_tags_that_tell_something_predict_words(planted: Planted, seen: float) -> None:
    hidden = planted.model.perplexity(planted.test, seen=seen)
    known = planted.model.perplexity(planted.test, planted.test, seen=seen)
    assert known < (0.9 if seen < 0.1 else 1.0) * hidden


def test_tag_words_are_some_of_the_words_of_their_documents(planted: Planted) -> None:
    words, train = planted.model.tag_words_, planted.train
    together = (train.tags.T.astype(np.float64) @ train.counts).toarray()
    assert words.shape == together.shape
    assert (words.toarray() <= together + 1e-3).all()
    assert words.data.min() >= 0


def test_tag_words_of_too_few_tokens_are_dropped(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    every = planted.model.tag_words_
    monkeypatch.setattr(learn, "_LEAST", 0.5)
    found = tt.TTM(K, max_iter=SWEEPS, random_state=0, n_jobs=1).fit_topics(planted.train).tag_words_
    assert 0 < found.nnz < every.nnz
    np.testing.assert_array_equal(found.toarray(), np.where(every.toarray() < 0.5, 0, every.toarray()))


def test_kinds_of_tags_have_strengths_of_their_own(tmp_path: Path) -> None:
    corpus = generated(n_docs=120)
    names = tuple(f"{'author' if t % 2 else 'venue'}:{name}" for t, name in enumerate(corpus.tag_names))
    model = small().fit_topics(replace(corpus, tag_names=names))
    assert len(model.settings_.known.mean) == len(model.settings_.known.words) == 2
    model.save(tmp_path / "m.tt")
    assert tt.load(tmp_path / "m.tt").settings_ == model.settings_


# ---------------------------------------------------------------------------------- prediction


def seen_and_held_out(planted: Planted) -> tuple[Any, Any]:
    return seen_part(planted.test.counts, 0, 0.2)


@pytest.mark.parametrize("how", ["hidden", "known", "inferred"])
def test_probabilities_of_words_add_up_and_are_those_of_the_likelihood(planted: Planted, how: str) -> None:
    seen, held_out = seen_and_held_out(planted)
    tags: Any = {"hidden": None, "known": planted.test.tags, "inferred": "inferred"}[how]
    words = planted.model.predict_words(seen, tags)
    assert words.shape == held_out.shape
    assert (words > 0).all()
    np.testing.assert_allclose(words.sum(1, dtype=np.float64), 1, rtol=1e-5)
    found = planted.model.log_likelihood(seen, held_out, tags)
    logs = np.log(words.astype(np.float64))
    np.testing.assert_allclose(found, np.asarray((held_out.toarray() * logs).sum(1)), rtol=1e-4)
    total = np.exp(-found.sum() / held_out.sum())
    given = planted.test if how == "known" else tags
    assert planted.model.perplexity(planted.test, given, seen=0.2) == pytest.approx(total, rel=1e-9)


def test_tags_alone_say_what_is_written_about(planted: Planted) -> None:
    model, names = planted.model, list(planted.model.tag_names_)
    nothing = np.zeros((2, len(model.vocabulary_)), dtype=int)
    words = model.predict_words(nothing, [[names[6]], [names[7]]])
    np.testing.assert_allclose(words.sum(1, dtype=np.float64), 1, rtol=1e-5)
    frequency = np.asarray(planted.train.counts.sum(0), dtype=np.float64) + 0.05
    plain = np.log(frequency / frequency.sum())
    for row, tag in zip(words, (6, 7), strict=True):
        of_tag = np.flatnonzero(planted.test.tags[:, [tag]].toarray().ravel())
        written = np.asarray(planted.test.counts[of_tag].sum(0), dtype=np.float64)
        assert written @ np.log(row.astype(np.float64)) > written @ plain


def test_documents_without_tags_have_the_hidden_prior(planted: Planted) -> None:
    """Words are predicted with the learned prior; proportions, which are compared, have the given alpha."""
    model = planted.model
    nothing = np.zeros((2, len(model.vocabulary_)), dtype=int)
    hidden = model.settings_.hidden
    prior = hidden.flat / K + hidden.base * model.topic_shares()
    untold: tuple[Any, ...] = (None, [[], []])
    for tags in untold:
        words = model.predict_words(nothing, tags)
        np.testing.assert_allclose(words, [prior / prior.sum() @ model.components_] * 2, rtol=1e-4)
        np.testing.assert_allclose(model.transform(nothing, tags), 1 / K, rtol=1e-4)
    untagged = sp.csr_array(planted.test.tags.shape, dtype=np.int8)
    hidden = model.perplexity(planted.test.counts)
    assert model.perplexity(planted.test.counts, untagged) == pytest.approx(hidden, rel=1e-9)


def test_inferred_tags_need_a_recommender(planted: Planted) -> None:
    model = small().fit_topics(generated(n_docs=60))
    with pytest.raises(tt.InputError, match="inferred tags need a recommender"):
        model.perplexity(planted.test, "inferred")
    with pytest.raises(tt.InputError, match="tags must be the tags of each document, or 'inferred'"):
        model.transform(planted.test, "guessed")


def test_other_words_to_predict_than_documents(planted: Planted) -> None:
    seen, held_out = seen_and_held_out(planted)
    with pytest.raises(tt.InputError, match="log_likelihood: 80 documents seen, but 79 to predict"):
        planted.model.log_likelihood(seen, held_out[:79])


# ---------------------------------------------------------------------------------- little to learn from


def assert_answers(model: Any, counts: Any, tags: Any) -> None:
    for rows in (model.transform(counts, tags), model.predict_words(counts, tags)):
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(1, dtype=np.float64), 1, rtol=1e-5)
    assert np.isfinite(model.explain(counts, tags).credit).all()
    assert np.isfinite(model.tag_words_.data).all()


COUNTS = np.random.default_rng(0).poisson(0.4, (60, 20))


@pytest.mark.parametrize(
    ("counts", "tags", "learned"),
    [
        (COUNTS[:49], [["a"], ["b"]] * 24 + [["a", "b"]], False),
        (COUNTS, [[]] * 60, False),
        (COUNTS, [["a"]] + [[]] * 59, True),
        (COUNTS, [[f"t{d}"] for d in range(60)], True),
        (COUNTS * 0.5, [["a"], ["b"]] * 30, False),
        (COUNTS + 10**8, [["a"], ["b"]] * 30, False),
        (np.eye(60, 20, dtype=int), [["a"], ["b"]] * 30, True),
        (np.zeros((60, 20), dtype=int), [["a"], ["b"]] * 30, True),
    ],
    ids=[
        "49 documents",
        "no tags",
        "a tag of one",
        "tags of one",
        "weights",
        "too many",
        "one token",
        "no words",
    ],
)
def test_little_to_learn_from(counts: Any, tags: Any, learned: bool) -> None:
    model = small().fit_topics(counts, tags)
    assert_answers(model, counts, tags)
    default = model.settings_.hidden.flat == pytest.approx(0.3) and model.settings_.hidden.base == 0
    if not learned:
        assert default
        assert sum(model.settings_.known.mean) == pytest.approx(5.0)


def test_one_topic(planted: Planted) -> None:
    model = tt.TTM(1, max_iter=3, random_state=0).fit_topics(planted.train)
    assert_answers(model, planted.test.counts, planted.test.tags)


# ---------------------------------------------------------------------------------- credit


def credits(model: Any, corpus: tt.Corpus, strengths: tuple[float, ...]) -> Any:
    """Return p(tag | word, document) with given strengths of the words of tags, one number for each claim."""
    inference, tags = model.tag_prior_, corpus.tags
    settings = inference.settings
    settings = settings._replace(known=settings.known._replace(words=strengths))
    found = replace(inference, settings=settings).infer(corpus.counts, tags)
    graph = build_graph(corpus.counts, tags)
    said = inference._claim_probabilities(graph)
    means = inference.profiles.means
    return mixture_reference.credit_claims(graph, inference.phi, said, found.topics, found.tags.data, means)[
        0
    ]


def test_credit_asks_the_words_of_tags_even_if_they_do_not_help_to_predict(shuffled: Planted) -> None:
    model, corpus = shuffled.model, shuffled.test.select(np.arange(20))
    assert model.settings_.known.words == (0.0,)
    found = model.explain(corpus).credit
    np.testing.assert_allclose(found, credits(model, corpus, (10.0,)), atol=1e-5)
    assert np.abs(found - credits(model, corpus, (0.0,))).max() > 0.01


def test_credit_uses_the_strengths_that_were_learned(planted: Planted) -> None:
    known = Strengths(1.0, 1.0, (1.0, 1.0), 1.0, (0.0, 0.5))
    assert TagSettings(known, known, 10.0).credit_strengths == (0.0, 0.5)
    model, corpus = planted.model, planted.test.select(np.arange(20))
    expected = credits(model, corpus, model.settings_.credit_strengths)
    np.testing.assert_allclose(model.explain(corpus).credit, expected, atol=1e-5)


def test_credit_of_the_paper_comes_from_topics_alone(planted: Planted) -> None:
    model, corpus = small(tt.MarkovTTM).fit_topics(planted.train), planted.test.select(np.arange(20))
    np.testing.assert_allclose(model.explain(corpus).credit, credits(model, corpus, (0.0,)), atol=1e-5)


# ---------------------------------------------------------------------------------- equal bits


def answers(model: Any, corpus: tt.Corpus) -> list[Any]:
    explained = model.explain(corpus)
    return [
        model.transform(corpus, corpus),
        model.transform(corpus),
        model.predict_words(corpus, corpus),
        explained.credit,
        model.tag_words_.toarray(),
        np.array([model.settings_.shrinkage, *model.settings_.known.topics, *model.settings_.known.words]),
    ]


def assert_equal_bits(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_saved_and_loaded_it_answers_the_same(planted: Planted, tmp_path: Path) -> None:
    planted.model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.settings_ == planted.model.settings_
    assert_equal_bits(answers(loaded, planted.test), answers(planted.model, planted.test))
    inferred = [model.predict_words(planted.test, "inferred") for model in (loaded, planted.model)]
    np.testing.assert_array_equal(*inferred)


@pytest.mark.parametrize("memory", ["stored", "lean"])
def test_the_same_bits_at_any_number_of_threads(planted: Planted, memory: str) -> None:
    first, *others = (
        answers(small(memory=memory, n_jobs=n).fit_topics(planted.train), planted.test) for n in (1, 2, 3)
    )
    for other in others:
        assert_equal_bits(other, first)


def test_known_tags_of_the_paper_are_worth_five_tokens(planted: Planted) -> None:
    """Five tokens of their mean profile are added to the prior."""
    model = small(tt.MarkovTTM).fit_topics(planted.train)
    tags = planted.test.tags
    nothing = np.zeros((tags.shape[0], len(model.vocabulary_)), dtype=int)
    n_tags = np.asarray(tags.sum(1)).reshape(-1, 1)
    prior = model.doc_topic_prior_ + 5.0 * (tags @ model.tag_means()) / np.maximum(n_tags, 1)
    np.testing.assert_allclose(model.transform(nothing, tags), prior / prior.sum(1, keepdims=True), rtol=1e-4)
    words = model.predict_words(planted.test, planted.test)
    np.testing.assert_allclose(
        words, model.transform(planted.test, planted.test) @ model.components_, rtol=1e-4
    )
