"""`tagtopics choose`, `compare`, `effects` and `trends`: analyses of topics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import (
    AskedArgument,
    ColumnOptions,
    CorpusArgument,
    ModelArgument,
    OutputOptions,
    TextOptions,
    argument,
    option,
    top_option,
)
from tagtopics.cli.output import error_console, make_table, note, per_cent, plain, show
from tagtopics.cli.sources import load, load_with_documents, read_asked, read_training
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.analysis.choose.choose import TopicChoice
    from tagtopics.analysis.choose.compare import Comparison
    from tagtopics.analysis.effects.effects import Effects
    from tagtopics.analysis.effects.measure import TopicMean
    from tagtopics.analysis.effects.trends import Trend, Trends
    from tagtopics.analysis.records import OnProgress
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel


def whole_numbers(value: str) -> tuple[int, ...]:
    """Parse whole numbers with commas between them."""
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is not a list of whole numbers such as 10,20,50") from None


SourceArgument = Annotated[
    str,
    argument("A model folder with its documents, or a corpus to fit first.", "MODEL|CORPUS"),
]  # fmt: skip
LimitOption = Annotated[int, option("Rows of each table; 0 for all. JSON always has all.", "--limit", min=0)]
TopOption = Annotated[int, top_option("Words per topic.")]
SeedOption = Annotated[int, option("Random seed; equal seeds give equal results.", "--seed")]
ThreadsOption = Annotated[
    int | None, option("Number of threads; does not change the result.", "--threads", default="all cores")
]
PlotOption = Annotated[
    str | None,
    option("Write a figure: a new file .svg, .png or .pdf.", "--plot", default="none", metavar="FILE"),
]


@dataclass(frozen=True)
class RefitOptions:
    """The refits that intervals come from."""

    refits: Annotated[int, option("Refits on bootstrap samples of the documents.", "--refits", min=10)] = 200
    level: Annotated[
        float, option("Level of the intervals.", "--level", metavar="X", min=0.01, max=0.999)
    ] = 0.9
    seed: SeedOption = 0
    threads: ThreadsOption = None
    plot: PlotOption = None


@dataclass(frozen=True)
class TermOptions:
    """What topics may depend on."""

    on: Annotated[
        list[str] | None,
        option("A number: year, date, or a kind of tags that are numbers; or a formula with splines and "
               "interactions, such as \"rating * s(day)\"; repeat for several.", "--on",
               default="none", metavar="NAME"),
    ] = None  # fmt: skip
    kind: Annotated[
        list[str] | None,
        option("A kind of tags, such as venue; repeat for several.", default="none", metavar="KIND"),
    ] = None
    values: Annotated[
        str | None,
        option("A table with more numbers and kinds of tags: a row for each document, in the same order.",
               "--values", default="none", metavar="FILE"),
    ] = None  # fmt: skip
    cluster: Annotated[
        str | None,
        option("A number or kind of tags; documents that share it are sampled together.", "--cluster",
               default="none", metavar="NAME"),
    ] = None  # fmt: skip
    given: Annotated[
        list[str] | None,
        option("A kind of tags to hold constant, such as authors.", default="none", metavar="KIND"),
    ] = None
    min_docs: Annotated[int, option("Minimum number of documents of a tag.", "--min-docs", min=2)] = 10


def choose_command(
    corpus: CorpusArgument,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    topics: Annotated[
        Any,
        option("Numbers of topics to try.", "--topics", default="10,20,50,100", metavar="N,N",
               parser=whole_numbers),
    ] = None,
    restarts: Annotated[int, option("Fits for each number, on other documents and seeds.", min=2)] = 10,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    plot: PlotOption = None,
) -> None:  # fmt: skip
    """Recommend a number of topics: held-out score, and topics that repeated fits find again."""
    from tagtopics.analysis.choose.choose import GRID, choose_topics
    from tagtopics.analysis.plots import check_figure, plot_choice, save_figure

    target = check_figure(plot)
    documents = read_training(corpus, columns, text, output)
    with progress(output, "Fitting") as on_progress:
        choice = choose_topics(
            documents,
            topics or GRID,
            restarts=restarts,
            seed=seed,
            n_jobs=threads,
            on_progress=on_progress,
        )
    for line in choice.notes:
        note(line)
    if target is not None:
        save_figure(plot_choice(choice), target)
    show(output.json, choice.to_dict(), lambda console: _draw_choice(console, choice))


def _draw_choice(console: Console, choice: TopicChoice) -> None:
    console.print(f"{choice.summary}\n")
    marks: dict[int | None, str] = {choice.best_score: "best score", choice.recommended: "recommended"}
    rows = [
        (row.n_topics, f"{row.score:.4f}", f"{row.error:.4f}", f"{100 * row.stability:.0f} %",
         marks.get(row.n_topics, ""))
        for row in choice.rows
    ]  # fmt: skip
    columns = [">topics", ">score", ">error", ">found again", ""]
    caption = f"{choice.restarts} restarts; score: mean log probability of a held-out token"
    console.print(make_table(None, columns, caption, rows))


def compare_command(
    first: Annotated[str, argument("A model folder.", "MODEL")],
    second: Annotated[str, argument("Another model folder.", "OTHER")],
    output: OutputOptions,
    top: Annotated[int, top_option("Words per topic that are compared.")] = 10,
    threshold: Annotated[
        float, option("Minimum cosine similarity of a match.", "--threshold", metavar="X", min=0, max=1)
    ] = 0.8,
) -> None:
    """Match the topics of two models: similarity, words gained and lost, topics without a match."""
    from tagtopics.analysis.choose.compare import compare

    found = compare(load(first), load(second), n_words=top, threshold=threshold)
    payload = {"models": [first, second], **found.to_dict()}
    show(output.json, payload, lambda console: _draw_comparison(console, found, first, second))


def _draw_comparison(console: Console, found: Comparison, first: str, second: str) -> None:
    rows = []
    for pair in found.pairs:
        shares = f"{100 * pair.share_first:.1f} → {100 * pair.share_second:.1f} %"
        words = map(" ".join, (pair.words, pair.gained, pair.lost))
        rows.append((pair.first, pair.second, f"{pair.similarity:.2f}", shares, *words))
    columns = [">first", ">second", ">similarity", ">shares", "words in both", "gained", "lost"]
    caption = f"mean similarity {found.similarity:.2f}"
    console.print(make_table(f"{len(rows)} topics in both models", columns, caption, rows))
    for name, lone in ((first, found.only_first), (second, found.only_second)):
        if lone:
            console.print(plain(f"only in {name}: topics {', '.join(map(str, lone))}"))


def effects_command(
    model: ModelArgument,
    terms: TermOptions,
    refits: RefitOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    top: TopOption = 6,
    limit: LimitOption = 15,
) -> None:
    """Estimate effects of numbers and tags on topics, with intervals from refits on bootstrap samples."""
    from tagtopics.analysis.effects.effects import effects
    from tagtopics.analysis.plots import plot_effects

    measure = partial(
        effects,
        on=terms.on or (),
        kinds=terms.kind or (),
        given=terms.given or (),
        values=None if terms.values is None else _read_values(terms.values),
        cluster=terms.cluster,
        min_docs=terms.min_docs,
        n_words=top,
    )
    found = _measure(measure, plot_effects, model, input, refits, output)
    show(output.json, found.to_dict(), lambda console: _draw_effects(console, found, limit))


def _read_values(source: str) -> dict[str, Any]:
    """Return the columns of a table: numbers if all cells are, else texts; NaN or None where empty."""
    from tagtopics.corpus.formats.registry import find_source, is_table, read_table

    path, kind = find_source(source, None)
    if not is_table(kind):
        raise InputError(f"--values {source}: not a table; give one such as a CSV file")
    table, columns = read_table(path, kind, read_table(path, kind, (), size=1).names), dict[str, Any]()
    for name in table.names:
        known = [str(cell).strip() or None if cell is not None else None for cell in table.cells(name)]
        try:
            columns[name] = [float("nan") if cell is None else float(cell) for cell in known]
        except ValueError:
            columns[name] = known
    return columns


def _draw_effects(console: Console, found: Effects, limit: int) -> None:
    shown: dict[int, TopicMean] = {}
    for title, unit, curves in found.tables():
        rows, several = list[tuple[Any, ...]](), len({curve[0].term for curve in curves}) > 1
        for curve in curves[: limit or None]:
            topic = shown[curve[0].topic] = found.topics[curve[0].topic]
            points = [f"{100 * row.estimate:+.2f}" for row in curve[::5]]
            if curve[0].at is None:
                points += [f"{100 * curve[0].low:+.2f} to {100 * curve[0].high:+.2f} {found.mark(curve[0])}"]
            else:
                points = [f"{p} {found.mark(row)}" for p, row in zip(points, curve[::5], strict=True)]
            rows.append((*[curve[0].term] * several, topic.topic, topic.name, *points))
        at = [f">{row.at:.6g}" for row in curves[0][::5] if row.at is not None] or [">effect", ">interval"]
        console.print(make_table(f"{title}: {unit}", [*["tag"] * several, ">topic", "name", *at], rows=rows))
        if len(curves) > len(rows):
            console.print(f"  ... and {len(curves) - len(rows):,} more: --limit 0", style="dim")
    given = f", given {', '.join(found.given)}" if found.given else ""
    caption = f"{found.n_docs:,} documents{given}; {_intervals(found)}; * excludes zero"
    _draw_topics(console, list(shown.values()), caption)


def _draw_topics(console: Console, topics: Sequence[TopicMean], caption: str) -> None:
    """Print what was measured of topics beside what the model has."""
    rows = [
        (t.topic, per_cent(t.share), per_cent(t.model_share), f"{t.similarity:.2f}{'' if t.agrees else ' ?'}",
         " ".join(t.words))
        for t in sorted(topics, key=lambda t: t.topic)
    ]  # fmt: skip
    if not all(topic.agrees for topic in topics):
        caption += "; ? not the topic of the model: do not rely on it"
    columns = [">topic", ">share", ">in the model", ">similarity", "words"]
    console.print(make_table("topics as measured", columns, caption, rows))


def trends_command(
    model: ModelArgument,
    refits: RefitOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    time: Annotated[
        str, option("Time: year, date, or a kind of tags that are numbers.", "--on", metavar="NAME")
    ] = "year",
    periods: Annotated[int, option("Maximum number of periods.", "--periods", min=2)] = 12,
    min_docs: Annotated[int, option("Minimum number of documents of a tag.", "--min-docs", min=3)] = 20,
    top: TopOption = 6,
    limit: LimitOption = 15,
) -> None:
    """Show topics and tags over time: what rises, what falls."""
    from tagtopics.analysis.effects.trends import trends
    from tagtopics.analysis.plots import plot_trends

    measure = partial(trends, time=time, n_periods=periods, min_docs=min_docs, n_words=top)
    found = _measure(measure, plot_trends, model, input, refits, output)
    show(output.json, found.to_dict(), lambda console: _draw_trends(console, found, limit))


def _draw_trends(console: Console, found: Trends, limit: int) -> None:
    columns = [f">{found.periods[0]}", f">{found.periods[-1]}", ">slope", ">interval", ""]
    shown, rows = _ends(found.topics, limit), list[tuple[Any, ...]]()
    for topic in shown:
        direction = topic.direction if topic.agrees else f"{topic.direction} ?"
        rows.append((topic.topic, topic.name, *_numbers(topic), direction))
    console.print(make_table(f"topics over time: {found.unit}", [">topic", "name", *columns], rows=rows))
    clear = [tag for tag in found.tags if tag.direction != "unclear"]
    if clear:
        rows = [(tag.tag, tag.n_docs, *_numbers(tag), tag.direction) for tag in _ends(clear, limit)]
        title = f"tags over time: {found.unit}"
        console.print(make_table(title, ["tag", ">documents", *columns], rows=rows))
    _draw_topics(console, shown, _intervals(found))


def _measure(
    measure: Callable[..., Any],
    plot: Callable[[Any], Any],
    path: str,
    source: str | None,
    refits: RefitOptions,
    output: OutputOptions,
) -> Any:
    """Return what is measured of a saved model, on its own documents or on others, and plot it if wanted."""
    from tagtopics.analysis.plots import check_figure, save_figure

    target = check_figure(refits.plot)
    if source is None:
        model, documents = load_saved(path)
    else:
        model = load(path)
        documents = read_asked(source, None, ColumnOptions(), model, output)
    with progress(output, "Refitting") as on_progress:
        found = measure(
            model, documents, refits=refits.refits, level=refits.level, seed=refits.seed,
            n_jobs=refits.threads, on_progress=on_progress,
        )  # fmt: skip
    if found.left_out:
        note(f"{found.left_out:,} documents without a value were left out")
    if target is not None:
        save_figure(plot(found), target)
    return found


def _intervals(found: Effects | Trends) -> str:
    """Return where the intervals come from."""
    held = " that hold the edited topics" if found.held else ""
    return f"{100 * found.level:g} % intervals from {found.refits} refits{held}"


def _numbers(row: Trend) -> tuple[str, ...]:
    interval = f"{100 * row.low:+.2f} to {100 * row.high:+.2f}"
    return per_cent(row.shares[0]), per_cent(row.shares[-1]), f"{100 * row.slope:+.2f}", interval


def _ends(rows: Sequence[Any], limit: int) -> Sequence[Any]:
    """Return the first and the last rows, `limit` in all."""
    if not limit or len(rows) <= limit:
        return rows
    return [*rows[: (limit + 1) // 2], *rows[len(rows) - limit // 2 :]]


# --------------------------------------------------------------------------------------- used by `audit`, too


def load_saved(path: str) -> tuple[TopicModel, Corpus]:
    """Return a saved model and its documents."""
    model, documents = load_with_documents(path)
    if documents is None:
        raise InputError(f"{path}: was saved without its documents; fit again with --keep-corpus")
    return model, documents


@contextmanager
def progress(output: OutputOptions, title: str) -> Iterator[OnProgress]:
    """Yield a function that takes the share of the work done and shows it, on a terminal only."""
    if output.quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.progress import Progress

    with Progress(console=error_console(), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)
