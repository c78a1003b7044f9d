"""The recommender: its algebra against brute force, planted tags, saving, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from tagtopics import LDA, TTM, Corpus, CorpusWarning, InputError, load, make_tagged_corpus, read_corpus
from tagtopics.recommend import recommender as recommenders
from tagtopics.recommend.calibration import (
    best_threshold,
    fair_handicap,
    logistic_weights,
    picked,
)
from tagtopics.recommend.ridge import chi2_features, dot_products, exact_ridge, landmark_ridge
from tagtopics.tasks import evaluate_recommendation
from tagtopics.tasks.recommendation import SYSTEMS, per_tag


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(n_docs=300, n_words=200, n_groups=0, n_topics=8, n_tags=8, seed=2).corpus


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> TTM:
    return TTM(8, random_state=0, max_iter=30).fit(corpus.select(range(200)))


def test_features_approximate_the_chi_squared_kernel() -> None:
    counts = np.random.default_rng(0).poisson(2.0, (20, 15)) + np.eye(20, 15, dtype=int)
    shares = counts / counts.sum(1, keepdims=True)
    pairs = shares[:, np.newaxis], shares[np.newaxis]
    exact = (2 * pairs[0] * pairs[1] / np.maximum(pairs[0] + pairs[1], 1e-12)).sum(2)
    features = chi2_features(sp.csr_array(counts))
    assert np.abs(dot_products(features, features) - exact).max() < 0.05


def _kernel_and_targets() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 3))
    kernel = np.exp(-((points[:, np.newaxis] - points) ** 2).sum(2)).astype(np.float32)
    return kernel, rng.normal(size=(40, 2)).astype(np.float32)


def test_leave_one_out_is_a_fit_without_the_document() -> None:
    kernel, targets = _kernel_and_targets()
    left_out = exact_ridge(kernel.copy(), targets, 0.1).left_out
    for i in range(len(kernel)):
        rest = np.delete(np.arange(len(kernel)), i)
        slow = np.linalg.solve(kernel[np.ix_(rest, rest)] + 0.1 * np.eye(len(rest)), targets[rest])
        assert left_out[i] == pytest.approx(kernel[i, rest] @ slow, abs=1e-3)


def test_landmarks_that_are_all_documents_give_the_exact_answer() -> None:
    kernel, targets = _kernel_and_targets()
    rows = np.arange(len(kernel))
    exact = exact_ridge(kernel.copy(), targets, 0.1)
    sparse = landmark_ridge(
        lambda r: kernel[r].astype(np.float64), rows, lambda r: targets[r], 0.1, (len(rows), rows)
    )
    assert kernel @ sparse.coefficients == pytest.approx(kernel @ exact.coefficients, abs=5e-3)
    assert sparse.left_out == pytest.approx(exact.left_out, abs=3e-2)


def test_calibration_finds_its_optimum() -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    outcomes = rng.random(500) < expit(columns @ np.array([-0.5, 2.0, -1.0]))
    weights = logistic_weights(columns, outcomes)
    gradient = columns.T @ (expit(columns @ weights) - outcomes) + np.array([0, 1, 1]) * weights
    assert np.abs(gradient).max() < 1e-6
    assert weights == pytest.approx([-0.5, 2.0, -1.0], abs=0.5)


@pytest.mark.parametrize("outcome", [True, False])
def test_calibration_of_one_kind_of_outcome(outcome: bool) -> None:
    weights = logistic_weights(np.ones((50, 3)), np.full(50, outcome))
    assert expit(weights[0]) == pytest.approx(0.99 if outcome else 0.01, abs=0.01)
    assert weights[1:].tolist() == [0, 0]


def test_documents_with_very_many_tags_keep_the_recommender_small() -> None:
    """The matrix of connected tags is linear in the number of taggings."""
    carried = np.vstack([np.ones((1, 3000)), np.eye(20, 3000), np.eye(20, 3000)])
    carried[1, 1] = 1
    tags = sp.csr_array(carried, dtype=np.int8)
    counts = sp.csr_array(np.random.default_rng(0).poisson(1.0, (41, 30)) + 1)
    theta = np.full((41, 2), 0.5, dtype=np.float32)
    fitted = recommenders.fit_recommender(counts, tags, theta, tuple(f"t{t}" for t in range(3000)))
    assert fitted.company.nnz == 2
    assert fitted.company.nnz <= recommenders.MOST_COMPANY * tags.nnz


def test_moments_in_double_precision_are_positive_definite() -> None:
    """Documents that are nearly equal: in single precision the sum of products is not positive definite."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 2)) * 0.02
    rows = np.arange(200)

    def kernel_of(chosen: np.ndarray) -> np.ndarray:
        distance = ((points[chosen][:, np.newaxis] - points[rows]) ** 2).sum(2)
        return np.asarray(np.exp(-distance), dtype=np.float32)

    fitted = landmark_ridge(kernel_of, rows, lambda r: points[r].astype(np.float32), 0.1, (4000, rows))
    assert np.isfinite(fitted.coefficients).all()
    assert fitted.left_out == pytest.approx(points[rows], abs=0.02)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_bits_do_not_depend_on_the_threads_of_linear_algebra(corpus: Corpus, n_threads: int) -> None:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=n_threads):
        fitted = LDA(8, random_state=0, max_iter=5).fit(corpus)
        likely = fitted.tag_probabilities(corpus)
    again = LDA(8, random_state=0, max_iter=5).fit(corpus)
    assert again.recommender_ is not None
    assert fitted.recommender_ is not None
    assert np.array_equal(again.recommender_.coefficients, fitted.recommender_.coefficients)
    assert np.array_equal(again.tag_probabilities(corpus), likely)


def test_balance_gives_rare_tags_their_turn_and_orders_by_probability() -> None:
    likely = np.array([[0.9, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09]], dtype=np.float32)
    frequency = np.array([0.5, 0.4, 0.3, 0.3, 0.3, 0.3, 0.001])
    assert picked(likely, np.ones(7), 5).tolist() == [[0, 1, 2, 3, 4]]
    balanced = picked(likely, frequency**0.5, 5)[0].tolist()
    assert 6 in balanced
    assert balanced == sorted(balanced, key=lambda t: -likely[0, t])
    assert picked(likely, frequency**0.5, 1).tolist() == [[0]]
    assert picked(likely, frequency**4, 5)[0, 0] == 0  # the most probable is never left out


def test_fair_lists_reach_more_tags_and_keep_their_precision() -> None:
    rng = np.random.default_rng(4)
    frequency = 0.6 / np.arange(1, 41)
    likely = np.clip(frequency * np.exp(rng.normal(0, 0.8, (800, 40))), 0, 0.95).astype(np.float32)
    truth = rng.random(likely.shape) < likely
    handicap = fair_handicap(likely, truth, frequency)
    plain, fair = (picked(likely, h, 5) for h in (np.ones(40), handicap))
    hits = [np.take_along_axis(truth, lists, axis=1).mean() for lists in (plain, fair)]
    assert 0.95 * hits[0] <= hits[1] <= hits[0]
    assert len(np.unique(fair)) > len(np.unique(plain))
    recall = [per_tag(truth, lists)["recall"] for lists in (plain, fair)]
    assert recall[1] > recall[0]


def test_without_a_fair_list_that_is_precise_enough_probability_decides() -> None:
    likely = np.array([[0.9, 0.8, 0.7, 0.6, 0.5, 1e-4]] * 4, dtype=np.float32)
    truth = np.array([[True] * 5 + [False]] * 4)
    handicap = fair_handicap(likely, truth, np.array([0.9, 0.8, 0.7, 0.6, 0.5, 1e-4]))
    assert picked(likely, handicap, 5).tolist() == [[0, 1, 2, 3, 4]] * 4


def test_threshold_has_the_best_f_measure() -> None:
    rng = np.random.default_rng(3)
    likely = rng.random((20, 5)).astype(np.float32)
    truth = rng.random((20, 5)) < likely

    def f_measure(threshold: float) -> float:
        predicted = likely >= threshold
        return float(2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()))

    assert f_measure(best_threshold(likely, truth)) == max(f_measure(float(x)) for x in likely.ravel())


def test_planted_tags_are_found(corpus: Corpus, model: TTM) -> None:
    test = corpus.select(range(200, 300))
    answers = model.recommend(test, top=1)
    hits = [answer[0].tag in test.tags_of(d) for d, answer in enumerate(answers)]
    assert np.mean(hits) > 0.95


def test_probabilities_are_calibrated(corpus: Corpus, model: TTM) -> None:
    test = corpus.select(range(200, 300))
    likely = model.tag_probabilities(test)
    assert likely.sum() == pytest.approx(test.tags.nnz, rel=0.15)


def test_reasons_are_words_of_the_document(corpus: Corpus, model: TTM) -> None:
    test = corpus.select(range(200, 230))
    for d, answer in enumerate(model.recommend_with_reasons(test, top=2, n_words=4)):
        words = {test.vocabulary[w] for w in test.counts[[d]].indices}
        for found in answer:
            strengths = [strength for _, strength in found.words]
            assert {word for word, _ in found.words} <= words
            assert strengths == sorted(strengths, reverse=True)
            assert all(strength > 0 for strength in strengths)
        assert answer[0].words


def test_many_documents_are_compared_with_landmarks(
    corpus: Corpus, model: TTM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recommenders, "_MOST_EXACT", 100)
    monkeypatch.setattr(recommenders, "_LANDMARKS", 80)
    train, test = corpus.select(range(200)), corpus.select(range(200, 300))
    theta = model.transform(train)
    fitted = recommenders.fit_recommender(train.counts, train.tags, theta, corpus.tag_names)
    assert fitted.coefficients.shape == (80, 8)
    likely = fitted.probabilities(test.counts, model.transform(test))
    assert np.mean([test.tags.toarray()[d, row.argmax()] for d, row in enumerate(likely)]) > 0.9


def test_saved_models_recommend_the_same(corpus: Corpus, model: TTM, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    test = corpus.select(range(200, 220))
    assert again.recommend(test) == model.recommend(test)
    assert again.recommend_with_reasons(test) == model.recommend_with_reasons(test)


@pytest.mark.parametrize("damage", ["tag_names", "bandwidth"])
def test_damaged_recommenders_are_refused(corpus: Corpus, model: TTM, tmp_path: Path, damage: str) -> None:
    model.save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    description = json.loads(path.read_text("utf-8"))
    description["recommender"][damage] = ["one"] if damage == "tag_names" else None
    path.write_text(json.dumps(description), "utf-8")
    with pytest.raises(InputError):
        load(tmp_path / "m")


def test_a_document_without_known_words_gets_no_tags_and_no_related_documents() -> None:
    """Four separable labels, as in support tickets: "hello" is no evidence for any of them."""
    words = {"bug": "crash error trace", "billing": "refund card price", "login": "password reset lock"}
    rows = [{"text": text, "tags": [tag]} for tag, text in words.items() for _ in range(20)]
    model = TTM(3, max_iter=20, random_state=0).fit(read_corpus(rows))
    with pytest.warns(CorpusWarning, match="no word"):
        new = read_corpus(["hello", "refund"], recipe=model.recipe_, vocabulary=model.vocabulary_)
    for answers in (model.recommend(new), model.recommend_with_reasons(new), model.related(new)):
        assert answers[0] == []
        assert answers[1] != []
    assert model.recommend(new)[1][0].tag == "billing"
    np.testing.assert_allclose(model.tag_probabilities(new)[0], 1 / 3, atol=0.02)
    tagged = model.related(new, tags=[["login"], []])
    assert len(tagged[0]) == 10


def test_lda_recommends_tags_that_its_topics_ignore(corpus: Corpus) -> None:
    lda = LDA(8, random_state=0, max_iter=30).fit(corpus.select(range(200)))
    test = corpus.select(range(200, 300))
    hits = [a[0].tag in test.tags_of(d) for d, a in enumerate(lda.recommend(test, top=1))]
    assert np.mean(hits) > 0.95


def test_without_tags_there_is_nothing_to_recommend(corpus: Corpus) -> None:
    untagged = replace(corpus, tags=sp.csr_array(corpus.tags.shape, dtype=np.int8))
    with pytest.raises(InputError, match="no recommender"):
        LDA(3, random_state=0, max_iter=3).fit(untagged).recommend(untagged)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "scores"])
def test_every_system_finds_planted_tags(corpus: Corpus, system: str) -> None:
    result = evaluate_recommendation(corpus, TTM(8, random_state=0, max_iter=30), system=system)
    assert result["metrics"]["precision_at_1"] > 0.85
    assert set(result["seconds"]) == {"fit", "score"}


def test_known_tags_would_be_the_answer(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="stay hidden"):
        evaluate_recommendation(corpus, TTM(3), tags_known=True)
