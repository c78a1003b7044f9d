"""How many topics: the rule, the table, topics found again, the command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.analysis.choose.choose import (
    GridRow,
    choice_rows,
    fit_grid,
    make_restarts,
    recommend,
)
from tagtopics.analysis.choose.compare import FOUND, found_again, match_topics
from tagtopics.cli import main
from tagtopics.errors import InputError


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    return make_tagged_corpus(n_docs=300, n_words=200, n_topics=6, n_tags=10, doc_length=50, seed=3).corpus


@pytest.fixture(scope="module")
def choice(corpus: tt.Corpus) -> Any:
    return tt.choose_topics(corpus, (3, 6, 12), restarts=4, seed=5)


def row(n_topics: int, scores: list[float], again: float) -> GridRow:
    found = np.full((len(scores), len(scores)), again)
    np.fill_diagonal(found, 1.0)
    return GridRow(n_topics, np.array(scores), found, [])


def test_the_planted_number_is_recommended(choice: Any) -> None:
    assert choice.recommended == 6
    assert choice.interval[0] <= 6 <= choice.interval[1]
    assert [r.n_topics for r in choice.rows] == [3, 6, 12]


def test_results_do_not_depend_on_threads(corpus: tt.Corpus, choice: Any) -> None:
    again = tt.choose_topics(corpus, (12, 3, 6), restarts=4, seed=5, n_jobs=1)
    assert again.to_dict() == choice.to_dict()


def test_scores_are_document_completion_on_documents_set_aside(corpus: tt.Corpus) -> None:
    restart = make_restarts(corpus, 2, 5)[1]
    fitted = fit_grid(make_restarts(corpus, 2, 5), [4], tt.LDA())[0]
    model = tt.LDA(4, random_state=restart.seed).fit_topics(restart.train)
    theta = model.transform(restart.seen).astype(np.float64)
    probability = (theta @ model.components_.astype(np.float64))[restart.hidden.nonzero()]
    expected = (restart.hidden.data * np.log(probability)).sum() / restart.hidden.data.sum()
    assert fitted.scores[1] == pytest.approx(expected, abs=1e-5)
    assert restart.train.n_docs + restart.seen.shape[0] == corpus.n_docs
    assert fitted.scores[0] != fitted.scores[1]


def test_found_again_counts_one_to_one_matches() -> None:
    topics = np.eye(4)[:3] + 0.01
    shuffled = topics[[2, 0, 1]]
    pairs = match_topics(topics, shuffled)
    assert pairs.columns.tolist() == [1, 2, 0]
    assert found_again(topics, shuffled).all()
    twice = np.array([topics[0], topics[0], topics[1]])
    assert found_again(topics, twice).tolist() == [True, True, False]
    assert 0 < FOUND < 1


def test_the_rule_counts_topics_found_again_at_the_best_score() -> None:
    fitted = [row(10, [-6.0] * 3, 0.9), row(25, [-5.6] * 3, 0.8), row(35, [-5.5] * 3, 0.74),
              row(50, [-5.7] * 3, 0.4)]  # fmt: skip
    found = recommend(fitted, fitted, 0)
    assert (found.recommended, found.best_score) == (25, 35)
    assert found.estimate == found.half_estimate == pytest.approx(35 * 0.74)
    assert found.interval == (25, 41)  # 41.8 is between 35 and 50, by ratio


def test_the_rule_asks_the_next_number_too_and_never_exceeds_the_best() -> None:
    fitted = [row(10, [-6.0] * 3, 0.9), row(25, [-5.8] * 3, 0.5), row(50, [-5.5] * 3, 0.7),
              row(100, [-5.6] * 3, 0.6)]  # fmt: skip
    found = recommend(fitted, fitted, 0)
    assert (found.recommended, found.estimate) == (50, 50.0)
    assert found.interval == (25, 70)


def test_a_score_that_still_rises_gives_no_recommendation() -> None:
    rising = [row(10, [-6.0] * 3, 0.9), row(20, [-5.8] * 3, 0.5), row(40, [-5.6] * 3, 0.5)]
    found = recommend(rising, rising, 0)
    assert (found.recommended, found.interval, found.best_score) == (None, (40, None), 40)


def test_some_restarts_with_the_best_score_at_the_largest_number_leave_no_upper_end() -> None:
    fitted = [row(10, [-7.0] * 4, 1.0), row(20, [-6.0] * 4, 1.0), row(40, [-5.8, -6.9, -5.8, -5.8], 1.0)]
    found = recommend(fitted, fitted, 0)
    assert found.best_score == found.recommended == 20
    assert found.interval[1] is None
    assert "try larger numbers" in found.notes[0]


def test_an_estimate_that_grows_with_the_documents_has_no_upper_end() -> None:
    fitted = [row(5, [-6.0] * 3, 0.9), row(10, [-5.5] * 3, 0.9), row(20, [-5.7] * 3, 0.3)]
    half = [row(5, [-6.0] * 3, 0.9), row(10, [-6.1] * 3, 0.4)]
    found = recommend(fitted, half, 0)
    assert (found.recommended, found.interval) == (10, (5, None))
    assert found.half_estimate == pytest.approx(4.5)


def test_the_grid_is_extended_until_the_best_number_is_inside(corpus: tt.Corpus) -> None:
    larger = tt.choose_topics(corpus, (2, 3), restarts=2, seed=5)
    assert [r.n_topics for r in larger.rows] == [2, 3, 4, 6, 9]
    assert larger.recommended == 6
    smaller = tt.choose_topics(corpus, (12, 30), restarts=2, seed=5)
    assert [r.n_topics for r in smaller.rows] == [3, 6, 12, 30]
    assert smaller.recommended == 6


def test_at_the_limit_of_the_extension_there_is_no_recommendation() -> None:
    corpus = make_tagged_corpus(n_docs=400, n_words=300, n_topics=20, n_tags=10, doc_length=80, seed=3).corpus
    choice = tt.choose_topics(corpus, (2, 3), restarts=2, seed=0)
    assert choice.rows[-1].n_topics == 12
    assert (choice.recommended, choice.interval) == (None, (12, None))
    assert str(choice).startswith(
        "no recommendation: the score still rises at 12 topics (interval: 12 or more)"
    )
    assert choice.notes[0].startswith("choose by purpose")


def test_thin_documents_are_named() -> None:
    corpus = make_tagged_corpus(n_docs=150, n_words=600, n_topics=12, n_tags=10, doc_length=12, seed=3).corpus
    choice = tt.choose_topics(corpus, (2, 4, 8, 16), restarts=4, seed=0)
    assert choice.interval[1] is None
    assert choice.recommended is None or "too few or too short" in choice.notes[0]


def test_error_leaves_out_what_all_numbers_share() -> None:
    shared = np.array([0.0, 1.0, 2.0, 3.0])
    rows = choice_rows([row(5, list(shared - 6), 0.5), row(10, list(shared - 5), 0.7)])
    assert rows[0].score == pytest.approx(-4.5)
    assert rows[0].error == pytest.approx(0)
    assert [r.stability for r in rows] == pytest.approx([0.5, 0.7])


@pytest.mark.parametrize(
    ("topics", "restarts", "seed"), [((10,), 5, 0), ((1, 5), 5, 0), ((5, 10), 1, 0), ((5, 10), 5, -1)]
)
def test_wrong_arguments_are_one_line(
    corpus: tt.Corpus, topics: tuple[int, ...], restarts: int, seed: int
) -> None:
    with pytest.raises(InputError, match=r"^choose: [^\n]+$"):
        tt.choose_topics(corpus, topics, restarts=restarts, seed=seed)


def test_command_prints_the_contract(planted_folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    arguments = ["choose", planted_folder, "--topics", "6,12", "--restarts", "2", "--seed", "1", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"recommended", "interval", "rows"}
    assert set(found["rows"][0]) == {"n_topics", "score", "error", "stability"}
    assert main(["choose", planted_folder, "--topics", "ten"]) == 2
    assert main(["choose", planted_folder, "--topics", "10"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_command_prints_a_table(planted_folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["choose", planted_folder, "--topics", "6,12,20", "--restarts", "2"]) == 0
    out = capsys.readouterr().out
    assert "recommended: 12 topics" in out
    assert "2 restarts; score" in out
