"""tagtopics in the benchmark: the public estimators, observed by a callback."""

from __future__ import annotations

import inspect
import time
from typing import Any

import numpy as np

import tagtopics as tt
from benchmarks.corpora import Task
from benchmarks.evaluator import perplexity_of
from benchmarks.limits import Limits
from benchmarks.recorder import Recorder
from tagtopics.bp.callbacks import Callback

MODELS: dict[str, Any] = {"lda": tt.LDA, "ttm": tt.MarkovTTM}
PRESET = "fast"
"""The preset of our models in the benchmark, except `DEFAULT`."""
DEFAULT = "ours-default"
"""LDA as a user gets it: no setting but topics, seed and threads."""

SETTINGS: dict[str, dict[str, float]] = {
    "lda": {"doc_topic_prior": 0.03, "topic_word_prior": 0.02},
    "ttm": {
        "doc_topic_prior": 0.03,
        "topic_word_prior": 0.02,
        "pairwise_weight": 0.025,
        "higher_order_weight": 0.0125,
    },
}
"""Parameters besides the preset that differ from the defaults, chosen on validation documents of all corpora
together (decision 206). The word prior is chosen on each corpus, for us as for the peers (appendix 242)."""


def engines() -> tuple[str, ...]:
    """Return the memory engines that can be chosen, or one without a name."""
    has_choice = "memory" in inspect.signature(tt.LDA).parameters
    return ("stored", "lean") if has_choice else ("",)


def systems() -> dict[str, str]:
    """Return our systems by name, with labels: the default engine first, then each engine."""
    found = {"ours-lda": "tagtopics LDA", "ours-ttm": "tagtopics TTM-H"}
    found[DEFAULT] = "tagtopics LDA, default settings"
    for engine in filter(None, engines()):
        found |= {f"ours-{kind}-{engine}": f"{found[f'ours-{kind}']} ({engine})" for kind in MODELS}
    return found


def make_model(system: str, limits: Limits, seed: int, **parameters: Any) -> Any:
    """Return the estimator of a system, such as "ours-ttm-lean"."""
    if system == DEFAULT:
        return tt.LDA(limits.n_topics, random_state=seed, n_jobs=limits.workers)
    _, kind, *engine = system.split("-")
    if engine:
        parameters["memory"] = engine[0]
    common = {
        "n_topics": limits.n_topics,
        "random_state": seed,
        "n_jobs": limits.workers,
        "tol": 0.0,
        "preset": PRESET,
    }
    return MODELS[kind](**(common | SETTINGS[kind] | parameters))


def describe(system: str) -> str:
    """Return the settings of one of our models, as the page states them."""
    if system == DEFAULT:
        return "`LDA()`"
    kind = system.split("-")[1]
    values = [f"{name}={value:g}" for name, value in SETTINGS[kind].items()]
    return f"`{MODELS[kind].__name__}(preset={PRESET!r}, {', '.join(values)})`"


def run(
    task: Task, system: str, recorder: Recorder, seed: int, limits: Limits, priors: list[float] | None = None
) -> dict[str, Any]:
    """Time the training, then the fold-in; compiled code is loaded before."""
    warm(system, task, limits)
    named = dict(zip(("doc_topic_prior", "topic_word_prior"), priors or (), strict=False))
    model = make_model(system, limits, seed, max_iter=limits.our_sweeps, **named)
    observer = _Observer(model, recorder)
    recorder.start()
    began = time.perf_counter()
    model.fit_topics(task.train, callbacks=[observer])
    whole = time.perf_counter() - began
    if system == DEFAULT:  # its last sweeps are not observed
        recorder.last = 0.0
        recorder.tick(model.n_iter_, lambda: (model.components_.T, model.doc_topic_prior_))
    elif not np.allclose(observer.phi, model.components_.T, rtol=1e-3, atol=1e-9):
        raise RuntimeError("the topics that were scored are not those of the fitted model")
    return {
        "fit_seconds_with_scoring": round(whole, 3),
        "settings": describe(system),
        "fold_in": _fold_in(task, model),
    }


def warm(system: str, task: Task, limits: Limits) -> None:
    """Fit and transform a few documents, so that compilation, or its cache, is loaded."""
    few = task.train.select(np.arange(min(50, task.train.n_docs)))
    model = make_model(system, limits, 0, max_iter=2)
    model.fit_topics(few)
    model.transform(few)


class _Observer(Callback[Any]):
    """Passes each sweep and its topics to the recorder."""

    def __init__(self, model: Any, recorder: Recorder) -> None:
        self.model, self.recorder = model, recorder
        self.phi: Any = None

    def on_iteration(self, step: Any, state: Any) -> bool:
        return self.recorder.tick(step.iteration, lambda: self._topics(state))

    def _topics(self, state: Any) -> tuple[Any, Any]:
        sums, beta = state.sums.words, state.priors.topic_word
        self.phi = (sums + beta) / (sums.sum(0) + len(sums) * beta)
        return self.phi, state.priors.doc_topic


def _fold_in(task: Task, model: Any) -> list[dict[str, float]]:
    model.transform(task.test.seen)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        theta = model.transform(task.test.seen)
        seconds.append(time.perf_counter() - began)
    perplexity = perplexity_of(task.test, theta, np.ascontiguousarray(model.components_.T))
    rate = task.test.seen.shape[0] / float(np.median(seconds))
    return [{"iterations": 0, "docs_per_second": round(rate, 1), "perplexity": round(perplexity, 2)}]
