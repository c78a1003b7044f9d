"""What models are good for, measured: each task takes a corpus and an unfitted estimator, and gives numbers.

`TASKS` is the one table that `tagtopics evaluate` reads. A task is a function

    evaluate(corpus, model, *, seed=0, tags_known=False) -> {"metrics": {...}, "seconds": {"fit", "score"}}

and is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel
    from tagtopics.tasks.classification import evaluate_classification
    from tagtopics.tasks.credit import evaluate_credit
    from tagtopics.tasks.links import evaluate_links
    from tagtopics.tasks.perplexity import evaluate_perplexity
    from tagtopics.tasks.recommendation import evaluate_recommendation

__all__ = [
    "TASKS",
    "evaluate",
    "evaluate_classification",
    "evaluate_credit",
    "evaluate_links",
    "evaluate_perplexity",
    "evaluate_recommendation",
    "find_task",
]

TASKS: Mapping[str, str] = MappingProxyType(
    {
        "perplexity": "tagtopics.tasks.perplexity:evaluate_perplexity",
        "links": "tagtopics.tasks.links:evaluate_links",
        "classification": "tagtopics.tasks.classification:evaluate_classification",
        "recommendation": "tagtopics.tasks.recommendation:evaluate_recommendation",
        "credit": "tagtopics.tasks.credit:evaluate_credit",
    }
)
"""The tasks by name, and where each is: `module:function`."""

_HOMES = {
    "evaluate_classification": "tagtopics.tasks.classification",
    "evaluate_credit": "tagtopics.tasks.credit",
    "evaluate_links": "tagtopics.tasks.links",
    "evaluate_perplexity": "tagtopics.tasks.perplexity",
    "evaluate_recommendation": "tagtopics.tasks.recommendation",
}


def find_task(name: str) -> Callable[..., dict[str, Any]]:
    """Return the function of a task; a name that is not in `TASKS` is an `InputError`."""
    if name not in TASKS:
        raise InputError(f"unknown task {name[:40]!r}; known are {', '.join(TASKS)}")
    module, _, function = TASKS[name].partition(":")
    task: Callable[..., dict[str, Any]] = getattr(import_module(module), function)
    return task


def evaluate(
    corpus: Corpus, model: TopicModel, task: str, *, seed: int = 0, tags_known: bool = False
) -> dict[str, Any]:
    """Fit a model on the training part of a corpus and measure it on the test part.

    Args:
        corpus: documents; its official split is used if there is one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        task: one of `TASKS`.
        seed: for the split.
        tags_known: whether the model may use the tags of test documents.

    Returns:
        `metrics`, and `seconds` for `fit` and `score`.
    """
    return find_task(task)(corpus, model, seed=seed, tags_known=tags_known)


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
