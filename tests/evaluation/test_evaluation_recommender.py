"""The recommender: its algebra against brute force, planted tags, saving, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score

from benchmarks.synthetic import make_tagged_corpus
from tagtopics import LDA, TTM, Corpus, CorpusWarning, InputError, load, read_corpus
from tagtopics.datasets import load_dataset
from tagtopics.evaluation.recommendation import evaluate_recommendation, per_tag
from tagtopics.recommend import recommender as recommenders
from tagtopics.recommend import ridge as ridges
from tagtopics.recommend.calibration import (
    best_threshold,
    fair_thresholds,
    pick_tags,
    popularity_penalty,
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(n_docs=300, n_words=200, n_groups=0, n_topics=8, n_tags=8, seed=2).corpus


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> TTM:
    return TTM(8, random_state=0, max_iter=30).fit(corpus.select(range(200)))


def _random_documents(n_docs: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(rng.poisson(0.5, (n_docs, 30)) + np.eye(n_docs, 30, dtype=int))
    counts = sp.csr_array(counts + sp.csr_array(np.eye(n_docs, 30, k=-30, dtype=int)))
    return counts, rng.dirichlet(np.ones(4), n_docs).astype(np.float32)


def _shares(counts: sp.csr_array) -> np.ndarray:
    dense = counts.toarray()
    return np.asarray(dense / dense.sum(1, keepdims=True))


@pytest.mark.compiled
def test_a_word_may_be_listed_more_often_than_there_are_documents() -> None:
    """The scratch of the loop has a place for each document; one for each entry would be outside of it."""
    (counts, theta), n = _random_documents(3), 500_000
    words = np.concatenate([np.zeros(n, dtype=np.int32), counts.indices])
    data = np.concatenate([np.full(n, 1 / n), counts.data])
    offsets = np.concatenate([[0], counts.indptr[1:] + n])
    index = ridges.documents_of(sp.csr_array((data, words, offsets), shape=counts.shape), theta)
    new = ridges.documents_of(counts, theta)
    alike = 1 + np.log(ridges.kernel_of(new, index, 1.0).astype(np.float64))
    expected = 0.1 * (np.sqrt(theta) @ np.sqrt(theta).T).astype(np.float64)
    for d, i in np.ndindex(3, 3):
        there = slice(*index.doc_offsets[i : i + 2])
        for e in range(*new.doc_offsets[d : d + 2]):
            x, y = new.doc_shares[e], index.doc_shares[there][index.doc_words[there] == new.doc_words[e]]
            expected[d, i] += 0.9 * (2 * x * y / (x + y)).sum(dtype=np.float64)
    np.testing.assert_allclose(alike, expected, atol=0.01)


def similarities(left: Any, right: Any, left_topics: Any, right_topics: Any, topic_weight: float) -> Any:
    """Return (L, R): how alike documents of shares (L, W), (R, W) and roots of proportions are."""
    x, y = left[:, np.newaxis], right[np.newaxis]
    words = (2 * x * y / np.maximum(x + y, 1e-300)).sum(2)
    return (1 - topic_weight) * words + topic_weight * left_topics @ right_topics.T


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_the_specification(seed: int) -> None:
    (counts, theta), (more, more_theta) = _random_documents(60, seed), _random_documents(25, seed + 10)
    index, new = ridges.documents_of(counts, theta), ridges.documents_of(more, more_theta)
    x, y, roots, more_roots = _shares(counts), _shares(more), np.sqrt(theta), np.sqrt(more_theta)
    alikes = similarities(y, x, more_roots, roots, 0.1)
    assert ridges.kernel_of(new, index, 1.2) == pytest.approx(np.exp(1.2 * (alikes - 1)), abs=1e-5)
    kernel = np.exp(1.2 * (similarities(x, x, roots, roots, 0.1) - 1)) + 0.1 * np.eye(60)
    found = ridges.neighbour_weights(ridges.similarities(new, index), counts, theta, 1.2, 20)
    for d, alike in enumerate(alikes):
        rows = np.sort(np.argsort(-alike, kind="stable")[:20])
        weights = np.linalg.solve(kernel[np.ix_(rows, rows)], np.exp(1.2 * (alike[rows] - 1)))
        assert found[[d]].indices.tolist() == rows.tolist()
        assert found[[d]].data == pytest.approx(weights, abs=2e-5)


def test_equal_documents_can_be_solved() -> None:
    counts = sp.csr_array(np.ones((500, 3), dtype=int))
    theta = np.full((500, 2), 0.5, dtype=np.float32)
    index = ridges.documents_of(counts, theta)
    weights = ridges.neighbour_weights(ridges.similarities(index, index), counts, theta, 1000.0, 200)
    assert weights.sum(1) == pytest.approx(np.full(500, 200 / 200.1), abs=1e-3)
    kernel = ridges.kernel_of(index, index, 1000.0)
    coefficients, _ = ridges.solve_part(kernel, np.ones((500, 1), dtype=np.float32))
    assert np.isfinite(coefficients).all()


def test_neighbours_leave_out_the_document_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as removing the document from the training documents."""
    monkeypatch.setattr(ridges, "_LARGEST_TABLE", 0)
    monkeypatch.setattr(ridges, "_LARGEST_INVERSE", 0)
    counts, theta = _random_documents(40)
    tags = sp.csr_array((np.random.default_rng(1).random((40, 5)) < 0.5) | (np.arange(5) == 0), dtype=np.int8)
    names = tuple(map(str, range(5)))
    trained = recommenders.fit_recommender(counts, tags, theta, names)
    rows = np.arange(40)
    found = trained.leave_one_out_votes(trained.counts, trained.topics, rows, 20)
    for d in rows:
        rest = np.delete(rows, d)
        others = replace(
            trained, counts=trained.counts[rest], topics=theta[rest], tags=trained.tags[rest], rows=rest
        )
        slow = others.leave_one_out_votes(trained.counts[[d]], theta[[d]], np.array([-1]), 20)
        assert found.table[[d]].toarray() == pytest.approx(slow.table.toarray(), abs=1e-5)
        assert found.rest[d] == pytest.approx(slow.rest[0], abs=1e-5)


@pytest.mark.parametrize("n_tags", [3, 200])
def test_the_best_tags_without_a_document_are_those_of_its_scores(n_tags: int) -> None:
    """Two tags with equal coefficients are in order; scores are those of a comparison with all documents."""
    counts, theta = _random_documents(40)
    tags = np.random.default_rng(1).random((40, n_tags)) < 0.1
    tags[:, 1] = tags[:, 2]
    names = tuple(map(str, range(n_tags)))
    trained = recommenders.fit_recommender(counts, sp.csr_array(tags.astype(np.int8)), theta, names)
    own = np.arange(len(trained.rows))[::-1].copy()
    assert 0 < len(trained.coefficients) <= ridges.PART
    carried = trained.tags[own].toarray()
    best = ridges.leave_one_out_best(trained.coefficients, trained.own, trained.tags, own, 20)
    scores = carried - (trained.own[own] + ridges.RIDGE)[:, np.newaxis] * trained.coefficients[own]
    for found, row in zip(best, scores, strict=True):
        expected = [t for t in np.argsort(-row, kind="stable")[:20] if row[t] > 0]
        assert found.tolist() == expected + [-1] * (20 - len(expected))
    docs, columns = (part.ravel() for part in np.indices(carried.shape))
    coefficients = trained.coefficients[own[docs], columns]
    found = ridges.leave_one_out_scores(coefficients, trained.own[own[docs]], carried.ravel() > 0)
    compared = trained.leave_one_out_scores(trained.counts[own], trained.topics[own], own)
    assert found == pytest.approx(compared.ravel(), abs=1e-4)


def test_the_inverse_of_the_kernel_answers_as_the_coefficients_do(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for documents without themselves, and from a saved model, bit for bit."""
    training, new = corpus.select(range(200)), corpus.select(range(200, 300))
    wide = TTM(8, random_state=0, max_iter=30).fit(training)
    monkeypatch.setattr(ridges, "_LARGEST_TABLE", 0)
    many = TTM(8, random_state=0, max_iter=30).fit(training)
    stored, short = wide.recommender_, many.recommender_
    assert stored is not None
    assert short is not None
    assert len(stored.coefficients)
    assert not len(short.coefficients)
    theta, rows = many.infer(new.counts, None), np.arange(len(short.rows))
    for found, expected in (
        (short.probabilities(new.counts, theta), stored.probabilities(new.counts, theta)),
        (short.leave_one_out(rows), stored.leave_one_out(rows)),
    ):
        assert expected.max() - expected.min() > 0.5
        np.testing.assert_allclose(found, expected, atol=0.01)
    many.save(tmp_path / "m.tt")
    again = load(tmp_path / "m.tt")
    assert again.recommender_ is not None
    np.testing.assert_array_equal(
        again.recommender_.probabilities(new.counts, theta), short.probabilities(new.counts, theta)
    )


@pytest.mark.parametrize("part", [40, 15])
def test_answers_without_a_document_are_a_fit_without_it(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In closed form: the document is removed from its part, and all other parts stay as they are."""
    monkeypatch.setattr(ridges, "PART", part)
    counts, theta = _random_documents(40)
    tags = sp.csr_array(np.random.default_rng(1).random((40, 3)) < 0.4, dtype=np.float32)
    generator = np.random.default_rng(0)
    coefficients, own = ridges.fit_coefficients(counts, tags, theta, 1.2, generator)
    docs, share = ridges.documents_of(counts, theta), np.asarray(tags.mean(0))
    kernel, order = (
        ridges.kernel_of(docs, docs, 1.2).astype(float),
        np.random.default_rng(0).permutation(40),
    )
    fast = kernel @ coefficients - own[:, np.newaxis] * coefficients
    n_parts = -(-40 // part)
    for d in range(40):
        slow = np.zeros(3)
        for rows in (np.setdiff1d(order[first::n_parts], [d]) for first in range(n_parts)):
            solved = np.linalg.solve(
                kernel[np.ix_(rows, rows)] + 0.1 * np.eye(len(rows)), tags[rows].toarray() - share
            )
            slow += kernel[d, rows] @ solved / n_parts
        assert fast[d] == pytest.approx(slow, abs=2e-4)


@pytest.mark.parametrize(
    ("carried", "n_docs"),
    [
        (lambda n: np.ones((n, 1)), 50),
        (lambda n: np.eye(n), 50),
        (lambda n: np.eye(n, 3), 50),
        (lambda n: np.ones((n, 2)), 1),
        (lambda n: np.ones((n, 300)), 2),
        (lambda n: np.eye(n, 30) + np.eye(n, 30, k=1), 30),
        (lambda n: np.eye(n, 1500) + np.eye(n, 1500, k=1000), 60),
        (lambda n: np.ones((n, 1200)), 1),
    ],
)
def test_any_tags_can_be_learned(carried: Callable[[int], np.ndarray], n_docs: int) -> None:
    """A tag on all documents, tags on one document, documents without tags, one document, many tags."""
    counts, theta = _random_documents(n_docs)
    tags = sp.csr_array(carried(n_docs), dtype=np.int8)
    names = tuple(f"t{t}" for t in range(tags.shape[1]))
    fitted = recommenders.fit_recommender(counts, tags, theta, names)
    likely = fitted.probabilities(counts, theta)
    assert np.isfinite(likely).all()
    assert ((likely >= 0) & (likely <= 1)).all()
    assert np.isfinite(fitted.leave_one_out(np.arange(len(fitted.rows)))).all()
    assert (fitted.calibration.threshold > 0).all()


def test_rare_tags_have_lower_thresholds() -> None:
    """Tag 0 is predicted well, tag 1 hardly: its best F-measure is reached at a low threshold."""
    rng = np.random.default_rng(0)
    tags = np.repeat([0, 1], 2000)
    likely = np.concatenate([rng.choice([0.05, 0.95], 2000), rng.choice([0.02, 0.2], 2000, p=[0.9, 0.1])])
    truth = rng.random(4000) < likely
    expected = np.array([likely[:2000].sum(), likely[2000:].sum()])
    threshold = fair_thresholds(tags, likely.astype(np.float32), truth, expected, int(truth.sum()))
    assert threshold[1] < 0.2 < threshold[0]


def test_thresholds_of_tags_cost_a_small_share_of_a_small_f_measure() -> None:
    """Where tags are hard to predict, the F-measure is small, and so is what thresholds may cost of it."""
    rng = np.random.default_rng(0)
    tags = rng.integers(0, 300, 4000)
    likely = (rng.random(4000) ** 4 * 0.3 + 0.01).astype(np.float32)
    truth = rng.random(4000) < likely
    expected, n_true = np.bincount(tags, weights=likely, minlength=300).astype(np.float64), 3000

    def f_measure(threshold: float | np.ndarray) -> float:
        predicted = likely >= threshold
        return float(2 * (predicted & truth).sum() / (predicted.sum() + n_true))

    best = f_measure(best_threshold(likely, truth, n_true))
    assert best < 0.2
    threshold = fair_thresholds(tags, likely, truth, expected, n_true)
    assert f_measure(threshold[tags]) >= (1 - 0.0041) * best


def test_a_document_without_known_words_gets_no_tags(model: TTM) -> None:
    counts = sp.csr_array((2, 200), dtype=np.int32)
    assert model.recommend(counts) == [[], []]
    assert model.tag_probabilities(counts)[0].max() < 1


@pytest.mark.parametrize("n_threads", [1, 2])
def test_bits_do_not_depend_on_the_threads_of_linear_algebra(corpus: Corpus, n_threads: int) -> None:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=n_threads):
        fitted = LDA(8, random_state=0, max_iter=5).fit(corpus)
        likely = fitted.tag_probabilities(corpus)
    again = LDA(8, random_state=0, max_iter=5).fit(corpus)
    assert again.recommender_ is not None
    assert fitted.recommender_ is not None
    for one, other in zip(again.recommender_.calibration, fitted.recommender_.calibration, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(again.tag_probabilities(corpus), likely)


def test_balance_gives_rare_tags_their_turn_and_orders_by_probability() -> None:
    likely = np.array([[0.9, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09]], dtype=np.float32)
    frequency = np.array([0.5, 0.4, 0.3, 0.3, 0.3, 0.3, 0.001])
    assert pick_tags(likely, np.ones(7), 5).tolist() == [[0, 1, 2, 3, 4]]
    balanced = pick_tags(likely, frequency**0.5, 5)[0].tolist()
    assert 6 in balanced
    assert balanced == sorted(balanced, key=lambda t: -likely[0, t])
    assert pick_tags(likely, frequency**0.5, 1).tolist() == [[0]]
    assert pick_tags(likely, frequency**4, 5)[0, 0] == 0  # the most probable is never left out


def test_fair_lists_reach_more_tags_and_keep_their_precision() -> None:
    rng = np.random.default_rng(4)
    frequency = 0.6 / np.arange(1, 41)
    likely = np.clip(frequency * np.exp(rng.normal(0, 0.8, (800, 40))), 0, 0.95).astype(np.float32)
    truth = rng.random(likely.shape) < likely
    penalty = popularity_penalty(likely, truth, frequency)
    plain, fair = (pick_tags(likely, h, 5) for h in (np.ones(40), penalty))
    hits = [np.take_along_axis(truth, lists, axis=1).mean() for lists in (plain, fair)]
    assert 0.95 * hits[0] <= hits[1] <= hits[0]
    assert len(np.unique(fair)) > len(np.unique(plain))
    recall = [per_tag(truth, lists)["recall"] for lists in (plain, fair)]
    assert recall[1] > recall[0]


def test_without_a_fair_list_that_is_precise_enough_probability_decides() -> None:
    likely = np.array([[0.9, 0.8, 0.7, 0.6, 0.5, 1e-4]] * 4, dtype=np.float32)
    truth = np.array([[True] * 5 + [False]] * 4)
    penalty = popularity_penalty(likely, truth, np.array([0.9, 0.8, 0.7, 0.6, 0.5, 1e-4]))
    assert pick_tags(likely, penalty, 5).tolist() == [[0, 1, 2, 3, 4]] * 4


def test_threshold_has_the_best_f_measure() -> None:
    rng = np.random.default_rng(3)
    likely = rng.random((20, 5)).astype(np.float32)
    truth = rng.random((20, 5)) < likely

    def f_measure(threshold: float) -> float:
        predicted = likely >= threshold
        return float(2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()))

    assert f_measure(best_threshold(likely, truth, int(truth.sum()))) == max(
        f_measure(float(x)) for x in likely.ravel()
    )


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
    for d, answer in enumerate(model.recommend(test, top=2, n_words=4)):
        words = {test.vocabulary[w] for w in test.counts[[d]].indices}
        for found in answer:
            strengths = [strength for _, strength in found.words]
            assert {word for word, _ in found.words} <= words
            assert strengths == sorted(strengths, reverse=True)
            assert all(strength > 0 for strength in strengths)
        assert answer[0].words


def test_of_very_many_documents_a_sample_is_kept(
    corpus: Corpus, model: TTM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recommenders, "MOST_DOCS", 100)
    train, test = corpus.select(range(200)), corpus.select(range(200, 300))
    theta = model.transform(train)
    fitted = recommenders.fit_recommender(train.counts, train.tags, theta, corpus.tag_names)
    assert fitted.counts.shape[0] == len(fitted.rows) == 100
    likely = fitted.probabilities(test.counts, model.transform(test))
    assert np.mean([test.tags.toarray()[d, row.argmax()] for d, row in enumerate(likely)]) > 0.9


def test_lists_are_ranked_by_probability_unless_balanced(corpus: Corpus, model: TTM) -> None:
    test = corpus.select(range(200, 220))
    likely = model.tag_probabilities(test)
    for row, answer in zip(likely, model.recommend(test, top=3), strict=True):
        assert [one.probability for one in answer] == np.sort(row)[::-1][:3].tolist()
    recommender = model.recommender_
    assert recommender is not None
    balanced = [[one.tag for one in row] for row in model.recommend(test, top=3, balanced=True)]
    picks = pick_tags(likely, recommender.calibration.popularity_penalty, 3)
    assert balanced == [[recommender.tag_names[t] for t in row] for row in picks]


def test_saved_models_recommend_the_same(corpus: Corpus, model: TTM, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    test = corpus.select(range(200, 220))
    assert again.recommend(test) == model.recommend(test)
    assert again.recommend(test, n_words=5) == model.recommend(test, n_words=5)


@pytest.mark.parametrize("damage", ["tag_names", "bandwidth"])
def test_damaged_recommenders_are_refused(corpus: Corpus, model: TTM, tmp_path: Path, damage: str) -> None:
    model.save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    description = json.loads(path.read_text("utf-8"))
    description["recommender"][damage] = ["one"] if damage == "tag_names" else None
    path.write_text(json.dumps(description), "utf-8")
    with pytest.raises(InputError):
        load(tmp_path / "m")


def test_related_documents_share_tags_or_words(model: TTM, corpus: Corpus) -> None:
    """The formula of decision 233, from the public parts of a recommender; known tags count as .9."""
    new, recommender = corpus.select(range(200, 230)), model.recommender_
    assert recommender is not None
    theta = model.transform(new.counts)
    likely = np.minimum(model.tag_probabilities(new.counts).astype(np.float64), 0.9)
    words, others = _shares(new.counts), _shares(recommender.counts)
    topics = np.sqrt(theta.astype(np.float64)) @ np.sqrt(recommender.topics.astype(np.float64)).T
    for known in (False, True):
        if known:
            likely = np.where(new.tags.toarray() > 0, 0.9, likely)
        answers = model.related(new, top=200, tags=new if known else None)
        for d, answer in enumerate(answers):
            x, y = words[d], others
            alike = 0.9 * (2 * x * y / np.maximum(x + y, 1e-300)).sum(1) + 0.1 * topics[d]
            missed = np.prod(np.where(recommender.tags.toarray() > 0, 1 - likely[d], 1.0), axis=1)
            expected = dict(zip(recommender.rows.tolist(), 1 - missed * (1 - alike), strict=True))
            assert len(answer) == len(expected)
            for found in answer:
                assert found.score == pytest.approx(expected[found.row], abs=1e-3)


def test_related_documents_share_tags_more_often_than_by_words() -> None:
    corpus = load_dataset("docstrings")
    rows = np.random.default_rng(0).permutation(corpus.n_docs)
    known, new = corpus.select(rows[60:]), corpus.select(rows[:60])
    model = TTM(20, random_state=0).fit(known)
    share = (new.tags.astype(float) @ known.tags.T.astype(float)).toarray() > 0
    weights = TfidfTransformer().fit(known.counts)
    by_words = (weights.transform(new.counts) @ weights.transform(known.counts).T).toarray()
    found = np.zeros_like(by_words)
    for row, answer in zip(found, model.related(new.counts, known.n_docs), strict=True):
        row[[one.row for one in answer]] = [one.score for one in answer]
    mixed = np.flatnonzero(share.any(1) & ~share.all(1))
    ours, words = (np.mean([roc_auc_score(share[i], table[i]) for i in mixed]) for table in (found, by_words))
    assert ours > 0.9 > words


def test_a_document_without_known_words_gets_no_tags_and_no_related_documents() -> None:
    """Four separable labels, as in support tickets: "hello" is no evidence for any of them."""
    words = {"bug": "crash error trace", "billing": "refund card price", "login": "password reset lock"}
    rows = [{"text": text, "tags": [tag]} for tag, text in words.items() for _ in range(20)]
    model = TTM(3, max_iter=20, random_state=0).fit(read_corpus(rows))
    with pytest.warns(CorpusWarning, match="without words"):
        new = read_corpus(["hello", "refund"], recipe=model.recipe_, vocabulary=model.vocabulary_)
    for answers in (model.recommend(new), model.recommend(new, n_words=5), model.related(new)):
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


def test_the_recommender_finds_planted_tags(corpus: Corpus) -> None:
    result = evaluate_recommendation(corpus, TTM(8, random_state=0, max_iter=30))
    assert result["metrics"]["precision_at_1"] > 0.85
    assert set(result["seconds"]) == {"fit", "score"}


def test_known_tags_would_be_the_answer(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="stay hidden"):
        evaluate_recommendation(corpus, TTM(3), tags_known=True)
