"""Fit a model to a folder of shards, with memory for the model and a few shards, however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.inference import loop
from tagtopics.inference.learned import Learned, proportions
from tagtopics.inference.loop import Callback, FitResult
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel
from tagtopics.models.inputs import identity_of
from tagtopics.models.online import OnlineModel
from tagtopics.models.validation import check_parameters
from tagtopics.scale.manifest import MANIFEST
from tagtopics.scale.runs import Run
from tagtopics.scale.shard_executor import Parts
from tagtopics.scale.sharded import Crew, ShardedBelief, ShardedPropagation
from tagtopics.scale.shards import ShardFolder

DOCUMENTS = 50_000
"""Documents that a model fitted to shards keeps as its own, unless told otherwise."""

_Model = TypeVar("_Model", bound=TopicModel)


class LocalCrew:
    """One process, the present one, with threads."""

    def __init__(self, parts: Parts) -> None:
        self.profiles, self.begin, self.sweep = parts.profiles, parts.begin, parts.sweep

    def close(self) -> None:
        """Nobody to let go."""


CrewMaker = Callable[[ShardFolder, Run, bool], Crew]
"""Makes the crew of a fit from the shards, the folder of the run, and whether messages are recalled."""


def fit_shards(
    model: _Model,
    shards: str | Path | ShardFolder,
    work: str | Path,
    *,
    resume: bool = False,
    crew: CrewMaker | None = None,
    callbacks: Sequence[Callback[ShardedBelief]] = (),
    documents: int = DOCUMENTS,
    doc_topic: str | Path | None = None,
) -> _Model:
    """Learn topics from shards on disk.

    The model is the one that the same documents in memory give with the same blocks, bit for bit, whoever
    works on them. Of the documents it keeps a sample (`doc_topic_`, `doc_ids_`), from which it also learns
    to recommend tags and to explain.

    Args:
        model: an `LDA` or `TTM` by belief propagation.
        shards: a folder that `shard_corpus` or `tagtopics shard` has made.
        work: a folder for the state of the fit; every sweep is a checkpoint. It stays when the fit is done:
            clear it away with `remove_run` once the model is saved.
        resume: go on with the fit in `work`, if there is one; it ends with the bits of one never stopped.
        crew: who works on the shards; this process if None. See `scale.cluster`.
        callbacks: told of every sweep.
        documents: how many documents the model keeps, from shards spread over the corpus.
        doc_topic: a file for the proportions (D, K) of all documents, in NumPy's format, to be opened with
            `numpy.load(..., mmap_mode="r")`; None for none.
    """
    folder = shards if isinstance(shards, ShardFolder) else ShardFolder.open(shards)
    _check(model, folder)
    sample = sampled_shards(folder, documents)
    corpus, lean, threads = folder.corpus(sample), model.memory != "stored", resolve_threads(model.n_jobs)
    run = Run(work, _identity(model, folder), resume=resume)
    priors = model._priors_for(corpus)
    workers = (crew or local_crew(threads))(folder, run, lean)
    try:
        algorithm = ShardedPropagation(
            folder, workers, priors, model._seed(), threads, model._preset().init == "anchors"
        )
        watching = [run, *callbacks]
        result = loop.run(
            algorithm, max_iter=model.max_iter, tol=model.tol, callbacks=watching, start=run.start
        )
    finally:
        workers.close()
    _keep(model, corpus, folder, run, result, sample)
    model._learn_tags(corpus, callbacks)
    if doc_topic is not None:
        write_doc_topic(folder, run, result.state, Path(doc_topic))
    return model


def local_crew(threads: int, *, refits: bool = False, told: Callable[[], None] = lambda: None) -> CrewMaker:
    """Return what makes a crew of this process alone.

    Args:
        threads: shards at a time.
        refits: infer the state of a shard anew where it was lost, instead of giving up.
        told: called after each shard of each sweep.
    """

    def make(folder: ShardFolder, run: Run, lean: bool) -> Crew:
        n_threads = max(1, min(threads, len(folder)))
        settings = {"lean": lean, "n_threads": n_threads, "refits": refits, "told": told}
        return LocalCrew(Parts(folder, range(len(folder)), run.keeper, **settings))  # type: ignore[arg-type]

    return make


def _check(model: TopicModel, folder: ShardFolder) -> None:
    check_parameters(model)
    if not isinstance(model, OnlineModel):
        raise InputError(
            "fit: shards are for LDA and TTM by belief propagation; read the corpus whole for others"
        )
    if not folder.manifest.n_edges:
        raise InputError(f"{folder.path}: no document has any words; there is nothing to fit")
    if not isinstance(model.random_state, int | np.integer):
        raise InputError(
            "fit: a fit to shards needs a whole number as random_state, so that it can be resumed"
        )


def _identity(model: TopicModel, folder: ShardFolder) -> dict[str, Any]:
    manifest = hashlib.sha256((folder.path / MANIFEST).read_bytes()).hexdigest()
    return identity_of(model, manifest)


def sampled_shards(folder: ShardFolder, documents: int = DOCUMENTS) -> list[int]:
    """Return the numbers of shards, spread evenly, with about so many documents: at least one shard."""
    per_shard = folder.manifest.n_docs / len(folder)
    n = max(1, min(len(folder), int(documents / max(per_shard, 1.0))))
    return sorted({int(i) for i in np.linspace(0, len(folder) - 1, n).round()})


def _keep(
    model: TopicModel,
    corpus: Corpus,
    folder: ShardFolder,
    run: Run,
    result: FitResult[ShardedBelief],
    sample: Sequence[int],
) -> None:
    """Set the fitted attributes."""
    belief = result.state
    theta = np.concatenate([_proportions(number, run, belief) for number in sample])
    more = {"tag_sums_": belief.sums.tags, "tag_squares_": belief.sums.tag_squares}
    model._store(corpus, Learned(belief.sums.words, theta, belief.priors.doc_topic, more), result)
    model.tag_docs_ = folder.tag_docs.copy()


def write_doc_topic(folder: ShardFolder, run: Run, belief: ShardedBelief, path: Path) -> None:
    """Write the proportions (D, K) of all documents to a file, shard by shard."""
    m = folder.manifest
    fresh = path.with_name(f"{path.name}.part")
    shape = (m.n_docs, belief.sums.words.shape[1])
    table = np.lib.format.open_memmap(fresh, mode="w+", dtype=np.float32, shape=shape)
    for number, entry in enumerate(m.shards):
        table[entry.first_doc : entry.first_doc + entry.n_docs] = _proportions(number, run, belief)
    table.flush()
    del table
    fresh.replace(path)


def _proportions(number: int, run: Run, belief: ShardedBelief) -> Float32:
    return proportions(run.keeper.get(number, belief.sweep).doc_sums, belief.priors.doc_topic)
