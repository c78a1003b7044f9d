"""Duplicate tags: planted halves come first, siblings do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.analysis.audit.duplicates import (
    _make_profiles,
    _share_of_duplicates,
    _unity,
    duplicate_tags,
    largest,
    weighted_words,
)
from tagtopics.analysis.audit.names import content_stems, differ_in_words, spelling_pairs


@pytest.fixture(scope="module")
def halves() -> tt.Corpus:
    """The docstrings, with every second document of `package:scipy` tagged differently."""
    corpus = tt.load_dataset("docstrings")
    tag = corpus.tag_names.index("subpackage:scipy.stats")
    tags = corpus.tags.toarray()
    rows = np.flatnonzero(tags[:, tag])[::2]
    tags[rows, tag] = 0
    half = np.zeros((corpus.n_docs, 1), dtype=np.int8)
    half[rows] = 1
    return replace(
        corpus, tags=sp.csr_array(np.hstack([tags, half])), tag_names=(*corpus.tag_names, "subpackage:qqq")
    )


def test_the_halves_of_a_tag_are_found_without_their_names(halves: tt.Corpus) -> None:
    found = duplicate_tags(halves)
    best = {halves.tag_names[found.tags[0]], halves.tag_names[found.others[0]]}
    assert best == {"subpackage:scipy.stats", "subpackage:qqq"}
    assert (np.diff(found.scores) <= 0).all()
    assert ((found.scores >= 0) & (found.scores <= 1)).all()


TRANSLATIONS = {
    "subpackage:scipy.signal": "subpackage:Signalverarbeitung",
    "subpackage:scipy.linalg": "subpackage:Lineare Algebra",
    "subpackage:scipy.ndimage": "subpackage:Mehrdimensionale Bilder",
    "subpackage:scipy.interpolate": "subpackage:Zwischenwerte",
    "takes:random_state": "takes:Zufallszahlen",
    "has:predict": "has:Vorhersage",
}


def test_translated_tags_are_listed() -> None:
    """Half of the documents of six tags carry a German name: alike in words and tags, not in spelling."""
    corpus = tt.load_dataset("docstrings")
    generator = np.random.default_rng(0)
    tags = corpus.tags.toarray()
    for name in TRANSLATIONS:
        column = tags[:, corpus.tag_names.index(name)]
        rows = generator.permutation(np.flatnonzero(column))[: int(column.sum()) // 2]
        column[rows] = 0
        tags = np.column_stack([tags, np.isin(np.arange(corpus.n_docs), rows)])
    names = (*corpus.tag_names, *TRANSLATIONS.values())
    german = replace(corpus, tags=sp.csr_array(tags.astype(np.int8)), tag_names=names)
    found = duplicate_tags(german)
    pairs = [frozenset((names[a], names[b])) for a, b in zip(found.tags, found.others, strict=True)]
    planted = {frozenset(pair) for pair in TRANSLATIONS.items()}
    listed = {pair for pair, score in zip(pairs, found.scores, strict=True) if score >= 0.05}
    assert len(planted & listed) >= 5
    alike = {frozenset((names[a], names[b])) for a, b in spelling_pairs(names)}
    unlike = [pair for pair in pairs if pair not in alike]
    assert len(planted & set(unlike[:8])) >= 5


def test_the_share_of_duplicates_follows_the_pairs_that_look_like_halves() -> None:
    halves = np.linspace(0, 1, 101)
    others = np.full(1000, -5.0)
    assert _share_of_duplicates(others, halves, 1000) == pytest.approx(0.01)  # the least
    forty = np.concatenate([others, np.linspace(0, 1, 40)])
    assert _share_of_duplicates(forty, halves, 1000) == pytest.approx(0.04, rel=0.1)
    assert _share_of_duplicates(np.ones(500), halves, 1000) == pytest.approx(0.1)  # the most


def test_spelling_alone_suffices_for_few_tags() -> None:
    texts = ["sea and sand", "tram and bus", "old books"] * 2
    corpus = tt.read_corpus(texts, tags=[["Wen Li"], ["Bo"], ["Ann"], ["Li Wen"], ["Bo"], ["Ann"]])
    found = duplicate_tags(corpus)
    assert {corpus.tag_names[found.tags[0]], corpus.tag_names[found.others[0]]} == {"Wen Li", "Li Wen"}
    assert found.scores[0] > 0.5


def test_tags_on_the_same_documents_are_no_duplicates(halves: tt.Corpus) -> None:
    found = duplicate_tags(halves)
    pairs = {
        frozenset((halves.tag_names[a], halves.tag_names[b])): score
        for a, b, score in zip(found.tags, found.others, found.scores, strict=True)
    }
    always = frozenset(("base:dtype", "subpackage:numpy.dtypes"))  # on exactly the same documents
    assert pairs.get(always, 0) < 0.05


def test_headings_that_differ_in_words_of_the_texts_are_not_merged(halves: tt.Corpus) -> None:
    """Two halves of a tag, which are used alike, under names as `urban planning` and `urban development`."""
    names = [*halves.tag_names]
    names[names.index("subpackage:scipy.stats")] = "subpackage:random distribution"
    names[-1] = "subpackage:random sample"
    found = duplicate_tags(replace(halves, tag_names=tuple(names)))
    pairs = {frozenset((names[a], names[b])) for a, b in zip(found.tags, found.others, strict=True)}
    assert pairs
    assert frozenset(("subpackage:random distribution", "subpackage:random sample")) not in pairs


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        ("Urban planning", "Urban development", True),
        ("Urban planning", "Urban planning law", True),
        ("Urban planning", "planning, urban", False),
        ("Urban planning", "Stadtplanung", False),  # no text has the word
        ("Plan (urban)", "Plan", False),
        ("kind:plans", "plan", False),
    ],
)
def test_names_differ_in_known_words(one: str, other: str, different: bool) -> None:
    known = frozenset().union(*map(content_stems, ("urban planning law", "development", "plan")))
    assert differ_in_words(one, other, known) == differ_in_words(other, one, known) == different


def test_unity_is_the_similarity_between_tags_over_that_within(halves: tt.Corpus) -> None:
    """Computed anew from all pairs of documents."""
    weighted, tags = weighted_words(halves), sp.csr_array(halves.tags, dtype=np.float64)
    a, b = halves.tag_names.index("subpackage:scipy.stats"), halves.n_tags - 1
    rows = [np.flatnonzero(tags[:, [t]].toarray()) for t in (a, b)]
    alike = [[(weighted[p] @ weighted[q].T).toarray() for q in rows] for p in rows]
    within = [
        (alike[i][i].sum() - np.trace(alike[i][i])) / (len(r) * (len(r) - 1)) for i, r in enumerate(rows)
    ]
    expected = alike[0][1].mean() / np.sqrt(within[0] * within[1])
    found = _unity(_make_profiles(weighted, tags), np.array([a]), np.array([b]))
    assert found[0] == pytest.approx(expected)


def test_largest_entries_of_rows() -> None:
    matrix = sp.csr_array(np.array([[1.0, 3, 2], [0, 0, 0], [5, 5, 5]]))
    assert largest(matrix, 2).toarray().tolist() == [[0, 3, 2], [0, 0, 0], [5, 5, 0]]
