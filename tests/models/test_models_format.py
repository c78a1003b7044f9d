"""The format of saved models, as `docs/format.md` describes it, read by a program without tagtopics."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.models.persistence import Description
from tagtopics.scale.checkpoint import load_checkpoint

DOCS = Path(__file__).resolve().parents[2] / "docs"
READER = DOCS / "examples" / "read_model.py"

ALONE = """
import runpy, sys
for name in ("tagtopics", "safetensors", "scipy", "sklearn", "numba", "pydantic"):
    sys.modules[name] = None  # importing it is an error
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program, given with its arguments, that may import NumPy and the standard library only."""


def run_reader(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the example on a folder, in a process that can import none of tagtopics' packages but NumPy."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", ALONE, str(READER), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def expected(model: Any) -> list[str]:
    """Return what the example prints about a model, by tagtopics' own answers."""
    topics = [f"topic {k}: {' '.join(w for w, _ in row)}" for k, row in enumerate(model.top_words(8))]
    tags = zip(model.tag_names_, model.tag_docs_, strict=True)
    return topics + [f"tag {tag}: {n_docs} documents" for tag, n_docs in tags]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with everything a model can have, but images, and its corpus."""
    texts = ["red apple pie", "blue sky sea wind", "red sky pie apple", "sea sky", "größe pie"]
    tags = [["food"], ["nature", "far"], ["food", "nature"], ["nature"], ["ärger"]]
    corpus = tt.read_corpus(texts, tags=tags)
    folder = tmp_path_factory.mktemp("format") / "m.tt"
    tt.TTM(3, max_iter=3, random_state=0).fit(corpus).save(folder, corpus=corpus)
    return folder


def test_a_new_model_is_read_without_tagtopics(saved: Path) -> None:
    done = run_reader(saved)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected(tt.load(saved))


def test_the_example_reads_every_array_as_safetensors_does(saved: Path) -> None:
    path = saved / "arrays.safetensors"
    found, wanted = runpy.run_path(str(READER))["read_arrays"](path), load_file(path)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_example_finds_damage_in_every_file(saved: Path) -> None:
    read = runpy.run_path(str(READER))["read_description"]
    files = [path for path in saved.rglob("*") if path.is_file()]
    assert len(files) == 1 + len(read(saved)["files"]) > 5
    for path in files:
        content = path.read_bytes()
        changed = bytearray(content)
        changed[-3] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"damaged|Expecting"):
            read(saved)
        path.write_bytes(content)
    assert read(saved)["class"] == "TTM"


def test_the_page_links_to_the_example_which_is_short() -> None:
    assert len(READER.read_text(encoding="utf-8").splitlines()) < 60
    assert f"]({READER.relative_to(DOCS).as_posix()})" in (DOCS / "format.md").read_text(encoding="utf-8")


def test_the_page_names_every_field_and_array(saved: Path) -> None:
    page = (DOCS / "format.md").read_text(encoding="utf-8")
    fields = {field.alias or name for name, field in Description.model_fields.items()}
    assert sorted(field for field in fields if f"`{field}`" not in page) == []
    arrays = {
        name.removesuffix(".indices").removesuffix(".indptr").removesuffix(".data")
        for name in load_file(saved / "arrays.safetensors")
    }
    assert sorted(name for name in arrays if f"`{name}`" not in page) == []
    assert sorted(place.name for place in (saved / "corpus").iterdir() if f"`{place.name}`" not in page) == []


def test_files_of_others_are_no_unfinished_fits(tmp_path: Path) -> None:
    """A checkpoint has a `format` in its metadata, and a run folder has only its own files."""
    record = json.dumps({"sweep": 1, "history": []})
    save_file({"words": np.ones((2, 2))}, tmp_path / "state", metadata={"checkpoint": record})
    before = (tmp_path / "state").read_bytes()
    with pytest.raises(tt.InputError, match="not a checkpoint written by tagtopics"):
        load_checkpoint(tmp_path / "state")
    assert (tmp_path / "state").read_bytes() == before
    (tmp_path / "run" / "parts").mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    shards = tt.shard_corpus(make_tagged_corpus(n_docs=20, seed=0).corpus, tmp_path / "shards")
    for resume in (False, True):
        with pytest.raises(tt.InputError, match="not a run folder written by tagtopics"):
            tt.fit_shards(tt.LDA(2, random_state=0), shards, tmp_path / "run", resume=resume)
    assert (tmp_path / "run" / "run.json").read_text() == "{}"
