"""What each baseline does that the others do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus, make_tagged_corpus
from tagtopics.baselines import gibbs, labeled_lda
from tagtopics.baselines.rtm import shared_tag_links

COUNTS = np.array([[3, 1, 0, 0], [2, 2, 1, 0], [0, 0, 4, 1], [0, 1, 2, 3]])
TAGS = [["a"], ["a", "b"], ["b", "c"], ["c"]]


@pytest.fixture(scope="module")
def planted() -> SyntheticCorpus:
    return make_tagged_corpus(n_docs=400, n_words=300, n_topics=10, n_tags=10, n_groups=0, seed=5)


def matching(planted: SyntheticCorpus, components: Any) -> Any:
    """Return the column of `components` (K, W) nearest to each planted topic."""
    unit = components / np.linalg.norm(components, axis=1, keepdims=True)
    return np.argmax(planted.topics @ unit.T, axis=1)


def test_the_topics_of_authors_are_found(planted: SyntheticCorpus) -> None:
    model = tt.ATM(10, max_iter=100, random_state=0).fit_topics(planted.corpus)
    found = model.tag_means()[:, matching(planted, model.components_)]
    np.testing.assert_array_equal(found.argmax(1), planted.tag_topics.argmax(1))
    assert np.abs(found - planted.tag_topics).sum(1).mean() < 0.2


def test_an_author_of_many_documents_has_topics(tmp_path: Path) -> None:
    model = tt.ATM(2, max_iter=2, random_state=0).fit(np.tile(COUNTS, (75, 1)), TAGS * 75)
    np.testing.assert_allclose(model.tag_sums_.sum(1), model.tag_docs_, rtol=1e-6)
    assert model.tag_docs_.max() > 127
    model.save(tmp_path / "m.tt")


def test_known_authors_decide_and_unknown_ones_do_not() -> None:
    model = tt.ATM(2, max_iter=20, random_state=0).fit(COUNTS, TAGS)
    means = model.tag_means()
    theta = model.transform(COUNTS, [["a"], ["a", "c"], [], ["b"]])
    np.testing.assert_allclose(theta[[0, 1, 3]], [means[0], (means[0] + means[2]) / 2, means[1]], rtol=1e-5)
    np.testing.assert_array_equal(theta[2], model.transform(COUNTS)[2])


def test_without_tags_the_author_topic_model_is_lda_for_each_document() -> None:
    """Private authors: a document's tokens draw from its own topics, as sharply as without links in RTM."""
    truth = make_tagged_corpus(n_docs=200, n_words=200, n_topics=6, n_tags=6, n_groups=0, seed=1)
    counts = truth.corpus.counts
    atm = tt.ATM(6, max_iter=60, random_state=0).fit(counts)
    lda = tt.RTM(6, max_iter=60, random_state=0).fit(counts)
    assert atm.perplexity(counts) == pytest.approx(lda.perplexity(counts), rel=0.02)


def test_linked_documents_share_topics(planted: SyntheticCorpus) -> None:
    """Links that follow the planted topics: a link within a topic is likelier than one across."""
    corpus = planted.corpus
    labels = np.array([int(str(label).removeprefix("topic")) for label in corpus.labels or ()])
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, corpus.n_docs, (2, 6000))
    same = (labels[a] == labels[b]) & (a != b)
    links = sp.coo_array((np.ones(same.sum()), (a[same], b[same])), shape=(corpus.n_docs,) * 2)
    linked = replace(corpus, links=sp.csr_array(links))
    model = tt.RTM(10, links_per_tag=None, max_iter=60, random_state=0).fit_topics(linked)
    assert (model.link_probabilities_[:-1] > model.link_probabilities_[-1]).all()
    shared = (model.doc_topic_[a] * model.doc_topic_[b]).sum(1)
    assert roc_auc_score(labels[a] == labels[b], shared) > 0.8


def test_links_pull_the_topics_of_documents_together() -> None:
    """A document of words that fit two topics alike goes to the topic of those it is linked with."""
    counts = np.zeros((42, 6), dtype=int)
    counts[:20, :2], counts[20:40, 2:4], counts[40:] = 10, 10, [1, 1, 1, 1, 0, 0]
    for side in (0, 1):
        links = np.zeros((42, 42))
        links[40:, 20 * side : 20 * side + 20] = 1
        links[:20, :20] = links[20:40, 20:40] = 1
        corpus = replace(tt.read_corpus(counts), links=sp.csr_array(links))
        model = tt.RTM(2, links_per_tag=None, max_iter=60, negative_ratio=100, random_state=0).fit(corpus)
        near, far = model.doc_topic_[20 * side].argmax(), model.doc_topic_[20 - 20 * side].argmax()
        assert near != far
        assert (model.doc_topic_[40:, near] > 0.6).all()


def test_links_of_shared_tags_are_all_or_evenly_drawn() -> None:
    tags = sp.csr_array(np.array([[1, 0, 1]] * 3 + [[0, 0, 1]] * 40, dtype=np.int8))
    links = shared_tag_links(tags[:, :2], 4, 0).toarray()
    assert links[:3, :3].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert links.sum() == 6
    many = shared_tag_links(tags[:, 2:], 4, 0)
    assert np.diff(many.indptr).tolist() == [4] * 43
    assert (many != many.T).nnz == 0
    assert many.diagonal().sum() == 0
    assert (shared_tag_links(tags, 4, 1) != shared_tag_links(tags, 4, 2)).nnz > 0


def test_links_must_fit() -> None:
    with pytest.raises(tt.InputError, match="the links of the corpus, which has none"):
        tt.RTM(2, links_per_tag=None).fit(COUNTS)


def test_tags_of_untagged_documents_are_ranked(planted: SyntheticCorpus) -> None:
    train, test = planted.corpus.select(np.arange(320)), planted.corpus.select(np.arange(320, 400))
    model = tt.LabeledLDA(random_state=0).fit_topics(train)
    scores = model.tag_scores(test)
    assert scores.shape == (80, 10)
    hits = test.tags.toarray()[np.arange(80), scores.argmax(1)]
    assert hits.mean() > 0.9


def test_labelled_documents_have_the_topics_of_their_tags_alone() -> None:
    model = tt.LabeledLDA(random_state=0).fit(COUNTS, TAGS)
    allowed = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    for theta in (model.doc_topic_, model.transform(COUNTS, TAGS)):
        np.testing.assert_array_equal(theta > 0, allowed)
    assert (model.transform(COUNTS) > 0).all()


def test_more_tags_cost_memory_only_where_they_are() -> None:
    """Messages are kept for each word and tag of a document, not for each tag there is."""
    model = tt.LabeledLDA()
    algorithm = model._algorithm(model.training_corpus(COUNTS, TAGS))
    assert len(algorithm.init().messages) == 2 * 1 + 3 * 2 + 2 * 2 + 3 * 1


def test_huge_corpora_are_refused_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs, "MOST_TOKENS", 10)
    for model in (tt.ATM(2), tt.RTM(2)):
        with pytest.raises(tt.InputError, match="20 tokens"):
            model.fit(COUNTS, TAGS)
    monkeypatch.setattr(labeled_lda, "MOST_CELLS", 10)
    with pytest.raises(tt.InputError, match="3 topics of 4 words"):
        tt.LabeledLDA().fit(COUNTS, TAGS)


def test_the_mean_of_many_sweeps_predicts_better_than_the_last(planted: SyntheticCorpus) -> None:
    train, test = planted.corpus.select(np.arange(320)), planted.corpus.select(np.arange(320, 400))
    last, mean = (
        tt.ATM(10, max_iter=80, averaged_share=share, random_state=0).fit_topics(train).perplexity(test)
        for share in (0, 0.5)
    )
    assert mean < last


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (tt.ATM(averaged_share=1.5), "averaged_share"),
        (tt.RTM(links_per_tag=-1), "links_per_tag"),
        (tt.RTM(negative_ratio=0), "negative_ratio"),
    ],
)
def test_parameters_are_checked(model: Any, message: str) -> None:
    with pytest.raises(tt.InputError, match=message):
        model.fit(COUNTS, TAGS)
