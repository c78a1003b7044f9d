"""The author-topic model: tags are authors, and each token has one author of its document."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.baselines.gibbs import GibbsModel, GibbsSampling, Sample
from tagtopics.bp.graph import joint_profile
from tagtopics.bp.loop import Learned, proportions
from tagtopics.errors import InputError
from tagtopics.models.results import TagProfile, largest_weights


class AuthorSampling(GibbsSampling):
    """Sweeps over all tokens of a corpus; tags are authors, and alpha is the prior of an author's topics."""

    first_passes: ClassVar[int] = 2  # topics, then authors

    @cached_property
    def authors(self) -> CSR:
        """The tags of each document, (D, A), and a private author where there are none."""
        return with_private_authors(self.tags)

    @cached_property
    def _weights(self) -> Float64:
        """The weight of each token, (N,): ones, and what remains of a count that is not whole."""
        counts = self.graph.edge_count.astype(np.float64)
        weights = np.ones(int(self.tokens[-1]))
        weights[np.cumsum(np.ceil(counts)).astype(np.int64) - 1] = counts - np.ceil(counts) + 1
        return weights

    def doc_sums(self, sample: Sample) -> Float64:
        """Return the tokens of each document by topic, (D, K)."""
        K = sample.sums.shape[1]
        entries = (self._weights, sample.drawn % K, self.tokens)
        return np.asarray(sp.csr_array(entries, shape=(self.graph.n_docs, K)).toarray())

    def current_sums(self, sample: Sample) -> tuple[Float64, ...]:
        """Return the sums of a sample whose mean is the result."""
        return *super().current_sums(sample), sample.sums

    def learned(self, sample: Sample) -> Learned:
        """Return the mean of the sweeps kept; profiles are scaled by the number of documents with the tag."""
        doc_sums, word_sums, author_sums = self.mean_sums(sample)
        alpha, has_words = self.priors.doc_topic, np.diff(self.graph.doc_edges) > 0
        of_tags = proportions(author_sums[: self.tags.shape[1]], alpha).astype(np.float64)
        tag_docs = self.tags.T @ has_words.astype(np.int64)  # tags are of one byte each
        tag_sums = tag_docs[:, np.newaxis] * of_tags
        return Learned(word_sums, proportions(doc_sums, alpha), alpha, {"tag_sums_": tag_sums})


def with_private_authors(tags: CSR) -> CSR:
    """Return tags, CSR (D, T), with one more column for each document that has none: a private author."""
    alone = np.flatnonzero(np.diff(tags.indptr) == 0)
    entries = (np.ones(len(alone), dtype=np.int8), (alone, np.arange(len(alone))))
    private = sp.coo_array(entries, shape=(tags.shape[0], len(alone)))
    joined = sp.csr_array(sp.hstack([tags, private], format="csr"))
    joined.sort_indices()
    return joined


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

    _sampler: ClassVar[type[GibbsSampling]] = AuthorSampling
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {"tag_sums_": ("T", "K")}

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Return the topics and words of a tag, or the topics that several tags share; as in `TTM`."""
        check_is_fitted(self)
        columns = [self.tag_column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        topics = joint_profile(self.tag_means()[columns])
        words = tuple(largest_weights(self.vocabulary_, topics @ self.components_, n_words))
        found = tuple(self.tag_names_[t] for t in columns)
        return TagProfile(found, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    def infer(self, counts: Any, tags: Any, own_counts: Any = None) -> Float32:
        """Return the mean topics of a document's known tags; without known tags, infer from its words."""
        n_tags = np.zeros(counts.shape[0], dtype=int) if tags is None else np.diff(tags.indptr)
        theta = np.empty((counts.shape[0], self.n_topics), dtype=np.float32)
        unknown = n_tags == 0
        theta[unknown] = super().infer(counts[np.flatnonzero(unknown)], None)
        if not unknown.all():
            known = np.flatnonzero(~unknown)
            theta[known] = (tags[known] @ self.tag_means()) / n_tags[known, np.newaxis]
        return theta
