"""The baselines against implementations by others: as good at predicting words, within 3 %, or better.

Their topics are scored by our own evaluator, so that only the learning is compared: proportions of test
documents are folded in from 80 % of the tokens, and the other 20 % are predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp import holdout as heldout
from tagtopics.bp.fold_in import infer_topics
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion, train_test

ALPHA, BETA, K = 0.1, 0.05, 10
WITHIN = 1.03


@pytest.fixture(scope="module")
def parts() -> tuple[Corpus, Corpus]:
    """Training and test documents whose topics are mixed enough to be no walkover."""
    truth = make_tagged_corpus(500, 300, K, 10, doc_length=60, n_groups=1, own_topic=0.7, seed=2)
    train, test = train_test(truth.corpus, 0)
    return truth.corpus.select(train), truth.corpus.select(test)


def perplexity(topics: Any, test: Corpus, prior: Any = None) -> float:
    """Return the completion perplexity of topics (K, W) that somebody learned."""
    phi = np.ascontiguousarray(np.asarray(topics, dtype=np.float32).T)
    alpha = np.full(phi.shape[1], ALPHA, dtype=np.float32) if prior is None else prior
    seen, held_out = completion(test.counts, 0)
    theta = infer_topics(seen, phi, alpha)
    return heldout.perplexity(
        float(heldout.log_likelihoods(held_out, theta, phi).sum()), float(held_out.sum())
    )


def words_of(corpus: Corpus, doc: int) -> list[str]:
    row = corpus.counts[[doc]]
    return [corpus.vocabulary[w] for w in np.repeat(row.indices, row.data)]


def in_columns(rows: Any, names: Any, corpus: Corpus) -> Any:
    """Return topics over `names` in the columns of a corpus; words they do not know are very rare."""
    column = {name: w for w, name in enumerate(corpus.vocabulary)}
    topics = np.full((len(rows), corpus.n_words), 1e-6)
    topics[:, [column[name] for name in names]] = rows
    return topics / topics.sum(1, keepdims=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_author_topics_against_gensim(parts: tuple[Corpus, Corpus]) -> None:
    AuthorTopicModel = pytest.importorskip("gensim.models").AuthorTopicModel  # no gensim for Python 3.14 yet

    train, test = parts
    bags = [list(zip(*(r.tolist() for r in (row.indices, row.data)), strict=True)) for row in _rows(train)]
    authors = {name: [d for d in range(train.n_docs) if name in train.tags_of(d)] for name in train.tag_names}
    other = AuthorTopicModel(
        bags, K, dict(enumerate(train.vocabulary)), authors, alpha=[ALPHA] * K, eta=BETA,
        passes=15, chunksize=1000, random_state=0,
    )  # fmt: skip
    model = tt.ATM(K, random_state=0, doc_topic_prior=ALPHA, topic_word_prior=BETA).fit_topics(train)
    assert perplexity(model.components_, test) < WITHIN * perplexity(other.get_topics(), test)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_labelled_lda_against_tomotopy(parts: tuple[Corpus, Corpus]) -> None:
    import tomotopy

    train, test = parts
    other = tomotopy.PLDAModel(latent_topics=0, topics_per_label=1, alpha=ALPHA, eta=BETA, seed=0)
    for d in range(train.n_docs):
        other.add_doc(words_of(train, d), labels=list(train.tags_of(d)))
    other.optim_interval = 0
    other.train(200, workers=1)
    order = [list(other.topic_label_dict).index(name) for name in train.tag_names]
    topics = in_columns([other.get_topic_word_dist(k) for k in order], other.used_vocabs, train)
    model = tt.LabeledLDA(random_state=0, doc_topic_prior=ALPHA, topic_word_prior=BETA).fit_topics(train)
    prior = model.doc_topic_prior_
    assert perplexity(model.components_, test, prior) < WITHIN * perplexity(topics, test, prior)
    cosine = [
        a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(topics, model.components_, strict=True)
    ]
    assert min(cosine) > 0.95  # the topics have names, so they must be the same ones


def _rows(corpus: Corpus) -> list[Any]:
    return [corpus.counts[[d]] for d in range(corpus.n_docs)]
