"""Learn the tag prior: the strengths of its parts, the words that tags own, and the shrinkage of these words.

A pilot fit learns topics from four fifths of the documents, or all but 1000; the others are set aside, and
their held-out words are predicted (`bp.pilot`). The words of tags are learned by expectation maximisation
with the topics fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Bool, Float32, Float64, Int32, Int64
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.bp.holdout import perplexity
from tagtopics.corpus.core import INT32_MAX
from tagtopics.corpus.splits import can_split
from tagtopics.errors import InputError
from tagtopics.tag_prior import tag_word_loops as loops
from tagtopics.tag_prior.mixture_loops import Pairs
from tagtopics.tag_prior.prior import Profiles, Strengths
from tagtopics.tag_prior.strengths import (
    SEEN,
    WORDS,
    Fit,
    Rows,
    Words,
    climb,
    draw_rows,
    gains,
    maximise,
    words_of,
)  # fmt: skip

MIN_DOCS = 50  # corpora with fewer documents keep the default settings
_SHRINKAGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)  # values of M that are tried
_FIRST = 2  # the one to begin with
_ROUNDS, _ITERATIONS = 24, 5  # most rounds of expectation maximisation, and iterations of a document in each
_CONVERGED = 0.02  # change of the number of tokens credited to tags, as a share, at which the rounds end
_MOST_CLAIMS = 1 << 26  # words of documents times their tags; above that, every n-th document is used
_LEAST = 1e-4  # tokens from which on a word is one of a tag's own; half of all pairs have less (decision 222)
_MOST_STRENGTH = 1e12  # of a saved model, in tokens: far above all that is learned, far below an overflow
_PSEUDO_COUNT = 2.0  # pseudo-count of the words of tags before it is learned
# The same for credit if the words of tags do not help to predict documents: which of two tags a word is due
# to is still to be answered (decision 223).
_CREDIT_TOKENS = 10.0
# While the words of tags are learned, their pseudo-counts are ten times those of prediction: from almost
# none, words that are due to a tag are found slowly, and most stay with the topics (decision 222).
_CLAIM = 10.0


class TagSettings(NamedTuple):
    """How much tags say."""

    hidden: Strengths  # of documents whose tags are not known
    known: Strengths
    shrinkage: float  # M: tokens that the topics of a tag weigh, next to the words credited to it
    inferred: tuple[float, ...] = ()  # trust in inferred tags, for each of `WORDS`; empty if not learned

    @property
    def credit_strengths(self) -> tuple[float, ...]:
        """The pseudo-count of the words of each kind of tag when words are credited to tags."""
        words = self.known.words
        return words if any(words) else (_CREDIT_TOKENS,) * len(words)


class PilotScores(NamedTuple):
    """How well the pilot predicts documents set aside: perplexity of a fifth of their tokens by the others.

    Strengths are learned from one half of these documents and tested on the other, and the other way round.
    """

    hidden: float  # tags unknown
    known: float  # tags known; the same if they do not help
    documents: int


class PilotTopics(NamedTuple):
    """Topics learned without the documents set aside."""

    counts: CSR  # (D, W), the documents learned from
    tags: CSR  # (D, T)
    doc_sums: Float32  # (D, K)
    phi: Float32  # (W, K) p(word | topic)
    profiles: Profiles


def default_settings(alpha: Float32, n_kinds: int, tag_tokens: float) -> TagSettings:
    """Return settings for small corpora: a flat prior, and the mean profile of the tags."""
    flat = float(alpha.sum(dtype=np.float64))
    means, no_words = (tag_tokens / n_kinds,) * n_kinds, (0.0,) * n_kinds
    hidden = Strengths(flat, 0.0, (0.0,) * n_kinds, 0.0, no_words)
    return TagSettings(hidden, hidden._replace(mean=means), _SHRINKAGES[_FIRST])


def can_learn(counts: CSR, tags: CSR) -> bool:
    """Return whether there are enough documents, tags, and whole counts that can be split."""
    return bool(counts.shape[0] >= MIN_DOCS and tags.nnz > 0 and can_split(counts))


_Learned = tuple[TagSettings, PilotScores | None, CSR]  # the last are the words of tags, (T, W)


@single_thread()
def learn_settings(pilot: PilotTopics, counts: CSR, tags: CSR, seed: int, *, joint: bool = True) -> _Learned:
    """Return the settings that suit documents set aside, how well these are predicted, and the words of tags.

    Tags must help documents that the strengths were not learned from, and more than the tags of other
    documents do: a further mixture component helps long documents whatever it says.

    Args:
        pilot: topics learned without them.
        counts: the documents set aside, (D, W).
        tags: their tags, (D, T).
        seed: of the choice of the words that are held out.
        joint: whether to use what the tags of a document say together.
    """
    phi, profiles = pilot.phi, pilot.profiles
    no_words = sp.csr_array((tags.shape[1], counts.shape[1]), dtype=np.float32)
    rows = draw_rows(counts, tags, profiles, phi, seed)
    if rows.hidden.nnz == 0:
        return default_settings(np.full(phi.shape[1], 0.1, np.float32), profiles.n_kinds, 5.0), None, no_words
    n, n_kinds = len(rows.parts), profiles.n_kinds
    # (1) Without tags.
    number = np.arange(n + n_kinds)
    wanted = joint | (number != n - 1)  # the joint part is the last one over topics
    plain, tagged, worded = ((wanted & (number < last)).astype(float) for last in (2, n, n + n_kinds))
    has_tags = _have_tags(pilot, rows)
    hidden = maximise(rows, None, phi, plain)
    of_plain = _strengths(hidden.values, n_kinds)
    if not has_tags.any():
        return TagSettings(of_plain, of_plain, _SHRINKAGES[_FIRST]), None, no_words
    # (2) With the profiles of tags, and with their words as well.
    known = maximise(rows, None, phi, tagged, has_tags)
    shrinkage, credited, best = _learn_words(pilot, rows, hidden, known, worded, has_tags)

    def test(of_rows: Rows, words: Words | None, used: Float64, start: Fit, learn_from: Bool) -> Float64:
        """Return the likelihood (D,) of each row under strengths learned from the other half."""
        even = of_rows.document % 2 == 0
        others, own = (
            maximise(of_rows, words, phi, used, half & learn_from, start.values, 4).likelihoods
            for half in (~even, even)
        )
        return np.where(even, others, own)

    without = test(rows, None, plain, hidden, np.ones_like(has_tags))

    def test_tags(of_rows: Rows, words: Words | None, used: Float64, start: Fit) -> Float64:
        with_tags = _have_tags(pilot, of_rows)
        return np.where(with_tags, test(of_rows, words, used, start, with_tags), without)

    with_tags = test_tags(rows, None, tagged, known)
    with_words = test_tags(rows, words_of(rows, *credited, profiles, phi), worded, best)
    # (3) They must help other documents, and more than the tags of other documents do.
    none = TagSettings(of_plain, of_plain, shrinkage), _scores(rows, without, without), credited[0]
    plainer = with_tags if gains(with_tags, without, rows) else without
    use_words = gains(with_words, plainer, rows)
    if not use_words and plainer is without:
        return none
    used, found, better = (worded, best, with_words) if use_words else (tagged, known, with_tags)
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    mixed = draw_rows(counts, tags[order], profiles, phi, seed)  # with the tags of other documents
    others = words_of(mixed, *credited, profiles, phi) if use_words else None
    if not gains(better, test_tags(mixed, others, used, found), rows):
        return none
    settings = TagSettings(of_plain, _strengths(found.values, n_kinds), shrinkage)
    return settings, _scores(rows, without, better), credited[0]


def _scores(rows: Rows, hidden: Float64, known: Float64) -> PilotScores | None:
    """Return the scores of the rows that have most of their tokens seen, as in document completion."""
    tokens = np.bincount(rows.edge_doc, rows.hidden.data, len(rows.share))
    scored = (rows.share == SEEN[-1]) & (tokens > 0)
    if not scored.any():
        return None
    n = float(tokens[scored].sum())
    unknown, tagged = (perplexity(float(found[scored].sum()), n) for found in (hidden, known))
    return PilotScores(unknown, tagged, len(np.unique(rows.document[scored])))


def _have_tags(pilot: PilotTopics, rows: Rows) -> Bool:
    """Return (D,): which rows have a tag of the documents learned from."""
    return np.asarray(rows.tags @ (pilot.profiles.tag_docs > 0).astype(np.float64) > 0)


class _Training(NamedTuple):
    """What the words of tags are learned from: documents, and the tags and words that occur together."""

    graph: FactorGraph
    topics: Float32  # (E,) p(word | topics of its document)
    numbers: Int32  # (P,) the pair of every claim
    pairs: Pairs
    slot_shares: Float32  # (S,) from `Profiles.slot_weights`
    slot_kinds: Int64  # (S,)


class _Credited(NamedTuple):
    words: CSR  # (T, W) tokens of each word credited to each tag
    totals: Float32  # (T,) tokens credited to each tag
    shares: Float32  # (P,) share of each claim's edge that its tag has


def _training_of(pilot: PilotTopics, hidden: Strengths) -> _Training:
    counts, tags, doc_sums, phi, profiles = pilot
    n_claims = int(np.diff(counts.indptr).astype(np.int64) @ np.diff(tags.indptr))
    step = 1 + n_claims // _MOST_CLAIMS
    if step > 1:
        counts, tags, doc_sums = counts[::step], tags[::step], doc_sums[::step]
    graph, T = build_graph(counts, tags), tags.shape[1]
    offsets, words, numbers = loops.number_pairs(graph)
    predicted = loops.pair_predictions(offsets, words, profiles.means, phi)
    none = np.zeros(len(words), np.float32)
    pairs = Pairs(offsets, words, none, predicted, np.zeros(T, np.float32), np.ones(T, np.float32))
    prior = hidden.flat / phi.shape[1] + hidden.base * profiles.base
    at_least = (prior + 1e-9).astype(np.float32)  # without its own part a document may have nothing else
    topics = loops.topic_probabilities(graph, phi, doc_sums, at_least)
    shares = profiles.slot_weights(tags).astype(np.float32)
    return _Training(graph, topics, numbers, pairs, shares, profiles.kinds[graph.slot_tag])


def _credit_words(
    training: _Training,
    shrinkage: float,
    topic_prior: float,
    strengths: Float64,
    start: _Credited | None = None,
) -> _Credited:
    """Return the tokens of each word credited to each tag.

    `topic_prior` is the pseudo-count of all topics together, `strengths` that of each kind of tag. Without a
    start, no word is credited to any tag.
    """
    graph, topics, numbers, pairs, slot_shares, kinds = training
    slot_prior = (strengths[kinds] * slot_shares).astype(np.float32)
    pairs = pairs._replace(shrinkage=np.full(len(pairs.totals), shrinkage, dtype=np.float32))
    shares = np.zeros(len(numbers), np.float32)
    if start is not None:
        shares, pairs = start.shares.copy(), pairs._replace(tokens=start.words.data, totals=start.totals)
    for _ in range(_ROUNDS):
        before = pairs.totals.sum(dtype=np.float64)
        loops.share_claims(graph, numbers, pairs, topics, topic_prior, slot_prior, shares, _ITERATIONS)
        pairs = loops.collect_claims(graph, numbers, pairs, shares)
        credited = pairs.totals.sum(dtype=np.float64)
        if abs(credited - before) < _CONVERGED * credited:
            break
    narrow = pairs.offsets[-1] <= INT32_MAX  # wide offsets would make scipy widen the words, too
    offsets = pairs.offsets.astype(np.int32) if narrow else pairs.offsets
    words = sp.csr_array((pairs.tokens, pairs.words, offsets), shape=(len(pairs.totals), graph.n_words))
    return _Credited(words, pairs.totals, shares)


def tag_words_of(pilot: PilotTopics, settings: TagSettings) -> CSR:
    """Return (T, W): the tokens of each word that documents credit to each tag, from `_LEAST` on."""
    training, topic_prior = _training_of(pilot, settings.hidden), float(settings.known.topics.sum())
    known = np.array(settings.known.words)
    strengths = np.where(known > 0, _CLAIM * known, _PSEUDO_COUNT)  # the default where words do not help
    words = _credit_words(training, settings.shrinkage, topic_prior, strengths).words
    words.data[words.data < _LEAST] = 0
    words.eliminate_zeros()
    return words


def _learn_words(
    pilot: PilotTopics, rows: Rows, hidden: Fit, known: Fit, used: Float64, has_tags: Bool
) -> tuple[float, tuple[CSR, Float64], Fit]:
    """Return the best shrinkage, the words credited to tags with the shrinkage of each, and the strengths."""
    n, profiles, phi = len(rows.parts), pilot.profiles, pilot.phi
    training = _training_of(pilot, _strengths(hidden.values, profiles.n_kinds))
    topic_prior = float(known.values[:n].sum())

    def attempt(
        index: int, before: _Credited | None, start: Float64
    ) -> tuple[float, Fit, _Credited, tuple[CSR, Float64]]:
        credited = _credit_words(training, _SHRINKAGES[index], topic_prior, _CLAIM * start[n:], before)
        found = credited.words, np.full(len(profiles.kinds), _SHRINKAGES[index])
        fit = maximise(rows, words_of(rows, *found, profiles, phi), phi, used, has_tags, start, 4)
        return float(fit.likelihoods[has_tags].sum()), fit, credited, found

    start = np.concatenate([known.values[:n], np.full(profiles.n_kinds, _PSEUDO_COUNT)])
    best, tried = climb(
        lambda index, last: attempt(index, None if last is None else last[2], start), len(_SHRINKAGES), _FIRST
    )
    _, fit, _, credited = attempt(best, tried[2], tried[1].values)
    fit = maximise(rows, words_of(rows, *credited, profiles, phi), phi, used, has_tags, fit.values)
    return _SHRINKAGES[best], credited, fit


def _strengths(values: Float64, n_kinds: int) -> Strengths:
    flat, base, *others = values.tolist()
    return Strengths(flat, base, tuple(others[:n_kinds]), others[n_kinds], tuple(others[n_kinds + 1 :]))


def settings_to_numbers(settings: TagSettings, kinds: Sequence[str]) -> dict[str, float]:
    """Return settings by name, as a model file stores them: `known.mean.author`."""
    numbers = {"shrinkage": settings.shrinkage}
    numbers |= {f"inferred.{n}": share for n, share in zip(WORDS, settings.inferred, strict=False)}
    for name, strengths in (("hidden", settings.hidden), ("known", settings.known)):
        for part in ("flat", "base", "joint"):
            numbers[f"{name}.{part}"] = getattr(strengths, part)
        for part in ("mean", "words"):
            values = zip(kinds, getattr(strengths, part), strict=True)
            numbers |= {f"{name}.{part}.{kind}": value for kind, value in values}
    return numbers


def settings_from_numbers(numbers: Mapping[str, float]) -> tuple[tuple[str, ...], TagSettings]:
    """Return the kinds of tags and the settings that `settings_to_numbers` named."""
    first = "known.mean."
    kinds = tuple(name.removeprefix(first) for name in numbers if name.startswith(first))
    if not kinds:
        raise KeyError(first)
    for name, number in numbers.items():
        if not 0 <= number <= _MOST_STRENGTH:
            raise InputError(f"{name[:60]} must be a number from 0 to {_MOST_STRENGTH:g}, not {number:g}")

    def strengths(name: str) -> Strengths:
        flat, base, joint = (numbers[f"{name}.{part}"] for part in ("flat", "base", "joint"))
        mean, words = (
            tuple(numbers[f"{name}.{part}.{kind}"] for kind in kinds) for part in ("mean", "words")
        )
        return Strengths(flat, base, mean, joint, words)

    inferred = tuple(numbers[f"inferred.{n}"] for n in WORDS) if f"inferred.{WORDS[0]}" in numbers else ()
    return kinds, TagSettings(strengths("hidden"), strengths("known"), numbers["shrinkage"], inferred)
