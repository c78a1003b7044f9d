"""Corpora larger than memory: shards on disk, and what works on them."""

from tagtopics.scale.manifest import Manifest, ShardEntry, holds_shards
from tagtopics.scale.sharding import shard_corpus
from tagtopics.scale.shards import Shard, ShardFolder
from tagtopics.scale.writing import ShardWriter

__all__ = ["Manifest", "Shard", "ShardEntry", "ShardFolder", "ShardWriter", "holds_shards", "shard_corpus"]
