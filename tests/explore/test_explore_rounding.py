"""Numbers as the pages show them."""

from __future__ import annotations

import numpy as np
from report_figures import parts_of_document

from tagtopics.explore.report.bodies import tag_parts
from tagtopics.explore.report.page import numerals, round_numbers, short_floats, significant


def test_numbers_are_rounded_as_text_would_be() -> None:
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 1.0], 20_000) * 10.0 ** rng.uniform(-30, 12, 20_000)
    values = np.concatenate([values, [0.0, 1.0, 999.96, 1000.0, 0.1, 0.015625, 12345.0, 1e-25, 5e-324]])
    for digits in (3, 4, 6):
        expected = [float(f"{value:.{digits}g}") for value in values.tolist()]
        assert significant(values, digits).tolist() == expected
        assert round_numbers(values, digits) == expected
    grid = values[:600].reshape(20, 30)
    assert significant(grid).tolist() == [[float(f"{value:.4g}") for value in row] for row in grid.tolist()]


def _digits(text: str, base: int) -> list[int]:
    """Read two digits for each number: all high ones come before all low ones."""
    codes = [ord(letter) - ord("#") for letter in text]
    half = len(codes) // 2
    return [base * high + low for high, low in zip(codes[:half], codes[half:], strict=True)]


def test_numerals_are_read_as_the_page_reads_them() -> None:
    numbers = [0, 1, 57, 92, 127, 128, 40_000, 6_999_999]
    assert _digits(numerals(numbers), 128) == numbers
    assert numerals([]) == ""


def test_short_floats_have_three_digits_and_no_other_error() -> None:
    random = np.random.default_rng(0)
    values = np.concatenate([10 ** random.uniform(-9, 11, 5000), [0, 1e-10, 1, 999.4, 999.6, 9.995, 1e-9]])
    read = []
    for code in _digits(short_floats(values), 128):
        exponent, digits = (code - 1) // 900 - 11, 100 + (code - 1) % 900
        read.append(float(f"{digits}e{exponent}") if code else 0.0)
    assert read == [value if value >= 1e-9 else 0.0 for value in round_numbers(values, 3)]


def test_the_parts_of_tags_are_the_same_for_one_document_and_for_many() -> None:
    draw = np.random.default_rng(0)
    n_words, n_tags = draw.integers(0, 40, 30), draw.integers(0, 6, 30)
    counts = draw.integers(1, 9, n_words.sum()).astype(np.float32)
    credit = draw.random((n_words * n_tags).sum()).astype(np.float32)
    words, claims = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (n_words, n_words * n_tags))
    parts = [
        parts_of_document(
            credit[claims[d] : claims[d + 1]].reshape(n_words[d], n), counts[words[d] : words[d + 1]]
        )
        for d, n in enumerate(n_tags.tolist())
    ]
    found = tag_parts(credit.astype(np.float64), counts, n_words, n_tags)
    np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-15)
