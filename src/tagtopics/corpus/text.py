"""From text to counts, as a `TextRecipe` says, and the positions of the counted words in a text.

The default tokenizer is Unicode-safe. Text is normalised to NFC; case is folded with `str.lower` (which,
unlike `casefold`, keeps the German sharp s) after the Turkish dotted capital I, whose lower case would
otherwise be two characters. A word is a run of letters, digits, underscores and combining marks, with the
zero-width joiners that Persian and Indic scripts use within words; it has at least one letter.
Scripts without spaces (Chinese, Japanese, Thai) need a tokenizer; see `tagtopics.corpus.tokenizers`.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64
from tagtopics.corpus.core import INT32_MAX, canonical_counts
from tagtopics.corpus.patterns import compile_pattern
from tagtopics.corpus.recipe import TextRecipe, words_of_language
from tagtopics.errors import InputError

_COMPILED_FROM = 1 << 21  # characters; for fewer, loading compiled code takes longer than it saves
_RARE = ((1000, 3), (100, 2))  # documents of a corpus, and in how many a word must occur by default

# Parts of contractions, citations, addresses and numerals: no words for readers.
DEBRIS = {
    "ll", "ve", "re", "don", "doesn", "didn", "isn", "wasn", "couldn", "et", "al", "eg", "ie", "etc", "pp",
    "vs", "said", "says", "http", "https", "www", "com", "ba", "ii", "iii", "iv",
}  # fmt: skip

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
# Characters of names that cannot be seen; joiners only where there is nothing to join.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069]"
    "|(?<![\u0590-\u1fff\u2600-\u27bf\ufe0f\U0001f000-\U0001ffff])[\u200c\u200d]"
    "|[\u200c\u200d](?![\u0590-\u1fff\u2600-\u27bf\U0001f000-\U0001ffff])"
)
Learned = tuple[CSR, tuple[str, ...], TextRecipe, list[str]]


def learn(texts: Sequence[str], recipe: TextRecipe) -> Learned:
    """Return the counts (D, W) of D texts, their W words, sorted, the recipe that was used, and notices."""
    counts, words = count_all(texts, recipe)
    found = frequencies(counts)
    used, rare = with_min_df(recipe, *found, len(texts))
    kept = choose_words(*found, len(texts), used)
    if len(kept) < len(words):
        counts, words = counts[:, kept], [words[w] for w in kept.tolist()]
    return canonical_counts(counts), tuple(words), used, rare


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


def count_all(texts: Sequence[str], recipe: TextRecipe) -> tuple[CSR, Sequence[str]]:
    """Return the counts (D, W) of all terms of D texts, and the W terms, sorted."""
    if _is_large(texts, recipe):
        from tagtopics.corpus.counting import CompiledCounter

        return CompiledCounter(recipe).count(texts)[:2]
    column: dict[str, int] = defaultdict(itertools.count().__next__)
    analyze = analyzer(recipe)
    found = _csr_of(([column[term] for term in analyze(text)] for text in texts), column)
    terms = sorted(column)
    counts = found[:, [column[term] for term in terms]]
    counts.sort_indices()
    return counts, terms


def frequencies(counts: CSR) -> tuple[Int64, Int64]:
    """Return in how many documents each word of counts (D, W) occurs, and how often; both of shape (W,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1]), np.asarray(counts.sum(axis=0)).ravel()


class TermCounter:
    """Counts the words of a vocabulary, in column order, in batches of texts."""

    def __init__(self, vocabulary: Sequence[str], recipe: TextRecipe) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        if len(self._column) < len(vocabulary):
            raise InputError("vocabulary: a word occurs twice; every word must have one column")
        self._recipe, self._analyze = recipe, analyzer(recipe)
        self._compiled: Any = None

    def count(self, texts: Sequence[str]) -> tuple[CSR, int]:
        """Return the counts (D, W) of D texts, and the number of tokens outside the vocabulary."""
        if _is_large(texts, self._recipe):
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


def _is_large(texts: Sequence[str], recipe: TextRecipe) -> bool:
    """Tell whether compiled code can count texts, and is worth it."""
    plain = recipe.token_pattern is None and recipe.tokenizer is None
    return plain and sum(map(len, texts)) >= _COMPILED_FROM


def _csr_of(documents: Iterable[list[int]], columns: Collection[str]) -> CSR:
    """Return the counts (D, W) of D documents that are lists of column numbers."""
    indices, indptr = array("i"), [0]
    for of_doc in documents:
        indices.extend(of_doc)
        indptr.append(len(indices))
    offsets = np.array(indptr, dtype=np.int32 if len(indices) <= INT32_MAX else np.int64)
    parts = (np.ones(len(indices), dtype=np.int32), np.asarray(indices), offsets)
    return canonical_counts(sp.csr_array(parts, shape=(len(indptr) - 1, len(columns))))


def passes(word_docs: Int64, word_tokens: Int64, n_docs: int, recipe: TextRecipe, limit: int | None) -> Int64:
    """Return the columns of the words that a recipe keeps, in order: the rule of every vocabulary.

    Args:
        word_docs: (W,) number of documents with each word.
        word_tokens: (W,) occurrences of each word.
        n_docs: number of documents.
        recipe: `min_df`, 1 if it is None, and `max_df` decide which words may be kept.
        limit: keep at most this many of the most frequent ones; None for all.
    """
    given = (1 if recipe.min_df is None else recipe.min_df, recipe.max_df)
    least, most = (df if isinstance(df, int) else df * n_docs for df in given)
    kept = np.flatnonzero((word_docs <= most) & (word_docs >= least))
    if limit is not None and len(kept) > limit:
        kept = np.sort(kept[np.argsort(-word_tokens[kept])[:limit]])
    return kept


def choose_words(word_docs: Int64, word_tokens: Int64, n_docs: int, recipe: TextRecipe) -> Int64:
    """Return the columns of the vocabulary of a corpus; an empty one is an `InputError`."""
    if not len(word_docs):
        raise InputError(
            "text: no words found; all documents are empty or hold only stop words, numbers or short words"
        )
    kept = passes(word_docs, word_tokens, n_docs, recipe, recipe.max_words)
    if not len(kept):
        raise InputError(
            f"text: no word occurs in enough and in few enough of the {n_docs} documents "
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


def to_cell(value: Any) -> Any:
    """Return a value for a CSV file; text that spreadsheets would run as a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def from_cell(cell: str) -> str:
    """Return the text that `to_cell` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


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


def word_pattern(recipe: TextRecipe) -> re.Pattern[str]:
    """Return the pattern of one word."""
    return default_pattern() if recipe.token_pattern is None else compile_pattern(recipe.token_pattern)


@lru_cache(maxsize=1)
def default_pattern() -> re.Pattern[str]:
    r"""Return the pattern of one word; `\w` alone would cut words at combining marks."""
    marks = combining_marks()
    runs = np.split(marks, np.flatnonzero(np.diff(marks) > 1) + 1)
    word = rf"[\w{''.join(f'{chr(run[0])}-{chr(run[-1])}' for run in runs)}]*"
    return re.compile(rf"\w{word}(?:[\u200c\u200d]+\w{word})*")


@lru_cache(maxsize=1)
def combining_marks() -> Int64:
    """Return the code points of the combining marks of Unicode, ascending; other planes have none."""
    assigned = [*range(0x40000), *range(0xE0000, 0xE1000)]
    categories = "".join(map(unicodedata.category, map(chr, assigned)))
    marks: Int64 = np.array(assigned)[np.frombuffer(categories.encode(), dtype="S1")[::2] == b"M"]
    return marks


def analyzer(recipe: TextRecipe) -> Callable[[str], list[str]]:
    """Return the function from one text to its terms."""
    find, keep = token_finder(recipe), token_keeper(recipe)
    smallest, largest = recipe.ngram_range

    def analyze(text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text)
        words = list(filter(keep, find(fold_case(text) if recipe.lowercase else text)))
        if largest == 1:
            return words
        return [
            " ".join(words[i : i + n])
            for n in range(smallest, min(largest, len(words)) + 1)
            for i in range(len(words) - n + 1)
        ]

    return analyze


def token_keeper(recipe: TextRecipe) -> Callable[[str], bool]:
    """Return the function that tells whether a token is counted."""
    any_kind = recipe.token_pattern is not None and recipe.tokenizer is None
    stop, shortest = stop_words(recipe), recipe.min_length

    def keep(token: str) -> bool:
        has_letter = any_kind or token.isalpha() or any(map(str.isalpha, token))
        return has_letter and len(token) >= shortest and token not in stop

    return keep


def token_finder(recipe: TextRecipe) -> Callable[[str], Iterable[str]]:
    """Return the function from a normalised text to its tokens, before any is left out."""
    if recipe.tokenizer is None:
        return word_pattern(recipe).findall
    from tagtopics.corpus.tokenizers import find_tokenizer

    tokenizer = find_tokenizer(recipe.tokenizer)

    def read(text: str) -> list[str]:
        tokens = list(tokenizer(text))
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(f"tokenizer: must return strings, returned a {type(token).__name__}")
        return [word for word in map(clean_name, tokens) if word]

    return read


def stop_words(recipe: TextRecipe) -> frozenset[str]:
    """Return the words that a recipe leaves out, normalised like those of a text."""
    if recipe.stop_words is None:
        return frozenset()
    if isinstance(recipe.stop_words, str):
        return words_of_language(recipe.stop_words)
    words = (unicodedata.normalize("NFC", word) for word in recipe.stop_words)
    return frozenset(fold_case(word) if recipe.lowercase else word for word in words)


# -------------------------------------------------------------------------------------------------- HTML

# Only text that surely is HTML is changed: it has a known element in the form of one, or an entity. A
# comparison such as `a <b and c> d` or a type such as `List<String>` stays. The time is linear in the length.
HTML_REMOVED = "HTML in the texts is removed; keep it with strip_html=False (--keep-html)"
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "bold", "cite", "code", "del", "dfn", "em", "font",
    "i", "ins", "italic", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip
_NAMES = _INLINE | {
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hr", "html", "iframe", "img", "input", "li", "link", "main", "meta", "nav",
    "noscript", "object", "ol", "option", "p", "pre", "script", "section", "select", "style", "svg", "table",
    "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "video",
}  # fmt: skip
# Elements without an end that are HTML by their name alone, in lower case; `<EM>` may be a company.
_TELLING = {"p", "br", "hr", "script", "style"}
_ATTRIBUTE = r"""\s+[\w:-]+\s?=\s?(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
_SURE = re.compile(rf"<(?:/([\w:]+)\s?|([\w:]+)((?:{_ATTRIBUTE})*)\s?/?)>", re.ASCII)
_ELEMENT = re.compile(
    r"<!--.*?(?:-->|\Z)|<!doctype[^<>]*>|<(script|style)(?:[\s/][^<>]*)?>.*?(?:</\1[^<>]*>|\Z)"
    r"|</?([a-z][a-z0-9:]*)(?:[\s/][^<>]*)?>",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
_ENTITY = re.compile(r"&(?:[a-z]{2,8}[0-9]{0,2}|#[0-9]{1,6}|#x[0-9a-f]{1,5});", re.ASCII | re.IGNORECASE)


def has_html(text: str) -> bool:
    """Tell whether a text contains an HTML element or an entity."""
    for closed, opened, attributes in _SURE.findall(text) if "<" in text else ():
        if _name(closed or opened) in _NAMES if closed or attributes else opened in _TELLING:
            return True
    return "&" in text and any(html.unescape(one[0]) != one[0] for one in _ENTITY.finditer(text))


def without_html(text: str) -> str:
    """Return the text that a browser would show of HTML; a text without HTML is returned as it is.

    Scripts, styles and comments are left out. Elements that begin a line become a line feed.
    """
    if not has_html(text):
        return text
    return html.unescape(_ELEMENT.sub(_name_or_value, text)).replace("\xa0", " ").strip()


def _name_or_value(element: re.Match[str]) -> str:
    """Return what stands for an element: itself if its name is unknown."""
    name = _name(element[2] or "")
    if element[2] and name not in _NAMES:
        return element[0]
    return "" if name in _INLINE else "\n"


def plain_texts(texts: Sequence[str]) -> tuple[list[str], int]:
    """Return texts without HTML, and the number of those that had some."""
    plain = [without_html(text) for text in texts]
    return plain, sum(new is not old for new, old in zip(plain, texts, strict=True))


def _name(found: str) -> str:
    """Return the name of an element; those of JATS, the markup of publishers, without their prefix."""
    name = found.lower().removeprefix("jats:")
    return name if name in _NAMES or name == found.lower() else "p"
