"""Matrix folders and JSON lines: written, read back, and refused where they are damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tagtopics.corpus.write
from tagtopics.corpus import (
    Corpus,
    TextRecipe,
    canonical_counts,
    canonical_tags,
    read_corpus,
    write_jsonl,
    write_matrix_folder,
)
from tagtopics.corpus.formats.matrix_folder import load_csr
from tagtopics.errors import InputError

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0\ufeff"), min_size=1)


def small() -> Corpus:
    return Corpus(
        counts=canonical_counts(np.array([[1, 0, 2], [0, 3, 0]])),
        tags=canonical_tags(np.array([[1, 0], [1, 1]])),
        vocabulary=("ant", "bee", "cat\u2028é"),
        tag_names=("x", "y"),
        ids=("one", "two"),
        labels=("k", None),
        links=canonical_tags(np.array([[0, 1], [0, 0]])),
        texts=("ant cat\u2028é cat\u2028é", "bee\nbee\tbee"),
        split=("train", "test"),
        titles=("On ants", None),
        dates=("2020", "2021-03-04"),
        urls=(None, "https://example.org/b"),
        recipe=TextRecipe(min_df=2, stop_words=("a", "b")),
    )


def same(a: Corpus, b: Corpus) -> bool:
    matrices = all((getattr(a, name) != getattr(b, name)).nnz == 0 for name in ("counts", "tags"))
    values = (
        "vocabulary",
        "tag_names",
        "ids",
        "labels",
        "split",
        "texts",
        "recipe",
        "titles",
        "dates",
        "urls",
    )
    return matrices and all(getattr(a, name) == getattr(b, name) for name in values)


def test_folder_round_trip(tmp_path: Path) -> None:
    corpus = small()
    folder = write_matrix_folder(corpus, tmp_path / "deep" / "corpus")
    again = read_corpus(folder)
    assert same(corpus, again)
    assert corpus.links is not None
    assert again.links is not None
    assert (corpus.links != again.links).nnz == 0
    assert [path.name for path in folder.parent.iterdir()] == ["corpus"]


def test_equal_corpora_give_equal_bytes(tmp_path: Path) -> None:
    a, b = (write_matrix_folder(small(), tmp_path / name) for name in "ab")
    for path in a.iterdir():
        assert path.read_bytes() == (b / path.name).read_bytes()


@pytest.mark.parametrize("name", ["cora", "med", "bibtex", "corel5k-images"])
def test_real_folders_round_trip(data_directory: Path, tmp_path: Path, name: str) -> None:
    corpus = read_corpus(data_directory / name)
    again = read_corpus(write_matrix_folder(corpus, tmp_path / name))
    assert same(corpus, again)
    assert again.notices == corpus.notices


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(data=st.data())
def test_any_corpus_round_trips(tmp_path: Path, data: st.DataObject) -> None:
    words = data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    tags = data.draw(st.lists(NAMES, max_size=3, unique=True))
    n_docs = data.draw(st.integers(1, 4))
    numbers = st.integers(0, 2**31 - 1)
    counts = data.draw(arrays(np.int64, (n_docs, len(words)), elements=numbers))
    tagged = data.draw(arrays(np.int8, (n_docs, len(tags)), elements=st.integers(0, 1)))
    corpus = Corpus(
        counts=canonical_counts(counts),
        tags=canonical_tags(tagged),
        vocabulary=tuple(words),
        tag_names=tuple(tags),
        ids=tuple(f"d{d}" for d in range(n_docs)),
        texts=tuple(data.draw(st.lists(st.text(), min_size=n_docs, max_size=n_docs))),
    )
    folder = write_matrix_folder(corpus, tmp_path / "corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **kwargs: None)
        assert same(corpus, read_corpus(folder))


def test_optional_parts_may_be_missing(tmp_path: Path) -> None:
    corpus = read_corpus(["cat dog", "dog"])
    folder = write_matrix_folder(corpus, tmp_path / "corpus")
    assert sorted(path.name for path in folder.iterdir()) == [
        "ids.txt",
        "recipe.json",
        "texts.jsonl.gz",
        "vocab.txt",
        "words.npz",
    ]
    assert same(corpus, read_corpus(folder))


def test_windows_line_ends(tmp_path: Path) -> None:
    folder = write_matrix_folder(small(), tmp_path / "corpus")
    for name in ("tags.txt", "labels.txt"):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"\n", b"\r\n"))
    assert same(small(), read_corpus(folder))


def test_jsonl_round_trip(tmp_path: Path) -> None:
    corpus = read_corpus(
        [
            {"text": "Cats purr\n\u2028", "tags": "x; y", "label": "k", "id": "ä"},
            {"text": "dogs", "tags": "x"},
        ]
    )
    again = read_corpus(write_jsonl(corpus, tmp_path / "a.jsonl"))
    assert same(corpus, again)
    counts = read_corpus(read_corpus(np.array([[2, 1]])).counts, vocabulary=["b", "a"], tags=[["t"]])
    with pytest.raises(InputError, match="no texts; use write_matrix_folder"):
        write_jsonl(counts, tmp_path / "b.jsonl")


def test_a_matrix_folder_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    folder = write_matrix_folder(small(), tmp_path / "corpus")
    write_matrix_folder(read_corpus(["cat"]), folder)
    assert not (folder / "links.npz").exists()
    (folder / "README.md").write_text("mine")
    with pytest.raises(InputError, match="corpus: this folder is not a matrix folder written by tagtopics"):
        write_matrix_folder(small(), folder)
    (tmp_path / "other").mkdir()
    write_matrix_folder(small(), tmp_path / "other")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(InputError, match="full: this folder is not a matrix folder written by tagtopics"):
        write_matrix_folder(small(), tmp_path / "full")
    with pytest.raises(InputError, match="a: this file is not a matrix folder"):
        write_matrix_folder(small(), tmp_path / "full" / "a")
    with pytest.raises(InputError, match="this folder is not a file"):
        write_jsonl(small(), tmp_path / "full")


def test_nothing_is_left_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_matrix_folder(read_corpus(["cat"]), tmp_path / "corpus")
    write_jsonl(read_corpus(["cat"]), tmp_path / "a.jsonl")
    before = (tmp_path / "a.jsonl").read_text()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tagtopics.corpus.write, "_write_lines", fail)
    with pytest.raises(InputError, match=r"corpus: cannot be written \(No space left on device\)"):
        write_matrix_folder(small(), folder)
    with pytest.raises(InputError, match=r"a.jsonl: cannot be written"):
        write_jsonl(small(), tmp_path / "a.jsonl", overwrite=True)
    assert read_corpus(folder).vocabulary == ("cat",)
    assert (tmp_path / "a.jsonl").read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "corpus"]


def test_names_with_line_breaks_are_refused(tmp_path: Path) -> None:
    corpus = read_corpus(np.array([[1]]), vocabulary=["a\nb"])
    with pytest.raises(InputError, match=r"vocab.txt: entry 0 contains a line break"):
        write_matrix_folder(corpus, tmp_path / "corpus")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("words.npz", None, "corpus: no words.npz; a matrix folder holds words.npz, vocab.txt"),
        ("vocab.txt", None, "corpus: no vocab.txt"),
        ("tags.txt", None, "corpus: no tags.txt"),
        ("vocab.txt", b"ant\nbee\n", "vocab.txt: 2 lines, but words.npz has 3 columns"),
        ("vocab.txt", b"ant\nbee\nant\n", "vocab.txt, line 3: 'ant' is already on line 1"),
        ("vocab.txt", b"ant\nbee\n\xff\n", r"vocab.txt, line 3: byte 1 \(0xff\) is not UTF-8"),
        ("vocab.txt", b"", "vocab.txt: the file is empty"),
        ("tags.txt", b"x\n", "tags.txt: 1 lines, but tags.npz has 2 columns"),
        ("ids.txt", b"x\n", "ids.txt: 1 lines for 2 documents"),
        ("split.txt", b"train\nlater\n", "split.txt, line 2: expected train or test, got 'later'"),
        ("texts.jsonl.gz", b'{"text": "a"}\n', "texts.jsonl.gz: 1 texts for 2 documents"),
        (
            "texts.jsonl.gz",
            b'{"text": "a"}\n{}\n',
            "texts.jsonl.gz, line 2: text must be a string, not NoneType",
        ),
        ("recipe.json", b"{", "recipe.json: not valid JSON"),
        ("recipe.json", b'{"a": 1}', "recipe.json: text recipe: unknown setting 'a'"),
        ("words.npz", b"PK\x03\x04 junk", "words.npz: cannot be read as a sparse matrix"),
        ("words.npz", b"", "words.npz: cannot be read as a sparse matrix"),
        ("words.npz", b"hello", "words.npz: cannot be read as a sparse matrix"),
    ],
)
def test_damaged_folders(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    folder = write_matrix_folder(small(), tmp_path / "corpus")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_corpus(folder)


def _change(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda parts: {**parts, **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change(indices=np.array([0, 2, 99])), "indices must be < 3"),
        (_change(indices=np.array([0, -1, 1])), "indices must be >= 0"),
        (_change(indices=np.array([0.0, 2.0, 1.0])), "its parts have wrong types"),
        (_change(indices=np.array([[0, 2, 1]])), "its parts have wrong types"),
        (_change(data=np.array(["a", "b", "c"])), "its parts have wrong types"),
        (_change(data=np.array([1, 2])), "its parts do not fit its shape"),
        (_change(indptr=np.array([0, 3, 2])), "its parts do not fit its shape"),
        (_change(indptr=np.array([0, 3])), "damaged matrix, index pointer"),
        (_change(indptr=np.array([0, 4, 3])), "indptr must"),
        (_change(indptr=np.array([1, 2, 3])), "damaged matrix, index pointer"),
        (_change(shape=np.array([2, -3])), "damaged matrix, .*negative"),
        (_change(shape=np.array([2, 2**40])), "its parts do not fit its shape"),
        (_change(shape=np.array([2])), "its parts have wrong types"),
        (_change(shape=np.array(["a", "b"])), "cannot be read as a sparse matrix"),
        (_change(format=np.array("dia")), "expected a CSR matrix"),
        (_change(data=np.array([{}, 1, 2], dtype=object)), "cannot be read as a sparse matrix .*pickle"),
        (lambda parts: {"data": parts["data"]}, "cannot be read as a sparse matrix"),
    ],
)
def test_hostile_matrices(
    tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], message: str
) -> None:
    csr = small().counts
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    np.savez(tmp_path / "a.npz", **change({**parts, "format": np.array("csr")}))
    with pytest.raises(InputError, match=message) as caught:
        load_csr(tmp_path / "a.npz")
    assert "\n" not in str(caught.value)


def test_matrices_of_scipy_are_read(tmp_path: Path) -> None:
    for matrix in (sp.csr_array([[0, 1]]), sp.csr_matrix([[0, 1]])):
        sp.save_npz(tmp_path / "a.npz", matrix)
        assert load_csr(tmp_path / "a.npz").toarray().tolist() == [[0, 1]]
    with pytest.raises(InputError, match="no such file"):
        load_csr(tmp_path / "b.npz")
