"""The embedded corpus: whatever the versions of the libraries, it is sound and informative."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tagtopics.corpus.core import Corpus
from tagtopics.datasets import docstrings, load_dataset
from tagtopics.datasets.docstrings import (
    join_blocks,
    load_docstrings,
    parameter_names,
    prose_blocks,
    split_sections,
)

DOCSTRING = """name(x, y, /, out=None,
     where=True)

    Do one thing with :class:`~sklearn.svm.SVC` and `y` [1]_.

    It reads :math:`\\\\alpha` as ``code`` would::

        secret = listing()

    .. versionadded:: 1.2

    .. math::

        \\\\frac{a}{b}

    as it is. See https://example.org for it.

    Parameters
    ----------
    x, y : array_like
        Two inputs.
    out : ndarray, optional
        Where to.

    >>> name(1, 2)
    output = 3

    Returns
    -------
    thing : int
        A thing.

    See also
    --------
    other : Something, else
        with more text
    :func:`~scipy.linalg.inv`, np.add, `third`

    References
    ----------
    .. [1] Nobody

    Examples
    --------
    >>> name(1, 2)
    hidden
    """


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_dataset("docstrings")


def test_prose_is_all_that_stays_of_a_docstring() -> None:
    sections = split_sections(DOCSTRING)
    assert list(sections) == ["", "parameters", "returns", "see also", "references", "examples"]
    assert prose_blocks(sections) == [
        "Do one thing with SVC and y .",
        "It reads as would::",
        "as it is. See for it.",
        "x, y : array_like Two inputs.",
        "out : ndarray, optional Where to.",
        "thing : int A thing.",
    ]
    assert parameter_names(sections) == ["x", "y", "out"]


def test_templates_are_left_out_even_where_the_name_differs() -> None:
    names = [f"thing{i}" for i in range(5)]
    documents = [[f"Call {name} with care.", f"This is about {i}."] for i, name in enumerate(names)]
    assert join_blocks(documents, names, limit=5) == [f"This is about {i}." for i in range(5)]
    assert join_blocks(documents[:4], names[:4], limit=5)[0] == "Call thing0 with care.\nThis is about 0."


@pytest.mark.parametrize(
    "text", ["", "One line.", "f(x)", "Title\n-----", ">>> 1\n1", "See Also\n--------\n: , `"]
)
def test_odd_docstrings_do_no_harm(text: str) -> None:
    sections = split_sections(text)
    prose_blocks(sections)
    assert parameter_names(sections) == []


def test_it_is_of_useful_size(corpus: Corpus) -> None:
    assert 2000 < corpus.n_docs < 6000
    assert 3000 < corpus.n_words < 9000
    assert 100 < corpus.n_tags < 500
    assert 3 <= corpus.statistics["tags_per_doc"] <= 6
    assert 40 < corpus.statistics["tokens_per_doc"] < 200


def test_every_document_has_words_tags_text_and_a_name_of_its_own(corpus: Corpus) -> None:
    assert corpus.texts is not None
    assert len(set(corpus.ids)) == corpus.n_docs
    assert len(set(corpus.texts)) == corpus.n_docs
    assert np.diff(corpus.counts.indptr).min() >= 1
    assert np.diff(corpus.tags.indptr).min() >= 2
    assert {"numpy.add", "scipy.linalg.inv", "scipy.stats.norm", "sklearn.svm.SVC"} <= set(corpus.ids)


def test_texts_are_prose(corpus: Corpus) -> None:
    assert corpus.texts is not None
    text = "\n".join(corpus.texts)
    for markup in (">>>", ":math:", "``", "-----", "====", ".. versionadded", ":class:", "http:", "https:"):
        assert markup not in text, markup
    assert not set(docstrings._TABLE["boilerplate"].split()) & set(corpus.vocabulary)
    assert all(word.isalpha() and len(word) >= 3 for word in corpus.vocabulary)


def test_tags_say_where_and_what(corpus: Corpus) -> None:
    assert {name.partition(":")[0] for name in corpus.tag_names} == {
        *("package", "subpackage", "kind", "base", "has", "takes")
    }
    assert corpus.tags.sum(axis=0).min() >= 3
    assert {"package:numpy", "subpackage:numpy", "kind:ufunc"} <= set(
        corpus.tags_of(corpus.ids.index("numpy.add"))
    )
    classifier = set(corpus.tags_of(corpus.ids.index("sklearn.svm.SVC")))
    assert {"base:ClassifierMixin", "has:predict", "kind:class", "takes:random_state"} <= classifier
    assert "kind:distribution" in corpus.tags_of(corpus.ids.index("scipy.stats.norm"))


def test_labels_are_the_subpackages(corpus: Corpus) -> None:
    assert corpus.labels is not None
    for name, label in zip(corpus.ids, corpus.labels, strict=True):
        assert label is not None
        assert name.rpartition(".")[0] == label


def test_tags_tell_something_about_the_words(corpus: Corpus) -> None:
    """Documents that share a subpackage share more words than others: a tag is not noise."""
    seen = (corpus.counts > 0).astype(np.int32)
    column = corpus.tag_names.index("subpackage:scipy.optimize")
    mine = corpus.tags.toarray()[:, column] == 1
    overlap = (seen[mine] @ seen.T).toarray()
    assert overlap[:, mine].mean() > 1.5 * overlap[:, ~mine].mean()


def test_it_is_the_same_every_time(corpus: Corpus) -> None:
    again = load_docstrings()
    assert again.ids == corpus.ids
    assert again.vocabulary == corpus.vocabulary
    assert again.tag_names == corpus.tag_names
    assert (again.counts != corpus.counts).nnz == 0
    assert (again.tags != corpus.tags).nnz == 0


def test_a_missing_or_broken_subpackage_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = {"numpy": "linalg of_another_version", "not_installed": "at_all"}
    monkeypatch.setitem(docstrings._TABLE, "packages", packages)
    small = load_docstrings()
    assert set(small.labels or ()) == {"numpy", "numpy.linalg"}


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys, tagtopics.datasets\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'urllib.request'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert callable(tagtopics.datasets.load_dataset)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
