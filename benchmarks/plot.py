"""Perplexity against seconds of training: one panel per corpus, one line per system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.records import Curve, labels

_OURS = {"ours-lda": "#0b6e99", "ours-ttm": "#c8371b", "ours-default": "#2f2f8f"}
_LINES = {"stored": "--", "lean": ":"}
_OTHERS = ("#7a7a7a", "#b08900", "#5b8c5a", "#8b5fa8", "#3f3f3f", "#a0522d", "#4f9fa8", "#c27ba0")


def draw(found: dict[tuple[str, str], Curve], path: Path) -> None:
    """Draw the curves into an SVG file that is the same for the same records."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(corpus for corpus, _ in found))
    columns = min(3, len(names) + 1)
    rows = -(-(len(names) + 1) // columns)  # one more panel for the legend
    style: Any = {"svg.hashsalt": "bench", "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(rows, columns, figsize=(4.4 * columns, 3.4 * rows), squeeze=False)
        for axis, name in zip(axes.flat, names, strict=False):
            _panel(axis, name, [curve for (corpus, _), curve in found.items() if corpus == name])
        for axis in axes.flat[len(names) :]:
            axis.set_axis_off()
        _legend(figure, axes, len(names))
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def _panel(axis: Any, name: str, curves: list[Curve]) -> None:
    colours = _colours()
    for curve in curves:
        thick = curve.system.startswith("ours")
        axis.plot(
            curve.seconds,
            curve.perplexity,
            label=labels()[curve.system],
            color=colours[curve.system],
            linewidth=2.2 if thick else 1.2,
            marker="." if len(curve.seconds) < 3 else None,
            linestyle=_LINES.get(curve.system.split("-")[-1], "-"),
            zorder=3 if thick else 2,
        )
    axis.set_xscale("log")
    ends = sorted(value for curve in curves for value in curve.perplexity)
    best = min(curve.best for curve in curves)
    axis.set_ylim(best * 0.97, min(ends[-1], best * 1.8) * 1.02)
    axis.set_title(name)
    axis.set_xlabel("seconds of training")
    axis.set_ylabel("held-out perplexity")
    axis.grid(alpha=0.25)


def _colours() -> dict[str, str]:
    others = [name for name in labels() if not name.startswith("ours")]
    found = dict(zip(others, _OTHERS, strict=True))
    for name in labels():
        if name.startswith("ours"):
            found[name] = _OURS["-".join(name.split("-")[:2])]
    return found


def _legend(figure: Any, axes: Any, n_panels: int) -> None:
    """Draw one legend in the free panel."""
    entries: dict[str, Any] = {}
    for axis in axes.flat[:n_panels]:
        handles, names = axis.get_legend_handles_labels()
        entries |= dict(zip(names, handles, strict=True))
    axes.flat[n_panels].legend(entries.values(), entries.keys(), loc="center", frameon=False)
    figure.tight_layout()
