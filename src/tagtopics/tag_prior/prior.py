"""What the tags of documents say: the parts of a document's prior, and the words that tags own.

A document's prior over topics adds up parts, each a distribution worth a number of tokens, its *strength*:

    flat    1 / K
    base    p(topic)
    mean    the mean profile of the document's tags, one part for each kind of tag; a tag on n documents
            counts n / (n + 3), and what rare tags leave out is not given to others
    joint   what all tags say together: p(topic) times the tags' ratios to it, tempered:
            p(topic) prod_t (profile_t / p(topic))^(1 / sqrt(T_d))

Each kind of tag also adds its own words, with pseudo-count `words` divided among the document's tags of that
kind (`mixture_loops`). Documents without a known tag have a flat and a base part of other strengths.
Inferred tags count with their probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.corpus.tags import MOST_KINDS, kind_of
from tagtopics.tag_prior.mixture_loops import Pairs

SHRINK = 3.0  # documents that a tag needs to count for half
_LEAST = 1e-9  # prior of every topic, so that none is ruled out
_CELLS = 2**20  # numbers that are added up at once, to bound memory


class Strengths(NamedTuple):
    """Strengths of the parts of a document's prior, in tokens."""

    flat: float
    base: float
    mean: tuple[float, ...] = ()  # for each kind of tag
    joint: float = 0.0
    words: tuple[float, ...] = ()  # for each kind of tag

    @property
    def topics(self) -> Float64:
        """The strengths of the parts over topics, in the order of `Profiles.parts`."""
        return np.array([self.flat, self.base, *self.mean, self.joint])


def kinds_of(tag_names: Sequence[str], kinds: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], Int64]:
    """Return the kinds of tags and the kind of each tag, (T,).

    Tags written `kind:name` have kinds if all have one and kinds are few; else all tags are of one kind.

    Given the kinds that strengths were learned for, tags of other kinds count as the first one.
    """
    found = [kind_of(name) for name in tag_names]
    if kinds is None:
        names = sorted(set(found))
        few = 2 <= len(names) <= MOST_KINDS and 2 * len(names) <= len(tag_names)
        kinds = tuple(names) if few and "" not in names else ("",)
    number = {name: i for i, name in enumerate(kinds)}
    return kinds, np.array([number.get(kind, 0) for kind in found], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Profiles:
    """The topics of tags."""

    base: Float64  # (K,) p(topic)
    means: Float32  # (T, K) p(topic | tag)
    tag_docs: Float64  # (T,) number of training documents of each tag
    kinds: Int64  # (T,) the kind of each tag
    n_kinds: int

    def parts(self, tags: CSR) -> Float64:
        """Return (n_kinds + 3, D, K): flat, base, mean of each kind, joint; see the module docstring."""
        D, docs, kinds = tags.shape[0], self.tag_docs[tags.indices], self.kinds[tags.indices]
        doc, count = np.repeat(np.arange(D), np.diff(tags.indptr)), np.asarray(tags.data, dtype=np.float64)
        weight, base = (docs / (docs + SHRINK))[:, np.newaxis], np.maximum(self.base, _LEAST)
        profiles = weight * self.means[tags.indices].astype(np.float64)  # a row for each slot, not each tag
        parts, totals = np.zeros((self.n_kinds + 3, D, len(base))), np.zeros((self.n_kinds, D))
        parts[0], parts[1] = 1.0 / len(base), self.base
        parts[2:-1] = _sums(kinds * D + doc, count, profiles, self.n_kinds * D).reshape(self.n_kinds, D, -1)
        np.add.at(totals, (kinds, doc), count)
        parts[2:-1] /= np.maximum(totals, 1.0)[:, :, np.newaxis]
        known, logs = count * (docs > 0), parts[-1]
        said = np.log(np.maximum(profiles + (1 - weight) * base, _LEAST) / base)
        logs += _sums(doc, known, said, D)
        logs /= np.sqrt(_at_least_one(np.bincount(doc, known, D)))
        joint = base * np.exp(logs - logs.max(1, keepdims=True))
        joint /= joint.sum(1, keepdims=True)
        trust = np.bincount(doc, known * weight[:, 0], D)[:, np.newaxis]
        parts[-1] = joint * trust / _at_least_one(np.bincount(doc, count, D))
        return parts

    def slot_weights(self, tags: CSR) -> Float64:
        """Return (S,): how the words' pseudo-count of a kind is divided among a document's tags."""
        rows = np.repeat(np.arange(tags.shape[0]), np.diff(tags.indptr))
        keys = rows * self.n_kinds + self.kinds[tags.indices]
        weights = np.asarray(tags.data, dtype=np.float64)
        totals = np.bincount(keys, weights, tags.shape[0] * self.n_kinds)
        return np.asarray(weights * (self.tag_docs[tags.indices] > 0) / np.maximum(totals, 1.0)[keys])


def _sums(key: Int64, weights: Float64, rows: Float64, n: int) -> Float64:
    """Return (n, K): the weighted sums of the rows (S, K) that have each key, in their order."""
    sums = np.empty((n, rows.shape[1]))
    step = max(1, _CELLS // max(len(key), 1))
    for first in range(0, rows.shape[1], step):
        part = rows[:, first : first + step]
        k = part.shape[1]
        places = (key[:, np.newaxis] * k + np.arange(k)).ravel()
        added = np.bincount(places, (weights[:, np.newaxis] * part).ravel(), n * k)
        sums[:, first : first + step] = added.reshape(n, k)
    return sums


def combined(parts: Float64, strengths: Strengths) -> Float32:
    """Return the prior (D, K) of documents from its parts (P, D, K)."""
    return np.asarray(np.einsum("p,pdk->dk", strengths.topics, parts) + _LEAST, dtype=np.float32)


def _at_least_one(totals: Any) -> Float64:
    return np.maximum(np.asarray(totals, dtype=np.float64).reshape(-1, 1), 1.0)


def pairs_of(tag_words: CSR, shrinkage: Float64) -> Pairs:
    """Return tag words, CSR (T, W), as the kernels read them; `shrinkage` is M_t, (T,)."""
    words = sp.csr_array(tag_words)
    return Pairs(
        words.indptr.astype(np.int64),
        words.indices.astype(np.int32, copy=False),
        words.data.astype(np.float32, copy=False),
        np.empty(0, dtype=np.float32),
        np.asarray(words.sum(1), dtype=np.float32).ravel(),
        shrinkage.astype(np.float32),
    )


def claims_of(doc_edges: Any, doc_slots: Any) -> tuple[Int64, Int64]:
    """Return the edge and the slot of every claim, (P,) each, given where each document begins."""
    doc = np.repeat(np.arange(len(doc_edges) - 1), np.diff(doc_edges))
    width = np.diff(doc_slots)[doc]
    edge = np.repeat(np.arange(len(doc)), width)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(width) - width, width)
    return edge, doc_slots[doc[edge]].astype(np.int64) + within
