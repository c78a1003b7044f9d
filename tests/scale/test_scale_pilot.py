"""Fits that start from a pilot: which fits do, and the same bits in memory, on shards and when continued."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_support import as_shards, small_corpus

from tagtopics import LDA, TTM, MarkovTTM
from tagtopics.bp import pilot
from tagtopics.bp.callbacks import Callback
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.pilot import Pilot
from tagtopics.bp.propagation import BeliefPropagation, Start
from tagtopics.corpus.core import Corpus
from tagtopics.models import topics, ttm
from tagtopics.models.online import OnlineModel
from tagtopics.models.topics import fit_topics, make_pilot, memory_executor
from tagtopics.models.validation import Preset
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.shard_executor import ShardExecutor, ShardRun

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
    def starts(model: OnlineModel, n_docs: int = corpus.n_docs) -> bool:
        return model.topic_settings().starts_from_pilot(n_docs)

    assert starts(LDA(4))
    assert starts(TTM(4))
    assert not starts(LDA(4), corpus.n_docs // 3)
    assert not starts(LDA(corpus.n_docs))  # few documents for each topic
    assert not starts(LDA(4, max_iter=100))
    assert not starts(LDA(4, preset="paper"))
    assert not starts(LDA(4, preset="fast"))
    assert not starts(LDA(4, preset=Preset(init="random")))
    assert not starts(MarkovTTM(4, preset="default"))
    assert starts(MarkovTTM(4, preset="default", pairwise_weight=0, higher_order_weight=0))


def test_only_a_large_corpus_has_a_pilot_to_start_from(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any) -> None:
        raise RuntimeError("a pilot is made")

    monkeypatch.setattr(topics, "make_pilot", refuse)
    LDA(4, random_state=0).fit_topics(corpus)
    monkeypatch.setattr(pilot, "_MOST", corpus.n_docs // 3)
    monkeypatch.setattr(pilot, "_DOCS_PER_TOPIC", 1)
    with pytest.raises(RuntimeError, match="a pilot is made"):
        LDA(4, random_state=0).fit_topics(corpus)
    LDA(4, random_state=0).fit_topics(corpus, start=Start())


def test_a_pilot_to_start_from_has_more_documents_if_topics_are_many(corpus: Corpus, few: None) -> None:
    def documents(n_topics: int, max_iter: int | None) -> int:
        settings = LDA(n_topics, max_iter=max_iter, tol=2.0, random_state=0).topic_settings()
        made: Pilot = make_pilot(corpus, settings, memory_executor(corpus, settings))
        assert made.held_out[0].shape[0] == corpus.n_docs // 5
        return int(made.counts.shape[0])

    rest = corpus.n_docs - corpus.n_docs // 5
    assert documents(4, 10) == documents(150, 10) == documents(4, None) == rest // 3
    assert documents(150, None) == rest // 2


def test_a_fit_starts_from_the_words_of_a_fit_to_a_part(corpus: Corpus, few: None) -> None:
    model = LDA(4, random_state=3, n_jobs=2).fit_topics(corpus)
    whole = MemoryExecutor(build_graph(corpus.counts, corpus.tags))
    priors = model.topic_settings().priors(whole.totals)
    rest, _ = pilot.choose_held_out(corpus.n_docs, 3)
    assert len(rest) // 4 < len(rest[::3]) < len(rest)
    part = build_graph(corpus.counts[rest[::3]], corpus.tags[rest[::3]])
    before = BeliefPropagation(MemoryExecutor(part), priors, 3)
    belief = run(before, max_iter=60, tol=model.tol).state
    start = Start((belief.sums.words + priors.topic_word).astype(np.float32), relaxation=1.0)
    after = BeliefPropagation(whole, priors, 3, first=start, last_sweeps=3)
    found = run(after, max_iter=25, tol=model.tol)
    assert model.n_iter_ == len(found.history) <= 25
    assert np.array_equal(model.topic_sums_, after.learned(found.state).word_sums.sum(0))


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
def test_continued_by_another_process(
    corpus: Corpus, few: None, tmp_path: Path, max_iter: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TTM(4, random_state=0, tol=0)
    monkeypatch.setattr(topics, "SWEEPS_AFTER", max_iter or 25)
    if max_iter:  # then no sweeps follow
        monkeypatch.setattr(topics, "LAST_SWEEPS", 0)
        monkeypatch.setattr(topics, "LAST_SHARE", 1.0)
    shards = as_shards(corpus, tmp_path / "s", 1500)
    fit_shards(whole, shards, tmp_path / "whole")
    stopped = TTM(4, random_state=0, tol=0)
    fit_shards(stopped, shards, tmp_path / "run", callbacks=[Sweeps(stop=4)])
    resumed = TTM(4, random_state=0, tol=0, max_iter=max_iter)
    fit_shards(resumed, shards, tmp_path / "run", resume=True)
    assert np.array_equal(whole.components_, resumed.components_)
    assert resumed.n_iter_ == (max_iter or 25)


@pytest.mark.parametrize("memory", ["lean", "auto"])
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


@pytest.mark.parametrize("kind", [TTM, MarkovTTM])
def test_shards_have_the_topics_of_memory(
    corpus: Corpus, few: None, tmp_path: Path, kind: type[OnlineModel]
) -> None:
    """With the same blocks of documents; topics start from a pilot, those of the paper's model do not."""
    shards = as_shards(corpus, tmp_path / "s", 1500)
    settings = kind().set_params(n_topics=4, random_state=0).topic_settings()
    assert settings.starts_from_pilot(corpus.n_docs) == (kind is TTM)
    blocks = np.cumsum([0, *(shard.n_docs for shard in shards.manifest.shards)])
    graph = build_graph(corpus.counts, corpus.tags)._replace(doc_blocks=blocks)
    expected = fit_topics(corpus, settings, executor=MemoryExecutor(graph, lean=True))

    work = ShardRun(tmp_path / "run", {})
    workers = ShardExecutor(shards, work.states)
    found = fit_topics(shards.corpus(), settings, executor=workers, callbacks=[work])
    workers.close()
    for name in ("word_sums", "doc_topic", "doc_topic_prior", "tag_docs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.more.keys() == expected.more.keys() == {"tag_sums_", "tag_squares_", "word_exponent_"}
    for name, array in expected.more.items():
        np.testing.assert_array_equal(found.more[name], array, err_msg=name)
    assert [step.change for step in found.history] == [step.change for step in expected.history]
    assert len(found.history) > 3
    assert (found.topic_word_prior, found.stop_reason) == (expected.topic_word_prior, expected.stop_reason)


def test_a_pilot_is_freed_before_the_sweeps(
    corpus: Corpus, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages, kept = list[str](), list[Any]()

    def remembered(*given: Any) -> Pilot:
        made = make_pilot(*given)
        kept.extend(weakref.ref(part) for part in (made, made.counts, made.doc_sums, made.tags))
        return made

    class Stages(Callback[Any]):
        def on_stage(self, name: str) -> None:
            stages.append(name)

        def on_start(self, max_iter: int) -> None:
            stages.append("sweeps")
            assert len(kept) == 4
            assert [part() for part in kept] == [None] * 4

    monkeypatch.setattr(ttm, "make_pilot", remembered)
    TTM(4, random_state=0).fit_topics(corpus, callbacks=[Stages()])
    assert stages == [
        "Fitting the tag prior", "Drawing the first messages", "sweeps", "Crediting words to tags"
    ]  # fmt: skip
