"""How far tags inferred from a few words help to predict the other words of a document (decision 224)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp.fold_in import infer_topics
from tagtopics.corpus.splits import completion
from tagtopics.models.documents import inferred_tags
from tagtopics.recommend.recommender import fit_recommender
from tagtopics.tag_prior.inference import TagPrior
from tagtopics.tag_prior.learn import PilotTopics, TagSettings
from tagtopics.tag_prior.prior import pairs_of
from tagtopics.tag_prior.strengths import WORDS

_LEVELS = (0.0, 0.1, 0.3, 1.0)  # values of trust that are tried
# Documents of the pilot that its recommender is trained on, and how many of them a tag needs.
_MOST_DOCS, _LEAST_TAG_DOCS = 2000, 2
_MOST_PAIRS = 1 << 21  # documents set aside times tags; above that, every n-th document is used
_SHARE = 10  # one document in 10 must have as many words, else trust is that of fewer words
_FEW_DOCS, _MOST_DRAWS = 999, 5  # if not more documents are set aside, their words are drawn several times


def some_documents(pilot: PilotTopics, generator: np.random.Generator) -> PilotTopics:
    """Return a pilot with only those of its documents, drawn at random, that `learn_trust` needs."""
    used = np.flatnonzero((np.diff(pilot.counts.indptr) > 0) & (np.diff(pilot.tags.indptr) > 0))
    rows = np.sort(generator.permutation(used)[:_MOST_DOCS])
    counts, tags = pilot.counts[rows], sp.csr_array(pilot.tags[rows])
    return pilot._replace(counts=counts, tags=tags, doc_sums=pilot.doc_sums[rows])


def learn_trust(
    pilot: PilotTopics,
    tag_words: CSR,
    settings: TagSettings,
    alpha: Float32,
    tag_names: Sequence[str],
    held_out: CSR,
    seed: int,
    generator: np.random.Generator,
) -> tuple[float, ...]:
    """Return how far inferred tags are trusted, from 0 to 1, for each number of words seen in `WORDS`.

    Tags are inferred from words of documents that the pilot and its recommender were made without. Trust does
    not fall with the number of words, and where it does not help, it is 0.

    Args:
        pilot: topics of the pilot, tags, and some of its documents.
        tag_words: (T, W), the words credited to its tags.
        settings: the strengths of tags.
        alpha: (K,), the prior of topics.
        tag_names: the T tags.
        held_out: the documents set aside, (D, W).
        seed: of the words that are hidden.
        generator: draws the words that are seen.
    """
    counts, tags, _, phi, profiles = pilot
    columns = np.flatnonzero(np.bincount(tags.indices, minlength=len(tag_names)) >= _LEAST_TAG_DOCS)
    if settings.known == settings.hidden or not len(columns):
        return (0.0,) * len(WORDS)
    names = tuple(tag_names[t] for t in columns.tolist())
    theta = infer_topics(counts, phi, alpha)
    recommender = fit_recommender(counts, sp.csr_array(tags[:, columns]), theta, names)
    pairs = pairs_of(tag_words, np.full(len(tag_names), settings.shrinkage))
    prior = TagPrior(phi, profiles, settings, tag_words, pairs, settings.credit_strengths)
    D = held_out.shape[0]
    step, draws = 1 + D * len(names) // _MOST_PAIRS, min(1 + _FEW_DOCS // D, _MOST_DRAWS)
    document = np.tile(np.arange(0, D, step), draws)
    rest, hidden = completion(held_out[document], seed)
    drawn = list(first_words(rest, generator))

    def gains(i: int, levels: range) -> list[float]:
        """Return what tags inferred from the words seen add to the log probability of hidden ones, by level.

        Gains are those over the lowest of the levels. If it is no trust at all, the standard error of the
        next one is subtracted: some trust must be better than none. Draws of a document are added up.
        """
        rows, seen = drawn[i]
        likely = recommender.probabilities(seen, infer_topics(seen, phi, alpha))

        def predict(level: float) -> Float64:
            tags = inferred_tags(likely * np.float32(level), names, tag_names)
            return prior.log_likelihoods(prior.infer(seen, tags), hidden[rows])

        lowest = predict(_LEVELS[levels[0]])
        gains = [predict(_LEVELS[level]) - lowest for level in levels[1:]]
        error = 0.0
        if levels[0] == 0 and len(lowest):
            by_document = np.bincount(np.unique(document[rows], return_inverse=True)[1], gains[0])
            error = float(np.sqrt(np.square(by_document - by_document.mean()).sum()))
        return [0.0, *(float(gain.sum()) - error for gain in gains)]

    enough = max(1, sum(_SHARE * len(rows) >= len(document) for rows, _ in drawn))
    levels = rising_levels(gains, enough, len(_LEVELS))
    return tuple(_LEVELS[level] for level in levels + levels[-1:] * (len(WORDS) - enough))


def rising_levels(gains: Callable[[int, range], Sequence[float]], n: int, n_levels: int) -> list[int]:
    """Return a level for each of n numbers of words: the one that gains most of those that do not fall.

    The number in the middle is first. The others need a comparison only between the levels that it leaves.
    `gains` returns those of some levels for a number of words; of equals, the lowest level is taken.
    """
    found = [0] * n

    def search(first: int, last: int, levels: range) -> None:
        if first == last:
            return
        middle = (first + last) // 2
        best = int(np.argmax(gains(middle, levels))) if len(levels) > 1 else 0
        found[middle] = levels[best]
        search(first, middle, levels[: best + 1])
        search(middle + 1, last, levels[best:])

    search(0, n, range(n_levels))
    return found


def first_words(counts: CSR, generator: np.random.Generator) -> Iterator[tuple[Int64, CSR]]:
    """Yield for each of `WORDS` the documents that have as many, and the words seen of them, at random."""
    sizes, data, most = np.asarray(counts.sum(1), dtype=np.int64), counts.data.astype(np.int64), WORDS[-1]
    for d in np.flatnonzero(sizes > most):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        data[row] = generator.multivariate_hypergeometric(data[row], most, method="marginals")
    drawn, tokens = np.minimum(sizes, most), np.repeat(counts.indices, data)
    docs = np.repeat(np.arange(len(sizes)), drawn)
    tokens = tokens[np.lexsort((generator.random(len(docs)), docs))]
    place = np.arange(len(docs)) - (np.cumsum(drawn) - drawn)[docs]
    for n in WORDS:
        rows, seen = np.flatnonzero(sizes >= n), place < n
        ones = np.ones(int(seen.sum()), dtype=np.float32)
        yield rows, sp.csr_array((ones, (docs[seen], tokens[seen])), shape=counts.shape)[rows]
