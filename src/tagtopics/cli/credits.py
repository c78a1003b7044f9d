"""Credits of words, as rows and as coloured text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tagtopics.cli.output import make_table, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.models.ttm import TTM

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST = 2000
"""Characters of a text shown to people."""


def credited_documents(model: TTM, corpus: Corpus) -> list[dict[str, Any]]:
    """Return each document with its tags and its words, the most frequent first, with the tags' credits."""
    table = model.explain(corpus)
    documents: list[dict[str, Any]] = []
    for d, name in enumerate(corpus.ids):
        tags = corpus.tags_of(d)
        documents.append({"id": name, "tags": list(tags), "words": _untagged(corpus, d) if not tags else []})
    words: dict[tuple[int, str], dict[str, Any]] = {}
    columns = zip(table.doc.tolist(), table.word, table.count.tolist(), table.tag, table.credit.tolist(),
                  strict=True)  # fmt: skip
    for d, word, count, tag, credit in columns:
        if (d, word) not in words:
            words[d, word] = {"word": word, "count": _whole(count), "credit": {}}
            documents[d]["words"].append(words[d, word])
        words[d, word]["credit"][tag] = credit
    for document in documents:
        document["words"].sort(key=lambda row: -row["count"])
    return documents


def best_tag(word: dict[str, Any]) -> str:
    """Return the tag with the most credit for a word; the first of equals."""
    credit: dict[str, float] = word["credit"]
    return max(credit, key=lambda tag: credit[tag])


def tag_shares(document: dict[str, Any]) -> dict[str, float]:
    """Return how much of a document's tokens each of its tags accounts for; adds up to one."""
    total = sum(word["count"] for word in document["words"]) or 1
    shares = dict.fromkeys(document["tags"], 0.0)
    for word in document["words"]:
        for tag, credit in word["credit"].items():
            shares[tag] += credit * word["count"] / total
    return shares


def draw_document(
    console: Console, document: dict[str, Any], text: str | None, recipe: TextRecipe | None, top: int
) -> None:
    """Show one document: its text in the colours of its tags, and the words of each tag."""
    console.print(plain(document["id"], "bold"))
    if not document["tags"]:
        console.print("  no tag that the model knows\n", style="dim")
        return
    number = {tag: i for i, tag in enumerate(document["tags"])}
    best = {word["word"]: number[best_tag(word)] for word in document["words"]}
    from rich.padding import Padding

    body = _coloured(text, best, recipe, console) if text else _words_in_colour(best, console)
    console.print(Padding(body, (0, 2)))
    console.print(_table(document, number, top))


def _table(document: dict[str, Any], number: dict[str, int], top: int) -> Any:
    """Return the legend: each tag in its colour, its share, and the words it accounts for most."""
    table = make_table(None, [">", "tag", ">share", "words it accounts for most, with credit"])
    shares = tag_shares(document)
    for tag, i in number.items():

        def by_credit(word: dict[str, Any], tag: str = tag) -> float:
            return float(-word["credit"][tag] * word["count"])  # fmt: skip

        own = [word for word in document["words"] if best_tag(word) == tag]
        own = sorted(own or document["words"][:top], key=by_credit)
        words = ", ".join(f"{word['word']} {word['credit'][tag]:.2f}" for word in own[:top])
        style = _style(i)
        table.add_row(str(i + 1), plain(tag, style), f"{100 * shares[tag]:.0f} %", plain(words))
    return table


def _coloured(text: str, best: dict[str, int], recipe: TextRecipe | None, console: Console) -> Text:
    """Return a text with each word in the colour of the tag that accounts for it."""
    from rich.text import Text

    from tagtopics.corpus.recipe import TextRecipe
    from tagtopics.corpus.spans import SpanFinder

    marked = Text()
    at = 0
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rsplit(" ", 1)[0] + " ..."
    words = list(best)
    text, spans = SpanFinder(words, recipe or TextRecipe(stop_words=None, min_length=1)).find(text)
    for start, stop, word in spans:
        marked.append_text(plain(text[at:start], "dim", keep="\n"))
        marked.append_text(_marked(text[start:stop], best[words[word]], console))
        at = stop
    return marked.append_text(plain(text[at:], "dim", keep="\n"))


def _words_in_colour(best: dict[str, int], console: Console) -> Text:
    from rich.text import Text

    return Text(" ").join(_marked(word, i, console) for word, i in best.items())


def _marked(word: str, i: int, console: Console) -> Text:
    """Return a word in its tag's colour; where there are no colours, with its tag's number."""
    mark = "" if console.color_system else str(i + 1).translate(_DIGITS)
    return plain(word + mark, _style(i))


def _style(i: int) -> str:
    return _COLOURS[i % len(_COLOURS)] if i < len(_COLOURS) else f"{_COLOURS[i % len(_COLOURS)]} underline"


def _untagged(corpus: Corpus, d: int) -> list[dict[str, Any]]:
    row = slice(corpus.counts.indptr[d], corpus.counts.indptr[d + 1])
    pairs = zip(corpus.counts.indices[row], corpus.counts.data[row].tolist(), strict=True)
    return [{"word": corpus.vocabulary[w], "count": n, "credit": {}} for w, n in pairs]


def _whole(count: float) -> int | float:
    return int(count) if count == int(count) else count
