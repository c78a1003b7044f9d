"""From options to estimators: the table of models, their parameters, and what watches a fit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tagtopics.cli.options import ModelOptions, Shown
from tagtopics.cli.output import note
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel

MODELS: Mapping[str, str] = MappingProxyType(
    {"lda": "LDA", "ttm": "TTM", "atm": "ATM", "rtm": "RTM", "llda": "LabeledLDA"}
)
"""The estimators by the name of the option: classes of `tagtopics.models`."""

_PARAMETERS = {
    "topics": "n_topics",
    "order": "order",
    "pairwise_weight": "pairwise_weight",
    "higher_order_weight": "higher_order_weight",
    "iterations": "max_iter",
    "tolerance": "tol",
    "doc_topic_prior": "doc_topic_prior",
    "topic_word_prior": "topic_word_prior",
    "memory": "memory",
    "seed": "random_state",
    "threads": "n_jobs",
}


def build_model(options: ModelOptions) -> TopicModel:
    """Return the estimator that the options ask for, its parameters checked."""
    import tagtopics
    from tagtopics.models.validation import check_parameters

    if options.model not in MODELS:
        raise InputError(f"unknown model {options.model[:40]!r}; known are {', '.join(MODELS)}")
    model: TopicModel = getattr(tagtopics, MODELS[options.model])()
    known = model.get_params(deep=False)
    given = {name: getattr(options, name) for name in _PARAMETERS}
    given["doc_topic_prior"] = _number_or_word(given["doc_topic_prior"])
    for name, value in given.items():
        if value is None:
            continue
        if _PARAMETERS[name] in known:
            model.set_params(**{_PARAMETERS[name]: value})
        else:
            note(f"{options.model} has no use for {_option(name)}")
    _set_preset(model, options)
    if options.seed < 0 or options.seed >= 2**32:
        raise InputError(f"--seed must be a whole number from 0 to 4294967295, not {options.seed}")
    try:
        check_parameters(model)
    except InputError as error:
        raise InputError(_in_options(str(error))) from None
    return model


_PRESET = {"word_weight": "word_exponent", "stride": "relaxation", "tag_pseudo_count": "tag_pseudo_count"}


def _set_preset(model: TopicModel, options: ModelOptions) -> None:
    """Set the options that belong to a preset, and the weights that are to be learned."""
    from tagtopics.models.validation import Preset

    known = model.get_params(deep=False)
    given = {new: getattr(options, name) for name, new in _PRESET.items()}
    given = {name: value for name, value in given.items() if value is not None}
    if "tag_pseudo_count" in given:
        given["tag_pseudo_count"] = _number_or_word(given["tag_pseudo_count"])
    if given and "preset" in known:
        model.set_params(preset=Preset(**given))
    elif given:
        note(f"{options.model} has no use for {', '.join(_option(name) for name in given)}")
    if options.weights is not None:
        if "pairwise_weight" not in known:
            note(f"{options.model} has no use for --weights")
        elif options.weights == "auto":
            model.set_params(pairwise_weight="auto")
        elif options.weights != "given":
            raise InputError(f"--weights must be 'given' or 'auto', not {options.weights!r}")


def _number_or_word(text: str | None) -> float | str | None:
    """Return a number where the text is one; the estimator says what it thinks of other words."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def weights_of(model: Any) -> dict[str, float] | None:
    """Return what tags count in a fitted model, as given or as learned; None where they count for nothing."""
    names = ("pairwise_weight", "higher_order_weight", "tag_pseudo_count")
    if not hasattr(model, "pairwise_weight_"):
        return None
    return {name: getattr(model, f"{name}_") for name in names}


def name_of_model(model: TopicModel) -> str:
    """Return the name that the option `--model` has for an estimator."""
    names = {home: name for name, home in MODELS.items()}
    return names.get(type(model).__name__, type(model).__name__.lower())


def watchers(shown: Shown, title: str = "Fitting") -> list[Any]:
    """Return the callbacks of a fit: a progress bar where there is a terminal."""
    from tagtopics.inference.callbacks import Progress
    from tagtopics.kernels.compiling import has_compiled

    if shown.quiet or not sys.stderr.isatty():
        return []
    return [Progress(title if has_compiled() else f"{title} (compiling first, this once)")]


def check_out(out: str) -> Path:
    """Return the place of a new model; what is there already must be a model."""
    from tagtopics.models.persistence import check_model_target

    return check_model_target(out)


def _in_options(message: str) -> str:
    """Return a message about parameters in the words of the command line."""
    _, _, what = message.partition(": ")
    for name, parameter in (_PARAMETERS | _PRESET).items():
        if what.startswith(f"{parameter} "):
            return _option(name) + what.removeprefix(parameter)
    return what or message


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
