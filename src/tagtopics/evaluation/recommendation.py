"""Tag recommendation: five tags for each test document, measured against its own tags."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Bool, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.evaluation.fitted_split import fit_train_part, result
from tagtopics.models.base import TopicModel
from tagtopics.models.documents import texts_of

_LIST, _RANKS = 5, 20
_SHOWN = 10  # tags that are most often wrong, or missed


class Answer(NamedTuple):
    """Recommended tags of D documents, with the columns of `tags`; the last one may stand for no tag, ""."""

    tags: Sequence[str]
    truth: Bool  # (D, C)
    lists: Int64  # (D, 5) columns, of balanced lists
    ranked: Int64  # (D, 20) columns, best first; all tags if there are fewer
    probabilities: Any  # (D, 20) of the ranked tags
    predicted: Bool  # (D, C)
    unseen: Bool | None = None  # (C,) with a thesaurus: no training document carries the tag


def evaluate_recommendation(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False
) -> dict[str, Any]:
    """Recommend five tags for each test document and compare them with its own tags, which are hidden.

    Args:
        corpus: documents with tags; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split.
        tags_known: must be False; known tags would give the answer away.

    Returns:
        `metrics`: `recall`, `precision`, `rate_plus` per tag, of balanced lists; `precision_at_1`,
        `precision_at_5`, `f1_at_5`, `ndcg_at_5`, `ndcg_at_20` per document; `micro_f1` and `macro_f1`;
        `calibration_error`, the mean distance of the probabilities of the lists from the shares that are
        right; with a thesaurus `n_unseen` tags predicted that no training document carries, with their
        `unseen_precision`. `mistakes`: the ten tags that are most often `wrong` (predicted, but not carried)
        and `missed`, with name and number of documents. `seconds`: `fit` and `score`.
    """
    check_recommendation(corpus, tags_known)
    began = time.perf_counter()
    train, test, seconds = fit_train_part(corpus, model, seed)
    model.fit_recommender(train)
    answer = plain_answer(model, test) if model.names_ is None else named_answer(model, test)
    names = {} if model.names_ is None else model.names_.thesaurus.labels(answer.tags)
    mistakes = {"wrong": answer.predicted & ~answer.truth, "missed": answer.truth & ~answer.predicted}
    worst = {what: _most_often(pairs, answer.tags, names) for what, pairs in mistakes.items()}
    return result(measures_of(answer), seconds, began) | {"mistakes": worst}


def _most_often(pairs: Bool, tags: Sequence[str], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the tags with the most pairs, by `pairs` (D, C)."""
    n = pairs.sum(0)
    best = [int(c) for c in np.argsort(-n, kind="stable")[:_SHOWN] if n[c]]
    return [{"tag": tags[c], "name": names.get(tags[c], tags[c]), "documents": int(n[c])} for c in best]


def check_recommendation(corpus: Corpus, tags_known: bool = False) -> None:
    """Raise an `InputError` if tags cannot be recommended for a corpus."""
    if tags_known:
        raise InputError("recommendation: the tags of test documents must stay hidden; leave out tags_known")
    if corpus.tags.nnz == 0:
        raise InputError("recommendation: no document has a tag")


def plain_answer(model: TopicModel, test: Corpus) -> Answer:
    """Return the recommendations of a model for test documents, from words and topics."""
    recommender = model.recommender_
    assert recommender is not None  # the caller has trained it
    likely, truth = model.tag_probabilities(test), test.tags.toarray().astype(bool)
    lists, ranked = recommender.pick_tags(likely, _LIST, True), recommender.pick_tags(likely, _RANKS)
    probabilities = np.take_along_axis(likely, ranked, axis=1)
    return Answer(test.tag_names, truth, lists, ranked, probabilities, recommender.predict_tags(likely))


def named_answer(model: TopicModel, test: Corpus) -> Answer:
    """Return the same of a model that uses the names of tags, also of tags without training documents."""
    names, recommender = model.names_, model.recommender_
    assert names is not None  # the caller asked
    assert recommender is not None
    counts, _ = model.new_documents(test, None)
    rows = names.candidates(recommender, counts, model.infer(counts, None), texts_of(test))
    found = [(row.tags, row.probabilities, row.probabilities >= names.threshold) for row in rows]
    # (1) The columns: all tags that documents carry or get, and one for no tag.
    used = {names.tags[t] for tags, _, likely in found for t in (*tags[:_RANKS], *tags[likely])}
    columns = {tag: c for c, tag in enumerate(sorted(used | set(test.tag_names)))}
    D, none = test.n_docs, len(columns)
    truth, predicted = np.zeros((D, none + 1), dtype=bool), np.zeros((D, none + 1), dtype=bool)
    ranked, probabilities = np.full((D, _RANKS), none), np.zeros((D, _RANKS))
    # (2) The rows.
    for d, (tags, p, likely) in enumerate(found):
        truth[d, [columns[tag] for tag in test.tags_of(d)]] = True
        predicted[d, [columns[names.tags[t]] for t in tags[likely]]] = True
        first = [columns[names.tags[t]] for t in tags[:_RANKS]]
        ranked[d, : len(first)], probabilities[d, : len(first)] = first, p[: len(first)]
    seen = {tag for tag, n in zip(recommender.tag_names, recommender.tag_docs, strict=True) if n}
    unseen = np.array([tag not in seen for tag in columns] + [False])
    return Answer([*columns, ""], truth, ranked[:, :_LIST], ranked, probabilities, predicted, unseen)


def measures_of(answer: Answer) -> dict[str, float]:
    """Return all measures of answers, by name."""
    hits = np.take_along_axis(answer.truth, answer.ranked[:, :_LIST], axis=1)
    found = all_measures(answer.truth, answer.lists, answer.ranked, answer.predicted)
    found["calibration_error"] = calibration_error(answer.probabilities[:, :_LIST], hits)
    if answer.unseen is not None:
        given = answer.predicted & answer.unseen
        found["n_unseen"] = float(given.sum())
        found["unseen_precision"] = float((given & answer.truth).sum() / max(given.sum(), 1))
    return found


def calibration_error(probabilities: Any, hits: Any, n_bins: int = 10) -> float:
    """Return the mean distance of probabilities from the share of hits, in bins of equal width."""
    p, hit = np.asarray(probabilities, dtype=np.float64).ravel(), np.asarray(hits, dtype=np.float64).ravel()
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=p - hit, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(len(p), 1))


def per_tag(truth: Bool, lists: Int64) -> dict[str, float]:
    """Return recall, precision and Rate+ of the paper, as fractions, averaged over tags.

    For a tag, N_h test documents carry it, by `truth` (D, T); N_s get it recommended, by `lists` (D, n) of
    columns; N_c both. Recall N_c / N_h and precision N_c / N_s (0 if it is never recommended) are averaged
    over the tags of the test part, those with N_h > 0; Rate+ is the share of them with N_c > 0.
    """
    given = np.zeros_like(truth)
    np.put_along_axis(given, lists, True, axis=1)
    N_h, N_s, N_c = truth.sum(0), given.sum(0), (truth & given).sum(0)
    asked = N_h > 0
    if not asked.any():
        return {"recall": float("nan"), "precision": float("nan"), "rate_plus": float("nan")}
    N_h, N_s, N_c = N_h[asked], N_s[asked], N_c[asked]
    return {
        "recall": float(np.mean(N_c / N_h)),
        "precision": float(np.mean(N_c / np.maximum(N_s, 1))),
        "rate_plus": float(np.mean(N_c > 0)),
    }


def per_document(truth: Bool, ranked: Int64) -> dict[str, float]:
    """Return precision@1, precision@5, F1@5, nDCG@5 and nDCG@20, averaged over documents with tags.

    Args:
        truth: (D, T) which tags the documents carry.
        ranked: (D, 20 or more) columns of the tags recommended, best first; all tags if there are fewer.
    """
    tagged = truth.any(1)
    hits = np.take_along_axis(truth[tagged], ranked[tagged, :_RANKS], axis=1)
    n_true = truth[tagged].sum(1)
    names = ("precision_at_1", "precision_at_5", "f1_at_5", "ndcg_at_5", "ndcg_at_20")
    if not len(hits):
        return dict.fromkeys(names, float("nan"))
    discounts = 1.0 / np.log2(np.arange(2, _RANKS + 2))

    def ndcg(n: int) -> float:
        best = np.cumsum(discounts)[np.minimum(n_true, n) - 1]
        return float(np.mean(hits[:, :n] @ discounts[: min(n, hits.shape[1])] / best))

    first = hits[:, :_LIST].sum(1)
    values = (hits[:, 0].mean(), first.mean() / 5, np.mean(2 * first / (5 + n_true)), ndcg(5), ndcg(20))
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def f_measures(truth: Bool, predicted: Bool) -> dict[str, float]:
    """Return F1 over all pairs of document and tag, and the mean F1 of the tags of the test part."""
    from sklearn.metrics import f1_score

    asked = truth.any(0)
    if not asked.any():
        return {"micro_f1": 0.0, "macro_f1": float("nan")}
    micro = f1_score(truth.ravel(), predicted.ravel(), zero_division=0.0)
    per_tag = f1_score(
        truth[:, asked].astype(int), predicted[:, asked].astype(int), average=None, zero_division=0.0
    )
    return {"micro_f1": float(micro), "macro_f1": float(np.mean(per_tag))}


def all_measures(truth: Any, lists: Int64, ranked: Int64, predicted: Bool) -> dict[str, float]:
    """Return all measures of recommendation, of lists of five tags, ranked tags and predicted tags."""
    truth = np.asarray(truth, dtype=bool)
    return per_tag(truth, lists) | per_document(truth, ranked) | f_measures(truth, predicted)
