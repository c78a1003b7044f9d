"""Models for other programs: tables, networks, and the input of other viewers of topic models."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import tags_together
from tagtopics.corpus.text import to_cell
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.explore.record.to_topic_data import training_documents
from tagtopics.files import atomic_file, atomic_folder, check_target, digest_file
from tagtopics.models.base import TopicModel
from tagtopics.models.results import typical_tags

_FILES = ("graphml", "pyldavis")
FORMATS = ("csv", "parquet", *_FILES)
_MANIFEST, _MARK = "export.json", "tagtopics export"
_LEAST_SHARE = 0.05  # smallest p(topic | tag) of an edge between a tag and a topic
_LEAST_TOGETHER = 2  # fewest documents of an edge between two tags
_NODE_DATA = (("label", "string"), ("kind", "string"), ("size", "double"), ("topic", "int"))
_EDGE_DATA = (("kind", "string"), ("weight", "double"))
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export(
    model: TopicModel,
    path: str | Path,
    format: str = "csv",
    *,
    corpus: Corpus | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a fitted model in the format of other programs; return the path.

    Args:
        model: fitted.
        path: a folder for the tables of "csv" and "parquet"; a file for "graphml" (the network of
            tags and topics) and "pyldavis" (the arguments of `pyLDAvis.prepare`, as JSON). A folder that an
            export wrote is replaced.
        format: one of these.
        corpus: the documents the model was fitted to. "pyldavis" needs it; tables have credits with it,
            networks edges between tags.
        overwrite: whether an existing file may be replaced.
    """
    target = check_export(path, format, overwrite=overwrite)
    documents = None if corpus is None else training_documents(model, corpus)
    if documents is None and format == "pyldavis":
        raise InputError("export: pyldavis needs the documents that the model was fitted to")
    if format in _FILES:
        network = format == "graphml"
        text = graphml(*tag_network(model, documents)) if network else _pyldavis_text(model, documents)
        with atomic_file(target) as place:
            place.write_text(text, encoding="utf-8")
        return target
    with atomic_folder(target) as folder:
        for name, table in export_tables(model, documents).items():
            _write_table(table, folder / f"{name}.{format}")
        digests = {file.name: digest_file(file) for file in sorted(folder.iterdir())}
        manifest = {"format": _MARK, "version": 1, "content": format, "files": digests}
        (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return target


def check_export(path: str | Path, format: str, *, overwrite: bool = False, option: str = "path") -> Path:
    """Return the path if an export may be written there; raise `InputError` otherwise."""
    if format not in FORMATS:
        raise InputError(f"export: unknown format {format[:40]!r}; use one of {', '.join(FORMATS)}")
    if format in _FILES:
        return check_target(path, "export", None, overwrite=overwrite, option=option)
    return check_target(path, "export", _is_export, option=option)


def _is_export(path: Path) -> bool:
    """Return whether a folder is an export of tagtopics and holds no other files."""
    try:
        if path.is_symlink() or not path.is_dir():
            return False
        manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
        own = {_MANIFEST, *manifest["files"]}
        return bool(manifest["format"] == _MARK) and {file.name for file in path.iterdir()} <= own
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


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


def _write_table(table: Table, path: Path) -> None:
    """Write a table as its suffix says, .parquet or .csv."""
    if path.suffix == ".parquet":
        try:
            import polars
        except ImportError:
            raise MissingExtraError("parquet", "parquet") from None
        polars.DataFrame(table).write_parquet(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(map(to_cell, row) for row in zip(*table.values(), strict=True))


def _pyldavis_text(model: TopicModel, corpus: Any) -> str:
    tokens = np.asarray(corpus.counts.sum(1), dtype=np.int64).ravel()
    frequency = np.asarray(corpus.counts.sum(0), dtype=np.int64).ravel()
    rows, words = np.flatnonzero(tokens > 0), np.flatnonzero(frequency > 0)
    arguments = {
        "topic_term_dists": _rows_of_one(model.components_[:, words]),
        "doc_topic_dists": _rows_of_one(model.doc_topic_[rows]),
        "doc_lengths": tokens[rows].tolist(),
        "vocab": [model.vocabulary_[w] for w in words.tolist()],
        "term_frequency": frequency[words].tolist(),
        "sort_topics": False,
    }
    return json.dumps(arguments, ensure_ascii=False, allow_nan=False)


def _rows_of_one(values: Any) -> list[list[float]]:
    wide = np.asarray(values, dtype=np.float64)
    return [[float(f"{v:.9g}") for v in row] for row in (wide / wide.sum(1, keepdims=True)).tolist()]


Table = dict[str, Any]
"""Columns of equal length by name; `pandas.DataFrame(table)` makes a frame of it."""


def export_tables(model: TopicModel, corpus: Corpus | None = None, *, n_words: int = 50) -> dict[str, Table]:
    """Return tables of a model, each a dictionary of columns.

    `topics` (topic, name, background, share, words, tags), `topic_words` (topic, word, probability),
    `documents` (id, topic, share: one row for each topic of each document), `tags` (tag, documents, topic,
    share: likewise), `words` (word, tokens, topic: the most probable one), and with the corpus of a `TTM`
    `credits` (id, word, count, tag, credit).

    Args:
        model: fitted.
        corpus: the documents it was fitted to, for credits.
        n_words: words of each topic in `topic_words`.
    """
    check_is_fitted(model)
    listed = [(k, *entry) for k, words in enumerate(model.top_words(n_words)) for entry in words]
    tokens = model.components_.astype(np.float64) * model.topic_sums_[:, np.newaxis]  # (K, W)
    tables: dict[str, Table] = {
        "topics": _topics(model),
        "topic_words": {
            "topic": [k for k, _, _ in listed],
            "word": [word for _, word, _ in listed],
            "probability": [p for _, _, p in listed],
        },
        "documents": _long("id", model.doc_ids_, model.doc_topic_),
        "tags": _tags(model),
        "words": {
            "word": list(model.vocabulary_),
            "tokens": tokens.sum(0).tolist(),
            "topic": tokens.argmax(0).tolist(),
        },
    }
    if corpus is not None and model.tag_names_ and hasattr(model, "explain"):
        tables["credits"] = _credits(model, training_documents(model, corpus))
    return tables


def _topics(model: TopicModel) -> Table:
    names, background, tags = model.topic_names(), model.background_topics(), typical_tags(model, 3)
    return {
        "topic": list(range(len(names))),
        "name": list(names),
        "background": background.tolist(),
        "share": model.topic_shares().tolist(),
        "words": [" ".join(word for word, _ in row) for row in model.top_words(10)],
        "tags": ["; ".join(entry["tag"] for entry in row) for row in tags],
    }


def _long(key: str, names: Any, proportions: Any, **more: Any) -> Table:
    """Return a row for each topic of each name."""
    N, K = np.shape(proportions)
    repeated = {column: np.repeat(values, K).tolist() for column, values in more.items()}
    return {
        key: [name for name in names for _ in range(K)],
        **repeated,
        "topic": np.tile(np.arange(K), N).tolist(),
        "share": np.asarray(proportions, dtype=np.float64).ravel().tolist(),
    }


def _tags(model: TopicModel) -> Table:
    K = len(model.components_)
    known = bool(model.tag_names_) and hasattr(model, "tag_sums_")
    means = model.tag_means() if known else np.empty((0, K))
    names, docs = (model.tag_names_, model.tag_docs_) if known else ((), np.empty(0, dtype=np.int64))
    return _long("tag", names, means, documents=docs)


def _credits(model: Any, corpus: Corpus) -> Table:
    table = model.explain(corpus)
    return {
        "id": [corpus.ids[d] for d in table.doc.tolist()],
        "word": table.word.tolist(),
        "count": table.count.tolist(),
        "tag": table.tag.tolist(),
        "credit": table.credit.tolist(),
    }
