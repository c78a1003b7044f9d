"""What an algorithm hands to a model when it is done: the same record, however it was learned."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from tagtopics._typing import Float32, Float64

State = TypeVar("State")


class Learned(NamedTuple):
    """Topics as sums of tokens, and the proportions of the documents they were learned from."""

    word_sums: Float64  # (W, K) tokens of each word in each topic
    doc_topic: Float32  # (D, K) rows add up to one
    doc_topic_prior: Float32  # (K,) pseudo-counts of a new document
    more: dict[str, Any]  # what only some models have, by the name of the fitted attribute


class TopicAlgorithm(Protocol[State]):
    """An algorithm for `loop.run` that can tell what was learned.

    `settles` says whether its change goes to zero: then a tolerance may stop it. A sampler's never does.
    """

    @property
    def settles(self) -> bool:
        """Whether a small change means that it is done."""
        ...

    def init(self) -> State:
        """Return the state before the first iteration."""
        ...

    def step(self, state: State) -> tuple[State, float]:
        """Return the next state and how much changed."""
        ...

    def learned(self, state: State) -> Learned:
        """Return what a model keeps of a state."""
        ...


def proportions(sums: Any, prior: Float32) -> Float32:
    """Return sums plus prior, (D, K), with rows scaled to add up to one."""
    scaled: Float32 = (sums + prior).astype("float32", copy=False)
    scaled /= scaled.sum(1, keepdims=True, dtype="float64")
    return scaled
