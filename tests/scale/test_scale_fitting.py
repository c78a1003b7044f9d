"""Fits to shards: the bits of a fit in memory, whoever works on them, and from any checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_support import as_shards, bits, small_corpus
from sklearn.decomposition import TruncatedSVD

from tagtopics import LDA, RTM, TTM
from tagtopics.bp import propagation as bp
from tagtopics.bp.callbacks import Callback
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.scale.checkpoint import read_arrays, write_arrays
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.shard_executor import STATE_FORMAT, remove_run


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small_corpus()


@pytest.fixture(scope="module")
def shards(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> ShardFolder:
    return as_shards(corpus, tmp_path_factory.mktemp("shards") / "s", 1500)


@pytest.fixture(scope="module")
def whole(shards: ShardFolder, tmp_path_factory: pytest.TempPathFactory) -> TTM:
    """A fit without interruption."""
    fitted: TTM = fit_shards(ttm(), shards, tmp_path_factory.mktemp("whole") / "work")
    return fitted


def ttm(**settings: Any) -> TTM:
    return TTM(8, random_state=5, max_iter=6, tol=0, n_jobs=2, **settings)


class Quit(Callback[Any]):
    """Ends a run after some sweep, as a kill would."""

    def __init__(self, after: int) -> None:
        self.after = after

    def on_iteration(self, step: Any, state: Any) -> bool:
        if step.iteration == self.after:
            raise KeyboardInterrupt
        return False


def graph_in_blocks(corpus: Corpus, shards: ShardFolder) -> FactorGraph:
    """Return the graph of documents in memory, in the blocks that shards have."""
    firsts = np.cumsum([0, *(shard.n_docs for shard in shards.manifest.shards[:-1])]).tolist()
    graph = build_graph(corpus.counts, corpus.tags)
    return graph._replace(doc_blocks=np.array([*firsts, corpus.n_docs]))


@pytest.mark.parametrize(("n_jobs", "many"), [(1, 50_000), (5, 50_000), (2, 0)])
def test_shards_give_the_bits_of_memory(
    corpus: Corpus,
    shards: ShardFolder,
    tmp_path: Path,
    n_jobs: int,
    many: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bp, "_MANY", many)  # with 0, the last sweep leaves the tags alone
    assert len(shards) > 5
    graph = graph_in_blocks(corpus, shards)
    priors = ttm().topic_settings().priors(graph.totals)
    algorithm = BeliefPropagation(MemoryExecutor(graph, lean=True), priors, 5)
    whole = algorithm.learned(run(algorithm, max_iter=6).state)

    fitted = fit_shards(ttm().set_params(n_jobs=n_jobs), shards, tmp_path / "work")
    assert np.array_equal(fitted.tag_sums_, whole.more["tag_sums_"])
    assert np.array_equal(fitted.topic_sums_, whole.word_sums.sum(0))
    assert np.array_equal(fitted.doc_topic_, whole.doc_topic)
    assert fitted.doc_ids_ == corpus.ids
    again = fit_shards(ttm(), shards, tmp_path / "work", resume=True)
    assert bits(again) == bits(fitted)
    remove_run(tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_shards_store_no_messages(shards: ShardFolder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shards recompute messages"):
        fit_shards(ttm(memory="stored"), shards, tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_folders_that_are_no_runs(shards: ShardFolder, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    (tmp_path / "parts-only" / "parts").mkdir(parents=True)
    (tmp_path / "lookalike").mkdir()
    (tmp_path / "lookalike" / "state-00000-00001.safetensors").write_text("not ours")
    for place in ("mine", "mine/thesis.txt", "parts-only", "lookalike"):
        for resume in (False, True):
            with pytest.raises(InputError, match="is not a run folder written by tagtopics"):
                fit_shards(ttm(), shards, tmp_path / place, resume=resume)
        remove_run(tmp_path / place)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    assert (tmp_path / "parts-only" / "parts").is_dir()
    assert (tmp_path / "lookalike" / "state-00000-00001.safetensors").exists()


def test_a_model_of_shards_answers_every_question(
    corpus: Corpus, shards: ShardFolder, tmp_path: Path
) -> None:
    model = fit_shards(ttm(), shards, tmp_path / "work", documents=100)
    assert len(model.doc_topic_) < corpus.n_docs
    assert model.doc_topic_.shape == (len(model.doc_ids_), 8)
    np.testing.assert_allclose(model.doc_topic_.sum(1), 1, rtol=1e-5)
    assert np.array_equal(model.tag_docs_, TTM(8, max_iter=1).fit_topics(corpus).tag_docs_)
    model.save(tmp_path / "m.tt")
    assert len(model.recommend(corpus.select(np.arange(3)))) == 3
    assert model.perplexity(corpus) < LDA(1, max_iter=2).fit_topics(corpus).perplexity(corpus)


@pytest.mark.parametrize("after", [1, 3, 6])
def test_a_fit_goes_on_to_the_same_bits(shards: ShardFolder, whole: TTM, tmp_path: Path, after: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, tmp_path / "work", callbacks=[Quit(after)])
    with pytest.raises(InputError, match=r"unfinished fit.*--resume"):
        fit_shards(ttm(), shards, tmp_path / "work")
    resumed = fit_shards(ttm(), shards, tmp_path / "work", resume=True)
    assert bits(resumed) == bits(whole)
    assert [row["change"] for row in resumed.history_] == [row["change"] for row in whole.history_]


def test_resuming_what_has_converged(shards: ShardFolder, tmp_path: Path) -> None:
    settled = ttm().set_params(tol=0.5)
    whole = fit_shards(settled, shards, tmp_path / "whole")
    assert whole.stop_reason_ == "converged"
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm().set_params(tol=0.5), shards, tmp_path / "work", callbacks=[Quit(whole.n_iter_)])
    resumed = fit_shards(ttm().set_params(tol=0.5), shards, tmp_path / "work", resume=True)
    assert (bits(resumed), resumed.stop_reason_) == (bits(whole), "converged")


def test_more_sweeps_after_a_resume(shards: ShardFolder, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, tmp_path / "work", callbacks=[Quit(4)])
    longer = fit_shards(ttm().set_params(max_iter=9), shards, tmp_path / "work", resume=True)
    assert bits(longer) == bits(fit_shards(ttm().set_params(max_iter=9), shards, tmp_path / "whole"))


@pytest.mark.parametrize("change", [{"random_state": 6}, {"memory": "lean"}, {"order": 2}])
def test_a_run_goes_on_only_with_the_same(
    shards: ShardFolder, tmp_path: Path, change: dict[str, Any]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, tmp_path / "work", callbacks=[Quit(2)])
    with pytest.raises(InputError, match="begun with another parameters"):
        fit_shards(ttm().set_params(**change), shards, tmp_path / "work", resume=True)
    fit_shards(ttm(), shards, tmp_path / "work", resume=True)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("pattern", ["state-*", "checkpoint.*"])
def test_a_flipped_byte_is_found(shards: ShardFolder, tmp_path: Path, pattern: str) -> None:
    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, work, callbacks=[Quit(3)])
    path = min(work.glob(pattern))
    whole = path.read_bytes()
    for at in np.linspace(0, len(whole) - 1, 40).astype(int).tolist():
        flip(path, at)
        with pytest.raises(InputError, match=r"damaged|not a"):
            fit_shards(ttm(), shards, work, resume=True)
        path.write_bytes(whole)
    fit_shards(ttm(), shards, work, resume=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda a: a | {"doc_sums": a["doc_sums"][1:]}, "doc_sums is float32"),
        (lambda a: a | {"doc_sums": a["doc_sums"].astype(np.float64)}, "doc_sums is float64"),
        (
            lambda a: a | {"slot_means": a["slot_means"] * np.float32("nan")},
            "slot_means holds numbers that are not finite",
        ),
        (lambda a: a | {"slot_means": -a["slot_means"]}, "slot_means holds numbers that are not finite"),
        (lambda a: a | {"messages": np.ones((7, 8), np.float32)}, "messages is float32"),
        (lambda a: {name: a[name] for name in ("messages", "doc_sums")}, "of another shard"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    shards: ShardFolder, tmp_path: Path, spoil: Any, message: str
) -> None:
    """Even with a right digest nothing reaches a kernel that does not fit the documents."""
    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, work, callbacks=[Quit(2)])
    path = work / "state-00001-00002.safetensors"
    arrays, metadata = read_arrays(path, STATE_FORMAT)
    write_arrays(path, spoil(arrays), metadata)
    with pytest.raises(InputError, match=message):
        fit_shards(ttm(), shards, work, resume=True)


def test_a_state_of_another_sweep_or_fit_is_refused(shards: ShardFolder, tmp_path: Path) -> None:
    for name, seed in (("work", 5), ("other", 6)):
        with pytest.raises(KeyboardInterrupt):
            fit_shards(ttm().set_params(random_state=seed), shards, tmp_path / name, callbacks=[Quit(2)])
    state = tmp_path / "work" / "state-00000-00002.safetensors"
    shutil.copy(tmp_path / "other" / state.name, state)
    with pytest.raises(InputError, match="another shard, sweep or fit"):
        fit_shards(ttm(), shards, tmp_path / "work", resume=True)


def test_leftovers_of_a_run_that_never_had_a_checkpoint(
    shards: ShardFolder, whole: TTM, tmp_path: Path
) -> None:
    fit_shards(ttm(), shards, tmp_path / "work")
    (tmp_path / "work" / "checkpoint.safetensors").unlink()  # as a kill within remove_run leaves it
    assert bits(fit_shards(ttm(), shards, tmp_path / "work")) == bits(whole)


def test_models_that_shards_are_not_for(shards: ShardFolder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="LDA and TTM by belief propagation"):
        fit_shards(RTM(4, random_state=0), shards, tmp_path / "w")
    with pytest.raises(InputError, match="random_state"):
        fit_shards(LDA(4), shards, tmp_path / "w")
    assert not (tmp_path / "w").exists()


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> Any:
    return TruncatedSVD(6, random_state=0).fit_transform(corpus.counts)


def related() -> TTM:
    return TTM(8, random_state=5, n_jobs=2)


def test_vectors_on_shards_give_the_bits_of_memory(
    corpus: Corpus, shards: ShardFolder, vectors: Any, tmp_path: Path
) -> None:
    executor = MemoryExecutor(graph_in_blocks(corpus, shards), lean=True)
    model = related().fit_topics(corpus, vectors=vectors, executor=executor)
    model.learn_recommender(corpus, (), vectors)
    assert (model.vector_strength_ or 0) > 0
    found = fit_shards(related(), shards, tmp_path / "work", vectors=vectors)
    assert bits(found) == bits(model)
    np.testing.assert_array_equal(found.vectors_, model.vectors_)
    expected = model.recommend(corpus, vectors=vectors)
    assert found.recommend(corpus, vectors=vectors) == expected


def test_a_fit_with_vectors_goes_on_where_it_was_stopped(
    shards: ShardFolder, vectors: Any, tmp_path: Path
) -> None:
    whole = fit_shards(related(), shards, tmp_path / "whole", vectors=vectors, documents=120)
    kept = len(whole.doc_ids_)
    assert 0 < kept < shards.manifest.n_docs
    assert whole.vectors_ is not None
    assert whole.vectors_.shape == (kept, vectors.shape[1])
    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt):
        fit_shards(related(), shards, work, vectors=vectors, documents=120, callbacks=[Quit(3)])
    with pytest.raises(InputError, match="another"):
        fit_shards(related(), shards, work, vectors=-vectors, documents=120, resume=True)
    found = fit_shards(related(), shards, work, vectors=vectors, documents=120, resume=True)
    assert bits(found) == bits(whole)
