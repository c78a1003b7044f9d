"""Figures of `choose`, `effects` and `trends`, drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics.errors import InputError, MissingExtraError
from tagtopics.files import atomic_file, check_target

if TYPE_CHECKING:
    from tagtopics.analysis.choose.choose import TopicChoice
    from tagtopics.analysis.effects.effects import Effects
    from tagtopics.analysis.effects.trends import Trends

_FORMATS = (".svg", ".png", ".pdf")


def plot_choice(choice: TopicChoice) -> Any:
    """Return a figure: held-out score and share of topics found again, by number of topics."""
    figure, (scores, found) = _figure(2, 1, (6.4, 5.2), sharex=True)
    grid = [row.n_topics for row in choice.rows]
    scores.errorbar(grid, [row.score for row in choice.rows], [row.error for row in choice.rows], marker="o")
    scores.set(ylabel="held-out score", title=choice.summary)
    found.plot(grid, [100 * row.stability for row in choice.rows], marker="o")
    found.set(ylabel="topics found again, %", ylim=(0, 105), xscale="log", xlabel="topics")
    found.set_xticks(grid, [str(n) for n in grid])
    found.minorticks_off()
    for axes in (scores, found):
        axes.axvspan(choice.interval[0], choice.interval[1] or grid[-1], alpha=0.15, lw=0)
        if choice.recommended is not None:
            axes.axvline(choice.recommended, ls="--")
    return figure


def plot_effects(effects: Effects, n: int = 10) -> Any:
    """Return a figure: of each table, the n effects whose intervals exclude zero, else the n largest.

    Of a spline, the curves of five topics.
    """
    tables = effects.tables()
    heights = [min(len(curves), n) if len(curves[0]) == 1 else 12 for _, _, curves in tables]
    size = 7.2, 0.9 * len(tables) + 0.24 * sum(heights)
    figure, grid = _figure(len(tables), 1, size, squeeze=False, height_ratios=heights)
    for axes, (title, unit, curves) in zip(grid.ravel(), tables, strict=True):
        if len(curves[0]) == 1:
            rows = [row for (row,) in curves[:n]][::-1]
            reach = [100 * (row.high - row.estimate) for row in rows]
            axes.errorbar([100 * row.estimate for row in rows], range(len(rows)), xerr=reach, fmt="o")
            terms = [f"{row.term}: " if row.term != title else "" for row in rows]
            names = [_label(effects.topics[row.topic], term) for row, term in zip(rows, terms, strict=True)]
            axes.set_yticks(range(len(rows)), names)
            axes.axvline(0, color="grey", lw=1)
        else:
            for curve in curves[:5]:
                at, label = [row.at for row in curve], _label(effects.topics[curve[0].topic])
                axes.plot(at, [100 * row.estimate for row in curve], label=label)
                axes.fill_between(at, [100 * r.low for r in curve], [100 * r.high for r in curve], alpha=0.15)
            axes.axhline(0, color="grey", lw=1)
            axes.legend(fontsize=7)
        axes.set_title(_escape(f"{title}: {unit}"), fontsize=9, loc="left")
    grid[-1, 0].set_xlabel(f"{100 * effects.level:g} % intervals")
    return figure


def plot_trends(trends: Trends, n: int = 8) -> Any:
    """Return a figure: the topics that rise and fall most, by period, with intervals."""
    rows = sorted(trends.topics, key=lambda row: (row.direction == "unclear", -abs(row.slope)))[:n]
    height = (len(rows) + 1) // 2
    figure, grid = _figure(height, 2, (7.2, 1.7 * height), squeeze=False)
    places = range(len(trends.periods))
    for axes in grid.ravel()[len(rows) :]:
        axes.set_axis_off()
    for axes, row in zip(grid.ravel(), rows, strict=False):
        axes.plot(places, [100 * share for share in row.shares], marker=".")
        axes.fill_between(places, [100 * v for v in row.lows], [100 * v for v in row.highs], alpha=0.2)
        axes.set_title(f"{_label(row)} ({row.direction})", fontsize=8)
        axes.set_xticks([0, len(places) - 1], [trends.periods[0], trends.periods[-1]])
        axes.set_ylim(bottom=0)
    return figure


def _label(topic: Any, term: str = "") -> str:
    mark = "" if topic.agrees else " ?"
    return _escape(f"{term}{topic.topic} {topic.name[:40]}{mark}")


def _escape(text: str) -> str:
    """Return user text that matplotlib does not parse as mathematics."""
    return text.replace("$", r"\$")


def check_figure(path: str | None) -> Path | None:
    """Return the path of a figure to write, None if none is wanted; call it before any long computation."""
    if path is None:
        return None
    if Path(path).suffix.lower() not in _FORMATS:
        raise InputError(f"--plot {path[:80]!r}: the name must end in {', '.join(_FORMATS)}")
    _figure_class()
    return check_target(path, "figure", None, option="--plot")


def save_figure(figure: Any, target: Path) -> None:
    """Write a figure; the suffix tells the format. Equal figures give equal bytes."""
    import matplotlib

    kind = target.suffix.lower().removeprefix(".")
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "tagtopics"}), atomic_file(target) as temporary:
        figure.savefig(temporary, format=kind, metadata=dated)


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
