"""The page about tags: figures, goals and losses, from records that are made up here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from benchmarks.synthetic import make_tagged_corpus
from reproduction import ROOT
from reproduction.tags import page, results, tasks, wrong


def curves(corpus: str, seed: int, known: float, shuffled: float = 1.0) -> dict[str, Any]:
    factors = {
        "lda": 1.0,
        "known": known,
        "inferred": 0.99,
        "known, no joint part": known,
        "shuffled": shuffled,
        "lda default": 1.01,
        "paper hidden": 1.05,
        "paper known": 0.97,
    }
    names = ("hidden.flat", "hidden.base", "known.flat", "known.base", "known.joint", "known.mean.")
    settings = dict.fromkeys((*names, "known.words.", "shrinkage"), 1.0)
    values = {name: [100.0 * factor] * 6 for name, factor in factors.items()}
    return {"corpus": corpus, "seed": seed, "curves": values, "settings": settings}


def test_a_change_has_the_interval_of_its_splits() -> None:
    rows = [curves("cora", 1, 0.90), curves("cora", 2, 0.94)]
    found = page.against_lda(rows, "known", 1)
    assert found.mean == pytest.approx(-8.0)
    assert found.half == pytest.approx(t.ppf(0.95, 1) * np.std([-10, -6], ddof=1) / np.sqrt(2))
    assert page.against_lda(rows[:1], "known", 1).text() == "-10.0"


def test_goals_that_are_missed_come_first_with_the_corpora_that_miss_them() -> None:
    rows = {"cora": [curves("cora", 1, 0.8)], "med": [curves("med", 1, 0.95, shuffled=1.02)]}
    lines = page.goal_table(list(page.goals(rows, {}, {}, {}, {})))
    missed = next(line for line in lines if "tags known, 5 % seen: 8 % below" in line)
    assert missed == "| tags known, 5 % seen: 8 % below LDA | 1 of 2 | med -5.0 % |"
    met = [i for i, line in enumerate(lines[2:]) if line.endswith("| – |")]
    assert met == list(range(met[0], len(lines) - 2))  # all after the last one that is missed
    assert not any("links" in line for line in lines)  # not measured


def test_tasks_are_compared_split_by_split() -> None:
    rows = {
        "cora": [
            {"figures": {"links": {"LDA": 0.60, "TTM": 0.63}}},
            {"figures": {"links": {"LDA": 0.62, "TTM": 0.63}, "credit": {"TTM": 0.5}}},
        ]
    }
    (part,) = page.task_goal(rows, "links", "TTM", "LDA", 1e-9)
    assert part.met
    assert part.figure.startswith("+2.0 ± ")
    assert page.task_goal(rows, "credit", "TTM", "naive Bayes") == []
    assert "| cora | 2 | 0.610 | 0.630 |" in page.task_table(rows, "links")


def test_peers_are_compared_with_tags_known() -> None:
    ours = {"curve": [90.0] * 6, "sweeps": 40, "seconds": 2.0}
    systems = {"tagtopics": ours, "DMR": {"curve": [100.0] * 6, "sweeps": 300, "seconds": 9.0}}
    rows = {"cora": [{"seed": 1, "systems": systems}]}
    (part,) = page.peer_goal(rows, "DMR", 5)
    assert (part.figure, part.met) == ("-10.0 %", True)
    (part,) = page.faster_goal(rows, "DMR")
    assert (part.figure, part.met) == ("4.5 times", True)
    assert page.peer_goal(rows, "PLDA", 5) == page.faster_goal(rows, "PLDA") == []
    text = page.page({"cora": [curves("cora", 1, 0.8)]}, {}, rows, {}, {}, {})
    assert "| cora | 1 | DMR | 300 | 9.0 | 100 |" in text
    assert "Time of a fit" not in text


def test_similar_documents_have_tables_of_their_own() -> None:
    names = {"lda": 100.0, "hidden+similar": 90.0, "known+similar": 80.0, "shuffled+similar": 90.0}
    record = {"seed": 2, "curves": {name: [value] * 6 for name, value in names.items()}}
    cost = {"sweeps": 1, "seconds": 1.0}
    systems = {"tagtopics": {"curve": [99.0] * 6} | cost, "DMR": {"curve": [100.0] * 6} | cost}
    peers = {"cora": [{"seed": seed, "systems": systems} for seed in (1, 2)]}
    (part,) = page.peer_goal(peers, "DMR", 80, {"cora": [record]})
    assert (part.figure, part.met) == ("-20.0 %", True)  # of the split that both were run with
    assert page.peer_goal(peers, "DMR", 80, {}) == []
    text = page.page({"cora": [curves("cora", 1, 0.8)]}, {}, peers, {}, {"cora": [record]}, {})
    assert "| tags known and similar documents, 80 % seen: below tomotopy's DMR | 1 of 1 | – |" in text
    assert "### Tags known\n\n| corpus" in text
    assert "| cora | 1 | -20.0 | -20.0 |" in text


def test_peers_of_one_split_may_have_records_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [
        {"corpus": "med", "seed": seed, "systems": {"tagtopics": seed, peer: 1}}
        for seed, peer in ((1, "DMR"), (2, "DMR"), (1, "PLDA"))
    ]
    monkeypatch.setattr(page, "records", lambda path: rows)
    first, second = page.by_corpus("systems")["med"]
    assert set(first["systems"]) == {"tagtopics", "DMR", "PLDA"}
    assert set(second["systems"]) == {"tagtopics", "DMR"}


def test_the_time_of_a_fit_is_compared_with_the_first_version() -> None:
    shared = {"corpus": "med", "documents": 2000, "sweeps": 100}
    rows = {
        "med": [shared | {"system": "0.1.0", "seconds": 2.0}, shared | {"system": "default", "seconds": 3.2}]
    }
    assert page.fit_goal(rows) == [page.Part("med", "1.60 times", False)]
    assert page.fit_table(rows)[-1] == "| med | 2,000 | 2.0 | 100 | 3.2 | 100 | 1.60 |"
    assert page.fit_goal({"med": rows["med"][:1]}) == []


def test_memory_is_judged_by_the_record_of_a_million_documents(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page, "LARGE", tmp_path / "record.json")
    assert page.memory_goal() == []
    page.LARGE.write_text('{"peak_mb": 5000.0}')
    assert page.memory_goal() == [page.Part("a million documents", "5,000 MB", False)]


def test_hidden_tags_are_judged_where_they_are_worst() -> None:
    row = curves("cora", 1, 0.8)
    row["curves"]["lda default"] = [100.0, 100.0, 99.0, 101.0, 100.0, 100.0]
    (part,) = page.hidden_goal({"cora": [row]}, 0.3)
    assert (part.figure, part.met) == ("+1.0 %", False)


def test_splits_that_have_a_record_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"corpus": "cora", "seed": 2}\n')
    assert list(results.waiting(["cora", "med/3"], path)) == [
        ("cora", 1),
        ("cora", 3),
        ("med", 3),
        ("cora", 4),
        ("cora", 5),
    ]


def test_tasks_of_a_small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_tagged_corpus(n_docs=150, n_words=120, n_groups=0, n_topics=4, n_tags=6, seed=1).corpus
    corpus = replace(made, labels=None)
    monkeypatch.setattr(tasks, "read", lambda name: corpus)
    monkeypatch.setattr(tasks, "TOPICS", 4)
    monkeypatch.setattr(tasks, "SWEEPS", 10)
    figures = tasks.measure("made up", 1)["figures"]
    assert set(figures["links"]) == {"LDA", "TTM", "TTM-H"}
    assert figures["NPMI"]["LDA"] == figures["NPMI"]["TTM"]  # the same topics
    assert "classes" not in figures  # no labels


def test_wrong_tags_are_as_many_and_none_of_the_own() -> None:
    corpus = make_tagged_corpus(n_docs=40, seed=0).corpus
    rare = np.ones(corpus.n_tags)
    rare[0] = 0.0  # never drawn
    drawn = wrong.wrong_tags(corpus.tags, rare, np.random.default_rng(0))
    assert drawn.sum(1).tolist() == corpus.tags.sum(1).tolist()
    assert drawn.multiply(corpus.tags).sum() == 0
    assert drawn[:, [0]].sum() == 0


@pytest.mark.parametrize("words", wrong.SEEN_WORDS)
def test_words_seen_are_not_those_to_predict(words: str) -> None:
    counts = make_tagged_corpus(n_docs=40, seed=0).corpus.counts
    length = counts.sum(1)
    seen, hidden = wrong.split_words(counts, words, seed=0)
    assert (hidden.sum(1) == length - np.ceil(0.8 * length)).all()
    most = np.ceil(0.5 * length) if words == "half" else int(words.split()[0])
    assert (seen.sum(1) == np.minimum(most, np.ceil(0.8 * length))).all()
    assert ((counts - seen - hidden).toarray() >= 0).all()
    again = wrong.split_words(counts, "1 word", seed=0)[1]
    assert (again != hidden).nnz == 0  # the words to predict are the same for all


def test_the_page_has_what_wrong_tags_cost() -> None:
    factors = {"lda": 1.0, "known": 0.7, "inferred": 0.9, "similar": 0.9, "by frequency": 1.4, "uniform": 1.3}
    record = {"corpus": "cora", "seed": 1, "curves": {key: [100.0 * f] * 4 for key, f in factors.items()}}
    text = page.page({"cora": [curves("cora", 1, 0.8)]}, {}, {}, {}, {}, {"cora": [record]})
    costs = text.partition("### Wrong tags, drawn by frequency")[2]
    assert "| cora | 1 | +40.0 | +40.0 | +40.0 | +40.0 |" in costs
    assert "| corpus | splits | 1 word | 5 words | 20 words | half |" in costs


@pytest.mark.parametrize("name", ["README.md", "paper.md"])
def test_first_pages_have_the_figures_of_the_records(name: str) -> None:
    rows = page.by_corpus("wrong")
    changes = {
        (system, place): [page.against_lda(members, system, place).mean for members in rows.values()]
        for system in wrong.ROWS
        for place in (0, 3)  # one word, half of the words
    }
    text = " ".join((ROOT / name).read_text().split())
    for place in (0, 3):
        gains, costs = ([abs(x) for x in changes[system, place]] for system in ("known", "by frequency"))
        assert f"by {min(gains):.0f} to {max(gains):.0f} % when" in text
        assert f"{min(costs):.0f} to {max(costs):.0f} % with" in text
        assert min(changes["by frequency", place]) > 0 > max(changes["known", place])
    pairs = zip(changes["inferred", 3], changes["known", 3], strict=True)
    assert sum(a < b for a, b in pairs) == 6
    assert len(rows) == 7
    assert "on 6 of 7" in text
