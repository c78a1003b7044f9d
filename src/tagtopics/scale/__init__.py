"""Corpora larger than memory: shards on disk, and fits to them, on one machine or on a cluster.

Names are imported on first use: the workers of a cluster need no estimators, whose import takes a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

if TYPE_CHECKING:
    from tagtopics.scale.fit import fit_shards
    from tagtopics.scale.format import ShardFolder
    from tagtopics.scale.ingest import shard_corpus
    from tagtopics.scale.shard_executor import remove_run
    from tagtopics.scale.writer import ShardWriter

__all__ = [
    "ShardFolder",
    "ShardWriter",
    "fit_shards",
    "remove_run",
    "shard_corpus",
]

__getattr__ = lazy(
    __name__,
    {
        "fit": ("fit_shards",),
        "format": ("ShardFolder",),
        "ingest": ("shard_corpus",),
        "shard_executor": ("remove_run",),
        "writer": ("ShardWriter",),
    },
)
