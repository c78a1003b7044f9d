"""Parameters of the estimators: presets, and one table of what each parameter may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagtopics.errors import InputError

INFERRED = "inferred"
"""In place of the tags of documents: tags are inferred from their words."""

# Bounds of numbers that kernels use in single precision; nothing inside them leads to infinity or NaN.
_LARGEST, _SMALLEST_PRIOR = 1e6, 1e-9

_Rule = tuple[Callable[[Any], bool], str]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Settings of belief propagation that are chosen together; the `preset` of `LDA`, `TTM` and `MarkovTTM`.

    Args:
        word_exponent: exponent of a word's message, from 0 to 1, rounded to sixteenths; 1 in the paper. None
            chooses it, and `doc_topic_prior` if that is None, by the likelihood of held-out words in short
            fits to some of the documents; it is 1 for fewer than 500 (decision 206).
        relaxation: over-relaxation factor for the word sums, from 0 to 4, which decays. Above 1 it begins
            after 15 sweeps, if they leave much change: a long fit needs half the sweeps. With 0.8 the first
            sweeps learn more, which suits fits that end after 10 to 30 sweeps.
        init: "anchors" starts from topics around anchor words, "random" from noise. Anchors need fewer sweeps
            and recover planted topics more reliably.
        own_tokens: how many occurrences of a word in one document are left out of the sums, at most, when
            their message is updated; all in the paper. It matters where words occur hundreds of times in a
            document, as visual words do (decision 208).
        scales_priors: whether default priors are smaller for many topics; always 0.1 and 0.05 in "paper".
    """

    word_exponent: float | None = None
    relaxation: float = 2.5
    init: str = "anchors"
    own_tokens: float = 32.0
    scales_priors: bool = True


PRESETS: Mapping[str, Preset] = {
    "default": Preset(),
    "paper": Preset(word_exponent=1.0, relaxation=0.0, own_tokens=_LARGEST, scales_priors=False),
    "fast": Preset(word_exponent=0.75, relaxation=0.8),
}
"""The presets by name; "paper" is what the paper describes."""


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Tell whether a value is a finite number."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_number and bool(np.isfinite(value))


def _whole(least: int, most: int | None = None) -> _Rule:
    wanted = "a whole number" + (f", {least} or more" if most is None else f" from {least} to {most:,}")
    return lambda v: is_whole(v) and v >= least and (most is None or v <= most), wanted


def _real(least: float, most: float) -> _Rule:
    return lambda v: is_real(v) and least <= v <= most, f"a number from {least:g} to {most:g}"


def _one_of(*names: str) -> _Rule:
    wanted = f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
    return lambda v: isinstance(v, str) and v in names, wanted


def _or_none(holds: Callable[[Any], bool], wanted: str) -> _Rule:
    return lambda v: v is None or holds(v), f"{wanted}, or None for the default"


_PRIOR = _real(_SMALLEST_PRIOR, _LARGEST)
_BOOLEAN: _Rule = (lambda v: isinstance(v, bool), "True or False")
_RULES: dict[str, _Rule] = {
    "n_topics": _whole(1, 100_000),
    "preset": (
        lambda v: isinstance(v, Preset) or (isinstance(v, str) and v in PRESETS),
        f"{', '.join(map(repr, PRESETS))} or a Preset",
    ),
    "word_exponent": _or_none(*_real(0, 1)),
    "relaxation": _real(0, 4),
    "own_tokens": _PRIOR,
    "scales_priors": _BOOLEAN,
    "recommender": _BOOLEAN,
    "init": _one_of("anchors", "random"),
    "tag_pseudo_count": _real(0, _LARGEST),
    "doc_topic_prior": _PRIOR,
    "topic_word_prior": _PRIOR,
    "pairwise_weight": _real(0, 1),
    "higher_order_weight": _real(0, 1),
    "order": _whole(1),
    "max_iter": _whole(0),
    "tol": (lambda v: is_real(v) and v >= 0, "a number, 0 or more"),
    "memory": _one_of("auto", "stored", "lean"),
    "averaged_share": _real(0, 1),
    "links_per_tag": (lambda v: v is None or _whole(0)[0](v), "a whole number, 0 or more, or None"),
    "negative_ratio": _PRIOR,
    "n_jobs": (
        lambda v: v is None or (is_whole(v) and v != 0 and -1024 <= v <= 1024),
        "None, a number of threads up to 1024, or -1 for all cores",
    ),
}

# Parameters whose default depends on the preset, of estimators that have one.
_RULES_WITH_PRESET = _RULES | {
    "doc_topic_prior": _or_none(*_PRIOR),
    "topic_word_prior": _or_none(*_PRIOR),
    "max_iter": _or_none(*_whole(0)),
}


def check_parameters(estimator: Any) -> None:
    """Raise `InputError` for the first parameter of an estimator that is out of range."""
    kind, values = type(estimator).__name__, estimator.get_params(deep=False)
    preset = values.get("preset")
    rules = _RULES_WITH_PRESET if "preset" in values else _RULES
    for name, value in (values | (vars(preset) if isinstance(preset, Preset) else {})).items():
        if name in rules and not rules[name][0](value):
            raise InputError(f"{kind}: {name} must be {rules[name][1]}, not {value!r}")
    weights = values.get("pairwise_weight", 0.0) + values.get("higher_order_weight", 0.0)
    if weights > 1:
        raise InputError(
            f"{kind}: pairwise_weight and higher_order_weight add up to {weights:g}; at most 1 is possible"
        )
