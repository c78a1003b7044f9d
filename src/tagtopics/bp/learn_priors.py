"""Priors learned on documents set aside.

Within a fit, expected counts are too smooth to learn from, and words left out one at a time have already
influenced their neighbours (decisions 204 and 221). So some documents are set aside, topics are learned from
others for a few sweeps, and held-out tokens of those set aside are predicted. Then the fit starts on all
documents.

No exponent of the words and no alpha suit all collections, so short fits to some of the documents are
compared by the likelihood of held-out tokens: with smaller alpha, as long as that is better, then with
smaller exponents, and with one of these again with smaller alpha (decision 206).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from tagtopics._typing import Float64
from tagtopics.bp.executor import MemoryExecutor, Take
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.holdout import log_likelihoods
from tagtopics.bp.loop import run
from tagtopics.bp.pilot import choose_held_out
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.corpus.splits import are_whole, completion

MIN_DOCS = 200  # corpora with fewer documents keep the priors they were given
_ALPHA, _BETA = 0.1, 0.05  # of preset "paper" (the paper states none), and of models with few topics
# Most that the scaled priors add up to: tokens of a document, and a share of the tokens of a mean topic.
_DOC_TOKENS, _TOPIC_SHARE = 5.0, 0.125
_CHOICE_DOCS, _CHOICE_SWEEPS, _CHOICE_MIN_DOCS = 2_000, 20, 500  # of the fits that are compared
_SHARED_SWEEPS = 10  # the first ones, with the priors as given; each fit continues them with its own
_ERRORS = 2.0  # standard errors by which a step must be better
_ALPHA_FACTORS = (0.5, 0.25, 0.125)
_EXPONENTS = (0.9375, 0.875, 0.8125, 0.75)  # below 3/4 topics share most of their words
# Below 1 words of a topic are less coherent, so it has to pay: in log likelihood per token, about 2 %.
_LEAST_GAIN = 0.02
_RELAXATION = 1.0  # largest relaxation while priors are learned; with more, so few sweeps end in mid-swing


def default_alpha(n_topics: int, scaled: bool) -> float:
    """Return the pseudo-count of a topic in a document; less for many topics if it is scaled."""
    return min(_ALPHA, _DOC_TOKENS / n_topics) if scaled else _ALPHA


def default_beta(n_topics: int, n_tokens: float, n_words: int, scaled: bool) -> float:
    """Return the pseudo-count of a word in a topic; less if topics have few tokens, if it is scaled."""
    most = _TOPIC_SHARE * n_tokens / (n_topics * max(n_words, 1))
    return max(min(_BETA, most), 1e-4) if scaled else _BETA


def choose_priors(
    n_docs: int, take: Take, priors: Priors, seed: int, *, anchored: bool, fixed_alpha: bool
) -> Priors:
    """Return priors with the exponent of the words, and alpha unless it is fixed, that suit held-out tokens.

    Those of small corpora, and of counts that are no whole numbers, stay as given.
    """
    if n_docs < _CHOICE_MIN_DOCS:
        return priors
    rest, held_out = choose_held_out(n_docs, seed)
    counts, tags = take(rest[:: 1 + len(rest) // _CHOICE_DOCS])
    others = take(held_out)[0]
    if not (are_whole(counts) and are_whole(others)):
        return priors
    executor, (seen, hidden) = MemoryExecutor(build_graph(counts, tags[:, :0])), completion(others, seed)
    calm = min(priors.relaxation, _RELAXATION)
    first = BeliefPropagation(executor, priors._replace(relaxation=calm), seed, anchored)
    shared = run(first, max_iter=_SHARED_SWEEPS)

    def score(tried: Priors) -> Float64:
        """Return (D,): what the held-out tokens of each document add to their mean log likelihood."""
        algorithm = BeliefPropagation(executor, tried._replace(relaxation=calm), seed, anchored)
        belief = deepcopy(shared.state)
        relaxation = belief.priors.relaxation
        begun = belief._replace(priors=tried._replace(relaxation=relaxation)), shared.history
        raised = run(algorithm, max_iter=_CHOICE_SWEEPS, start=begun).state.sums.words + tried.topic_word
        phi = (raised / raised.sum(0)).astype(np.float32)
        theta = infer_topics(seen, phi, tried.doc_topic)
        return log_likelihoods(hidden, theta, phi) / max(float(hidden.sum()), 1.0)

    def climb(found: Priors, best: Float64, others: Sequence[Priors], goal: float) -> tuple[Priors, Float64]:
        """Return the last of `others`, and its score, before the first that is not clearly better.

        It also ends where further steps as large as the last one would not lead above the goal.
        """
        for left, tried in zip(reversed(range(len(others))), others, strict=True):
            step = (reached := score(tried)) - best
            if step.sum() <= _ERRORS * np.sqrt(len(step)) * step.std():
                break
            found, best = tried, reached
            if best.sum() + left * step.sum() <= goal:
                break
        return found, best

    def lower_alpha(found: Priors, best: Float64) -> tuple[Priors, Float64]:
        alphas = [] if fixed_alpha else [priors.doc_topic * np.float32(factor) for factor in _ALPHA_FACTORS]
        smaller = [found._replace(doc_topic=alpha) for alpha in alphas if alpha[0] < found.doc_topic[0]]
        return climb(found, best, smaller, -np.inf)

    found, best = lower_alpha(priors, score(priors))
    goal, exponents = best.sum() + _LEAST_GAIN, [found._replace(word_exponent=e) for e in _EXPONENTS]
    below, reached = climb(found, best, exponents, goal)
    return lower_alpha(below, reached)[0] if reached.sum() > goal else found
