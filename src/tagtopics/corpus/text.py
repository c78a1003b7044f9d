"""From text to counts, as a `TextRecipe` says, and the positions of the counted words in a text.

The default tokenizer is Unicode-safe. Text is normalised to NFC; case is folded with `str.lower` (which,
unlike `casefold`, keeps the German sharp s) after the Turkish dotted capital I, whose lower case would
otherwise be two characters. A word is a run of letters, digits, underscores and combining marks, with the
zero-width joiners that Persian and Indic scripts use within words; it has at least one letter.
Scripts without spaces (Chinese, Japanese, Thai) need a tokenizer; see `tagtopics.corpus.tokenizers`.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Int64
from tagtopics.corpus.core import INT32_MAX, Tokenizer, Where, canonical_counts
from tagtopics.corpus.languages import words_of_language
from tagtopics.corpus.patterns import compile_pattern
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.errors import InputError

_COMPILED_FROM = 1 << 21
"""Characters of text from which compiled code is used; loading or compiling it takes longer for fewer."""


_RARE = ((1000, 3), (100, 2))
"""From how many documents on a word must occur in how many of them, by default."""


_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069]"
    "|(?<![\u0590-\u1fff\u2600-\u27bf\ufe0f\U0001f000-\U0001ffff])[\u200c\u200d]"
    "|[\u200c\u200d](?![\u0590-\u1fff\u2600-\u27bf\U0001f000-\U0001ffff])"
)
"""Characters of names that cannot be seen; joiners only where there is nothing to join."""


class Learned(NamedTuple):
    """The vocabulary of D texts, and their counts."""

    counts: sp.csr_array  # (D, W)
    vocabulary: tuple[str, ...]  # the W words, sorted
    recipe: TextRecipe  # with the `min_df` that was used
    notices: list[str]


def learn(texts: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None) -> Learned:
    """Learn the vocabulary of D texts, and count them.

    A tokenizer replaces the recipe's pattern, case, length and stop words; n-grams and the choice of the
    vocabulary are still those of the recipe.
    """
    recipe, notices = with_phrases(texts, recipe, tokenizer)
    counts, words = count_all(texts, recipe, tokenizer)
    found = frequencies(counts)
    used, rare = with_min_df(recipe, *found, len(texts))
    kept = choose_words(*found, len(texts), used)
    if len(kept) < len(words):
        counts, words = counts[:, kept], [words[w] for w in kept.tolist()]
    return Learned(canonical_counts(counts), tuple(words), used, notices + rare)


def with_phrases(
    texts: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
) -> tuple[TextRecipe, list[str]]:
    """Return a recipe with the phrases of texts, if it asks for them, and a line on them."""
    if recipe.phrases is not True:
        return recipe, []
    if tokenizer is not None:
        raise InputError("text recipe: phrases need the recipe's tokenizer; use register_tokenizer")
    from tagtopics.corpus.phrases import learn_phrases

    phrases = learn_phrases(map(_reader(recipe), texts))
    shown = ", ".join(map(repr, phrases[:3]))
    line = (
        f"phrases counted as words: {len(phrases):,}, such as {shown}" if phrases else "no phrases were found"
    )
    return replace(recipe, phrases=phrases), [line]


def with_min_df(
    recipe: TextRecipe, word_docs: Int64, word_tokens: Int64, n_docs: int
) -> tuple[TextRecipe, list[str]]:
    """Return a recipe with the default `min_df` for a corpus, if it has none, and a line on what is lost.

    The arguments are those of `passes`. If no word occurs in enough documents, all are kept.
    """
    if recipe.min_df is not None:
        return recipe, []
    least = next((least for n, least in _RARE if n_docs >= n), 1)
    rare = word_docs < least
    if rare.all():
        least, rare = 1, rare[:0]
    used = replace(recipe, min_df=least)
    if not rare.any():
        return used, []
    share = word_tokens[rare].sum() / word_tokens.sum()
    return used, [
        f"{rare.sum():,} of {len(rare):,} words are in fewer than {least} documents and left out, "
        f"{share:.1%} of all tokens; keep them with min_df=1 (--min-df 1)"
    ]


def count_all(
    texts: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
) -> tuple[sp.csr_array, Sequence[str]]:
    """Return the counts (D, W) of all terms of D texts, and the W terms, sorted."""
    if _is_large(texts, recipe, tokenizer):
        from tagtopics.corpus.counting import CompiledCounter

        return CompiledCounter(recipe).count(texts)[:2]
    column: dict[str, int] = defaultdict(itertools.count().__next__)
    analyze = analyzer(recipe, tokenizer)
    found = _csr_of(([column[term] for term in analyze(text)] for text in texts), column)
    terms = sorted(column)
    rank = np.empty(len(terms), dtype=np.int32)
    rank[[column[term] for term in terms]] = np.arange(len(terms))
    counts = sp.csr_array((found.data, rank[found.indices], found.indptr), shape=found.shape)
    counts.sort_indices()
    return counts, terms


def frequencies(counts: sp.csr_array) -> tuple[Int64, Int64]:
    """Return in how many documents each word of counts (D, W) occurs, and how often; both of shape (W,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1]), np.asarray(counts.sum(axis=0)).ravel()


class TermCounter:
    """Counts the words of a vocabulary, in column order, in batches of texts."""

    def __init__(
        self, vocabulary: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None = None
    ) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        if len(self._column) < len(vocabulary):
            raise InputError("vocabulary: a word occurs twice; every word must have one column")
        self._recipe, self._tokenizer = recipe, tokenizer
        self._analyze = analyzer(recipe, tokenizer)
        self._compiled: Any = None

    def count(self, texts: Sequence[str]) -> tuple[sp.csr_array, int]:
        """Return the counts (D, W) of D texts, and the number of tokens outside the vocabulary."""
        if _is_large(texts, self._recipe, self._tokenizer):
            from tagtopics.corpus.counting import CompiledCounter

            self._compiled = self._compiled or CompiledCounter(self._recipe, list(self._column))
            counts, _, n_unknown = self._compiled.count(texts)
            return canonical_counts(counts), n_unknown
        column, n_terms = self._column, 0

        def columns(text: str) -> list[int]:
            nonlocal n_terms
            terms = self._analyze(text)
            n_terms += len(terms)
            return [column[term] for term in terms if term in column]

        counts = _csr_of(map(columns, texts), column)
        return counts, n_terms - int(counts.sum(dtype=np.int64))


def _is_large(texts: Sequence[str], recipe: TextRecipe, tokenizer: Tokenizer | None) -> bool:
    """Tell whether compiled code can count texts, and is worth it."""
    plain = tokenizer is None and recipe.token_pattern is None and not has_steps(recipe)
    return plain and sum(map(len, texts)) >= _COMPILED_FROM


def has_steps(recipe: TextRecipe) -> bool:
    """Tell whether words are more than the matches of a pattern."""
    return bool(recipe.tokenizer or recipe.lemmas or recipe.phrases)


def _csr_of(documents: Iterable[list[int]], columns: Collection[str]) -> sp.csr_array:
    """Return the counts (D, W) of D documents that are lists of column numbers."""
    indices, indptr = array("i"), [0]
    for of_doc in documents:
        indices.extend(of_doc)
        indptr.append(len(indices))
    offsets = np.array(indptr, dtype=np.int32 if len(indices) <= INT32_MAX else np.int64)
    parts = (np.ones(len(indices), dtype=np.int32), np.asarray(indices), offsets)
    return canonical_counts(sp.csr_array(parts, shape=(len(indptr) - 1, len(columns))))


def count_bags(bags: Sequence[Mapping[str, Any]], where: Where) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the counts (D, W) of D documents that came as words with counts, and the words, sorted."""
    vocabulary = tuple(sorted({word for bag in bags for word in bag}))
    column = {word: w for w, word in enumerate(vocabulary)}
    indices, values, indptr = [], [], [0]
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            if count is not None:
                indices.append(column[word])
                values.append(_check_count(count, word, where(row)))
        indptr.append(len(indices))
    parts = (np.array(values, dtype=np.int64), np.array(indices, dtype=np.int64), indptr)
    return canonical_counts(sp.csr_array(parts, shape=(len(bags), len(vocabulary)))), vocabulary


def passes(word_docs: Int64, word_tokens: Int64, n_docs: int, recipe: TextRecipe, limit: int | None) -> Int64:
    """Return the columns of the words that a recipe keeps, in order: the rule of every vocabulary.

    Args:
        word_docs: (W,) number of documents with each word.
        word_tokens: (W,) occurrences of each word.
        n_docs: number of documents.
        recipe: `min_df`, 1 if it is None, and `max_df` decide which words may be kept.
        limit: keep at most this many of the most frequent ones; None for all.
    """
    least, most = _limits(recipe, n_docs)
    kept = np.flatnonzero((word_docs <= most) & (word_docs >= least))
    if limit is not None and len(kept) > limit:
        kept = np.sort(kept[np.argsort(-word_tokens[kept])[:limit]])
    return kept


def _limits(recipe: TextRecipe, n_docs: int) -> tuple[float, float]:
    """Return the least and the most documents that a word may occur in."""
    least = 1 if recipe.min_df is None else recipe.min_df
    least, most = (df if isinstance(df, int) else df * n_docs for df in (least, recipe.max_df))
    return least, most


def choose_words(word_docs: Int64, word_tokens: Int64, n_docs: int, recipe: TextRecipe) -> Int64:
    """Return the columns of the vocabulary of a corpus; an empty one is an `InputError`."""
    if not len(word_docs):
        raise InputError(
            "text: no words found; all documents are empty or hold only stop words, numbers or short words"
        )
    least, most = _limits(recipe, n_docs)
    if most < least:
        raise InputError(
            f"text recipe: max_df={recipe.max_df} allows fewer of the {n_docs} documents than "
            f"min_df={recipe.min_df} asks for; lower min_df or raise max_df"
        )
    kept = passes(word_docs, word_tokens, n_docs, recipe, recipe.max_words)
    if not len(kept):
        raise InputError(
            f"text: no word occurs in enough and in few enough documents "
            f"(min_df={recipe.min_df}, max_df={recipe.max_df}); lower min_df or raise max_df"
        )
    return kept


def clean_name(value: str) -> str:
    """Return a name that fits on one line of UTF-8: NFC, single inner spaces, none at the ends.

    Zero bytes and byte order marks count as white space. Characters that are not visible are removed; the
    joiners of Persian and Indic scripts, and those between emoji, stay.
    """
    if value.isascii() and value.isprintable() and "  " not in value:
        return value.strip()
    value = _INVISIBLE.sub("", value.replace("\0", " ").replace("\ufeff", " "))
    return " ".join(unicodedata.normalize("NFC", clean_text(value)).split())


def clean_text(value: str) -> str:
    """Return text that UTF-8 can hold: lone surrogates, which JSON may contain, become question marks."""
    if value.isascii():
        return value
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
    marks = combining_marks()
    runs = np.split(marks, np.flatnonzero(np.diff(marks) > 1) + 1)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


@lru_cache(maxsize=1)
def combining_marks() -> Int64:
    """Return the code points of the combining marks of Unicode, ascending; other planes have none."""
    assigned = [*range(0x40000), *range(0xE0000, 0xE1000)]
    categories = "".join(map(unicodedata.category, map(chr, assigned)))
    marks: Int64 = np.array(assigned)[np.frombuffer(categories.encode(), dtype="S1")[::2] == b"M"]
    return marks


def analyzer(recipe: TextRecipe, tokenizer: Tokenizer | None) -> Callable[[str], list[str]]:
    """Return the function from one text to its terms."""
    read = _plain_reader(recipe) if tokenizer is None else _custom_reader(tokenizer)
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


def _plain_reader(recipe: TextRecipe) -> Callable[[str], list[str]]:
    """Return the function from one text to its words."""
    read = _reader(recipe)
    if not recipe.phrases:
        return lambda text: [word for word in read(text) if word is not None]
    from tagtopics.corpus.phrases import merger

    merge = merger(recipe.phrases if isinstance(recipe.phrases, tuple) else ())
    return lambda text: [word for word in merge(read(text)) if word is not None]


def _reader(recipe: TextRecipe) -> Callable[[str], list[str | None]]:
    """Return the function from one text to its words in order, with None for those that are left out."""
    find, keep = token_finder(recipe), token_keeper(recipe)
    folds = recipe.lowercase and recipe.lemmas is None  # dictionaries need the capitals

    def read(text: str) -> list[str | None]:
        text = unicodedata.normalize("NFC", text)
        return [keep(token) for token in find(fold_case(text) if folds else text)]

    return read


def token_keeper(recipe: TextRecipe) -> Callable[[str], str | None]:
    """Return the function from a token to the word that is counted; None if it is left out."""
    any_kind = recipe.token_pattern is not None and recipe.tokenizer is None
    stop, lemma, shortest = stop_words(recipe), _lemmas(recipe), recipe.min_length

    def keep(token: str) -> str | None:
        if len(token) < shortest or token in stop or not (any_kind or _has_letter(token)):
            return None
        return token

    def keep_lemma(token: str) -> str | None:
        if keep(fold(token)) is None:
            return None
        return keep(fold(lemma(token))) if lemma else token

    fold = fold_case if recipe.lowercase else str
    return keep if lemma is None else keep_lemma


def token_finder(recipe: TextRecipe) -> Callable[[str], Iterable[str]]:
    """Return the function from a normalised text to its tokens, before any is left out."""
    if recipe.tokenizer is not None:
        from tagtopics.corpus.tokenizers import find_tokenizer

        return _custom_reader(find_tokenizer(recipe.tokenizer))
    if recipe.token_pattern is not None:
        return compile_pattern(recipe.token_pattern).words
    return default_pattern().findall


def _lemmas(recipe: TextRecipe) -> Callable[[str], str] | None:
    if recipe.lemmas is None:
        return None
    from tagtopics.corpus.tokenizers import lemmatizer

    return lemmatizer(recipe.lemmas)


def _custom_reader(tokenizer: Tokenizer) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        tokens = list(tokenizer(text))
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(f"tokenizer: must return strings, returned a {type(token).__name__}")
        return [word for word in map(clean_name, tokens) if word]

    return read


def _has_letter(token: str) -> bool:
    return token.isalpha() or any(character.isalpha() for character in token)


def stop_words(recipe: TextRecipe) -> frozenset[str]:
    """Return the words that a recipe leaves out, normalised like those of a text."""
    if recipe.stop_words is None:
        return frozenset()
    if isinstance(recipe.stop_words, str):
        return words_of_language(recipe.stop_words)
    words = (unicodedata.normalize("NFC", word) for word in recipe.stop_words)
    return frozenset(fold_case(word) if recipe.lowercase else word for word in words)


def _check_count(value: Any, word: str, where: str) -> int:
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value <= INT32_MAX:
        raise InputError(
            f"{where}: the count of {word[:40]!r} is {repr(value)[:40]}; counts are 0, 1, 2, ..."
        )
    return int(value)
