"""The network of tags and topics as GraphML, for Gephi and other programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.cooccurrence import tags_together
from tagtopics.corpus.core import Corpus
from tagtopics.models.base import TopicModel

_LEAST_SHARE = 0.05  # smallest p(topic | tag) of an edge between a tag and a topic
_LEAST_TOGETHER = 2  # fewest documents of an edge between two tags
_NODE_DATA = (("label", "string"), ("kind", "string"), ("size", "double"), ("topic", "int"))
_EDGE_DATA = (("kind", "string"), ("weight", "double"))
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Node(NamedTuple):
    """A tag or a topic."""

    id: str
    label: str
    kind: str  # "tag" or "topic"
    size: float  # documents of a tag, share of a topic
    topic: int  # itself, or the largest of a tag


class Edge(NamedTuple):
    """What two nodes have in common."""

    source: str
    target: str
    kind: str  # "topic of tag", or "documents" of two tags
    weight: float  # p(topic | tag), or documents with both tags


def tag_network(model: TopicModel, corpus: Corpus | None) -> tuple[list[Node], list[Edge]]:
    """Return topics and tags, and what connects them; background topics have no edges.

    Without the corpus there are no edges between tags.
    """
    names, shares, background = model.topic_names(), model.topic_shares(), model.background_topics()
    nodes = [Node(f"topic{k}", name, "topic", float(shares[k]), k) for k, name in enumerate(names)]
    edges: list[Edge] = []
    if not model.tag_names_ or not hasattr(model, "tag_sums_"):
        return nodes, edges
    means = np.where(background, 0.0, model.tag_means())
    for t, (tag, row) in enumerate(zip(model.tag_names_, means, strict=True)):
        nodes.append(Node(f"tag{t}", tag, "tag", float(model.tag_docs_[t]), int(np.argmax(row))))
        large = np.flatnonzero(row >= _LEAST_SHARE).tolist()
        edges += [Edge(f"tag{t}", f"topic{k}", "topic of tag", float(row[k])) for k in large]
    if corpus is not None:
        tags = sp.csr_array(corpus.tags, dtype=np.int64)
        for s, t, n in sorted(zip(*sp.find(sp.triu(tags_together(tags), 1)), strict=True)):
            if n >= _LEAST_TOGETHER:
                edges.append(Edge(f"tag{s}", f"tag{t}", "documents", float(n)))
    return nodes, edges


def graphml(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return a network as GraphML."""
    keys = [("node", name, kind) for name, kind in _NODE_DATA]
    keys += [("edge", name, kind) for name, kind in _EDGE_DATA]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(f'<key id="{of}_{n}" for="{of}" attr.name="{n}" attr.type="{kind}"/>' for of, n, kind in keys),
        '<graph edgedefault="undirected">',
    ]
    for node in nodes:
        data = "".join(_data("node", name, getattr(node, name)) for name, _ in _NODE_DATA)
        lines.append(f'<node id="{node.id}">{data}</node>')
    for i, edge in enumerate(edges):
        data = "".join(_data("edge", name, getattr(edge, name)) for name, _ in _EDGE_DATA)
        lines.append(f'<edge id="e{i}" source="{edge.source}" target="{edge.target}">{data}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _data(of: str, name: str, value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else _ILLEGAL.sub("\ufffd", str(value))
    return f'<data key="{of}_{name}">{escape(text)}</data>'
