"""The words of topics that people read: their definition, and that all ways to a model end with it."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

import tagtopics as tt
from tagtopics.bp.holdout import topic_coherence
from tagtopics.curation.edits import curate
from tagtopics.errors import InputError
from tagtopics.jit.top import largest_in_rows
from tagtopics.models.online import update_model
from tagtopics.models.saved_arrays import arrays_to_save, check_arrays
from tagtopics.models.topic_words import choose_topic_words, list_words
from tagtopics.scale import fit_shards, shard_corpus


def slow_order(phi: Any, share: Any, k: int) -> list[int]:
    """Return all words by their contribution to the divergence of a topic from the collection."""
    collection = [sum(s * row[w] for s, row in zip(share, phi, strict=True)) for w in range(phi.shape[1])]
    score = [p * (log(p / q) + 1e-9) if p else 0.0 for p, q in zip(phi[k], collection, strict=True)]
    return sorted(range(len(score)), key=lambda w: -score[w])


def slow_npmi(has: list[set[int]], a: int, b: int, n_docs: int) -> int:
    """Return the NPMI of two words in billionths, from the documents that have each word."""
    if not has[a] or not has[b]:
        return 0
    both, expected = len(has[a] & has[b]), len(has[a]) * len(has[b]) / n_docs
    shrunk = (both * both + 5 * expected) / (both + 5)
    return 0 if shrunk > n_docs - 1e-6 else round(1e9 * log(shrunk / expected) / log(n_docs / shrunk))


def slow_choice(phi: Any, share: Any, counts: Any, k: int) -> list[int]:
    """Return the listed words of a topic, word by word as the definition says."""
    D, order = len(counts), slow_order(phi, share, k)[:20]
    if D < 100:
        return order
    has = [set(np.flatnonzero(column).tolist()) for column in counts.T]
    left, removed = list(order), []
    while len(left) > 10:
        sums = {a: sum(slow_npmi(has, a, b, D) for b in left if b != a) for a in left}
        removed.append(min(reversed(left), key=lambda w: sums[w]))
        left.remove(removed[-1])
    return left + removed[::-1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 45), st.integers(90, 160), st.integers(0, 10**6))
def test_words_are_chosen_as_the_definition_says(K: int, W: int, D: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    phi, share = rng.dirichlet(np.full(W, 0.4), K), rng.dirichlet(np.ones(K))
    theta = rng.dirichlet(np.full(K, 0.3), D).reshape(D, K)
    counts = rng.poisson(8 * theta @ phi)
    counts[:, rng.random(W) < 0.1] = 1  # words in all documents
    counts[:, rng.random(W) < 0.1] = 0  # and in none
    chosen = choose_topic_words(phi, share, sp.csr_array(counts))
    assert chosen.tolist() == [slow_choice(phi, share, counts, k) for k in range(K)]
    listed = list_words(phi, share, chosen, 30)
    for k in range(K):
        rest = [w for w in slow_order(phi, share, k) if w not in chosen[k]]
        assert listed[k].tolist() == [*chosen[k], *rest][:30]


def test_without_documents_words_are_ordered_by_contribution() -> None:
    rng = np.random.default_rng(0)
    phi, share = rng.dirichlet(np.full(50, 0.4), 3), np.array([0.5, 0.3, 0.2])
    chosen = choose_topic_words(phi, share, sp.csr_array((0, 50)))
    assert chosen.tolist() == list_words(phi, share, None, 20).tolist()
    assert chosen.tolist() == [slow_order(phi, share, k)[:20] for k in range(3)]


def test_a_topic_that_is_the_collection_has_its_most_probable_words() -> None:
    phi = np.random.default_rng(0).dirichlet(np.full(40, 0.4), 1).astype(np.float32)
    assert list_words(phi, np.ones(1), None, 12)[0].tolist() == np.argsort(-phi[0])[:12].tolist()


def test_many_documents_are_sampled_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    phi, share = rng.dirichlet(np.full(50, 0.4), 2), np.array([0.5, 0.5])
    counts = sp.csr_array(rng.poisson(0.5, (480, 50)))
    few = choose_topic_words(phi, share, counts[::4])
    assert few.tolist() != choose_topic_words(phi, share, counts).tolist()
    monkeypatch.setattr("tagtopics.models.topic_words._MOST_DOCS", 120)
    assert few.tolist() == choose_topic_words(phi, share, counts).tolist()


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    """Three themes of twelve words that occur together, and common words."""
    rng = np.random.default_rng(0)
    rows = []
    for d in range(400):
        theme = [f"theme{d % 3}x{i}" for i in range(12)]
        words = [*rng.choice(theme, 12), *(f"common{i}" for i in rng.integers(0, 30, 12))]
        rows.append({"text": " ".join(words), "tags": [f"t{d % 3}"]})
    return tt.read_corpus(rows)


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> tt.TTM:
    return tt.TTM(4, random_state=0, max_iter=20).fit_topics(corpus)


def assert_defined(model: Any, corpus: tt.Corpus) -> None:
    """Check that the words of a model are those that the definition chooses in a corpus."""
    counts = corpus.counts[:, [corpus.vocabulary.index(word) for word in model.vocabulary_]]
    assert np.array_equal(
        model.topic_words_, choose_topic_words(model.components_, model.topic_shares(), counts)
    )


def test_all_lists_are_of_the_same_words(model: tt.TTM, corpus: tt.Corpus) -> None:
    from tagtopics.explore.record.export import export_tables
    from tagtopics.explore.record.to_topic_data import topic_data
    from tagtopics.explore.report.prepare import fixed_index
    from tagtopics.models.results import topic_rows

    assert_defined(model, corpus)
    assert not np.array_equal(
        model.topic_words_, list_words(model.components_, model.topic_shares(), None, 20)
    )
    wanted = [[model.vocabulary_[w] for w in own[:10]] for own in model.topic_words_]
    assert [[word for word, _ in own] for own in model.top_words()] == wanted
    for k, own in enumerate(model.top_words(25)):
        assert [p for _, p in own] == [model.components_[k, model.vocabulary_.index(word)] for word, _ in own]
    table = model.topic_table()
    assert [table.words[table.topic.index(k)] for k in range(4)] == [tuple(own) for own in wanted]
    assert [[entry["word"] for entry in row["words"]] for row in topic_rows(model, 10)] == wanted
    assert export_tables(model)["topics"]["words"] == [" ".join(own) for own in wanted]
    index = fixed_index(topic_data(model, corpus))
    names = index["words"]["names"]
    assert [[names[w] for w in own[:10]] for own in index["topics"]["words"]] == wanted


def test_words_do_not_depend_on_threads_and_are_saved(
    model: tt.TTM, corpus: tt.Corpus, tmp_path: Path
) -> None:
    for n_jobs in (1, 3):
        other = tt.TTM(4, random_state=0, max_iter=20, n_jobs=n_jobs).fit_topics(corpus)
        assert np.array_equal(other.topic_words_, model.topic_words_)
    model.save(tmp_path / "m.tt")
    again = tt.load(tmp_path / "m.tt")
    assert (
        again.topic_words_.dtype == load_file(tmp_path / "m.tt" / "arrays.safetensors")["topic_words_"].dtype
    )
    assert np.array_equal(again.topic_words_, model.topic_words_)
    assert again.top_words(30) == model.top_words(30)


def test_a_model_without_words_of_topics_is_refused(model: tt.TTM) -> None:
    arrays = {name: array for name, array in arrays_to_save(model).items() if name != "topic_words_"}
    with pytest.raises(InputError, match="has no topic_words_"):
        check_arrays(arrays, {"K": 4, "W": len(model.vocabulary_), "T": 3, "D": 400}, model)


@pytest.mark.parametrize(
    "damage",
    [
        lambda words: words.astype(np.int64),
        lambda words: words[:, 1:],
        lambda words: words - 1000,
        lambda words: words + 1000,
        lambda words: np.repeat(words[:, :1], 20, axis=1),
    ],
)
def test_damaged_words_are_refused(model: tt.TTM, damage: Any) -> None:
    arrays = arrays_to_save(model)
    sizes = {"K": 4, "W": len(model.vocabulary_), "T": 3, "D": 400}
    check_arrays(arrays, sizes, model)
    with pytest.raises(InputError, match="topic_words_"):
        check_arrays(arrays | {"topic_words_": damage(arrays["topic_words_"])}, sizes, model)


def test_words_of_a_fit_to_shards_are_those_of_its_documents(corpus: tt.Corpus, tmp_path: Path) -> None:
    folder = shard_corpus(corpus, tmp_path / "shards", shard_edges=1500)
    fitted = fit_shards(tt.LDA(3, random_state=0, max_iter=10), folder, tmp_path / "run")
    assert_defined(fitted, corpus)


def test_words_follow_more_documents_and_updates(corpus: tt.Corpus) -> None:
    first, second = corpus.select(np.arange(250)), corpus.select(np.arange(250, 400))
    online = tt.LDA(3, random_state=0, max_iter=10).partial_fit(first, batch_size=100)
    assert_defined(online, first)
    online.partial_fit(second)
    assert_defined(online, second)
    fitted = tt.LDA(3, random_state=0, max_iter=10).fit_topics(first)
    update_model(fitted, first, second)
    assert_defined(fitted, corpus)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [("merge", {"topics": [0, 2]}), ("ban", {"words": ["theme0x1", "common3"]})],
)
def test_words_follow_edits(model: tt.TTM, corpus: tt.Corpus, kind: str, parts: dict[str, Any]) -> None:
    edited = curate(model, kind, corpus=corpus, **parts)
    assert_defined(edited, corpus)
    assert_defined(model, corpus)
    renamed = curate(model, "rename", topics=[0], name="x")
    assert np.array_equal(renamed.topic_words_, model.topic_words_)


def test_words_follow_edits_without_the_documents(model: tt.TTM) -> None:
    merged = curate(model, "merge", topics=[0, 2])
    by_contribution = list_words(merged.components_, merged.topic_shares(), None, 20)
    assert merged.topic_words_[0].tolist() == by_contribution[0].tolist()
    assert np.array_equal(merged.topic_words_[1:], model.topic_words_[[1, 3]])
    banned = curate(model, "ban", words=["theme0x1"])
    expected = list_words(banned.components_, banned.topic_shares(), None, 10)
    assert np.array_equal(banned.listed_words(10), expected)


def assert_better(corpus: tt.Corpus, n_topics: int) -> None:
    """Check that listed words have more NPMI in other documents than probable ones, and differ more."""
    order = np.random.default_rng(1).permutation(corpus.n_docs)
    fitted = tt.LDA(n_topics, random_state=1).fit_topics(corpus.select(order[::2]))
    found = {}
    for kind, columns in (
        ("listed", fitted.listed_words(10)),
        ("probable", largest_in_rows(fitted.components_, 10)),
    ):
        words = [[corpus.vocabulary[w] for w in own] for own in columns]
        npmi = topic_coherence(corpus.select(order[1::2]), words).mean()
        found[kind] = npmi, len(np.unique(columns)) / columns.size
    assert found["listed"][0] > found["probable"][0] + 0.05
    assert found["listed"][1] > found["probable"][1] + 0.1


def test_listed_words_of_docstrings_occur_together_elsewhere() -> None:
    assert_better(tt.load_dataset("docstrings"), 20)


@pytest.mark.real_data
def test_listed_words_of_real_texts_occur_together_elsewhere(data_directory: Path) -> None:
    assert_better(tt.read_corpus(data_directory / "reuters"), 20)
    assert_better(tt.read_corpus(data_directory / "bbc" / "documents.jsonl.gz", text="text"), 20)
