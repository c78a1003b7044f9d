"""`tagtopics effects` and `tagtopics trends`: what topics depend on, and how they change over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.analysis.choose.commands import SeedOption, ThreadsOption, load_or_read, progress
from tagtopics.cli.options import (
    ColumnOptions,
    OutputOptions,
    TextOptions,
    argument,
    dataset_names,
    option,
    top_option,
)
from tagtopics.cli.output import join, make_table, note, per_cent, plain, show
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.analysis.effects.effects import Effects
    from tagtopics.analysis.effects.measure import TopicMean
    from tagtopics.analysis.effects.trends import Trend, Trends
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

SourceArgument = Annotated[
    str,
    argument("A model folder with its documents, or a corpus to fit first.", "MODEL|CORPUS",
             autocompletion=dataset_names),
]  # fmt: skip
LimitOption = Annotated[int, option("Rows of each table; 0 for all. JSON always has all.", "--limit", min=0)]


@dataclass(frozen=True)
class RefitOptions:
    """The model, and the refits that intervals come from."""

    topics: Annotated[int, option("Number of topics, if a corpus is fitted first.", "--topics", min=2)] = 20
    refits: Annotated[int, option("Refits on bootstrap samples of the documents.", "--refits", min=10)] = 200
    level: Annotated[
        float, option("Level of the intervals.", "--level", metavar="X", min=0.01, max=0.999)
    ] = 0.9
    seed: SeedOption = 0
    threads: ThreadsOption = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `effects` and `trends`."""
        return {"refits": self.refits, "level": self.level, "seed": self.seed, "n_jobs": self.threads}


@dataclass(frozen=True)
class TermOptions:
    """What topics may depend on."""

    on: Annotated[
        list[str] | None,
        option("A number: year, date, or a kind of tags that are numbers; repeat for several.", "--on",
               default="none", metavar="NAME"),
    ] = None  # fmt: skip
    kind: Annotated[
        list[str] | None,
        option("A kind of tags, such as venue; repeat for several.", "--kind", default="none",
               metavar="KIND"),
    ] = None  # fmt: skip
    given: Annotated[
        list[str] | None,
        option("A kind of tags to hold constant, such as authors.", "--given", default="none",
               metavar="KIND"),
    ] = None  # fmt: skip
    min_docs: Annotated[
        int, option("Minimum number of documents of a tag of --kind.", "--min-docs", min=2)
    ] = 10


def effects_command(
    source: SourceArgument,
    terms: TermOptions,
    refits: RefitOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    top: Annotated[int, top_option("Words per topic.")] = 6,
    limit: LimitOption = 15,
) -> None:
    """Estimate effects of numbers and tags on topics, with intervals from refits on bootstrap samples."""
    from tagtopics.analysis.effects.effects import effects

    if not terms.on and not terms.kind:
        raise InputError("effects: name a number with --on or a kind of tags with --kind")
    model, documents = _model_and_documents(source, refits, columns, text, output)
    with progress(output, "Refitting") as on_progress:
        found = effects(
            model,
            documents,
            on=terms.on or (),
            kinds=terms.kind or (),
            given=terms.given or (),
            min_docs=terms.min_docs,
            n_words=top,
            on_progress=on_progress,
            **refits.arguments(),
        )
    _note_left_out(found.left_out)
    show(output.json, found.to_dict(), lambda console: _draw_effects(console, found, limit))


def trends_command(
    source: SourceArgument,
    refits: RefitOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    time: Annotated[
        str, option("Time: year, date, or a kind of tags that are numbers.", "--on", metavar="NAME")
    ] = "year",
    periods: Annotated[int, option("Maximum number of periods.", "--periods", min=2)] = 12,
    min_docs: Annotated[int, option("Minimum number of documents of a tag.", "--min-docs", min=3)] = 20,
    top: Annotated[int, top_option("Words per topic.")] = 6,
    limit: LimitOption = 15,
) -> None:
    """Show topics and tags over time: what rises, what falls, tags whose topics drift."""
    from tagtopics.analysis.effects.trends import trends

    model, documents = _model_and_documents(source, refits, columns, text, output)
    with progress(output, "Refitting") as on_progress:
        found = trends(
            model,
            documents,
            time=time,
            n_periods=periods,
            min_docs=min_docs,
            n_words=top,
            on_progress=on_progress,
            **refits.arguments(),
        )
    _note_left_out(found.left_out)
    show(output.json, found.to_dict(), lambda console: _draw_trends(console, found, limit))


def _model_and_documents(
    source: str, refits: RefitOptions, columns: ColumnOptions, text: TextOptions, output: OutputOptions
) -> tuple[TopicModel, Corpus]:
    """Return a model and its documents: saved ones, or a corpus and the topics fitted to it."""
    from tagtopics.models.lda import LDA

    model, documents = load_or_read(source, columns, text, output)
    if model is None:
        model = LDA(refits.topics, random_state=refits.seed, n_jobs=refits.threads).fit_topics(documents)
    return model, documents


def _note_left_out(left_out: int) -> None:
    if left_out:
        note(f"{left_out:,} documents without a value were left out")


def _draw_effects(console: Console, found: Effects, limit: int) -> None:
    given = f", given {', '.join(found.given)}" if found.given else ""
    caption = f"{found.n_docs:,} documents{given}; % of the tokens of a document; {_intervals(found)}"
    rows = sorted(found.rows, key=lambda row: (not row.clear, -abs(row.estimate)))
    shown = rows[: limit or None]
    caption += "; * excludes zero" + _explain_marks([found.topics[row.topic] for row in shown])
    table = make_table(
        "effects on topics", ["term", ">topic", ">mean", ">effect", ">interval", "words"], caption
    )
    for row in shown:
        topic = found.topics[row.topic]
        interval = f"{100 * row.low:+.2f} to {100 * row.high:+.2f} {found.mark(row)}"
        numbers = str(row.topic), _mean(topic), f"{100 * row.estimate:+.2f}", interval
        table.add_row(plain(row.term), *numbers, join(topic.words))
    console.print(table)
    if len(rows) > len(shown):
        console.print(f"  ... and {len(rows) - len(shown):,} more: --limit 0", style="dim")


def _draw_trends(console: Console, found: Trends, limit: int) -> None:
    shown = _ends(found.topics, limit)
    columns = [f">{found.periods[0]}", f">{found.periods[-1]}", ">slope", ">interval", ""]
    caption = f"% per unit of time; {_intervals(found)}{_explain_marks(shown)}"
    table = make_table("topics over time", [">topic", *columns, "words"], caption)
    for topic in shown:
        direction = topic.direction if topic.agrees else f"{topic.direction} ? {_mean(topic)}"
        table.add_row(str(topic.topic), *_numbers(topic), direction, join(topic.words))
    console.print(table)
    clear = [tag for tag in found.tags if tag.direction != "unclear"]
    if clear:
        table = make_table("tags over time", ["tag", ">documents", *columns])
        for tag in _ends(clear, limit):
            table.add_row(plain(tag.tag), str(tag.n_docs), *_numbers(tag), tag.direction)
        console.print(table)
    drifts = [row for row in found.drifts if row.drifts]
    if drifts:
        columns = ["tag", ">documents", ">change", ">score", "gained", "lost"]
        table = make_table("tags whose topics drift", columns)
        for row in drifts[: limit or None]:
            topics = (", ".join(map(str, some)) for some in (row.gained, row.lost))
            numbers = str(row.n_docs), per_cent(row.change), f"{row.score:.1f}"
            table.add_row(plain(row.tag), *numbers, *topics)
        console.print(table)


def _intervals(found: Effects | Trends) -> str:
    """Return where the intervals come from."""
    held = " that hold the edited topics" if found.held else ""
    return f"{100 * found.level:g} % intervals from {found.refits} refits{held}"


def _mean(topic: TopicMean) -> str:
    """Return the mean share of a topic; in parentheses what tells it from the model's if it is another."""
    share, in_model = per_cent(topic.share), per_cent(topic.model_share)
    return share if topic.agrees else f"{share} ({in_model}, {topic.similarity:.2f})"


def _explain_marks(topics: Sequence[TopicMean]) -> str:
    if all(topic.agrees for topic in topics):
        return ""
    return "; ? not the topic of the model (its share there, similarity): do not rely on it"


def _numbers(row: Trend) -> tuple[str, ...]:
    interval = f"{100 * row.low:+.2f} to {100 * row.high:+.2f}"
    return per_cent(row.shares[0]), per_cent(row.shares[-1]), f"{100 * row.slope:+.2f}", interval


def _ends(rows: Sequence[Any], limit: int) -> Sequence[Any]:
    """Return the first and the last rows, `limit` in all."""
    if not limit or len(rows) <= limit:
        return rows
    return [*rows[: (limit + 1) // 2], *rows[len(rows) - limit // 2 :]]
