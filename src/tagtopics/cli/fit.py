"""`tagtopics fit`: learn a model from a corpus and save it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.modelling import build_model, check_out, watchers, weights_of
from tagtopics.cli.options import ColumnOptions, CorpusArgument, ModelOptions, Shown, WordOptions
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.photographs import ImageOptions, visual_vocabulary
from tagtopics.cli.reading import read_training
from tagtopics.cli.scaling import ScaleOptions, check_scale, checkpointed, fit_sharded, is_sharded
from tagtopics.cli.tables import topic_table
from tagtopics.views.rankings import topic_rows

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

_SOME = 10
"""Topics shown after a fit; `topics` shows all."""

REASONS = {"converged": "converged", "max_iter": "all that were allowed", "stopped": "stopped early"}
"""Why a fit came to its end, in words."""

OutOption = Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="Folder of the model.")]
KeepOption = Annotated[
    bool,
    typer.Option(
        "--keep-corpus/--no-corpus", help="Keep the documents with the model, for `report` and `serve`."
    ),
]


def command(
    corpus: CorpusArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    words: WordOptions,
    images: ImageOptions,
    scale: ScaleOptions,
    shown: Shown,
    out: OutOption = "model.tt",
    keep: KeepOption = True,
) -> None:
    """Learn topics from a corpus, or from a folder of shards, and save them as a model."""
    estimator = build_model(model)
    target = check_out(out)
    sharded = is_sharded(corpus)
    check_scale(scale, sharded)
    began = read = time.perf_counter()
    if sharded:
        documents, sizes = fit_sharded(estimator, corpus, target, scale, shown, keep)
    else:
        visual = visual_vocabulary(corpus, images, model.seed, shown)
        documents = read_training(corpus, columns, words, shown, visual)
        read = time.perf_counter()
        keeping, start = checkpointed(estimator, documents, scale)
        estimator.fit(
            documents, callbacks=[*watchers(shown), *keeping], **({"start": start} if start else {})
        )
        sizes = sizes_of(documents)
        estimator.save(target, corpus=documents if keep else None)
    seconds = {"read": read - began, "fit": time.perf_counter() - read}
    payload = _payload(estimator, sizes, model, target, seconds)
    show(shown.json, payload, lambda console: _draw(console, payload))


def sizes_of(corpus: Corpus) -> dict[str, int]:
    """Return the sizes of a corpus that a summary names."""
    n_tokens = int(corpus.counts.sum(dtype="int64"))
    return {"n_docs": corpus.n_docs, "n_words": corpus.n_words, "n_tags": corpus.n_tags, "n_tokens": n_tokens}


def _payload(
    estimator: TopicModel,
    sizes: dict[str, int],
    options: ModelOptions,
    target: Path,
    seconds: dict[str, float],
) -> dict[str, Any]:
    history = estimator.history_
    return {
        "model": options.model,
        "path": str(target),
        "n_topics": int(estimator.components_.shape[0]),
        "seed": options.seed,
        **sizes,
        "iterations": estimator.n_iter_,
        "change": history[-1]["change"] if history else None,
        "stop_reason": estimator.stop_reason_,
        "weights": weights_of(estimator),
        "seconds": seconds,
        "topics": topic_rows(estimator, 8),
    }


def _draw(console: Console, fitted: dict[str, Any]) -> None:
    table = make_table(None, ["", ""])
    table.show_header = False
    sizes = [f"{fitted[name]:,} {name[2:]}" for name in ("n_docs", "n_words", "n_tags", "n_tokens")]
    table.add_row("corpus", ", ".join(sizes).replace("docs", "documents"))
    table.add_row("model", f"{fitted['model']}, {fitted['n_topics']} topics, seed {fitted['seed']}")
    if fitted["weights"]:
        values = [f"{name.replace('_', ' ')} {value:g}" for name, value in fitted["weights"].items()]
        table.add_row("tags", ", ".join(values))
    table.add_row("sweeps", f"{fitted['iterations']} ({REASONS[fitted['stop_reason']]})")
    seconds = fitted["seconds"]
    table.add_row("seconds", f"{seconds['read']:.1f} to read, {seconds['fit']:.1f} to fit")
    table.add_row("saved", plain(fitted["path"]))
    console.print(table)
    largest = sorted(fitted["topics"], key=lambda row: -row["share"])[:_SOME]
    title = "Topics" if len(largest) == fitted["n_topics"] else f"The {len(largest)} largest topics"
    console.print(topic_table(largest, title))
