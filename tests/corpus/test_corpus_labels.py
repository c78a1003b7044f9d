"""A corpus and the `y` of an estimator read the same tags."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tagtopics.corpus import read_corpus
from tagtopics.corpus.tags import tags_of_labels
from tagtopics.errors import CorpusWarning, InputError

ODD: dict[str, tuple[list[Any], list[tuple[str, ...]]]] = {
    "white space": ([" Jane Doe ", "Jane  Doe"], [("Jane Doe",), ("Jane Doe",)]),
    "white space in lists": ([[" Jane Doe "], ["Jane\nDoe"]], [("Jane Doe",), ("Jane Doe",)]),
    "whole floats": ([2.0, 2], [("2",), ("2",)]),
    "whole floats in lists": ([[2.0, np.float32(3.5)], [np.int64(2)]], [("2", "3.5"), ("2",)]),
    "not composed": (["Cafe\u0301", ["Café"]], [("Café",), ("Café",)]),
    "missing": ([None, float("nan"), pd.NA, "", " ", []], [(), (), (), (), (), ()]),
    "missing in lists": ([["a", None, ""], [float("nan")]], [("a",), ()]),
    "repeated": ([["a", "a "], ("a",)], [("a",), ("a",)]),
    "sets and arrays": ([{"b", "a"}, np.array(["b"])], [("a", "b"), ("b",)]),
    "dates": ([datetime.date(2020, 1, 2), "2020-01-02"], [("2020-01-02",), ("2020-01-02",)]),
    "separators within lists": ([["Doe; Roe"], ["a, b|c"]], [("Doe; Roe",), ("a, b|c",)]),
    "zero bytes": ([["a\0b"], ["\ufeffa b"]], [("a b",), ("a b",)]),
    "booleans": ([True, [False]], [("True",), ("False",)]),
}


def names(tags: sp.csr_array, tag_names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        tuple(tag_names[t] for t in tags.indices[a:b])
        for a, b in zip(tags.indptr, tags.indptr[1:], strict=False)
    ]


@pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning")
@pytest.mark.parametrize("case", ODD)
def test_corpora_and_labels_agree(case: str) -> None:
    cells, expected = ODD[case]
    texts = ["cat"] * len(cells)
    corpus = read_corpus(texts, tags=cells)
    table = read_corpus([{"text": "cat", "tags": cell} for cell in cells])
    tags, tag_names = tags_of_labels(cells, len(cells))
    assert names(tags, tag_names) == names(corpus.tags, corpus.tag_names) == expected
    assert tag_names == corpus.tag_names == table.tag_names
    assert (table.tags != tags).nnz == 0


def test_one_string_is_many_tags_of_a_column_and_one_label() -> None:
    cells = ["Doe; Roe", "Doe"]
    assert read_corpus(["cat", "dog"], tags=cells).tag_names == ("Doe", "Roe")
    assert tags_of_labels(cells, 2)[1] == ("Doe", "Doe; Roe")
    assert tags_of_labels(np.array(cells), 2)[1] == ("Doe", "Doe; Roe")


def test_columns_of_an_indicator_are_cleaned_and_merged() -> None:
    frame = pd.DataFrame({" a ": [1, 1], 2.0: [0, 1], "a": [1, 0]})
    tags, tag_names = tags_of_labels(frame, 2)
    assert tag_names == ("a", "2")
    assert tags.toarray().tolist() == [[1, 0], [1, 1]]
    assert tags.dtype == np.int8
    with pytest.warns(CorpusWarning, match="1 tag.* unknown to the model left out"):
        tags, _ = tags_of_labels(frame, 2, ["b", "a"])
    assert tags.toarray().tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"]], "inconsistent numbers of samples: 2 documents, tags for 1"),
        (["a", [["b"]]], "document 1: each tag must be a string or a number, not a list"),
        (["a", {"b": 1}], "document 1: each tag must be a string or a number, not an object"),
        (np.array([[1, 2], [0, 0]]), "zeros and ones only"),
        (np.eye(3), "inconsistent numbers of samples: 2 documents, tags for 3"),
    ],
)
def test_bad_labels_are_one_clear_line(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tags_of_labels(y, 2)
