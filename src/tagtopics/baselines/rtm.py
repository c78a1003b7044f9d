"""The relational topic model: LDA whose linked documents tend to share topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagtopics.baselines.gibbs import GibbsModel, Links
from tagtopics.bp.loop import TopicAlgorithm
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError


@dataclass(eq=False, repr=False, kw_only=True)
class RTM(GibbsModel):
    """Relational topic model (Chang and Blei 2010) with the exponential link function.

    The probability of a link is exp(eta . (zbar_a * zbar_b) + nu), where zbar are the mean topics of two
    documents. Topics are drawn by collapsed Gibbs sampling, for which this link function is exact; eta and nu
    follow after each sweep from the paper's closed form. Pairs without a link are not enumerated:
    pseudo-observations from the prior represent them.

    Args:
        n_topics: the number of topics, K.
        links_per_tag: documents that share a tag are linked, each with at most this many others per tag,
            drawn at random; all pairs would be too many. None uses the links of the corpus instead.
        negative_ratio: number of pseudo-observations of unlinked pairs per link; with more of them links
            influence topics more. In the paper, rho over the number of links.
        doc_topic_prior: pseudo-count of each topic in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: number of sweeps.
        averaged_share: share of the sweeps, the last ones, whose mean is the result; 0 uses the last sweep.
        init: "anchors" draws the first topics around anchor words, "random" uniformly.
        random_state: seed of the chain and of the links drawn; equal seeds give equal bits.
        n_jobs: threads for the start and for new documents; None or -1 for all cores. The chain is serial.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_, tag_docs_: as in `TTM`.
        tag_sums_: (T, K) the sum over each tag's documents of their mean topics.
        link_probabilities_: (K + 1,) of two documents that are all of one and the same topic, exp(eta + nu);
            the last, of two that share none, exp(nu).
    """

    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {
        "tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"), "link_probabilities_": ("K + 1",),
    }  # fmt: skip

    links_per_tag: int | None = 10
    negative_ratio: float = 1.0

    def _algorithm(self, corpus: Corpus, links: Links | None = None) -> TopicAlgorithm[Any]:
        if self.links_per_tag is not None:
            matrix = shared_tag_links(corpus.tags, int(self.links_per_tag), self._seed())
        elif corpus.links is None:
            raise InputError("RTM: links_per_tag=None stands for the links of the corpus, which has none")
        else:
            matrix = _symmetric(corpus.links)
        return super()._algorithm(corpus, Links(matrix, float(self.negative_ratio)))


def shared_tag_links(tags: Any, links_per_tag: int, seed: int) -> sp.csr_array:
    """Return the links, symmetric (D, D), of documents that share a tag.

    A tag with few documents links all of them. Those of a frequent tag are put in a random circle, where each
    document is linked with its nearest neighbours on both sides, `links_per_tag` in total.
    """
    rng = np.random.default_rng(seed)
    by_tag = sp.csc_array(tags)
    pairs: list[Any] = [np.empty((2, 0), dtype=np.int64)]
    for t in range(tags.shape[1]):
        docs = by_tag.indices[by_tag.indptr[t] : by_tag.indptr[t + 1]].astype(np.int64)
        if len(docs) - 1 <= links_per_tag:
            pairs.append(docs[np.array(np.triu_indices(len(docs), 1))])
        else:
            circle = rng.permutation(docs)
            pairs += [np.stack([circle, np.roll(circle, -i)]) for i in range(1, links_per_tag // 2 + 1)]
    rows, columns = np.concatenate(pairs, axis=1)
    return _symmetric(sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(tags.shape[0],) * 2))


def _symmetric(links: Any) -> sp.csr_array:
    """Return links in either direction as a symmetric CSR array (D, D) of ones with an empty diagonal."""
    linked = sp.csr_array(links) != 0
    upper = sp.triu(linked + linked.T, 1)
    symmetric = sp.csr_array(upper + upper.T, dtype=np.float64)
    symmetric.sort_indices()
    return symmetric
