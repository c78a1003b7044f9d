"""From how many words on inferred tags help to predict the other words of a document (decision 224)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp.fold_in import FoldIn
from tagtopics.corpus.splits import completion
from tagtopics.models.documents import inferred_tags
from tagtopics.recommend.recommender import TagRecommender, fit_recommender
from tagtopics.tag_prior.inference import TagPrior
from tagtopics.tag_prior.learn import NEVER, PilotTopics, TagSettings
from tagtopics.tag_prior.prior import pairs_of
from tagtopics.tag_prior.strengths import ERRORS

WORDS = (1, 2, 5, 10, 20, 40, 80)
"""Numbers of words that are seen of documents set aside."""

_MOST_DOCS = 1000  # documents of the pilot that its recommender is trained on
_MOST_PAIRS = 1 << 21  # documents set aside times tags; above that, every n-th document is used


class _Pilot(NamedTuple):
    """What predicts documents set aside."""

    prior: TagPrior
    topics: FoldIn
    recommender: TagRecommender
    tag_names: Sequence[str]


def learn_least_words(
    pilot: PilotTopics,
    tag_words: CSR,
    settings: TagSettings,
    alpha: Float32,
    tag_names: Sequence[str],
    held_out: CSR,
    seed: int,
) -> float:
    """Return the number of words from which on inferred tags count; `NEVER` if they do not help.

    Tags are inferred from 1 to 80 words of documents that the pilot and its recommender were made without.

    Args:
        pilot: topics, tags and documents of the pilot.
        tag_words: (T, W), the words credited to its tags.
        settings: the strengths of tags.
        alpha: (K,), the prior of topics.
        tag_names: the T tags.
        held_out: the documents set aside, (D, W).
        seed: of the choice of words and documents.
    """
    generator, (counts, tags, _, phi, profiles) = np.random.default_rng(seed), pilot
    used = np.flatnonzero((np.diff(counts.indptr) > 0) & (np.diff(tags.indptr) > 0))
    if settings.known == settings.hidden or not len(used):
        return NEVER
    rows, topics = np.sort(generator.permutation(used)[:_MOST_DOCS]), FoldIn(phi, alpha)
    counts, tags = counts[rows], sp.csr_array(tags[rows])
    columns = np.unique(tags.indices)  # no other tag can be inferred
    names = tuple(tag_names[t] for t in columns)
    recommender = fit_recommender(counts, sp.csr_array(tags[:, columns]), topics.doc_topic(counts), names)
    pairs = pairs_of(tag_words, np.full(len(tag_names), settings.shrinkage))
    prior = TagPrior(phi, profiles, settings, tag_words, pairs, settings.credit_strengths)
    step = 1 + held_out.shape[0] * len(names) // _MOST_PAIRS
    rest, hidden = completion(held_out[::step], seed)
    found = _Pilot(prior, topics, recommender, tag_names)
    gains = [_gain(found, seen, hidden[rows]) for rows, seen in _first_words(rest, generator)]
    return least_words(np.array(gains))


def least_words(gains: Float64) -> float:
    """Return the number of words from which on the gains, one for each of `WORDS`, add up to most.

    It lies halfway, in ratio, between the first number that counts and the last one that does not.
    """
    sums = np.cumsum(gains[::-1])[::-1]
    best = int(sums.argmax())
    if sums[best] <= 0:
        return NEVER
    return float(np.sqrt(WORDS[best] * WORDS[max(best - 1, 0)]))


def _gain(pilot: _Pilot, seen: CSR, hidden: CSR) -> float:
    """Return what inferred tags add to the log probability of hidden words, less `ERRORS` standard errors."""
    prior, recommender = pilot.prior, pilot.recommender
    likely = recommender.probabilities(seen, pilot.topics.doc_topic(seen))
    inferred = inferred_tags(likely, recommender.tag_names, pilot.tag_names)
    none = sp.csr_array(inferred.shape)
    with_tags, without = (prior.log_likelihoods(prior.infer(seen, tags), hidden) for tags in (inferred, none))
    gains = with_tags - without
    return float(gains.sum() - ERRORS * np.sqrt(np.square(gains - gains.mean()).sum())) if len(gains) else 0.0


def _first_words(counts: CSR, generator: np.random.Generator) -> Iterator[tuple[Int64, CSR]]:
    """Yield for each of `WORDS` the documents that have as many, and the words seen of them, at random."""
    sizes = np.asarray(counts.sum(1), dtype=np.int64)
    tokens = np.repeat(counts.indices, counts.data.astype(np.int64))
    docs = np.repeat(np.arange(len(sizes)), sizes)
    tokens = tokens[np.lexsort((generator.random(len(docs)), docs))]
    place = np.arange(len(docs)) - (np.cumsum(sizes) - sizes)[docs]
    for n in WORDS:
        rows, seen = np.flatnonzero(sizes >= n), place < n
        ones = np.ones(int(seen.sum()), dtype=np.float32)
        yield rows, sp.csr_array((ones, (docs[seen], tokens[seen])), shape=counts.shape)[rows]
