"""Compiled variational Bayes for LDA; `vb_reference` is its specification."""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner, kernel


@kernel
def update_documents(first, last, graph, alpha, word_factors, passes, tol, messages, doc_sums, change):
    """Infer documents first to last from uniform sums: messages, count times mu, and their sums.

    In a pass mu(k) is exp(psi(n_dk + alpha_k)) times the word's factor exp(E log phi), normalised. A
    document ends when its sums move less than `tol` per token in a pass, or after `passes`. `change` is set
    to the distance of its sums from those before.
    """
    K = messages.shape[1]
    theta = np.empty(K)
    fresh = np.empty(K)
    before = np.empty(K)
    sums = np.empty(K)
    for d in range(first, last):
        tokens = 0.0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            tokens += graph.edge_count[e]
        for k in range(K):
            before[k] = doc_sums[d, k]
            doc_sums[d, k] = tokens / K
        for _ in range(passes):
            for k in range(K):
                theta[k] = np.exp(digamma(doc_sums[d, k] + alpha[k]))
            _pass(d, graph, theta, word_factors, fresh, messages, sums)
            moved = 0.0
            for k in range(K):
                moved += abs(sums[k] - doc_sums[d, k])
                doc_sums[d, k] = sums[k]
            if moved < tol * tokens:
                break
        change[d] = 0.0
        for k in range(K):
            change[d] += abs(doc_sums[d, k] - before[k])


@inner
def _pass(d, graph, theta, word_factors, fresh, messages, sums):
    """Update the messages of one document, and set `sums` to their sum."""
    K = messages.shape[1]
    sums[:] = 0
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        w = graph.edge_word[e]
        total = 0.0
        for k in range(K):
            fresh[k] = theta[k] * word_factors[w, k]
            total += fresh[k]
        scale = graph.edge_count[e] / total if total > 0 else 0.0
        even = graph.edge_count[e] / K if not total > 0 else 0.0
        for k in range(K):
            messages[e, k] = fresh[k] * scale + even
            sums[k] += messages[e, k]


@inner
def digamma(x):
    """Return psi(x) for x > 0: shifted to six or more, then the asymptotic series; to 1e-10 or better."""
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132)))))
    return shift + np.log(x) - 0.5 / x - series


@kernel
def group_sums(first, last, groups, rows, sums):
    """Set `sums` to the sum of the rows of each group, always in the order of the members."""
    K = rows.shape[1]
    for g in range(first, last):
        sums[g, :] = 0
        for j in range(groups.offsets[g], groups.offsets[g + 1]):
            i = groups.members[j]
            for k in range(K):
                sums[g, k] += rows[i, k]
