"""Corpora larger than memory: shards on disk, and fits to them, on one machine or on a cluster."""

from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import Manifest, ShardEntry, ShardFolder, holds_shards
from tagtopics.scale.ingest import shard_corpus
from tagtopics.scale.shard_executor import local_executor, remove_run
from tagtopics.scale.writer import ShardWriter

__all__ = [
    "Manifest",
    "ShardEntry",
    "ShardFolder",
    "ShardWriter",
    "fit_shards",
    "holds_shards",
    "local_executor",
    "remove_run",
    "shard_corpus",
]
