"""Topics and tags of a model as plain rows, for tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tagtopics.models import naming

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


def topic_rows(model: TopicModel, n_words: int, n_tags: int = 3) -> list[dict[str, Any]]:
    """Return a row for each topic: its name, its share of all tokens, its top words, its most typical tags.

    Background topics have no typical tags. The words of photographs are codes, which mean nothing to readers.
    """
    shares, tags = model.topic_shares(), typical_tags(model, n_tags)
    names, background = model.topic_names(), model.background_topics()
    return [
        {
            "topic": k,
            "name": names[k],
            "background": bool(background[k]),
            "share": float(shares[k]),
            "words": [{"word": word, "probability": p} for word, p in words],
            "coded": model.visual_ is not None,
            "tags": [] if background[k] else tags[k],
        }
        for k, words in enumerate(model.top_words(n_words))
    ]


def typical_tags(model: TopicModel, n: int) -> list[list[dict[str, Any]]]:
    """Return for each topic its n most typical tags, with their names and p(topic | tag)."""
    if not hasattr(model, "tag_sums_"):
        return [[] for _ in model.components_]
    labels, means = model.tag_labels(), model.tag_means()
    found = naming.typical_tags(model.tag_sums_, model.topic_shares(), n)
    return [
        [{"tag": model.tag_names_[t], "name": labels[t], "share": float(means[t, k])} for t in tags]
        for k, tags in enumerate(found)
    ]


def profile_row(
    model: TTM,
    tags: Sequence[str],
    n_words: int,
    n_topics: int = 3,
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the words and topics of a tag, or of several tags together; background topics are left out.

    Tags have the `names` of `model.tag_labels`, where there are any.
    """
    profile = model.tag_profile(*tags, n_words=n_words)
    background = model.background_topics()
    best = [k for k in np.argsort(-profile.topics, kind="stable") if not background[k]][:n_topics]
    return {
        "tags": list(profile.tags),
        "names": [names.get(tag, tag) for tag in profile.tags],
        "n_docs": list(profile.n_docs),
        "words": [{"word": word, "probability": p} for word, p in profile.words],
        "coded": model.visual_ is not None,
        "topics": [{"topic": int(k), "probability": float(profile.topics[k])} for k in best],
    }
