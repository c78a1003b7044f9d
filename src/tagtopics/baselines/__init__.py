"""The models that the paper compares with: estimators, algorithms, loops and references."""

from tagtopics.baselines.atm import ATM
from tagtopics.baselines.labeled_lda import LabeledLDA
from tagtopics.baselines.rtm import RTM

__all__ = ["ATM", "RTM", "LabeledLDA"]
