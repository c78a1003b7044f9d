"""One contract for all topic models of the package, whatever the algorithm."""

from __future__ import annotations

import gc
import weakref
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus, make_tagged_corpus
from tagtopics.bp import holdout as heldout
from tagtopics.bp.callbacks import Callback, Step
from tagtopics.corpus.splits import completion, train_test
from tagtopics.models.online import OnlineModel

ESTIMATORS = {
    "LDA": tt.LDA(10),
    "LDA-lean": tt.LDA(10, memory="lean"),
    "TTM": tt.TTM(10),
    "TTM-lean": tt.TTM(10, memory="lean"),
    "MarkovTTM": tt.MarkovTTM(10),
    "ATM": tt.ATM(10, max_iter=80),
    "RTM": tt.RTM(10, max_iter=80),
    "LabeledLDA": tt.LabeledLDA(),
}
every_model = pytest.mark.parametrize("model", ESTIMATORS.values(), ids=ESTIMATORS)
pytestmark = pytest.mark.filterwarnings("ignore:.*unknown to the model left out")  # LDA knows no tags


@pytest.fixture(scope="module")
def planted() -> SyntheticCorpus:
    return make_tagged_corpus(n_docs=400, n_words=300, n_topics=10, n_tags=10, n_groups=0, seed=5)


def small(model: Any, **parameters: Any) -> Any:
    """Return a copy with few topics and sweeps."""
    known = model.get_params()
    few = {"n_topics": 3, "max_iter": 8, "random_state": 0} | parameters
    return clone(model).set_params(**{name: value for name, value in few.items() if name in known})


_FITTED: dict[int, Any] = {}


def fitted_small(model: Any, planted: SyntheticCorpus) -> Any:
    """Return `small(model)` fitted to the planted corpus, once for all tests; none may change it."""
    if id(model) not in _FITTED:
        _FITTED[id(model)] = small(model).fit(planted.corpus)
    return _FITTED[id(model)]


def corpus_of(rows: list[list[int]], tags: list[list[str]]) -> tuple[Any, list[list[str]]]:
    return np.array(rows), tags


COUNTS, TAGS = corpus_of(
    [[3, 1, 0, 0], [2, 2, 1, 0], [0, 0, 4, 1], [0, 1, 2, 3], [0, 0, 0, 0], [1, 0, 0, 2]],
    [["a"], ["a", "b"], ["b", "c"], ["c"], ["a"], []],
)


def assert_distributions(rows: Any) -> None:
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(1), 1, rtol=1e-5)


@every_model
def test_everything_adds_up_to_one(model: Any) -> None:
    fitted = small(model).fit(COUNTS, TAGS)
    K = len(fitted.components_)
    assert fitted.doc_topic_.shape == (6, K)
    assert fitted.tag_sums_.shape == (len(fitted.tag_names_), K)
    for rows in (fitted.components_, fitted.doc_topic_, fitted.transform(COUNTS)):
        assert_distributions(rows)
    assert_distributions(fitted.transform(COUNTS, TAGS))
    assert_distributions(fitted.tag_means().reshape(-1, K))


@every_model
def test_equal_seeds_give_equal_bits_at_any_number_of_threads(model: Any, planted: SyntheticCorpus) -> None:
    fits = [small(model, n_jobs=n).fit_topics(planted.corpus) for n in (1, 3)]
    assert np.array_equal(fits[0].components_, fits[1].components_)
    assert np.array_equal(fits[0].doc_topic_, fits[1].doc_topic_)
    assert np.array_equal(fits[0].transform(planted.corpus), fits[1].transform(planted.corpus))
    other = small(model, random_state=1).fit_topics(planted.corpus)
    assert not np.array_equal(fits[0].components_, other.components_)


@every_model
def test_cloned_and_fitted_again_it_is_the_same(model: Any) -> None:
    fitted = small(model).fit(COUNTS, TAGS)
    again = clone(fitted)
    assert not hasattr(again, "components_")
    assert again.get_params() == fitted.get_params()
    assert np.array_equal(again.fit(COUNTS, TAGS).components_, fitted.components_)


@every_model
def test_saved_and_loaded_it_answers_the_same(model: Any, planted: SyntheticCorpus, tmp_path: Path) -> None:
    fitted = fitted_small(model, planted)
    fitted.save(tmp_path / "model.tt")
    loaded = tt.load(tmp_path / "model.tt")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert np.array_equal(loaded.transform(planted.corpus), fitted.transform(planted.corpus))
    known = [each.transform(planted.corpus, planted.corpus) for each in (loaded, fitted)]
    assert np.array_equal(known[0], known[1])
    assert np.array_equal(loaded.tag_sums_, fitted.tag_sums_)
    assert loaded.history_ == fitted.history_


def state_of(model: Any) -> dict[str, Any]:
    """Return copies of all attributes."""
    return {name: deepcopy(value) for name, value in vars(model).items()}


def assert_equal_states(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        elif sp.issparse(value):
            assert (found[name] != value).nnz == 0, name
        elif name == "tag_prior_":
            np.testing.assert_array_equal(found[name].pairs.tokens, value.pairs.tokens)
            np.testing.assert_array_equal(found[name].profiles.means, value.profiles.means)
        elif name == "recommender_":
            np.testing.assert_array_equal(found[name].calibration.weights, value.calibration.weights)
        else:
            assert found[name] == value, name


@every_model
def test_queries_do_not_change_the_model(model: Any, planted: SyntheticCorpus, tmp_path: Path) -> None:
    fitted, some = fitted_small(model, planted), planted.corpus.select(range(20))
    before, identities = state_of(fitted), {name: id(value) for name, value in vars(fitted).items()}
    fitted.transform(some, some)
    fitted.predict_words(some, some)
    fitted.perplexity(some, tags="inferred" if fitted.tag_names_ else None)
    fitted.topic_table()
    fitted.related(some)
    fitted.recommend(some)
    fitted.recommend(some, 2, n_words=5)
    fitted.coherence(some)
    if hasattr(fitted, "explain"):
        fitted.explain(some)
        fitted.tag_profile(fitted.tag_names_[0])
    fitted.save(tmp_path / "m.tt", corpus=planted.corpus)
    assert {name: id(value) for name, value in vars(fitted).items()} == identities
    assert_equal_states(vars(fitted), before)


@every_model
def test_related_documents_have_words(model: Any, planted: SyntheticCorpus, tmp_path: Path) -> None:
    if isinstance(model, tt.LabeledLDA):
        pytest.skip("a document without words has the topics of its labels")
    corpus = planted.corpus.select(range(30))
    blank = sp.csr_array((5, corpus.n_words), dtype=np.int32)
    corpus = replace(
        corpus.select([*range(30), *range(5)]),
        counts=sp.csr_array(sp.vstack([corpus.counts, blank])),
        titles=(*(f"title {d}" for d in range(29)), *[None] * 6),
    )
    fitted = small(model).fit_topics(corpus)
    edited = [fitted]
    if isinstance(fitted, OnlineModel):
        edited.append(tt.curate(fitted, "merge", topics=[0, 1], corpus=corpus))
        edited.append(tt.curate(edited[-1], "ban", words=[corpus.vocabulary[0]]))
    edited[-1].save(tmp_path / "m.tt")
    for each in (*edited, tt.load(tmp_path / "m.tt")):
        (found,) = each.related(corpus.select([3]), top=100)
        assert {one.row for one in found} == set(range(30))
        assert {one.title for one in found} == {*(f"title {d}" for d in range(29)), None}


@every_model
def test_a_fitted_model_does_not_keep_its_corpus(model: Any) -> None:
    corpus = make_tagged_corpus(n_docs=60, n_words=50, n_topics=4, n_tags=4, n_groups=0, seed=1).corpus
    fitted = small(model).fit(corpus)
    parts = [weakref.ref(part) for part in (corpus, corpus.counts, corpus.counts.data, corpus.tags)]
    del corpus
    gc.collect()
    assert [part() for part in parts] == [None] * len(parts)
    assert fitted.recommender_ is not None


@every_model
def test_fit_topics_learns_the_same_topics_and_no_recommender(model: Any, planted: SyntheticCorpus) -> None:
    fitted = fitted_small(model, planted)
    topics = small(model).fit_topics(planted.corpus)
    assert np.array_equal(topics.components_, fitted.components_)
    assert topics.recommender_ is None
    assert (topics.tag_words_ is None) == (not hasattr(model, "explain"))
    with pytest.raises(tt.InputError, match="no recommender; call fit_recommender"):
        topics.recommend(planted.corpus)
    topics.fit_recommender(planted.corpus)
    some = planted.corpus.select(range(5))
    assert topics.recommend(some) == fitted.recommend(some)


@every_model
def test_a_recommender_that_fails_does_not_lose_the_topics(
    model: Any, planted: SyntheticCorpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr("tagtopics.models.base.fit_recommender", fail)
    with pytest.warns(tt.CorpusWarning, match="could not be trained .LinAlgError: not positive definite"):
        fitted = small(model).fit(planted.corpus)
    assert_distributions(fitted.doc_topic_)
    fitted.save(tmp_path / "m.tt")
    with pytest.raises(tt.InputError, match="no recommender"):
        tt.load(tmp_path / "m.tt").recommend(planted.corpus)


@every_model
@pytest.mark.parametrize("prior", [1e-9, 1e6, 1e39, 1e-50, float("inf"), True, "much"])
def test_priors_are_bounded_and_never_lead_to_nan(model: Any, prior: Any) -> None:
    for name in ("doc_topic_prior", "topic_word_prior"):
        changed = small(model).set_params(**{name: prior})
        if prior in (1e-9, 1e6):
            fitted = changed.fit(COUNTS, TAGS)
            assert_distributions(fitted.components_)
            assert_distributions(fitted.transform(COUNTS))
        else:
            says = f"{type(model).__name__}: {name} must be a number from 1e-09 to 1e\\+06"
            with pytest.raises(tt.InputError, match=says):
                changed.fit(COUNTS, TAGS)


@every_model
def test_an_empty_new_document_gets_the_prior(model: Any) -> None:
    fitted = small(model).fit(COUNTS, TAGS)
    prior = fitted.doc_topic_prior_ / fitted.doc_topic_prior_.sum()
    np.testing.assert_allclose(fitted.transform(np.zeros((2, 4), dtype=int)), [prior, prior], rtol=1e-5)


@every_model
@pytest.mark.parametrize("tags", [None, [[]] * 6, [["a"]] + [[]] * 5], ids=["none", "empty", "one"])
def test_documents_without_tags_are_fine(model: Any, tags: Any) -> None:
    needs_tags = isinstance(model, tt.LabeledLDA)
    if needs_tags and (tags is None or not any(tags)):
        with pytest.raises(tt.InputError, match="give tags"):
            small(model).fit(COUNTS, tags)
        return
    fitted = small(model).fit(COUNTS, tags)
    assert_distributions(fitted.components_)
    assert_distributions(fitted.doc_topic_)
    assert_distributions(fitted.transform(COUNTS, tags))


@every_model
def test_one_document_is_a_corpus(model: Any) -> None:
    fitted = small(model).fit(COUNTS[:1], [["a", "b"]])
    assert_distributions(fitted.components_)
    assert fitted.perplexity(COUNTS[:1]) > 0


@every_model
def test_dense_and_sparse_are_the_same(model: Any) -> None:
    indicator = np.array([[t in tags for t in "abc"] for tags in TAGS], dtype=int)
    dense = small(model).fit(COUNTS, indicator)
    sparse = small(model).fit(sp.csr_matrix(COUNTS), sp.csr_array(indicator))
    assert np.array_equal(dense.components_, sparse.components_)
    assert np.array_equal(dense.transform(COUNTS), sparse.transform(sp.csc_array(COUNTS)))


@every_model
def test_fractions_of_tokens_are_fine(model: Any) -> None:
    fitted = small(model).fit(COUNTS * 0.7, TAGS)
    untagged = COUNTS[-1].sum() if isinstance(model, tt.LabeledLDA) else 0
    np.testing.assert_allclose(fitted.topic_sums_.sum(), 0.7 * (COUNTS.sum() - untagged), rtol=1e-5)


class Recorder(Callback[Any]):
    """Records all calls, and stops after `last` iterations."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.calls: list[Any] = []

    def on_start(self, max_iter: int) -> None:
        self.calls.append(max_iter)

    def on_stage(self, name: str) -> None:
        self.calls.append(name)

    def on_iteration(self, step: Step, state: Any) -> bool:
        assert 0 <= step.change <= 2
        self.calls.append(step.iteration)
        return step.iteration == self.last

    def on_end(self, reason: str) -> None:
        self.calls.append(reason)


@every_model
def test_callbacks_are_called_at_every_step_and_may_stop(model: Any, planted: SyntheticCorpus) -> None:
    recorder = Recorder(3)
    fitted = small(model).fit(planted.corpus, callbacks=[recorder])
    first = ["Fitting the tag prior", "Drawing the first messages"] if isinstance(model, tt.TTM) else []
    last = ["Crediting words to tags"] if hasattr(model, "explain") else []
    assert recorder.calls == [*first, 8, 1, 2, 3, "stopped", *last, "Training the recommender"]
    assert fitted.n_iter_ == len(fitted.history_) == 3
    assert fitted.stop_reason_ == "stopped"
    assert_distributions(fitted.doc_topic_)


@every_model
def test_words_are_predicted_better_than_by_their_frequency(model: Any, planted: SyntheticCorpus) -> None:
    train, test = (planted.corpus.select(rows) for rows in train_test(planted.corpus, 0))
    fitted = clone(model).set_params(random_state=0).fit_topics(train)
    _, held_out = completion(test.counts, 0)
    total = heldout.unigram_log_likelihood(held_out, train.counts.sum(0), 0.05)
    plain = heldout.perplexity(total, float(held_out.sum()))
    assert fitted.perplexity(test) < 0.75 * plain


@every_model
def test_planted_topics_are_recovered(model: Any, planted: SyntheticCorpus) -> None:
    """Each of the ten tags has a topic of its own, so tags as topics find them too."""
    fitted = clone(model).set_params(random_state=1).fit_topics(planted.corpus)
    found = fitted.components_ / np.linalg.norm(fitted.components_, axis=1, keepdims=True)
    truth = planted.topics / np.linalg.norm(planted.topics, axis=1, keepdims=True)
    cosine = truth @ found.T
    matched = cosine[linear_sum_assignment(-cosine)]
    assert matched.mean() > 0.95
    assert matched.min() > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "-" not in name])
def test_check_estimator(name: str) -> None:
    """Each class once; the others take part in all other tests of the contract."""
    model = ESTIMATORS[name]
    results = check_estimator(small(model, random_state=None), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
