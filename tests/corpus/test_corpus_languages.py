"""Stop words, guesses of languages, named tokenizers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.corpus import TextRecipe, read_corpus, recipe_from_json, recipe_to_json
from tagtopics.corpus.recipe import LANGUAGES, guess_language, spaceless_language, words_of_language
from tagtopics.errors import CorpusWarning, InputError, MissingExtraError
from tagtopics.explore.record.spans import SpanFinder

SENTENCES = {
    "english": "The dog and the cat are in the house of the man, and that is not for the others.",
    "german": "Der Hund und die Katze sind nicht mit dem Mann in das Haus von der Frau gegangen.",
    "french": "Le chien et les chats sont dans une maison, et c'est pour que les gens du village rient.",
    "spanish": "El perro y los gatos del hombre son de una casa que es grande, y por eso vive con las vacas.",
    "italian": "Il cane e il gatto sono nel giardino di una casa che è della nonna, per gli ospiti.",
    "dutch": "De hond en het kind zijn niet met een boot van de buren voor dat eiland.",
    "polish": "Pies i kot nie są w domu, a że jest zimno, to się na to nie zgadzam od rana do nocy.",
    "swedish": "Hunden och katten är inte på gården, och det är för att det som bor där är med av en slump.",
    "russian": "Собака и кошка не в доме, и это как раз то, что с ними на даче по утрам из-за дождя.",
    "turkish": "Bu köpek ve bu kedi için bir ev çok güzel, ve bir bahçe de var, su gibi bir yer ile.",
}
CHINESE = "我来到北京清华大学学习计算机科学。人工智能技术发展迅速。"
JAPANESE = "東京都に住んでいます。人工知能の研究をしている大学です。"
THAI = "ฉันรักภาษาไทยและภาษาอังกฤษมาก"


def test_there_are_stop_words_of_many_languages() -> None:
    assert len(LANGUAGES) >= 20
    for language in LANGUAGES:
        words = words_of_language(language)
        assert len(words) > 10, language
        assert all(word == word.lower() for word in words)
    corpus = read_corpus([SENTENCES["german"]], recipe=TextRecipe(stop_words="german"))
    assert corpus.vocabulary == ("frau", "gegangen", "haus", "hund", "katze")


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_of_texts_is_guessed(language: str) -> None:
    texts = [SENTENCES[language]] * 4
    assert guess_language(texts) == language
    line = f"the texts look {language.title()}, but the stop words are English; use stop_words={language!r}"
    found = any(line in notice for notice in read_corpus(texts).notices)
    assert found == (language != "english")
    for recipe in (TextRecipe(stop_words=language), TextRecipe(stop_words=None)):
        assert not any("look" in notice for notice in read_corpus(texts, recipe=recipe).notices)


def test_texts_that_say_little_are_not_guessed() -> None:
    assert guess_language(["salmon river plankton buoy"] * 50) is None
    assert guess_language([SENTENCES["german"]]) is None
    assert guess_language([]) is None


@pytest.mark.parametrize(("text", "language"), [(CHINESE, "chinese"), (JAPANESE, "japanese"), (THAI, "thai")])
def test_sentences_do_not_become_words_in_silence(text: str, language: str) -> None:
    assert spaceless_language([text, "some English"]) == language
    with pytest.warns(CorpusWarning, match=f"use tokenizer='{language}' \\(--tokenizer {language}\\)"):
        read_corpus([text])
    assert spaceless_language(["only English", "and " + text[:3]]) is None


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("chinese", CHINESE, {"北京", "清华大学", "人工智能"}),
        ("japanese", JAPANESE, {"東京", "研究", "大学"}),
        ("thai", THAI, {"ภาษาไทย", "ภาษาอังกฤษ"}),
    ],
)
def test_named_tokenizers(language: str, text: str, words: set[str], tmp_path: Path) -> None:
    recipe = TextRecipe(tokenizer=language, stop_words=language)
    corpus = read_corpus([text, text], recipe=recipe, tags=["a", "b"])
    assert words <= set(corpus.vocabulary)
    assert corpus.recipe == recipe_from_json(recipe_to_json(corpus.recipe)) if corpus.recipe else False
    model = tt.LDA(2, max_iter=2, random_state=0).fit_topics(corpus)
    model.save(tmp_path / "m.tt")
    loaded = tt.load(tmp_path / "m.tt")
    assert np.array_equal(loaded.transform([text]), model.transform(corpus)[:1])
    found, spans = SpanFinder(corpus.vocabulary, recipe).find(text)
    assert words <= {found[a:b] for a, b, _ in spans}


def test_own_tokenizers_are_stored_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    monkeypatch.setattr("tagtopics.corpus.tokenizers._registered", names)
    tt.register_tokenizer("halves", lambda text: [text[: len(text) // 2], text[len(text) // 2 :]])
    corpus = read_corpus(["abcdef"], recipe=TextRecipe(tokenizer="halves"))
    assert corpus.vocabulary == ("abc", "def")
    tt.LDA(1, max_iter=1, random_state=0).fit_topics(corpus).save(tmp_path / "m.tt")
    names.clear()
    loaded = tt.load(tmp_path / "m.tt")
    with pytest.raises(InputError, match=r"no tokenizer 'halves'; .* name your own with register_tokenizer"):
        loaded.transform("abcdef")
    with pytest.raises(InputError, match="'chinese' is taken"):
        tt.register_tokenizer("chinese", str.split)


def test_unknown_languages_are_refused() -> None:
    with pytest.raises(InputError, match="text recipe"):
        TextRecipe(stop_words="klingon")


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    words_of_language.cache_clear()
    with pytest.raises(MissingExtraError, match=r"tagtopics\[languages\]"):
        read_corpus(["some text"], recipe=TextRecipe(stop_words="basque"))


def test_english_stop_words_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from tagtopics.corpus.recipe import words_of_language

    assert words_of_language("english") == ENGLISH_STOP_WORDS
