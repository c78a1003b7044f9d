"""Learn the tag prior: the strengths of its parts, and the shrinkage of tag words.

A pilot fit learns topics from four fifths of the documents, or all but 1000; the others are set aside, and
their held-out words are predicted (`bp.pilot`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64
from tagtopics.bp.holdout import perplexity
from tagtopics.corpus.splits import MOST_TOKENS
from tagtopics.errors import InputError
from tagtopics.tag_prior import strengths as fixed_point
from tagtopics.tag_prior.neighbours import Given, Near, SimilarStrengths, learn_similar, trusted
from tagtopics.tag_prior.prior import Profiles, Strengths
from tagtopics.tag_prior.strengths import (
    Fit,
    Rows,
    cross_fitted,
    draw_rows,
    gains,
    maximise,
    seen_words,
    words_of,
)
from tagtopics.tag_prior.tag_words import (
    CONVERGED,
    MOST_ROUNDS,
    Credited,
    Training,
    learn_tag_words,
    training_of,
)

MIN_DOCS = 50  # corpora with fewer documents keep the default settings
_SHRINKAGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
_FIRST = 2  # values of M that are tried, beginning with 10 and going on in the direction that is better
# The largest strength of a saved model, in tokens: far above all that is learned, far below an overflow.
_MOST_STRENGTH = 1e12
_LEAST = 1e-4  # tokens from which on a word is one of a tag's own; half of all pairs have less (decision 222)
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
    similar: SimilarStrengths = SimilarStrengths()  # of similar training documents, where these are used

    @property
    def slot_strengths(self) -> Float64:
        """The pseudo-count of a kind of tag while words are learned; the default where they do not help."""
        words = np.array(self.known.words)
        return np.where(words > 0, _CLAIM * words, _PSEUDO_COUNT)

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

    counts: Any  # CSR (D, W), the documents learned from
    tags: Any  # CSR (D, T)
    doc_sums: Float32  # (D, K)
    phi: Float32  # (W, K) p(word | topic)
    profiles: Profiles


def default_settings(alpha: Float32, n_kinds: int, tag_tokens: float) -> TagSettings:
    """Return settings for small corpora: a flat prior, and the mean profile of the tags."""
    flat = float(alpha.sum(dtype=np.float64))
    means, no_words = (tag_tokens / n_kinds,) * n_kinds, (0.0,) * n_kinds
    hidden = Strengths(flat, 0.0, (0.0,) * n_kinds, 0.0, no_words)
    return TagSettings(hidden, hidden._replace(mean=means), _SHRINKAGES[_FIRST])


def can_learn(counts: Any, tags: Any) -> bool:
    """Return whether there are enough documents, tags, and whole counts that can be split."""
    enough = counts.shape[0] >= MIN_DOCS and tags.nnz > 0
    whole = enough and bool(np.array_equal(counts.data, np.rint(counts.data)))
    return whole and bool(np.asarray(counts.sum(1, dtype=np.float64)).max() < MOST_TOKENS)


class _Learned(NamedTuple):
    """What was learned of tags."""

    settings: TagSettings
    scores: PilotScores | None
    hidden: Fit
    known: Fit  # the same as `hidden` if tags do not help
    credited: tuple[Any, Float64]  # the words of tags, CSR (T, W), and the shrinkage of each


@single_thread()
def learn_settings(
    pilot: PilotTopics,
    counts: Any,
    tags: Any,
    seed: int,
    nearest: Callable[[Any], Near] | None = None,
    *,
    joint: bool = True,
) -> tuple[TagSettings, PilotScores | None]:
    """Return the settings that suit documents set aside, and how well these are predicted.

    Tags must help documents that the strengths were not learned from, and more than the tags of other
    documents do: a further mixture component helps long documents whatever it says.

    Args:
        pilot: topics learned without them.
        counts: the documents set aside, CSR (D, W).
        tags: their tags, CSR (D, T).
        seed: of the choice of the words that are held out.
        nearest: returns the documents of the pilot that are similar to others, CSR (D, W); None if similar
            documents are not to be used.
        joint: whether to use what the tags of a document say together.
    """
    rows = draw_rows(counts, tags, pilot.profiles, pilot.phi, seed)
    if rows.hidden.nnz == 0:
        alpha = np.full(pilot.phi.shape[1], 0.1, dtype=np.float32)
        return default_settings(alpha, pilot.profiles.n_kinds, 5.0), None
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    learned = _learn_tags(
        pilot,
        rows,
        lambda: draw_rows(counts, tags[order], pilot.profiles, pilot.phi, seed),
        _Used(len(rows.parts), pilot.profiles.n_kinds, joint),
    )
    if nearest is None:
        return learned.settings, learned.scores
    near = trusted(nearest(seen_words(rows)), rows.seen_tokens, learned.settings.hidden)
    given = Given(learned.hidden, learned.known, *learned.credited, _have_tags(pilot, rows))
    similar = learn_similar(rows, near, pilot.profiles, pilot.phi, given)
    return learned.settings._replace(similar=similar), learned.scores


def _learn_tags(pilot: PilotTopics, rows: Rows, mixed_rows: Callable[[], Rows], parts: _Used) -> _Learned:
    """Learn the strengths of tags; `mixed_rows` returns the rows with the tags of other documents."""
    n_kinds, (T, W) = parts.n_kinds, (pilot.tags.shape[1], pilot.counts.shape[1])
    plain, tagged, worded = parts.plain, parts.tagged, parts.worded
    has_tags = _have_tags(pilot, rows)
    hidden = maximise(rows, None, pilot.phi, plain)
    of_plain = _strengths(hidden.values, n_kinds)
    if not has_tags.any():
        settings = TagSettings(of_plain, of_plain, _SHRINKAGES[_FIRST])
        return _Learned(settings, None, hidden, hidden, (sp.csr_array((T, W), dtype=np.float32), np.ones(T)))
    known = maximise(rows, None, pilot.phi, tagged, has_tags)
    shrinkage, credited, best = _learn_words(pilot, rows, hidden, known, worded, has_tags)
    words = words_of(rows, *credited, pilot.profiles, pilot.phi)
    without = _tested(rows, None, pilot.phi, plain, hidden, np.ones_like(has_tags))

    def tested(of_rows: Rows, of_tags: Any, used: Float64, start: Fit) -> Float64:
        tagged_rows = _have_tags(pilot, of_rows)
        found = _tested(of_rows, of_tags, pilot.phi, used, start, tagged_rows)
        return np.where(tagged_rows, found, without)

    with_tags, with_words = tested(rows, None, tagged, known), tested(rows, words, worded, best)
    plainer = with_tags if gains(with_tags, without, rows) else without
    use_words = gains(with_words, plainer, rows)
    none = _Learned(
        TagSettings(of_plain, of_plain, shrinkage), _scores(rows, without, without), hidden, hidden, credited
    )
    if not use_words and plainer is without:
        return none
    used, found, better = (worded, best, with_words) if use_words else (tagged, known, with_tags)
    mixed = mixed_rows()
    others = words_of(mixed, *credited, pilot.profiles, pilot.phi) if use_words else None
    if not gains(better, tested(mixed, others, used, found), rows):
        return none
    settings = TagSettings(of_plain, _strengths(found.values, n_kinds), shrinkage)
    return _Learned(settings, _scores(rows, without, better), hidden, found, credited)


def _scores(rows: Rows, hidden: Float64, known: Float64) -> PilotScores | None:
    """Return the scores of the rows that have most of their tokens seen, as in document completion."""
    tokens = np.bincount(rows.edge_doc, rows.hidden.data, len(rows.share))
    scored = (rows.share == fixed_point.SEEN[-1]) & (tokens > 0)
    if not scored.any():
        return None
    n = float(tokens[scored].sum())
    unknown, tagged = (perplexity(float(found[scored].sum()), n) for found in (hidden, known))
    return PilotScores(unknown, tagged, len(np.unique(rows.document[scored])))


def _have_tags(pilot: PilotTopics, rows: Rows) -> Any:
    """Return (D,) booleans: which rows have a tag of the documents learned from."""
    return np.asarray(pilot.profiles.known(rows.tags).sum(1)).ravel() > 0


def _tested(rows: Rows, words: Any, phi: Float32, used: Float64, start: Fit, learn_from: Any) -> Float64:
    """Return the likelihood (D,) of each row under strengths learned from other documents."""
    return cross_fitted(
        lambda half: maximise(rows, words, phi, used, half & learn_from, start.values, 4), rows
    )


def training_of_pilot(pilot: PilotTopics, hidden: Strengths) -> Training:
    """Return what the words of tags are learned from."""
    profiles, K = pilot.profiles, len(pilot.profiles.base)
    prior = hidden.flat / K + hidden.base * profiles.base
    shares = profiles.slot_shares(pilot.tags)
    return training_of(pilot.counts, pilot.tags, shares, pilot.doc_sums, prior, profiles.means, pilot.phi)


def tag_words_of(pilot: PilotTopics, settings: TagSettings) -> Any:
    """Return CSR (T, W): the tokens of each word that documents credit to each tag, from `_LEAST` on."""
    training = training_of_pilot(pilot, settings.hidden)
    strengths = settings.slot_strengths[pilot.profiles.kinds[training.graph.slot_tag]]
    slot_prior = (strengths * training.slot_shares).astype(np.float32)
    shrinkage = np.full(len(pilot.profiles.kinds), settings.shrinkage)
    topic_prior = float(settings.known.topics.sum())
    words = learn_tag_words(
        training, shrinkage, topic_prior, slot_prior, rounds=MOST_ROUNDS, tol=CONVERGED
    ).words
    words.data[words.data < _LEAST] = 0
    words.eliminate_zeros()
    return words


def _learn_words(
    pilot: PilotTopics, rows: Rows, hidden: Fit, known: Fit, used: Float64, has_tags: Any
) -> tuple[float, tuple[Any, Float64], Fit]:
    """Return the best shrinkage, the words credited to tags with the shrinkage of each, and the strengths."""
    n, profiles, phi = len(rows.parts), pilot.profiles, pilot.phi
    training = training_of_pilot(pilot, _strengths(hidden.values, profiles.n_kinds))
    kinds = profiles.kinds[training.graph.slot_tag]
    topic_prior = float(known.values[:n].sum())

    def attempt(
        index: int, before: Credited | None, start: Float64
    ) -> tuple[float, Fit, Credited, tuple[Any, Float64]]:
        shrinkage = np.full(len(profiles.kinds), _SHRINKAGES[index])
        slot_prior = (_CLAIM * start[n:][kinds] * training.slot_shares).astype(np.float32)
        credited = learn_tag_words(
            training, shrinkage, topic_prior, slot_prior, before, MOST_ROUNDS, CONVERGED
        )
        words = words_of(rows, credited.words, shrinkage, profiles, phi)
        fit = maximise(rows, words, phi, used, has_tags, start, 4)
        return float(fit.likelihoods[has_tags].sum()), fit, credited, (credited.words, shrinkage)

    start = np.concatenate([known.values[:n], np.full(profiles.n_kinds, _PSEUDO_COUNT)])
    tried = {_FIRST: attempt(_FIRST, None, start)}
    for step in (1, -1):
        index = _FIRST + step
        while 0 <= index < len(_SHRINKAGES):
            tried[index] = attempt(index, tried[index - step][2], start)
            if tried[index][0] < tried[index - step][0]:
                break
            index += step
    best = max(tried, key=lambda i: tried[i][0])
    _, fit, _, credited = attempt(best, tried[best][2], tried[best][1].values)
    words = words_of(rows, *credited, profiles, phi)
    fit = maximise(rows, words, phi, used, has_tags, fit.values)
    return _SHRINKAGES[best], credited, fit


class _Used(NamedTuple):
    """Which parts of a prior are used: masks (n + G,) of the parts over topics and of the words of tags."""

    n_topic_parts: int
    n_kinds: int
    joint: bool  # whether the joint part is wanted

    @property
    def plain(self) -> Float64:
        """Without tags."""
        return self._first(2)

    @property
    def tagged(self) -> Float64:
        """With the profiles of tags."""
        return self._first(self.n_topic_parts)

    @property
    def worded(self) -> Float64:
        """With the words of tags as well."""
        return self._first(self.n_topic_parts + self.n_kinds)

    def _first(self, n_used: int) -> Float64:
        number = np.arange(self.n_topic_parts + self.n_kinds)
        used = (number < n_used) & (self.joint | (number != self.n_topic_parts - 1))
        return np.asarray(used, dtype=np.float64)


def _strengths(values: Float64, n_kinds: int) -> Strengths:
    flat, base, *others = (float(value) for value in values)
    return Strengths(flat, base, tuple(others[:n_kinds]), others[n_kinds], tuple(others[n_kinds + 1 :]))


def settings_to_numbers(settings: TagSettings, kinds: Sequence[str]) -> dict[str, float]:
    """Return settings by name, as a model file stores them: `known.mean.author`."""
    numbers = {"shrinkage": settings.shrinkage}
    numbers |= {f"similar.{name}": value for name, value in settings.similar._asdict().items()}
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

    similar = SimilarStrengths(*(numbers[f"similar.{name}"] for name in SimilarStrengths._fields))
    return kinds, TagSettings(strengths("hidden"), strengths("known"), numbers["shrinkage"], similar)
