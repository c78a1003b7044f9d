"""The perplexity task: its split, its baseline, its figures."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.synthetic import make_tagged_corpus
from tagtopics import LDA, TTM, Corpus, InputError
from tagtopics.corpus.splits import completion, train_test
from tagtopics.evaluation import TASKS, find_task
from tagtopics.evaluation.perplexity import evaluate_perplexity, unigram_perplexity


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(n_docs=120, seed=1).corpus


def test_figures_are_those_of_the_model_on_the_test_part(corpus: Corpus) -> None:
    result = evaluate_perplexity(corpus, TTM(4, max_iter=10, random_state=0), seed=3)
    train, test = (corpus.select(rows) for rows in train_test(corpus, 3))
    model = TTM(4, max_iter=10, random_state=0).fit(train)
    assert result["metrics"]["perplexity"] == model.perplexity(test, seed=3)
    assert set(result["seconds"]) == {"fit", "score"}
    assert set(result["metrics"]) == {"perplexity", "unigram_perplexity"}


def test_unigram_reads_like_its_definition(corpus: Corpus) -> None:
    result = evaluate_perplexity(corpus, LDA(2, max_iter=1, random_state=0), seed=3)
    train, test = (corpus.select(rows) for rows in train_test(corpus, 3))
    _, held_out = completion(test.counts, 3)
    counts = train.counts.toarray().sum(0) + 0.05
    log_probability = np.log(counts / counts.sum())
    tokens = held_out.toarray()
    expected = np.exp(-(tokens * log_probability).sum() / tokens.sum())
    assert result["metrics"]["unigram_perplexity"] == pytest.approx(expected)


def test_topics_predict_better_than_word_frequencies(corpus: Corpus) -> None:
    metrics = evaluate_perplexity(corpus, TTM(8, max_iter=50, random_state=0))["metrics"]
    assert metrics["perplexity"] < metrics["unigram_perplexity"]


def test_an_official_split_is_used(corpus: Corpus) -> None:
    split = ("train",) * 100 + ("test",) * 20
    official = replace(corpus, split=split)
    figures = [
        evaluate_perplexity(official, LDA(2, max_iter=3, random_state=0), seed=seed)["metrics"]
        for seed in (0, 0, 1)
    ]
    assert figures[0] == figures[1] != figures[2]  # another seed holds out other tokens, not documents
    _, held_out = completion(official.select(np.arange(100, 120)).counts, 0)
    counts = official.counts[:100].toarray().sum(0) + 0.05
    total = held_out.toarray() * np.log(counts / counts.sum())
    assert figures[0]["unigram_perplexity"] == pytest.approx(np.exp(-total.sum() / held_out.sum()))


def test_known_tags_are_used_where_the_model_has_tags(corpus: Corpus) -> None:
    def figure(model: LDA | TTM, known: bool) -> float:
        return float(evaluate_perplexity(corpus, model, tags_known=known)["metrics"]["perplexity"])

    assert figure(TTM(4, max_iter=5, random_state=0), True) != figure(
        TTM(4, max_iter=5, random_state=0), False
    )
    assert figure(LDA(4, max_iter=5, random_state=0), True) == figure(
        LDA(4, max_iter=5, random_state=0), False
    )


def test_perplexity_of_nothing_is_an_error(corpus: Corpus) -> None:
    """Empty documents, unknown words, one word per document: there is nothing to predict, and no NaN."""
    model = TTM(4, max_iter=2, random_state=0).fit(corpus)
    nothing = replace(corpus, counts=sp.csr_array(corpus.counts.shape, dtype=np.int32))
    first = np.zeros(corpus.counts.shape, dtype=np.int32)
    first[:, 0] = 1
    single = replace(corpus, counts=sp.csr_array(first))
    for documents in (nothing, single, corpus.select([])):
        with pytest.raises(InputError, match="perplexity: nothing to predict"):
            model.perplexity(documents)
        with pytest.raises(InputError, match="perplexity: nothing to predict"):
            unigram_perplexity(corpus, documents, prior=0.1)
    with pytest.raises(InputError, match="perplexity: nothing to predict"):
        model.score(nothing)
    assert model.perplexity(single, completed=False) > 0
    split = ("train",) * 100 + ("test",) * 20
    counts = corpus.counts.toarray()
    counts[100:] = 0
    empty = replace(corpus, counts=sp.csr_array(counts), split=split)
    with pytest.raises(InputError, match="perplexity: nothing to predict"):
        evaluate_perplexity(empty, LDA(2, max_iter=1, random_state=0))


def test_a_tag_prior_is_learned_from_documents_of_one_word() -> None:
    """Nothing can be held out."""
    counts = np.eye(20, dtype=np.int32)[np.arange(400) % 20]
    model = TTM(3, max_iter=2, random_state=0).fit(counts, list("ab" * 200))
    assert np.isfinite(model.components_).all()


def test_held_out_words_are_the_same_for_every_model_and_setting(corpus: Corpus) -> None:
    model, lda = (estimator(4, max_iter=5, random_state=0) for estimator in (TTM, LDA))
    hidden, known, inferred = (
        evaluate_perplexity(corpus, model, seed=3, **tags)["metrics"]
        for tags in ({}, {"tags_known": True}, {"tags_inferred": True})
    )
    assert len({hidden["perplexity"], known["perplexity"], inferred["perplexity"]}) == 3
    other = evaluate_perplexity(corpus, lda, seed=3, tags_inferred=True)["metrics"]
    assert {one["unigram_perplexity"] for one in (hidden, known, inferred)} == {other["unigram_perplexity"]}
    _, test = (corpus.select(rows) for rows in train_test(corpus, 3))
    assert other["perplexity"] == lda.perplexity(test, seed=3)
    assert known["perplexity"] == model.perplexity(test, test, seed=3)


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown task 'poetry'; choose from perplexity"):
        find_task("poetry")


@pytest.mark.parametrize("name", TASKS)
def test_every_task_can_be_found(name: str) -> None:
    assert callable(find_task(name))


def test_the_table_of_tasks_is_light() -> None:
    code = "import sys, tagtopics.evaluation; sys.exit(bool({'numpy', 'scipy', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
