"""Saving a model while it is fitted."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import Any, Self

from tagtopics.bp.callbacks import Callback
from tagtopics.corpus.core import Corpus
from tagtopics.models import persistence
from tagtopics.models.base import RECOMMENDER_STAGE, TopicModel


class SaveTopics(Callback[Any]):
    """Saves the topics while the recommender is trained, so that they are safe whatever happens then.

    Use it in a `with` statement, which waits for the save.

    Args:
        model: the model that is being fitted.
        path: the folder of the model.
        corpus: the documents, to save them with the model.
    """

    def __init__(self, model: TopicModel, path: str | Path, corpus: Corpus | None = None) -> None:
        self.model, self.path, self.corpus = model, path, corpus
        self._saving: Future[str] | None = None

    def on_stage(self, name: str) -> None:
        """Begin to save when the stage of the recommender begins."""
        if name == RECOMMENDER_STAGE:
            thread = ThreadPoolExecutor(1)
            self._saving = thread.submit(persistence.save_model, copy(self.model), self.path, self.corpus)
            thread.shutdown(wait=False)

    @property
    def saved(self) -> str | None:
        """The name of the save, for `save_model(after=...)`, when it is done; None if there was none."""
        return None if self._saving is None else self._saving.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._saving is not None:
            self._saving.exception()  # waits
