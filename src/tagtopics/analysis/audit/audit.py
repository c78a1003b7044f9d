"""Audit the tags of a collection: doubtful, missing, duplicate, dead, broad and inseparable tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tagtopics._typing import Float32
from tagtopics.analysis.audit.duplicates import duplicate_tags
from tagtopics.analysis.audit.findings import KINDS, Finding
from tagtopics.analysis.audit.reasons import Reasons
from tagtopics.analysis.audit.taggings import (
    Taggings,
    Verdicts,
    collect_taggings,
    doubtful_taggings,
    missing_taggings,
)
from tagtopics.analysis.audit.vocabulary import broad_tags, dead_tags, inseparable_tags
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import thread_limit
from tagtopics.models.base import TopicModel
from tagtopics.models.inputs import align_words
from tagtopics.recommend.recommender import TagRecommender, fit_recommender

_SIMILAR = 3
"""Documents named with a finding."""

Progress = Callable[[float], None]


def audit(
    model: TopicModel,
    corpus: Corpus,
    *,
    kinds: Sequence[str] = KINDS,
    min_score: float = 0.05,
    n_words: int = 5,
    on_progress: Progress = lambda share: None,
) -> list[Finding]:
    """Return what may be wrong with the tags of a corpus, each with a score and a proposed change.

    Every document is judged by the others: what the recommender predicts without it, in closed form, and how
    often the tag occurs with the document's other tags elsewhere. Neither the model nor the corpus changes.
    If the recommender of the model was trained on other documents or tags, one is trained for the audit.

    Args:
        model: a fitted model, best of this corpus.
        corpus: the documents with their tags.
        kinds: what to look for; see `Finding`.
        min_score: leave out findings with a lower score, from 0 to 1.
        n_words: words given with each finding, at most.
        on_progress: called with the share of the work done, from 0 to 1.

    Returns:
        The findings by kind, in the order of `KINDS`, and within a kind by score, highest first.
    """
    _check(kinds, min_score, n_words)
    if not corpus.n_tags or not corpus.tags.nnz:
        return []
    counts = align_words(corpus, model.vocabulary_)
    doc_topic = model.transform(corpus)
    reasons = Reasons(corpus)
    taggings = None
    if {"doubtful", "missing", "dead"} & set(kinds):
        recommender = _recommender_for(model, corpus, counts, doc_topic)
        if recommender is not None:
            taggings = collect_taggings(corpus, recommender, counts, doc_topic, on_progress)
    found: list[Finding] = []
    for kind in KINDS:
        if kind in kinds:
            found += _findings_of(kind, corpus, taggings, doc_topic, reasons, min_score, n_words)
    on_progress(1.0)
    return found


def _check(kinds: Sequence[str], min_score: float, n_words: int) -> None:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if isinstance(kinds, str) or unknown:
        wrong = kinds if isinstance(kinds, str) else unknown[0]
        raise InputError(f"kinds: expected some of {', '.join(KINDS)}, got {str(wrong)[:40]!r}")
    if not 0 <= min_score <= 1:
        raise InputError(f"min_score must be from 0 to 1, not {min_score}")
    if n_words < 0:
        raise InputError(f"n_words must be 0 or more, not {n_words}")


def _recommender_for(
    model: TopicModel, corpus: Corpus, counts: Any, doc_topic: Float32
) -> TagRecommender | None:
    """Return a recommender trained on exactly these documents and tags: that of the model, or a new one.

    None if no document has words and tags.
    """
    own = model.recommender_
    if own is not None and own.tag_names == corpus.tag_names and _is_trained_on(own, corpus, counts):
        return own
    if not ((np.diff(counts.indptr) > 0) & (np.diff(corpus.tags.indptr) > 0)).any():
        return None
    with thread_limit(model.n_jobs):
        return fit_recommender(counts, corpus.tags, doc_topic, corpus.tag_names)


def _is_trained_on(recommender: TagRecommender, corpus: Corpus, counts: Any) -> bool:
    rows = recommender.rows
    if len(rows) and rows[-1] >= corpus.n_docs:
        return False
    same = (abs(counts[rows] - recommender.counts), abs(corpus.tags[rows] - recommender.tags))
    tagged = (np.diff(counts.indptr) > 0) & (np.diff(corpus.tags.indptr) > 0)
    return all(part.sum() == 0 for part in same) and len(rows) <= int(tagged.sum())


def _findings_of(
    kind: str,
    corpus: Corpus,
    taggings: Taggings | None,
    doc_topic: Float32,
    reasons: Reasons,
    min_score: float,
    n_words: int,
) -> list[Finding]:
    """Return the findings of one kind."""
    if kind == "duplicate":
        return _duplicates(corpus, reasons, min_score, n_words)
    if kind == "inseparable":
        return [
            _pair_finding(kind, corpus, reasons, pair, n_words)
            for pair in inseparable_tags(corpus)
            if pair[2] >= min_score
        ]
    if kind == "broad":
        return _tag_findings(kind, corpus, broad_tags(corpus, doc_topic), reasons, min_score, n_words)
    if taggings is None:
        return []
    if kind == "dead":
        return _tag_findings(kind, corpus, dead_tags(corpus, taggings), reasons, min_score, n_words)
    verdicts = doubtful_taggings(taggings) if kind == "doubtful" else missing_taggings(taggings)
    return _tagging_findings(kind, corpus, verdicts, reasons, min_score, n_words)


def _tagging_findings(
    kind: str, corpus: Corpus, verdicts: Verdicts, reasons: Reasons, min_score: float, n_words: int
) -> list[Finding]:
    words = reasons.lacking if kind == "doubtful" else reasons.shared
    found = []
    for d, t, score in zip(verdicts.docs.tolist(), verdicts.tags.tolist(), verdicts.scores, strict=True):
        if score < min_score:
            break
        similar = reasons.similar(t, d, _SIMILAR) if n_words else ()
        found.append(
            Finding(
                kind,
                corpus.tag_names[t],
                float(score),
                corpus.ids[d],
                d,
                None,
                words(t, d, n_words) if n_words else (),
                similar,
            )
        )
    return found


def _duplicates(corpus: Corpus, reasons: Reasons, min_score: float, n_words: int) -> list[Finding]:
    pairs = duplicate_tags(corpus)
    rows = zip(pairs.kept.tolist(), pairs.other.tolist(), pairs.scores.tolist(), strict=True)
    return [
        _pair_finding("duplicate", corpus, reasons, pair, n_words) for pair in rows if pair[2] >= min_score
    ]


def _pair_finding(
    kind: str, corpus: Corpus, reasons: Reasons, pair: tuple[int, int, float], n_words: int
) -> Finding:
    kept, other, score = pair
    documents = (*reasons.examples(kept, 1), *reasons.examples(other, 1))
    return Finding(
        kind,
        corpus.tag_names[kept],
        float(score),
        other=corpus.tag_names[other],
        words=reasons.typical([kept, other], n_words),
        documents=tuple(dict.fromkeys(documents)),
    )


def _tag_findings(
    kind: str, corpus: Corpus, scored: Any, reasons: Reasons, min_score: float, n_words: int
) -> list[Finding]:
    return [
        Finding(
            kind,
            corpus.tag_names[t],
            float(score),
            words=reasons.typical([t], n_words),
            documents=reasons.examples(t, _SIMILAR),
        )
        for t, score in zip(scored.tags.tolist(), scored.scores.tolist(), strict=True)
        if score >= min_score and score > 0
    ]
