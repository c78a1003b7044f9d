"""`tagtopics fit`: learn a model from a corpus, in memory or on shards, and save it."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.estimators import (
    STOP_REASONS,
    build_model,
    model_bytes,
    name_of_model,
    progress_bar,
    strengths_of,
    weights_of,
)
from tagtopics.cli.options import (
    ColumnOptions,
    CorpusArgument,
    ModelOptions,
    ModelOutOption,
    OutputOptions,
    ScaleOptions,
    TextOptions,
    VectorsOption,
    flag,
)
from tagtopics.cli.output import fact_table, note, show, size_text, topic_table
from tagtopics.cli.sources import read_training, read_vectors
from tagtopics.curation.commands import CurationOption, GuidedOption, fit_with_journal, journal_of
from tagtopics.errors import InputError
from tagtopics.files import check_apart, check_space
from tagtopics.images.commands import visual_vocabulary
from tagtopics.subjects.commands import TagNamesOption, named_documents

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.models.base import TopicModel

_SHOWN = 10  # topics printed after a fit; `topics` prints all

KeepOption = Annotated[bool, flag("Save the documents, for `report`.", "--keep-corpus/--no-corpus")]
RecommenderOption = Annotated[bool, flag("Train the tag recommender.", "--recommender/--no-recommender")]


def command(
    corpus: CorpusArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    scale: ScaleOptions,
    output: OutputOptions,
    out: ModelOutOption = "model.tt",
    keep: KeepOption = True,
    recommender: RecommenderOption = True,
    tag_names: TagNamesOption = None,
    curation: CurationOption = None,
    guided: GuidedOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Learn topics from a corpus, or from a folder of shards, and save them as a model."""
    from tagtopics.models import precompile
    from tagtopics.models.documents import without_words
    from tagtopics.models.persistence import check_model_target, save_model
    from tagtopics.scale.format import holds_shards

    estimator = build_model(model)
    target = check_model_target(out)
    sharded = bool(corpus) and Path(corpus).is_dir() and holds_shards(Path(corpus))
    if tag_names is not None and (sharded or not recommender):
        raise InputError("--tag-names needs texts and a recommender: no shards, no --no-recommender")
    _check_scale(scale, sharded)
    journal = journal_of(curation, guided)
    if journal is not None and sharded:
        raise InputError("--curation and --guided need a corpus in memory, no shards")
    rows = read_vectors(vectors, journal is not None)
    if scale.checkpoint is not None:
        check_apart(out=target, checkpoint=scale.checkpoint)
    precompile.begin()  # while the corpus is read
    began = time.perf_counter()
    if sharded:
        read = began
        sizes = _fit_shards(estimator, corpus, target, scale, output, keep, rows)
    else:
        visual = visual_vocabulary(corpus, model.seed, output)
        documents = read_training(corpus, columns, text, output, visual)
        if tag_names is not None:
            documents = named_documents(documents, tag_names)
        if (D := documents.n_docs) < (K := estimator.count_topics(documents.n_tags)):
            note(f"{K:,} topics for {D:,} documents: use fewer topics than documents, with --topics")
        read = time.perf_counter()
        check_space(target, model_bytes(estimator, documents, keep, recommender, rows))
        callbacks = progress_bar(output)
        if journal is not None:
            documents = without_words(documents, journal.banned)
            estimator = fit_with_journal(estimator, documents, journal, model.topics, callbacks)
        if journal is None and recommender:
            estimator.fit(documents, vectors=rows, callbacks=callbacks)
        elif journal is None:
            estimator.fit_topics(documents, vectors=rows, callbacks=callbacks)
        elif recommender:
            estimator.learn_recommender(documents, callbacks)
        save_model(estimator, target, documents if keep else None)
        sizes = {name: getattr(documents, name) for name in ("n_docs", "n_words", "n_tags")}
        sizes["n_tokens"] = int(documents.counts.sum(dtype="int64"))
    seconds = {"read": read - began, "fit": time.perf_counter() - read}
    payload = _payload(estimator, sizes, model.seed, target, seconds)
    show(output.json, payload, lambda console: _draw(console, payload))


# --------------------------------------------------------------------------------------- long fits


def _check_scale(scale: ScaleOptions, sharded: bool) -> None:
    """Check the options of long fits before anything is read."""
    on_ray = scale.engine == "ray"
    if not on_ray and scale.engine != "local":
        raise InputError(f"--engine {scale.engine[:40]!r}: choose from local, ray")
    options = {"--engine ray": on_ray, "--checkpoint": scale.checkpoint, "--resume": scale.resume}
    if (given := next(filter(options.get, options), None)) and not sharded:
        raise InputError(f"{given} needs shards; make them with tagtopics shard CORPUS --out DIR")
    if not on_ray and (scale.workers is not None or scale.address is not None):
        note("--workers and --address have no effect without --engine ray")


def _fit_shards(
    estimator: TopicModel,
    source: str,
    target: Path,
    scale: ScaleOptions,
    output: OutputOptions,
    keep: bool,
    vectors: Any,
) -> dict[str, int]:
    """Fit an estimator to a folder of shards, save it, and return the sizes of the corpus."""
    from tagtopics.scale.fit import fit_shards, sampled_shards
    from tagtopics.scale.format import ShardFolder
    from tagtopics.scale.shard_executor import remove_run

    folder = ShardFolder.open(source)
    check_space(target, 4 * estimator.count_topics(folder.manifest.n_tags) * folder.manifest.n_words)
    work = Path(scale.checkpoint) if scale.checkpoint else target.with_name(f"{target.name}.run")
    bar, executor = progress_bar(output), None
    if scale.engine == "ray":
        from tagtopics.scale.ray_executor import ray_executor

        executor = ray_executor(scale.workers or 2, scale.address)
    resume = scale.resume
    fit_shards(estimator, folder, work, vectors=vectors, resume=resume, executor=executor, callbacks=bar)
    estimator.save(target, corpus=folder.corpus(sampled_shards(folder)) if keep else None)
    remove_run(work)
    return {name: getattr(folder.manifest, name) for name in ("n_docs", "n_words", "n_tags", "n_tokens")}


# ------------------------------------------------------------------------------------------- output


def _payload(
    estimator: TopicModel, sizes: dict[str, int], seed: int, target: Path, seconds: dict[str, float]
) -> dict[str, Any]:
    from tagtopics.models.results import topic_rows

    history = estimator.history_
    return {
        "model": name_of_model(estimator),
        "path": str(target),
        "n_topics": int(estimator.components_.shape[0]),
        "seed": seed,
        **sizes,
        "iterations": estimator.n_iter_,
        "change": history[-1]["change"] if history else None,
        "stop_reason": estimator.stop_reason_,
        "word_exponent": getattr(estimator, "word_exponent_", None),
        "doc_topic_prior": float(estimator.doc_topic_prior_.mean()),
        "weights": weights_of(estimator),
        "strengths": strengths_of(estimator),
        "vector_strength": estimator.vector_strength_,
        "seconds": seconds,
        "topics": topic_rows(estimator, 8),
    }


def _draw(console: Console, fitted: dict[str, Any]) -> None:
    facts = {
        "corpus": size_text(fitted),
        "model": f"{fitted['model']}, {fitted['n_topics']} topics, seed {fitted['seed']}",
    }
    if (fitted["word_exponent"] or 1) < 1:
        exponent, prior = fitted["word_exponent"], fitted["doc_topic_prior"]
        facts["topics"] = f"word exponent {exponent:g}, document prior {prior:.3g}"
    weights = [(name.replace("_", " "), value) for name, value in (fitted["weights"] or {}).items() if value]
    if weights:
        facts["tags"] = ", ".join(f"{name} {value:g}" for name, value in weights)
    if fitted["strengths"] and fitted["n_tags"]:
        length = fitted["n_tokens"] / max(fitted["n_docs"], 1)
        facts["tags"] = _worth_of_tags(fitted["strengths"]["known"], length)
    if fitted["vector_strength"] is not None:
        facts["vectors"] = f"{fitted['vector_strength']:g} tokens from the nearest documents"
    end = STOP_REASONS[fitted["stop_reason"]]
    if fitted["stop_reason"] != "converged" and fitted["change"]:
        end += f"; the last one changed {fitted['change']:.1%} of the messages"
    seconds = fitted["seconds"]
    facts |= {
        "sweeps": f"{fitted['iterations']} ({end})",
        "seconds": f"{seconds['read']:.1f} to read, {seconds['fit']:.1f} to fit",
        "saved to": fitted["path"],
    }
    console.print(fact_table(facts))
    largest = sorted(fitted["topics"], key=lambda row: -row["share"])[:_SHOWN]
    title = "Topics" if len(largest) == fitted["n_topics"] else f"The {len(largest)} largest topics"
    console.print(topic_table(largest, title))


def _worth_of_tags(known: dict[str, Any], length: float) -> str:
    """Return how many words the tags of a document are worth, and how many words it has."""
    worth = Counter({"together": known["joint"]}) + Counter(known["mean"]) + Counter(known["words"])
    if not worth:
        return "not used: they do not help to predict words"
    kinds = ", ".join(f"{name} {tokens:.2g}" for name, tokens in worth.most_common(3))
    most = f" (most: {kinds})" if len(worth) > 1 else ""
    return f"worth about {worth.total():.2g} words{most}; a document has {length:.0f}"
