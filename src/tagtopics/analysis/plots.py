"""Figures of the results, drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics._io import atomic_file
from tagtopics.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tagtopics.analysis.choose import TopicChoice

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


def check_plot_target(path: str | Path, *, option: str = "--plot") -> Path:
    """Return the path of a figure to write; an unknown kind of file is an `InputError`."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError(f"{option} {str(path)[:80]!r}: the name must end in {', '.join(FORMATS)}")
    if target.exists():
        raise InputError(f"{option} {str(path)[:80]!r}: exists; remove it or choose another name")
    _figure_class()
    return target


def save_plot(figure: Any, path: str | Path) -> None:
    """Write a figure; the suffix tells the format. Equal figures give equal bytes of SVG."""
    import matplotlib

    target = Path(path)
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
