"""What an algorithm returns to a model: the same record for all algorithms."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from tagtopics._typing import Float32, Float64
from tagtopics.inference.loop import Algorithm

State = TypeVar("State")


class Learned(NamedTuple):
    """Topics as sums of tokens, and the topic proportions of the training documents."""

    word_sums: Float64  # (W, K) tokens of each word in each topic
    doc_topic: Float32  # (D, K) rows add up to one
    doc_topic_prior: Float32  # (K,) pseudo-counts of a new document
    more: dict[str, Any]  # what only some models have, by the name of the fitted attribute


class TopicAlgorithm(Algorithm[State], Protocol[State]):
    """An algorithm for `loop.run` that learns topics."""

    @property
    def settles(self) -> bool:
        """Whether its change goes to zero, so that a tolerance may stop it; that of a sampler does not."""
        ...

    def learned(self, state: State) -> Learned:
        """Return what a model keeps of a state."""
        ...


def proportions(sums: Any, prior: Float32) -> Float32:
    """Return sums plus prior, (D, K), with rows scaled to add up to one."""
    scaled: Float32 = (sums + prior).astype("float32", copy=False)
    scaled /= scaled.sum(1, keepdims=True, dtype="float64")
    return scaled
