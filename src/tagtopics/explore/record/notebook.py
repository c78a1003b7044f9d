"""Plotly figures of topics and tags, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel


def plot_topics(model: TopicModel, n_words: int = 6) -> Any:
    """Return a plotly figure: the share of every topic, labelled with its name and top words."""
    table = model.topic_table(n_words)
    labels = [f"{k}: {' '.join(words)}" for k, words in zip(table.topic, table.words, strict=True)]
    return _bars(labels, {"share": table.share}, "Topics by share")


def plot_topic(model: TopicModel, topic: int, n_words: int = 20) -> Any:
    """Return a plotly figure: the words of one topic with their probabilities."""
    check_is_fitted(model)
    K = model.components_.shape[0]
    if not 0 <= topic < K:
        raise InputError(f"plot_topic: there are topics 0 to {K - 1}, not {topic}")
    words = model.top_words(n_words)[topic]
    return _bars([word for word, _ in words], {"share": [p for _, p in words]}, f"Topic {topic}")


def plot_tags(model: Any, *tags: str, n_topics: int = 8) -> Any:
    """Return a plotly figure: the topics of tags, together and each one alone.

    Args:
        model: a fitted `TTM`.
        tags: one or more of its tags.
        n_topics: how many topics to show.
    """
    if not hasattr(model, "tag_profile"):
        raise InputError(f"plot_tags: {type(model).__name__} has no profiles of tags; fit a TTM")
    if not tags:
        raise InputError("plot_tags: name at least one tag")
    profiles = {tag: model.tag_profile(tag).topics for tag in tags}
    if len(tags) > 1:
        profiles = {"together": model.tag_profile(*tags).topics} | profiles
    height = np.max(list(profiles.values()), axis=0)
    best = np.argsort(-height, kind="stable")[:n_topics]
    words = model.top_words(4)
    labels = [f"{k}: {' '.join(word for word, _ in words[k])}" for k in best]
    series = {name: [float(profile[k]) for k in best] for name, profile in profiles.items()}
    return _bars(labels, series, " + ".join(tags))


def _bars(labels: Sequence[str], series: Mapping[str, Sequence[float]], title: str) -> Any:
    """Return horizontal bars, first label on top; names are escaped, so they are never markup."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise MissingExtraError("plotting", "plot") from None
    names = [escape(label) for label in labels]
    bars = [
        go.Bar(y=names, x=list(values), name=escape(key), orientation="h") for key, values in series.items()
    ]
    layout = {
        "title": {"text": escape(title)},
        "xaxis": {"tickformat": ".0%", "title": {"text": "share"}},
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
        "barmode": "group",
        "height": max(320, 60 + 22 * len(names) * max(1, len(series))),
        "showlegend": len(series) > 1,
        "template": "plotly_white",
    }
    return go.Figure(bars, layout)
