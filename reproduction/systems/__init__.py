"""Systems that only the paper's experiments compare with: `GibbsLDA`, `VBLDA` and, for images, `SML`."""

from reproduction.systems.gibbs_lda import GibbsLDA
from reproduction.systems.sml import SML
from reproduction.systems.vb_lda import VBLDA

__all__ = ["SML", "VBLDA", "GibbsLDA"]
