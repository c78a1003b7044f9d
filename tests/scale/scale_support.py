"""What the tests of fits to shards share: a small corpus as shards, and what models are made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import make_tagged_corpus
from tagtopics.corpus.core import Corpus
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.writer import ShardWriter


def small_corpus(n_docs: int = 300) -> Corpus:
    return make_tagged_corpus(n_docs=n_docs, seed=3).corpus


def as_shards(corpus: Corpus, path: Path, shard_edges: int) -> ShardFolder:
    with ShardWriter(path, corpus.vocabulary, corpus.tag_names, shard_edges=shard_edges) as writer:
        writer.add(corpus)
    return ShardFolder.open(path)


def bits(model: Any) -> list[Any]:
    """Return the arrays of a model, and what it has learned about tags."""
    names = ("components_", "doc_topic_", "tag_sums_", "tag_squares_", "topic_sums_", "doc_topic_prior_")
    arrays: list[Any] = [np.ascontiguousarray(getattr(model, name)).tobytes() for name in names]
    words = model.tag_words_
    of_tags = [] if words is None else [words.data.tobytes(), words.indices.tobytes(), model.settings_]
    return arrays + of_tags


def in_child(work: Callable[[], Any]) -> int:
    """Do some work in a fork of this process and return its number; it exits with 0, or 1 if it fails."""
    child = os.fork()
    if child == 0:
        sys.dont_write_bytecode = True  # it would be cut short where the size of files is limited
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child
