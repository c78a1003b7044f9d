"""The same bits of everything under extreme settings; `make bits` tries every setting by itself."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_bits.py"
GIGABYTE = 1 << 30


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="needs fork, and limits of cores and addresses")
def test_no_setting_of_the_machine_changes_a_bit(script: dict[str, Any]) -> None:
    few = ["--n-jobs", "1", "--cores", "1", "--blas", "1", "--addresses", str(8 * GIGABYTE)]
    many = ["--n-jobs", "8", "--blas", "4", "--fork", "--control-group", str(GIGABYTE // 16)]
    assert script["compare"](["--quick"], {"few": few, "many": many}) == {"few": [], "many": []}


def test_digests_see_every_bit(script: dict[str, Any]) -> None:
    digest, numbers = script["digest"], np.arange(6.0)
    changed = numbers.copy()
    changed[3] = np.nextafter(changed[3], 9)
    values = (numbers, changed, numbers.reshape(2, 3), numbers.astype(np.float32), (numbers, numbers), "x")
    assert len({digest(value) for value in values}) == len(values)
    assert digest(numbers) == digest(numbers.copy())
