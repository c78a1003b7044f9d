"""The words that the page finds in a text, against those of Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import page_of_modules

import tagtopics as tt
from tagtopics import write_report
from tagtopics.corpus.text import analyzer
from tagtopics.datasets.docstrings import docstring_recipe
from tagtopics.explore.record.spans import SpanFinder
from tagtopics.explore.record.workbench import page_obstacle, word_settings, workbench

pytest_plugins = ("explore_fixtures",)

FOUND = """async ([settings, vocabulary, text]) => {
  const { wordsOfText } = await import("/offline.js");
  const column = new Map(vocabulary.map((word, w) => [word, w]));
  const model = { settings, column, stop: new Set(settings.stop) };
  const found = wordsOfText(model, text);
  const spans = found.spans.map(([start, stop]) => [...found.text.slice(0, start)].length +
    ":" + found.text.slice(start, stop));
  return { counts: [...found.counts], unknown: found.unknown, spans };
}"""
RECIPES = {
    "default": tt.TextRecipe(),
    "docstrings": docstring_recipe(),
    "scikit-learn": tt.TextRecipe(token_pattern=r"(?u)\b\w\w+\b"),
    "hyphens": tt.TextRecipe(token_pattern=r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", min_length=1, stop_words=None),
    "anything": tt.TextRecipe(token_pattern=r"\S+", min_length=1, stop_words=None, lowercase=False),
    "lengths": tt.TextRecipe(token_pattern=r"\b[A-Za-zÀ-ÿ]{2,5}\b|\d{4}", lowercase=False),
    "lines": tt.TextRecipe(token_pattern=r"[^,;.\n]+", min_length=1, stop_words=None),
    "pairs": tt.TextRecipe(token_pattern=r"\w+", ngram_range=(1, 2), min_length=1, stop_words=None),
}
PIECES = (
    "wave", "tide", "salt", "ship", "wave", "tide", "salt", "the", "The", "WAVE", "19th", "x", "1999",
    "½", "Ⅷ", "x²", "a_b", "well-known", "don’t", "naïve", "Straße", "İstanbul", "中文字", "𝄞", "𝐀b",
    "हिन्दी", "می‌خواهم", "e\u0301t", "a\u00a0b", "…", "-", "١٩",
)  # fmt: skip


def texts() -> list[str]:
    rng = np.random.default_rng(3)
    gaps = (" ", " ", " ", "\n", ", ", ".", "-", "\t", "")
    return [
        "".join(str(rng.choice(PIECES)) + str(rng.choice(gaps)) for _ in range(n))
        for n in (0, 1, 30, 80, 600)
    ]


@pytest.fixture(scope="module")
def opened(browser: Any) -> Any:
    page = page_of_modules(browser, '<script type="application/json" id="settings">{}</script>')
    yield page
    page.close()


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_finds_the_words_of_a_recipe(opened: Any, name: str) -> None:
    recipe = RECIPES[name]
    settings = word_settings(recipe)
    words_of = analyzer(recipe)
    known = sorted({word for text in texts() for word in words_of(text)})[::2]
    vocabulary = sorted({*known, "wave", "tide"})
    for text in texts():
        found = opened.evaluate(FOUND, [settings, vocabulary, text])
        counted = Counter(words_of(text))
        assert {vocabulary[w]: n for w, n in found["counts"]} == {
            word: n for word, n in counted.items() if word in set(vocabulary)
        }
        assert found["unknown"] == sum(n for word, n in counted.items() if word not in set(vocabulary))
        if recipe.ngram_range == (1, 1):
            read, spans = SpanFinder(vocabulary, recipe).find(text)
            assert found["spans"] == [f"{start}:{read[start:stop]}" for start, stop, _ in spans]


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        (None, "counts"),
        (tt.TextRecipe(tokenizer="chinese"), "tokenizer"),
        (tt.TextRecipe(token_pattern=r"\w+"), None),
    ],
)
def test_a_page_that_cannot_find_words_says_why(recipe: tt.TextRecipe | None, why: str | None) -> None:
    assert page_obstacle(recipe) == why


def test_a_model_with_a_pattern_of_its_own_has_a_workbench(browser: Any, tmp_path: Path) -> None:
    rows = [
        {"id": str(d), "text": f"wave2 tide{d % 3} salt-ship wave2", "tags": [f"t{d % 3}"]} for d in range(30)
    ]
    recipe = tt.TextRecipe(token_pattern=r"[a-z0-9-]+", min_length=1)
    corpus = tt.read_corpus(rows, text="text", tags="tags", id="id", recipe=recipe)
    model = tt.TTM(n_topics=3, random_state=0, max_iter=20).fit(corpus)
    assert workbench(model, tt.topic_data(model)) is not None
    write_report(model, tmp_path / "report.html", corpus=corpus)
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri() + "#/workbench")
    page.locator("textarea").first.fill("wave2 tide1 wave2 salt-ship")
    page.get_by_role("button", name="Analyse").click()
    page.locator(".proposals button").first.wait_for(timeout=20_000)
    assert "t1" in page.locator(".proposals").first.inner_text()
    page.close()
