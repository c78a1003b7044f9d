"""Vectors of documents as relations: what they are worth, what they change, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import tagtopics as tt
from tagtopics.bp import relations
from tagtopics.bp.propagation import Start
from tagtopics.bp.relations import NEAREST, cluster_words, merge_topics, nearest, unit_vectors
from tagtopics.models import relate

N_CLASSES, PER_CLASS, WORDS = 4, 120, 60


class Titles(NamedTuple):
    """Documents of six words, four of which say nothing, and vectors that tell the class."""

    counts: Any
    vectors: Any
    classes: Any


@pytest.fixture(scope="module")
def titles() -> Titles:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(N_CLASSES), PER_CLASS)
    common = rng.multinomial(4, np.full(WORDS, 1 / WORDS), len(classes))
    own = np.zeros_like(common)
    for d, c in enumerate(classes):
        np.add.at(own[d], c * 15 + rng.integers(0, 15, 2), 1)
    vectors = np.eye(N_CLASSES)[classes] + rng.normal(0, 0.3, (len(classes), N_CLASSES))
    return Titles(sp.csr_array(common + own), vectors.astype(np.float32), classes)


@pytest.fixture(scope="module")
def related(titles: Titles) -> Any:
    return tt.LDA(N_CLASSES, random_state=0).fit(titles.counts, vectors=titles.vectors)


@pytest.fixture(scope="module")
def plain(titles: Titles) -> Any:
    return tt.LDA(N_CLASSES, random_state=0).fit(titles.counts)


def agreement(theta: Any, classes: Any) -> float:
    return float(normalized_mutual_info_score(classes, theta.argmax(1)))


def assert_equal(one: Any, other: Any) -> None:
    for name in ("components_", "doc_topic_", "topic_sums_", "doc_topic_prior_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_vectors_add_what_short_documents_lack(titles: Titles, related: Any, plain: Any) -> None:
    assert related.vector_strength_ > 0
    assert agreement(related.doc_topic_, titles.classes) > agreement(plain.doc_topic_, titles.classes) + 0.3
    np.testing.assert_allclose(related.doc_topic_.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("kind", [tt.LDA, tt.TTM])
def test_vectors_of_other_documents_change_nothing(kind: Any, titles: Titles) -> None:
    shuffled = np.random.default_rng(5).permutation(titles.vectors)
    tags = [[f"t{c % 2}"] for c in titles.classes]
    with_vectors = kind(N_CLASSES, random_state=0).fit_topics(titles.counts, tags, vectors=shuffled)
    without = kind(N_CLASSES, random_state=0).fit_topics(titles.counts, tags)
    assert with_vectors.vector_strength_ == 0
    assert with_vectors.vectors_ is None
    assert_equal(with_vectors, without)
    np.testing.assert_array_equal(
        with_vectors.transform(titles.counts, vectors=titles.vectors), without.transform(titles.counts)
    )


def test_small_and_weighted_corpora_have_a_given_strength(titles: Titles) -> None:
    few = tt.LDA(2, random_state=0, max_iter=3).fit(titles.counts[::8], vectors=titles.vectors[::8])
    weighted = tt.LDA(2, random_state=0, max_iter=3).fit(titles.counts * 0.7, vectors=titles.vectors)
    assert few.vector_strength_ == weighted.vector_strength_ == 10


def test_a_second_fit_forgets_the_vectors(titles: Titles) -> None:
    model = tt.LDA(2, random_state=0, max_iter=3).fit(titles.counts[::8], vectors=titles.vectors[::8])
    model.fit(titles.counts[::8])
    assert model.vector_strength_ is None
    assert model.vectors_ is None


@pytest.mark.parametrize("memory", ["stored", "lean"])
def test_same_bits_at_any_number_of_threads(memory: str, titles: Titles) -> None:
    def fit(n_jobs: int) -> Any:
        model = tt.TTM(N_CLASSES, random_state=0, n_jobs=n_jobs, memory=memory, max_iter=8)
        return model.fit_topics(titles.counts, vectors=titles.vectors)

    one, two = fit(1), fit(2)
    assert one.vector_strength_ == two.vector_strength_ > 0
    assert_equal(one, two)


def test_documents_without_words_have_the_topics_of_their_neighbours(titles: Titles) -> None:
    counts = titles.counts.tolil()
    counts[::10] = 0
    empty, model = slice(None, None, 10), tt.LDA(N_CLASSES, random_state=0)
    model.fit(sp.csr_array(counts), vectors=titles.vectors)
    assert agreement(model.doc_topic_[empty], titles.classes[empty]) > 0.7
    assert model.vectors_ is not None
    assert not model.vectors_[empty].any()


@pytest.mark.parametrize("kind", [tt.LDA, tt.TTM, tt.MarkovTTM])
def test_new_documents_use_neighbours_and_saving_keeps_them(
    kind: Any, titles: Titles, tmp_path: Path
) -> None:
    tags = [[f"t{c % 2}"] for c in titles.classes]
    train, test = np.arange(len(tags)) % 3 > 0, np.arange(len(tags)) % 3 == 0
    new, vectors, classes = titles.counts[test], titles.vectors[test], titles.classes[test]
    model = kind(N_CLASSES, random_state=0)
    model.fit_topics(
        titles.counts[train], [tags[d] for d in np.flatnonzero(train)], vectors=titles.vectors[train]
    )
    found = model.transform(new, vectors=vectors)
    assert agreement(found, classes) > agreement(model.transform(new), classes) + 0.2
    known = None if kind is tt.LDA else [tags[d] for d in np.flatnonzero(test)]
    with_tags = model.transform(new, known, vectors=vectors)
    assert agreement(with_tags, classes) > agreement(model.transform(new, known), classes)
    model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.vector_strength_ == model.vector_strength_
    np.testing.assert_array_equal(loaded.transform(new, vectors=vectors), found)


def test_more_documents_leave_the_neighbours_as_they_are(titles: Titles) -> None:
    model = tt.LDA(N_CLASSES, random_state=0).fit(titles.counts[::2], vectors=titles.vectors[::2])
    model.partial_fit(titles.counts[1::2])
    theta = model.transform(titles.counts, vectors=titles.vectors)
    assert agreement(theta, titles.classes) > agreement(model.transform(titles.counts), titles.classes) + 0.2


def test_nearest_documents_are_those_of_a_full_search() -> None:
    vectors = unit_vectors(np.random.default_rng(3).normal(size=(90, 6)), 90)
    vectors[7] = 0
    found = nearest(vectors, vectors, same=True)
    cosines = vectors.astype(np.float64) @ vectors.T
    np.fill_diagonal(cosines, -2)
    cosines[:, 7] = -2
    for d in range(90):
        row = found[[d]]
        expected = set() if d == 7 else set(np.argsort(-cosines[d])[:NEAREST])
        assert set(row.indices[row.data > 0]) == expected
        assert row.sum() == pytest.approx(float(d != 7))


def test_nearest_of_many_documents_are_nearly_all(monkeypatch: pytest.MonkeyPatch, titles: Titles) -> None:
    """With as many equal vectors as a graph has neighbours, some own places are not in it."""
    pytest.importorskip("pynndescent")
    vectors = unit_vectors(titles.vectors, len(titles.vectors))
    vectors[5], vectors[100:140] = 0, vectors[100]
    exact = nearest(vectors, vectors, same=True)
    monkeypatch.setattr(relations, "_MOST_EXACT", 100)
    one, two = (nearest(vectors, vectors, same=True) for _ in range(2))
    assert (one != two).nnz == 0
    assert not one.diagonal().any()
    assert one.has_canonical_format
    assert not one[[5]].data.any()
    np.testing.assert_allclose(one.sum(1), exact.sum(1))
    known = np.r_[0:5, 6:100, 140 : len(vectors)]
    assert (one[known] * exact[known]).nnz / exact[known].nnz > 0.95
    new = vectors[:7]
    assert (nearest(new, vectors) != nearest(new, vectors[:])).nnz == 0


def test_many_vectors_without_the_extra_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_MOST_EXACT", 10)
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    vectors = unit_vectors(np.eye(12), 12)
    with pytest.raises(tt.InputError, match=r"vectors of more than 10 documents .*tagtopics\[neighbours\]"):
        nearest(vectors, vectors, same=True)
    assert nearest(vectors[:2], vectors).shape == (2, 12)


def test_topics_of_many_documents_start_from_a_part(monkeypatch: pytest.MonkeyPatch, titles: Titles) -> None:
    monkeypatch.setattr(relate, "most_documents", lambda: 200)
    model = tt.LDA(N_CLASSES, random_state=0).fit_topics(titles.counts, vectors=titles.vectors)
    assert model.vector_strength_
    assert agreement(model.doc_topic_, titles.classes) > 0.7


def test_nearest_of_few_documents() -> None:
    one = unit_vectors([[1.0, 0.0]], 1)
    assert nearest(one, one, same=True).sum() == 0
    assert nearest(one, np.zeros((3, 2), dtype=np.float32)).sum() == 0
    assert nearest(one, one).sum() == 1


def test_words_of_clusters_are_all_words() -> None:
    counts = sp.csr_array(np.arange(12).reshape(4, 3))
    words = cluster_words(unit_vectors(np.eye(4), 4), counts, 6, 0)
    assert words.shape == (3, 6)
    np.testing.assert_array_equal(words.sum(1), counts.sum(0))


def test_small_topics_are_merged_first_then_those_related_most() -> None:
    """Sizes 1, 40, 40, 39, 40: the small topic joins its only relation, then 2 and 3 have most relations."""
    topic = np.repeat(np.arange(5), [1, 40, 40, 39, 40])
    near = sp.lil_array((160, 160), dtype=np.float32)
    near[0, 150] = 1.0
    for d, other in ((1, 41), (2, 42), (41, 81), (42, 82), (43, 83)):
        near[d, other] = 1.0
    theta = np.eye(5, dtype=np.float32)[topic]
    assert merge_topics(theta, near.tocsr(), 4).tolist() == [0, 1, 2, 3, 0]
    assert merge_topics(theta, near.tocsr(), 3).tolist() == [0, 1, 2, 2, 0]


def test_pieces_of_a_large_class_are_merged_before_small_classes() -> None:
    """The class is an arc of 90 degrees, longer than the distance of the small classes; pieces overlap."""
    classes = np.repeat(np.arange(4), [600, 40, 40, 40])
    rng = np.random.default_rng(2)
    angle = np.sort(rng.uniform(0, np.pi / 2, len(classes)))
    small = (classes > 0)[:, np.newaxis]
    arc = np.stack([np.cos(angle), np.sin(angle), 0 * angle, 0 * angle], axis=1)
    points = np.stack([0 * angle, 0 * angle, 1 + 0 * angle, 0.4 * (classes - 2)], axis=1)
    vectors = unit_vectors(np.where(small, points, arc) + rng.normal(0, 0.03, arc.shape), len(classes))
    piece = (angle / (np.pi / 2) * 6 + rng.normal(0, 2.5, len(classes))).clip(0, 5).astype(int)
    pieces = np.where(classes == 0, piece, 6 + classes)
    theta = np.eye(10, dtype=np.float32)[pieces] + np.float32(1e-4)
    group = merge_topics(theta, nearest(vectors, vectors, same=True), 4)
    assert normalized_mutual_info_score(classes, group[pieces]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((3, 2)), r"vectors: \(3, 2\) is not one row for each of 480 documents"),
        (np.ones(480), r"vectors: \(480,\) is not one row"),
        (np.full((480, 2), np.nan), "vectors: row 0 has a number that is not finite"),
        ("minilm", "vectors: must be a matrix of numbers"),
    ],
)
def test_wrong_vectors_are_refused(vectors: Any, message: str, titles: Titles) -> None:
    with pytest.raises(tt.InputError, match=message) as error:
        tt.LDA(2).fit(titles.counts, vectors=vectors)
    assert "\n" not in str(error.value)


def test_vectors_are_refused_where_they_mean_nothing(titles: Titles, related: Any, plain: Any) -> None:
    counts, vectors = titles.counts, titles.vectors
    with pytest.raises(tt.InputError, match="fitted without vectors"):
        plain.transform(counts, vectors=vectors)
    with pytest.raises(tt.InputError, match="3 columns, but those of the fit have 4"):
        related.transform(counts, vectors=vectors[:, :3])
    with pytest.raises(tt.InputError, match="a fit with a start learns nothing from vectors"):
        tt.LDA(2).fit_topics(counts, vectors=vectors, start=Start())
    for other in (tt.ATM(2), tt.RTM(2)):
        with pytest.raises(tt.InputError, match="learns nothing from vectors"):
            other.fit(counts, vectors=vectors)
        other.set_params(max_iter=1).fit(counts)
        with pytest.raises(tt.InputError, match="learns nothing from vectors"):
            other.transform(counts, vectors=vectors)


def test_encode_with_a_function() -> None:
    found = tt.encode(["a b", "c"], lambda texts: [[len(text), 1] for text in texts])
    np.testing.assert_array_equal(found, [[3, 1], [1, 1]])
    corpus = tt.read_corpus(["one text", "two texts"])
    assert tt.encode(corpus, lambda texts: np.ones((len(texts), 3))).shape == (2, 3)
    with pytest.raises(tt.InputError, match=r"gave \(1, 2\) for 2 texts"):
        tt.encode(["a", "b"], lambda texts: [[1, 2]])
    with pytest.raises(tt.InputError, match="give a list of texts"):
        tt.encode("a text", lambda texts: [[1, 2]])


def test_encode_with_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoder:
        def __init__(self, name: str, local_files_only: bool) -> None:
            if name != "here" and local_files_only:
                raise OSError("not found")

        def encode(self, texts: list[str]) -> Any:
            return np.ones((len(texts), 2))

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Encoder))
    assert tt.encode(["a"], "here").shape == (1, 2)
    with pytest.raises(tt.InputError, match="no model 'there' found; give its folder, or download=True"):
        tt.encode(["a"], "there")
    assert tt.encode(["a"], "there", download=True).shape == (1, 2)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(tt.InputError, match=r"pip install sentence-transformers"):
        tt.encode(["a"], "here")
