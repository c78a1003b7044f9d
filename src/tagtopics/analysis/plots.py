"""Figures of the results, drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics.errors import InputError, MissingExtraError
from tagtopics.files import atomic_file

if TYPE_CHECKING:
    from tagtopics.analysis.choose.choose import TopicChoice
    from tagtopics.analysis.effects.effects import Effects
    from tagtopics.analysis.effects.trends import Trends

FORMATS = (".svg", ".png", ".pdf")


def plot_choice(choice: TopicChoice) -> Any:
    """Return a matplotlib figure: held-out score and stability by number of topics."""
    figure, (scores, found) = _figure(2, 1, (6.4, 5.2), sharex=True)
    grid = [row.n_topics for row in choice.rows]
    scores.errorbar(grid, [row.score for row in choice.rows], [row.error for row in choice.rows], marker="o")
    scores.set_ylabel("held-out score")
    found.plot(grid, [100 * row.stability for row in choice.rows], marker="o")
    found.set_ylabel("topics found again, %")
    found.set_ylim(0, 105)
    found.set_xscale("log")
    found.set_xticks(grid, [str(n) for n in grid])
    found.minorticks_off()
    found.set_xlabel("topics")
    for axes in (scores, found):
        axes.axvspan(*choice.interval, alpha=0.15, lw=0)
        axes.axvline(choice.recommended, ls="--")
    scores.set_title(f"recommended: {choice.recommended} topics")
    return figure


def plot_effects(effects: Effects, n: int = 30) -> Any:
    """Return a matplotlib figure: the n largest effects whose intervals exclude zero, else the n largest."""
    rows = sorted(effects.rows, key=lambda row: (not row.clear, -abs(row.estimate)))[:n][::-1]
    figure, axes = _figure(1, 1, (7.2, 1.2 + 0.24 * len(rows)))
    centres = [100 * row.estimate for row in rows]
    reach = [100 * (row.high - row.estimate) for row in rows]
    axes.errorbar(centres, range(len(rows)), xerr=reach, fmt="o")
    topics = [effects.topics[row.topic] for row in rows]
    marks = ["" if topic.agrees else " ?" for topic in topics]
    names = [
        _escape(f"{row.term}: {row.topic} {' '.join(topic.words[:3])}{mark}")
        for row, topic, mark in zip(rows, topics, marks, strict=True)
    ]
    axes.set_yticks(range(len(rows)), names)
    axes.axvline(0, color="grey", lw=1)
    axes.set_xlabel(f"effect, % of a document's tokens; {100 * effects.level:g} % intervals")
    return figure


def plot_trends(trends: Trends, n: int = 8) -> Any:
    """Return a matplotlib figure: the topics that rise and fall most, by period, with intervals."""
    rows = sorted(trends.topics, key=lambda row: (row.direction == "unclear", -abs(row.slope)))[:n]
    figure, grid = _figure((len(rows) + 1) // 2, 2, (7.2, 1.7 * ((len(rows) + 1) // 2)), squeeze=False)
    places = range(len(trends.periods))
    for axes, row in zip(grid.ravel(), rows, strict=False):
        axes.plot(places, [100 * share for share in row.shares], marker=".")
        axes.fill_between(places, [100 * v for v in row.lows], [100 * v for v in row.highs], alpha=0.2)
        direction = row.direction if row.agrees else f"{row.direction} ?"
        axes.set_title(_escape(f"{row.topic} {' '.join(row.words[:3])} ({direction})"), fontsize=8)
        axes.set_xticks([0, len(places) - 1], [trends.periods[0], trends.periods[-1]])
        axes.set_ylim(bottom=0)
    for axes in grid.ravel()[len(rows) :]:
        axes.set_axis_off()
    return figure


def _escape(text: str) -> str:
    """Return user text that matplotlib does not parse as mathematics."""
    return text.replace("$", r"\$")


def check_plot_target(path: str | None) -> None:
    """Raise `InputError` if a figure cannot be written to a path; None for no figure."""
    if path is None:
        return
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"--plot {path[:80]!r}: the name must end in {', '.join(FORMATS)}")
    if Path(path).exists():
        raise InputError(f"--plot {path[:80]!r}: exists; remove it or choose another name")
    _figure_class()


def save_plot(draw: Callable[[Any], Any], result: Any, path: str | None) -> None:
    """Write a figure of a result, if there is a path; its suffix tells the format.

    Equal figures give equal bytes of SVG.
    """
    if path is None:
        return
    import matplotlib

    kind = Path(path).suffix.lower().removeprefix(".")
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "tagtopics"}), atomic_file(path) as temporary:
        draw(result).savefig(temporary, format=kind, metadata=dated)


def _figure(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """Return a figure that no window owns, and its axes."""
    figure = _figure_class()(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("plotting", "plot") from None
    return Figure
