"""Exports: the model's own numbers in every format, hostile names included, and nothing foreign replaced."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.explore.record.export import FORMATS, Edge, Node, graphml, tag_network

pytest_plugins = ("explore_fixtures",)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_tables_hold_the_models_numbers(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    folder = tt.export(model, tmp_path / "tables", corpus=corpus)
    names = {path.stem for path in folder.glob("*.csv")}
    assert names == {"topics", "topic_words", "documents", "tags", "words", "credits"}
    topics = rows_of(folder / "topics.csv")
    assert [row["name"] for row in topics] == list(model.topic_names())
    assert [float(row["share"]) for row in topics] == pytest.approx(model.topic_shares().tolist())
    documents = rows_of(folder / "documents.csv")
    assert len(documents) == corpus.n_docs * 5
    shares = np.array([float(row["share"]) for row in documents]).reshape(-1, 5)
    assert shares == pytest.approx(model.doc_topic_, abs=1e-6)
    tags = rows_of(folder / "tags.csv")
    assert {row["tag"] for row in tags} == set(model.tag_names_)
    assert sum(float(row["share"]) for row in tags) == pytest.approx(len(model.tag_names_), rel=1e-5)
    words = rows_of(folder / "words.csv")
    assert sum(float(row["tokens"]) for row in words) == pytest.approx(corpus.counts.sum(), rel=1e-4)
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows_of(folder / "credits.csv"):
        totals[row["id"], row["word"]] += float(row["credit"])
    assert list(totals.values()) == pytest.approx([1.0] * len(totals), abs=1e-5)


def test_parquet_has_the_same_tables(model: tt.TTM, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    tt.export(model, tmp_path / "p", "parquet")
    table = polars.read_parquet(tmp_path / "p" / "topics.parquet")
    assert table["name"].to_list() == tt.export_tables(model)["topics"]["name"]
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(tt.export_tables(model)["topic_words"])) == 5 * min(
        50, len(model.vocabulary_)
    )


def test_networks_are_xml_with_the_names_as_text(hostile_model: tt.TTM, tmp_path: Path) -> None:
    path = tt.export(hostile_model, tmp_path / "n.graphml", "graphml")
    root = ET.parse(path).getroot()
    nodes = [element for element in root.iter() if element.tag.endswith("}node")]
    assert len(nodes) == 3 + len(hostile_model.tag_names_)
    texts = {element.text for element in root.iter()}
    expected, _ = tag_network(hostile_model, None)
    assert {"".join(c if c.isprintable() else "" for c in node.label) for node in expected} <= {
        "".join(c if c.isprintable() else "" for c in text) for text in texts if text
    }
    assert "<script" not in path.read_text(encoding="utf-8").lower()
    ids = {node.get("id") for node in nodes}
    for edge in (element for element in root.iter() if element.tag.endswith("}edge")):
        assert {edge.get("source"), edge.get("target")} <= ids


def test_names_that_xml_cannot_hold_are_replaced() -> None:
    nodes = [Node("tag0", 'a\0\x08"<&>\ud800', "tag", 1.0, 0), Node("topic0", "b", "topic", 1.0, 0)]
    root = ET.fromstring(graphml(nodes, [Edge("tag0", "topic0", "topic of tag", 0.5)]).encode())
    assert any("<&>" in (element.text or "") for element in root.iter())


def test_edges_are_shares_and_common_documents(model: tt.TTM, corpus: tt.Corpus) -> None:
    nodes, edges = tag_network(model, corpus)
    number = {node.id: i for i, node in enumerate(nodes)}
    tags = (corpus.tags.toarray() > 0).astype(int)
    both = tags.T @ tags
    for edge in edges:
        s = int(edge.source.removeprefix("tag"))
        if edge.kind == "documents":
            assert edge.weight == both[s, int(edge.target.removeprefix("tag"))] >= 2
        else:
            k = int(edge.target.removeprefix("topic"))
            assert edge.weight == pytest.approx(model.tag_means()[s, k])
        assert {edge.source, edge.target} <= set(number)
    assert {edge.kind for edge in edges} == {"documents", "topic of tag"}


def test_pyldavis_accepts_its_export(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    path = tt.export(model, tmp_path / "vis.json", "pyldavis", corpus=corpus)
    arguments: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert sum(arguments["doc_lengths"]) == sum(arguments["term_frequency"]) == corpus.counts.sum()
    for rows in (arguments["topic_term_dists"], arguments["doc_topic_dists"]):
        assert np.sum(rows, axis=1) == pytest.approx(1)
    pyldavis = pytest.importorskip("pyLDAvis")
    try:
        prepared = pyldavis.prepare(**arguments, n_jobs=1)
    except (TypeError, AttributeError) as error:  # pyLDAvis lags behind new versions of pandas
        pytest.skip(f"pyLDAvis does not run here: {error}")
    assert len(prepared.topic_coordinates) == 5


def test_foreign_files_are_never_replaced(model: tt.TTM, tmp_path: Path) -> None:
    folder = tt.export(model, tmp_path / "t", "parquet")
    tt.export(model, folder, "csv")  # our own is replaced
    assert not (folder / "topics.parquet").exists()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(tt.InputError, match="not"):
        tt.export(model, folder, "csv")
    assert (folder / "notes.txt").read_text() == "mine"
    file = tmp_path / "x.graphml"
    file.write_text("mine")
    with pytest.raises(tt.InputError):
        tt.export(model, file, "graphml")
    tt.export(model, file, "graphml", overwrite=True)
    with pytest.raises(tt.InputError, match="unknown format"):
        tt.export(model, tmp_path / "y", "docx")
    with pytest.raises(tt.InputError, match="needs the documents"):
        tt.export(model, tmp_path / "z", "pyldavis")
    assert not (tmp_path / "z").exists()


def test_another_corpus_is_refused(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="not the one"):
        tt.export(model, tmp_path / "t", corpus=corpus.select(np.arange(3)))


def test_any_model_can_be_exported(corpus: tt.Corpus, tmp_path: Path) -> None:
    lda = tt.LDA(2, max_iter=2, random_state=0).fit_topics(corpus)
    labelled = tt.LabeledLDA(max_iter=2, random_state=0).fit(corpus)
    for number, model in enumerate((lda, labelled)):
        for format in FORMATS:
            tt.export(model, tmp_path / f"{number}-{format}", format, corpus=corpus)


def test_notebooks_show_escaped_tables(hostile_model: tt.TTM, model: tt.TTM, corpus: tt.Corpus) -> None:
    from explore_support import make_hostile_corpus

    hostile = make_hostile_corpus()
    shown = [
        hostile._repr_html_(),
        hostile_model.explain(hostile)._repr_html_(),
        hostile_model.tag_profile(hostile_model.tag_names_[0], n_words=50)._repr_html_(),
        hostile_model.topic_table(50)._repr_html_(),
    ]
    for html in shown:
        assert "<table>" in html
        assert "<script" not in html.lower()
        assert "onerror=" not in html.lower() or "&lt;" in html
        ET.fromstring(f"<div>{html}</div>".replace("\0", ""))
    assert str(len(model.explain(corpus))) in model.explain(corpus)._repr_html_().replace(",", "")


def test_spreadsheets_run_no_name(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "+1", "-2", "@home"]
    rows = [{"id": name, "text": f"{name} word", "tags": [name]} for name in names * 2]
    recipe = tt.TextRecipe(token_pattern=r"\S+", min_length=1)
    corpus = tt.read_corpus([row | {"id": f"{row['id']}{i}"} for i, row in enumerate(rows)], recipe=recipe)
    model: Any = tt.TTM(2, max_iter=2, random_state=0).fit_topics(corpus)
    cells = [
        (column, cell)
        for path in tt.export(model, tmp_path / "tables", corpus=corpus).glob("*.csv")
        for row in rows_of(path)
        for column, cell in row.items()
    ]
    assert {f"'{name}" for name in names} <= {cell for column, cell in cells if column == "tag"}
    risky = [cell for _, cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert [cell for cell in risky if not re.fullmatch(r"-?[\d.e+-]+", cell)] == []
