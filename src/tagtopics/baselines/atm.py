"""The author-topic model: tags are authors, and each token has one author of its document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64, Int32
from tagtopics.baselines.gibbs_lda import Chain, GibbsModel, Kept
from tagtopics.bp.graph import build_graph, joint_profile
from tagtopics.bp.loop import Learned, TopicAlgorithm, proportions
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.results import TagProfile, top_weighted


class ATM(GibbsModel):
    """Author-topic model (Rosen-Zvi et al. 2004) by collapsed Gibbs sampling.

    Each token draws one of the document's tags uniformly, then a topic of that tag, then a word. A document
    without tags has an author of its own, which makes it a document of LDA; so do new documents with unknown
    tags. With known tags, `transform` returns the mean of the tags' topics and ignores the words, as the
    model defines it. `doc_topic_` are the topics drawn for the tokens of each training document.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic for each tag; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: number of sweeps.
        averaged_share: share of the sweeps, the last ones, whose mean is the result; 0 uses the last sweep.
        init: "anchors" draws the first topics around anchor words, "random" uniformly.
        random_state: seed of the chain; equal seeds give equal bits.
        n_jobs: threads for the start and for new documents; None or -1 for all cores. The chain is serial.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
        tag_sums_: (T, K) the topics of each tag, times `tag_docs_`; see `tag_means`.
    """

    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {"tag_sums_": ("T", "K")}

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        graph = build_graph(corpus.counts, with_private_authors(corpus.tags))
        return AuthorSampling(graph=graph, n_tags=corpus.n_tags, **self._chain())

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Return the topics and words of a tag, or the topics that several tags share; as in `TTM`."""
        check_is_fitted(self)
        columns = [self.tag_column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        topics = joint_profile(self.tag_means()[columns])
        words = tuple(top_weighted(self.vocabulary_, topics @ self.components_, n_words))
        return TagProfile(tags, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    def infer(self, counts: Any, tags: Any) -> Float32:
        """Return the mean topics of a document's known tags; without known tags, infer from its words."""
        n_tags = np.zeros(counts.shape[0], dtype=int) if tags is None else np.diff(tags.indptr)
        theta = np.empty((counts.shape[0], self.n_topics), dtype=np.float32)
        unknown = n_tags == 0
        theta[unknown] = super().infer(counts[np.flatnonzero(unknown)], None)
        if not unknown.all():
            known = np.flatnonzero(~unknown)
            theta[known] = (tags[known] @ self.tag_means()) / n_tags[known, np.newaxis]
        return theta


class AuthorSample(NamedTuple):
    """One point of the chain."""

    iteration: int
    topics: Int32  # (N,) topic of each token
    slots: Int32  # (N,) author of each token: its place among the document's
    author_sums: Float64  # (A, K) tokens of each author by topic
    word_sums: Float64  # (W, K)
    kept: Kept  # of doc_sums, author_sums and word_sums


@dataclass(frozen=True, kw_only=True)
class AuthorSampling(Chain):
    """Sweeps over all tokens of a corpus whose documents all have an author; see `with_private_authors`.

    The tags of the slots of the graph are the A authors; alpha is the prior of each author's topics.
    """

    n_tags: int  # how many of the authors, the first ones, are tags

    def init(self) -> AuthorSample:
        """Return the first topics and authors, and their sums."""
        K, N, seed = len(self.priors.doc_topic), int(self.tokens[-1]), np.uint64(self.seed)
        topics, slots = np.empty(N, dtype=np.int32), np.empty(N, dtype=np.int32)
        doc_sums, word_sums = np.zeros((self.graph.n_docs, K)), np.zeros((self.graph.n_words, K))
        author_sums = np.zeros((self.graph.n_tags, K))
        self.kernels.start(self.graph, self.tokens, self.first_topics(), seed, topics, doc_sums, word_sums)
        self.kernels.first_authors(self.graph, self.tokens, seed, N, topics, slots, author_sums)
        return AuthorSample(0, topics, slots, author_sums, word_sums, Kept(0, ()))

    def step(self, sample: AuthorSample) -> tuple[AuthorSample, float]:
        """Return the sample after one sweep, and twice the share of tokens whose topic changed."""
        sweep = sample.iteration + 1
        given = (self.graph, self.tokens, *self.draws(sweep + 1))  # the first pass drew authors
        arrays = (sample.topics, sample.slots, sample.author_sums, sample.word_sums)
        moved = self.kernels.sweep_authors(*given, *arrays)
        after = sample._replace(iteration=sweep, kept=self.keep(sample.kept, sweep, self._sums(sample)))
        return after, 2 * moved / max(float(sample.word_sums.sum()), 1e-300)

    def learned(self, sample: AuthorSample) -> Learned:
        """Return the mean of the sweeps kept; profiles are scaled by the number of documents with the tag."""
        doc_sums, author_sums, word_sums = sample.kept.mean(self._sums(sample))
        alpha = self.priors.doc_topic
        of_tags = proportions(author_sums[: self.n_tags], alpha).astype(np.float64)
        tag_sums = self.graph.totals.tag_docs[: self.n_tags, np.newaxis] * of_tags
        return Learned(word_sums, proportions(doc_sums, alpha), alpha, {"tag_sums_": tag_sums})

    def _sums(self, sample: AuthorSample) -> tuple[Float64, ...]:
        doc_sums = np.zeros((self.graph.n_docs, sample.word_sums.shape[1]))
        self.kernels.topic_counts(self.graph, self.tokens, sample.topics, doc_sums)
        return doc_sums, sample.author_sums, sample.word_sums


def with_private_authors(tags: Any) -> Any:
    """Return tags, CSR (D, T), with one more column for each document that has none: a private author."""
    alone = np.flatnonzero(np.diff(tags.indptr) == 0)
    entries = (np.ones(len(alone), dtype=np.int8), (alone, np.arange(len(alone))))
    private = sp.coo_array(entries, shape=(tags.shape[0], len(alone)))
    joined = sp.csr_array(sp.hstack([tags, private], format="csr"))
    joined.sort_indices()
    return joined
