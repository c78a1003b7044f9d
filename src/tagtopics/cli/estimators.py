"""From options to estimators: the table of models, their parameters, progress."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tagtopics.cli.options import ModelOptions, OutputOptions
from tagtopics.cli.output import note
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

MODELS: Mapping[str, str] = {
    "lda": "LDA", "ttm": "TTM", "markov": "MarkovTTM", "atm": "ATM", "rtm": "RTM", "llda": "LabeledLDA",
}  # fmt: skip
"""Values of `--model`, and the public estimator class of each."""

_RENAMED = {"topics": "n_topics", "iterations": "max_iter", "tolerance": "tol", "seed": "random_state",
            "threads": "n_jobs"}  # fmt: skip
PARAMETERS = {item.name: _RENAMED.get(item.name, item.name) for item in fields(ModelOptions)[1:]}
"""Option -> estimator parameter; the first option is the model itself."""

STOP_REASONS = {"converged": "converged", "max_iter": "iteration limit reached", "stopped": "stopped early"}


def build_model(options: ModelOptions) -> TopicModel:
    """Return the unfitted estimator that the options describe; its parameters are checked."""
    import tagtopics
    from tagtopics.models.validation import check_parameters

    if options.model not in MODELS:
        raise InputError(f"unknown model {options.model[:40]!r}; choose from {', '.join(MODELS)}")
    name = _with_factors(options)
    model: TopicModel = getattr(tagtopics, MODELS[name])()
    known = model.get_params(deep=False)
    for option, parameter in PARAMETERS.items():
        value = getattr(options, option)
        if value is None:
            continue
        if parameter in known:
            model.set_params(**{parameter: value})
        else:
            note(f"{_option(option)} has no effect: --model {name} has no such parameter")
    if not 0 <= options.seed < 2**32:
        raise InputError(f"--seed must be a whole number from 0 to 4294967295, not {options.seed}")
    try:
        check_parameters(model)
    except InputError as error:
        what = str(error).partition(": ")[2] or str(error)
        parameter, _, problem = what.partition(" ")
        options_of = {parameter: _option(option) for option, parameter in PARAMETERS.items()}
        raise InputError(f"{options_of.get(parameter, parameter)} {problem}") from None
    return model


def model_bytes(
    model: TopicModel, corpus: Corpus, keep: bool, recommender: bool = True, vectors: Any = None
) -> int:
    """Return roughly how many bytes of disk a fit needs at most, with the documents if they are kept.

    The topics are saved first; then the model with its recommender is written beside them. With vectors, that
    has two regressions.
    """
    import numpy as np

    from tagtopics.recommend.recommender import recommender_bytes

    K, (D, W), T = model.count_topics(corpus.n_tags), corpus.counts.shape, corpus.n_tags
    of_vectors: int = 4 * getattr(vectors, "size", 0)
    of_documents: int = 8 * (corpus.counts.nnz + corpus.tags.nnz)
    of_tags = 8 * min(W * T, int(np.diff(corpus.counts.indptr) @ np.diff(corpus.tags.indptr)))  # their words
    topics: int = 4 * K * (W + D + 4 * T) + of_vectors + of_tags
    if keep:
        topics += of_documents + sum(map(len, corpus.texts or ()))
    if not (recommender and T):
        return topics
    trained: int = recommender_bytes(D, T, K) * (2 if of_vectors else 1) + of_vectors
    return 2 * topics + trained + of_documents


_FACTORS = ("pairwise_weight", "higher_order_weight", "tag_pseudo_count")  # of the Markov model alone


def _with_factors(options: ModelOptions) -> str:
    """Return the value of `--model`; "ttm" with an option of the Markov model stands for that model."""
    given = [_option(name) for name in _FACTORS if getattr(options, name) is not None]
    given += ["--preset paper"] if options.preset == "paper" else []
    if options.model != "ttm" or not given:
        return options.model
    note(f"{given[0]} is of the paper's model: fitting --model markov")
    return "markov"


def weights_of(model: Any) -> dict[str, float] | None:
    """Return the weights of the factors of a Markov model; None of any other."""
    known = model.get_params(deep=False)
    return {name: float(known[name]) for name in _FACTORS} if "pairwise_weight" in known else None


def strengths_of(model: Any) -> dict[str, dict[str, Any]] | None:
    """Return how many tokens each part of a document's prior is worth, with tags hidden and known.

    Parts that each kind of tag has are by kind, "tags" if tags have no kinds. None if the model has no
    learned strengths.
    """
    if getattr(model, "settings_", None) is None or weights_of(model) is not None:
        return None
    kinds = [kind or "tags" for kind in model.tag_kinds_]
    return {
        name: {
            part: dict(zip(kinds, value, strict=True)) if isinstance(value, tuple) else value
            for part, value in getattr(model.settings_, name)._asdict().items()
        }
        for name in ("hidden", "known")
    }


def name_of_model(model: TopicModel) -> str:
    """Return the value of `--model` for an estimator."""
    return next(name for name, estimator in MODELS.items() if estimator == type(model).__name__)


def progress_bar(output: OutputOptions, title: str = "Fitting") -> list[Any]:
    """Return a progress bar for iterations, if standard error is a terminal."""
    from tagtopics.bp.callbacks import Progress
    from tagtopics.jit.compiling import has_compiled

    if output.quiet or not sys.stderr.isatty():
        return []
    return [Progress(title if has_compiled() else f"{title} (compiling first, once)")]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
