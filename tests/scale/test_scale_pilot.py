"""Fits that start from a pilot: which fits do, and the same bits in memory, on shards and when continued."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_support import as_shards, small_corpus

from tagtopics import LDA, TTM
from tagtopics.bp import pilot
from tagtopics.bp.callbacks import Callback
from tagtopics.bp.checkpoint import Checkpoint, load_checkpoint
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.corpus.core import Corpus
from tagtopics.models.validation import Preset
from tagtopics.scale.fit import fit_shards

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small_corpus()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, corpus: Corpus) -> None:
    """Make a small corpus a large one."""
    monkeypatch.setattr(pilot, "_MOST", corpus.n_docs // 3)
    monkeypatch.setattr(pilot, "_DOCS_PER_TOPIC", 1)


class Sweeps(Callback[Any]):
    """Collects the relaxation after each sweep; may stop a run."""

    def __init__(self, stop: int = 0) -> None:
        self.found: list[float] = []
        self.stop = stop

    def on_iteration(self, step: Any, state: Any) -> bool:
        self.found.append(state.priors.relaxation)
        return bool(step.iteration == self.stop)


def test_which_fits_start_from_a_pilot(corpus: Corpus, few: None) -> None:
    def starts(model: Any, n_docs: int = corpus.n_docs) -> bool:
        model._set_topic_word_prior(100.0, 10)
        return bool(model._starts_from_pilot(n_docs))

    assert starts(LDA(4))
    assert starts(TTM(4))
    assert not starts(LDA(4), corpus.n_docs // 3)
    assert not starts(LDA(corpus.n_docs))  # few documents for each topic
    assert not starts(LDA(4, max_iter=100))
    assert not starts(LDA(4, preset="paper"))
    assert not starts(LDA(4, preset="fast"))
    assert not starts(LDA(4, preset=Preset(init="random")))
    assert not starts(TTM(4, pairwise_weight=0.2))


def test_a_small_corpus_has_no_pilot_to_start_from(corpus: Corpus) -> None:
    model = LDA(4, random_state=0)
    model._set_topic_word_prior(100.0, 10)
    assert model._algorithm(corpus).pilot is None


def test_other_pilots_have_the_same_documents_at_any_number_of_topics() -> None:
    few, many = LDA(4, max_iter=10, random_state=0), LDA(150, max_iter=10, random_state=0)
    for model in (few, many):
        model._set_topic_word_prior(100.0, 10)
    pilots = [model._pilot(50_000, model._priors(), lambda rows: (rows, rows)) for model in (few, many)]
    assert len(pilots[0].known) == len(pilots[1].known) == -(-49_000 // 3)
    many.max_iter = None
    assert len(many._pilot(50_000, many._priors(), lambda rows: (rows, rows)).known) == 49_000 // 2


def test_a_fit_starts_from_the_words_of_a_fit_to_a_part(corpus: Corpus, few: None) -> None:
    model = LDA(4, random_state=3, n_jobs=2).fit_topics(corpus)
    rest, _ = pilot.choose_aside(corpus.n_docs, 3)
    assert len(rest) // 4 < len(rest[::3]) < len(rest)
    part = build_graph(corpus.counts[rest[::3]], corpus.tags[rest[::3]])
    before = BeliefPropagation(MemoryExecutor(part), model._priors(), 3)
    belief = run(before, max_iter=60, tol=model.tol).state

    class Known:
        def take_word_topics(self) -> Any:
            return (belief.sums.words + model.topic_word_prior_).astype(np.float32)

    whole = MemoryExecutor(build_graph(corpus.counts, corpus.tags))
    known: Any = Known()
    after = BeliefPropagation(whole, model._priors(), 3, pilot=known)
    found = run(after, max_iter=25, tol=model.tol)
    assert model.n_iter_ == len(found.history) <= 25
    assert np.array_equal(model.topic_sums_, found.state.sums.words.sum(0))


def test_tags_and_threads_change_no_topic(corpus: Corpus, few: None) -> None:
    lda = LDA(4, random_state=0, n_jobs=1).fit_topics(corpus)
    ttm = TTM(4, random_state=0, n_jobs=3).fit_topics(corpus)
    assert np.array_equal(lda.components_, ttm.components_)
    assert ttm.pilot_ is not None


def test_relaxation_fades_from_one(corpus: Corpus, few: None) -> None:
    sweeps = Sweeps()
    model = LDA(4, random_state=0, tol=0).fit_topics(corpus, callbacks=[sweeps])
    assert model.n_iter_ == 25
    np.testing.assert_allclose(sweeps.found, 0.97 ** np.arange(1, 26))


@pytest.mark.parametrize("max_iter", [None, 28])
def test_continued_from_a_checkpoint(
    corpus: Corpus, few: None, tmp_path: Path, max_iter: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TTM(4, random_state=0, tol=0)
    monkeypatch.setattr("tagtopics.models.online.SWEEPS_AFTER", max_iter or 25)
    whole.fit_topics(corpus)
    stopped = TTM(4, random_state=0, tol=0)
    stopped.fit_topics(corpus, callbacks=[Checkpoint(tmp_path / "c", every=2), Sweeps(stop=4)])
    resumed = TTM(4, random_state=0, tol=0, max_iter=max_iter)
    resumed.fit_topics(corpus, start=load_checkpoint(tmp_path / "c"))
    assert np.array_equal(whole.components_, resumed.components_)
    assert resumed.n_iter_ == (max_iter or 25)


@pytest.mark.parametrize("memory", ["lean", "stored"])
def test_shards_have_the_pilot_of_memory(corpus: Corpus, few: None, tmp_path: Path, memory: str) -> None:
    shards = as_shards(corpus, tmp_path / "s", 1500)
    rows = np.arange(1, corpus.n_docs, 2)
    counts, tags = shards.rows(rows)
    assert (counts != corpus.counts[rows]).nnz == 0
    assert (tags != corpus.tags[rows]).nnz == 0
    one = fit_shards(TTM(4, random_state=0, memory=memory), shards, tmp_path / "one")
    model = TTM(4, random_state=0, memory=memory).fit_topics(corpus)
    assert one.pilot_ == model.pilot_
    assert one.settings_ == model.settings_
    blocks = np.array([*(shard.first_doc for shard in shards.manifest.shards), corpus.n_docs])
    graph = build_graph(corpus.counts, corpus.tags)._replace(doc_blocks=blocks)
    algorithm = replace(model._algorithm(corpus), executor=MemoryExecutor(graph, memory == "lean"))
    found = run(algorithm, max_iter=25, tol=model.tol)
    assert one.n_iter_ == len(found.history)
    assert np.array_equal(one.topic_sums_, found.state.sums.words.sum(0))
    assert np.array_equal(one.tag_sums_, found.state.sums.tags)


def test_a_pilot_is_freed_before_the_sweeps(corpus: Corpus, few: None) -> None:
    model = TTM(4, random_state=0)
    model._set_topic_word_prior(float(corpus.counts.sum()), corpus.n_words)
    algorithm: Any = model._algorithm(corpus)
    stages: list[str] = []

    class Stages(Callback[Any]):
        def on_stage(self, name: str) -> None:
            stages.append(name)

        def on_start(self, max_iter: int) -> None:
            stages.append("sweeps")
            assert not {"belief", "documents"} & vars(algorithm.pilot).keys()

    model._learn(corpus, algorithm, [Stages()])
    model._learn_evidence(corpus, [Stages()], algorithm)
    assert stages == [
        "Learning what tags say", "Drawing the first messages", "sweeps", "Crediting words to tags"
    ]  # fmt: skip
    again = TTM(4, random_state=0).fit_topics(corpus)
    assert again.settings_ == model.settings_
