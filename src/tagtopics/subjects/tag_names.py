"""Recommendation with the names of tags: scores from words and topics, and which names are in the text.

A logistic regression weighs both. It is fitted to leave-one-out scores of training documents, each also
without its own counts, so that it applies to new documents. Tags that no training document carries can
be recommended.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.special
from pydantic import BaseModel, ConfigDict, Field

from tagtopics._blas import single_thread
from tagtopics._typing import Bool, Float64, Int64
from tagtopics.corpus.align import places_of
from tagtopics.corpus.core import check_array
from tagtopics.corpus.recipe import language_code
from tagtopics.errors import InputError
from tagtopics.models.persistence import NAMES_FILE
from tagtopics.recommend.calibration import best_threshold
from tagtopics.recommend.choice import Choice, Recommendation
from tagtopics.recommend.logistic import logistic_weights
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.subjects.name_features import (
    FEATURES,
    NameStatistics,
    PairFeatures,
    group_matches,
    name_statistics,
    pair_features,
    title_lengths,
)
from tagtopics.subjects.name_index import Matches, NameIndex
from tagtopics.subjects.pair_keys import has_entries
from tagtopics.subjects.thesaurus import Thesaurus

_LEARNED_DOCS, _COUNTED_DOCS = 2000, 10_000  # to learn weights from, and to search for names and count them
_KEPT_WRONG = 4  # 1 in 4 of the wrong pairs is kept, weighted by 4
_SQUARES_FROM = 1000  # true pairs from which products of two features are used, too
_PENALTY = 0.1  # inverse of the strength of the penalty on weights
_LEAST_SCALE, _FARTHEST = 0.05, 4.0  # standard deviation of a feature, and how many from its mean count
_BATCH = 128  # documents
_PREFIX, _LARGEST = "names.", 1e9  # of saved arrays: of their names, and the largest number in them


class Candidates(NamedTuple):
    """The tags that one document may need, most probable first."""

    tags: Int64  # (C,) places in `TagNames.tags`
    probabilities: Float64  # (C,)
    spans: tuple[tuple[str, ...], ...]  # for each tag, the pieces of text that are names of it


@dataclass(frozen=True)
class TagNames:
    """The fitted name matcher of a recommender.

    Attributes:
        thesaurus: the V tags with names.
        language: of the texts, as an ISO 639-1 code, for their inflection.
        n_docs: training documents that were searched for names.
        counts: (3, U) how many of them carry each tag, have its name, and both; U tags, see `tags`.
        mean: (features,) of the training pairs.
        scale: (features,) their standard deviations.
        weights: (P,) of a constant, the features, and their products if there were enough pairs.
        threshold: pairs at least this probable are predicted.
        tag_names: the T tags of the recommender.
    """

    thesaurus: Thesaurus
    language: str
    n_docs: int
    counts: Int64
    mean: Float64
    scale: Float64
    weights: Float64
    threshold: float
    tag_names: tuple[str, ...] = field(repr=False)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All U tags that can be recommended: those with names, then those of the recommender without."""
        return all_tags(self.thesaurus, self.tag_names)

    @cached_property
    def index(self) -> NameIndex:
        """The names, ready to be found; built on first use."""
        return NameIndex(self.thesaurus, self.language)

    @cached_property
    def _names(self) -> NameStatistics:
        columns = places_of(self.tag_names, self.tags)
        words, broader = self.index.name_words(), self.thesaurus.broader
        return name_statistics(words, broader, columns, self.n_docs, tuple(self.counts))

    def candidates(
        self,
        recommender: TagRecommender,
        counts: Any,
        doc_topic: Any,
        texts: Sequence[str],
        vectors: Any = None,
    ) -> Iterator[Candidates]:
        """Yield for each of D documents the tags it may need; none if it has neither known word nor name.

        Args:
            recommender: the one that the weights were fitted with, or its `with_vectors`.
            counts: CSR (D, W) in the columns of the model.
            doc_topic: (D, K) topic proportions, tags hidden.
            texts: of the documents.
            vectors: of the documents, if the recommender needs them.
        """
        for first in range(0, len(texts), _BATCH):
            part = slice(first, first + _BATCH)
            batch = [unicodedata.normalize("NFC", text) for text in texts[part]]
            own_vectors = None if vectors is None else vectors[part]
            likely = recommender.probabilities(sp.csr_array(counts[part]), doc_topic[part], own_vectors)
            matches, occurs = self.index.find(batch)
            found = group_matches(matches, len(self.tags))
            rows = pair_features(self._names, found, occurs, title_lengths(batch), likely, None)
            silent = (np.diff(counts.indptr)[part] == 0) & (np.bincount(found.doc, minlength=len(batch)) == 0)
            yield from self._rank(rows, silent, matches, batch)

    def recommendations(
        self, found: Candidates, words: Sequence[Any], chosen: Sequence[int]
    ) -> list[Recommendation]:
        """Return the chosen candidates of a document, each with the words behind it and its name."""
        answers = []
        for i, why in zip(chosen, words, strict=True):
            tag, p = self.tags[found.tags[i]], float(found.probabilities[i])
            name, path = self.thesaurus.name_of(tag) or "", self.thesaurus.path_of(tag)
            answers.append(Recommendation(tag, p, why, name, found.spans[i], path))
        return answers

    def admits(self, choice: Choice) -> Bool:
        """Return (U,): which tags may be recommended."""
        if choice.balanced:
            raise InputError("recommend: balanced lists are not offered by a model with tag names")
        return np.asarray(choice.admits(self.tags, self.thesaurus.names))

    def choose(self, found: Candidates, choice: Choice, admitted: Bool) -> list[int]:
        """Return the places of the candidates to recommend, of tags that are `admitted`, (U,)."""
        likely = np.flatnonzero((found.probabilities >= choice.threshold) & admitted[found.tags])
        return [int(i) for i in likely[: choice.top]]

    def _rank(
        self, rows: PairFeatures, silent: Bool, matches: Matches, texts: list[str]
    ) -> Iterator[Candidates]:
        p = _probabilities(rows.values, self.mean, self.scale, self.weights)
        spans: dict[tuple[int, int], dict[str, None]] = {}
        for doc, tag, start, stop in zip(matches.doc, matches.tag, matches.start, matches.stop, strict=True):
            spans.setdefault((int(doc), int(tag)), {})[texts[doc][start:stop]] = None
        ends = np.searchsorted(rows.doc, np.arange(len(texts) + 1))
        for doc in range(len(texts)):
            here = slice(ends[doc], ends[doc] if silent[doc] else ends[doc + 1])
            order = np.argsort(-p[here], kind="stable")
            tags = rows.tag[here][order]
            pieces = tuple(tuple(spans.get((doc, int(tag)), ())) for tag in tags)
            yield Candidates(tags, p[here][order], pieces)


def all_tags(thesaurus: Thesaurus, tag_names: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of a thesaurus, then those of a recommender that are not in it."""
    return (*thesaurus.ids, *(tag for tag in tag_names if tag not in thesaurus.row))


def fit_tag_names(
    recommender: TagRecommender,
    thesaurus: Thesaurus,
    texts: Sequence[str],
) -> TagNames:
    """Fit the weights of names in texts; the result does not depend on the number of threads.

    Args:
        recommender: a fitted one.
        thesaurus: its ids are tags of the recommender, and others that may be recommended.
        texts: of the documents of the fit; `recommender.rows` says which of them it uses.
    """
    if len(texts) <= int(recommender.rows.max()):
        raise InputError(
            "tag names: the texts are not those of the documents that the recommender was fitted to"
        )
    generator = np.random.default_rng(0)  # draws documents where there are many
    counted = generator.permutation(len(recommender.rows))[:_COUNTED_DOCS]
    own = [unicodedata.normalize("NFC", texts[row]) for row in recommender.rows[counted]]
    # (1) The names in the documents, and how many carry each tag, have its name, and both.
    language, tags = language_code(own), all_tags(thesaurus, recommender.tag_names)
    index, columns = NameIndex(thesaurus, language), places_of(recommender.tag_names, tags)
    batches = [slice(first, first + _BATCH) for first in range(0, len(own), _BATCH)]
    carried = recommender.tags
    entries = carried.data, columns[carried.indices], carried.indptr
    everywhere = sp.csr_array(entries, shape=(len(recommender.rows), len(tags)), copy=True)
    everywhere.sort_indices()
    truth = [sp.csr_array(everywhere[counted[batch]]) for batch in batches]
    counts = np.zeros((3, len(tags)), dtype=np.int64)
    counts[0] = np.bincount(everywhere.indices, minlength=len(tags))
    parts = []
    for batch, true in zip(batches, truth, strict=True):
        matches, occurs = index.find(own[batch])
        found = group_matches(matches, len(tags))
        counts[1] += np.bincount(found.tag, minlength=len(tags))
        both = found.tag[has_entries(true, found.doc, found.tag)]
        counts[2] += np.bincount(both, minlength=len(tags))
        parts.append((found, occurs))
    # (2) The features of pairs, and which are true.
    names = name_statistics(index.name_words(), thesaurus.broader, columns, len(own), tuple(counts))
    pairs: list[tuple[Float64, Bool]] = []
    used = batches[: -(-_LEARNED_DOCS // _BATCH)]
    for batch, true, part in zip(used, truth, parts, strict=False):
        likely = recommender.leave_one_out(counted[batch])
        rows = pair_features(names, *part, title_lengths(own[batch]), likely, true)
        pairs.append((rows.values, has_entries(true, rows.doc, rows.tag)))
    values, outcomes = (np.concatenate(part) for part in zip(*pairs, strict=True))
    # (3) Their weights.
    n_true = sum(true.nnz for true in truth[: len(used)])
    learned = _learn_weights(values, outcomes, n_true, generator)
    fitted = TagNames(thesaurus, language, len(own), counts, *learned, recommender.tag_names)
    fitted.__dict__["index"] = index
    return fitted


@single_thread()
def _learn_weights(
    values: Float64, outcomes: Bool, n_true: int, generator: np.random.Generator
) -> tuple[Float64, Float64, Float64, float]:
    """Return mean, scale, weights and threshold for pairs (M, features) with outcomes (M,).

    `n_true` pairs are true in all, also those that are not among the M.
    """
    # (1) All true pairs and some of the wrong ones, standardised.
    mean, scale = values.mean(0), np.maximum(values.std(0), _LEAST_SCALE)
    kept = outcomes | (generator.integers(_KEPT_WRONG, size=len(outcomes)) == 0)
    weight = np.where(outcomes[kept], 1.0, float(_KEPT_WRONG))
    columns = _inputs(values[kept], mean, scale, int(outcomes.sum()) >= _SQUARES_FROM)
    # (2) A logistic regression whose penalty is the same for columns of any scale.
    middle, spread = columns.mean(0), columns.std(0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    constant, *others = logistic_weights((columns - middle) / spread, outcomes[kept], weight, _PENALTY)
    slopes = np.array(others) / spread
    weights = np.concatenate([[constant - (slopes * middle).sum()], slopes])
    # (3) The threshold.
    threshold = best_threshold(_probabilities(values, mean, scale, weights), outcomes, n_true)
    return mean, scale, weights, threshold


@single_thread()
def _probabilities(values: Float64, mean: Float64, scale: Float64, weights: Float64) -> Float64:
    columns = _inputs(values, mean, scale, len(weights) > len(FEATURES) + 1)
    return np.asarray(scipy.special.expit(columns @ weights[1:] + weights[0]))


def _inputs(values: Float64, mean: Float64, scale: Float64, squares: bool) -> Float64:
    """Return features (M, F) in standard deviations, none far out, and the products of any two if wanted."""
    standard = np.clip((values - mean) / scale, -_FARTHEST, _FARTHEST)
    if not squares:
        return standard
    a, b = np.triu_indices(standard.shape[1])
    return np.concatenate([standard, standard[:, a] * standard[:, b]], axis=1)


# ----------------------------------------------------------------------------------------- saved models


class NamesDescription(BaseModel):
    """The part of `model.json` on names of tags."""

    model_config = ConfigDict(strict=True)

    language: str
    n_docs: Annotated[int, Field(ge=0, le=10**12)]
    threshold: Annotated[float, Field(ge=0, le=1)]


def names_to_text(names: TagNames) -> str:
    """Return the content of `names.tsv`: a tag, its name and alternative names on each line."""
    t = names.thesaurus
    rows = zip(t.ids, t.names, t.alternatives, strict=True)
    return "".join("\t".join((id, name, *others)) + "\n" for id, name, others in rows)


def names_to_arrays(names: TagNames) -> dict[str, Any]:
    """Return the arrays of names, by name."""
    arrays = {name: getattr(names, name) for name in ("counts", "mean", "scale", "weights")}
    arrays["broader"] = names.thesaurus.broader
    return {_PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}


def names_to_json(names: TagNames) -> dict[str, Any]:
    """Return the numbers of names."""
    return {"language": names.language, "n_docs": names.n_docs, "threshold": names.threshold}


def names_from(
    content: dict[str, Any], text: str, arrays: dict[str, Any], tag_names: tuple[str, ...]
) -> TagNames:
    """Return what the functions above converted, for the tags of a recommender.

    Raises:
        InputError: if the parts do not fit together.
    """
    description = NamesDescription.model_validate(content)
    rows = [line.split("\t") for line in text.split("\n")[:-1]]
    if not rows or min(map(len, rows)) < 2:
        raise InputError(f"{NAMES_FILE} is damaged: every line must have a tag and a name")
    ids = tuple(row[0] for row in rows)
    own = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    alternatives = tuple(tuple(row[2:]) for row in rows)
    thesaurus = Thesaurus(ids, tuple(row[1] for row in rows), alternatives, own["broader"])
    if len(thesaurus.row) < len(ids):
        raise InputError(f"{NAMES_FILE} is damaged: a tag occurs twice")
    _check(own, len(ids), len(all_tags(thesaurus, tag_names)))
    numbers = description.language, description.n_docs
    parts = own["counts"], own["mean"], own["scale"], own["weights"]
    return TagNames(thesaurus, *numbers, *parts, description.threshold, tag_names)


def _check(own: dict[str, Any], n_named: int, n_tags: int) -> None:
    F = len(FEATURES)
    P = own["weights"].size if own["weights"].size in (1 + F, 1 + F + F * (F + 1) // 2) else 1 + F
    wanted = {
        "broader": ((len(own["broader"]), 2), np.int64),
        "counts": ((3, n_tags), np.int64),
        "mean": ((F,), np.float64),
        "scale": ((F,), np.float64),
        "weights": ((P,), np.float64),
    }
    for name, (shape, dtype) in wanted.items():
        check_array(own[name], shape, dtype, f"names.{name}", least=-_LARGEST, most=_LARGEST)
    if (own["counts"] < 0).any() or (own["scale"] <= 0).any():
        raise InputError("names.counts and names.scale must be positive")
    if ((own["broader"] < 0) | (own["broader"] >= n_named)).any():
        raise InputError("names.broader names tags that do not exist")
