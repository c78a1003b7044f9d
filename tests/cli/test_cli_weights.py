"""`fit` and `evaluate`: the tag prior, weights, presets, and perplexity by the share of words seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_running import ROWS, run, write_rows

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.corpus.write import write_matrix_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = make_tagged_corpus(n_docs=250, n_words=200, seed=0).corpus
    write_matrix_folder(corpus, tmp_path / "corpus")
    return tmp_path / "corpus"


def test_strengths_are_learned_and_printed(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 12, "--iterations", 5, "--no-recommender", "--out", tmp_path / "m.tt")
    fitted = run("fit", folder, *options, "--json").json()
    loaded: Any = tt.load(tmp_path / "m.tt")
    known = loaded.settings_.known
    assert fitted["weights"] is None
    assert list(fitted["strengths"]) == ["hidden", "known"]
    assert fitted["strengths"]["known"]["flat"] == known.flat
    assert fitted["strengths"]["known"]["mean"] == {"tags": known.mean[0]}
    printed = run("fit", folder, *options).out
    worth = known.mean[0] + known.joint + known.words[0]
    length = fitted["n_tokens"] / fitted["n_docs"]
    assert worth > 0
    assert f"worth about {worth:.2g} words" in printed
    assert f"; a document has {length:.0f} " in printed
    untagged = write_rows(tmp_path / "a.jsonl", [{"text": "sea wave tide"}] * 3)
    assert "worth" not in run("fit", untagged, "--topics", 2, "--out", tmp_path / "untagged.tt").out
    lda = ("--model", "lda", "--topics", 3, "--iterations", 2, "--out", tmp_path / "lda.tt")
    answer = run("fit", folder, *lda, "--json").json()
    assert (answer["weights"], answer["strengths"]) == (None, None)


FEW_SWEEPS = ("--topics", 3, "--iterations", 2, "--no-recommender")


def test_the_paper_has_weights(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--model", "markov", *FEW_SWEEPS, "--out", tmp_path / "m.tt")
    fitted = run("fit", folder, *options, "--json").json()
    assert fitted["weights"] == {
        "pairwise_weight": 0.1,
        "higher_order_weight": 0.05,
        "tag_pseudo_count": 5.0,
    }
    assert fitted["strengths"] is None
    result = run("fit", folder, *options)
    assert "pairwise weight 0.1, higher order weight 0.05, tag pseudo count 5" in result.out
    assert "note" not in result.err
    assert type(tt.load(tmp_path / "m.tt")) is tt.MarkovTTM


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--pairwise-weight", 0.3),
        ("--higher-order-weight", 0),
        ("--tag-pseudo-count", 2),
        ("--preset", "paper"),
    ],
)
def test_an_option_of_the_papers_model_selects_it(
    folder: Path, tmp_path: Path, option: str, value: Any
) -> None:
    out, given = tmp_path / "m.tt", f"{option} paper" if value == "paper" else option
    done = run("fit", folder, "--model", "ttm", *FEW_SWEEPS, option, value, "--out", out, "--json")
    assert (done.json()["model"], done.err) == (
        "markov",
        f"note: {given} is of the paper's model: fitting --model markov\n",
    )
    loaded: Any = tt.load(out)
    assert type(loaded) is tt.MarkovTTM
    assert loaded.get_params()[option.removeprefix("--").replace("-", "_")] == value
    for other in (("--model", "lda", "--preset", "paper"), ("--model", "markov", option, value)):
        assert run("fit", folder, *FEW_SWEEPS, *other, "--out", out).err == ""
    evaluated = run("evaluate", folder, *FEW_SWEEPS[:4], option, value, "--json").json()
    assert evaluated["model"] == "markov"


# ---------------------------------------------------------------------------------- tags of test documents

FEW = ("--topics", 6, "--iterations", 5, "--seed", 1)


def test_perplexity_by_tags(folder: Path) -> None:  # needs: models
    answers = [
        run("evaluate", folder, *FEW, "--test-tags", tags, "--json").json()
        for tags in ("hidden", "known", "inferred")
    ]
    assert [answer["test_tags"] for answer in answers] == ["hidden", "known", "inferred"]
    assert len({answer["metrics"]["perplexity"] for answer in answers}) == 3
    printed = run("evaluate", folder, *FEW, "--test-tags", "known").out
    assert f"{answers[1]['metrics']['perplexity']:,.1f}" in printed
    assert "tags known" in printed


def test_tags_of_a_table_are_columns_still(tmp_path: Path) -> None:  # needs: models
    rows = [{"text": row["text"], "topics": row["tags"][:1]} for row in ROWS]
    source = write_rows(tmp_path / "a.jsonl", rows)
    options = ("--topics", 2, "--iterations", 3, "--json", "--tags", "topics")
    assert run("evaluate", source, *options, "--test-tags", "known").json()["test_tags"] == "known"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--task", "links", "--test-tags", "inferred"), "must be hidden or known, not 'inferred'"),
        (("--test-tags", "sometimes"), "must be hidden or known or inferred, not 'sometimes'"),
    ],
)
def test_tags_that_cannot_be(folder: Path, options: tuple[str, ...], says: str) -> None:
    result = run("evaluate", folder, *options)
    assert result.code == 2
    assert says in " ".join(result.err.split())
    assert result.out == ""


def test_presets_reach_the_estimator(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 3, "--iterations", 2, "--preset", "fast", "--doc-topic-prior", 0.3)
    assert run("fit", folder, *options, "--out", tmp_path / "m.tt").code == 0
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.get_params()["preset"] == "fast"
    assert loaded.get_params()["doc_topic_prior"] == 0.3


def test_a_fit_without_recommender(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 3, "--iterations", 2, "--no-recommender", "--out", tmp_path / "m.tt")
    assert run("fit", folder, *options).code == 0
    result = run("recommend", tmp_path / "m.tt", folder)
    assert result.code == 2
    assert "fit_recommender" in result.err
