"""Latent Dirichlet allocation by loopy belief propagation."""

from __future__ import annotations

from typing import ClassVar

from tagtopics.models.online import OnlineModel


class LDA(OnlineModel):
    """Latent Dirichlet allocation; topics ignore tags.

    Args:
        n_topics: the number of topics, K.
        preset: "default", "paper", "fast", or a `Preset`: exponent of the words, over-relaxation and start.
        doc_topic_prior: pseudo-count of each topic in each document; in the paper, alpha. None is at most
            0.1, or 5 over the number of topics if that is less; with the default preset and 500 documents or
            more, it is chosen on held-out documents.
        topic_word_prior: pseudo-count of each word in each topic; in the paper, beta. None is 0.05, or less
            if there are few tokens per topic, so that no more than an eighth of them are added. Fits that end
            with 3 more sweeps keep a quarter of it in `components_`; this is `topic_word_prior_`.
        max_iter: maximum number of sweeps; None is 100, or 200 in the preset "paper". With None and more than
            20,000 documents, topics are learned from a part of them first; then 25 sweeps over all follow.
            With None and vectors, 5 sweeps follow topics that are merged. With None, the default preset ends
            with 3 more sweeps, in which words are smoother.
        tol: stop when the mean change of a token's message in a sweep falls below this.
        memory: "stored" keeps all messages in memory, which is fastest. "lean" recomputes them in each sweep
            and needs memory for documents, words and tags only. "auto" is "stored" up to 8 GiB of messages,
            else "lean"; it depends on the sizes of the corpus alone, never on the machine.
        random_state: seed; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.
        recommender: whether `fit` trains a tag recommender; False saves time, as in a grid search.

    Attributes:
        components_: (K, W) p(word | topic), rows add up to one; in the paper, phi.
        topic_words_: (K, 20) columns of the words of each topic that lists show first.
        doc_topic_: (D, K) topic proportions of the training documents; in the paper, theta.
        doc_topic_prior_, word_exponent_: the prior and the exponent of the words that were used.
        n_iter_: number of sweeps.
        history_: iteration, change and seconds of each sweep.
        stop_reason_: converged, max_iter or stopped.
        vocabulary_: the W words.
        doc_ids_: the D names of the training documents.
        doc_titles_: their titles, empty where unknown.
    """

    _ignores_tags: ClassVar[bool] = True
