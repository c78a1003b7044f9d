"""`tagtopics demo`: the main job from end to end, on text that every installation has."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.credits import credited_documents, draw_document
from tagtopics.cli.demo_choices import distinct_tags, readable_document, two_meanings
from tagtopics.cli.fit import REASONS, OutOption
from tagtopics.cli.modelling import build_model, check_out, watchers
from tagtopics.cli.options import ModelOptions, Shown
from tagtopics.cli.output import console, make_table, plain, show
from tagtopics.cli.reading import load_named
from tagtopics.cli.tables import profile_table, topic_table
from tagtopics.views.rankings import profile_row, topic_rows

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.ttm import TTM

TopicsOption = Annotated[int, typer.Option(metavar="N", help="Number of topics.")]


def command(shown: Shown, out: OutOption = "demo.tt", topics: TopicsOption = 20) -> None:
    """See it work: fit a model to the docstrings of numpy, scipy and scikit-learn, and ask it everything."""
    from tagtopics.corpus.splits import train_test

    target = check_out(out)
    model: Any = build_model(ModelOptions(topics=topics))
    say = _speaker(shown)
    began = time.perf_counter()
    say("1  Reading the docstrings of the installed numpy, scipy and scikit-learn")
    corpus = load_named("docstrings", shown)
    say(f"   {corpus.n_docs:,} documents, {corpus.n_words:,} words, {corpus.n_tags} tags", "dim")
    say(f"   such as {', '.join(_samples(corpus, 4))}", "dim")
    say("   80 % of the documents to learn from, 20 % to test", "dim")
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    say(f"2  Learning {topics} topics with TTM-H, the higher-order tag-topic model")
    say("   the first run on a machine compiles the kernels, once: up to a minute", "dim")
    start = time.perf_counter()
    model.fit(train, callbacks=watchers(shown))
    fitted = time.perf_counter() - start
    say(f"   {model.n_iter_} sweeps in {fitted:.1f} seconds ({REASONS[model.stop_reason_]})", "dim")
    payload = _answers(model, train, test)
    model.save(target, corpus=train)
    payload |= {"path": str(target), "n_topics": topics, "iterations": model.n_iter_}
    payload["seconds"] = {"fit": fitted, "all": time.perf_counter() - began}
    show(shown.json, payload, lambda out: _draw(out, payload, model, test))


def _speaker(shown: Shown) -> Any:
    """Return what says, line by line, what happens; silent where a program listens."""

    def say(line: str, style: str = "bold") -> None:
        if not (shown.json or shown.quiet):
            console().print(plain(line, style), soft_wrap=True)

    return say


def _samples(corpus: Corpus, n: int) -> list[str]:
    """Return the most frequent tag of each kind, the most frequent kinds first."""
    docs = corpus.tags.sum(0)
    order = sorted(range(corpus.n_tags), key=lambda t: -int(docs[t]))
    kinds: dict[str, str] = {}
    for t in order:
        kinds.setdefault(corpus.tag_names[t].partition(":")[0], corpus.tag_names[t])
    return list(kinds.values())[:n]


def _answers(model: TTM, train: Corpus, test: Corpus) -> dict[str, Any]:
    """Ask the model everything that the demonstration shows."""
    from tagtopics.tasks.perplexity import unigram_perplexity

    together = two_meanings(model, train)
    tag_sets = [] if together is None else [(together[0],), together[:2], (together[0], together[2])]
    documents = credited_documents(model, test)
    chosen = readable_document(test, documents)
    row = test.select([chosen])
    return {
        "topics": topic_rows(model, 6, n_tags=2),
        "tags": [profile_row(model, [tag], 6, 2) for tag in distinct_tags(model, 6)],
        "together": [profile_row(model, tags, 7, 2) for tags in tag_sets],
        "document": documents[chosen],
        "related": [{"id": found.id, "score": found.score} for found in model.related(row, 3, tags=row)[0]],
        "metrics": {
            "unigram_perplexity": unigram_perplexity(train, test, prior=model.topic_word_prior),
            "perplexity": model.perplexity(test),
        },
    }


def _draw(out: Console, payload: dict[str, Any], model: TTM, test: Corpus) -> None:
    out.print()
    out.print(topic_table(payload["topics"], "What is the collection about?"))
    out.print(profile_table(payload["tags"], "What do tags stand for?"))
    if payload["together"]:
        out.print(profile_table(payload["together"], "And tags together? One tag in two companies"))
    document = payload["document"]
    text = None if test.texts is None else test.texts[test.ids.index(document["id"])]
    out.print(plain("Which tag accounts for which word? A document the model has not seen", "bold"))
    out.print()
    draw_document(out, document, text, model.recipe_, 6)
    related = ", ".join(f"{found['id']} ({found['score']:.2f})" for found in payload["related"])
    out.print(plain("Which documents belong with it?", "bold"))
    out.print(plain(f"  {related}"))
    out.print()
    out.print(_quality(payload["metrics"]))
    _draw_end(out, payload)


def _quality(metrics: dict[str, float]) -> Any:
    names = {
        "unigram_perplexity": "word frequencies alone",
        "perplexity": "this model",
    }
    table = make_table(
        "How well are held-out words predicted?", ["", ">perplexity", ">of the baseline"],
        caption="Document completion on the test part; lower is better.",
    )  # fmt: skip
    for name, text in names.items():
        share = metrics[name] / metrics["unigram_perplexity"]
        table.add_row(text, f"{metrics[name]:,.0f}", f"{100 * share:.0f} %")
    return table


def _draw_end(out: Console, payload: dict[str, Any]) -> None:
    path = shlex.quote(payload["path"])
    out.print()
    out.print(plain(f"Saved as {payload['path']}, after {payload['seconds']['all']:.0f} seconds. Try next:"))
    pair = payload["together"][-1]["tags"] if payload["together"] else payload["tags"][0]["tags"]
    for line in (
        f"tagtopics topics {path} --top 15",
        f"tagtopics tags {path} {' '.join(map(shlex.quote, pair))}",
        f"tagtopics explain {path} docstrings --doc {shlex.quote(payload['document']['id'])}",
        "tagtopics fit papers.jsonl --text abstract --tags authors --topics 50 --out papers.tt",
    ):
        out.print(plain(f"  {line}", "cyan"), soft_wrap=True)
