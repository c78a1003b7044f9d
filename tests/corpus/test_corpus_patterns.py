"""Regular expressions of words: the usual ones are accepted; what could take long on some text is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.corpus.patterns import PIECE, compile_pattern
from tagtopics.corpus.spans import SpanFinder
from tagtopics.corpus.text import analyzer
from tagtopics.files import BLANK, sealed

USUAL = [
    r"(?u)\b\w\w+\b", r"[a-z]+", r"\S+", r"[A-Za-z]+(?:-[A-Za-z]+)*", r"\w+(?:['’]\w+)?", r"#?\w+",
    r"[^\s,;]+", r"\d+|\w+", r"(?i)[a-z]{2,}", r"[^\W\d_]+", r"\b[a-z][a-z]+\b", r"(?<!\w)\w+(?!\w)",
    r"(\w+)-", r"\w{2,20}", r".", r"[\u4e00-\u9fff]|\w+", r"\b([a-z]+)\b", r"(?:https?|ftp)://\S+|\w+",
    r"[a-z]{3,}", r"[^,;]+", r"[A-Za-z]+(?:[-'][A-Za-z]+)*", r"\w+(?!\d)", r"(\w+?)(?:-|\s|$)",
    r"https?://\S+|www\.\S+|\w+(?:[-']\w+)*", r"\$?\d+(?:[.,]\d+)?|[#@]?\w+", r"\w+|[^\w\s]",
]  # fmt: skip
HOSTILE = [
    r"(a+)+$", r"(a|a)*b", r"(a|ab|b)*c", r"\w*\w*\w*x", r"(?:a?){30}a{30}", r"(?:a*)*", r"(\w+\s?)+x",
    r"(x+x+)+y", r"(?=(a+)+)b", r"(a)\1", r"(?i)(a+A*)+b", r"([a-z]+)*!", r"(.*)*x", r"(?:\b)*",
    r"(?:(?:a{1,30}){1,30}){1,30}b", "(?:a|a)" * 40 + "b", "[\U0001f600-\U0001f610]*[\U0001f605]", "a" * 2000,
    r"(?:a(?=a)?)+b", r"(?:a(?<=a)?)+b", r"(?:a(?:\B)?)+b", r"(?:a(?:|\B))+b", r"(?:a(?:\b|\B|)x?)+b",
    r"(?:\b|)" * 40 + r"\B", r"(?:\b|)" * 40 + r"[^\s\S]", "(?:a|)" * 40 + "b", "(?:" * 60 + "a" + ")+b" * 60,
    "(?:a(?=" + "a" * 900 + "))+b", f"[{''.join(chr(0x10000 + 7 * i) for i in range(900))}]+b", r"(?:a?b?)?c",
    "[\U0001f000-\U0002ffff]*\\w*b", "".join(f"[^{chr(i)}]" for i in range(0x100, 0x180)), r"(a)?(?(1)b|c)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", USUAL)
@settings(deadline=None)
@given(text=st.text(alphabet="aAbé1-.' \n#;:/", max_size=60))
def test_usual_patterns_give_what_re_gives(pattern: str, text: str) -> None:
    compiled = compile_pattern(pattern)
    assert compiled.words(text) == re.findall(pattern, text)
    assert [text[a:b] for a, b in compiled.spans(text)] == re.findall(pattern, text)


@pytest.mark.parametrize("pattern", USUAL)
def test_long_texts_give_what_re_gives(pattern: str) -> None:
    text = " ".join(f"word{i} some-thing it's" for i in range(PIECE))
    assert compile_pattern(pattern).words(text) == re.findall(pattern, text)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_patterns_that_may_take_long_are_refused(pattern: str) -> None:
    with pytest.raises(tt.InputError, match="text recipe: token_pattern"):
        tt.TextRecipe(token_pattern=pattern)


@pytest.mark.parametrize("pattern", USUAL)
def test_accepted_patterns_end_on_texts_that_almost_match(pattern: str) -> None:
    """The patterns above would not end on such texts."""
    for unit in ("a", "a-", "a1", "x'", "http://", "."):
        text = unit * (5_000 // len(unit)) + "!"
        assert len(compile_pattern(pattern).words(text)) <= len(text)


def test_spans_and_words_agree_on_long_texts() -> None:
    recipe = tt.TextRecipe(token_pattern=r"\b\w\w+\b", stop_words=None)
    text = "red green " * PIECE
    spans = SpanFinder(["green", "red"], recipe).find(text)[1]
    assert [("green", "red")[span.word] for span in spans] == analyzer(recipe)(text)


def test_a_hostile_pattern_in_a_model_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    corpus = tt.read_corpus(["red pie", "blue sky"], tags=["a", "b"])
    tt.TTM(2, max_iter=1).fit(corpus).save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    description = json.loads(path.read_text())
    for pattern in ("(a+)+$", "(?:a(?=a)?)+b"):
        description["recipe"]["token_pattern"] = pattern
        description["digest"] = BLANK
        path.write_text(sealed(json.dumps(description)))
        with pytest.raises(tt.InputError, match="token_pattern: would take too long on some texts"):
            tt.load(tmp_path / "m")
        run = "from tagtopics.cli import command; command()"
        command = [sys.executable, "-c", run, "serve", str(tmp_path / "m"), "--port", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "token_pattern: would take too long on some texts" in done.stderr


def test_long_sequences_of_words_are_refused() -> None:
    with pytest.raises(tt.InputError, match="ngram_range"):
        tt.TextRecipe(ngram_range=(1, 1_000))
