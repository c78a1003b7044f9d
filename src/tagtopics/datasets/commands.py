"""`tagtopics datasets` lists the data sets; `tagtopics demo` fits a model to one that needs no download."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.estimators import STOP_REASONS, build_model, model_bytes, progress_bar
from tagtopics.cli.explain import best_tag, credited_documents, draw_document
from tagtopics.cli.options import ModelOptions, ModelOutOption, OutputOptions, dataset_names, option
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
    typer.Argument(metavar="[NAME]", help="Data set to load or write.", autocompletion=dataset_names),
]
OutOption = Annotated[str | None, option("Write it here, as a matrix folder.", "--out", "-o", metavar="DIR")]
TopicsOption = Annotated[int, option("Number of topics.")]

_MIN_SHARED = 10  # documents that two tags must share to be shown together
_READABLE = range(250, 900)  # characters of a text that is short enough to read
_CERTAIN = 0.4  # least credit for a word to be attributed to a tag


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
        cells = []
        for row in rows:
            sizes = ["" if row[n] is None else f"{row[n]:,}" for n in ("n_docs", "n_tags", "n_words")]
            cells.append([plain(row["name"], "bold"), *sizes, row["origin"], row["description"]])
        columns = ["name", ">documents", ">tags", ">words", "origin", "description"]
        console.print(make_table(None, columns, rows=cells))

    show(output.json, {"datasets": rows}, draw)


def _load_one(name: str, out: str | None, output: OutputOptions) -> None:
    from tagtopics.corpus import write_matrix_folder
    from tagtopics.corpus.cells import METADATA

    corpus = load_named(name, output)
    for line in corpus.notices:
        note(line)
    if out is not None:
        write_matrix_folder(corpus, out)
    parts = ("labels", "links", "texts", "split", *METADATA.values())
    has = [part for part in parts if getattr(corpus, part) is not None]
    payload = {"name": name, "path": out, **corpus.statistics, "has": has}
    facts = {
        key.removeprefix("n_").replace("_", " "): _text(value)
        for key, value in payload.items()
        if value not in (None, [])
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


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
    say(f"   such as {', '.join(_samples(corpus, 4))}")
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
    show(output.json, payload, lambda out: _draw(out, payload, model, test))


def _samples(corpus: Corpus, n: int) -> list[str]:
    """Return the most frequent tag of each kind, most frequent first."""
    from tagtopics.corpus.tags import kind_of

    docs = corpus.tags.sum(0).tolist()
    kinds: dict[str, str] = {}
    for t in sorted(range(corpus.n_tags), key=lambda t: -docs[t]):
        kinds.setdefault(kind_of(corpus.tag_names[t]), corpus.tag_names[t])
    return list(kinds.values())[:n]


def _answers(model: TTM, train: Corpus, test: Corpus) -> dict[str, Any]:
    """Return the answers that the demonstration shows."""
    from tagtopics.evaluation.perplexity import unigram_perplexity
    from tagtopics.models.rankings import profile_row, topic_rows

    together = _tag_with_two_meanings(model, train)
    tag_sets = [] if together is None else [(together[0],), together[:2], (together[0], together[2])]
    documents = credited_documents(model, test)
    chosen = _readable_document(test, documents)
    row = test.select([chosen])
    return {
        "topics": topic_rows(model, 6, n_tags=2),
        "tags": [profile_row(model, [tag], 6, 2) for tag in _distinct_tags(model, 6)],
        "together": [profile_row(model, tags, 7, 2) for tags in tag_sets],
        "document": documents[chosen],
        "related": [{"id": found.id, "score": found.score} for found in model.related(row, 3, tags=row)[0]],
        "metrics": {
            "unigram_perplexity": unigram_perplexity(train, test),
            "perplexity": model.perplexity(test),
        },
    }


def _distinct_tags(model: TTM, n: int) -> list[str]:
    """Return frequent tags with a distinctive profile, each with a different main topic."""
    import numpy as np

    means = model.tag_means()
    expected = model.tag_sums_.sum(0) / max(float(model.tag_sums_.sum()), 1e-300)
    surprise = (means * np.log(np.maximum(means, 1e-12) / np.maximum(expected, 1e-12))).sum(1)
    order = np.argsort(-surprise * np.sqrt(model.tag_docs_), kind="stable")
    chosen: dict[int, str] = {}
    for t in order:
        chosen.setdefault(int(means[t].argmax()), model.tag_names_[t])
    return list(chosen.values())[:n]


def _tag_with_two_meanings(model: TTM, corpus: Corpus) -> tuple[str, str, str] | None:
    """Return a tag and two others that never occur together, with which it has different joint profiles."""
    import numpy as np
    from scipy.spatial.distance import jensenshannon

    from tagtopics.bp.graph import joint_profile

    shared = (corpus.tags.T.astype(np.int64) @ corpus.tags).toarray()
    docs = np.diag(shared)
    means = model.tag_means()
    best: tuple[float, tuple[int, int, int] | None] = (0.0, None)
    for t in range(len(docs)):
        partners = [
            s for s in np.flatnonzero(shared[t] >= _MIN_SHARED) if s != t and shared[t, s] < 0.7 * docs[t]
        ]
        joint = {s: joint_profile(np.stack([means[t], means[s]])) for s in partners}
        for a, b in combinations(partners, 2):
            if shared[a, b]:
                continue
            weight = min(1.0, float(min(shared[t, a], shared[t, b])) / (2 * _MIN_SHARED))
            score = weight * float(jensenshannon(joint[a], joint[b])) ** 2
            if score > best[0]:
                best = (score, (t, int(a), int(b)))
    if best[1] is None:
        return None
    tag, one, other = (model.tag_names_[column] for column in best[1])
    return tag, one, other


def _readable_document(corpus: Corpus, documents: list[dict[str, Any]]) -> int:
    """Return the row of a short document with many words that clearly belong to its second and third tag."""
    best, row = -1.0, 0
    for d, document in enumerate(documents):
        length = len(corpus.texts[d]) if corpus.texts is not None else 0
        if length not in _READABLE or len(document["tags"]) <= 2:
            continue
        tokens = dict.fromkeys(document["tags"], 0)
        for word in document["words"]:
            tag = best_tag(word)
            tokens[tag] += word["count"] if word["credit"][tag] >= _CERTAIN else 0
        total = sum(word["count"] for word in document["words"]) or 1
        score = sum(sorted(tokens.values(), reverse=True)[1:3]) / total
        if score > best:
            best, row = score, d
    return row


def _draw(out: Console, payload: dict[str, Any], model: TTM, test: Corpus) -> None:
    out.print()
    out.print(topic_table(payload["topics"], "What is the collection about?"))
    out.print(profile_table(payload["tags"], "What do tags stand for?"))
    if payload["together"]:
        out.print(profile_table(payload["together"], "What do tags stand for together?"))
    document = payload["document"]
    text = None if test.texts is None else test.texts[test.ids.index(document["id"])]
    out.print(plain("Which tag accounts for which word? A document not used for training", "bold"))
    out.print()
    draw_document(out, document, text, model.recipe_, 6)
    related = ", ".join(f"{found['id']} ({found['score']:.2f})" for found in payload["related"])
    out.print(plain("Which documents are similar?", "bold"))
    out.print(plain(f"  {related}"))
    out.print()
    baseline, own = payload["metrics"]["unigram_perplexity"], payload["metrics"]["perplexity"]
    rows = [(name, f"{value:,.0f}", f"{100 * value / baseline:.0f} %")
            for name, value in (("word frequencies alone", baseline), ("this model", own))]  # fmt: skip
    out.print(make_table("How well are held-out words predicted?", ["", ">perplexity", ">of the baseline"],
                         "Document completion on the test documents; lower is better.", rows))  # fmt: skip
    out.print()
    out.print(plain(f"Saved to {payload['path']} after {payload['seconds']['all']:.0f} seconds. Try next:"))
    path = shlex.quote(payload["path"])
    report = shlex.quote(str(Path(payload["path"]).with_suffix(".html")))
    pair = payload["together"][-1]["tags"] if payload["together"] else payload["tags"][0]["tags"]
    for line in (
        f"tagtopics report {path} --title Docstrings --out {report}",
        f"tagtopics topics {path} --top 15",
        f"tagtopics tags {path} {' '.join(map(shlex.quote, pair))}",
        f"tagtopics explain {path} docstrings --doc {shlex.quote(document['id'])}",
        "tagtopics fit papers.jsonl --text abstract --tags authors --topics 50 --out papers.tt",
    ):
        out.print(plain(f"  {line}", "cyan"), soft_wrap=True)
