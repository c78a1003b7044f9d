"""The estimators: one base, one file each."""

from tagtopics.models.lda import LDA
from tagtopics.models.ttm import TTM

__all__ = ["LDA", "TTM"]
