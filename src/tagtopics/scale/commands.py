"""`tagtopics shard`: split a corpus that may be larger than memory into shards on disk."""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.options import ColumnOptions, CorpusArgument, OutputOptions, TextOptions, flag, option
from tagtopics.cli.output import error_console, fact_table, note, show, size_text
from tagtopics.cli.sources import column_settings, is_path, load_named, text_recipe
from tagtopics.errors import CorpusWarning, InputError

if TYPE_CHECKING:
    from tagtopics.scale import ShardFolder

OutOption = Annotated[str, option("Folder for the shards.", "--out", "-o", metavar="DIR")]
EdgesOption = Annotated[
    int | None,
    option("Size of a shard: distinct words, summed over its documents.",
           default="4 x words, at least 1,000,000", min=1),
]  # fmt: skip
ForceOption = Annotated[bool, flag("Replace the shards in the folder.", "--force")]


def command(
    corpus: CorpusArgument,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    out: OutOption,
    shard_edges: EdgesOption = None,
    force: ForceOption = False,
) -> None:
    """Split a corpus of any size into shards on disk; it is read as a stream, never held in memory."""
    from tagtopics.scale import shard_corpus
    from tagtopics.scale.writer import check_shard_target

    check_shard_target(out, overwrite=force)
    if columns.label is not None:
        raise InputError("--label: shards cannot hold labels; leave it out")
    settings = column_settings(columns)
    del settings["label"]
    began = time.perf_counter()
    console, silent = error_console(), output.quiet or not sys.stderr.isatty()
    with nullcontext() if silent else console.status("Reading") as status, warnings.catch_warnings():

        def progress(step: str, n_docs: int) -> None:
            if status is not None:
                status.update(f"{step}: {n_docs:,} documents")

        warnings.simplefilter("ignore", CorpusWarning)  # the manifest has them as notices
        folder = shard_corpus(
            corpus if is_path(corpus) else load_named(corpus, output),
            out,
            **settings,
            recipe=text_recipe(text),
            shard_edges=shard_edges,
            overwrite=force,
            on_progress=progress,
        )
    payload = _payload(folder, time.perf_counter() - began)
    for line in folder.manifest.notices:
        note(line)
    shards = "1 shard" if payload["n_shards"] == 1 else f"{payload['n_shards']:,} shards"
    facts = {
        "corpus": size_text(payload),
        "written": f"{shards}, {payload['bytes'] / 1e6:,.1f} MB",
        "seconds": f"{payload['seconds']:.1f}, {payload['docs_per_second']:,.0f} documents per second",
        "saved to": payload["path"],
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def _payload(folder: ShardFolder, seconds: float) -> dict[str, Any]:
    manifest = folder.manifest
    sizes = ("n_docs", "n_words", "n_tags", "n_edges", "n_slots", "n_tokens")
    return {
        "path": str(folder.path),
        **{name: getattr(manifest, name) for name in sizes},
        "n_shards": len(folder),
        "bytes": sum(file.bytes for file in (manifest.names, *manifest.shards)),
        "seconds": seconds,
        "docs_per_second": manifest.n_docs / seconds,
        "notices": list(manifest.notices),
    }
