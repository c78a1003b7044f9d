"""What parameters of the estimators may be: one table, one line for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagtopics.errors import InputError


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _real(value: Any) -> bool:
    return (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_topics": (lambda v: _whole(v) and v >= 1, "a whole number, 1 or more"),
    "max_iter": (lambda v: _whole(v) and v >= 0, "a whole number, 0 or more"),
    "order": (lambda v: _whole(v) and v >= 2, "a whole number, 2 or more"),
    "tol": (lambda v: _real(v) and v >= 0, "a number, 0 or more"),
    "doc_topic_prior": (lambda v: v == "learned" or (_real(v) and v > 0), "a number above 0, or 'learned'"),
    "topic_word_prior": (lambda v: _real(v) and v > 0, "a number above 0"),
    "stride": (lambda v: _real(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "word_weight": (lambda v: _real(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "pairwise_weight": (lambda v: _real(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "higher_order_weight": (lambda v: _real(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "weights": (lambda v: isinstance(v, str) and v in ("given", "auto"), "'given' or 'auto'"),
    "tag_pseudo_count": (
        lambda v: (isinstance(v, str) and v == "auto") or (_real(v) and v >= 0),
        "a number, 0 or more, or 'auto'",
    ),
    "inference": (lambda v: v in ("bp", "gibbs", "vb"), "'bp', 'gibbs' or 'vb'"),
    "n_common_topics": (lambda v: _whole(v) and v >= 0, "a whole number, 0 or more"),
    "averaged_share": (lambda v: _real(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "links_per_tag": (lambda v: _whole(v) and v >= 0, "a whole number, 0 or more"),
    "negative_ratio": (lambda v: _real(v) and v > 0, "a number above 0"),
    "init": (lambda v: v in ("anchors", "random"), "'anchors' or 'random'"),
    "memory": (lambda v: v in ("auto", "stored", "lean"), "'auto', 'stored' or 'lean'"),
    "n_jobs": (
        lambda v: v is None or (_whole(v) and v != 0),
        "None, a number of threads, or -1 for all cores",
    ),
}


def check_parameters(estimator: Any) -> None:
    """Raise `InputError` for the first parameter that is not what it may be."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        holds, wanted = _RULES.get(name, (lambda _: True, ""))
        if not holds(value):
            raise InputError(f"{type(estimator).__name__}: {name} must be {wanted}, not {value!r}")
    if parameters.get("doc_topic_prior") == "learned" and "memory" not in parameters:  # a sampler's
        raise InputError(f"{type(estimator).__name__}: doc_topic_prior must be a number above 0")
    weights = [parameters.get(name, 0) for name in ("pairwise_weight", "higher_order_weight")]
    if sum(weights) > 1:
        raise InputError(f"{type(estimator).__name__}: the two weights add up to {sum(weights):g}; at most 1")


def check_online(batch_size: Any, forgetting: Any) -> None:
    """Raise `InputError` where mini-batches or forgetting are not what they may be."""
    if not (_whole(batch_size) and batch_size >= 1):
        raise InputError(f"partial_fit: batch_size must be a whole number, 1 or more, not {batch_size!r}")
    if not (forgetting is None or (_real(forgetting) and forgetting > 0)):
        raise InputError(f"partial_fit: forgetting must be a number of documents above 0, not {forgetting!r}")


@dataclass(frozen=True)
class Preset:
    """Stub until `models` is merged."""

    word_exponent: float = 1.0
    relaxation: float = 0.0
    init: str = "anchors"
    tag_pseudo_count: float | str = 5.0


def resolve_preset(preset: str | Preset) -> Preset:
    """Stub until `models` is merged."""
    return Preset() if isinstance(preset, str) else preset
