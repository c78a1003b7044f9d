"""HTML in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagtopics.corpus import TextRecipe, read_corpus
from tagtopics.corpus.text import has_html, plain_texts, without_html


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<p>Hello&nbsp;<b>wor</b>ld</p>", "Hello world"),
        ("<P>one<BR>two</P>", "one\ntwo"),
        ("one<br>two<hr />three", "one\ntwo\nthree"),
        ("x<script type='a'>var y = 1 < 2;</script>z", "x\nz"),
        ("x<style>p {}</style>y<!-- no -->z<br/>", "x\ny\nz"),
        ('<a href="https://a.b/?x=1&amp;y=2">link</a>', "link"),
        ("fish &amp; chips &#8230; &hellip;", "fish & chips … …"),
        ("<jats:p>We <jats:italic>do</jats:italic></jats:p>", "We do"),
        ("<p>a <foo>b</foo> 1 < 2</p>", "a <foo>b</foo> 1 < 2"),
        ("<p>never closed <script> x", "never closed"),
        ("<p>never closed <!-- x", "never closed"),
    ],
)
def test_html_is_removed(text: str, plain: str) -> None:
    assert without_html(text) == plain


@pytest.mark.parametrize(
    "text",
    ["a <b and c> d", "List<String> x", "AT&T R&D; x", "x < y > z", "if a<i>0", "shares of <EM> and <P> rose",
     "a & b", "usage: run <input> <title>", "", "<", "<>", "&;"],
)  # fmt: skip
def test_text_that_is_no_html_stays(text: str) -> None:
    assert not has_html(text)
    assert without_html(text) is text


@given(st.text(st.characters(exclude_characters="<>&")))
def test_text_without_brackets_stays(text: str) -> None:
    assert without_html(text) is text


@given(
    st.lists(
        st.sampled_from(["<", ">", "<p>", "</b>", "<script>", "<!--", "-->", "&amp;", "a", " ", "<a b=c>"])
    )
)
def test_any_markup_ends(parts: list[str]) -> None:
    assert isinstance(without_html("".join(parts)), str)


def test_long_hostile_markup_takes_linear_time() -> None:
    for part in ("<", "<!--", "<script>", "<a ", "<a b=c ", "&", "</"):
        without_html("<p>" + part * 100_000)  # quadratic time would take minutes


def test_the_recipe_says_whether_html_is_kept() -> None:
    texts = ["<p>cat&nbsp;dog</p>", "bird"]
    corpus = read_corpus(texts)
    assert (corpus.vocabulary, corpus.texts) == (("bird", "cat", "dog"), ("cat dog", "bird"))
    assert "HTML in the texts is removed; keep it with strip_html=False (--keep-html)" in corpus.notices
    kept = read_corpus(texts, recipe=TextRecipe(strip_html=False))
    assert kept.vocabulary == ("bird", "cat", "dog", "nbsp")
    assert not any("HTML" in line for line in kept.notices)
    assert plain_texts(texts)[1] == 1
