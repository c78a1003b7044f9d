"""Tags recommended with vectors of documents: what they add, when they are ignored, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.errors import InputError
from tagtopics.recommend import recommender as recommending
from tagtopics.recommend import ridge

N_TRAIN, N_TAGS, WORDS = 300, 6, 40


class Planted(NamedTuple):
    """Documents whose words are random, with vectors that tell the tag."""

    counts: Any
    vectors: Any
    tags: list[list[str]]


@pytest.fixture(scope="module")
def planted() -> Planted:
    rng = np.random.default_rng(0)
    tag = rng.integers(0, N_TAGS, N_TRAIN + 100)
    counts = sp.csr_array(rng.multinomial(12, np.full(WORDS, 1 / WORDS), len(tag)))
    vectors = 5 * (np.eye(N_TAGS)[tag] + rng.normal(0, 0.25, (len(tag), N_TAGS)))
    return Planted(counts, vectors, [[f"t{t}"] for t in tag])


def fit(planted: Planted, vectors: Any = None) -> Any:
    model = tt.LDA(3, random_state=0, max_iter=5).fit_topics(planted.counts[:N_TRAIN], planted.tags[:N_TRAIN])
    return model.fit_recommender(planted.counts[:N_TRAIN], planted.tags[:N_TRAIN], vectors=vectors)


@pytest.fixture(scope="module")
def model(planted: Planted) -> Any:
    return fit(planted, planted.vectors[:N_TRAIN])


def precision(planted: Planted, found: list[list[Any]]) -> float:
    """Return how often the first tag is the true one, of the documents that no model was trained on."""
    return float(
        np.mean([own[0].tag in tags for own, tags in zip(found, planted.tags[N_TRAIN:], strict=True)])
    )


def test_vectors_recommend_tags_that_words_do_not_tell(planted: Planted, model: Any) -> None:
    new, vectors = planted.counts[N_TRAIN:], planted.vectors[N_TRAIN:]
    assert model.recommender_.with_vectors.vector_weight > 0
    assert precision(planted, model.recommend(new, 1)) < 0.4
    found = model.recommend(new, 1, vectors=vectors)
    assert precision(planted, found) > 0.9
    assert np.mean([own[0].probability for own in found]) > 0.7
    with_reasons = model.recommend(new, 1, vectors=vectors, n_words=5)
    assert [[(one.tag, one.probability) for one in own] for own in with_reasons] == [
        [(one.tag, one.probability) for one in own] for own in found
    ]
    likely = model.tag_probabilities(new, vectors=vectors)
    assert [model.recommender_.tag_names[t] for t in likely.argmax(1)] == [own[0].tag for own in found]


def test_related_documents_share_the_tag_of_the_vector(planted: Planted, model: Any) -> None:
    def share(vectors: Any) -> float:
        found = model.related(planted.counts[N_TRAIN:], 5, vectors=vectors)
        tags = zip(found, planted.tags[N_TRAIN:], strict=True)
        return float(np.mean([planted.tags[one.row] == own for row, own in tags for one in row]))

    assert share(planted.vectors[N_TRAIN:]) > 0.9 > 0.5 > share(None)


def test_answers_without_vectors_are_those_of_a_model_without(planted: Planted, model: Any) -> None:
    plain = fit(planted)
    assert plain.recommender_.with_vectors is None
    np.testing.assert_array_equal(
        model.tag_probabilities(planted.counts), plain.tag_probabilities(planted.counts)
    )
    rows = np.arange(N_TRAIN)
    np.testing.assert_array_equal(
        model.recommender_.leave_one_out(rows), plain.recommender_.leave_one_out(rows)
    )


def test_vectors_of_other_documents_are_ignored(planted: Planted, tmp_path: Path) -> None:
    model = fit(planted, np.random.default_rng(1).permutation(planted.vectors[:N_TRAIN]))
    assert model.recommender_.with_vectors is None
    model.save(tmp_path / "m.tt")
    new, vectors = planted.counts[N_TRAIN:], planted.vectors[N_TRAIN:]
    expected = fit(planted).tag_probabilities(new)
    for own in (model, tt.load(tmp_path / "m.tt")):
        np.testing.assert_array_equal(own.tag_probabilities(new, vectors=vectors), expected)
        with pytest.raises(InputError, match="not one row for each of 100 documents"):
            own.tag_probabilities(new, vectors=vectors[1:])


def test_fit_trains_both_recommenders(planted: Planted) -> None:
    model = tt.TTM(3, random_state=0, max_iter=5)
    model.fit(planted.counts[:N_TRAIN], planted.tags[:N_TRAIN], vectors=planted.vectors[:N_TRAIN])
    found = model.recommend(planted.counts[N_TRAIN:], 1, vectors=planted.vectors[N_TRAIN:])
    assert precision(planted, found) > 0.9


@pytest.mark.parametrize("form", ["coefficients", "parts", "inverse"])
def test_leave_one_out_is_a_fit_without_the_document(
    form: str, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "inverse":
        monkeypatch.setattr(ridge, "_LARGEST_TABLE", 1)
    if form == "parts":
        monkeypatch.setattr(ridge, "PART", 60)
    model = fit(planted, planted.vectors[:N_TRAIN])
    known = model.recommender_.with_vectors
    assert len(known.inverse) == (N_TRAIN if form == "inverse" else 0)
    counts, topics = known.counts, known.topics
    own = np.arange(N_TRAIN)
    found = known.leave_one_out_scores(counts, topics, own)
    assert np.mean(found.argmax(1) == known.tags.indices) > 0.9
    if form == "coefficients":
        docs = ridge.documents_of(counts, topics)
        kernel = ridge.kernel_of(docs, docs, known.bandwidth, known._cosines(known.vectors)).astype(float)
        others, share = own[1:], known.tags.mean(0)
        inverse = np.linalg.inv(kernel[np.ix_(others, others)] + ridge.RIDGE * np.eye(N_TRAIN - 1))
        expected = share + kernel[0, others] @ inverse @ (known.tags.toarray()[others] - share)
        np.testing.assert_allclose(found[0], expected, atol=1e-4)


@pytest.mark.parametrize("form", ["coefficients", "inverse"])
def test_a_saved_model_answers_alike(
    form: str, planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "inverse":
        monkeypatch.setattr(ridge, "_LARGEST_TABLE", 1)
    model = fit(planted, planted.vectors[:N_TRAIN])
    model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    new, vectors = planted.counts[N_TRAIN:], planted.vectors[N_TRAIN:]
    for own in (None, vectors):
        np.testing.assert_array_equal(
            loaded.tag_probabilities(new, vectors=own), model.tag_probabilities(new, vectors=own)
        )


def test_many_documents_with_many_tags_use_words_alone(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ridge, "_LARGEST_TABLE", 1)
    monkeypatch.setattr(ridge, "_LARGEST_INVERSE", 1)
    monkeypatch.setattr(recommending, "_CALIBRATED_BY_NEIGHBOURS", 50)
    assert fit(planted, planted.vectors[:N_TRAIN]).recommender_.with_vectors is None


def test_wrong_vectors_are_refused(planted: Planted, model: Any) -> None:
    new, vectors = planted.counts[N_TRAIN:], planted.vectors[N_TRAIN:]
    wrong = [
        (vectors[:, 1:], "5 columns, but those of the fit have 6"),
        (vectors[1:], "not one row for each of 100 documents"),
        (np.full_like(vectors, np.nan), "row 0 has a number that is not finite"),
    ]
    for given, message in wrong:
        for ask in (model.recommend, model.tag_probabilities, model.related):
            with pytest.raises(InputError, match=message) as error:
                ask(new, vectors=given)
            assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="trained without vectors"):
        fit(planted).recommend(new, vectors=vectors)
    with pytest.raises(InputError, match="RTM learns nothing from vectors"):
        tt.RTM(2, max_iter=2).fit(planted.counts).fit_recommender(
            planted.counts, planted.tags, vectors=planted.vectors
        )


def test_weights_depend_on_what_vectors_predict(planted: Planted, model: Any) -> None:
    known = model.recommender_
    docs, tags = ridge.documents_of(known.counts, known.topics), known.tags
    vectors = known.with_vectors.vectors
    assert ridge.choose_vector_weight(docs, tags, vectors)[0] == known.with_vectors.vector_weight
    shuffled = np.random.default_rng(2).permutation(vectors)
    assert ridge.choose_vector_weight(docs, tags, shuffled)[0] == 0
    assert ridge.choose_vector_weight(docs, tags, np.zeros_like(vectors))[0] == 0


def test_an_audit_uses_the_vectors_of_the_model(planted: Planted) -> None:
    wrong = [["t1"] if tags == ["t0"] else ["t0"] for tags in planted.tags[:15]]
    corpus = tt.read_corpus(planted.counts[:N_TRAIN], tags=wrong + planted.tags[15:N_TRAIN])
    model = tt.LDA(3, random_state=0, max_iter=5).fit_topics(corpus)

    def n_found(vectors: Any) -> int:
        model.fit_recommender(corpus, vectors=vectors)
        found = tt.audit(model, corpus, kinds=("doubtful",), min_score=0.0)[:15]
        return len({one.document for one in found} & set(corpus.ids[:15]))

    assert n_found(planted.vectors[:N_TRAIN]) > 9 > 6 > n_found(None)


@pytest.mark.parametrize("form", ["coefficients", "inverse"])
def test_same_bits_at_any_number_of_threads(
    form: str, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "inverse":
        monkeypatch.setattr(ridge, "_LARGEST_TABLE", 1)
    answers, related = [], []
    for n_jobs in (1, 2, 3):
        model = tt.LDA(3, random_state=0, max_iter=5, n_jobs=n_jobs)
        model.fit(planted.counts[:N_TRAIN], planted.tags[:N_TRAIN], vectors=planted.vectors[:N_TRAIN])
        assert model.recommender_ is not None
        assert model.recommender_.vector_weight
        new, vectors = planted.counts[N_TRAIN:], planted.vectors[N_TRAIN:]
        answers.append(model.tag_probabilities(new, vectors=vectors))
        related.append(model.related(new, vectors=vectors))
    for answer, found in zip(answers, related, strict=True):
        np.testing.assert_array_equal(answer, answers[0])
        assert found == related[0]
