"""Figures: measures against the number of topics, as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tagtopics.errors import MissingExtraError
from tagtopics.experiments.claims import DATASET_NAMES
from tagtopics.experiments.paper import cells, over_topics
from tagtopics.experiments.records import Record
from tagtopics.experiments.spec import MODELS

MEASURES = {"perplexity": "perplexity", "links": "f1", "classification": "accuracy"}
"""The measure shown for each task."""

_AXES = {"perplexity": "perplexity", "links": "F-measure", "classification": "accuracy"}
_STYLE = {
    "lda": ("#7f7f7f", "o", "--"),
    "atm": ("#1f77b4", "s", "-"),
    "atm-last": ("#1f77b4", "s", ":"),
    "rtm": ("#2ca02c", "^", "-"),
    "rtm-last": ("#2ca02c", "^", ":"),
    "ttm-p": ("#ff7f0e", "D", "-"),
    "ttm-h": ("#d62728", "v", "-"),
}


def draw_figures(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw one figure per task, with a panel for each data set, and return the SVG files.

    A PNG is written beside each. Equal records give equal bytes.
    """
    matplotlib, make_figure = _matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    settings = {"svg.hashsalt": "tagtopics", "svg.fonttype": "path", "font.size": 9}
    with matplotlib.rc_context(settings):
        for task in MEASURES:
            datasets = [name for name in DATASET_NAMES if _curves(records, name, task)]
            if datasets:
                path = folder / f"reproduction-{task}.svg"
                _draw(make_figure, records, task, datasets, path)
                drawn.append(path)
    return drawn


def _draw(
    make_figure: Any, records: Sequence[Record], task: str, datasets: Sequence[str], path: Path
) -> None:
    figure = make_figure(figsize=(4.2 * len(datasets), 3.2), layout="constrained")
    panels = figure.subplots(1, len(datasets), squeeze=False)
    for panel, dataset in zip(panels[0], datasets, strict=True):
        for model, curve in _curves(records, dataset, task).items():
            color, marker, line = _STYLE[model]
            means = [mean for mean, _, _ in curve.values()]
            errors = [0.0 if math.isnan(error) else error for _, error, _ in curve.values()]
            look = {"color": color, "marker": marker, "linestyle": line, "markersize": 4, "capsize": 2}
            panel.errorbar(list(curve), means, yerr=errors, label=MODELS[model], linewidth=1.2, **look)
        panel.set_title(DATASET_NAMES[dataset])
        panel.set_xlabel("number of topics, K")
        panel.set_ylabel(_AXES[task])
        panel.grid(alpha=0.3)
    fullest = max(panels[0], key=lambda panel: len(panel.containers))
    fullest.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None, "Creator": "tagtopics"})
    figure.savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": "tagtopics"})


def _curves(
    records: Sequence[Record], dataset: str, task: str
) -> dict[str, dict[int, tuple[float, float, int]]]:
    found = {model: over_topics(cells(records, dataset, task, MEASURES[task], model)) for model in _STYLE}
    return {model: curve for model, curve in found.items() if curve}


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("reproduce: drawing figures", "plot") from None
    return matplotlib, Figure
