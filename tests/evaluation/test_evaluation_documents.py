"""Classification and links: planted answers, and definitions as slow twins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.synthetic import make_tagged_corpus
from tagtopics import LDA, TTM, Corpus, InputError
from tagtopics.evaluation.fitted_split import FittedSplit, fit_split
from tagtopics.evaluation.prediction import (
    _append_tags,
    _draw_pairs,
    _shared_tags,
    evaluate_classification,
    evaluate_links,
    linked_pairs,
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(
        n_docs=400, n_words=200, n_groups=0, n_topics=8, n_tags=8, tags_per_doc=1, seed=2
    ).corpus


def test_planted_classes_are_found_and_unlabelled_documents_counted(corpus: Corpus) -> None:
    labels = tuple(None if d % 10 == 0 else corpus.tags_of(d)[0] for d in range(corpus.n_docs))
    labelled = replace(corpus, labels=labels)
    result = evaluate_classification(labelled, TTM(8, random_state=0, max_iter=30), per_class=20)
    metrics = result["metrics"]
    assert metrics["accuracy"] > 0.9 > metrics["largest_class"]
    assert metrics["n_without_label"] == 40
    assert metrics["n_train"] <= 20 * metrics["n_classes"]


def test_labels_that_mean_nothing_are_not_found(corpus: Corpus) -> None:
    labels = tuple(np.random.default_rng(0).choice(["a", "b"], corpus.n_docs).tolist())
    result = evaluate_classification(replace(corpus, labels=labels), TTM(8, random_state=0, max_iter=10))
    assert 0.3 < result["metrics"]["accuracy"] < 0.7


def test_classification_needs_labels(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="no labels"):
        evaluate_classification(replace(corpus, labels=None), TTM(2))


def test_links_are_pairs_with_a_common_tag() -> None:
    corpus = make_tagged_corpus(n_docs=30, seed=0).corpus
    slow = [
        [i, j] for i in range(30) for j in range(i + 1, 30) if set(corpus.tags_of(i)) & set(corpus.tags_of(j))
    ]
    assert linked_pairs(corpus, given=False).tolist() == slow


def test_planted_links_are_found(corpus: Corpus) -> None:
    result = evaluate_links(corpus, TTM(8, random_state=0, max_iter=30))
    assert result["metrics"]["f1"] > 0.9


def test_links_at_random_are_not_found(corpus: Corpus) -> None:
    links = sp.csr_array(sp.random(400, 400, density=0.02, random_state=0) > 0, dtype=np.int8)
    result = evaluate_links(replace(corpus, links=links), TTM(8, random_state=0, max_iter=10), given=True)
    assert result["metrics"]["accuracy"] < 0.62


def test_training_documents_do_not_know_their_own_tags(corpus: Corpus) -> None:
    bare = corpus.tags.tolil()
    bare[:5] = 0  # documents without tags are like new ones
    train = replace(corpus, tags=sp.csr_array(bare, dtype=corpus.tags.dtype))
    model = TTM(8, random_state=0, max_iter=10).fit(train)
    left_out, knowing = model.leave_one_out_tags(train), model.tag_probabilities(train)
    np.testing.assert_array_equal(left_out[:5], knowing[:5])
    assert model.recommender_ is not None
    again = model.recommender_.leave_one_out(np.arange(len(model.recommender_.rows)))
    np.testing.assert_array_equal(left_out[5:], again)
    assert (left_out[5:] != knowing[5:]).any(1).mean() > 0.9
    by_tags = model.topics_given_tags(train, knowing)
    np.testing.assert_array_equal(by_tags, model.transform(train, "inferred"))
    np.testing.assert_array_equal(knowing, model.tag_probabilities(train))  # the question was not changed


def test_links_see_the_tags_that_two_documents_are_expected_to_share() -> None:
    generator = np.random.default_rng(0)
    likely = generator.random((40, 7)).astype(np.float32)
    pairs = generator.integers(40, size=(600, 2))
    slow = [np.log(sum(float(likely[i, t]) * float(likely[j, t]) for t in range(7))) for i, j in pairs]
    np.testing.assert_allclose(_shared_tags(likely, pairs)[:, 0], slow, rtol=1e-6)


def test_tags_beside_topics_vary_as_much_as_these(corpus: Corpus) -> None:
    generator = np.random.default_rng(0)
    topics, tags = generator.random((50, 4)), 20 * generator.random((50, 9)) + 3

    def append(likely: Any) -> tuple[Any, Any]:
        shown: tuple[Any, Any] = topics, topics[:10]
        split = FittedSplit(corpus, corpus, *shown, 0.0, likely, likely[:10])
        rows = np.arange(50), np.arange(10)
        return _append_tags(split, topics, topics[:10], lambda of_docs, some: of_docs[some], rows)

    train, test = append(tags)
    assert train[:, 4:].var(0).sum() == pytest.approx(topics.var(0).sum(), rel=1e-5)
    np.testing.assert_allclose(train[:, :4], topics, rtol=1e-6)
    np.testing.assert_array_equal(train[:10], test)
    assert not append(np.ones((50, 1)))[0][:, 4:].any()


def test_inferred_tags_tell_links_and_classes_that_topics_do_not(corpus: Corpus) -> None:
    labelled = replace(corpus, labels=tuple(corpus.tags_of(d)[0] for d in range(corpus.n_docs)))
    ours, lda = (make(2, random_state=0, max_iter=20) for make in (TTM, LDA))  # too few topics
    assert (
        evaluate_links(labelled, ours)["metrics"]["f1"] > evaluate_links(labelled, lda)["metrics"]["f1"] + 0.1
    )
    found, plain = (evaluate_classification(labelled, model)["metrics"] for model in (ours, lda))
    assert found["accuracy"] > plain["accuracy"] + 0.1


def test_known_tags_add_to_what_words_say_of_tags(corpus: Corpus) -> None:
    model = TTM(2, random_state=0, max_iter=20)
    hidden, known = (fit_split(corpus, model, seed=0, tags_known=known) for known in (False, True))
    assert known.train_tags is not None
    assert known.test_tags is not None
    np.testing.assert_array_equal(known.train_tags, hidden.train_tags)
    np.testing.assert_array_equal(known.test_tags, hidden.test_tags)
    np.testing.assert_array_equal(known.test_topics, model.transform(known.test, known.test))
    assert (known.test_topics != hidden.test_topics).any()


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_auc_of_links_is_scikit_learns(corpus: Corpus, power: float) -> None:
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import SVC

    model = LDA(2, random_state=0, max_iter=5)
    metrics = evaluate_links(corpus, model, power=power)["metrics"]
    split, generator = fit_split(corpus, model, 0, tags_known=False), np.random.default_rng(0)
    features, linked = [], []
    for part, theta in ((split.train, split.train_topics), (split.test, split.test_topics)):
        pairs, answers = _draw_pairs(part, False, generator, "any")
        features.append((theta[pairs[:, 0]] * theta[pairs[:, 1]]) ** power)
        linked.append(answers)
    scores = SVC(C=10.0, gamma="scale").fit(features[0], linked[0]).decision_function(features[1])
    assert metrics["auc"] == roc_auc_score(linked[1], scores)
    assert 0.5 < metrics["auc"] < 1.0
