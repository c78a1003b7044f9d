"""Tag recommendation: systems, classifiers, and measures against the tags of test documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.evaluation.fitted_split import FittedSplit, fit_split, result
from tagtopics.evaluation.named_tags import named_answer, unseen_precision
from tagtopics.models.base import TopicModel
from tagtopics.recommend.calibration import best_columns, best_threshold
from tagtopics.recommend.ridge import PART, solve_part
from tagtopics.tag_prior.prior import kinds_of

Marks = npt.NDArray[np.bool_]
_Answer = tuple[Int64, Int64, Marks]
_LIST, _RANKS = 5, 20


def evaluate_recommendation(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False, system: str = "best"
) -> dict[str, Any]:
    """Recommend five tags for each test document and compare them with its own tags, which are hidden.

    Args:
        corpus: documents with tags; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split.
        tags_known: must be False; known tags would give the answer away.
        system: "best", the recommender of the model; "two-stage", the paper's two support vector machines
            on topic proportions; "scores", the model's own `tag_scores` (L-LDA); "linear", no topics but a
            linear classifier for each tag on TF-IDF words, its cost tuned on the training part.

    Returns:
        `metrics`: `recall`, `precision`, `rate_plus` per tag, of the balanced lists of "best";
        `precision_at_1`, `precision_at_5`, `f1_at_5`, `ndcg_at_5`, `ndcg_at_20` per document; `micro_f1` and
        `macro_f1`; of "best" also `calibration_error`, the mean distance of the probabilities of the lists
        from the shares that are right, and with a thesaurus `n_unseen` tags predicted that no training
        document carries, with their `unseen_precision`. `kinds`: the measures per document for each kind
        of tags, if there are several. `seconds`: `fit` and `score`.
    """
    if tags_known:
        raise InputError("recommendation: the tags of test documents must stay hidden; leave out tags_known")
    if system not in SYSTEMS:
        raise InputError(f"unknown system {system[:40]!r}; choose from {', '.join(SYSTEMS)}")
    if corpus.tags.nnz == 0:
        raise InputError("recommendation: no document has a tag")
    began = time.perf_counter()
    split = fit_split(corpus, model, seed, tags_known=False)
    if system == "best" and model.recommender_ is None:
        model.fit_recommender(split.train)
    if system == "best" and model.names_ is not None:
        return _with_names(model, split, began)
    answer = SYSTEMS[system](model, split)
    truth = split.test.tags.toarray().astype(bool)
    metrics = all_measures(truth, *answer)
    if system == "best":
        likely = model.tag_probabilities(split.test)
        p = np.take_along_axis(likely, answer[1][:, :_LIST], axis=1)
        metrics["calibration_error"] = calibration_error(
            p, np.take_along_axis(truth, answer[1][:, :_LIST], 1)
        )
    return result(metrics, split.seconds, began) | _per_kind(corpus.tag_names, truth, answer[1])


def _with_names(model: TopicModel, split: FittedSplit, began: float) -> dict[str, Any]:
    """Return the measures of a model that uses the names of tags."""
    found = named_answer(model, split.test, _RANKS)
    ranked = found.ranked
    metrics = all_measures(found.truth, ranked[:, :_LIST], ranked, found.predicted)
    hits = np.take_along_axis(found.truth, ranked[:, :_LIST], axis=1)
    metrics["calibration_error"] = calibration_error(found.probabilities[:, :_LIST], hits)
    metrics |= unseen_precision(found)
    return result(metrics, split.seconds, began) | _per_kind(found.tags, found.truth, ranked)


def calibration_error(probabilities: Any, hits: Any, n_bins: int = 10) -> float:
    """Return the mean distance of probabilities from the share of hits, in bins of equal width."""
    p, hit = np.asarray(probabilities, dtype=np.float64).ravel(), np.asarray(hits, dtype=np.float64).ravel()
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=p - hit, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(len(p), 1))


def _per_kind(tags: Sequence[str], truth: Marks, ranked: Int64) -> dict[str, Any]:
    """Return the measures per document of each kind of tags; nothing if there are fewer than two."""
    kinds, number = kinds_of([tag for tag in tags if tag])
    if len(kinds) < 2:
        return {}
    of_tag = np.append(number, [-1] * (len(tags) - len(number)))  # the last column may stand for no tag
    measures = {}
    for i, kind in enumerate(kinds):
        own = of_tag == i
        place = np.where(own, np.cumsum(own) - 1, own.sum())  # the last column is that of all other kinds
        order = np.argsort(~own[ranked], axis=1, kind="stable")
        mine = place[np.take_along_axis(ranked, order, axis=1)]
        padded = np.concatenate([truth[:, own], np.zeros((len(truth), 1), dtype=bool)], axis=1)
        measures[kind] = per_document(padded, mine)
    return {"kinds": measures}


def measured_scores(truth: Any, scores: Any) -> dict[str, float]:
    """Return all measures of the five tags with the highest scores, which are also the predicted tags."""
    return all_measures(truth, *_listed(scores))


def _best(model: TopicModel, split: FittedSplit) -> _Answer:
    likely = model.tag_probabilities(split.test)
    recommender = model.recommender_
    assert recommender is not None  # trained above
    balanced, ranked = recommender.picked(likely, _LIST, True), recommender.picked(likely, _RANKS)
    return balanced, ranked, recommender.predicted(likely)


def _two_stage(model: TopicModel, split: FittedSplit) -> _Answer:
    return _listed(two_stage_scores(split.train_topics, split.train.tags, split.test_topics))


def _own_scores(model: TopicModel, split: FittedSplit) -> _Answer:
    score = getattr(model, "tag_scores", None)
    if score is None:
        raise InputError(f"system 'scores': {type(model).__name__} has no tag scores of its own; use llda")
    return _listed(np.asarray(score(split.test)))


def _linear(model: TopicModel, split: FittedSplit) -> _Answer:
    scores, threshold = linear_scores(split.train, split.test)
    ranked = best_columns(scores, _RANKS)
    return ranked[:, :_LIST], ranked, scores >= threshold


def _listed(scores: Any) -> _Answer:
    """Return the tags with the highest scores: five as lists and as predictions, twenty as ranks."""
    ranked = best_columns(scores, _RANKS)
    predicted = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(predicted, ranked[:, :_LIST], True, axis=1)
    return ranked[:, :_LIST], ranked, predicted


SYSTEMS: Mapping[str, Callable[[TopicModel, FittedSplit], _Answer]] = {
    "best": _best,
    "two-stage": _two_stage,
    "scores": _own_scores,
    "linear": _linear,
}
"""Functions of a fitted model and a split that return lists (D, 5), ranks (D, 20), predictions (D, T)."""


FIRST_SHARE = 0.25
"""Weight of the first stage in the mixture; the paper's omega."""

COSTS = (0.1, 0.3, 1.0, 3.0)
"""Costs tried for the linear classifiers on words."""


def two_stage_scores(train_topics: Float32, tags: Any, test_topics: Float32) -> Float64:
    """Return (D, T): scores of the paper's system: classifiers on topics, then on the scores of related tags.

    The first stage is a kernel ridge regression, a least-squares support vector machine, of each tag against
    all others, with probabilities that sum to one. LIBSVM's one-against-one would need 68,000 classifiers
    for the 371 tags of Corel.
    """
    first_train, first_test = _first_stage(np.sqrt(train_topics), tags, np.sqrt(test_topics))
    second_test = np.zeros_like(first_test)
    together = (tags.T.astype(np.int32) @ tags.astype(np.int32)).tocsr()
    generator = np.random.default_rng(0)
    for t, is_member in _memberships(tags):
        connected = together.indices[together.indptr[t] : together.indptr[t + 1]]
        columns = np.concatenate([[t], connected[connected != t]])
        members = np.flatnonzero(is_member)
        others = generator.permutation(np.flatnonzero(~is_member))[: len(members)]
        rows = np.concatenate([members, others])
        classify = _balanced_classifier(
            first_train[np.ix_(rows, columns)], np.arange(len(rows)) < len(members)
        )
        second_test[:, t] = classify(first_test[:, columns])
    return FIRST_SHARE * first_test + (1 - FIRST_SHARE) * second_test


def linear_scores(train: Corpus, test: Corpus) -> tuple[Float64, float]:
    """Return decision values (D, T) of linear classifiers on TF-IDF words, and the threshold for predictions.

    Cost and threshold maximise the F-measure on a held-out fifth of the training documents.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    words = TfidfTransformer(sublinear_tf=True)
    train_words, test_words = words.fit_transform(train.counts), words.transform(test.counts)
    order = np.random.default_rng(0).permutation(train.n_docs)
    held_out, rest = order[: max(1, train.n_docs // 5)], order[max(1, train.n_docs // 5) :]
    truth = train.tags[held_out].toarray().astype(bool)
    trials = {}
    for cost in COSTS:
        scores = _linear_decisions(train_words[rest], train.tags[rest], train_words[held_out], cost)
        threshold = best_threshold(scores.astype(np.float32), truth, int(truth.sum()))
        predicted = scores >= threshold
        trials[cost] = 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()), threshold
    cost = max(COSTS, key=lambda cost: trials[cost][0])
    return _linear_decisions(train_words, train.tags, test_words, cost), trials[cost][1]


def _first_stage(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Return the tag probabilities p^d of training documents (D', T) and test documents (D, T)."""
    scores = regressed_tags(train, tags, test)
    always = np.asarray(tags.sum(0)).ravel() == tags.shape[0]
    values = [np.repeat(always[np.newaxis].astype(np.float64), len(part), axis=0) for part in scores]
    for t, is_member in _memberships(tags):
        to_probability = _platt(scores[0][:, t], is_member)
        for part, score in zip(values, scores, strict=True):
            part[:, t] = to_probability(score[:, t])
    for part in values:
        part /= np.maximum(part.sum(1, keepdims=True), 1e-300)
    return values[0], values[1]


@single_thread()
def regressed_tags(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Regress each tag on documents with a radial basis function; return training and test scores.

    The scores of a training document come from a regression without it, so that the second stage is trained
    on answers like those to test documents. Of more than `PART` training documents a random part is used.

    Args:
        train: (D', K) features of training documents.
        tags: CSR (D', T).
        test: (D, K).

    Returns:
        Scores (D', T) and (D, T).
    """
    from sklearn.metrics.pairwise import rbf_kernel

    rows = np.sort(np.random.default_rng(0).permutation(tags.shape[0])[:PART])
    share = np.asarray(tags.mean(0), dtype=np.float32)
    gamma = 1.0 / max(train.shape[1] * float(train.var(dtype=np.float64)), 1e-12)
    kernels = [rbf_kernel(part, train[rows], gamma).astype(np.float32) for part in (train, test)]
    targets = tags[rows].toarray().astype(np.float32) - share
    coefficients, own = solve_part(kernels[0][rows], targets)
    first, second = (kernel @ coefficients + share for kernel in kernels)
    first[rows] -= own[:, np.newaxis] * coefficients
    return first.astype(np.float64), second.astype(np.float64)


def _linear_decisions(words: Any, tags: Any, new_words: Any, cost: float) -> Float64:
    from sklearn.svm import LinearSVC

    values = np.full((new_words.shape[0], tags.shape[1]), -10.0)
    for t, is_member in _memberships(tags):
        values[:, t] = LinearSVC(C=cost).fit(words, is_member).decision_function(new_words)
    return values


def _memberships(tags: Any) -> Iterator[tuple[int, Any]]:
    """Yield each tag that some but not all documents carry, with a mask (D,) of those documents."""
    columns = sp.csc_array(tags)
    for t in range(tags.shape[1]):
        is_member = np.zeros(tags.shape[0], dtype=bool)
        is_member[columns.indices[columns.indptr[t] : columns.indptr[t + 1]]] = True
        if is_member.any() and not is_member.all():
            yield t, is_member


def _balanced_classifier(features: Any, is_member: Any) -> Callable[[Any], Any]:
    """Return a function from features to the probability that a support vector machine gives them."""
    from sklearn.svm import SVC

    scale = np.maximum(features.std(0), 1e-12)
    classifier = SVC(C=1.0, gamma="scale").fit(features / scale, is_member)
    to_probability = _platt(classifier.decision_function(features / scale), is_member)
    return lambda documents: to_probability(classifier.decision_function(documents / scale))


def _platt(decisions: Any, is_member: Any) -> Callable[[Any], Any]:
    """Return Platt's logistic function from decision values to probabilities."""
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8)
    regression.fit(decisions[:, np.newaxis], is_member)
    return lambda values: regression.predict_proba(values[:, np.newaxis])[:, 1]


def per_tag(truth: Marks, lists: Int64) -> dict[str, float]:
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


def per_document(truth: Marks, ranked: Int64) -> dict[str, float]:
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


def f_measures(truth: Marks, predicted: Marks) -> dict[str, float]:
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


def all_measures(truth: Any, lists: Int64, ranked: Int64, predicted: Marks) -> dict[str, float]:
    """Return all measures of recommendation, of lists of five tags, ranked tags and predicted tags."""
    truth = np.asarray(truth, dtype=bool)
    return per_tag(truth, lists) | per_document(truth, ranked) | f_measures(truth, predicted)
