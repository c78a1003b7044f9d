"""Topic coherence: normalised pointwise mutual information (NPMI) of the top words of each topic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.core import Corpus


def topic_coherence(corpus: Corpus, top_words: Sequence[Sequence[str]]) -> Float64:
    """Return for each topic the mean NPMI of the pairs of its top words, from -1 to 1.

    With p(v) the share of documents that contain word v, and p(v, w) that of documents with both words,

        npmi(v, w) = log(p(v, w) / (p(v) p(w))) / -log p(v, w),

    which is -1 for words that never co-occur, 0 for independent words, 1 for words that always co-occur.

    Args:
        corpus: where co-occurrence is counted: a reference corpus, or the one the topics come from.
        top_words: the top words of each topic; words that are not in the corpus co-occur with none.

    Returns:
        (K,) the coherence of each topic; NaN for a topic of fewer than two words.
    """
    words = sorted({word for topic in top_words for word in topic})
    place = {word: i for i, word in enumerate(words)}
    pair_values = _npmi(_document_frequencies(corpus, words), corpus.n_docs)
    coherence = np.full(len(top_words), np.nan)
    for k, topic in enumerate(top_words):
        rows = [place[word] for word in dict.fromkeys(topic)]
        above = np.triu_indices(len(rows), k=1)
        if len(above[0]):
            coherence[k] = pair_values[np.ix_(rows, rows)][above].mean()
    return coherence


def _document_frequencies(corpus: Corpus, words: Sequence[str]) -> Int64:
    """Return (N, N): how many documents hold both of two words; on the diagonal, one."""
    column = {word: w for w, word in enumerate(corpus.vocabulary)}
    known = [i for i, word in enumerate(words) if word in column]
    counts = sp.csc_array(corpus.counts)[:, [column[words[i]] for i in known]]
    occurs = sp.csr_array((counts > 0).astype(np.int64))
    together = np.zeros((len(words), len(words)), dtype=np.int64)
    together[np.ix_(known, known)] = (occurs.T @ occurs).toarray()
    return together


def _npmi(together: Int64, n_docs: int) -> Float64:
    joint = together / max(n_docs, 1)
    alone = np.diag(joint)
    meet = together > 0
    always = together == n_docs
    log_joint = np.log(np.where(meet, joint, 1.0))
    log_apart = np.log(np.where(meet, np.outer(alone, alone), 1.0))
    values = (log_joint - log_apart) / np.where(meet & ~always, -log_joint, 1.0)
    return np.where(meet, np.where(always, 1.0, values), -1.0)
