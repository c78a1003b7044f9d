"""The estimators `LDA` and `TTM`, and the base class of all estimators."""

from tagtopics.models.lda import LDA
from tagtopics.models.ttm import TTM
from tagtopics.models.validation import Preset

__all__ = ["LDA", "TTM", "Preset"]
