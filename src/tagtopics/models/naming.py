"""Names of topics, the phrases in them, and which topics are background.

A topic is named by the first words that its lists show (`topic_words`). Two to four of them that stand side
by side in the texts of the topic form a phrase.

A topic is background if it is spread over the collection: it is rarely the one that distinguishes a document
or a tag from the collection. If topics distinguished documents by chance, each would do so for as many of
them as it has of their text. Decision 254.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from tagtopics._typing import Bool, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import bare_name
from tagtopics.corpus.text import DEBRIS, fold_case, stop_words, word_pattern
from tagtopics.jit.top import largest

_TERMS = 3  # words or phrases of a name
_CANDIDATES = 12  # first words of a topic that may form phrases

# Phrases are looked for in 20 documents of each topic, in about 1,000 of all topics together, and in the
# first 2,000 characters of each: a small part of the time of a fit.
_PHRASE_DOCS, _MOST_PHRASE_DOCS, _PHRASE_CHARACTERS = 20, 1000, 2000

_BETWEEN = (" ", "\n", "-")  # one of these stands between two words of a phrase
_LONGEST = 4  # the most words of a phrase

# A phrase occurs at least four times; a pair makes up this share of the occurrences of one of its words.
_LEAST_TOGETHER, _LEAST_SHARE = 4, 0.2

# Two words with one or two stop words between them, as in "state of the art", need this share.
_LEAST_INNER, _MOST_INNER = 0.77, 2

# A background topic distinguishes fewer than this part of the documents that a topic of its size is expected
# to, by at least this many standard errors; tags count if they have this many documents.
_FEW, _ERRORS, _TAG_DOCS = 2 / 3, 3.0, 2.5

# It is no background, but a subject, if a tag of this many documents has this many times as much of it.
_SUBJECT_DOCS, _SUBJECT = 20, 6.0

# A tag is typical of a topic if its documents have this many times as much of it as all documents.
_LIFT = 2.0

# A tag singles out a topic if this share of its tokens is in the topic, and of the topic's in the tag.
_SINGLE_OUT = 0.5


def background_topics(topic_share: Float64, doc_topic: Any, tag_sums: Any = None) -> Bool:
    """Return (K,): which topics are background: they tell nothing about a document or tag.

    Args:
        topic_share: (K,) share of all tokens.
        doc_topic: (D, K) topic proportions of documents.
        tag_sums: (T, K) how much of each topic the documents of each tag have; None without tags.
    """
    K = len(topic_share)
    if not len(doc_topic) or K < 2:
        return np.zeros(K, dtype=bool)
    theta = np.asarray(doc_topic, dtype=np.float64)
    expected = theta.sum(0)
    found = np.bincount(distinguishing_topics(theta, topic_share), minlength=K)
    background = (found < _FEW * expected) & (found < expected - _ERRORS * np.sqrt(expected))
    sums = np.empty((0, K)) if tag_sums is None else np.asarray(tag_sums, dtype=np.float64)
    sums = sums[sums.sum(1) >= _TAG_DOCS]
    if len(sums):
        means = sums / sums.sum(1, keepdims=True)
        of_tags = np.bincount(distinguishing_topics(means, topic_share), minlength=K)
        frequent = means[sums.sum(1) >= _SUBJECT_DOCS]
        background &= (of_tags < len(sums) * topic_share) & ~(frequent >= _SUBJECT * topic_share).any(0)
    return np.asarray(background)


def distinguishing_topics(proportions: Any, topic_share: Float64, background: Bool | None = None) -> Int64:
    """Return (N,): the topic with the largest part in the divergence of each row from the collection.

    A topic that is large everywhere says little about a document. Background topics are left out, if given.

    Args:
        proportions: (N, K) topics of documents or tags.
        topic_share: (K,) share of all tokens.
        background: (K,) which topics are background.
    """
    p = np.maximum(np.asarray(proportions, dtype=np.float64), 1e-12)
    parts = p * np.log(p / np.maximum(topic_share, 1e-12))
    if background is not None and not background.all():
        parts[:, background] = -np.inf
    return np.asarray(np.argmax(parts, axis=1))


def name_topics(
    words: Sequence[Sequence[str]],
    phrases: Iterable[str] = (),
    tag_sums: Any = None,
    tag_names: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return a short name for each topic; no two are equal.

    Args:
        words: of each topic, as they are listed.
        phrases: words that form a phrase, joined by spaces, as `find_topic_phrases` returns them.
        tag_sums: (T, K) how much of each topic the documents of each tag have; None without tags.
        tag_names: the T tags.
    """
    listed = {word for own in words for word in own}
    known = {" ".join(w for w in phrase.split() if w in listed): phrase for phrase in [*phrases][::-1]}
    terms = [_terms([word for word in own if word not in DEBRIS] or own, known) for own in words]
    return _told_apart(terms, _singled_out(tag_sums, tag_names, len(terms)))


def _told_apart(terms: list[list[str]], tags: Sequence[str]) -> tuple[str, ...]:
    """Return a name of each topic: its first terms, its tag; topics of the same terms get more of them."""
    sizes = [_TERMS] * len(terms)
    for n in range(_TERMS + 1, 2 * _TERMS):
        same = [(frozenset(own[:size]), tag) for own, size, tag in zip(terms, sizes, tags, strict=True)]
        often = Counter(same)
        sizes = [n if often[one] > 1 else size for one, size in zip(same, sizes, strict=True)]
    return distinct(_name(own[:n], tag) for own, n, tag in zip(terms, sizes, tags, strict=True))


def name_by_tags(tag_sums: Any, topic_share: Float64, tag_names: Sequence[str]) -> tuple[str, ...]:
    """Return names made of the tags that are most typical of each topic: for words that people cannot read.

    Args:
        tag_sums: (T, K) how much of each topic the documents of each tag have.
        topic_share: (K,) share of all tokens.
        tag_names: the T tags.
    """
    typical = typical_tags(tag_sums, topic_share, 2 * _TERMS)
    terms = [[bare_name(tag_names[t]) for t in tags] or ["no tags"] for tags in typical]
    return _told_apart(terms, [""] * len(terms))


def typical_tags(tag_sums: Any, topic_share: Float64, n: int) -> list[list[int]]:
    """Return for each topic the columns of its n most typical tags, fewer if few have more of it than all.

    Tags with twice as much of the topic as the collection come first, even after an average document is
    added to theirs. Frequent tags, which have a little more of many topics, would be first otherwise. In both
    parts tags are ranked by their contribution to the mutual information of tags and topics,
    p(t, k) log(p(k | t) / p(k)).

    Args:
        tag_sums: (T, K) how much of each topic the documents of each tag have.
        topic_share: (K,) share of all tokens.
        n: the number of tags, at most.
    """
    sums, share = np.asarray(tag_sums, dtype=np.float64), np.maximum(topic_share, 1e-300)
    lift = (sums + share) / (share * (sums.sum(1, keepdims=True) + 1.0))
    scores = sums * np.log(np.maximum(lift, 1e-300))
    scores += np.where(lift >= _LIFT, scores.max(initial=0.0), 0.0)
    best = [largest(column, n).tolist() for column in scores.T.copy()]
    return [[t for t in tags if scores[t, k] > 0] for k, tags in enumerate(best)]


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of which no two are equal: a repeated one gets a number."""
    given = list(names)
    taken, chosen = set(given), []
    seen: set[str] = set()
    for name in given:
        number, unique = 1, name
        while unique in seen or (number > 1 and unique in taken):
            number += 1
            unique = f"{name} ({number})"
        seen.add(unique)
        chosen.append(unique)
    return tuple(chosen)


def find_topic_phrases(corpus: Corpus, words: Sequence[Sequence[str]], doc_topic: Any) -> tuple[str, ...]:
    """Return words of topics that form phrases in the texts of a corpus, most frequent first.

    Each topic is looked for in the documents that have most of it. Every two words side by side in a longer
    phrase form one, too. Without texts there are no phrases.

    Args:
        corpus: the documents.
        words: of each topic, as they are listed.
        doc_topic: (D, K) topic proportions of the documents.
    """
    if corpus.texts is None or len(doc_topic) != corpus.n_docs:
        return ()
    theta = np.asarray(doc_topic)
    each = min(_PHRASE_DOCS, -(-_MOST_PHRASE_DOCS // theta.shape[1]))
    docs = np.unique([largest(theta[:, k], each) for k in range(theta.shape[1])])
    wanted = {word for own in words for word in own[:_CANDIDATES]}
    counts, of_docs = _count_runs((corpus.texts[d] for d in docs.tolist()), wanted, corpus.recipe)
    kept: dict[tuple[str, ...], int] = {}
    for run in sorted(counts, key=len):
        n, often = counts[run], len(run) > 1 and counts[run] >= _LEAST_TOGETHER and of_docs[run] > 2
        if len(run) == 2:
            *inner, last = run[1].split()
            least = _LEAST_INNER if inner else _LEAST_SHARE
            often = often and n >= least * min(counts[run[:1]], counts[(last,)])
        if often and (len(run) == 2 or (run[:-1] in kept and run[1:] in kept)):
            kept[run] = n
    return tuple(" ".join(run) for run in sorted(kept, key=lambda run: (-kept[run], run)))


def _count_runs(
    texts: Iterable[str], wanted: set[str], recipe: TextRecipe | None
) -> tuple[Counter[tuple[str, ...]], Counter[tuple[str, ...]]]:
    """Count runs of one to `_LONGEST` different words side by side, and the texts with each.

    Stop words between two words belong to the second one: ("state", "of the art").
    """
    recipe = recipe or TextRecipe()
    pattern, stops = word_pattern(recipe), stop_words(recipe)
    counts: Counter[tuple[str, ...]] = Counter()
    of_docs: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        part = text[:_PHRASE_CHARACTERS]
        part = fold_case(part) if recipe.lowercase else part
        found: list[tuple[str, ...]] = []
        runs: list[tuple[str, ...]] = []  # those that end at the word before
        first, inner = "", list[str]()  # the last wanted word, and the stop words since
        last = 0
        for start, stop in (match.span() for match in pattern.finditer(part)):
            word, joins = part[start:stop], part[last:start] in _BETWEEN
            last = stop
            if word not in wanted:  # most words
                runs = []
                first = first if joins and word in stops and len(inner) < _MOST_INNER else ""
                inner.append(word)
                continue
            if first and inner and joins and word != first:
                found.append((first, " ".join([*inner, word])))
            longer = [run for run in runs if len(run) < _LONGEST and word not in run and joins]
            runs = [(word,), *((*run, word) for run in longer)]
            found += runs
            first, inner = word, []
        counts.update(found)
        of_docs.update(set(found))
    return counts, of_docs


def _terms(words: Sequence[str], phrases: dict[str, str]) -> list[str]:
    """Return the first words that a name may need: phrases joined, and no two of one stem.

    Args:
        words: of a topic.
        phrases: as they are written, by their words without stop words.
    """
    joined = _join_phrases(words[:_CANDIDATES], phrases)
    terms: list[str] = []
    used: list[str] = []
    for word in words:
        for parts in dict.fromkeys((joined.get(word, (word,)), (word,))):
            if not any(_same_stem(part, known) for part in parts for known in used):
                terms.append(phrases.get(" ".join(parts), " ".join(parts)))
                used.extend(parts)
                break
        if len(terms) == 2 * _TERMS:
            break
    return terms


def _join_phrases(words: Sequence[str], phrases: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the phrase of each of a topic's words that is in one; first pairs first."""
    pairs = [(i, j) for i in range(len(words)) for j in range(len(words)) if i != j]
    joined: dict[str, tuple[str, ...]] = {}
    for i, j in sorted(pairs, key=lambda pair: (sum(pair), pair)):
        first, second = (joined.get(words[k], (words[k],)) for k in (i, j))
        run = first + second
        if first[-1] == words[i] and second[0] == words[j] and first != second and " ".join(run) in phrases:
            joined |= dict.fromkeys(run, run)
    return joined


def _same_stem(one: str, other: str) -> bool:
    """Tell whether two words differ in a short ending only, as a singular and its plural do."""
    short, long = sorted((one, other), key=len)
    if long in (short, short + "s"):  # also of short words: "llm", "llms"
        return True
    same = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return same >= max(4, len(short) - 2) and len(long) - same <= 3


def _singled_out(tag_sums: Any, tag_names: Sequence[str], K: int) -> list[str]:
    """Return for each topic the tag that singles it out, without its kind, or an empty string."""
    if tag_sums is None or not len(tag_names):
        return [""] * K
    sums = np.asarray(tag_sums, dtype=np.float64)
    of_tag = sums / np.maximum(sums.sum(1, keepdims=True), 1e-300)
    of_topic = sums / np.maximum(sums.sum(0), 1e-300)
    strength = np.minimum(of_tag, of_topic)
    best = np.argmax(strength, axis=0)
    found = strength[best, np.arange(K)] >= _SINGLE_OUT
    return [bare_name(tag_names[t]) if f else "" for t, f in zip(best, found, strict=True)]


def _name(terms: Sequence[str], tag: str) -> str:
    name = ", ".join(terms) or "no words"
    plain = tag.casefold()
    return name if not tag or any(plain in term.casefold() for term in terms) else f"{name} ({tag})"


def foreground(proportions: Any, background: Bool) -> Any:
    """Return topic proportions (N, K) with no background; rows still add up to one, or to zero."""
    if not background.any():
        return proportions
    kept = np.where(background, proportions.dtype.type(0), proportions)
    return kept / np.maximum(kept.sum(1, keepdims=True), np.finfo(kept.dtype).tiny)
