"""Corpora larger than memory: shards on disk, and fits to them, here or on a cluster."""

from tagtopics.scale.fit import fit_shards, local_crew
from tagtopics.scale.ingest import shard_corpus
from tagtopics.scale.manifest import Manifest, ShardEntry, holds_shards
from tagtopics.scale.runs import remove_run
from tagtopics.scale.shards import Shard, ShardFolder
from tagtopics.scale.writer import ShardWriter

__all__ = [
    "Manifest",
    "Shard",
    "ShardEntry",
    "ShardFolder",
    "ShardWriter",
    "fit_shards",
    "holds_shards",
    "local_crew",
    "remove_run",
    "shard_corpus",
]
