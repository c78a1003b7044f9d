"""Fit a model to a folder of shards, with memory for the model and a few shards, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tagtopics.bp.callbacks import Callback
from tagtopics.bp.graph import Belief
from tagtopics.bp.propagation import Start
from tagtopics.bp.relations import unit_vectors
from tagtopics.errors import InputError
from tagtopics.files import check_space, digest_arrays, digest_file
from tagtopics.models.base import TopicModel
from tagtopics.models.online import OnlineModel
from tagtopics.models.validation import check_parameters
from tagtopics.scale.checkpoint import identity_of
from tagtopics.scale.format import MANIFEST, ShardFolder
from tagtopics.scale.shard_executor import ExecutorMaker, ShardExecutor, ShardRun

DOCUMENTS = 50_000  # documents that a model fitted to shards keeps, by default

_Model = TypeVar("_Model", bound=TopicModel)


def fit_shards(
    model: _Model,
    shards: str | Path | ShardFolder,
    work: str | Path,
    *,
    vectors: Any = None,
    resume: bool = False,
    executor: ExecutorMaker | None = None,
    callbacks: Sequence[Callback[Belief]] = (),
    documents: int = DOCUMENTS,
) -> _Model:
    """Learn topics from shards on disk.

    The model is the one that the same documents in memory give with the same blocks, bit for bit, with any
    executor. It keeps a sample of the documents (`doc_topic_`, `doc_ids_`), from which it also learns to
    recommend tags and to explain.

    Args:
        model: an `LDA` or `TTM` by belief propagation.
        shards: a folder made by `shard_corpus` or `tagtopics shard`.
        work: a folder for the state of the fit; every sweep is a checkpoint. It stays when the fit is done:
            remove it with `remove_run` once the model is saved.
        vectors: (D, n) vectors of all documents in their order, as in `fit`. They, and the topics of all
            documents, are kept in memory.
        resume: continue the fit in `work`, if there is one; the result has the bits of a fit never stopped.
        executor: makes what applies the sweeps: `ray_executor(...)`, or None for threads of this
            process.
        callbacks: called after every sweep.
        documents: how many documents the model keeps, from shards spread over the corpus.
    """
    folder = shards if isinstance(shards, ShardFolder) else ShardFolder.open(shards)
    _check(model, folder, work)
    identity = identity_of(model, digest_file(folder.path / MANIFEST))
    if vectors is not None:
        identity["vectors"] = digest_arrays(unit_vectors(vectors, folder.manifest.n_docs))
    run = ShardRun(work, identity, resume=resume)
    sample = sampled_shards(folder, documents)
    corpus = folder.corpus(sample)
    if executor is None:
        workers = ShardExecutor(folder, run.states)
    else:
        workers = executor(folder, run.states, model.count_topics(folder.manifest.n_tags))
    workers.kept = tuple(sample)
    start = None if run.start is None else Start(resumed=run.start)
    try:
        model.fit_topics(corpus, vectors=vectors, executor=workers, start=start, callbacks=[run, *callbacks])
    finally:
        workers.close()
    of_sample = None if vectors is None else np.asarray(vectors)[workers.kept_rows]
    model.learn_recommender(corpus, callbacks, of_sample)
    return model


def sampled_shards(folder: ShardFolder, documents: int = DOCUMENTS) -> list[int]:
    """Return the numbers of evenly spread shards with about N documents in all: at least one shard."""
    per_shard = folder.manifest.n_docs / len(folder)
    n = max(1, min(len(folder), int(documents / max(per_shard, 1.0))))
    return sorted({int(i) for i in np.linspace(0, len(folder) - 1, n).round()})


def _check(model: TopicModel, folder: ShardFolder, work: str | Path) -> None:
    """Check parameters, shards and space on disk."""
    check_parameters(model)
    if not isinstance(model, OnlineModel):
        raise InputError("fit: shards are for LDA and TTM by belief propagation; use other models in memory")
    if model.memory == "stored":
        raise InputError('fit: shards recompute messages; leave out memory="stored"')
    if not folder.manifest.n_edges:
        raise InputError(f"{folder.path}: no document has any words; there is nothing to fit")
    if not isinstance(model.random_state, int | np.integer):
        raise InputError(
            "fit: a fit to shards needs a whole number as random_state, so that it can be resumed"
        )
    m, K = folder.manifest, model.count_topics(folder.manifest.n_tags)
    check_space(work, 4 * K * (2 * (m.n_docs + m.n_slots) + 3 * m.n_words + 4 * m.n_tags))
