"""Numbers as the pages show them."""

from __future__ import annotations

import numpy as np

from tagtopics.explore.page import rounded, significant


def test_numbers_are_rounded_as_text_would_be() -> None:
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 1.0], 20_000) * 10.0 ** rng.uniform(-30, 12, 20_000)
    values = np.concatenate([values, [0.0, 1.0, 999.96, 1000.0, 0.1, 0.015625, 12345.0, 1e-25, 5e-324]])
    for digits in (3, 4, 6):
        expected = [float(f"{value:.{digits}g}") for value in values.tolist()]
        assert significant(values, digits).tolist() == expected
        assert rounded(values, digits) == expected
    grid = values[:600].reshape(20, 30)
    assert significant(grid).tolist() == [[float(f"{value:.4g}") for value in row] for row in grid.tolist()]
