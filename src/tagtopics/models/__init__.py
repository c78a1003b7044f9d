"""Estimators: `LDA`, `TTM` (recommended) and `MarkovTTM` (the paper), and what they are made of."""

from tagtopics.models.lda import LDA
from tagtopics.models.markov import MarkovTTM
from tagtopics.models.topics import TopicFit, TopicSettings, fit_topics
from tagtopics.models.ttm import TTM
from tagtopics.models.validation import Preset

__all__ = ["LDA", "TTM", "MarkovTTM", "Preset", "TopicFit", "TopicSettings", "fit_topics"]
