"""Credit of mixed documents: planted answers, and definitions as slow twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.synthetic import make_tagged_corpus
from reproduction.credit import credit_of, evaluate_credit, mix_documents, naive_bayes_shares
from tagtopics import TTM, Corpus, InputError, LabeledLDA, read_corpus
from tagtopics.corpus.core import canonical_counts, tag_matrix


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(
        n_docs=400, n_words=200, n_groups=0, n_topics=8, n_tags=8, tags_per_doc=1, seed=2
    ).corpus


def test_mixing_conserves_tokens_and_knows_their_source(corpus: Corpus) -> None:
    mixed = mix_documents(corpus, seed=1)
    by_id = {name: d for d, name in enumerate(corpus.ids)}
    assert (mixed.truth.sum(1) == mixed.corpus.counts.data).all()
    for m in range(0, mixed.corpus.n_docs, 17):
        first, second = (by_id[name] for name in mixed.corpus.ids[m].split("+"))
        row = mixed.corpus.counts[[m]].toarray()
        assert (row == corpus.counts[[first]].toarray() + corpus.counts[[second]].toarray()).all()
        assert mixed.corpus.tags_of(m) == corpus.tags_of(first) + corpus.tags_of(second)
        edges = slice(*mixed.corpus.counts.indptr[m : m + 2])
        words = mixed.corpus.counts.indices[edges]
        assert (mixed.truth[edges, 0] == corpus.counts[[first]].toarray()[0, words]).all()


def test_accuracy_of_the_truth_is_the_oracles(corpus: Corpus) -> None:
    mixed = mix_documents(corpus)
    assert mixed.accuracy(mixed.truth.astype(np.float64)) == pytest.approx(mixed.decidable())
    assert mixed.accuracy(np.full(mixed.truth.shape, 0.5)) == 0.5


def test_naive_bayes_reads_like_its_definition() -> None:
    counts = canonical_counts(np.array([[3, 1, 0], [0, 2, 2], [1, 0, 4]]))
    tags = tag_matrix([["a", "b"], ["b", "c"], ["a", "c"]], ["a", "b", "c"])
    names = {"vocabulary": ("x", "y", "z"), "tag_names": ("a", "b", "c"), "ids": ("0", "1", "2")}
    corpus = Corpus(counts=counts, tags=tags, **names)  # type: ignore[arg-type]
    dense, indicator = counts.toarray(), tags.toarray()
    said = np.array([(dense * indicator[:, [t]]).sum(0) + 0.01 for t in range(3)])
    said /= said.sum(1, keepdims=True)
    expected = []
    for d in range(3):
        for w in np.flatnonzero(dense[d]):
            pair = said[np.flatnonzero(indicator[d]), w]
            expected.append(pair / pair.sum())
    assert naive_bayes_shares(corpus) == pytest.approx(np.array(expected))


def test_credit_of_every_word_adds_up_to_one(corpus: Corpus) -> None:
    mixed = mix_documents(corpus).corpus
    table = TTM(8, random_state=0, max_iter=20).fit_topics(mixed).explain(mixed)
    assert len(table) == 2 * mixed.counts.nnz
    assert table.credit.reshape(-1, 2).sum(1) == pytest.approx(1.0)


def test_planted_credit_is_found(corpus: Corpus) -> None:
    result = evaluate_credit(corpus, TTM(8, random_state=0, max_iter=30))
    assert result["metrics"]["accuracy"] > 0.9
    assert result["metrics"]["accuracy"] > result["metrics"]["naive_bayes"] - 0.01


def test_credit_needs_documents_of_one_tag(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="exactly one tag"):
        evaluate_credit(corpus.select([0, 1, 2]), TTM(2))


@pytest.mark.real_data
def test_credit_above_labelled_lda_and_naive_bayes(data_directory: Path) -> None:
    mixed = mix_documents(read_corpus(data_directory / "bibtex"), seed=4)
    ours = credit_of(TTM(20, random_state=4).fit(mixed.corpus), mixed.corpus)
    theirs = credit_of(LabeledLDA(random_state=4).fit(mixed.corpus), mixed.corpus)
    assert mixed.accuracy(ours) > mixed.accuracy(theirs)
    assert mixed.accuracy(ours) > mixed.accuracy(naive_bayes_shares(mixed.corpus))
