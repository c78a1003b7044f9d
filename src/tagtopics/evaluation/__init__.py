"""Evaluation tasks: each takes a corpus and an unfitted estimator, and returns measures.

`TASKS` is the table of tasks; `evaluate` and `tagtopics evaluate` look tasks up in it. A task is a function

    task(corpus, model, *, seed=0, tags_known=False) -> {"metrics": {...}, "seconds": {"fit", "score"}}

and is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

__all__ = ["TASKS", "evaluate", "find_task"]

TASKS: Mapping[str, str] = {
    "perplexity": "perplexity",
    "links": "prediction",
    "classification": "prediction",
    "recommendation": "recommendation",
}
"""The tasks, and the module of each; its function is `evaluate_<name>`."""


def evaluate(
    corpus: Corpus,
    model: TopicModel,
    task: str = "perplexity",
    *,
    seed: int = 0,
    tags_known: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Fit a model on training documents and measure it on test documents.

    Args:
        corpus: documents; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        task: a name of `TASKS`.
        seed: of the split.
        tags_known: whether the model may use the tags of the test documents.
        options: further arguments of the task, such as `given` of "links".

    Returns:
        `{"metrics": {...}, "seconds": {"fit": ..., "score": ...}}`.
    """
    return find_task(task)(corpus, model, seed=seed, tags_known=tags_known, **options)


def find_task(name: str) -> Callable[..., dict[str, Any]]:
    """Return the function of a task; a name that is not in `TASKS` is an `InputError`."""
    if name not in TASKS:
        raise InputError(f"unknown task {name[:40]!r}; choose from {', '.join(TASKS)}")
    task: Callable[..., dict[str, Any]] = getattr(
        import_module(f"tagtopics.evaluation.{TASKS[name]}"), f"evaluate_{name}"
    )
    return task
