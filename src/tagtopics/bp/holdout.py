"""How good topics are: held-out words that they predict, and the coherence of their top words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError

_BATCH = 1 << 20  # probabilities of held-out words computed at a time, times topics


def log_likelihoods(held_out: Any, doc_topic: Float32, phi: Float32) -> Float64:
    """Return (D,): log probabilities of held-out tokens, CSR (D, W), under theta (D, K) and phi (W, K)."""
    docs = np.repeat(np.arange(held_out.shape[0]), np.diff(held_out.indptr))
    logs = np.empty(held_out.nnz)
    step = max(1, _BATCH // phi.shape[1])
    for i in range(0, held_out.nnz, step):
        part = slice(i, i + step)
        theta = doc_topic[docs[part]].astype(np.float64)
        probability = np.einsum("ek,ek->e", theta, phi[held_out.indices[part]].astype(np.float64))
        logs[part] = np.log(np.maximum(probability, 1e-300))
    return np.bincount(docs, held_out.data * logs, held_out.shape[0]).astype(np.float64)


def perplexity(log_likelihood: float, n_tokens: float) -> float:
    """Return exp of minus the mean log likelihood of a token; no token to predict is an `InputError`."""
    if not n_tokens > 0:
        raise InputError(
            "perplexity: nothing to predict; the documents need words that the model knows, and for document "
            "completion two or more in one document"
        )
    return float(np.exp(-log_likelihood / n_tokens))


def unigram_log_likelihood(held_out: Any, word_counts: Any, prior: float) -> float:
    """Return the sum over held-out tokens (CSR, D x W) of log p(word), without topics.

    `word_counts` (W,) are those of the training documents; the prior is the pseudo-count of every word.
    """
    smoothed = np.asarray(word_counts, dtype=np.float64) + prior
    word_probability = np.asarray(smoothed / smoothed.sum())
    return float(held_out.data @ np.log(np.maximum(word_probability[held_out.indices], 1e-300)))


def topic_coherence(corpus: Corpus, top_words: Sequence[Sequence[str]]) -> Float64:
    """Return for each topic the mean NPMI of the pairs of its top words, from -1 to 1.

    With p(v) the share of documents that contain word v, and p(v, w) that of documents with both words,

        npmi(v, w) = log(p(v, w) / (p(v) p(w))) / -log p(v, w),

    which is -1 for words that never co-occur, 0 for independent words, 1 for words that always co-occur.
    Words that are not in the corpus co-occur with none. A topic of fewer than two words has NaN.
    """
    column = {word: w for w, word in enumerate(corpus.vocabulary)}
    occurs = sp.csc_array(corpus.counts > 0, dtype=np.int64)
    coherence = np.full(len(top_words), np.nan)
    for k, topic in enumerate(top_words):
        words = list(dict.fromkeys(topic))
        above = np.triu_indices(len(words), k=1)
        if len(above[0]):
            known = [i for i, word in enumerate(words) if word in column]
            own = occurs[:, [column[words[i]] for i in known]]
            together = np.zeros((len(words), len(words)), dtype=np.int64)
            together[np.ix_(known, known)] = (own.T @ own).toarray()
            coherence[k] = _npmi(together, corpus.n_docs)[above].mean()
    return coherence


def _npmi(together: Int64, n_docs: int) -> Float64:
    joint = together / max(n_docs, 1)
    alone = np.diag(joint)
    meet = together > 0
    always = together == n_docs
    log_joint = np.log(np.where(meet, joint, 1.0))
    log_apart = np.log(np.where(meet, np.outer(alone, alone), 1.0))
    values = (log_joint - log_apart) / np.where(meet & ~always, -log_joint, 1.0)
    return np.where(meet, np.where(always, 1.0, values), -1.0)
