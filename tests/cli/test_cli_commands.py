"""What each command answers: the shape of its JSON, its tables, its notes."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cli_running import ROWS, fit_small, run, write_rows

import tagtopics as tt
from tagtopics import load, read_corpus
from tagtopics.cli.app import COMMANDS
from tagtopics.cli.estimators import MODELS, PARAMETERS
from tagtopics.cli.options import ModelOptions, TextOptions
from tagtopics.evaluation.perplexity import evaluate_perplexity


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit_small(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def corpus(model: Path) -> Path:
    return model.parent / "corpus.jsonl"


def test_fit_says_what_it_did(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "a.jsonl")
    out = tmp_path / "m.tt"
    answer = run("fit", source, "--topics", 3, "--iterations", 4, "--seed", 5, "--out", out, "--json").json()
    assert (answer["model"], answer["path"], answer["n_topics"], answer["seed"]) == ("ttm", str(out), 3, 5)
    assert (answer["n_docs"], answer["n_tags"]) == (18, 5)
    assert answer["iterations"] <= 4
    assert answer["stop_reason"] in ("max_iter", "converged")
    assert set(answer["seconds"]) == {"read", "fit"}
    assert all(value > 0 for value in answer["seconds"].values())
    assert len(answer["topics"]) == 3
    fitted = load(out)
    assert (fitted.n_topics, fitted.random_state, fitted.max_iter) == (3, 5, 4)
    assert fitted.recipe_ == read_corpus(source).recipe


def test_fit_passes_every_option_on(tmp_path: Path) -> None:
    options = {
        "--topics": ("n_topics", 4), "--order": ("order", 2), "--pairwise-weight": ("pairwise_weight", 0.3),
        "--higher-order-weight": ("higher_order_weight", 0.2), "--iterations": ("max_iter", 2),
        "--tolerance": ("tol", 0.5), "--doc-topic-prior": ("doc_topic_prior", 0.7),
        "--tag-pseudo-count": ("tag_pseudo_count", 3.0),
        "--topic-word-prior": ("topic_word_prior", 0.01), "--seed": ("random_state", 9),
        "--threads": ("n_jobs", 1),
    }  # fmt: skip
    arguments = [part for option, (_, value) in options.items() for part in (option, value)]
    source = write_rows(tmp_path / "a.jsonl")
    assert run("fit", source, "--model", "markov", *arguments, "--out", tmp_path / "m.tt").code == 0
    assert load(tmp_path / "m.tt").get_params().items() >= dict(options.values()).items()


def test_reading_options_reach_the_recipe(tmp_path: Path) -> None:
    rows = [
        {"title": "Big Boat", "body": "The sail and Rope", "who": "Ann|Bob", "topic": "x", "key": "k1"},
        {"title": "Small Boat", "body": "The mast and rope", "who": "Ann", "topic": "y", "key": "k2"},
    ]
    source = write_rows(tmp_path / "a.jsonl", rows)
    stop = tmp_path / "stop.txt"
    stop.write_text("the\nand\n")
    result = run(
        "fit", source, "--text", "title", "--text", "body", "--tags", "who", "--tags", "topic", "--id", "key",
        "--tag-separator", "|", "--stop-words", stop, "--ngrams", 2, "--keep-case", "--min-df", 1,
        "--max-df", 0.9, "--token-pattern", "[A-Za-z]+", "--topics", 2, "--iterations", 1,
        "--out", tmp_path / "m.tt",
    )  # fmt: skip
    assert result.code == 0, result.err
    fitted = load(tmp_path / "m.tt")
    assert fitted.doc_ids_ == ("k1", "k2")
    assert set(fitted.tag_names_) == {"who:Ann", "who:Bob", "topic:x", "topic:y"}
    assert {"Big Boat", "Rope", "sail"} <= set(fitted.vocabulary_)
    assert not {"Boat", "The", "and"} & set(fitted.vocabulary_)
    assert fitted.recipe_ is not None
    assert (fitted.recipe_.max_df, fitted.recipe_.stop_words) == (0.9, ("the", "and"))


def test_a_model_may_be_fitted_again_in_its_place(tmp_path: Path) -> None:
    assert fit_small(tmp_path) == fit_small(tmp_path)


def test_threads_do_not_change_a_bit(tmp_path: Path) -> None:
    one = fit_small(tmp_path, "--threads", 1, name="one.tt")
    four = fit_small(tmp_path, "--threads", 4, name="four.tt")
    assert (one / "arrays.safetensors").read_bytes() == (four / "arrays.safetensors").read_bytes()
    answers = [run("topics", path, "--json").out for path in (one, four)]
    assert answers[0] == answers[1]


def test_topics(model: Path) -> None:
    answer = run("topics", model, "--top", 4, "--json").json()
    assert (answer["model"], answer["n_topics"]) == ("ttm", 3)
    assert [row["topic"] for row in answer["topics"]] == [0, 1, 2]
    assert sum(row["share"] for row in answer["topics"]) == pytest.approx(1)
    for row in answer["topics"]:
        assert len(row["words"]) == 4
        assert set(row["words"][0]) == {"word", "probability"}
    typical = {row["tags"][0]["tag"] for row in answer["topics"]}
    assert typical == {"cooking", "sailing", "music"}
    table = run("topics", model).out
    assert "most typical tags" in table
    assert max(map(len, table.splitlines())) <= 100


def test_tags_are_listed(model: Path) -> None:
    answer = run("tags", model, "--top", 3, "--json").json()
    assert [row["n_docs"] for row in answer["tags"]] == [[9], [9], [6], [6], [6]]
    assert all(len(row["words"]) == 3 for row in answer["tags"])
    assert "... and 3 more" in run("tags", model, "--limit", 2).out
    assert "more" not in run("tags", model, "--limit", 0).out


def test_tags_alone_and_together(model: Path) -> None:
    answer = run("tags", model, "cooking", "odd", "cooking", "--json").json()
    assert [row["tags"] for row in answer["tags"]] == [["cooking"], ["odd"]]
    assert answer["together"]["tags"] == ["cooking", "odd"]
    words = {entry["word"] for entry in answer["together"]["words"]}
    assert words & {"bread", "oven", "flour"}
    assert run("tags", model, "cooking", "--json").json()["together"] is None
    assert "Together" in run("tags", model, "cooking", "odd").out


def test_explain(model: Path, corpus: Path) -> None:
    answer = run("explain", model, corpus, "--json").json()
    assert [document["id"] for document in answer["documents"]] == [row["id"] for row in ROWS]
    first = answer["documents"][0]
    assert set(first) == {"id", "tags", "words"}
    assert sorted(first["tags"]) == ["cooking", "odd"]
    for word in first["words"]:
        assert set(word) == {"word", "count", "credit"}
        assert sum(word["credit"].values()) == pytest.approx(1, abs=1e-6)
        assert set(word["credit"]) == {"cooking", "odd"}
    counts = [word["count"] for word in first["words"]]
    assert counts == sorted(counts, reverse=True)


def test_explain_some(model: Path, corpus: Path) -> None:
    by_id = run("explain", model, corpus, "--doc", "music2", "--top", 2, "--json").json()["documents"]
    by_number = run("explain", model, corpus, "--doc", 14, "--top", 2, "--json").json()["documents"]
    assert by_id == by_number
    assert len(by_id) == 1
    assert len(by_id[0]["words"]) == 2


def test_explain_for_people(model: Path, corpus: Path) -> None:
    answer = run("explain", model, corpus)
    assert answer.code == 0
    assert "words with the most credit" in answer.out
    assert "13 more documents" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 100


def test_explain_a_document_without_tags(model: Path) -> None:
    stdin = b'{"text": "bread oven", "tags": "cooking"}\n{"text": "boat wind"}\n'
    documents = run("explain", model, "-", "--json", stdin=stdin).json()["documents"]
    assert documents[1]["tags"] == []
    assert documents[1]["words"] == [
        {"word": word, "count": 1, "credit": {}} for word in ("boat", "wind")
    ]  # fmt: skip
    assert "no tag that the model knows" in run("explain", model, "-", stdin=stdin).out


def test_related(model: Path) -> None:
    stdin = json.dumps({"id": "new", "text": "flour yeast butter oven"}).encode()
    answer = run("related", model, "-", "--top", 4, "--json", stdin=stdin).json()
    (document,) = answer["documents"]
    assert document["id"] == "new"
    assert len(document["related"]) == 4
    assert all(found["id"].startswith("cooking") for found in document["related"])
    assert set(document["related"][0]) == {"id", "row", "score", "title"}
    assert "cooking" in run("related", model, "-", stdin=stdin).out


def test_related_documents_have_titles_and_words(tmp_path: Path) -> None:
    rows = [
        {"id": f"d{i}", "title": f"Title {i}", "text": "oven flour" if i % 2 else "goal match"}
        for i in range(9)
    ]
    source = write_rows(tmp_path / "a.jsonl", [*rows, {"id": "blank", "title": "Blank", "text": ""}])
    assert run("fit", source, "--topics", 2, "--model", "lda", "--out", tmp_path / "m.tt").code == 0
    answer = run("related", tmp_path / "m.tt", "--given", "oven", "--top", 20, "--json").json()
    found = answer["documents"][0]["related"]
    assert {one["id"]: one["title"] for one in found} == {row["id"]: row["title"] for row in rows}
    printed = run("related", tmp_path / "m.tt", "--given", "oven").out
    assert "title" in printed
    assert "Title 1" in printed


def test_a_model_without_tags_answers_too(tmp_path: Path) -> None:
    lda = fit_small(tmp_path, "--model", "lda")
    assert run("topics", lda, "--json").json()["model"] == "lda"
    result = run("related", lda, tmp_path / "corpus.jsonl", "--json")
    assert len(result.json()["documents"]) == 18
    assert "tag" not in result.err
    assert "typical" not in run("topics", lda).out


def test_evaluate_prints_the_contract(corpus: Path) -> None:
    options = ("--topics", 3, "--iterations", 5, "--seed", 2)
    answer = run("evaluate", corpus, *options, "--json").json()
    assert list(answer) == ["task", "model", "n_topics", "seed", "test_tags", "metrics", "seconds"]
    assert (answer["task"], answer["model"], answer["n_topics"], answer["seed"]) == (
        "perplexity",
        "ttm",
        3,
        2,
    )
    assert set(answer["metrics"]) == {"perplexity", "unigram_perplexity"}
    assert set(answer["seconds"]) == {"fit", "score"}
    from tagtopics import TTM

    direct = evaluate_perplexity(read_corpus(corpus), TTM(3, max_iter=5, random_state=2), seed=2)
    assert answer["metrics"] == direct["metrics"]
    assert "unigram perplexity" in run("evaluate", corpus, *options).out


def test_evaluate_other_models_and_known_tags(corpus: Path) -> None:
    def figure(*options: object) -> Any:
        command = ("evaluate", corpus, "--topics", 3, "--iterations", 5, "--json")
        return run(*command, *options).json()["metrics"]["perplexity"]

    assert figure("--test-tags", "known") != figure()
    no_weights = ("--model", "markov", "--pairwise-weight", 0, "--higher-order-weight", 0)
    assert figure(*no_weights) == figure("--model", "lda", "--preset", "paper") != figure("--model", "markov")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_fits_and_is_evaluated(name: str, planted_folder: str, tmp_path: Path) -> None:
    options = ("--model", name, "--topics", 3, "--iterations", 2, "--json")
    assert run("fit", planted_folder, *options, "--out", tmp_path / "m.tt").json()["model"] == name
    assert run("topics", tmp_path / "m.tt", "--json").json()["model"] == name
    assert run("evaluate", planted_folder, *options).json()["metrics"]["perplexity"] > 1


def test_an_option_that_has_no_use_is_noted(corpus: Path) -> None:
    options = ("--model", "lda", "--order", 3, "--topics", 2, "--iterations", 1, "--json")
    result = run("evaluate", corpus, *options)
    result.json()
    assert result.err == "note: --order has no effect: --model lda has no such parameter\n"
    assert run("evaluate", corpus, *options, "--quiet").err == ""


def test_datasets_are_listed() -> None:
    rows = run("datasets", "--json").json()["datasets"]
    assert {"docstrings", "cora"} <= {row["name"] for row in rows}
    assert set(rows[0]) == {"name", "description", "origin"}
    assert "docstrings" in run("datasets").out


def test_a_dataset_is_written(tmp_path: Path) -> None:
    answer = run("datasets", "docstrings", "--out", tmp_path / "corpus", "--json").json()
    assert (answer["name"], answer["path"]) == ("docstrings", str(tmp_path / "corpus"))
    assert answer["n_docs"] == read_corpus(tmp_path / "corpus").n_docs
    assert "docs" in run("datasets", "docstrings").out


def test_a_dataset_as_corpus_and_as_input(tmp_path: Path) -> None:
    out = tmp_path / "m.tt"
    few = ("--topics", 3, "--iterations", 2, "--no-recommender")
    assert run("fit", "docstrings", *few, "--out", out).code == 0
    answer = run("related", out, "docstrings", "--top", 1, "--json").json()
    assert len(answer["documents"]) > 2000


def test_notices_become_notes(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": "cooking0", "text": "the", "tags": ["cooking", "cooking"]}]
    source = write_rows(tmp_path / "a.jsonl", rows)
    result = run("fit", source, "--topics", 2, "--iterations", 1, "--out", tmp_path / "m.tt", "--json")
    result.json()
    lines = result.err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("note: ") and " 1 " in line for line in lines)
    assert "Warning" not in result.err


def test_every_command_is_in_the_table() -> None:
    assert set(COMMANDS) >= {"fit", "topics", "tags", "explain", "related", "evaluate", "datasets", "demo"}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert "--json" in result.out
    assert result.err == ""
    assert re.findall(r"<\w+>|default:\s+\(", result.out) == [], "types, or defaults in parentheses"


def shown_defaults(group: type) -> dict[str, str]:
    """Return the defaults that the help shows for the options of a group, without those in words."""
    helps = {item.name: item.metadata["option"].help for item in fields(group)}
    found = {name: re.search(r"\[default: (.+)\]\[/dim\]$", text) for name, text in helps.items()}
    shown = {name: match[1] for name, match in found.items() if match}
    in_words = {"no limit", "Unicode words", "lowercase", "all cores", "by preset", "by model"}
    in_words |= {"1; 2 from 100, 3 from 1,000 documents on", "no tokenizer"}
    in_words.add("strip-html")
    return {name: text for name, text in shown.items() if text not in in_words}


def test_help_shows_the_declared_defaults() -> None:
    estimator = inspect.signature(tt.MarkovTTM).parameters
    for name, text in shown_defaults(ModelOptions).items():
        assert text == str(estimator[PARAMETERS[name]].default)
    ttm = inspect.signature(tt.TTM).parameters
    assert all(ttm[name].default == estimator[name].default for name in ttm if name != "preset")
    recipe = tt.TextRecipe()
    for name, text in shown_defaults(TextOptions).items():
        assert text == str(recipe.ngram_range[1] if name == "ngrams" else getattr(recipe, name))


def test_a_report_replaces_only_a_report(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<html>mine</html>")
    assert run("report", model, "-o", path).code == 2
    assert path.read_text() == "<html>mine</html>"
    assert run("report", model, "-o", path, "--overwrite").code == 0
    assert run("report", model, "-o", path).code == 0


def test_report_loads_the_model_once(model: Path, tmp_path: Path) -> None:
    from tagtopics.models import persistence

    with mock.patch.object(persistence, "_read_model", wraps=persistence._read_model) as read_model:
        assert run("report", model, "-o", tmp_path / "r.html").code == 0
    assert read_model.call_count == 1


def test_help_and_version() -> None:
    assert all(command in run("--help").out for command in COMMANDS)
    assert run().out == run("--help").out
    assert "<bool>" not in run("--help").out
    assert run("--version").out.startswith("tagtopics 0.")
