"""`tagtopics datasets` lists the data sets; `tagtopics demo` fits a model to one that needs no download."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.estimators import STOP_REASONS, build_model, model_bytes, progress_bar
from tagtopics.cli.explain import credited_documents, draw_document
from tagtopics.cli.options import ModelOptions, ModelOutOption, OutputOptions, option
from tagtopics.cli.output import (
    console,
    fact_table,
    make_table,
    note,
    plain,
    profile_table,
    show,
    topic_table,
)
from tagtopics.cli.sources import load_named
from tagtopics.files import check_space

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.ttm import TTM

NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="Data set to load or write."),
]
OutOption = Annotated[str | None, option("Write it here, as a matrix folder.", "--out", "-o", metavar="DIR")]
TopicsOption = Annotated[int, option("Number of topics.")]

_READABLE = range(250, 900)  # characters of a text that is short enough to read


def datasets_command(output: OutputOptions, name: NameArgument = None, out: OutOption = None) -> None:
    """List the data sets; or load one, downloading it if needed, and write it as a matrix folder."""
    if name is not None:
        _load_one(name, out, output)
    elif out is not None:
        raise typer.BadParameter("which data set? Give its name before --out")
    else:
        _list_all(output)


def _list_all(output: OutputOptions) -> None:
    from tagtopics.datasets import list_datasets

    rows = [asdict(row) for row in list_datasets()]

    def draw(console: Console) -> None:
        cells = [[plain(row["name"], "bold"), row["origin"], row["description"]] for row in rows]
        console.print(make_table(None, ["name", "origin", "description"], rows=cells))

    show(output.json, {"datasets": rows}, draw)


def _load_one(name: str, out: str | None, output: OutputOptions) -> None:
    from tagtopics.corpus import write_matrix_folder
    from tagtopics.corpus.cells import METADATA

    corpus = load_named(name, output)
    for line in corpus.notices:
        note(line)
    if out is not None:
        write_matrix_folder(corpus, out)
    has = [part for part in ("labels", "links", "texts", "split", *METADATA.values())
           if getattr(corpus, part) is not None]  # fmt: skip
    numbers = {
        key.removeprefix("n_").replace("_", " "): f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
        for key, value in corpus.statistics.items()
    }
    facts = {"name": name, "path": out, **numbers, "has": ", ".join(has)}
    shown = {key: value for key, value in facts.items() if value}
    payload = {"name": name, "path": out, **corpus.statistics, "has": has}
    show(output.json, payload, lambda console: console.print(fact_table(shown)))


# ---------------------------------------------------------------------------------------------- demo


def demo_command(output: OutputOptions, out: ModelOutOption = "demo.tt", topics: TopicsOption = 20) -> None:
    """Fit a model to the docstrings of numpy, scipy and scikit-learn, and show its answers."""
    from tagtopics.corpus.splits import train_test
    from tagtopics.models.persistence import check_model_target

    def say(line: str, style: str = "dim") -> None:
        if not (output.json or output.quiet):
            console().print(plain(line, style), soft_wrap=True)

    target = check_model_target(out)
    model: Any = build_model(ModelOptions(topics=topics))
    began = time.perf_counter()
    say("1  Reading the docstrings of the installed numpy, scipy and scikit-learn", "bold")
    corpus = load_named("docstrings", output)
    say(f"   {corpus.n_docs:,} documents, {corpus.n_words:,} words, {corpus.n_tags} tags")
    say("   80 % of the documents for training, 20 % for testing")
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    check_space(target, model_bytes(model, train, keep=True))
    say(f"2  Learning {topics} topics with a tag-topic model, and what the tags say", "bold")
    say("   the first run on a machine compiles the kernels, which takes up to a minute")
    start = time.perf_counter()
    model.fit(train, callbacks=progress_bar(output))
    fitted = time.perf_counter() - start
    say(f"   {model.n_iter_} sweeps in {fitted:.1f} seconds ({STOP_REASONS[model.stop_reason_]})")
    payload = _answers(model, train, test)
    model.save(target, corpus=train)
    payload |= {"path": str(target), "n_topics": topics, "iterations": model.n_iter_}
    payload["seconds"] = {"fit": fitted, "all": time.perf_counter() - began}
    show(output.json, payload, lambda out: _draw(out, payload))


def _answers(model: TTM, train: Corpus, test: Corpus) -> dict[str, Any]:
    """Return the answers that the demonstration shows."""
    from tagtopics.evaluation.perplexity import unigram_perplexity
    from tagtopics.models.results import profile_row, topic_rows

    rows = topic_rows(model, 6, n_tags=2)
    typical = dict.fromkeys(row["tags"][0]["tag"] for row in rows if row["tags"])
    sizes = [len(text) for text in test.texts or ()]
    short = [d for d, size in enumerate(sizes) if size in _READABLE]
    document = max(short or range(test.n_docs), key=lambda d: len(test.tags_of(d)))
    return {
        "topics": rows,
        "tags": [profile_row(model, [tag], 6, 2) for tag in [*typical][:6]],
        "document": credited_documents(model, test.select([document]))[0],
        "metrics": {
            "unigram_perplexity": unigram_perplexity(train, test),
            "perplexity": model.perplexity(test),
        },
    }


def _draw(out: Console, payload: dict[str, Any]) -> None:
    out.print()
    out.print(topic_table(payload["topics"], "What is the collection about?"))
    out.print(profile_table(payload["tags"], "What do tags stand for?"))
    document = payload["document"]
    out.print(plain("Which tag accounts for which word? A document not used for training", "bold"))
    out.print()
    draw_document(out, document, 6)
    baseline, own = payload["metrics"]["unigram_perplexity"], payload["metrics"]["perplexity"]
    rows = [(name, f"{value:,.0f}", f"{100 * value / baseline:.0f} %")
            for name, value in (("word frequencies alone", baseline), ("this model", own))]  # fmt: skip
    out.print(make_table("How well are held-out words predicted?", ["", ">perplexity", ">of the baseline"],
                         "Document completion on the test documents; lower is better.", rows))  # fmt: skip
    out.print()
    out.print(plain(f"Saved to {payload['path']} after {payload['seconds']['all']:.0f} seconds. Try next:"))
    path = shlex.quote(payload["path"])
    report = shlex.quote(str(Path(payload["path"]).with_suffix(".html")))
    for line in (
        f"tagtopics report {path} --title Docstrings --out {report}",
        f"tagtopics topics {path} --top 15",
        f"tagtopics tags {path} {' '.join(map(shlex.quote, document['tags'][:2]))}",
        f"tagtopics explain {path} docstrings --doc {shlex.quote(document['id'])}",
        "tagtopics fit papers.jsonl --text abstract --tags authors --topics 50 --out papers.tt",
    ):
        out.print(plain(f"  {line}", "cyan"), soft_wrap=True)
