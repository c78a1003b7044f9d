"""The models that the paper compares with: estimators, algorithms, loops and references."""

from tagtopics.baselines.atm import ATM
from tagtopics.baselines.gibbs_lda import GibbsLDA
from tagtopics.baselines.labeled_lda import LabeledLDA
from tagtopics.baselines.rtm import RTM
from tagtopics.baselines.sml import SML
from tagtopics.baselines.vb_lda import VBLDA

__all__ = ["ATM", "RTM", "SML", "VBLDA", "GibbsLDA", "LabeledLDA"]
