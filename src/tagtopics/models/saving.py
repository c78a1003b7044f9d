"""Saving a model while it is fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tagtopics.bp.callbacks import Callback
from tagtopics.corpus.core import Corpus
from tagtopics.models import persistence
from tagtopics.models.base import RECOMMENDER_STAGE, TopicModel


class SaveTopics(Callback[Any]):
    """Saves the topics before the recommender is trained, so that they are safe whatever happens then.

    Args:
        model: the model that is being fitted.
        path: the folder of the model.
        corpus: the documents, to save them with the model.

    Attributes:
        saved: the name of the save, for `save_model(after=...)`; None before it.
    """

    def __init__(self, model: TopicModel, path: str | Path, corpus: Corpus | None = None) -> None:
        self.model, self.path, self.corpus = model, path, corpus
        self.saved: str | None = None

    def on_stage(self, name: str) -> None:
        """Save when the stage of the recommender begins."""
        if name == RECOMMENDER_STAGE:
            self.saved = persistence.save_model(self.model, self.path, self.corpus)
