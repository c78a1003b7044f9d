"""Regular expressions of words: the usual ones are accepted; what could take long on some text is refused."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.corpus.patterns import compile_pattern
from tagtopics.corpus.text import analyzer
from tagtopics.explore.record.spans import SpanFinder
from tagtopics.files import BLANK, seal

USUAL = [
    r"(?u)\b\w\w+\b", r"[a-z]+", r"\S+", r"[A-Za-z]+(?:-[A-Za-z]+)*", r"\w+(?:['’]\w+)?", r"#?\w+",
    r"[^\s,;]+", r"\d+|\w+", r"[^\W\d_]+", r"\b[a-z][a-z]+\b", r"\w{2,20}", r"[\u4e00-\u9fff]|\w+",
    r"[a-z]{3,}", r"[^,;]+", r"[A-Za-z]+(?:[-'][A-Za-z]+)*", r"c\S+", r"[^,;.\n]+", r"\b#?[a-z.|]{2}\b",
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
    r"a+b", r"[a-z]+\b", r"\w+(?!\d)", r"\w+(?:a\w+)*", r"\w+(?:[+-.]\w+)*", "a?" * 30 + "a{30}",
    r"\b[a-]+(?:b[a-]+)*\b",
    r"[^]a[b]+c", r"\w+(?:-\d+)*x", r"(?:\w+)+", r"\w+?-", "[^a]" * 48 + "\\b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", USUAL)
@settings(deadline=None)
@given(text=st.text(alphabet="aAbé1-.' \n#;:/", max_size=60))
def test_usual_patterns_give_what_re_gives(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).findall(text) == re.findall(pattern, text)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_patterns_that_may_take_long_are_refused(pattern: str) -> None:
    with pytest.raises(tt.InputError, match="text recipe: token_pattern"):
        tt.TextRecipe(token_pattern=pattern)


SETS = ["a", "b", "-", "[ab]", "[^b]", "[a-]", r"\w", r"\W", r"\S", "[a.-]", "[b.]"]
COUNTS = ["+", "{2}", "{1,3}", "{0,2}", "{3,}", "?", "?", "*", "+?", "", "", ""]
GROUPS = ["(?:{}{}+)*", "(?:{}{}{{2,}})?", "({}|{})+", "(?:{}+{})*", "(?={}){}+"]
TEXTS = ["a", "ab", "a-", "-", "aab-", "ab-.", "a.", "a1", "ba "]


def generate_patterns(n: int) -> Iterator[str]:
    """Yield patterns of sets, edges, groups and alternatives."""
    chance = random.Random(1)

    def word() -> str:
        parts = [chance.choice(SETS) + chance.choice(COUNTS) for _ in range(chance.randint(1, 3))]
        if chance.random() < 0.4:
            parts.append(chance.choice(GROUPS).format(chance.choice(SETS), chance.choice(SETS)))
        edges = [chance.choice(["", r"\b"]), chance.choice(["", "", r"\b", "$"])]
        return edges[0] + "".join(parts) + edges[1]

    for _ in range(n):
        yield "|".join(word() for _ in range(chance.choice([1, 1, 1, 2, 3])))


def seconds_of(pattern: re.Pattern[str]) -> float:
    """Return the most processor time that a text of 20,000 characters takes."""
    most = 0.0
    for unit in TEXTS:
        for end in ("", "!", "1"):
            began = process_time()
            pattern.findall(unit * (20_000 // len(unit)) + end)
            most = max(most, process_time() - began)
    return most


def test_accepted_patterns_take_linear_time() -> None:
    """Linear time is some milliseconds, quadratic time a second."""
    accepted = []
    for pattern in dict.fromkeys(generate_patterns(1_000)):
        try:
            accepted.append(compile_pattern(pattern))
        except ValueError:
            continue
    assert len(accepted) > 50
    for compiled in [*map(compile_pattern, USUAL), *accepted]:
        assert seconds_of(compiled) < 0.2, compiled.pattern
    assert seconds_of(re.compile(r"[a-z]+\b")) > 0.2  # a refused one


def test_spans_and_words_agree_on_long_texts() -> None:
    recipe = tt.TextRecipe(token_pattern=r"\b\w\w+\b", stop_words=None)
    text = "red green " * 1000
    spans = SpanFinder(["green", "red"], recipe).find(text)[1]
    assert [("green", "red")[w] for _, _, w in spans] == analyzer(recipe)(text)


def test_a_hostile_pattern_in_a_model_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    corpus = tt.read_corpus(["red pie", "blue sky"], tags=["a", "b"])
    tt.TTM(2, max_iter=1).fit(corpus).save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    description = json.loads(path.read_text())
    for pattern in ("(a+)+$", "(?:a(?=a)?)+b"):
        description["recipe"]["token_pattern"] = pattern
        description["digest"] = BLANK
        path.write_text(seal(json.dumps(description)))
        with pytest.raises(tt.InputError, match="token_pattern: may take too long on some texts"):
            tt.load(tmp_path / "m")
        run = "from tagtopics.cli import command; command()"
        command = [sys.executable, "-c", run, "serve", str(tmp_path / "m"), "--port", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "token_pattern: may take too long on some texts" in done.stderr


def test_long_sequences_of_words_are_refused() -> None:
    with pytest.raises(tt.InputError, match="ngram_range"):
        tt.TextRecipe(ngram_range=(1, 1_000))
