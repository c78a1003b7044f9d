"""How models show themselves in notebooks: tables as HTML, figures by plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tagtopics.corpus.core import Corpus
    from tagtopics.views.topic_data import TopicData


@dataclass(frozen=True)
class TopicTable:
    """Topics with their shares and words; a notebook shows it as a table.

    Attributes:
        topic: the model's numbers, largest share first.
        share: of all words.
        words: the most probable words of each.
    """

    topic: tuple[int, ...]
    share: tuple[float, ...]
    words: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.topic)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns; `pandas.DataFrame(table.to_dict())` makes a frame of them."""
        return {
            "topic": list(self.topic),
            "share": list(self.share),
            "words": [" ".join(row) for row in self.words],
        }

    def __str__(self) -> str:
        rows = zip(self.topic, self.share, self.words, strict=True)
        return "\n".join(f"{k:>4} {share:>6.1%}  {' '.join(words)}" for k, share, words in rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{k}</td><td>{share:.1%}</td>"
            f"<td style='text-align:left'>{escape(' '.join(words))}</td></tr>"
            for k, share, words in zip(self.topic, self.share, self.words, strict=True)
        )
        head = "<tr><th>topic</th><th>share</th><th style='text-align:left'>words</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


class Viewing:
    """The part of every estimator that is looked at."""

    def topic_table(self, n_words: int = 10) -> TopicTable:
        """Return all topics with their most probable words, largest first."""
        model: Any = self
        check_is_fitted(model)
        share = model.topic_sums_ / max(float(model.topic_sums_.sum()), 1e-300)
        order = np.argsort(-share, kind="stable").tolist()
        words = model.top_words(n_words)
        return TopicTable(
            topic=tuple(order),
            share=tuple(float(share[k]) for k in order),
            words=tuple(tuple(word for word, _ in words[k]) for k in order),
        )

    def topic_data(self, corpus: Corpus | None = None, title: str | None = None) -> TopicData:
        """Return what viewers may show of the model; see `tagtopics.explore.write_report`.

        Args:
            corpus: the documents it was fitted to; without it viewers know their names and topics only.
            title: what to call the collection.
        """
        from tagtopics.views.to_topic_data import topic_data

        model: Any = self
        return topic_data(model, corpus, title)

    def plot_topics(self, n_words: int = 6) -> Any:
        """Return a plotly figure: the share of every topic, with its words."""
        table = self.topic_table(n_words)
        labels = [f"{k}: {' '.join(words)}" for k, words in zip(table.topic, table.words, strict=True)]
        return _bars(labels, {"share": table.share}, "Topics by share")

    def plot_topic(self, topic: int, n_words: int = 20) -> Any:
        """Return a plotly figure: the most probable words of one topic."""
        model: Any = self
        check_is_fitted(model)
        K = model.components_.shape[0]
        if not 0 <= topic < K:
            raise InputError(f"plot_topic: there are topics 0 to {K - 1}, not {topic}")
        words = model.top_words(n_words)[topic]
        return _bars([word for word, _ in words], {"share": [p for _, p in words]}, f"Topic {topic}")

    def plot_tags(self, *tags: str, n_topics: int = 8) -> Any:
        """Return a plotly figure: the topics of tags, together and each alone."""
        model: Any = self
        if not hasattr(model, "tag_profile"):
            raise InputError(f"plot_tags: {type(model).__name__} says nothing about tags")
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

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's box, and the topics where there are any."""
        shown: dict[str, str] = dict(super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if hasattr(self, "components_") and "text/html" in shown:
            shown["text/html"] += self.topic_table()._repr_html_()
        return shown


def _bars(labels: Sequence[str], series: Mapping[str, Sequence[float]], title: str) -> Any:
    """Return horizontal bars, first label on top; names are text, never markup."""
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
