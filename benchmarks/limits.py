"""Limits of the full and of the quick run."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a run; records made with other limits are made again."""

    n_topics: int = 100
    workers: int = 2
    gibbs_sweeps: int = 1000
    passes: int = 10
    our_sweeps: int = 200
    seconds: float = 600.0  # of training, each system on each corpus
    generated_seconds: float = 60.0  # the same on the generated corpus; ours gets half of it
    generated_docs: int = 200_000
    seeds: int = 5  # of the quality table
    quality_sweeps: int = 100
    scaling_docs: int = 20_000
    scaling_rounds: int = 5
    stream_mb: int = 512
    memory_docs: int = 1_000_000
    scored_docs: int = 1_000  # test documents at the most
    our_ratio: float = 1.15  # how much further the next checkpoint of ours lies, at least a sweep
    gibbs_ratio: float = 1.25
    repeats: int = 2  # of our own curves: before the peers and after them

    def cap(self, corpus: str) -> float:
        """Return the maximum training seconds of a system on a corpus."""
        return self.generated_seconds if corpus == "generated" else self.seconds


FULL = Limits()
QUICK = Limits(
    gibbs_sweeps=100,
    passes=3,
    our_sweeps=40,
    seconds=4.0,
    generated_seconds=4.0,
    generated_docs=5_000,
    seeds=2,
    quality_sweeps=20,
    scaling_docs=2_000,
    scaling_rounds=2,
    stream_mb=64,
    memory_docs=20_000,
    scored_docs=500,
    our_ratio=1.4,
    gibbs_ratio=2.0,
    repeats=1,
)
TINY = QUICK._replace(
    n_topics=8,
    gibbs_sweeps=6,
    passes=1,
    our_sweeps=4,
    seeds=1,
    quality_sweeps=3,
    scaling_docs=200,
    scaling_rounds=1,
    stream_mb=8,
    memory_docs=500,
)
"""For the smoke test; its figures are meaningless."""

PRESETS = {"full": FULL, "quick": QUICK, "tiny": TINY}
