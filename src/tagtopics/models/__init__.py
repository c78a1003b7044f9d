"""The estimators: one base, one file each."""

from tagtopics.models.atm import ATM
from tagtopics.models.labeled import LabeledLDA
from tagtopics.models.lda import LDA
from tagtopics.models.rtm import RTM
from tagtopics.models.ttm import TTM

__all__ = ["ATM", "LDA", "RTM", "TTM", "LabeledLDA"]
