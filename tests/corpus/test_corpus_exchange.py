"""The formats of others: UCI, LDA-C, SVMlight, Mulan and MATLAB."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tagtopics.corpus import Corpus, read_corpus, train_test
from tagtopics.errors import CorpusWarning, InputError

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


UCI = "2\n3\n3\n1 1 1\n1 3 2\n2 2 3\n"
LDAC = "2 0:1 2:2\n1 1:3\n"
SVM = "1,3 1:1 3:2\n3 2:3\n"
VOCAB = "ant\nbee\ncat\n"
WORDS = ("ant", "bee", "cat")


def test_uci(tmp_path: Path) -> None:
    path = fill(tmp_path, {"docword.a.txt": UCI, "vocab.a.txt": VOCAB})
    for source in (path, tmp_path):
        check(read_corpus(source, tags=[["x"], ["y"]]), WORDS, [("x",), ("y",)])
    packed = tmp_path / "packed"
    packed.mkdir()
    path = fill(packed, {"docword.b.txt.gz": gzip.compress(UCI.encode()), "vocab.b.txt": VOCAB})
    check(read_corpus(path), WORDS, [(), ()])


def test_ldac(tmp_path: Path) -> None:
    path = fill(tmp_path, {"a.ldac": LDAC})
    check(read_corpus(path), ("word0", "word1", "word2"), [(), ()])
    check(read_corpus(path, vocabulary=WORDS), WORDS, [(), ()])
    assert read_corpus(path, vocabulary=[*WORDS, "dog"]).n_words == 4
    fill(tmp_path, {"a.vocab": VOCAB, "a.tags": "x; y\ny\n"})
    check(read_corpus(path), WORDS, [("x", "y"), ("y",)])
    other = fill(tmp_path, {"who.txt": "p\nq\n"})
    check(read_corpus(path, tags=other), WORDS, [("p",), ("q",)])


def test_ldac_of_blei(tmp_path: Path) -> None:
    path = fill(tmp_path, {"ap.dat": LDAC + "0\n", "vocab.txt": VOCAB})
    with pytest.warns(CorpusWarning, match="kept 1 document without words; the first is '2'"):
        assert read_corpus(path).vocabulary == WORDS


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
    for source in (path, tmp_path):
        check(read_corpus(source, format="mat"), WORDS, [("x", "y"), ("y",)])


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


def test_bibtex_through_other_formats(data_directory: Path, tmp_path: Path) -> None:
    corpus = read_corpus(data_directory / "bibtex").select(np.arange(300))
    rows = [
        (corpus.counts.indices[a:b], corpus.counts.data[a:b])
        for a, b in zip(corpus.counts.indptr, corpus.counts.indptr[1:], strict=False)
    ]
    ldac = "".join(
        f"{len(w)} " + " ".join(f"{i}:{n}" for i, n in zip(w, c, strict=True)) + "\n" for w, c in rows
    )
    uci = "".join(
        f"{d + 1} {i + 1} {n}\n" for d, (w, c) in enumerate(rows) for i, n in zip(w, c, strict=True)
    )
    vocab = "".join(f"{word}\n" for word in corpus.vocabulary)
    tags = "".join(";".join(corpus.tags_of(d)) + "\n" for d in range(corpus.n_docs))
    fill(tmp_path, {"a.ldac": ldac, "a.vocab": vocab, "a.tags": tags})
    fill(
        tmp_path,
        {"docword.a.txt": f"300\n{corpus.n_words}\n{corpus.counts.nnz}\n{uci}", "vocab.a.txt": vocab},
    )
    same(read_corpus(tmp_path / "a.ldac", tag_names=corpus.tag_names), corpus)
    tag_lists = [list(corpus.tags_of(d)) for d in range(corpus.n_docs)]
    same(read_corpus(tmp_path / "docword.a.txt", tags=tag_lists, tag_names=corpus.tag_names), corpus)


def same(a: Corpus, b: Corpus) -> None:
    assert (a.counts != b.counts).nnz == 0
    assert (a.tags != b.tags).nnz == 0
    assert a.vocabulary == b.vocabulary
    assert a.tag_names == b.tag_names


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"docword.a.txt": "2\nx\n3\n"}, "docword.a.txt, line 2: expected a number"),
        ({"docword.a.txt": "2\n3\n"}, "docword.a.txt: ends within its header"),
        ({"docword.a.txt": "2\n3\n0\n"}, "docword.a.txt: no entries"),
        ({"docword.a.txt": UCI.replace("1 3 2", "1 4 2")}, r"entry 2: word 4 is not in 1\.\.3"),
        ({"docword.a.txt": UCI.replace("1 3 2", "3 3 2")}, r"entry 2: document 3 is not in 1\.\.2"),
        ({"docword.a.txt": UCI.replace("1 3 2", "1 3")}, "below the header, .*number of columns changed"),
        ({"docword.a.txt": UCI.replace("1 3 2", "1 3 x")}, "below the header, .*could not convert"),
        ({"docword.a.txt": "1\n1\n1\n1 1\n"}, "line 4: 2 numbers; expected 'document word count'"),
        ({"docword.a.txt": UCI + "2 3 1\n"}, "the header says 3 entries, but there are 4"),
        ({"docword.a.txt": "99999999" + UCI[1:]}, "line 1: says 99999999 documents, but only 2 of them"),
        (
            {"docword.a.txt": UCI.replace("\n3\n", "\n99999999\n", 1)},
            "line 2: says 99999999 words, more than 1006; put",
        ),
        ({"docword.a.txt": UCI, "vocab.a.txt": "a\nb\n"}, "line 2: says 3 words, but the vocabulary has 2"),
        ({"docword.a.txt": UCI.replace("2 2 3", "2 2 -3")}, "docword.a.txt: row 1, .* value -3 is negative"),
        ({"a.ldac": ""}, "a.ldac: the file is empty"),
        ({"a.ldac": "2 0:1\n"}, "a.ldac, line 1: starts with '2', but 1 entries follow"),
        ({"a.ldac": "1 0:1\n1 0:x\n"}, "a.ldac, line 2: '0:x' is not of the form word:count"),
        ({"a.ldac": "1 -1:1\n"}, "a.ldac, line 1: '-1:1' is not of the form"),
        ({"a.ldac": "1 9999999999:1\n"}, "a.ldac, line 1: word 9999999999 is outside the 16777216 words"),
        (
            {"a.ldac": LDAC, "a.vocab": "a\nb\n"},
            "a.ldac, line 1: word 2 is outside the 2 words, numbered from 0",
        ),
        ({"a.ldac": LDAC, "a.tags": "x\n"}, "tags have 1 rows, counts have 2"),
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


def test_folders_with_a_choice_ask_for_the_file(tmp_path: Path) -> None:
    for name in "ab":
        mat(tmp_path, f"{name}_wd", np.array(COUNTS).T)
    with pytest.raises(
        InputError, match=r"expected one file NAME_wd.mat, found a_wd.mat, b_wd.mat; name the file"
    ):
        read_corpus(tmp_path)
    fill(tmp_path, {"docword.a.txt": UCI, "docword.b.txt": UCI})
    with pytest.raises(InputError, match=r"expected one docword file, found docword.a.txt, docword.b.txt"):
        read_corpus(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"expected one file NAME_wd\.mat, found none"):
        read_corpus(tmp_path / "empty", format="mat")
    for format in ("mulan", "svmlight", "ldac"):
        with pytest.raises(InputError, match=r"no such file|cannot be read"):
            read_corpus(tmp_path, format=format)
