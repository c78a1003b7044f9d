"""The estimators: one base, one file each."""

from tagtopics.baselines.atm import ATM
from tagtopics.baselines.labeled_lda import LabeledLDA
from tagtopics.baselines.rtm import RTM
from tagtopics.models.lda import LDA
from tagtopics.models.ttm import TTM

__all__ = ["ATM", "LDA", "RTM", "TTM", "LabeledLDA"]
