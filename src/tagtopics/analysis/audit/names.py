"""The names of tags: their words in the text, and pairs that may be spellings of one name."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from rapidfuzz.distance import OSA

from tagtopics._typing import CSR, Bool, Float64
from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.tags import bare_name, kind_of
from tagtopics.subjects.stems import stem_word

_WORD, _BRACKETS = re.compile(r"[^\W_]+"), re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>")
_STEM = 8  # letters by which words of names are looked for in texts
_LOOSE_STEM = 5  # the same, if loosely; more for words of ten letters and more: half of them
_OFTEN = 0.05  # a name of one word that is in a larger share of the documents says little
_MOST_ALIKE = 50  # tags with the same key that are compared; a key that more tags share means little
_SHORTEST_TYPO, _LONG = 6, 10  # characters of a name in which one wrong is a typing error, and surely one

EVIDENCE = {"equal": 1000.0, "order": 300.0, "initials": 20.0, "typo": 20.0, "short typo": 4.0, "part": 3.0}
"""How much more often names are alike in each way if two tags are the same: set by hand (decision 271)."""


def fold_word(word: str) -> str:
    """Return a word without case, accents and an English plural ending."""
    return stem_word(unicodedata.normalize("NFKC", word).casefold(), "en")


def name_parts(tag: str) -> tuple[str, ...]:
    """Return the folded words of a tag's name, in order."""
    return tuple(fold_word(word) for word in _WORD.findall(bare_name(tag)))


def content_stems(tag: str, *, loose: bool = False) -> frozenset[str]:
    """Return the first letters of the words of a tag's name, without what is in brackets and single letters.

    `construction` and `constructed` have the same ones: a rule for all languages that is coarse on purpose.
    """
    name = bare_name(tag)
    words = _WORD.findall(_BRACKETS.sub(" ", name)) or _WORD.findall(name)
    folded = [fold_word(word) for word in words if len(word) > 1]
    return frozenset(word[: max(_LOOSE_STEM, (len(word) + 1) // 2) if loose else _STEM] for word in folded)


class NameWords(NamedTuple):
    """The names of T tags, and which of their S stems are in D documents."""

    names: Sequence[str]
    stems: Mapping[str, int]  # their columns
    present: CSR  # (D, S) ones
    shares: CSR  # (S, T) the weight of a stem in a name, by rarity; those of a name add up to 1
    telling: Bool  # (T,) whether a name in a text says something: it has several words, or a rare one

    def in_texts(self) -> Bool:
        """Return (S,): whether each stem is in any document."""
        return np.bincount(self.present.indices, minlength=len(self.stems)) > 0


def name_words(corpus: Corpus, names: Sequence[str], *, loose: bool = False) -> NameWords:
    """Look for the words of names in texts; in the words of the vocabulary, if there are no texts.

    With `loose`, half of a word is enough: `digital` stands for `digitalization`.
    """
    of_tag = [content_stems(name, loose=loose) for name in names]
    stems = {stem: column for column, stem in enumerate(sorted(set[str]().union(*of_tag)))}

    @cache
    def stems_of(word: str) -> list[str]:
        folded = fold_word(word)
        lengths = range(1, len(folded) + 1) if loose else (_STEM,)
        return [folded[:n] for n in lengths if folded[:n] in stems]

    if corpus.texts is None:
        of_word, ends = [stems_of(word) for word in corpus.vocabulary], corpus.counts.indptr
        of_doc = (map(of_word.__getitem__, corpus.counts.indices[a:b]) for a, b in pairwise(ends))
    else:
        of_doc = (map(stems_of, _WORD.findall(text)) for text in corpus.texts)
    found = (set[str]().union(*lists) for lists in of_doc)
    present = tag_matrix(found, stems).astype(np.float64)
    n_docs = np.bincount(present.indices, minlength=len(stems))
    rarity = np.log((corpus.n_docs + 1) / (n_docs + 1.0)) + 1e-6
    members = tag_matrix(of_tag, stems)
    n_stems, columns = np.diff(members.indptr), members.indices
    tags = np.repeat(np.arange(len(names)), n_stems)
    total = np.bincount(tags, weights=rarity[columns], minlength=len(names))
    shares = sp.csr_array((rarity[columns] / total[tags], (columns, tags)), shape=(len(stems), len(names)))
    alone = np.bincount(tags, weights=n_docs[columns], minlength=len(names)) <= _OFTEN * corpus.n_docs
    return NameWords(names, stems, present, shares, (n_stems > 1) | ((n_stems == 1) & alone))


def namesakes(names: NameWords) -> Float64:
    """Return (T,): how likely another has the name of a tag, if the words of names were drawn at random.

    The expected number is T times the product of the shares of the names with each word. It is infinite for
    names of one word: nothing is known about them.
    """
    T = len(names.names)
    words = sp.csr_array(names.shares > 0, dtype=np.float64)
    log_shares = np.log(np.maximum(words.sum(1), 1) / T)
    expected = T * np.exp(words.T @ log_shares)
    return np.asarray(np.where(words.sum(0) > 1, 1 - np.exp(-expected), 1.0))


def differ_in_words(one: str, other: str, known: Collection[str]) -> bool:
    """Tell whether two names are those of different things: each has a known word that the other lacks.

    Known words are those of the texts, so that neither name is a translation or an abbreviation of the other.
    A name that has all words of the other and known ones besides is different, too.
    """
    first, second = content_stems(one), content_stems(other)
    more = [part for part in (first - second, second - first) if part]
    return bool(more) and all(any(stem in known for stem in part) for part in more)


def spelling_pairs(tag_names: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return pairs of tags with similar names, and how they are alike: a key of `EVIDENCE`.

    Tags of different kinds are never paired. The work is proportional to the number of tags.
    """
    parts = [name_parts(name) for name in tag_names]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for t, words in enumerate(parts):
        for key in dict.fromkeys(_keys(words)):
            groups[kind_of(tag_names[t]), key].append(t)
    found = {}
    for group in groups.values():
        if len(group) <= _MOST_ALIKE:
            for pair in combinations(group, 2):
                how = alike(parts[pair[0]], parts[pair[1]]) if pair not in found else None
                if how is not None:
                    found[pair] = how
    return found


def alike(one: Sequence[str], other: Sequence[str]) -> str | None:
    """Return how two names, given as folded words, are alike: a key of `EVIDENCE`, or None."""
    if not one or not other:
        return None
    first, second = "".join(one), "".join(other)
    if first == second:
        return "equal"
    if sorted(one) == sorted(other):
        return "order"
    if len(one) == len(other) and _is_abbreviation(Counter(one), Counter(other)):
        return "initials"
    if [c for c in first if c.isdigit()] != [c for c in second if c.isdigit()]:
        return None
    same_letters = _letters(one) == _letters(other)  # initials that differ are no typing errors
    shorter = min(len(first), len(second))
    if same_letters and shorter >= _SHORTEST_TYPO and OSA.distance(first, second, score_cutoff=1) == 1:
        return "typo" if shorter >= _LONG else "short typo"
    few, many = sorted((one, other), key=len)
    return "part" if len(few) > 1 and len(few) < len(many) and not Counter(few) - Counter(many) else None


def _keys(words: Sequence[str]) -> Iterator[str]:
    """Yield the keys of a name: names that are alike share one."""
    joined = "".join(words)
    if not joined:
        return
    yield f"={joined}"
    yield f"~{' '.join(sorted(words))}"
    if 1 < len(words) <= 5:
        for i, word in enumerate(words):
            if len(word) > 1:
                yield f"@{word} {' '.join(sorted(w[0] for j, w in enumerate(words) if j != i))}"
        for pair in combinations(sorted(words), 2):
            yield f"+{' '.join(pair)}"
    if _SHORTEST_TYPO <= len(joined) <= 60:
        yield f"-{joined}"
        for i in range(len(joined)):
            yield f"-{joined[:i]}{joined[i + 1 :]}"


def _is_abbreviation(one: Counter[str], other: Counter[str]) -> bool:
    """Tell whether two names differ in order and in words that are the initials of others only."""
    left, right = list((one - other).elements()), list((other - one).elements())
    initials = [sorted(word[0] for word in words if len(word) > 1) for words in (left, right)]
    common = any(len(word) > 1 for word in one & other)
    return common and initials == [_letters(right), _letters(left)]


def _letters(words: Iterable[str]) -> list[str]:
    return sorted(word for word in words if len(word) == 1)
