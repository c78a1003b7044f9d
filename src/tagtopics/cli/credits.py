"""Credits of words to tags: as rows for JSON, and as coloured text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tagtopics.cli.output import make_table, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.models.ttm import TTM

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MAX_CHARACTERS = 2000
"""Characters of a text that are shown."""


def credited_documents(model: TTM, corpus: Corpus) -> list[dict[str, Any]]:
    """Return each document with its tags and its words, most frequent first, with the credit of each tag."""
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


def draw_document(
    console: Console, document: dict[str, Any], text: str | None, recipe: TextRecipe | None, top: int
) -> None:
    """Print one document: its text in the colours of its tags, and a table with the words of each tag."""
    console.print(plain(document["id"], "bold"))
    if not document["tags"]:
        console.print("  no tag that the model knows\n", style="dim")
        return
    number = {tag: i for i, tag in enumerate(document["tags"])}
    best = {word["word"]: number[best_tag(word)] for word in document["words"]}
    from rich.padding import Padding

    body = _coloured(text, best, recipe, console) if text else _words_in_colour(best, console)
    console.print(Padding(body, (0, 2)))
    console.print(_legend(document, number, top))


def _legend(document: dict[str, Any], number: dict[str, int], top: int) -> Table:
    """Return a table of the tags: colour, share of the document, words with the most credit."""
    table = make_table(None, [">", "tag", ">share", "words with the most credit"])
    shares = _tag_shares(document)
    for tag, i in number.items():
        mine = [word for word in document["words"] if best_tag(word) == tag] or document["words"][:top]
        credited = sorted(
            ((word["credit"][tag], word) for word in mine), key=lambda pair: -pair[0] * pair[1]["count"]
        )
        words = ", ".join(f"{word['word']} {credit:.2f}" for credit, word in credited[:top])
        table.add_row(str(i + 1), plain(tag, _style(i)), f"{100 * shares[tag]:.0f} %", plain(words))
    return table


def _tag_shares(document: dict[str, Any]) -> dict[str, float]:
    """Return the share of a document's tokens credited to each tag; the shares sum to one."""
    total = sum(word["count"] for word in document["words"]) or 1
    shares = dict.fromkeys(document["tags"], 0.0)
    for word in document["words"]:
        for tag, credit in word["credit"].items():
            shares[tag] += credit * word["count"] / total
    return shares


def _coloured(text: str, best: dict[str, int], recipe: TextRecipe | None, console: Console) -> Text:
    """Return a text with each word in the colour of its best tag."""
    from rich.text import Text

    from tagtopics.corpus import TextRecipe
    from tagtopics.corpus.text import SpanFinder

    if len(text) > _MAX_CHARACTERS:
        text = text[:_MAX_CHARACTERS].rsplit(" ", 1)[0] + " ..."
    words = list(best)
    text, spans = SpanFinder(words, recipe or TextRecipe()).find(text)
    marked = Text()
    end = 0
    for span in spans:
        marked.append_text(plain(text[end : span.start], "dim", keep="\n"))
        marked.append_text(_marked(text[span.start : span.stop], best[words[span.word]], console))
        end = span.stop
    return marked.append_text(plain(text[end:], "dim", keep="\n"))


def _words_in_colour(best: dict[str, int], console: Console) -> Text:
    from rich.text import Text

    return Text(" ").join(_marked(word, i, console) for word, i in best.items())


def _marked(word: str, i: int, console: Console) -> Text:
    """Return a word in the colour of its tag; without colours, with the number of the tag."""
    mark = "" if console.color_system else str(i + 1).translate(_DIGITS)
    return plain(word + mark, _style(i), keep="\n")


def _style(i: int) -> str:
    colour = _COLOURS[i % len(_COLOURS)]
    return colour if i < len(_COLOURS) else f"{colour} underline"


def _untagged(corpus: Corpus, d: int) -> list[dict[str, Any]]:
    row = slice(corpus.counts.indptr[d], corpus.counts.indptr[d + 1])
    pairs = zip(corpus.counts.indices[row], corpus.counts.data[row].tolist(), strict=True)
    return [{"word": corpus.vocabulary[w], "count": n, "credit": {}} for w, n in pairs]


def _whole(count: float) -> int | float:
    return int(count) if count == int(count) else count
