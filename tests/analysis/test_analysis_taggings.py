"""Signals of taggings against an independent computation, and what becomes of planted errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.analysis.audit.audit import _doubtful_tags
from tagtopics.analysis.audit.duplicates import weighted_words
from tagtopics.analysis.audit.margins import _both_sorts, _curved_margins, margins_of, observed_odds
from tagtopics.analysis.audit.names import name_words, namesakes
from tagtopics.analysis.audit.taggings import (
    _NOVEL,
    _NOVEL_ONLY,
    Taggings,
    _batches,
    _best_entries,
    _best_scores,
    _entries,
    _omitted_share,
    _others_of_document,
    _related_names,
    _wrong_share,
    collect_taggings,
    doubtful_taggings,
    missing_taggings,
)
from tagtopics.corpus.core import tag_matrix
from tagtopics.jit.threads import thread_limit
from tagtopics.recommend.recommender import fit_recommender
from tagtopics.recommend.ridge import NEIGHBOURS


@pytest.fixture(scope="module")
def planted() -> tuple[tt.Corpus, Any, set[tuple[int, int]], set[tuple[int, int]]]:
    """A corpus, its model, and the taggings that were added and removed."""
    corpus = make_tagged_corpus(n_docs=300, n_words=200, n_groups=0, n_topics=8, n_tags=12, seed=1).corpus
    generator = np.random.default_rng(2)
    tags = corpus.tags.toarray()
    there, absent = np.argwhere(tags > 0), np.argwhere(tags == 0)
    removed = there[generator.permutation(len(there))[:20]]
    added = absent[generator.permutation(len(absent))[:20]]
    tags[tuple(removed.T)], tags[tuple(added.T)] = 0, 1
    noisy = replace(corpus, tags=sp.csr_array(tags))
    model = tt.TTM(8, random_state=0, max_iter=20).fit(noisy)
    return noisy, model, {tuple(pair) for pair in added.tolist()}, {tuple(pair) for pair in removed.tolist()}


def collected(corpus: tt.Corpus, recommender: Any, doc_topic: Any) -> Taggings:
    names = name_words(corpus, corpus.tag_names)
    return collect_taggings(corpus, recommender, corpus.counts, doc_topic, names)


@pytest.fixture(scope="module")
def taggings(planted: Any) -> Taggings:
    corpus, model, _, _ = planted
    return collected(corpus, model.recommender_, model.transform(corpus))


def test_every_tagging_is_collected_once(planted: Any, taggings: Taggings) -> None:
    corpus = planted[0]
    pairs = set(zip(taggings.docs.tolist(), taggings.tags.tolist(), strict=True))
    assert len(pairs) == len(taggings.docs)
    carried = {
        (d, t)
        for (d, t), yes in zip(zip(taggings.docs, taggings.tags, strict=True), taggings.carried, strict=True)
        if yes
    }
    assert carried == set(zip(*corpus.tags.toarray().nonzero(), strict=True))
    assert not (taggings.carried & taggings.random).any()
    assert np.isfinite(taggings.signals).all()


def test_the_signals_of_a_tagging_do_not_use_its_own_document(planted: Any, taggings: Taggings) -> None:
    """Counted anew with loops; co-occurrence of tag t in d: the other tags of d, in other documents."""
    corpus, model, _, _ = planted
    tags = corpus.tags.toarray() > 0
    scores = model.recommender_
    for i in np.random.default_rng(0).permutation(len(taggings.docs))[:60]:
        d, t = int(taggings.docs[i]), int(taggings.tags[i])
        others = [s for s in np.flatnonzero(tags[d]) if s != t]
        rest = np.delete(tags, d, axis=0)
        cooccurrence = sum((rest[:, s] & rest[:, t]).sum() / tags[:, s].sum() for s in others)
        observed = sum((rest[:, s] & rest[:, t]).sum() for s in others)
        expected = sum(tags[:, s].sum() for s in others) * rest[:, t].sum() / len(tags)
        assert taggings.n_others[i] == rest[:, t].sum()
        assert taggings.signals[i, 5] == pytest.approx(np.log(cooccurrence + 3e-3))
        assert taggings.signals[i, 6] == pytest.approx(np.log((observed + 0.1) / (expected + 0.1)))
        own = np.flatnonzero(scores.rows == d)
        if len(own):
            without = scores._leave_one_out_features(own)[0][0, t, 1]
            assert taggings.signals[i, 1] == pytest.approx(without, abs=1e-5)


def test_documents_without_tags_get_random_ones(planted: Any) -> None:
    """Otherwise no random tag would be the only one of its document, and every only tag would seem right."""
    corpus, model, _, _ = planted
    tags = corpus.tags.toarray()
    tags[200:] = 0
    part = replace(corpus, tags=sp.csr_array(tags))
    doc_topic = model.transform(part)
    trained = fit_recommender(part.counts, part.tags, doc_topic, part.tag_names)
    found = collected(part, trained, doc_topic)
    n_random = np.bincount(found.docs[found.random], minlength=corpus.n_docs)
    assert n_random[200:].mean() == pytest.approx(n_random[:200].mean(), rel=0.5)


def test_closeness_leaves_the_document_out(
    planted: Any, taggings: Taggings, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = planted[0]
    words = weighted_words(corpus).toarray()
    tags = corpus.tags.toarray() > 0
    judged = np.flatnonzero(taggings.carried | taggings.random)
    for i in np.random.default_rng(0).permutation(judged)[:40]:
        d, t = int(taggings.docs[i]), int(taggings.tags[i])
        others = [e for e in np.flatnonzero(tags[:, t]) if e != d]
        cosine = words[d] @ words[others].sum(0) / np.linalg.norm(words[others].sum(0))
        ratio = (words[d] @ words[others].mean(0) + 1e-3) / (words[d] @ words.mean(0) + 1e-3)
        assert taggings.signals[i, 13] == pytest.approx(cosine)
        assert taggings.signals[i, 14] == pytest.approx(np.log(ratio))
    monkeypatch.setattr("tagtopics.analysis.audit.taggings._SMALL_TABLE", 0)
    again = collected(corpus, planted[1].recommender_, planted[1].transform(corpus))
    assert again.signals == pytest.approx(taggings.signals)


def test_ranks_count_the_better_candidates(taggings: Taggings) -> None:
    for d in (0, 7, 100):
        here = np.flatnonzero((taggings.docs == d) & taggings.candidate)
        scores, ranks = taggings.signals[here, 1], np.expm1(taggings.signals[here, 11])
        assert ranks == pytest.approx([(scores > score).sum() for score in scores])
        assert len(here) <= 60
        others = np.flatnonzero((taggings.docs == d) & ~taggings.candidate)
        assert (taggings.signals[others, 11] == 0).all()


@pytest.mark.parametrize("n_tags", [1, 7, 90])
def test_candidates_are_the_largest_positive_values(n_tags: int) -> None:
    """Sorted in full, the first of equals first; values in tenths have many equals."""
    table = np.random.default_rng(n_tags).integers(-3, 10, size=(40, n_tags)) / 10
    first = np.argsort(-table, axis=1, kind="stable")[:, :20]
    expected = [d * n_tags + t for d in range(40) for t in first[d] if table[d, t] > 0]
    assert sorted(_best_scores(table.astype(np.float32)).tolist()) == sorted(expected)
    entries = sp.csr_array(table)
    assert sorted(_best_entries(entries).tolist()) == sorted(expected)
    assert _entries(entries, np.arange(40 * n_tags)).tolist() == table.ravel().tolist()


def test_regressions_learn_from_outcomes_of_both_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagtopics.analysis.audit.margins._SQUARES_PAIRS", 100)
    rare, often = np.arange(1000) % 50 == 0, np.arange(1000) % 3 == 0
    some = _both_sorts(rare)
    assert len(set(some.tolist())) == len(some) == 100
    assert rare[some].sum() == 20  # all there are
    assert often[_both_sorts(often)].sum() == 50
    assert sorted(_both_sorts(rare[:30])) == list(range(30))


def test_products_find_what_single_signals_cannot() -> None:
    """The outcome is likely where two signals have the same sign, which no sum of the two can tell."""
    generator = np.random.default_rng(0)
    signals = np.column_stack([np.ones(4000), generator.normal(size=(4000, 2))])
    outcomes = generator.random(4000) < np.where(signals[:, 1] * signals[:, 2] > 0, 0.9, 0.1)
    used = np.arange(4000) < 3000
    curved = _curved_margins(signals[:, 1:], np.flatnonzero(used), outcomes[used])
    assert ((curved > 0) == outcomes)[~used].mean() > 0.85
    both = margins_of(signals, outcomes)
    assert np.corrcoef(both, curved)[0, 1] > 0.5
    few = margins_of(signals[:100], outcomes[:100])  # too few outcomes for products
    assert np.isfinite(few).all()
    assert not np.array_equal(few, both[:100])


def test_planted_errors_come_first(planted: Any, taggings: Taggings) -> None:
    _, _, added, removed = planted
    for verdicts, true in ((doubtful_taggings(taggings), added), (missing_taggings(taggings), removed)):
        pairs = list(zip(verdicts.docs.tolist(), verdicts.tags.tolist(), strict=True))
        assert ((verdicts.scores >= 0) & (verdicts.scores <= 1)).all()
        assert (np.diff(verdicts.scores) <= 0).all()
        hits = len(true & set(pairs[:20]))
        by_chance = 20 * 20 / len(pairs)
        assert hits >= max(4, 4 * by_chance)


def test_a_tag_on_one_document_is_not_judged(planted: Any) -> None:
    corpus = planted[0]
    tags = sp.csr_array(
        np.column_stack([corpus.tags.toarray(), np.arange(corpus.n_docs) == 5]).astype(np.int8)
    )
    single = replace(corpus, tags=tags, tag_names=(*corpus.tag_names, "once"))
    model: Any = tt.TTM(8, random_state=0, max_iter=5).fit(single)
    pairs = collected(single, model.recommender_, model.transform(single))
    assert corpus.n_tags not in doubtful_taggings(pairs).tags


def test_the_words_of_a_name_in_the_text_are_a_signal() -> None:
    texts = ["red apples and pears", "green pears", "blue sea, constructed", "the sea at night"] * 3
    lists = [["apple pie"], ["pear"], ["sea (water)", "construction"], ["sea (water)"]] * 3
    corpus = tt.read_corpus(texts, tags=lists)
    model: Any = tt.TTM(2, random_state=0, max_iter=5).fit(corpus)
    pairs = collected(corpus, model.recommender_, model.transform(corpus))
    named = {
        (int(d), corpus.tag_names[t]): value
        for d, t, value in zip(pairs.docs, pairs.tags, pairs.signals[:, 7], strict=True)
    }
    assert named[0, "apple pie"] == pytest.approx(np.log(13 / 4) / (np.log(13 / 4) + np.log(13)), abs=1e-4)
    assert named[0, "pear"] == 1.0
    assert named[2, "sea (water)"] == 1.0
    assert named[2, "construction"] == 1.0


def test_parts_of_a_name_are_found_in_related_words_and_in_other_tags() -> None:
    texts = ["digital charts", "paper charts", "a night at sea", "the open sea"]
    lists = [["Digitalization"], ["Digitalization", "Sea chart"], ["Sea", "Sea chart"], ["Sea", "Night"]]
    corpus = tt.read_corpus(texts, tags=lists)
    docs, tags = np.array([0, 1, 2, 2, 3]), ["Digitalization", "Digitalization", "Sea", "Sea chart", "Sea"]
    places = np.array([corpus.tag_names.index(tag) for tag in tags])
    names = name_words(corpus, corpus.tag_names)
    assert not names.present[[0]][:, [names.stems["digitali"]]].nnz  # one word is not the other
    in_text, in_tags = _related_names(corpus, names, docs, places)
    assert in_text[:2].tolist() == [1, 0]
    assert in_tags == pytest.approx([0, 0, 1, names.shares[names.stems["sea"], places[3]], 0])
    assert 0 < in_tags[3] < 1


@pytest.fixture(scope="module")
def rare_headings() -> tt.Corpus:
    """Texts of eight topics, with 60 headings on two random documents each; the first has their names.

    They are as real headings: nothing else in the second document suggests them.
    """
    corpus = make_tagged_corpus(n_docs=300, n_words=200, n_groups=0, n_topics=8, n_tags=12, seed=1).corpus
    names = [f"{a}{a}{b}{b} of {b}{a}{b}{a}" for a in "aeiou" for b in "bcdfghklmnpr"]
    rows = np.random.default_rng(3).permutation(300)[: 2 * len(names)].reshape(-1, 2)
    texts = [" ".join(np.repeat(corpus.vocabulary, row)) for row in corpus.counts.toarray()]
    lists = [list(corpus.tags_of(row)) for row in range(300)]
    for name, (one, other) in zip(names, rows.tolist(), strict=True):
        texts[one] += f" {name}"
        lists[one].append(name)
        lists[other].append(name)
    return tt.read_corpus(texts, tags=lists)


def test_a_tag_whose_name_is_in_the_text_is_not_doubtful(rare_headings: tt.Corpus) -> None:
    model: Any = tt.TTM(8, random_state=0, max_iter=20).fit(rare_headings)
    found = tt.audit(model, rare_headings, kinds=["doubtful"], min_score=0)
    texts = rare_headings.texts
    assert texts is not None
    rare = [f for f in found if " of " in f.tag]
    assert len(rare) >= 30
    assert [f for f in rare if f.row is not None and f.tag in texts[f.row]] == []


def test_few_documents_give_no_high_score(taggings: Taggings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tagging may be the first of its sort: the odds of an error are at most s (n + 1) / c."""

    def scores(n: float) -> Any:
        return doubtful_taggings(taggings._replace(n_others=np.full(len(taggings.docs), n))).scores

    assert scores(1e6)[0] > 0.5
    for share, novel in ((0.1, _NOVEL), (0.001, _NOVEL_ONLY)):
        monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_, s=share: s)
        many, odds = scores(1e6), 2 * share / novel
        assert scores(1.0).max() < odds / (1 + odds) < 0.81
        assert scores(1.0) == pytest.approx(1 / (1 / many + novel / (2 * share)), rel=1e-4)


def test_where_the_data_allow_no_errors_scores_are_low(
    taggings: Taggings, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_all = doubtful_taggings(taggings)
    monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_: 1e-5)
    clean = doubtful_taggings(taggings)
    assert at_all.scores[0] > 0.3
    assert clean.scores[0] < 0.1


def test_taggings_are_compared_with_the_sort_of_errors_that_the_data_allow(
    taggings: Taggings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random taggings have all tags equally often, or tags by frequency; a larger share decides."""
    found = {}
    for shares in ((0.05, 0.01), (0.01, 0.05)):
        given = iter(shares)
        monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_, g=given: next(g))
        found[shares] = doubtful_taggings(taggings)
    monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_: 0.05)
    for drawn, other in zip((taggings.random, taggings.frequent), found.values(), strict=True):
        alone = doubtful_taggings(taggings._replace(random=drawn, frequent=drawn))
        assert (alone.scores == other.scores).all()
        assert (alone.docs == other.docs).all()
    assert (found[0.05, 0.01].docs != found[0.01, 0.05].docs).any()


def test_where_hardly_any_tagging_is_wrong_tags_by_frequency_count(
    taggings: Taggings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of two tiny shares is larger is chance, and must not decide what is listed."""
    found = []
    for shares in ((0.002, 0.001), (0.001, 0.001)):
        given = iter(shares)
        monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_, g=given: next(g))
        found.append(doubtful_taggings(taggings))
    monkeypatch.setattr("tagtopics.analysis.audit.taggings._wrong_share", lambda *_: 0.001)
    found.append(doubtful_taggings(taggings._replace(random=taggings.frequent)))
    for other in found[1:]:
        assert (found[0].scores == other.scores).all()
        assert (found[0].docs == other.docs).all()
        assert (found[0].tags == other.tags).all()


def test_random_taggings_of_the_second_sort_have_tags_by_frequency() -> None:
    often = np.arange(400) < 360
    tags = sp.csr_array(np.column_stack([often, ~often]).astype(np.int8))
    corpus = replace(
        tt.load_dataset("docstrings").select(range(400)), tags=tags, tag_names=("often", "seldom")
    )
    model: Any = tt.TTM(4, random_state=0, max_iter=3).fit(corpus)
    pairs = collected(corpus, model.recommender_, model.transform(corpus))
    assert not (pairs.frequent & pairs.carried).any()
    drawn = [np.bincount(pairs.tags[sort], minlength=2) for sort in (pairs.random, pairs.frequent)]
    odds = [n[0] / 40 / (n[1] / 360) for n in drawn]  # of the documents that lack the tag
    assert odds[0] < 2
    assert odds[1] > 2 * odds[0]


def test_tags_are_compared_with_the_others_of_their_document() -> None:
    docs, margins = np.array([0, 0, 0, 1]), np.array([1.0, 3.0, 5.0, -1.0])
    carried = np.array([True, True, False, True])  # the mean of all taggings is 1
    assert _others_of_document(docs, margins, carried) == pytest.approx([2.0, 1.0, 5 / 3, 1.0])


def test_the_name_of_a_person_that_another_may_have_is_doubted_first() -> None:
    names = ("Yang Liu", "Wei Liu", "Yang Wang", "Wei Chen", "Ada Byron", "LREC")
    counts = sp.csr_array((2, len(names)), dtype=np.int8)
    corpus = replace(tt.read_corpus(["a word", "a word"], tags=[["x"], ["x"]]), tags=counts, tag_names=names)
    likely = dict(zip(names, namesakes(name_words(corpus, names)), strict=True))
    assert likely["Yang Liu"] == pytest.approx(1 - np.exp(-6 * (2 / 6) * (2 / 6)))
    assert likely["Yang Liu"] > likely["Wei Chen"] > likely["Ada Byron"]
    assert likely["LREC"] == 1.0  # one word: nothing is known


def test_persons_whose_name_no_other_has_come_last(
    planted: Any, taggings: Taggings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fifth of the score is left to a rare name; a few names do not show which ones are common."""
    corpus = planted[0]
    people = [f"{a} {b}" for a in ("Yang", "Wei") for b in ("Liu", "Wang")]
    people += [f"{letter * 3} {letter * 4}" for letter in "bcdfghjklmnp"][: corpus.n_tags - len(people)]
    names = name_words(corpus, people)
    plain = doubtful_taggings(taggings)
    assert _doubtful_tags(taggings, names).scores.tolist() == plain.scores.tolist()
    monkeypatch.setattr("tagtopics.analysis.audit.audit._MANY_NAMES", 1)
    found, factors = _doubtful_tags(taggings, names), np.maximum(namesakes(names), 0.2)
    assert found.scores == pytest.approx(np.sort(plain.scores * factors[plain.tags])[::-1])
    assert factors[:4].min() > factors[4:].max() >= 0.2


def test_texts_that_are_like_those_with_the_name_support_a_tag() -> None:
    """Two headings on two documents each; the one fits the subject of those that mention its name."""
    sea, city = "plankton tide coral reef salt fish", "tram bus street station traffic ticket"
    texts = [*([f"{sea} oceanography"] * 20), *([city] * 20), sea, city]
    lists = [*([["sea"]] * 20), *([["city"]] * 20), ["sea", "Oceanography"], ["city", "Oceanography"]]
    corpus = tt.read_corpus(texts, tags=lists)
    model: Any = tt.TTM(2, random_state=0, max_iter=20).fit(corpus)
    pairs = collected(corpus, model.recommender_, model.transform(corpus))
    heading = corpus.tag_names.index("Oceanography")
    signals = {
        int(d): row for d, t, row in zip(pairs.docs, pairs.tags, pairs.signals, strict=True) if t == heading
    }
    for column in (15, 16, 17):
        assert signals[40][column] > signals[41][column] + 0.5


def test_the_number_of_threads_does_not_matter(planted: Any, taggings: Taggings) -> None:
    corpus, model, _, _ = planted
    for threads in (1, 3):
        with thread_limit(threads):
            again = collected(corpus, model.recommender_, model.transform(corpus))
        assert all(np.array_equal(a, b) for a, b in zip(taggings, again, strict=True))


def test_tag_matrix_of_nothing() -> None:
    """One document, one tag: nothing can be said, and nothing fails."""
    corpus = tt.read_corpus(["one text only"], tags=[["a"]])
    model = tt.TTM(2, random_state=0, max_iter=3).fit(corpus)
    assert tag_matrix([["a"]], ["a"]).shape == (1, 1)
    assert [f for f in tt.audit(model, corpus) if f.kind in ("doubtful", "missing")] == []


def test_answers_of_neighbours_are_signals_too(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many neighbours as a recommendation asks give its scores, which are a sparse table here."""
    corpus, model, _, _ = planted
    monkeypatch.setattr("tagtopics.recommend.ridge._LARGEST_TABLE", 0)
    monkeypatch.setattr("tagtopics.recommend.ridge._LARGEST_INVERSE", 0)
    monkeypatch.setattr("tagtopics.analysis.audit.taggings._NEIGHBOURS", NEIGHBOURS)
    theta = model.transform(corpus)
    asking = fit_recommender(corpus.counts, corpus.tags, theta, corpus.tag_names)
    assert not len(asking.coefficients)
    found = collected(corpus, asking, theta)
    trained = np.flatnonzero(np.isin(found.docs, asking.rows))
    for i in np.random.default_rng(0).permutation(trained)[:60]:
        without = asking._leave_one_out_features(np.flatnonzero(asking.rows == found.docs[i]))[0]
        assert found.signals[i, 1] == pytest.approx(without[0, found.tags[i], 1], abs=1e-5)


def test_training_documents_come_first() -> None:
    own = np.array([0, -1, 1, 2, -1])
    batches = [rows.tolist() for rows in _batches(np.array([0, 1, 3, 4]), own, 1 << 22)]
    assert batches == [[0, 3], [1, 4]]
    assert [rows.tolist() for rows in _batches(np.array([0, 2, 4]), own, 1 << 23)] == [[0], [2], [4]]


def test_random_tags_without_documents_do_not_count(taggings: Taggings) -> None:
    """Nothing else is like them, so that they would make all taggings of the collection seem right."""
    random = np.flatnonzero(taggings.random)
    more = Taggings(*(np.concatenate([part, part[random]]) for part in taggings))
    more.n_others[len(taggings.docs) :] = 0
    more.signals[len(taggings.docs) :, 3] = -20
    expected, found = doubtful_taggings(taggings), doubtful_taggings(more)
    assert found.scores.tolist() == expected.scores.tolist()


def test_at_most_a_tenth_is_taken_to_be_wrong_or_missing() -> None:
    """Margins of both sorts are equal, so that any share would do."""
    margins = np.random.default_rng(0).normal(size=1000)
    assert _wrong_share(margins, margins) == _omitted_share(margins, margins) == 0.1
    assert _wrong_share(margins - 20, margins) < 0.1


def test_odds_are_those_observed_at_a_margin() -> None:
    """Margins that are three times too small still give the odds by which outcomes were drawn."""
    generator = np.random.default_rng(0)
    log_odds = generator.uniform(-3, 3, 20_000)
    outcomes = generator.random(20_000) < 1 / (1 + np.exp(-log_odds))
    asked = np.linspace(-2.5, 2.5, 11)
    found = observed_odds(log_odds / 3, outcomes, asked / 3)
    assert np.log(found) == pytest.approx(asked, abs=0.35)
    assert (np.diff(found) >= 0).all()


def test_odds_of_equal_margins_and_of_few_pairs_are_shares() -> None:
    margins, outcomes = np.array([1.0, 1.0, 1.0, 1.0]), np.array([True, False, False, True])
    assert observed_odds(margins, outcomes, np.array([0.0, 1.0, 2.0])) == pytest.approx(1.0)
    one = observed_odds(np.array([0.5]), np.array([True]), np.array([-1.0, 1.0]))
    assert one == pytest.approx(3.0)  # one and a half over a half
