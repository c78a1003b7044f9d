"""`tagtopics explain`: which words of a document, or parts of an image, each of its tags accounts for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.options import (
    AskedArgument,
    ColumnOptions,
    GivenOption,
    ModelArgument,
    OutputOptions,
    flag,
    option,
    top_option,
)
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.sources import load_tagged, read_asked, require_tags
from tagtopics.errors import InputError, similar_names
from tagtopics.files import check_target
from tagtopics.images.commands import ImageTagOption, MapsOption, is_image_file, map_tags, show_maps

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.ttm import TTM


TopOption = Annotated[
    int | None, top_option("Number of words per document and per tag.", default="10; all in JSON")
]
DocOption = Annotated[str | None, option("Only this document: its id, or its number from 0.", metavar="ID|N")]
TagOption = Annotated[
    list[str] | None,
    option("With --given: a tag of the text; repeat for several.", "--tag", default=False, metavar="TAG"),
]
OverwriteOption = Annotated[bool, flag("Replace existing files in FOLDER.", "--overwrite")]

_SHOWN = 5  # documents printed if none is chosen


def command(
    model: ModelArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    given: GivenOption = None,
    tag: TagOption = None,
    top: TopOption = None,
    doc: DocOption = None,
    image_tag: ImageTagOption = None,
    out: MapsOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Show how much of each word, or of each part of an image, each tag accounts for."""
    from tagtopics.corpus import tag_matrix

    if out is not None:
        check_target(out, "folder of heat maps", Path.is_dir)
    loaded = load_tagged(model, "explain")
    if input is not None and is_image_file(input):
        if columns.tags:
            raise InputError("--tags names a column of a table; give the tags of an image with --image-tag")
        return show_maps([map_tags(loaded, input, input, image_tag or (), out, overwrite)], output)
    if image_tag:
        raise InputError(f"--image-tag: {input} is not an image; name the tag column with --tags")
    corpus = read_asked(input, given, columns, loaded, output)
    if input is None:
        if not tag:
            raise InputError("--given: name the tags of the text with --tag")
        names = [loaded.tag_names_[loaded.tag_column(name)] for name in tag]
        tags = tag_matrix([names] * corpus.n_docs, loaded.tag_names_)
        corpus, input = replace(corpus, tags=tags), "--given"
    require_tags(corpus, input, columns, loaded)
    if corpus.tags.nnz == 0:
        raise InputError(
            f"{input}: no document has a tag that the model knows; check the tag column (--tags) and what "
            "divides its tags (--tag-separator)"
        )
    n_docs = corpus.n_docs
    if doc is not None:
        corpus = corpus.select([_row(corpus, doc)])
    elif not output.json:
        corpus = corpus.select(range(min(_SHOWN, n_docs)))
    if out is not None:
        rows = [
            map_tags(loaded, str(Path(input) / name), name, corpus.tags_of(d), out, overwrite)
            for d, name in enumerate(corpus.ids)
        ]
        return show_maps(rows, output)
    documents = credited_documents(loaded, corpus)

    def draw(console: Console) -> None:
        for document in documents:
            draw_document(console, document, top or 10)
        if doc is None and n_docs > len(documents):
            console.print(f"... and {n_docs - len(documents):,} more documents: --doc or --json", style="dim")

    show(output.json, {"documents": [row | {"words": row["words"][:top]} for row in documents]}, draw)


def _row(corpus: Corpus, doc: str) -> int:
    """Return the row of a document by its id, else by its number."""
    if doc in corpus.ids:
        return corpus.ids.index(doc)
    if doc.isdecimal() and int(doc) < corpus.n_docs:
        return int(doc)
    hint = similar_names(doc, corpus.ids) or f"; numbers go from 0 to {corpus.n_docs - 1}"
    raise InputError(f"--doc {doc[:80]}: no document has this id{hint}")


# -------------------------------------------------------------------------------------------- words


def credited_documents(model: TTM, corpus: Corpus) -> list[dict[str, Any]]:
    """Return each document with its tags and its words, most frequent first, with the credit of each tag."""
    table = model.explain(corpus)
    words: list[dict[str, dict[str, Any]]] = [{} for _ in corpus.ids]
    columns = zip(table.doc.tolist(), table.word, table.count.tolist(), table.tag, table.credit.tolist(),
                  strict=True)  # fmt: skip
    for d, word, count, tag, credit in columns:
        whole = int(count) if count == int(count) else count
        row = words[d].setdefault(word, {"word": word, "count": whole, "credit": {}})
        row["credit"][tag] = credit
    documents: list[dict[str, Any]] = []
    for d, name in enumerate(corpus.ids):
        tags, rows = list(corpus.tags_of(d)), list(words[d].values())
        if not tags:
            counts = corpus.counts[[d]]
            pairs = zip(counts.indices, counts.data.tolist(), strict=True)
            rows = [{"word": corpus.vocabulary[w], "count": n, "credit": {}} for w, n in pairs]
        rows.sort(key=lambda row: -row["count"])
        documents.append({"id": name, "tags": tags, "words": rows})
    return documents


def draw_document(console: Console, document: dict[str, Any], top: int) -> None:
    """Print the tags of one document: their shares of its tokens, and the words with the most credit."""
    console.print(plain(document["id"], "bold"))
    if not document["tags"]:
        console.print("  no tag that the model knows\n", style="dim")
        return
    total = sum(word["count"] for word in document["words"]) or 1
    credited = [(word, max(word["credit"], key=word["credit"].get)) for word in document["words"]]
    rows = []
    for tag in document["tags"]:
        tokens = sum(word["credit"].get(tag, 0.0) * word["count"] / total for word in document["words"])
        mine = [word for word, best in credited if best == tag] or document["words"][:top]
        mine = sorted(mine, key=lambda word: -word["credit"][tag] * word["count"])[:top]
        words = ", ".join(f"{word['word']} {word['credit'][tag]:.2f}" for word in mine)
        rows.append((tag, f"{100 * tokens:.0f} %", words))
    console.print(make_table(None, ["tag", ">share", "words with the most credit"], rows=rows))
