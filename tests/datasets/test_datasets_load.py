"""Loading by name: the order of places, and what is built from upstream files equals the prepared folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from tagtopics.corpus import read_corpus
from tagtopics.datasets import list_datasets, load_dataset
from tagtopics.datasets.load import read_registry
from tagtopics.errors import InputError

pytestmark = pytest.mark.usefixtures("forked")

NAMES = list(read_registry())

# Row 4798 of corel5k repeats row 4797, and the reader says so.
repeats = pytest.mark.filterwarnings("ignore:1 document with the id:tagtopics.errors.CorpusWarning")


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, no directory of data, and no network: what would be fetched is refused at once."""

    def refuse(file: object, target: object) -> None:
        raise InputError("cannot fetch it; set TAGTOPICS_DATA")

    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TAGTOPICS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tagtopics.datasets.load._fetch_file", refuse)


def write_folder(folder: Path, n_docs: int = 3) -> Path:
    """A small matrix folder: every document has both words once and the one tag."""
    folder.mkdir(parents=True)
    sp.save_npz(folder / "words.npz", sp.csr_array(np.ones((n_docs, 2), dtype=np.int32)))
    sp.save_npz(folder / "tags.npz", sp.csr_array(np.ones((n_docs, 1), dtype=np.int8)))
    (folder / "vocab.txt").write_text("one\ntwo\n")
    (folder / "tags.txt").write_text("tag\n")
    return folder


def fill_cache(name: str, data_directory: Path, cache: Path) -> None:
    (cache / name).mkdir(parents=True)
    for file in read_registry()[name].files:
        shutil.copyfile(data_directory / "upstream" / file.name, cache / name / file.name)


@repeats
@pytest.mark.real_data
@pytest.mark.parametrize("name", NAMES)
def test_the_build_from_the_cache_equals_the_prepared_folder(
    name: str, data_directory: Path, tmp_path: Path
) -> None:
    fill_cache(name, data_directory, tmp_path / "cache")
    assert {row.name: row.origin for row in list_datasets()}[name] == "cache"
    built, prepared = load_dataset(name), read_corpus(data_directory / name)
    assert (built.counts != prepared.counts).nnz == 0
    assert (built.tags != prepared.tags).nnz == 0
    assert built.vocabulary == prepared.vocabulary
    assert built.tag_names == prepared.tag_names
    assert built.split == prepared.split
    assert built.statistics == pytest.approx(prepared.statistics)
    expected = read_registry()[name].expected
    assert (built.n_docs, built.n_tags, built.n_words) == (
        expected["n_docs"],
        expected["n_tags"],
        expected["n_words"],
    )
    sizes = (built.counts.sum(), built.counts.nnz, built.tags.nnz)
    assert sizes == (expected["n_tokens"], expected["n_edges"], expected["n_slots"])


@repeats
@pytest.mark.real_data
def test_all_prepared_folders_are_found_by_name(
    data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAGTOPICS_DATA", str(data_directory))
    rows = {row.name: row for row in list_datasets()}
    for name in NAMES:
        assert rows[name].origin == "TAGTOPICS_DATA"
        assert load_dataset(name).n_docs == read_registry()[name].expected["n_docs"]


def test_a_path_is_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "mine")
    assert load_dataset(folder).n_docs == 3
    assert load_dataset("mine").n_docs == 3


def test_the_directory_of_data_comes_before_everything_with_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAGTOPICS_DATA", str(tmp_path / "data"))
    for name in ("cora", "docstrings", "own"):
        write_folder(tmp_path / "data" / name)
        assert load_dataset(name).n_docs == 3
    (tmp_path / "data" / "no corpus").mkdir()
    rows = {row.name: row for row in list_datasets()}
    assert set(rows) == {*NAMES, "docstrings", "own"}
    assert rows["own"].description == ""
    assert [name for name, row in rows.items() if row.origin == "TAGTOPICS_DATA"] == [
        "cora",
        "docstrings",
        "own",
    ]


def test_a_folder_that_only_has_the_name_is_not_taken_for_the_data_set(tmp_path: Path) -> None:
    (tmp_path / "docstrings").mkdir()
    assert load_dataset("docstrings").n_docs > 2000


def test_without_data_everything_is_listed_with_its_place() -> None:
    origins = {row.name: row.origin for row in list_datasets()}
    assert origins == {**dict.fromkeys(NAMES, "download"), "docstrings": "embedded"}
    assert all(row.description for row in list_datasets())


def test_offline_the_error_says_what_to_do() -> None:
    with pytest.raises(InputError, match="TAGTOPICS_DATA"):
        load_dataset("cora")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError,
        match=r"'kora'; the data sets are cora, corel5k, docstrings, med",
    ):
        load_dataset("kora")
