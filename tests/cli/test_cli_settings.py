"""`fit` saves a model with every setting and every odd collection, and the model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_running import ROWS, run, write_rows

import tagtopics as tt

pytestmark = pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning")

Rows = list[dict[str, Any]]

ODD: dict[str, tuple[Rows, int]] = {
    "one document": (ROWS[:1], 3),
    "three documents, fifty topics": (ROWS[::6], 50),
    "more topics than documents": (ROWS, 40),
    "one tag on one document": ([ROWS[0], *({**row, "tags": []} for row in ROWS[1:])], 3),
    "one tag on all documents": ([{**row, "tags": ["all"]} for row in ROWS], 3),
    "all tags on all documents": ([{**row, "tags": ["a", "b", "c"]} for row in ROWS], 3),
    "a tag for each document": ([{**row, "tags": [row["id"]]} for row in ROWS], 3),
    "equal documents": ([{**ROWS[0], "id": str(i), "tags": ROWS[i]["tags"]} for i in range(18)], 3),
    "equal documents and tags": ([{**ROWS[0], "id": str(i)} for i in range(18)], 3),
    "one word": ([{**row, "text": "bread"} for row in ROWS], 3),
    "a word for each document": ([{**row, "text": f"word{i}"} for i, row in enumerate(ROWS)], 3),
    "documents without words": ([*ROWS, *({"id": str(i), "text": "", "tags": ["odd"]} for i in range(9))], 3),
    "tags of documents without words": ([*ROWS, {"id": "x", "text": "", "tags": ["nowhere"]}], 3),
    "one topic": (ROWS, 1),
}
"""Documents, and a number of topics."""

REAL = [
    ("reuters", "--topics 90 --iterations 20"),
    ("reuters", "--topics 90 --iterations 3 --no-recommender"),
    ("reuters", "--topics 5 --iterations 3 --model markov --memory lean"),
    ("bibtex", "--topics 200 --iterations 3"),
    ("bibtex", "--model llda --iterations 3"),
    ("cora", "--model atm --topics 30 --iterations 3"),
    ("corel5k", "--topics 300 --iterations 3"),
    ("anthology/papers.jsonl.gz", "--topics 20 --iterations 2 --text abstract --tags authors"),
]
"""A corpus of the real data, and the options of the fit."""


@pytest.mark.parametrize("what", ODD)
def test_an_odd_collection_has_a_model_that_recommends(what: str, tmp_path: Path) -> None:
    rows, n_topics = ODD[what]
    source, out = write_rows(tmp_path / "corpus.jsonl", rows), tmp_path / "model.tt"
    done = run("fit", source, "--topics", n_topics, "--iterations", 10, "--out", out, "--json")
    assert done.json()["n_topics"] == n_topics
    assert "could not be trained" not in done.err
    model = tt.load(out)
    assert model.recommender_ is not None
    for tag in run("recommend", out, "--given", rows[0]["text"], "--json").json()["documents"][0]["tags"]:
        assert 0 <= tag["probability"] <= 1


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "options"), REAL)
def test_real_collections_have_a_model(name: str, options: str, data_directory: Path, tmp_path: Path) -> None:
    source, out = data_directory / name, tmp_path / "model.tt"
    if not source.exists():
        pytest.skip(f"no {name} in the real data")
    done = run("fit", source, *options.split(), "--out", out, "--no-corpus", "--json")
    fitted, model = done.json(), tt.load(out)
    assert "could not be trained" not in done.err
    assert model.components_.shape == (fitted["n_topics"], fitted["n_words"])
    assert (model.recommender_ is None) == ("--no-recommender" in options)
