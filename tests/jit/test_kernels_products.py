"""Products of rows of sparse matrices: the kernel against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagtopics.jit import products, products_reference


@pytest.mark.parametrize("n_pairs", [0, 1, 700])
def test_the_kernel_finds_what_its_twin_finds(n_pairs: int) -> None:
    rng = np.random.default_rng(n_pairs)
    one, other = (
        sp.random_array((n, 50), density=0.2, format="csr", rng=np.random.default_rng(n)) for n in (30, 80)
    )
    a, b = rng.integers(0, 30, n_pairs), rng.integers(0, 80, n_pairs)
    found = products.row_products(one, a, other, b, 1)
    assert found == pytest.approx(products_reference.row_products(one, a, other, b))
    assert np.array_equal(found, products.row_products(one, a, other, b, 3))
