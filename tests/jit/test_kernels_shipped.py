"""Kernels that come with a wheel: found by numba, with the bits of kernels that are compiled from source."""

from __future__ import annotations

import lzma
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from tagtopics.jit import shipped
from tagtopics.jit.shipped import Shipment

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "ship_kernels.py"

BUILD = """
import runpy, sys
from pathlib import Path
from tagtopics.jit import shipped
shipped.shipped_file = lambda: Path(sys.argv[2])
runpy.run_path(sys.argv[1])["main"](["mixtures"])
"""

USE = """
import hashlib, sys
from pathlib import Path
import numpy as np
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.models import precompile
from tagtopics.jit import shipped
shipped.shipped_file = lambda: Path(sys.argv[1])
if shipped.has_shipped():
    precompile.compile_part(0, 1)
graph, K = precompile._sample(), 5
rng = np.random.default_rng(0)
phi, profiles = (rng.random((n, K), dtype=np.float32) for n in (graph.n_words, graph.n_tags))
ones, nothing = np.ones(graph.n_tags, dtype=np.float32), np.empty(0, dtype=np.float32)
words = np.empty(0, dtype=np.int32)
pairs = mixture.Pairs(np.zeros(graph.n_tags + 1, dtype=np.int64), words, nothing, nothing, ones, ones)
said = mixture.claim_probabilities(graph, pairs, profiles, phi, 1)
prior, slots = rng.random((graph.n_docs, K), dtype=np.float32), np.ones(graph.n_slots, dtype=np.float32)
topics, weights = mixture.fold_in_mixture(graph, phi, said, prior, slots, 20, 1e-6, 1)
kernels = [mixture._claim_probabilities, mixture._fold_in_mixture]
print(sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels), "compiled")
print(hashlib.sha256(said.tobytes() + topics.tobytes() + weights.tobytes()).hexdigest())
"""


def run(code: str, cache: Path, *arguments: Path, **settings: str) -> list[str]:
    """Run code in a process with a kernel cache of its own; return the lines that it prints."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONHASHSEED": "0"} | settings
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.mark.compiled
def test_numba_finds_shipped_kernels_and_they_give_the_same_bits(tmp_path: Path) -> None:
    file = tmp_path / "kernels.xz"
    from_source = run(USE, tmp_path / "source", file)
    run(BUILD, tmp_path / "build", SCRIPT, file)
    installed = run(USE, tmp_path / "installed", file)
    assert (from_source[0], installed[0]) == ("2 compiled", "0 compiled")
    assert from_source[1] == installed[1]


@pytest.mark.compiled
def test_a_shipment_does_not_depend_on_the_processor(tmp_path: Path) -> None:
    files = tmp_path / "this" / "kernels.xz", tmp_path / "other" / "kernels.xz"
    run(BUILD, tmp_path / "cache", SCRIPT, files[0])
    run(BUILD, tmp_path / "cache 2", SCRIPT, files[1], NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    this, other = (pickle.loads(lzma.decompress(file.read_bytes())) for file in files)
    assert texts(this) == texts(other)
    assert len(this.kernels) == 4


def texts(shipment: Shipment) -> list[list[str]]:
    """Return LLVM's text of all parts, without addresses that only names hold or no code uses."""
    unused = re.compile(
        r"^@numba\.dynamic\.globals\.\w+ = .*$|(?<=\.const\.pickle)\w+\.\d+|(?<= at 0x)[0-9a-f]+",
        re.MULTILINE,
    )
    return [
        [unused.sub("", str(llvm.parse_bitcode(module))) for module in part.modules]
        for part in shipment.parts
    ]


@pytest.mark.parametrize("n", [1, 2, 4, 9])
def test_every_item_is_in_one_share(n: int) -> None:
    shares = shipped.shares("abcde", [5, 80, 40, 30, 10], n)
    assert len(shares) == n
    assert sorted(item for share in shares for item in share) == list("abcde")


def test_shares_cost_about_the_same() -> None:
    assert shipped.shares("abcde", [5, 80, 40, 30, 10], 2) == [["b", "a"], ["c", "d", "e"]]


def test_other_versions_find_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    here = shipped.shipped_file()
    monkeypatch.setattr(shipped, "stamp", lambda: "another state of the kernels")
    assert shipped.shipped_file() != here
    assert not shipped.has_shipped()
