"""From text to counts: carries out a `TextRecipe` with scikit-learn's CountVectorizer.

The default words are Unicode-safe. Text is brought to NFC; case is folded with `str.lower` (which, unlike
`casefold`, keeps the German sharp s) after the dotted capital I of Turkish, whose lower case would
otherwise be two characters. A word is a run of letters, digits, underscores and combining marks, with the
zero-width joiners that Persian and Indic scripts write inside words; it holds at least one letter.
Scripts written without spaces (Chinese, Japanese, Thai) need a tokenizer of their own.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Int64
from tagtopics.corpus.core import canonical_counts
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.errors import InputError

Tokenizer = Callable[[str], Iterable[str]]


def learn(
    texts: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Learn the vocabulary of texts and count their words.

    Args:
        texts: D texts.
        recipe: how text becomes words.
        tokenizer: text to words in place of the recipe's pattern, case, length and stop words; n-grams and
            the choice of the vocabulary stay the recipe's.

    Returns:
        counts (D, W) and the W words, sorted.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        analyzer=analyzer(recipe, tokenizer),
        min_df=recipe.min_df,
        max_df=recipe.max_df,
        max_features=recipe.max_words,
        dtype=np.int32,
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(_explain(str(error), recipe, len(texts))) from None
    return canonical_counts(counts), tuple(str(word) for word in vectorizer.get_feature_names_out())


def apply(
    texts: Sequence[str], vocabulary: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
) -> tuple[sp.csr_array, int]:
    """Count the words of a known vocabulary in new texts.

    Args:
        texts: D texts.
        vocabulary: the W words to count, in column order.
        recipe: the recipe that the vocabulary was learnt with.
        tokenizer: the tokenizer that it was learnt with, if any.

    Returns:
        counts (D, W), and how many tokens are of words outside the vocabulary.
    """
    return TermCounter(vocabulary, recipe, tokenizer).count(texts)


class TermCounter:
    """Counts the words of a known vocabulary, batch after batch of texts.

    Args:
        vocabulary: the W words to count, in column order.
        recipe: the recipe that the vocabulary was learnt with.
        tokenizer: the tokenizer that it was learnt with, if any.
    """

    def __init__(
        self, vocabulary: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
    ) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        if len(self._column) < len(vocabulary):
            raise InputError("vocabulary: a word occurs twice; every word must have one column")
        self._analyze = analyzer(recipe, tokenizer)

    def count(self, texts: Sequence[str]) -> tuple[sp.csr_array, int]:
        """Return the counts (D, W) of D texts, and how many tokens are of words outside the vocabulary."""
        column = self._column
        indices = array("i")
        indptr = [0]
        n_unknown = 0
        for text in texts:
            terms = self._analyze(text)
            known = [column[term] for term in terms if term in column]
            n_unknown += len(terms) - len(known)
            indices.extend(known)
            indptr.append(len(indices))
        ones = np.ones(len(indices), dtype=np.int32)
        parts = (ones, np.asarray(indices), indptr)
        return canonical_counts(sp.csr_array(parts, shape=(len(texts), len(column)))), n_unknown


def choose_words(
    words: Sequence[str], n_docs_with: Int64, n_tokens: Int64, n_docs: int, recipe: TextRecipe
) -> tuple[str, ...]:
    """Choose the vocabulary as `learn` does, from what was counted.

    Args:
        words: all words, sorted.
        n_docs_with: of the same length; how many documents hold each.
        n_tokens: of the same length; how often each occurs. Only `recipe.max_words` asks for it.
        n_docs: documents in all.
        recipe: how text becomes words.

    Returns:
        the W words, sorted.
    """
    if not len(words):
        raise InputError(_explain("empty vocabulary", recipe, n_docs))
    most, least = (df if isinstance(df, int) else df * n_docs for df in (recipe.max_df, recipe.min_df))
    if most < least:
        raise InputError(_explain("max_df corresponds", recipe, n_docs))
    kept = np.flatnonzero((n_docs_with <= most) & (n_docs_with >= least))
    if recipe.max_words is not None and len(kept) > recipe.max_words:
        kept = np.sort(kept[np.argsort(-n_tokens[kept])[: recipe.max_words]])
    if not len(kept):
        raise InputError(_explain("no terms remain", recipe, n_docs))
    return tuple(words[w] for w in kept.tolist())


def words_of(text: str, recipe: TextRecipe) -> list[str]:
    """Return the words of one text in order, as a recipe sees them: before n-grams are made."""
    return _reader(recipe)(text)


def clean_name(value: str) -> str:
    """Return a name fit for one line of UTF-8: NFC, inner white space single, none at the ends.

    Zero bytes and byte order marks, which no text file may hold, count as white space.
    """
    value = value.replace("\0", " ").replace("\ufeff", " ")
    if value.isascii():
        return " ".join(value.split())
    return " ".join(unicodedata.normalize("NFC", clean_text(value)).split())


def clean_text(value: str) -> str:
    """Return text that UTF-8 can hold: lone surrogates, which JSON can smuggle in, become question marks."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def fold_case(text: str) -> str:
    """Return text in lower case, NFC."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.replace("\u0130", "i").lower())


@lru_cache(maxsize=1)
def default_pattern() -> re.Pattern[str]:
    r"""Return the pattern of one word; `\w` alone would cut words at combining marks."""
    word = rf"[\w{_mark_ranges()}]*"
    return re.compile(rf"\w{word}(?:[\u200c\u200d]+\w{word})*")


def _mark_ranges() -> str:
    """Return the combining marks of Unicode as ranges of a character class."""
    points = np.array(
        [c for c in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(c)) in {"Mn", "Mc", "Me"}]
    )
    runs = np.split(points, np.flatnonzero(np.diff(points) > 1) + 1)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


def analyzer(recipe: TextRecipe, tokenizer: Tokenizer | None) -> Callable[[str], list[str]]:
    """Return the function from one text to its terms."""
    read = _reader(recipe) if tokenizer is None else _own_reader(tokenizer)
    smallest, largest = recipe.ngram_range
    if (smallest, largest) == (1, 1):
        return read

    def analyze(text: str) -> list[str]:
        words = read(text)
        return [
            " ".join(words[i : i + n])
            for n in range(smallest, min(largest, len(words)) + 1)
            for i in range(len(words) - n + 1)
        ]

    return analyze


def _reader(recipe: TextRecipe) -> Callable[[str], list[str]]:
    """Return the function from one text to its words."""
    own = None if recipe.token_pattern is None else re.compile(recipe.token_pattern)
    find = (own or default_pattern()).findall
    stop = _stop_words(recipe)
    shortest = recipe.min_length

    def read(text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text)
        tokens = find(fold_case(text) if recipe.lowercase else text)
        long = (token for token in tokens if len(token) >= shortest and token not in stop)
        return list(long) if own else [token for token in long if _has_letter(token)]

    return read


def _own_reader(tokenizer: Tokenizer) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        tokens = list(tokenizer(text))
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(f"tokenizer: must return strings, returned a {type(token).__name__}")
        return [word for word in map(clean_name, tokens) if word]

    return read


def _has_letter(token: str) -> bool:
    return token.isalpha() or any(character.isalpha() for character in token)


def _stop_words(recipe: TextRecipe) -> frozenset[str]:
    if recipe.stop_words is None:
        return frozenset()
    if recipe.stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    words = (unicodedata.normalize("NFC", word) for word in recipe.stop_words)
    return frozenset(fold_case(word) if recipe.lowercase else word for word in words)


def _explain(message: str, recipe: TextRecipe, n_docs: int) -> str:
    """Say in one line what CountVectorizer found wrong."""
    if "max_df corresponds" in message:
        return (
            f"text recipe: max_df={recipe.max_df} allows fewer of the {n_docs} documents than "
            f"min_df={recipe.min_df} asks for; lower min_df or raise max_df"
        )
    if "no terms remain" in message:
        return (
            f"text: no word occurs in enough and in few enough documents "
            f"(min_df={recipe.min_df}, max_df={recipe.max_df}); lower min_df or raise max_df"
        )
    if "empty vocabulary" in message:
        return "text: no words found; all documents are empty or hold only stop words, numbers or short words"
    return f"text: {' '.join(message.split())}"
