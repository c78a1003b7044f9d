"""Formulas of `effects`: terms, splines, interactions, clusters, names and units."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.analysis.effects.effects import make_design
from tagtopics.analysis.effects.measure import Sampling
from tagtopics.analysis.effects.regressors import Factor, clusters_of, kind_matrix, parse_terms
from tagtopics.cli import main
from tagtopics.corpus.recipe import Columns
from tagtopics.errors import InputError

D = 120
A, B, C = Factor("a"), Factor("b"), Factor("c")


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    """Documents with a venue (a few have none), a rating, a date and a blog."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(60, 0.1), size=3)
    counts = np.array([rng.multinomial(40, rng.dirichlet(np.ones(3)) @ topics) for _ in range(D)])
    tags = [
        [f"rating:{'LC'[d % 2]}", f"blog:{d // 6}", *[f"venue:{'xyz'[d % 3]}"] * (d % 10 > 0)]
        for d in range(D)
    ]
    dates = tuple(f"{2000 + d % 12}-07" for d in range(D))
    return replace(tt.read_corpus(counts, tags=tags), dates=dates, columns=Columns(date="Jahr"))


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> tt.LDA:
    return tt.LDA(3, random_state=0).fit_topics(corpus)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("a", [(A,)]),
        ("~ a", [(A,)]),
        (" ~a+b ", [(A,), (B,)]),
        ("~ a:b", [(A, B)]),
        ("~ a * b", [(A,), (B,), (A, B)]),
        ("~ a * b * c", [(A,), (B,), (C,), (A, B), (A, C), (B, C), (A, B, C)]),
        ("~ a*b + b:a + b", [(A,), (B,), (A, B)]),
        ("~ a * b:c", [(A,), (B, C), (A, B, C)]),
        ("~ s(a)", [(Factor("a", 10),)]),
        ("~ s( a, 5 ) : `b + c`", [(Factor("a", 5), Factor("b + c"))]),
        ("~ Straße:été", [(Factor("Straße"), Factor("été"))]),
    ],
)  # fmt: skip
def test_formulas(formula: str, terms: Any) -> None:
    assert parse_terms([formula]) == terms


@pytest.mark.parametrize(
    "formula",
    ["", "~", "~ a +", "~ + a", "~ a b", "~ a - b", "~ 1 + a", "~ s()", "~ s(a", "~ s(a, 2)",
     "~ s(a, 99)", "~ a::b", "~ (a + b)", "~ log(a)", "y ~ a", "~ s(a + b)", "~ nothing", "~ s(rating)",
     "~ s(x):s(y)", "~ s(few)", "~ one", "~ `a"],
)  # fmt: skip
def test_wrong_formulas_are_one_line(model: tt.LDA, corpus: tt.Corpus, formula: str) -> None:
    values = {"x": np.arange(D), "y": np.arange(D), "a": np.arange(D), "b": np.arange(D), "one": np.ones(D),
              "few": np.arange(D) % 3}  # fmt: skip
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        tt.effects(model, corpus, on=[formula], values=values, refits=10)


def test_an_interaction_is_the_difference_of_slopes(corpus: tt.Corpus) -> None:
    rng = np.random.default_rng(1)
    x, Y = rng.normal(size=D), rng.normal(size=(D, 2))
    found = make_design(corpus, parse_terms(["rating * x"]), {"x": x}, [], 1).estimate(np.arange(D), Y)
    is_l = np.arange(D) % 2 == 0
    slopes = [np.polyfit(x[part], Y[part], 1)[0] for part in (~is_l, is_l)]
    names = kind_matrix(corpus, "rating")[1]
    assert names == ("rating:C", "rating:L")
    np.testing.assert_allclose(found[2], np.mean(slopes, axis=0), atol=1e-9)  # as many of each rating
    np.testing.assert_allclose(found[3:5], slopes - np.mean(slopes, axis=0), atol=1e-9)


def test_tags_of_documents_without_one_are_compared_with_each_other(corpus: tt.Corpus) -> None:
    Y = np.random.default_rng(2).normal(size=(D, 2))
    found = make_design(corpus, [(Factor("venue"),)], {}, [], 1).estimate(np.arange(D), Y)
    has = kind_matrix(corpus, "venue")[0].toarray() > 0
    assert 0 < (~has.any(1)).sum() < D
    mean = Y[has.any(1)].mean(0)
    np.testing.assert_allclose(found, [Y[has[:, t]].mean(0) - mean for t in range(3)], atol=1e-9)


def test_a_spline_follows_a_curve(corpus: tt.Corpus) -> None:
    x = np.random.default_rng(3).uniform(0, 6, D)
    design = make_design(corpus, parse_terms(["rating + s(x)"]), {"x": x}, [], 1)
    shift = np.where(np.arange(D) % 2 == 0, 0.3, 0.0)
    found = design.estimate(np.arange(D), (np.sin(x) + shift)[:, np.newaxis])
    at = np.array(design.parts[1].at)
    np.testing.assert_allclose(found[2:, 0], np.sin(at) - np.sin(x).mean(), atol=0.01)
    np.testing.assert_allclose(found[:2, 0], [-0.15, 0.15], atol=0.01)
    assert (at[0], at[-1]) == (x.min(), x.max())


def test_texts_and_numbers_of_a_table_are_terms(model: tt.LDA, corpus: tt.Corpus) -> None:
    values: dict[str, Any] = {
        "side": [None if d == 3 else "north" if d % 4 else "south" for d in range(D)],
        "x": np.arange(D),
    }
    found = tt.effects(model, corpus, on=["side + s(x, 4)", "Jahr"], values=values, refits=10)
    assert found.terms == ("side:north", "side:south", "s(x)", "Jahr")
    assert found.units == ("points", "points", "points", "points per year")
    assert [title for title, _, _ in found.tables()] == ["side", "s(x)", "Jahr"]
    assert found.left_out == 0
    assert all(len(curve) == 21 for curve in found.curves("s(x)"))
    assert [row.at for row in found.curves("s(x)")[0]] == np.linspace(0, D - 1, 21).tolist()
    assert "s(x) = 0" in repr(found)


def test_the_column_of_the_dates_is_a_name_of_the_date(model: tt.LDA, corpus: tt.Corpus) -> None:
    by_column, by_date = (tt.effects(model, corpus, on=[name], refits=10) for name in ("Jahr", "date"))
    assert [replace(row, term="date") for row in by_column.rows] == list(by_date.rows)
    bare = replace(corpus, columns=None)  # as saved with a model, which knows the columns
    assert tt.effects(model, bare, on=["Jahr"], refits=10).rows == by_column.rows
    assert tt.trends(model, bare, time="Jahr", refits=10).unit == "points per year"
    assert "points per year" in repr(by_column)


def test_one_term_may_be_given_alone(model: tt.LDA, corpus: tt.Corpus) -> None:
    alone = tt.effects(model, corpus, on="~ Jahr", kinds="venue", given="blog", refits=10)
    assert alone == tt.effects(model, corpus, on=["~ Jahr"], kinds=["venue"], given=["blog"], refits=10)
    assert alone.given == ("blog",)


def test_clusters_are_sampled_as_a_whole(model: tt.LDA, corpus: tt.Corpus) -> None:
    clusters, rng = clusters_of(corpus, "blog", {}), np.random.default_rng(5)
    sampling = Sampling(10, 0, 0.9, clusters=clusters)
    times = np.bincount(sampling.draw(4, D), minlength=D)
    assert times.max() > 1 > times.min()
    assert all(len(set(times[clusters == c])) == 1 for c in range(20))
    lone = clusters_of(replace(corpus, tags=corpus.tags[:, :0], tag_names=()), "x", {"x": np.full(D, np.nan)})
    assert len(set(lone.tolist())) == D
    # A number that all documents of a cluster share has as many values as there are clusters.
    design = make_design(corpus, [(Factor("x"),)], {"x": np.repeat(rng.normal(size=20), 6)}, [], 1)
    shares = np.repeat(rng.normal(size=(20, 1)), 6, axis=0)
    plain, whole = (
        np.std([design.estimate(rows, shares[rows]) for rows in (way.draw(b, D) for b in range(300))])
        for way in (Sampling(10, 0, 0.9), sampling)
    )
    assert whole == pytest.approx(np.sqrt(6) * plain, rel=0.3)
    found = [tt.effects(model, corpus, on=["Jahr"], refits=10, cluster=name) for name in (None, "blog")]
    assert [row.estimate for row in found[0].rows] == [row.estimate for row in found[1].rows]
    assert [row.low for row in found[0].rows] != [row.low for row in found[1].rows]
    with pytest.raises(InputError, match=r"^cluster: 2 clusters are too few"):
        tt.effects(model, corpus, on=["Jahr"], cluster="rating", refits=10)


def test_names_of_topics_and_a_table_for_each_term(
    model: tt.LDA, corpus: tt.Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, table = str(tmp_path / "m.tt"), tmp_path / "meta.csv"
    tt.curate(model, "rename", topics=[1], name="harbour news").save(folder, corpus=corpus)
    table.write_text("day,side\n" + "".join(f"{d},{'ns'[d % 2]}\n" for d in range(D)))
    common = [folder, "--refits", "10"]
    assert main(["effects", *common, "--on", "Jahr", "--kind", "rating"]) == 0
    out = capsys.readouterr().out
    assert out.index("Jahr: points per year") < out.index("rating: points") < out.index("topics as measured")
    assert out.count("harbour news") == 3  # year, two ratings
    assert "similarity" in out
    assert "in the model" in out
    assert main(["trends", *common, "--on", "Jahr"]) == 0
    out = capsys.readouterr().out
    assert "topics over time: points per year" in out
    assert "harbour news" in out
    formula = ["--on", "~ side * s(day, 4)", "--values", str(table), "--cluster", "blog"]
    assert main(["effects", *common, *formula]) == 0
    assert "side:n × s(day): points" in capsys.readouterr().out
    assert main(["effects", *common, *formula, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["titles"] == ["side", "side", "s(day)", "side × s(day)", "side × s(day)"]
    assert {topic["name"] for topic in found["topics"]} >= {"harbour news"}
    for wrong in (
        [],
        ["--on", "side"],
        ["--on", "Jahr", "--values", folder],
    ):
        assert main(["effects", *common, *wrong]) == 2
    assert main(["effects", *common, "--on", "x", "--values", __file__]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_other_documents_may_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng, file, folder = np.random.default_rng(0), tmp_path / "d.jsonl", str(tmp_path / "m.tt")
    words = [["tide", "wave", "coast"], ["oven", "bread", "flour"]]
    rows = [{"text": " ".join(rng.choice(words[d % 2], 20)), "year": 2000 + d % 7} for d in range(60)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["fit", str(file), "--date", "year", "--topics", "2", "--out", folder]) == 0
    found = []
    for command in ("effects", "trends"):
        for documents in ([], [str(file)]):
            capsys.readouterr()
            assert main([command, folder, *documents, "--on", "year", "--refits", "10", "--json"]) == 0
            found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[2] == found[3]
