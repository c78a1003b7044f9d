"""`tagtopics recommend` and `tagtopics related`: tags and similar training documents for new documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.options import (
    AskedArgument,
    ColumnOptions,
    GivenOption,
    ModelArgument,
    OutputOptions,
    VectorsOption,
    option,
    top_option,
)
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.sources import load, read_asked, read_vectors

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.recommend.choice import Recommendation

_NO_WORD = "no word that the model knows"
_REASONS = 3  # words of a document that are shown for each tag

ThresholdOption = Annotated[
    float, option("Only tags at least this probable, from 0 to 1.", "--threshold", metavar="X")
]
KindOption = Annotated[
    str | None, option("Only tags of this kind: author for author:Jane Doe.", default="all", metavar="KIND")
]
OnlyOption = Annotated[
    list[str] | None, option("Only this tag or name; repeat for several.", default="all", metavar="TAG")
]
ExcludeOption = Annotated[
    list[str] | None, option("Not this tag or name; repeat for several.", default="none", metavar="TAG")
]


def recommend_command(
    model: ModelArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    given: GivenOption = None,
    top: Annotated[int, top_option("Maximum number of tags per document.")] = 5,
    threshold: ThresholdOption = 0.0,
    kind: KindOption = None,
    only: OnlyOption = None,
    exclude: ExcludeOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Recommend tags for documents, most probable first, with the words and names that suggest each."""
    from tagtopics.recommend.choice import Choice

    loaded = load(model)
    named = loaded.names_ is not None
    corpus = read_asked(input, given, columns, loaded, output, known=not named, tagged=False)
    choice = Choice(top, False, threshold, kind, only or None, exclude or ())
    found = loaded.recommend_choice(corpus, _REASONS, choice, read_vectors(vectors))

    def as_json(one: Recommendation) -> dict[str, Any]:
        row = {"tag": one.tag, "probability": one.probability, "words": [word for word, _ in one.words]}
        if named:
            row |= {"name": one.name, "broader": list(one.broader), "found": list(one.found)}
        return row

    answers = [list(map(as_json, answer)) for answer in found]
    coded = loaded.visual_ is not None  # words of photographs mean nothing to readers

    def cells(rank: int, found: dict[str, Any]) -> list[str]:
        reasons = [*(f"\u201c{piece}\u201d" for piece in found.get("found", ())), *found["words"]]
        tag = f"{found['tag']} {found['name']}" if found.get("name") else found["tag"]
        tag += f" ({' < '.join(found['broader'])})" if found.get("broader") else ""
        return [tag, f"{found['probability']:.2f}", *[" ".join(reasons)] * (not coded)]

    known = "no tag is probable enough" if threshold or kind or only or exclude else _NO_WORD
    unknown = f"{_NO_WORD}, and no name of a tag" if named else _NO_WORD
    n_words = (corpus.counts.indptr[1:] - corpus.counts.indptr[:-1]).tolist()
    why_none = [known if n else unknown for n in n_words]
    shown = ["tag", ">probability", *["because of"] * (not coded)]
    _show(output, corpus.ids, "tags", answers, shown, cells, why_none)


def related_command(
    model: ModelArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    given: GivenOption = None,
    top: Annotated[int, top_option("Related documents per document.")] = 5,
    vectors: VectorsOption = None,
) -> None:
    """Show the training documents that are most related to each new document."""
    loaded = load(model)
    corpus = read_asked(input, given, columns, loaded, output)
    tags = corpus if corpus.tags.nnz else None
    found = loaded.related(corpus, top, tags=tags, vectors=read_vectors(vectors))
    answers, titled = [[asdict(one) for one in answer] for answer in found], any(loaded.doc_titles_)

    def cells(rank: int, found: dict[str, Any]) -> list[str]:
        return [str(rank), found["id"], *[found["title"] or ""] * titled, f"{found['score']:.3f}"]

    shown, why_none = [">rank", "related", *["title"] * titled, ">similarity"], [_NO_WORD] * len(answers)
    _show(output, corpus.ids, "related", answers, shown, cells, why_none)


def _show(
    output: OutputOptions,
    ids: tuple[str, ...],
    name: str,
    answers: list[list[dict[str, Any]]],
    columns: list[str],
    cells: Callable[[int, dict[str, Any]], list[str]],
    why_none: list[str],
) -> None:
    """Print the answers for each document, or why it has none, as JSON under `name` or as a table."""
    rows = list(zip(ids, answers, why_none, strict=True))
    documents = [{"id": id, name: answer} | ({} if answer else {"note": why}) for id, answer, why in rows]

    def draw(console: Console) -> None:
        table = make_table(None, ["document", *columns])
        for id, answer, why in rows:
            if not answer:
                table.add_row(plain(id, "bold"), *([""] * (len(columns) - 1)), why)
            for rank, found in enumerate(answer, start=1):
                table.add_row(plain(id if rank == 1 else "", "bold"), *map(plain, cells(rank, found)))
            table.add_section()
        console.print(table)

    show(output.json, {"documents": documents}, draw)
