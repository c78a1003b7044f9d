"""`tagtopics shard`: cut a corpus that may be larger than memory into shards on disk."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ColumnOptions, CorpusArgument, Shown, WordOptions
from tagtopics.cli.output import error_console, make_table, note, plain, show
from tagtopics.cli.reading import load_named, one_or_list, text_recipe
from tagtopics.errors import CorpusWarning, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.scale import ShardFolder
    from tagtopics.scale.ingest import Progress

OutOption = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder of the shards.")]
EdgesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Size of a shard: distinct words, summed over its documents.",
        show_default="4 x words, 1,000,000 at least",
    ),
]
CandidatesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        help="Different words held while counting; of more, rare ones are forgotten.",
        show_default="1,000,000",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the shards that are in the folder.")]


def command(
    corpus: CorpusArgument,
    columns: ColumnOptions,
    words: WordOptions,
    shown: Shown,
    out: OutOption,
    shard_edges: EdgesOption = None,
    max_candidates: CandidatesOption = None,
    force: ForceOption = False,
) -> None:
    """Cut a corpus of any size into shards on disk: read as a stream, never held in memory."""
    from tagtopics.scale import shard_corpus
    from tagtopics.scale.ingest import MAX_CANDIDATES
    from tagtopics.scale.writer import check_shard_target

    check_shard_target(out, overwrite=force)
    if columns.label is not None:
        raise InputError("--label: shards keep no labels; leave it out")
    began = time.perf_counter()
    with _progress(shown) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # they are the manifest's notices, too
        folder = shard_corpus(
            corpus if Path(corpus).exists() and corpus else load_named(corpus, shown),
            out,
            text=one_or_list(columns.text),
            tags=one_or_list(columns.tags),
            id=columns.id,
            recipe=text_recipe(words),
            tag_separator=columns.tag_separator,
            format=columns.format,
            shard_edges=shard_edges,
            overwrite=force,
            max_candidates=max_candidates or MAX_CANDIDATES,
            progress=progress,
        )
    payload = _payload(folder, time.perf_counter() - began)
    for line in folder.manifest.notices:
        note(line)
    show(shown.json, payload, lambda console: _draw(console, payload))


@contextmanager
def _progress(shown: Shown) -> Iterator[Progress | None]:
    """Give what shows the bytes read of the file, reading by reading, where someone looks."""
    if shown.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = [TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()]
    with Bar(*columns, console=error_console(), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def tell(reading: str, done: int, size: int) -> None:
            if reading not in tasks:
                tasks[reading] = bar.add_task(reading, total=size)
            bar.update(tasks[reading], completed=done)

        yield tell


def _payload(folder: ShardFolder, seconds: float) -> dict[str, Any]:
    manifest = folder.manifest
    sizes = ("n_docs", "n_words", "n_tags", "n_edges", "n_slots", "n_tokens")
    return {
        "path": str(folder.path),
        **{name: getattr(manifest, name) for name in sizes},
        "n_shards": len(folder),
        "bytes": sum(s.bytes for s in manifest.shards) + sum(f.bytes for f in manifest.files.values()),
        "seconds": seconds,
        "docs_per_second": manifest.n_docs / seconds,
        "notices": list(manifest.notices),
    }


def _draw(console: Console, made: dict[str, Any]) -> None:
    table = make_table(None, ["", ""])
    table.show_header = False
    sizes = [f"{made[name]:,} {name[2:]}" for name in ("n_docs", "n_words", "n_tags", "n_tokens")]
    table.add_row("corpus", ", ".join(sizes).replace("docs", "documents"))
    shards = "1 shard" if made["n_shards"] == 1 else f"{made['n_shards']:,} shards"
    table.add_row("written", f"{shards}, {made['bytes'] / 1e6:,.1f} MB")
    table.add_row("seconds", f"{made['seconds']:.1f}, {made['docs_per_second']:,.0f} documents a second")
    table.add_row("saved", plain(made["path"]))
    console.print(table)
