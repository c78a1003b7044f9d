"""What the demonstration shows: chosen from the fitted model by rules, so that it suits any version."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.ttm import TTM

_FEWEST = 10
"""Documents that two tags must share to be shown together."""

_READABLE = range(250, 900)
"""Characters of a text that is nice to read."""

_SURE = 0.4
"""Credit from which a word counts as a tag's own."""


def distinct_tags(model: TTM, n: int) -> list[str]:
    """Return tags with many documents and a profile of their own, each of another topic."""
    import numpy as np

    means = model.tag_means()
    expected = model.tag_sums_.sum(0) / max(float(model.tag_sums_.sum()), 1e-300)
    surprise = (means * np.log(np.maximum(means, 1e-12) / np.maximum(expected, 1e-12))).sum(1)
    order = np.argsort(-surprise * np.sqrt(model.tag_docs_), kind="stable")
    chosen: dict[int, str] = {}
    for t in order:
        chosen.setdefault(int(means[t].argmax()), model.tag_names_[t])
    return list(chosen.values())[:n]


def two_meanings(model: TTM, corpus: Corpus) -> tuple[str, str, str] | None:
    """Return a tag and two others that never meet, with each of which it means something else."""
    import numpy as np

    from tagtopics.graph import normalised

    shared = (corpus.tags.T.astype(np.int64) @ corpus.tags).toarray()
    docs = np.diag(shared)
    means = model.tag_means()
    best: tuple[float, tuple[int, int, int] | None] = (0.0, None)
    for t in range(len(docs)):
        partners = [
            s for s in np.flatnonzero(shared[t] >= _FEWEST) if s != t and shared[t, s] < 0.7 * docs[t]
        ]
        joint = {s: normalised(means[t] * means[s]) for s in partners}
        for a, b in combinations(partners, 2):
            weight = min(1.0, float(min(shared[t, a], shared[t, b])) / (2 * _FEWEST))
            if shared[a, b] == 0 and (score := weight * _divergence(joint[a], joint[b])) > best[0]:
                best = (score, (t, int(a), int(b)))
    if best[1] is None:
        return None
    tag, one, other = (model.tag_names_[column] for column in best[1])
    return tag, one, other


def readable_document(corpus: Corpus, documents: list[dict[str, Any]]) -> int:
    """Return the row of a short document whose words belong, with certainty, to several of its tags."""
    best, row = -1.0, 0
    for d, document in enumerate(documents):
        length = len(corpus.texts[d]) if corpus.texts is not None else 0
        if length in _READABLE and len(document["tags"]) > 2 and (score := _spread(document)) > best:
            best, row = score, d
    return row


def _spread(document: dict[str, Any]) -> float:
    """Return the share of a document's tokens that belong for sure to its second and third tag."""
    from tagtopics.cli.credits import best_tag

    own = dict.fromkeys(document["tags"], 0)
    for word in document["words"]:
        tag = best_tag(word)
        own[tag] += word["count"] if word["credit"][tag] >= _SURE else 0
    total = sum(word["count"] for word in document["words"]) or 1
    return sum(sorted(own.values(), reverse=True)[1:3]) / total


def _divergence(p: Any, q: Any) -> float:
    """Return the Jensen-Shannon divergence of two distributions."""
    import numpy as np

    middle = (p + q) / 2
    parts = [(x * np.log(np.maximum(x, 1e-12) / middle)).sum() for x in (p, q)]
    return float(sum(parts) / 2)
