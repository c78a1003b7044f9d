"""Names of tags in texts: finding them, learning from them, and recommending with them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.evaluation.recommendation import calibration_error
from tagtopics.subjects.name_features import FEATURES, group_matches, name_statistics, pair_features
from tagtopics.subjects.name_index import NameIndex
from tagtopics.subjects.pair_keys import has_entries
from tagtopics.subjects.tag_names import fit_tag_names
from tagtopics.subjects.thesaurus import Thesaurus, thesaurus_of

NAMES = {
    "s1": "Trams", "s2": "Knowledge management", "s3": "Management", "s4": "E-learning",
    "s5": "Java (island)", "s6": "Weiss, Clara", "s7": "IT",
}  # fmt: skip


def found(text: str, names: dict[str, str] = NAMES, language: str = "en") -> dict[str, set[str]]:
    """Return the pieces of a text that are names, by tag."""
    index = NameIndex(thesaurus_of(names.items()), language)
    matches, _ = index.find([text])
    pieces: dict[str, set[str]] = {}
    for tag, start, stop in zip(matches.tag, matches.start, matches.stop, strict=True):
        pieces.setdefault(index.thesaurus.ids[tag], set()).add(text[start:stop])
    return pieces


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The TRAM is late", {"s1": {"TRAM"}}),
        ("Managements of knowledge", {"s3": {"Managements"}}),
        ("knowledge management", {"s2": {"knowledge management"}, "s3": {"management"}}),
        ("elearning and e-learning", {"s4": {"elearning", "e-learning"}}),
        ("coffee from Java", {"s5": {"Java"}}),
        ("Java (island) again", {"s5": {"Java (island", "Java"}}),
        ("by Clara Weiss", {"s6": {"Clara Weiss"}}),
        ("it is IT", {"s7": {"IT"}}),
        ("nothing here", {}),
    ],
)
def test_names_are_found_in_any_form(text: str, wanted: dict[str, set[str]]) -> None:
    assert found(text) == wanted


def test_names_are_found_as_a_search_of_all_word_sequences_finds_them() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["a1", "b2", "c3", "d4", "e5"])
    names = {f"t{i}": " ".join(rng.choice(words, rng.integers(1, 4))) for i in range(30)}
    for _ in range(20):
        text = list(rng.choice(words, 12))
        slow = {
            tag: {name}
            for tag, name in names.items()
            if any(text[i : i + len(name.split())] == name.split() for i in range(12))
        }
        assert found(" ".join(text), names) == slow


def test_a_name_of_very_many_tags_takes_linear_time_and_memory() -> None:
    names = {f"s{i}": "tram" for i in range(100_000)}
    assert len(found("tram " * 20, names)) == 256


def test_a_thesaurus_with_a_hub_takes_little_memory() -> None:
    V, hub = 40_001, 40_000
    below = [(i, hub) for i in range(20_000)]
    above = [(hub, i) for i in range(20_000, 40_000)]  # 400 million pairs two levels apart
    words = sp.csr_array((np.ones(V, np.float32), np.zeros(V, np.int32), np.arange(V + 1)), shape=(V, 1))
    counts = (np.zeros(V, np.int64),) * 3
    names = name_statistics(words, np.array([*below, *above]), np.zeros(0, np.int64), 1, counts)
    assert names.above.nnz == 40_000


def test_compounds_have_parts() -> None:
    index = NameIndex(thesaurus_of([("1", "Hochschule"), ("2", "Politik")]), "de")
    _, occurs = index.find(["Die Hochschulpolitik des Landes"])
    assert occurs.nnz == 2
    assert NameIndex(index.thesaurus, "en").find(["Hochschulpolitik"])[1].nnz == 0


def test_features_are_those_of_the_definition() -> None:
    thesaurus = Thesaurus(
        ("narrow", "broad", "none"), ("night tram", "vehicle", "boat"), ((),) * 3, np.array([[0, 1]])
    )
    index = NameIndex(thesaurus, "en")
    matches, occurs = index.find(["A night tram", "a tram at night"])
    here = group_matches(matches, 4)
    counts = np.array([3, 2, 0, 5]), np.array([4, 0, 0, 0]), np.array([2, 0, 0, 0])
    names = name_statistics(index.name_words(), thesaurus.broader, np.array([0, 1, 3]), 10, counts)
    likely = np.array([[0.5, 0.2, 0.1], [0.5, 0.2, 0.1]], dtype=np.float32)
    truth = sp.csr_array(np.array([[1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.int8))
    rows = pair_features(names, here, occurs, np.zeros(2, dtype=np.int64), likely, truth)
    at = {(int(d), int(t)): dict(zip(FEATURES, v, strict=True)) for d, t, v in zip(*rows, strict=True)}
    first = at[0, 0]
    assert first["found"] == first["outermost"] == first["seen"] == 1
    assert first["length"] == 2
    assert first["rarity"] == pytest.approx(np.log((3 - 1 + 0.5) / 0.5))  # without itself
    assert first["rate"] == pytest.approx(np.log((2 - 1 + 0.12) / (4 - 1 - 1 + 3.88)))
    assert first["common"] == pytest.approx(np.log(3.5 / 11))
    assert at[0, 1]["narrower_hits"] == pytest.approx(np.log(2))
    assert (at[1, 0]["found"], at[1, 0]["all words"]) == (0, 1)
    assert at[1, 1]["narrower_hits"] == 0
    assert at[0, 3]["named"] == 0
    assert np.isfinite(rows.values).all()
    assert has_entries(truth, rows.doc, rows.tag).sum() == 1


SUBJECTS = {
    "s1": "plankton", "s2": "tide gauge", "s3": "tram", "s4": "timetable", "s5": "charter", "s6": "scribe",
    "s7": "lighthouse", "s8": "ferry",
}  # fmt: skip


def library(n: int = 120) -> tt.Corpus:
    """Return records whose subjects are mostly in their texts; two subjects are never used."""
    rng = np.random.default_rng(5)
    fill = [
        "study",
        "method",
        "report",
        "results",
        "region",
        "people",
        "history",
        "practice",
        "notes",
        "work",
    ]
    texts, tags = [], []
    for _ in range(n):
        own = sorted(rng.choice(6, 2, replace=False))
        names = [SUBJECTS[f"s{i + 1}"] for i in own]
        words = [*rng.choice(fill, 8), *(f"{name}s" for name in names)]
        texts.append(" ".join(rng.permutation(words[:8])) + "\n" + " of ".join(words[8:]))
        tags.append([f"s{i + 1}" for i in own])
    return tt.read_corpus(texts, tags=tags)


@pytest.fixture(scope="module")
def model() -> tt.TTM:
    return tt.TTM(3, random_state=0, max_iter=5).fit(tt.with_thesaurus(library(), SUBJECTS))


def asked(model: tt.TTM, *texts: str) -> tt.Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)  # unknown words are what some tests are about
        return tt.read_corpus(
            list(texts), tags=[[] for _ in texts], recipe=model.recipe_, vocabulary=model.vocabulary_
        )


def test_a_tag_without_training_documents_is_recommended(model: tt.TTM) -> None:
    (answer,) = model.recommend(asked(model, "study of work\nLighthouses on trams"), top=8, n_words=5)
    by_tag = {one.tag: one for one in answer}
    assert by_tag["s7"].found == ("Lighthouses",)
    assert by_tag["s7"].name == "lighthouse"
    assert by_tag["s3"].found == ("trams",)
    assert by_tag["s3"].words
    assert by_tag["s3"].probability > max(by_tag[tag].probability for tag in by_tag if tag in {"s1", "s5"})
    assert [one.probability for one in answer] == sorted((one.probability for one in answer), reverse=True)
    assert all(0 <= one.probability <= 1 for one in answer)


def test_a_text_without_words_and_names_gets_nothing(model: tt.TTM) -> None:
    nothing, name = model.recommend(asked(model, "hello", "Ferries hello"))
    assert nothing == []
    assert "s8" in [one.tag for one in name]


def test_threshold_and_number(model: tt.TTM) -> None:
    new = asked(model, "study of work\nplanktons of trams")
    (everything,) = model.recommend(new, top=8)
    cut = everything[1].probability
    assert model.recommend(new, top=8, threshold=cut)[0] == [
        one for one in everything if one.probability >= cut
    ]
    assert model.recommend(new, top=1)[0] == everything[:1]
    for wrong in ({"threshold": 1.5}, {"top": 0}, {"kind": "author"}, {"balanced": True}):
        with pytest.raises(tt.InputError):
            model.recommend(new, **wrong)
    with pytest.raises(tt.InputError, match="read from texts"):
        model.recommend(new.counts)


def test_a_saved_model_answers_the_same(model: tt.TTM, tmp_path: Path) -> None:
    model.save(tmp_path / "m.tt")
    assert (tmp_path / "m.tt" / "names.tsv").read_text().splitlines()[0] == "s1\tplankton"
    again = tt.load(tmp_path / "m.tt")
    new = asked(model, "study of work\nplanktons of trams", "lighthouse")
    assert again.recommend(new, n_words=5) == model.recommend(new, n_words=5)
    again.save(tmp_path / "m.tt")  # over the older one: names.tsv is a file of the model
    (tmp_path / "m.tt" / "names.tsv").write_text("s1\tother\n")
    with pytest.raises(tt.InputError, match="digest"):
        tt.load(tmp_path / "m.tt")


def test_threads_and_order_do_not_matter(model: tt.TTM) -> None:
    again = tt.TTM(3, random_state=0, max_iter=5, n_jobs=1).fit(tt.with_thesaurus(library(), SUBJECTS))
    assert again.names_ is not None
    assert model.names_ is not None
    assert np.array_equal(again.names_.weights, model.names_.weights)
    texts = "study of work\nplanktons of trams", "lighthouse notes", "ferry"
    alone = [model.recommend(asked(model, text))[0] for text in texts]
    for together, one in zip(model.recommend(asked(model, *texts)), alone, strict=True):
        assert [row.tag for row in together] == [row.tag for row in one]
        assert [row.probability for row in together] == pytest.approx(
            [row.probability for row in one], abs=1e-6
        )


def test_evaluation_with_names_beats_that_without() -> None:
    corpus = library(160)
    plain = tt.evaluate(corpus, tt.TTM(3, random_state=0, max_iter=5), "recommendation")["metrics"]
    named = tt.evaluate(
        tt.with_thesaurus(corpus, SUBJECTS), tt.TTM(3, random_state=0, max_iter=5), "recommendation"
    )["metrics"]
    assert named["f1_at_5"] >= plain["f1_at_5"] - 0.02
    assert named["ndcg_at_20"] > 0.9
    assert {"n_unseen", "unseen_precision", "calibration_error"} <= named.keys()
    assert all(np.isfinite(value) for value in named.values())


def test_tags_of_one_kind_are_recommended() -> None:
    corpus = library(80)
    names = tuple(f"{'odd' if int(tag[1]) % 2 else 'even'}:{tag}" for tag in corpus.tag_names)
    order = np.argsort(names)
    kinds = replace(corpus, tags=sp.csr_array(corpus.tags[:, order]), tag_names=tuple(sorted(names)))
    model = tt.TTM(3, random_state=0, max_iter=5).fit(kinds)
    answers = model.recommend(kinds.select([0, 1]), top=3, kind="odd")
    assert all(one.tag.startswith("odd:") for answer in answers for one in answer)
    assert [len(answer) for answer in answers] == [3, 3]


def test_calibration_error_is_the_mean_gap() -> None:
    assert calibration_error([0.25, 0.25, 0.85, 0.85], [0, 1, 1, 1]) == pytest.approx((0.25 + 0.15) / 2)
    assert calibration_error([], []) == 0


def test_texts_of_other_documents_are_refused(model: tt.TTM) -> None:
    assert model.recommender_ is not None
    with pytest.raises(tt.InputError, match="not those"):
        fit_tag_names(model.recommender_, thesaurus_of(SUBJECTS.items()), ["one text"])
