"""Parameters of the estimators: presets, and one table of what each parameter may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagtopics.errors import InputError

AUTO = "auto"
"""The value of every parameter that is to be learned from the data."""

INFERRED = "inferred"
"""In place of the tags of documents: tags are inferred from their words."""

_LARGEST = 1e6
_SMALLEST_PRIOR = 1e-9
"""Bounds of numbers that kernels use in single precision; nothing inside them leads to infinity or NaN."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Settings of belief propagation that are chosen together; the `preset` of `LDA`, `TTM` and `MarkovTTM`.

    Args:
        word_exponent: exponent of a word's message, from 0 to 1, rounded to sixteenths; 1 in the paper. Below
            1 topics often predict real documents better, but share more of their top words, are mostly less
            coherent, and recover planted topics less exactly (decision 206).
        relaxation: over-relaxation factor for the word sums, from 0 to 4, which decays. Above 1 it begins
            after 15 sweeps, if they leave much change: a long fit needs half the sweeps. With 0.8 the first
            sweeps learn more, which suits fits that end after 10 to 30 sweeps.
        init: "anchors" starts from topics around anchor words, "random" from noise. Anchors need fewer sweeps
            and recover planted topics more reliably.
        own_tokens: how many occurrences of a word in one document are left out of the sums, at most, when
            their message is updated; all in the paper. It matters where words occur hundreds of times in a
            document, as visual words do (decision 208).
        scales_priors: whether default priors are smaller for many topics; 0.1 and 0.05 in the paper.
    """

    word_exponent: float = 1.0
    relaxation: float = 2.5
    init: str = "anchors"
    own_tokens: float = 32.0
    scales_priors: bool = True


PRESETS: Mapping[str, Preset] = {
    "default": Preset(),
    "paper": Preset(relaxation=0.0, own_tokens=_LARGEST, scales_priors=False),
    "fast": Preset(word_exponent=0.75, relaxation=0.8),
}
"""The presets by name; "paper" is what the paper describes."""


def resolve_preset(preset: str | Preset) -> Preset:
    """Return the preset of a name, or the preset itself."""
    return PRESETS[preset] if isinstance(preset, str) else preset


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_number and bool(np.isfinite(value))


def _whole(least: int, most: int | None = None) -> tuple[Callable[[Any], bool], str]:
    wanted = "a whole number" + (f", {least} or more" if most is None else f" from {least} to {most:,}")
    return lambda v: _is_whole(v) and v >= least and (most is None or v <= most), wanted


def _real(least: float, most: float, *, auto: bool = False) -> tuple[Callable[[Any], bool], str]:
    wanted = f"a number from {least:g} to {most:g}" + (", or 'auto'" if auto else "")

    def holds(value: Any) -> bool:
        return (auto and _one_of(AUTO)[0](value)) or (_is_real(value) and least <= value <= most)

    return holds, wanted


def _one_of(*names: str) -> tuple[Callable[[Any], bool], str]:
    *others, last = (repr(name) for name in names)
    wanted = f"{', '.join(others)} or {last}" if others else last
    return lambda v: isinstance(v, str) and v in names, wanted


def _is_n_jobs(value: Any) -> bool:
    return value is None or (_is_whole(value) and value != 0 and -1024 <= value <= 1024)


def _is_preset(value: Any) -> bool:
    return isinstance(value, Preset) or (isinstance(value, str) and value in PRESETS)


_PRIOR = _real(_SMALLEST_PRIOR, _LARGEST)
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "n_topics": _whole(1, 100_000),
    "preset": (_is_preset, f"{', '.join(map(repr, PRESETS))} or a Preset"),
    "word_exponent": _real(0, 1),
    "relaxation": _real(0, 4),
    "own_tokens": _real(_SMALLEST_PRIOR, _LARGEST),
    "scales_priors": (lambda v: isinstance(v, bool), "True or False"),
    "init": _one_of("anchors", "random"),
    "tag_pseudo_count": _real(0, _LARGEST),
    "doc_topic_prior": _PRIOR,
    "topic_word_prior": _PRIOR,
    "pairwise_weight": _real(0, 1),
    "higher_order_weight": _real(0, 1),
    "order": _whole(1),
    "max_iter": _whole(0),
    "tol": (lambda v: _is_real(v) and v >= 0, "a number, 0 or more"),
    "memory": _one_of("auto", "stored", "lean"),
    "n_common_topics": _whole(0, 100_000),
    "averaged_share": _real(0, 1),
    "links_per_tag": _whole(0),
    "negative_ratio": _PRIOR,
    "n_jobs": (_is_n_jobs, "None, a number of threads up to 1024, or -1 for all cores"),
}


def _or_none(rule: tuple[Callable[[Any], bool], str]) -> tuple[Callable[[Any], bool], str]:
    return lambda v: v is None or rule[0](v), f"{rule[1]}, or None for the default"


_BY_PRESET = {
    "doc_topic_prior": _or_none(_real(_SMALLEST_PRIOR, _LARGEST, auto=True)),
    "topic_word_prior": _or_none(_PRIOR),
    "max_iter": _or_none(_whole(0)),
}
"""Rules of the parameters whose default depends on the preset, for estimators that have one."""


def check_parameters(estimator: Any) -> None:
    """Raise `InputError` for the first parameter of an estimator that is out of range."""
    kind, parameters = type(estimator).__name__, estimator.get_params(deep=False)
    preset = parameters.get("preset")
    rules = dict(_RULES) | (_BY_PRESET if "preset" in parameters else {})
    _check_rules(kind, parameters, rules)
    if isinstance(preset, Preset):
        _check_rules(kind, vars(preset), rules)
    if "pairwise_weight" in parameters:
        _check_weights(kind, parameters["pairwise_weight"], parameters["higher_order_weight"])


def _check_rules(kind: str, values: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
    for name, value in values.items():
        holds, wanted = rules.get(name, (lambda _: True, ""))
        if not holds(value):
            raise InputError(f"{kind}: {name} must be {wanted}, not {value!r}")


def _check_weights(kind: str, pairwise: float, higher_order: float) -> None:
    if pairwise + higher_order > 1:
        raise InputError(
            f"{kind}: pairwise_weight and higher_order_weight add up to {pairwise + higher_order:g}; "
            "at most 1 is possible"
        )


def check_online(batch_size: Any, forgetting: Any) -> None:
    """Raise `InputError` if the size of mini-batches or the forgetting is out of range."""
    if not (_is_whole(batch_size) and batch_size >= 1):
        raise InputError(f"partial_fit: batch_size must be a whole number, 1 or more, not {batch_size!r}")
    if not (forgetting is None or (_is_real(forgetting) and forgetting > 0)):
        raise InputError(f"partial_fit: forgetting must be a number of documents above 0, not {forgetting!r}")
