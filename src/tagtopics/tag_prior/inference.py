"""Topics and words of new documents, given the words seen and their tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp.fold_in import MAX_ITER, TOLERANCE, document_ranges
from tagtopics.bp.graph import FactorGraph, query_graph
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.tag_prior.learn import TagSettings
from tagtopics.tag_prior.mixture_loops import Pairs
from tagtopics.tag_prior.prior import Profiles, claims_of, combined

_BATCH = 1 << 22  # numbers of a batch of documents: edges times topics, and claims


class Mixture(NamedTuple):
    """What documents are mixed of: tokens of topics and of the words of tags, prior included."""

    topics: Float32  # (D, K)
    tags: Any  # CSR (D, T)


class Credit(NamedTuple):
    """The claims of documents: each word of a document with each tag of that document, word by word."""

    edge: Int64  # (P,) position of the word in the counts
    tag: Any  # (P,) column of the tag
    word: Any  # (P,) column of the word
    tokens: Any  # (P,) how often the word occurs in the document
    shares: Float32  # (P,) p(tag | word, document); adds up to one over the tags
    own: Float32  # (P,) the part of it that the tag's own words account for, not its topics


@dataclass(frozen=True, eq=False)
class TagPrior:
    """Topics, tag words and the strengths of tags, to infer new documents from."""

    phi: Float32  # (W, K) p(word | topic)
    profiles: Profiles
    settings: TagSettings
    tag_words: CSR  # (T, W) tokens credited to each tag
    pairs: Pairs  # the same, as the kernels read it
    credit_strengths: tuple[float, ...]  # of the words of each kind of tag when words are credited to tags

    def infer(self, counts: CSR, tags: CSR, plain_prior: Float32 | None = None) -> Mixture:
        """Return the mixture of documents.

        Args:
            counts: the words seen, (D, W); a document may have none.
            tags: (D, T), weights from 0 to 1: one for a known tag, its probability for an inferred one.
            plain_prior: (K,) or (D, K), in place of the learned flat and base parts.
        """
        tags, K = sp.csr_array(tags, dtype=np.float64), self.phi.shape[1]
        topics, weights = np.empty((counts.shape[0], K), np.float32), np.empty(tags.nnz, np.float32)
        plain = None if plain_prior is None else np.broadcast_to(plain_prior, topics.shape)
        for docs, _, _, *found in self._fold_in(counts, tags, self.settings.known.words, plain):
            topics[docs], weights[tags.indptr[docs.start] : tags.indptr[docs.stop]] = found
        return Mixture(topics, sp.csr_array((weights, tags.indices, tags.indptr), shape=tags.shape))

    def doc_topic(self, counts: Any, tags: Any, alpha: Float32) -> Float32:
        """Return the topic proportions (D, K); the words of a tag count for the topics of the tag.

        The flat part is alpha, (K,) or (D, K), as without tags: learned strengths predict words best, but
        proportions that describe documents and are compared with each other need more smoothing.
        """
        found = self.infer(counts, tags, alpha)
        total = found.topics + found.tags @ self.profiles.means
        return np.asarray(total / total.sum(1, keepdims=True, dtype=np.float64), dtype=np.float32)

    def log_likelihoods(self, found: Mixture, held_out: Any) -> Float64:
        """Return (D,): the log probability of the held-out words, CSR (D, W), of each document."""
        D = held_out.shape[0]
        result = np.empty(D)
        norm = found.topics.sum(1, dtype=np.float64) + np.asarray(found.tags.sum(1), dtype=np.float64).ravel()
        for first, last in _batches(held_out, found.tags, self.phi.shape[1]):
            part, tags = _rows(held_out, first, last), _rows(found.tags, first, last)
            doc = np.repeat(np.arange(last - first), np.diff(part.indptr))
            values = np.einsum(
                "ek,ek->e", found.topics[first:last][doc].astype(np.float64), self.phi[part.indices]
            )
            graph = query_graph(part, tags)
            edge, slot = claims_of(part.indptr, tags.indptr)
            values += np.bincount(
                edge, tags.data[slot].astype(np.float64) * self._claim_probabilities(graph), part.nnz
            )
            logs = np.log(np.maximum(values / norm[first:last][doc], 1e-300))
            result[first:last] = np.bincount(doc, part.data * logs, last - first)
        return result

    def word_probabilities(self, found: Mixture) -> Float32:
        """Return p(word | document), (D, W); rows add up to one."""
        shrinkage = self.pairs.shrinkage.astype(np.float64)
        scaled = sp.csr_array(found.tags) / (self.pairs.totals + shrinkage)
        topics = found.topics + (scaled * shrinkage) @ self.profiles.means
        with single_thread():
            values = topics @ self.phi.T.astype(np.float64)
        values += (scaled @ self.tag_words).toarray()
        return np.asarray(values / values.sum(1, keepdims=True), dtype=np.float32)

    def credit(self, counts: CSR, tags: CSR) -> Credit:
        """Return how much of each word each tag of its document accounts for; every tag counts in full."""
        (edge, slot), none = claims_of(counts.indptr, tags.indptr), np.empty(0, np.float32)
        parts = zip((none, none), *self.explain(counts, tags), strict=True)
        shares, own = (np.concatenate(part) for part in parts)
        return Credit(edge, tags.indices[slot], counts.indices[edge], counts.data[edge], shares, own)

    def explain(self, counts: CSR, tags: CSR) -> Iterator[tuple[Float32, Float32]]:
        """Yield `shares` and `own` of `credit`, some documents at a time."""
        for _, graph, said, topics, weights in self._fold_in(counts, tags, self.credit_strengths):
            yield mixture.credit_claims(graph, self.phi, said, topics, weights, self.profiles.means)

    def _fold_in(
        self, counts: CSR, tags: CSR, strengths: tuple[float, ...], plain: Float32 | None = None
    ) -> Iterator[tuple[slice, FactorGraph, Float32, Float32, Float32]]:
        """Yield documents, some at a time, with their graph and p(word | tag) of their claims.

        The last two are their topics (D', K) and the weight of each slot, (S',), priors included. `strengths`
        are pseudo-counts of the words of each kind of tag; `plain` (D, K) as in `_topic_prior`.
        """
        profiles = self.profiles
        for first, last in _batches(counts, tags, self.phi.shape[1]):
            docs, some = slice(first, last), _rows(tags, first, last)
            graph = query_graph(_rows(counts, first, last), some)
            said, prior = (
                self._claim_probabilities(graph),
                self._topic_prior(some, None if plain is None else plain[docs]),
            )
            weights = np.array(strengths)[profiles.kinds[some.indices]] * profiles.slot_weights(some)
            slots = weights.astype(np.float32)
            sums, slot_sums = mixture.fold_in_mixture(
                graph, self.phi, said, prior, slots, MAX_ITER, TOLERANCE
            )
            yield docs, graph, said, sums + prior, slot_sums + slots

    def _topic_prior(self, tags: CSR, plain: Float32 | None) -> Float32:
        """Return the prior (D, K) of topics; `plain` (D, K) is in place of its flat and base parts.

        If the tags of a document are uncertain, it lies between that of hidden and of known tags.
        """
        parts = self.profiles.parts(tags)
        if plain is None:
            doc = np.repeat(np.arange(tags.shape[0]), np.diff(tags.indptr))
            known_tags = tags.data * (self.profiles.tag_docs[tags.indices] > 0)
            certain = np.minimum(np.bincount(doc, known_tags, tags.shape[0]), 1.0)[:, np.newaxis]
            hidden, base = self.settings.hidden, self.profiles.base
            flat = np.asarray(hidden.flat / len(base) + hidden.base * base + 1e-9, dtype=np.float32)
            parts[:2] *= certain  # the parts of tags have it already
            plain = ((1 - certain) * flat).astype(np.float32)
        else:
            parts[:2] = 0
        return np.asarray(combined(parts, self.settings.known) + plain.astype(np.float32))

    def _claim_probabilities(self, graph: FactorGraph) -> Float32:
        """Return p(word | tag) of every claim of documents."""
        return mixture.claim_probabilities(graph, self.pairs, self.profiles.means, self.phi)


def _rows(matrix: Any, first: int, last: int) -> Any:
    """Return rows of a sparse matrix; if these are all of them, without a copy."""
    return matrix if first == 0 and last == matrix.shape[0] else matrix[first:last]


def _batches(counts: Any, tags: Any, n_topics: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of about `_BATCH` numbers, at least one document each."""
    sizes = np.diff(counts.indptr) * (n_topics + np.diff(tags.indptr)) + n_topics
    return document_ranges(sizes, _BATCH)
