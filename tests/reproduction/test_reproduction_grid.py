"""Specs, records and the runner, on a tiny corpus of planted topics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.synthetic import make_tagged_corpus
from reproduction import run as runner
from reproduction.run import (
    FittedOnce,
    load_corpus,
    run_grid,
    run_one,
    thinned,
    with_tag_classes,
    without_artefact,
)
from reproduction.spec import (
    ExperimentSpec,
    Record,
    append_record,
    chosen,
    full_grid,
    quick_grid,
    read_records,
)
from tagtopics import LDA, TTM, InputError, MarkovTTM, write_matrix_folder
from tagtopics.corpus.core import Corpus


@pytest.fixture(scope="module")
def tiny() -> Corpus:
    return make_tagged_corpus(n_docs=120, n_words=150, n_groups=0, n_topics=6, n_tags=6, seed=3).corpus


@pytest.fixture(scope="module")
def own(tiny: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data sets in which `cora` is the tiny corpus."""
    folder = tmp_path_factory.mktemp("data")
    write_matrix_folder(tiny, folder / "cora")
    return folder


def spec(task: str = "perplexity", model: str = "ttm-h", K: int = 4, seed: int = 0) -> ExperimentSpec:
    return ExperimentSpec(dataset="cora", task=task, model=model, n_topics=K, seed=seed)


def test_the_key_is_of_the_content() -> None:
    assert spec().key == spec().key
    assert len(spec().key) == 16
    others = [spec(seed=1), spec(K=5), spec(model="lda"), spec(task="links")]
    assert len({other.key for other in others} | {spec().key}) == 5


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"dataset": "cora"},
        {"dataset": "cora", "task": "juggling", "model": "lda"},
        {"dataset": "cora", "task": "links", "model": "gpt"},
        {"dataset": "cora", "task": "links", "model": "lda", "seed": "0"},
        {"dataset": "cora", "task": "links", "model": "lda", "colour": "red"},
        {"dataset": 7, "task": "links", "model": "lda"},
    ],
)
def test_what_is_no_spec_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(InputError, match="experiment"):
        Record.from_line(json.dumps({"spec": values, "metrics": {}, "seconds": {}}))


@pytest.mark.parametrize("specs", [quick_grid(), full_grid()], ids=["quick", "full"])
def test_grids_have_no_repeats_and_whole_splits_first(specs: list[ExperimentSpec]) -> None:
    assert len({s.key for s in specs}) == len(specs)
    seeds = [s.seed for s in specs]
    assert seeds == sorted(seeds)
    assert {s.task for s in specs} >= {"statistics", "perplexity", "links", "classification", "topics"}


def test_the_grids_are_the_papers() -> None:
    full = chosen(full_grid(), ["perplexity/med"])
    compared = [s for s in full if s.model == "ttm-h"]
    assert {s.n_topics for s in compared} == set(range(10, 101, 10))
    assert {s.seed for s in compared} == set(range(5))
    assert set(quick_grid()) & set(full_grid())


def test_only_chooses() -> None:
    specs = quick_grid()
    assert {s.task for s in chosen(specs, ["links"])} == {"links"}
    assert {(s.task, s.dataset) for s in chosen(specs, ["perplexity/med"])} == {("perplexity", "med")}
    assert {s.dataset for s in chosen(specs, ["corel5k"])} == {"corel5k", "corel5k-images"}
    assert chosen(specs, []) == specs
    for wrong in ("", "/", "juggling", "links/mars", "links/cora/more"):
        with pytest.raises(InputError, match="--only"):
            chosen(specs, [wrong])


@pytest.mark.parametrize("model", ["ttm-h", "ttm"])
def test_sharing_a_fit_changes_no_figure(own: Path, tmp_path: Path, model: str) -> None:
    specs = [spec(task, model) for task in ("perplexity", "links", "topics", "classification")]
    specs.append(replace(specs[-1], tags_known=True))  # inferred and known tags are not the same
    assert len({s.of_fit for s in specs}) == 1
    run_grid(specs, tmp_path / "records.jsonl", data=own)
    shared = {r.spec.key: r.metrics for r in read_records(tmp_path / "records.jsonl")}
    for one in specs:
        assert run_one(one, load_corpus(one, own)).metrics == shared[one.key]


def test_the_curve_has_every_use_of_the_tags(tiny: Corpus) -> None:
    curves = run_one(spec("curve", "ttm"), tiny).metrics["curves"]
    assert set(curves) == {"hidden", "known", "inferred", "shuffled"}
    assert all(len(values) == 6 for values in curves.values())
    assert curves["known"][0] < curves["hidden"][0]  # with no word seen, tags tell what it is about


def test_perplexity_has_the_papers_protocol_beside_it(tiny: Corpus) -> None:
    metrics = run_one(spec(model="lda"), tiny).metrics
    assert metrics["same_words_perplexity"] < metrics["perplexity"]  # it has seen what it predicts


def test_the_control_has_the_topics_of_lda(tiny: Corpus) -> None:
    lda = LDA(3, preset="paper", random_state=0).fit_topics(tiny)
    same = MarkovTTM(3, pairwise_weight=0.0, higher_order_weight=0.0, random_state=0).fit_topics(tiny)
    assert np.array_equal(lda.components_, same.components_)
    control = run_one(spec(model="lda-tags"), tiny).metrics  # tags hidden
    known = run_one(replace(spec(model="lda-tags"), tags_known=True), tiny).metrics
    assert known["perplexity"] != control["perplexity"]


def test_more_splits_of_the_quick_grid() -> None:
    assert {s.seed for s in quick_grid(5) if s.task == "links"} == set(range(5))
    assert set(quick_grid()) <= set(quick_grid(5))


def test_a_run_goes_on_and_repeats_nothing(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "records.jsonl"
    specs = [spec(model=model, seed=seed) for seed in (0, 1) for model in ("lda", "ttm-h")]
    first = run_grid(specs[:2], path, data=own)
    assert (first.measured, first.before, first.left) == (2, 0, 0)
    with path.open("a") as file:
        file.write('{"key": "torn')
    assert len(read_records(path)) == 2
    seen: list[tuple[int, int]] = []
    second = run_grid(specs, path, data=own, progress=lambda done, total, title: seen.append((done, total)))
    assert (second.measured, second.before, second.left) == (2, 2, 0)
    assert seen == [(1, 2), (2, 2)]
    assert [json.loads(line)["spec"]["seed"] for line in path.read_text().splitlines()] == [0, 0, 1, 1]
    monkeypatch.setattr(runner, "__version__", "99")
    assert run_grid(specs[:1], path, data=own).measured == 1
    assert len(read_records(path)) == 4


@pytest.mark.slow
def test_processes_measure_the_same(own: Path, tmp_path: Path) -> None:
    specs = [spec(model=model) for model in ("lda", "ttm-p", "atm")]
    run_grid(specs, tmp_path / "one.jsonl", data=own)
    run_grid(specs, tmp_path / "two.jsonl", jobs=2, data=own)
    one, two = (
        {r.spec.key: r.metrics for r in read_records(tmp_path / name)} for name in ("one.jsonl", "two.jsonl")
    )
    assert one == two
    assert len(one) == 3


def test_no_time_left_begins_nothing(own: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        outcome = run_grid([spec()], tmp_path / "records.jsonl", minutes=0, jobs=jobs, data=own)
        assert (outcome.measured, outcome.left) == (0, 1)


def test_missing_data_and_impossible_tasks_are_a_line_each(own: Path, tmp_path: Path) -> None:
    specs = [
        ExperimentSpec(dataset="no-such-data", task="perplexity", model="lda", n_topics=3),
        ExperimentSpec(dataset="no-such-data", task="perplexity", model="lda", n_topics=4),
        replace(spec("recommendation", "lda"), system="scores"),
        spec("perplexity", "lda"),
    ]
    outcome = run_grid(specs, tmp_path / "records.jsonl", data=own)
    assert outcome.measured == 1
    assert len(outcome.problems) == 2
    assert outcome.problems[0].startswith("no-such-data: not available, skipped")
    assert "no tag scores of its own" in outcome.problems[1]


def test_a_bad_line_is_named(tmp_path: Path, tiny: Corpus) -> None:
    path = tmp_path / "records.jsonl"
    record = run_one(ExperimentSpec(dataset="cora", task="statistics"), tiny)
    append_record(path, record)
    assert read_records(path) == [Record.from_line(record.to_line())]
    assert record.metrics["n_docs"] == 120
    path.write_text("[1, 2]\n" + path.read_text())
    with pytest.raises(InputError, match="line 1"):
        read_records(path)


def test_the_artefact_is_one_long_list_of_several_documents(tiny: Corpus) -> None:
    import numpy as np
    import scipy.sparse as sp

    tags = np.zeros((120, 60), dtype=np.int8)
    tags[:, 0] = 1
    tags[:3, :41] = 1  # three documents with one list of 41
    tags[3, 5:50] = 1  # one with a long list of its own
    tags[4:6, :40] = 1  # two with a shared list, not long enough
    names = tuple(f"t{i}" for i in range(60))
    corpus = replace(tiny, tags=sp.csr_array(tags), tag_names=names)
    assert without_artefact(corpus).ids == tiny.ids[3:]


def test_the_artefact_of_cora(data_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAGTOPICS_DATA", str(data_directory))
    with_it = ExperimentSpec(dataset="cora", task="statistics")
    without_it = ExperimentSpec(dataset="cora", task="statistics", without_artefact=True)
    assert load_corpus(with_it).n_docs - load_corpus(without_it).n_docs == 41


def test_classes_are_documents_with_one_of_four_tags(tiny: Corpus) -> None:
    names = ("sky", "sea", "water", "tree", "people", "sand")
    corpus = with_tag_classes(replace(tiny, tag_names=names))
    four = {"sky", "water", "tree", "people"}
    assert corpus.labels is not None
    for d, label in enumerate(corpus.labels):
        own = four & set(corpus.tags_of(d))
        assert label == (own.pop() if len(own) == 1 else None)
    assert len(set(corpus.labels)) > 2


def test_thinning_keeps_a_share_of_the_tokens_and_no_split(tiny: Corpus) -> None:
    long = replace(tiny, counts=tiny.counts * 100, split=("train",) * 60 + ("test",) * 60)
    thin = thinned(long, 0.02)
    assert thin.split is None
    assert thin.counts.sum() == pytest.approx(0.02 * long.counts.sum(), rel=0.05)
    assert (thin.counts.data > 0).all()
    assert (thin.counts > long.counts).nnz == 0
    assert (thinned(long, 0.02).counts != thin.counts).nnz == 0


def test_models_that_share_a_fit_infer_the_same_once() -> None:
    corpus = make_tagged_corpus(n_docs=80, n_words=60, n_tags=5, n_groups=0, seed=0).corpus
    shared = FittedOnce(TTM(3, max_iter=2, random_state=0)).fit_topics(corpus).fit_recommender(corpus)
    for infer in (shared.transform, shared.tag_probabilities, shared.leave_one_out_tags):
        assert infer(corpus) is infer(corpus)
    assert not np.array_equal(shared.leave_one_out_tags(corpus), shared.tag_probabilities(corpus))


def test_links_are_measured_from_roots_and_from_products(tiny: Corpus) -> None:
    metrics = run_one(spec(model="lda", task="links", K=2), tiny).metrics
    assert {"f1", "auc", "f1_products", "auc_products"} <= set(metrics)
    assert metrics["auc"] != metrics["auc_products"]


def test_priors_of_a_spec_are_those_of_the_model(tiny: Corpus) -> None:
    own = replace(spec(model="atm"), priors=(0.01, 0.02))
    model = runner.build_model(own)
    assert (model.doc_topic_prior, model.topic_word_prior) == (0.01, 0.02)
    assert own.of_fit != spec(model="atm").of_fit
    assert Record.from_line(run_one(own, tiny).to_line()).spec == own
