"""Kernel ridge regression, on all training documents or on the nearest ones of each document."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Bool, Float32, Float64, Int64
from tagtopics.jit.threads import results_of, run_ranges
from tagtopics.jit.top import largest_in_rows
from tagtopics.recommend import loops
from tagtopics.recommend.loops import KernelDocuments

# Share of the topics in the similarity of two documents; the other share is that of the words.
TOPIC_WEIGHT = np.float32(0.1)
# Added to the diagonal of the kernel. Good from photographs to news: decision 230.
RIDGE = np.float32(0.1)
PART = 8000  # documents whose kernel is factorised at a time; the scores of several parts are averaged
# Training documents times tags up to which coefficients are stored. Above, up to a number of documents
# squared, the inverse of their kernel is; with more documents, the nearest ones of each document are used.
_LARGEST_TABLE, _LARGEST_INVERSE = 1 << 26, 1 << 27
# Coefficients from which they are rounded to half precision, and saved in it: decision 230.
HALVED_FROM = 1 << 23
_CELLS = 1 << 22  # scores in memory at a time
# Shares of the vectors in the similarity, and by how many standard errors one must be better than none.
_VECTOR_WEIGHTS, _CERTAIN = (0.0, 0.2, 0.4, 0.6), 3.0
_RANKS = 20  # tags of a document by which weights are compared
NEIGHBOURS = 200  # training documents that a document is regressed on: decision 230
# Smallest weight or share of a word that counts. One over a smaller one may be infinite, and the mean of two
# shares that round to zero is not a number.
LEAST = np.finfo(np.float32).tiny


class Votes(NamedTuple):
    """Scores of D documents and T tags as a sparse table, and what every score has in addition."""

    table: Any  # CSR (D, T)
    rest: Float64  # (D,) times the share of all documents that carry the tag


class Cosines(NamedTuple):
    """What vectors add to the similarity of documents: their cosine, with a weight from 0 to 1."""

    new: Float32  # (D, n) of length one
    known: Float32  # (N, n) likewise, of the index
    weight: float


def documents_of(counts: Any, doc_topic: Float32) -> KernelDocuments:
    """Return documents of counts (CSR, N x W) and topic proportions (N, K) as the kernel needs them."""
    lengths = np.diff(counts.indptr)
    tokens = np.asarray(counts.sum(1, dtype=np.float64)).ravel()
    shares = sp.csr_array(
        ((counts.data / np.repeat(tokens, lengths)).astype(np.float32), counts.indices, counts.indptr),
        shape=counts.shape,
    )
    shares = at_least(shares, LEAST)
    columns = sp.csc_array(shares)
    return KernelDocuments(
        shares.indptr.astype(np.int64), shares.indices.astype(np.int32), shares.data,
        columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data,
        np.ascontiguousarray(np.sqrt(doc_topic), dtype=np.float32),
    )  # fmt: skip


def at_least(matrix: Any, least: np.float32) -> Any:
    """Return a CSR array without entries below `least`: the array itself if it has none, else a copy."""
    small = matrix.data < least
    if not small.any():
        return matrix
    kept = matrix.copy()
    kept.data[small] = 0
    kept.eliminate_zeros()
    return kept


def neighbour_weights(alike: Float32, counts: CSR, topics: Float32, bandwidth: float, most: int) -> CSR:
    """Return CSR (D, N): what the most similar documents add to the scores of others, (K + ridge I)^-1 k.

    `alike` (D, N) are the similarities of the others to N documents of counts (N, W) and topics (N, K).
    """
    rows = np.sort(largest_in_rows(alike, most), axis=1)

    def weigh(d: int) -> Float32:
        docs = documents_of(sp.csr_array(counts[rows[d]]), topics[rows[d]])
        factor = _factorise(kernel_of(docs, docs, bandwidth))
        values = np.exp(np.float32(bandwidth) * (alike[d, rows[d]] - 1))
        return np.asarray(lapack.spotrs(factor, values, lower=1)[0])

    weights = results_of(weigh, range(len(rows)))
    offsets = np.arange(len(rows) + 1) * rows.shape[1]
    return sp.csr_array((np.ravel(weights), rows.ravel(), offsets), shape=alike.shape)


def similarities(new: KernelDocuments, index: KernelDocuments, cosines: Cosines | None = None) -> Float32:
    """Return (D, N): how similar words and topics of new documents and of the index are, from 0 to 1.

    Cosines may be negative; so may similarities then.
    """
    D, N = len(new.topics), len(index.topics)
    alike = np.empty((D, N), dtype=np.float32)
    if D:
        run_ranges(loops.compare, np.arange(D + 1), N, new, index, TOPIC_WEIGHT, alike)
    if cosines is not None:
        alike *= np.float32(1 - cosines.weight)
        with single_thread():
            alike += np.float32(cosines.weight) * (cosines.new @ cosines.known.T)
    return alike


def kernel_of(
    new: KernelDocuments, index: KernelDocuments, bandwidth: float, cosines: Cosines | None = None
) -> Float32:
    """Return (D, N): exp(-bandwidth (1 - similarity)) of new documents and those of the index."""
    alike = similarities(new, index, cosines)
    alike -= 1
    alike *= np.float32(bandwidth)
    return np.exp(alike, out=alike)


def solve_part(kernel: Float32, targets: Float32) -> tuple[Float32, Float32]:
    """Return A (N, T) with (K + ridge I) A = Y, and (N,) what each document adds to its own score.

    With C the inverse of K + ridge I, the score of document i without itself is
    f_i - a_i (1 - ridge C_ii) / C_ii = y_i - a_i / C_ii. The kernel (N, N) is overwritten.
    """
    factor = _factorise(kernel)
    coefficients, _ = lapack.spotrs(factor, targets, lower=1)
    inverse, _ = lapack.spotri(factor, lower=1, overwrite_c=1)
    return np.ascontiguousarray(coefficients), _own_parts(np.diag(inverse))


def _factorise(kernel: Float32) -> Float32:
    """Return the Cholesky factor of K + ridge I, in place of the kernel."""
    kernel[np.diag_indices_from(kernel)] += RIDGE
    factor, failed = lapack.spotrf(kernel.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the kernel is not positive definite")
    return np.asarray(factor)


def _own_parts(diagonal: Float32) -> Float32:
    """Return what each document adds to its own score, per coefficient, from the diagonal of C."""
    return np.asarray(1 / np.maximum(diagonal, 1e-6) - RIDGE, dtype=np.float32)


def stored_sizes(n_docs: int, n_tags: int) -> tuple[int, int]:
    """Return how many coefficients of each document, and numbers of the inverse, a recommender stores.

    Both are zero if the nearest documents are used.
    """
    if n_docs * n_tags <= _LARGEST_TABLE:
        return n_tags, 0
    return 0, n_docs * (n_docs + 1) // 2 if n_docs**2 <= _LARGEST_INVERSE else 0


@single_thread()
def fit_inverse(
    docs: KernelDocuments, bandwidth: float, cosines: Cosines | None = None
) -> tuple[Float32, Float32]:
    """Return C, the inverse of K + ridge I, (N, N), in half precision, and `own` of a recommender.

    The regression predicts k C Y from the kernel k (D, N) of new documents: where tags are more than
    documents, C is smaller than the coefficients C Y.
    """
    kernel = kernel_of(docs, docs, bandwidth, cosines)
    inverse, _ = lapack.spotri(_factorise(kernel), lower=1, overwrite_c=1)
    C = unpack(pack(inverse.T).astype(np.float16))
    return C, _own_parts(np.diag(C))


def pack(matrix: Float32) -> Float32:
    """Return the rows of the upper triangle of a matrix (N, N), one after the other."""
    return np.concatenate([row[i:] for i, row in enumerate(matrix)])


def unpack(rows: Any) -> Float32:
    """Return the symmetric matrix (N, N) whose upper triangle `pack` returns."""
    n = (math.isqrt(8 * len(rows) + 1) - 1) // 2
    matrix, first = np.zeros((n, n), dtype=np.float32), 0
    for i in range(n):
        matrix[i, i:] = matrix[i:, i] = rows[first : first + n - i]
        first += n - i
    return matrix


@single_thread()
def fit_coefficients(
    counts: Any,
    tags: Any,
    theta: Float32,
    bandwidth: float,
    generator: np.random.Generator,
    cosines: Cosines | None = None,
) -> tuple[Float32, Float32]:
    """Return `coefficients` and `own` of a recommender.

    Each part of the documents has its own regression; the scores of the parts are averaged.
    """
    N, T = tags.shape
    coefficients, own = np.zeros((N, T), dtype=np.float32), np.zeros(N, dtype=np.float32)
    share = np.asarray(tags.mean(0), dtype=np.float32)
    n_parts = -(-N // PART)
    order = generator.permutation(N)
    for rows in (np.sort(order[first::n_parts]) for first in range(n_parts)):
        docs = documents_of(sp.csr_array(counts[rows]), theta[rows])
        own_cosines = cosines and cosines._replace(new=cosines.new[rows], known=cosines.known[rows])
        kernel = kernel_of(docs, docs, bandwidth, own_cosines)
        solution, own[rows] = solve_part(kernel, tags[rows].toarray() - share)
        solution /= n_parts
        coefficients[rows] = solution if N * T < HALVED_FROM else solution.astype(np.float16)
    return coefficients, own


def leave_one_out_scores(coefficients: Float32, own: Float32, carried: Bool) -> Float32:
    """Return (P,): the scores of pairs of document and tag, each without the document, in closed form.

    All documents must be in one regression; see `solve_part`. Coefficients, `own` and whether the document
    has the tag are (P,).
    """
    scores = coefficients * -(own + RIDGE)  # -1 / C_ii
    return np.asarray(scores + carried.astype(np.float32), dtype=np.float32)


def leave_one_out_best(coefficients: Float32, own: Float32, tags: CSR, docs: Int64, n: int) -> Int64:
    """Return (D, n): the tags with the largest positive `leave_one_out_scores` of documents, largest first.

    The first of equals is first; -1 fills up the rest. `coefficients` (N, T) and `own` (N,) are of one
    regression.
    """
    places, step = np.full((len(docs), n), -1, dtype=np.int64), max(1, _CELLS // tags.shape[1])
    for first in range(0, len(docs), step):
        some = docs[first : first + step]
        carried = tags[some].toarray() > 0
        scores = leave_one_out_scores(coefficients[some], own[some, np.newaxis], carried)
        best = largest_in_rows(scores, n)
        found = np.where(np.take_along_axis(scores, best, axis=1) > 0, best, -1)
        places[first : first + step, : best.shape[1]] = found
    return places


@single_thread()
def choose_vector_weight(docs: KernelDocuments, tags: CSR, vectors: Float32) -> tuple[float, float]:
    """Return the weight of vectors (N, n) in the similarity of N documents, and the bandwidth with it.

    That is the weight with which `leave_one_out_scores` rank tags best; 0 unless it is certainly better than
    no vectors. Squared errors are no measure: calibration corrects the size of scores, not their order.
    """
    words, cosines, gains, widths = similarities(docs, docs), vectors @ vectors.T, [], []
    carried = tags.toarray() > 0
    targets = carried - carried.mean(0, dtype=np.float32)
    for weight in map(np.float32, _VECTOR_WEIGHTS):
        distance = 1 - ((1 - weight) * words + weight * cosines)
        widths.append(1.0 / max(float(distance.mean(dtype=np.float64)), 1e-3))
        coefficients, own = solve_part(np.exp(np.float32(-widths[-1]) * distance), targets)
        gains.append(_ranking_gains(leave_one_out_scores(coefficients, own[:, np.newaxis], carried), carried))
    best = int(np.argmax(np.sum(gains, axis=1)))
    more = gains[best] - gains[0]
    if not more.sum() > _CERTAIN * np.sqrt(len(more)) * more.std():
        best = 0
    return _VECTOR_WEIGHTS[best], widths[best]


def _ranking_gains(scores: Float32, carried: Bool) -> Float64:
    """Return the nDCG of the first tags of each document, (D,), given scores (D, T)."""
    first = largest_in_rows(scores, _RANKS)
    discounts = 1 / np.log2(np.arange(2, first.shape[1] + 2))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(carried.sum(1), len(discounts))]
    return np.asarray(np.take_along_axis(carried, first, axis=1) @ discounts / np.maximum(ideal, 1e-9))


def bandwidth_of(counts: Any, theta: Float32, some: Int64) -> float:
    """Return one over the mean distance of some documents, each pair compared as the kernel does."""
    x = sp.csr_array(counts[some])
    words = np.zeros((len(some), len(some)))
    shares = sp.csc_array(at_least(sp.csr_array(x / x.sum(1)[:, np.newaxis]), LEAST))
    for w in np.flatnonzero(np.diff(shares.indptr)):
        docs = shares.indices[shares.indptr[w] : shares.indptr[w + 1]]
        y = shares.data[shares.indptr[w] : shares.indptr[w + 1]]
        words[np.ix_(docs, docs)] += 2 * np.outer(y, y) / np.add.outer(y, y)
    root = np.sqrt(theta[some]).astype(np.float64)
    topics = np.einsum("ik,jk->ij", root, root)
    alike = (1 - TOPIC_WEIGHT) * words + TOPIC_WEIGHT * topics
    return 1.0 / max(float((1 - alike).mean()), 1e-3)
