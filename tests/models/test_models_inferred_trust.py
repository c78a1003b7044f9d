"""Trust in inferred tags: none if they mislead, and more with more words if they help."""

from __future__ import annotations

from copy import copy
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.corpus.splits import completion, train_test
from tagtopics.models import inferred_trust
from tagtopics.models.inferred_trust import first_words, rising_levels
from tagtopics.recommend.recommender import fit_recommender
from tagtopics.tag_prior.strengths import WORDS


class Fitted(NamedTuple):
    train: tt.Corpus
    test: tt.Corpus
    model: Any


def tag_corpus(n_docs: int = 600, n_words: int = 120, n_tags: int = 24) -> tt.Corpus:
    """Return documents of one tag each: most of their 40 words are among the 20 of the tag."""
    rng = np.random.default_rng(0)
    words = np.stack([rng.choice(n_words, 20, replace=False) for _ in range(n_tags)])
    tags, counts = rng.integers(n_tags, size=n_docs), np.zeros((n_docs, n_words), dtype=np.int32)
    for d in range(n_docs):
        drawn = np.concatenate([rng.choice(words[tags[d]], 28), rng.integers(n_words, size=12)])
        counts[d] = np.bincount(drawn, minlength=n_words)
    ones = np.ones(n_docs, dtype=np.int8)
    return tt.Corpus(
        counts=sp.csr_array(counts),
        tags=sp.csr_array((ones, (np.arange(n_docs), tags)), shape=(n_docs, n_tags)),
        vocabulary=tuple(f"w{w}" for w in range(n_words)),
        tag_names=tuple(f"t{t}" for t in range(n_tags)),
        ids=tuple(map(str, range(n_docs))),
    )


def fitted(n_jobs: int = 1) -> Fitted:
    """Return a model of fewer topics than tags, so that tags say more than topics."""
    corpus = tag_corpus()
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    return Fitted(train, test, tt.TTM(4, max_iter=25, random_state=0, n_jobs=n_jobs).fit(train))


@pytest.fixture(scope="module")
def helpful() -> Fitted:
    return fitted()


def mislead(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Make the recommender of the pilot sure of wrong tags for documents of at most as many words."""

    def fit(counts: Any, tags: Any, doc_topic: Any, names: tuple[str, ...]) -> Any:
        found = fit_recommender(counts, tags, doc_topic, names)

        def probabilities(seen: Any, topics: Any) -> Any:
            right = found.probabilities(seen, topics)
            few = seen.sum(1)[:, np.newaxis] <= most
            return np.where(few, np.eye(len(names), dtype=np.float32)[right.argmin(1)], right)

        return SimpleNamespace(tag_names=names, probabilities=probabilities)

    monkeypatch.setattr(inferred_trust, "fit_recommender", fit)


def ratio(some: Fitted, share: float, tags: Any = "inferred") -> float:
    """Return the perplexity with tags divided by that without, for a share of the words of documents seen."""
    rest, hidden = completion(some.test.counts, 0)
    seen = completion(rest, 0, share)[0]
    with_tags, without = (some.model.log_likelihood(seen, hidden, given).sum() for given in (tags, None))
    return float(np.exp((without - with_tags) / hidden.sum()))


def test_tags_that_are_wrong_after_few_words_are_not_trusted_then(monkeypatch: pytest.MonkeyPatch) -> None:
    mislead(monkeypatch, most=10)
    some = fitted()
    assert some.model.settings_.inferred[:4] == (0.0,) * 4
    assert some.model.settings_.inferred[4:] == (1.0,) * 3
    assert ratio(some, 0.1, some.test.tags) < 0.8
    assert ratio(some, 0.1) == pytest.approx(1.0, abs=1e-6)
    assert ratio(some, 0.9) < 0.8


def test_tags_that_are_always_wrong_are_never_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    mislead(monkeypatch, most=1000)
    some = fitted()
    assert some.model.settings_.inferred == (0.0,) * len(WORDS)
    assert ratio(some, 0.9) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("share", "most"), [(0.1, 0.9), (0.3, 0.7), (0.9, 0.7)])
def test_inferred_tags_that_help_are_trusted(helpful: Fitted, share: float, most: float) -> None:
    assert helpful.model.settings_.inferred[2:] == (1.0,) * 5
    assert ratio(helpful, share) < most


def test_trust_lies_between_that_of_the_next_numbers_of_words(helpful: Fitted) -> None:
    model = copy(helpful.model)
    model.settings_ = model.settings_._replace(inferred=(0.0, 0.0, 0.1, 0.1, 0.3, 1.0, 1.0))
    tokens = np.array([0.0, 0.5, 2.0, 5.0, np.sqrt(10 * 20), 40.0, 1e6])
    np.testing.assert_allclose(model._trust(tokens), [0, 0, 0, 0.1, 0.2, 1, 1], atol=1e-6)


def test_words_are_drawn_from_documents_of_any_length() -> None:
    counts = np.array([[0, 1, 0], [3, 0, 2], [10, 100_000_000, 90], [0, 0, 0]], dtype=np.int32)
    drawn = list(first_words(sp.csr_array(counts), np.random.default_rng(0)))
    assert [rows.tolist() for rows, _ in drawn] == [[0, 1, 2], [1, 2], [1, 2], [2], [2], [2], [2]]
    for n, (rows, seen) in zip(WORDS, drawn, strict=True):
        assert (seen.sum(1) == n).all()
        assert (seen.toarray() <= counts[rows]).all()
    for (_, fewer), (_, more) in pairwise(drawn[3:]):
        assert (fewer.toarray() <= more.toarray()).all()


def test_levels_do_not_fall_and_few_are_compared() -> None:
    compared: list[tuple[int, range]] = []

    def gains(best: tuple[int, ...]) -> list[int]:
        """Return the levels that are found where those of `best` gain most."""

        def of(i: int, levels: range) -> list[float]:
            compared.append((i, levels))
            return [-abs(level - best[i]) for level in levels]

        compared.clear()
        return rising_levels(of, len(best), 4)

    for rising in combinations_with_replacement(range(4), 5):
        assert tuple(gains(rising)) == rising
    assert gains((0,) * 7) == [0] * 7
    assert compared == [(3, range(4)), (5, range(4)), (6, range(4))]
    assert gains((3, 3, 3, 0, 0, 3, 3)) == [0, 0, 0, 0, 0, 3, 3]


def test_trust_is_saved_and_without_it_the_prior_decides(helpful: Fitted, tmp_path: Path) -> None:
    helpful.model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.settings_ == helpful.model.settings_
    numbers = helpful.model._numbers()
    learned = [name for name in numbers if name.startswith("inferred.")]
    assert len(learned) == len(WORDS)
    loaded._set_numbers({name: number for name, number in numbers.items() if name not in learned})
    prior = sum(loaded.settings_.hidden[:2])
    np.testing.assert_allclose(
        loaded._trust(np.array([0, prior, 4 * prior, 400 * prior])), [0, 1 / 65, 0.5, 1], atol=1e-4
    )


def test_the_same_trust_at_any_number_of_threads(helpful: Fitted) -> None:
    assert fitted(n_jobs=2).model.settings_ == helpful.model.settings_
