"""The formats of others: SVMlight, Mulan and MATLAB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tagtopics.corpus import Corpus, read_corpus, train_test
from tagtopics.errors import InputError

pytestmark = pytest.mark.usefixtures("forked")

COUNTS = [[1, 0, 2], [0, 3, 0]]


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / next(iter(files))


def check(corpus: Corpus, vocabulary: tuple[str, ...], tags: list[tuple[str, ...]]) -> None:
    assert corpus.counts.toarray().tolist() == COUNTS
    assert corpus.vocabulary == vocabulary
    assert [corpus.tags_of(d) for d in range(corpus.n_docs)] == tags


SVM = "1,3 1:1 3:2\n3 2:3\n"
VOCAB = "ant\nbee\ncat\n"
WORDS = ("ant", "bee", "cat")


def test_svmlight(tmp_path: Path) -> None:
    path = fill(tmp_path, {"a.svm": SVM})
    check(read_corpus(path), ("word0", "word1", "word2"), [("1", "3"), ("3",)])
    fill(tmp_path, {"a.vocab": VOCAB})
    check(read_corpus(path), WORDS, [("1", "3"), ("3",)])


ARFF = (
    "% comment\n@relation r\n\n@attribute ant {0,1,2}\n@ATTRIBUTE 'the tag' {0,1}\n"
    "@attribute \"bee\" numeric\n@attribute cat numeric\n@attribute 'it\\'s' {0,1}\n@data\n"
)
XML = (
    '<labels xmlns="http://mulan.org/labels"><label name="the tag"><label name="it&apos;s"/></label></labels>'
)


@pytest.mark.parametrize("rows", ["{0 1,1 1,3 2}\n\n{2 3, 1 1, 4 1}\n", "1,1,0,2,0\n% hm\n0, 1, 3, 0, '1'\n"])
def test_mulan(tmp_path: Path, rows: str) -> None:
    path = fill(tmp_path, {"a-train.arff": ARFF + rows, "a.xml": XML})
    check(read_corpus(path), WORDS, [("the tag",), ("the tag", "it's")])


def mat(folder: Path, name: str, value: Any) -> Path:
    path = folder / f"{name}.mat"
    scipy.io.savemat(path, {name: value})
    return path


def test_mat(tmp_path: Path) -> None:
    path = mat(tmp_path, "a_wd", sp.csc_array(np.array(COUNTS, dtype=float).T))
    check(read_corpus(path), ("word0", "word1", "word2"), [(), ()])
    mat(tmp_path, "a_ad", np.array([[1.0, 0.0], [1.0, 1.0]]))
    mat(tmp_path, "a_voc", np.array(WORDS, dtype=object))
    mat(tmp_path, "a_author", np.array(["x", "y"], dtype=object))
    check(read_corpus(path), WORDS, [("x", "y"), ("y",)])


@pytest.mark.parametrize(("prefix", "name"), [("cora", "cora"), ("medline", "med")])
def test_real_mat_files(data_directory: Path, prefix: str, name: str) -> None:
    same(read_corpus(data_directory / "upstream" / f"{prefix}_wd.mat"), read_corpus(data_directory / name))


@pytest.mark.filterwarnings("ignore:.*id of an earlier one")
def test_real_mulan_files(data_directory: Path) -> None:
    corpus = read_corpus(data_directory / "corel5k")
    upstream = data_directory / "upstream"
    same(read_corpus(upstream / "Corel5k-sparse.arff"), corpus)
    train, test = train_test(corpus, seed=0)
    same(read_corpus(upstream / "Corel5k-train-sparse.arff"), corpus.select(train))
    same(read_corpus(upstream / "Corel5k-test.arff"), corpus.select(test))


def same(a: Corpus, b: Corpus) -> None:
    assert (a.counts != b.counts).nnz == 0
    assert (a.tags != b.tags).nnz == 0
    assert a.vocabulary == b.vocabulary
    assert a.tag_names == b.tag_names


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.svm": "1 a:b\n"}, "a.svm: cannot be read as SVMlight"),
        ({"a.svm": "1 999999999:1\n"}, "a.svm: word number .* is too large"),
        ({"a.svm": "1 1:0.5\n"}, "a.svm: row 0, column 0, value 0.5 is fractional"),
        ({"a.arff": ARFF}, "a.arff: no XML of labels next to it; expected a.xml"),
        ({"a.arff": ARFF, "a.xml": "<labels"}, "a.xml: not valid XML"),
        ({"a.arff": ARFF, "a.xml": "<labels/>"}, "a.xml: names no labels"),
        ({"a.arff": ARFF, "a.xml": b"<a>\xff</a>"}, "a.xml, line 1: byte 4 .* is not UTF-8"),
        (
            {"a.arff": ARFF, "a.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'},
            "a.xml: contains a DOCTYPE or ENTITY",
        ),
        (
            {"a.arff": ARFF, "a.xml": '<a><label name="dog"/></a>'},
            "a.arff: no attribute 'dog', which the XML",
        ),
        ({"a.arff": "@relation r\n", "a.xml": XML}, "a.arff: no line @data"),
        ({"a.arff": "@data\n", "a.xml": XML}, "a.arff, line 1: no attributes before @data"),
        ({"a.arff": "@attribute\n", "a.xml": XML}, "a.arff, line 1: not an attribute"),
        (
            {"a.arff": "@attribute a n\n@attribute a n\n", "a.xml": XML},
            "line 2: attribute 'a' is already on line 1",
        ),
        (
            {"a.arff": ARFF + "{9 1}\n", "a.xml": XML},
            "a.arff, line 10: attribute 9 is outside the 5 attributes",
        ),
        ({"a.arff": ARFF + "{0 1\n", "a.xml": XML}, "a.arff, line 10: a sparse row must end with '}'"),
        ({"a.arff": ARFF + "1,0\n", "a.xml": XML}, "a.arff, line 10: 2 values for 5 attributes"),
        (
            {"a.arff": ARFF + "1,0,?,0,0\n", "a.xml": XML},
            "a.arff, line 10: could not convert .* must be counts",
        ),
        ({"a.arff": ARFF, "a.xml": XML}, "a.arff: no documents"),
        ({"a_wd.mat": "junk"}, "a_wd.mat: cannot be read as a MATLAB file"),
        ({"b.mat": "junk"}, "b.mat: give the file of counts, NAME_wd.mat"),
    ],
)
def test_bad_files_are_one_clear_line(tmp_path: Path, files: dict[str, str | bytes], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_corpus(fill(tmp_path, files))
    assert "\n" not in str(caught.value)


def test_damaged_sparse_matrices_of_matlab(tmp_path: Path) -> None:
    matrix = sp.csc_array(np.array(COUNTS, dtype=float).T)
    matrix.indices[0] = 99
    with pytest.raises(InputError, match=r"a_wd\.mat: (damaged matrix|cannot be read)"):
        read_corpus(mat(tmp_path, "a_wd", matrix))


def test_mat_siblings_must_fit(tmp_path: Path) -> None:
    path = mat(tmp_path, "a_wd", np.array(COUNTS).T)
    mat(tmp_path, "a_voc", np.array(["a"], dtype=object))
    with pytest.raises(InputError, match=r"a_voc.mat: 1 names, but the matrix has 3 rows"):
        read_corpus(path)
    mat(tmp_path, "a_voc", np.array([[1, 2, 3]]))
    with pytest.raises(InputError, match=r"a_voc.mat: expected a cell array of strings"):
        read_corpus(path)
    mat(tmp_path, "a_ad", np.array([[1, 1, 1]]))
    with pytest.raises(InputError, match=r"a_ad.mat: 3 documents, but a_wd.mat has 2"):
        read_corpus(path)
    mat(tmp_path, "a_wd", np.array(["word"], dtype=object))
    with pytest.raises(InputError, match=r"a_wd.mat: expected a matrix of numbers"):
        read_corpus(path)
    scipy.io.savemat(path, {"a": [[1]], "b": [[2]]})
    with pytest.raises(InputError, match=r"a_wd.mat: expected one variable, found 2"):
        read_corpus(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    for format in ("mulan", "svmlight", "mat"):
        with pytest.raises(InputError, match=r"no such file|cannot be read|give the file"):
            read_corpus(tmp_path, format=format)
