"""Array types; the comment or docstring of each array gives its axes.

E edges, D documents, W words, T tags, S slots (document-tag pairs), K topics.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bool: TypeAlias = npt.NDArray[np.bool_]
Float32: TypeAlias = npt.NDArray[np.float32]
Float64: TypeAlias = npt.NDArray[np.float64]
Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]
CSR: TypeAlias = Any  # scipy.sparse.csr_array; scipy publishes no types
