"""Effects and trends describe the topics of the model: those of an edited model, or none."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from reproduction.analysis.edited_effects import random_edits
from tagtopics._typing import Float64
from tagtopics.analysis.choose.compare import match_topics
from tagtopics.analysis.effects.measure import find_start
from tagtopics.cli import main
from tagtopics.curation.guided import fit_curated_topics
from tagtopics.curation.journal import Curation
from tagtopics.errors import CorpusWarning, InputError

K, W, D = 4, 200, 300
SLOPES = np.array([0.03, -0.03, 0.0, 0.0])
"""Planted change of the share of each topic per year."""

Edits = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def data() -> tuple[tt.Corpus, tt.LDA, Float64]:
    """Documents of ten years, a model, and the planted shares of its topics."""
    rng = np.random.default_rng(0)
    years = rng.integers(2010, 2020, D)
    means = 0.25 + np.outer(years - 2014.5, SLOPES)
    topics = rng.dirichlet(np.full(W, 0.05), size=K)
    shares = np.array([rng.dirichlet(4 * mean) for mean in means])
    counts = np.array([rng.multinomial(80, share @ topics) for share in shares])
    corpus = tt.read_corpus(counts, tags=[[f"year:{year}"] for year in years])
    model = tt.LDA(K, random_state=0).fit_topics(corpus)
    pairs = match_topics(topics, model.components_)
    return corpus, model, shares[:, pairs.rows[np.argsort(pairs.columns)]]


def edited(model: Any, corpus: tt.Corpus, edits: Edits) -> Any:
    for kind, arguments in edits:
        model = tt.curate(model, kind, corpus=corpus, **arguments)
    return model


def rough_model(corpus: tt.Corpus) -> Any:
    """Return a model after one sweep, whose topics refits do not find again."""
    return tt.LDA(8, max_iter=1, preset="paper", random_state=0).fit_topics(corpus)


def years_of(corpus: tt.Corpus) -> Float64:
    return np.array([float(corpus.tag_names[t].partition(":")[2]) for t in corpus.tags.indices])


def assert_the_model_is_measured(
    found: Any, model: Any, times: Float64, rows: Any, points: float = 1.0, slack: float = 0.0
) -> None:
    """Compare mean shares and slopes with those of the model's own proportions of documents."""
    slopes = np.polyfit(times, model.doc_topic_, 1)[0]
    assert len(found.topics) == len(rows) == len(model.components_)
    for topic in found.topics:
        share = float(model.doc_topic_[:, topic.topic].mean())
        assert topic.model_share == pytest.approx(share, abs=1e-6)
        assert topic.share == pytest.approx(share, abs=points / 100)
        assert topic.similarity > 0.95
        assert topic.agrees
    for row in rows:
        more = slack * (row.high - row.low)
        assert row.low - more <= slopes[row.topic] <= row.high + more


EDITS: dict[str, Edits] = {
    "merge": [("merge", {"topics": [0, 3]})],
    "merge of others": [("merge", {"topics": [0, 2]})],
    "merge of three": [("merge", {"topics": [0, 2]}), ("merge", {"topics": [0, 1]})],
    "two merges": [("merge", {"topics": [0, 2]}), ("merge", {"topics": [1, 2]})],
    "ban and merge": [("ban", {"words": ["word69", "word75"]}), ("merge", {"topics": [0, 3]})],
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_topics_are_measured(data: Any, name: str) -> None:
    corpus, model, _ = data
    changed = edited(model, corpus, EDITS[name])
    found = tt.effects(changed, corpus, on=["year"], refits=10)
    assert found.held
    assert_the_model_is_measured(found, changed, years_of(corpus), found.rows)


def test_random_edits_are_measured(data: Any) -> None:
    corpus, model, _ = data
    for seed in range(8):
        changed, made = random_edits(model, corpus, np.random.default_rng([2, seed]))
        assert len(made) > 1
        found = tt.effects(changed, corpus, on=["year"], refits=10)
        assert_the_model_is_measured(found, changed, years_of(corpus), found.rows)


def test_large_topics_keep_their_shares() -> None:
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(W, 0.2), size=8)
    planted = rng.dirichlet(4 * np.array([0.44, *[0.08] * 7]), size=D)
    corpus = tt.read_corpus(np.array([rng.multinomial(40, share @ topics) for share in planted]))
    model = tt.LDA(8, random_state=0).fit_topics(corpus)
    merged = tt.curate(model, "merge", topics=[0, 1])
    found = tt.effects(merged, corpus, on=["x"], values={"x": rng.random(D)}, refits=10)
    assert max(topic.model_share for topic in found.topics) > 0.3
    for topic in found.topics:
        assert topic.share == pytest.approx(topic.model_share, abs=0.01)


@pytest.mark.parametrize("preset", ["default", "fast"])
def test_refits_weigh_words_as_the_fit_did(data: Any, preset: str) -> None:
    corpus = data[0]
    model = tt.LDA(K, random_state=0, preset=preset).fit_topics(corpus)
    priors = find_start(model, corpus.counts).priors
    assert priors.word_exponent == model.word_exponent_ == {"default": 1.0, "fast": 0.75}[preset]
    assert priors.own_tokens == 32


def test_trends_of_edited_topics(data: Any) -> None:
    corpus, model, _ = data
    changed = edited(model, corpus, EDITS["merge"])
    found = tt.trends(changed, corpus, refits=10)
    assert found.held
    years = years_of(corpus)
    assert_the_model_is_measured(found, changed, years, found.topics)
    first = changed.doc_topic_[years == years.min()].mean(0)
    for row in found.topics:
        assert row.shares[0] == pytest.approx(first[row.topic], abs=0.02)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (0, 3), (1, 3)])
def test_a_merged_topic_has_the_sum_of_the_planted_slopes(data: Any, pair: tuple[int, int]) -> None:
    corpus, model, shares = data
    found = tt.effects(tt.curate(model, "merge", topics=pair), corpus, on=["year"], refits=10)
    row = next(row for row in found.rows if row.topic == min(pair))
    planted = np.polyfit(years_of(corpus), shares[:, pair].sum(1), 1)[0]
    assert row.low <= planted <= row.high
    assert row.estimate == pytest.approx(planted, abs=0.005)


def test_any_edit_is_held(data: Any) -> None:
    corpus, model, _ = data
    assert not tt.effects(model, corpus, on=["year"], refits=10).held
    edits: Edits = [
        ("rename", {"topics": [1], "name": "one"}),
        ("seed", {"name": "new", "words": ["word1", "word2"]}),
        ("ban", {"words": ["word69", "word3"]}),
    ]
    first = tt.effects(edited(model, corpus, edits[:1]), corpus, on=["year"], refits=10)
    assert first.held
    for n in (2, 3):
        changed = edited(model, corpus, edits[:n])
        found = tt.effects(changed, corpus, on=["year"], refits=10)
        assert found.held
        assert found.rows == first.rows
        assert_the_model_is_measured(found, changed, years_of(corpus), found.rows)


def test_a_rough_model_is_measured_once_it_is_edited(data: Any) -> None:
    corpus = data[0]
    named = tt.curate(rough_model(corpus), "rename", topics=[0], name="one")
    assert all(topic.agrees for topic in tt.effects(named, corpus, on=["year"], refits=10).topics)


@pytest.mark.parametrize(
    "edits",
    [
        EDITS["merge"],
        [("ban", {"words": ["word69"]}), ("rename", {"topics": [0], "name": "x"})],
    ],
    ids=["merge", "ban and rename"],
)
def test_topics_fitted_with_edits_are_measured(data: Any, edits: Edits) -> None:
    corpus, model, _ = data
    changed = edited(model, corpus, edits)
    fitted = fit_curated_topics(changed, corpus, changed.curation_)
    for state in (fitted, tt.curate(fitted, "merge", topics=[0, 2])):
        found = tt.effects(state, corpus, on=["year"], refits=10)
        assert found.held
        assert_the_model_is_measured(found, state, years_of(corpus), found.rows, points=2)


def test_seeded_topics_are_measured(data: Any) -> None:
    corpus, model, _ = data
    seeds = Curation.of_seeds({"new": [word for word, _ in model.top_words(3)[1]]})
    seeded = fit_curated_topics(tt.LDA(K - 1, random_state=0), corpus, seeds)
    found = tt.effects(seeded, corpus, on=["year"], refits=10)
    assert found.held
    assert_the_model_is_measured(found, seeded, years_of(corpus), found.rows)


def test_held_topics_do_not_depend_on_threads(data: Any) -> None:
    corpus, model, _ = data
    merged = tt.curate(model, "merge", topics=[0, 3])
    found = [tt.effects(merged, corpus, on=["year"], refits=10, n_jobs=n) for n in (1, 3)]
    assert found[0].to_dict() == found[1].to_dict()


def test_documents_with_values_are_compared_with_the_same_documents_of_the_model(data: Any) -> None:
    corpus, model, _ = data
    years = years_of(corpus)
    early = np.where(years < 2014, years, np.nan)
    merged = tt.curate(model, "merge", topics=[0, 2])
    found = tt.effects(merged, corpus, on=["x"], values={"x": early}, refits=10)
    for topic in found.topics:
        share = float(merged.doc_topic_[years < 2014, topic.topic].mean())
        assert topic.model_share == pytest.approx(share, abs=1e-6)
        assert topic.share == pytest.approx(share, abs=0.01)


def test_other_documents_are_compared_with_what_the_model_infers(data: Any) -> None:
    corpus, model, _ = data
    part = corpus.select(np.arange(100, D))
    merged = tt.curate(model, "merge", topics=[1, 2], corpus=corpus)
    found = tt.effects(merged, part, on=["year"], refits=10)
    means = merged.transform(part).mean(0)
    assert [topic.model_share for topic in found.topics] == pytest.approx(means.tolist(), abs=1e-6)
    assert [topic.share for topic in found.topics] == pytest.approx(means.tolist(), abs=0.02)


def test_topics_that_drift_are_marked(data: Any) -> None:
    corpus = data[0]
    model = rough_model(corpus)
    with pytest.warns(CorpusWarning, match="what was measured differs from the model"):
        found = tt.effects(model, corpus, on=["year"], refits=10)
    with pytest.warns(CorpusWarning, match="what was measured differs from the model"):
        trends = tt.trends(model, corpus, refits=10)
    differ = {topic.topic for topic in found.topics if not topic.agrees}
    assert differ
    assert differ == {row.topic for row in trends.topics if not row.agrees}
    for line, row in zip(str(found).splitlines(), found.rows, strict=True):
        assert ("?" in line) == (row.topic in differ)
        assert row.topic not in differ or "*" not in line
    assert str(trends).count("?") == len(differ) == repr(trends).count("?")
    for topic in found.to_dict()["topics"]:
        far = topic["similarity"] < 0.9 or abs(topic["share"] - topic["model_share"]) > 0.02
        assert topic["agrees"] is not far


def test_topics_on_which_tags_act_are_marked_or_refused(data: Any) -> None:
    corpus = data[0]
    model = tt.MarkovTTM(K, random_state=0).fit_topics(corpus)
    with pytest.warns(CorpusWarning, match="without tags that act on topics"):
        tt.effects(model, corpus, on=["year"], refits=10)
    merged, says = tt.curate(model, "merge", topics=[0, 1]), "without tags that act on topics"
    with pytest.raises(InputError, match=rf"^topic \d of the edited model[^\n]+{says}"):
        tt.effects(merged, corpus, on=["year"], refits=10)
    with pytest.raises(InputError, match=rf"^topic \d of the edited model[^\n]+{says}"):
        tt.trends(merged, corpus, refits=10)


def test_commands(data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--refits", "10"])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), err

    corpus, model, _ = data
    folder, drifting, refused = (str(tmp_path / name) for name in ("merged", "drifting", "refused"))
    merged = tt.curate(model, "merge", topics=[0, 3])
    merged.save(folder, corpus=corpus)
    assert "that hold the edited topics" in run("trends", folder)[1]
    found = json.loads(run("effects", folder, "--on", "year", "--json")[1])
    assert found["held"] is True
    assert found == json.loads(json.dumps(tt.effects(merged, corpus, on=["year"], refits=10).to_dict()))
    rough_model(corpus).save(drifting, corpus=corpus)
    for command in (["effects", drifting, "--on", "year"], ["trends", drifting]):
        code, out, err = run(*command, "--quiet")
        assert (code, err) == (0, "")
        assert "? not the topic of the model" in out
    acting = tt.MarkovTTM(K, random_state=0).fit_topics(corpus)
    tt.curate(acting, "merge", topics=[0, 1]).save(refused, corpus=corpus)
    for command in (["effects", refused, "--on", "year"], ["trends", refused]):
        code, out, err = run(*command)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "of the edited model cannot be measured" in err


@pytest.mark.real_data
def test_edited_topics_of_real_documents_are_measured(data_directory: Path) -> None:
    folder = data_directory / "poliblog"
    if not folder.is_dir():
        pytest.skip("no poliblog")
    with (folder / "meta.csv").open(encoding="utf-8") as file:
        months = np.array([float(row["day"]) / 30 for row in csv.DictReader(file)])
    corpus = tt.read_corpus(folder)
    model = tt.LDA(20, random_state=0).fit_topics(corpus)
    for name in ("merge", "two merges"):
        changed = edited(model, corpus, EDITS[name])
        found = tt.effects(changed, corpus, on=["month"], values={"month": months}, refits=40)
        assert found.held
        assert_the_model_is_measured(found, changed, months, found.rows, slack=0.05)
