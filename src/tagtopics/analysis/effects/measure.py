"""Statistics of the topics of a model, and how similar the topics they were computed from are to the model's.

The topics of a model without edits are learned again from its documents, and may drift meanwhile. Those of an
edited model would drift back to what they were. So the topics as they were fitted are held as a replay of the
edits holds them, and the edits are applied to the topic shares of documents as they were to the model's.
Decision 274.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tagtopics._typing import Float64, Int64
from tagtopics.analysis.effects.refit import Bootstrap, Refit, Statistic, bootstrap
from tagtopics.corpus.core import Corpus
from tagtopics.curation.edits import topic_origins
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.models.inputs import align_words

_LEAST_SIMILARITY = 0.9
_LARGEST_DIFFERENCE = 0.02
"""A measured topic agrees with the model's down to this cosine of their words, and up to this difference of
their mean shares: below, other words lead a topic; above, it gained or lost documents. Decision 274."""

_NO_TAGS = "fit again without tags that act on topics: refits leave them out"
_FIT = "fit the edits first, with: tagtopics curate MODEL replay"


class Topic(NamedTuple):
    """What was measured as a topic, beside the topic of the model."""

    share: float  # mean share of the documents, measured
    model_share: float  # the same in the model
    similarity: float  # cosine of the word distributions, measured and in the model

    @property
    def agrees(self) -> bool:
        """Whether the measured topic is the model's."""
        return agrees(*self)


class Measured(NamedTuple):
    """A statistic of a model's topics with intervals."""

    found: Bootstrap
    topics: tuple[Topic, ...]
    held: bool  # whether refits held the topics, so that intervals leave out how uncertain these are


def agrees(share: float, model_share: float, similarity: float) -> bool:
    """Return whether a measured topic is the model's: similar words, and nearly the same mean share."""
    return similarity >= _LEAST_SIMILARITY and abs(share - model_share) <= _LARGEST_DIFFERENCE


def mark(clear: bool, agree: bool) -> str:
    """Return the mark of an interval in a table: "?" if the topic is not the model's, "*" if it is clear."""
    return ("*" if clear else " ") if agree else "?"


def plain(record: Any) -> dict[str, Any]:
    """Return a named tuple for JSON."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in record._asdict().items()}


def measure(model: Any, corpus: Corpus, rows: Int64 | None, statistic: Statistic, **options: Any) -> Measured:
    """Return a statistic of the topic shares of documents with intervals, and how far topics agree.

    A topic that differs from the model's is an `InputError` if topics were edited since the fit, else a
    `CorpusWarning`.

    Args:
        model: fitted, `LDA` or `TTM`, with or without edits.
        corpus: documents with words of the model.
        rows: of the documents to measure; None for all.
        statistic: of `bootstrap`; it gets the shares of the model's topics.
        options: of `bootstrap`.
    """
    base = model if model.base_ is None else model.base_
    part = corpus if rows is None else corpus.select(rows)
    counts = align_words(part, base.vocabulary_, base.curation_.banned)
    place = {word: w for w, word in enumerate(base.vocabulary_)}
    words = np.array([place[word] for word in model.vocabulary_], dtype=np.int64)
    proportions = _proportions(model, corpus, rows, counts, words)
    edits = _edits(model, base, proportions, words)
    held = edits is not None or any(topic.curated for topic in base.curation_.topics)
    in_model = (proportions * (np.asarray(counts.sum(1)) > 0)[:, np.newaxis]).mean(0)
    topics: list[Topic] = []

    def compare(whole: Refit) -> None:
        after = whole if edits is None else edits.refit(whole)
        topics.extend(_compared(model, after, words, in_model))
        _check(topics, edited=edits is not None, tags_act=_tags_act(base))

    def edited_statistic(sample: Int64, shares: Float64) -> Float64:
        return statistic(sample, shares if edits is None else edits.shares(sample, shares))

    found = bootstrap(base, counts, edited_statistic, held=held, check=compare, **options)
    if edits is not None:
        found = found._replace(refit=edits.refit(found.refit))
    return Measured(found, tuple(topics), held)


class _Edits(NamedTuple):
    """How topics follow from those before the edits.

    A family are topics before with all topics after that are made of them. A family of one topic after has
    all tokens of those before; a split leads to several, which divide the tokens as in the model.
    """

    members: Float64  # (K before, F) 1 for the topics of each family
    family: Int64  # (K after,)
    of_docs: Float64  # (D, K after) share of each topic in its family
    of_words: Float64  # (W, K after) the same for the tokens of words
    complete: bool  # whether no topic was deleted

    def shares(self, sample: Int64, before: Float64) -> Float64:
        """Return the topic shares, (n, K after), of the documents of a sample."""
        after = (before @ self.members)[:, self.family] * self.of_docs[sample]
        return after if self.complete else after / np.maximum(after.sum(1, keepdims=True), 1e-300)

    def refit(self, whole: Refit) -> Refit:
        """Return the topics of all documents after the edits."""
        words = (whole.words @ self.members)[:, self.family] * self.of_words
        return Refit(words, self.shares(np.arange(len(whole.shares)), whole.shares))


def _edits(model: Any, base: Any, proportions: Float64, words: Int64) -> _Edits | None:
    """Return how the topics of a model follow from those it was fitted with; None if they are the same."""
    if not {edit.kind for edit in model.curation_.edits} & {"merge", "split", "delete"}:
        return None
    origins, deleted = topic_origins(model)
    if rest := [k for k, origin in enumerate(origins) if origin & deleted]:
        raise InputError(
            f"topic {rest[0]} of the edited model cannot be measured: a part was deleted; {_FIT}"
        )
    family, members = _families(origins, len(base.components_))
    sums = np.zeros((len(base.vocabulary_), len(origins)))
    sums[words] = model.word_sums()
    divided = [_divided(values, family) for values in (proportions, sums)]
    return _Edits(members, family, divided[0], divided[1], not deleted)


def _families(origins: Sequence[set[int]], before: int) -> tuple[Int64, Float64]:
    """Return the family of each topic, (K,), and which topics before, (K before, F), belong to it."""
    pairs = np.array([(k, before + j) for j, origin in enumerate(origins) for k in sorted(origin)]).T
    n = before + len(origins)
    label = connected_components(sp.coo_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(n, n)))[1]
    used, family = np.unique(label[before:], return_inverse=True)
    return family.astype(np.int64), (label[:before, np.newaxis] == used).astype(np.float64)


def _divided(values: Float64, family: Int64) -> Float64:
    """Return the share, (N, K), that each column of non-negative values has of its family."""
    shares = np.ones_like(values)
    for f in np.flatnonzero(np.bincount(family) > 1):
        own = values[:, family == f] + 1e-12
        shares[:, family == f] = own / own.sum(1, keepdims=True)
    return shares


def _proportions(model: Any, corpus: Corpus, rows: Int64 | None, counts: Any, words: Int64) -> Float64:
    """Return the model's topic proportions of the measured documents, (D, K); inferred for new documents."""
    if len(model.doc_topic_) == corpus.n_docs and tuple(corpus.ids) == tuple(model.doc_ids_):
        known = model.doc_topic_ if rows is None else model.doc_topic_[rows]
    else:
        known = model.transform(sp.csr_array(counts[:, words]))
    return np.asarray(known, dtype=np.float64)


def _compared(model: Any, measured: Refit, words: Int64, in_model: Float64) -> list[Topic]:
    """Return how the measured topics, with the words at these rows, compare with the model's."""
    ours, theirs = measured.words[words], model.word_sums()
    norms = np.linalg.norm(ours, axis=0) * np.linalg.norm(theirs, axis=0)
    cosines = (ours * theirs).sum(0) / np.maximum(norms, 1e-300)
    means = measured.shares.mean(0)
    return [Topic(*map(float, row)) for row in zip(means, in_model, cosines, strict=True)]


def _tags_act(model: Any) -> bool:
    """Return whether topics of a fit depend on tags, which refits leave out."""
    settings = model.topic_settings()
    return bool(settings.pairwise_weight > 0 or settings.higher_order_weight > 0)


def _check(topics: Sequence[Topic], *, edited: bool, tags_act: bool) -> None:
    """Raise `InputError` or, without edits since the fit, warn of topics that differ from the model's."""
    wrong = [k for k, topic in enumerate(topics) if not topic.agrees]
    if not wrong:
        return
    k, topic = wrong[0], topics[wrong[0]]
    if edited:
        raise InputError(
            f"topic {k} of the edited model cannot be measured: refits find a topic with a share of "
            f"{100 * topic.share:.1f} % instead of {100 * topic.model_share:.1f} %, similarity "
            f"{topic.similarity:.2f}; "
            + (_NO_TAGS if tags_act else f"measure the documents of the fit, or {_FIT}")
        )
    names = f"topic {k}" if len(wrong) == 1 else "topics " + ", ".join(map(str, wrong))
    warnings.warn(
        f"{names}: what was measured differs from the model (similarity below {_LEAST_SIMILARITY}, or share "
        f"off by more than {100 * _LARGEST_DIFFERENCE:g} points); do not rely on it, and "
        + (_NO_TAGS if tags_act else "fit again with more iterations and a smaller tolerance"),
        CorpusWarning,
        stacklevel=6,  # the caller of `effects` or `trends`
    )
