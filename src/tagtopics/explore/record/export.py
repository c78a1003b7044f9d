"""Models for other programs: tables, networks, and the input of other viewers of topic models."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.explore.record.network import gexf, graphml, tag_network
from tagtopics.explore.record.tables import export_tables, matching
from tagtopics.files import atomic_file, atomic_folder, check_target, digest_file
from tagtopics.models.base import TopicModel

FORMATS = ("csv", "parquet", "graphml", "gexf", "pyldavis", "topicwizard", "mallet")
"""The formats; those with several files write a folder."""

_MANIFEST, _MARK = "export.json", "tagtopics export"


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
        path: a folder for "csv", "parquet" (tables), "topicwizard" and "mallet"; a file for "graphml", "gexf"
            (the network of tags and topics) and "pyldavis" (the arguments of `pyLDAvis.prepare`, as JSON). A
            folder that an export wrote is replaced.
        format: one of these.
        corpus: the documents the model was fitted to. "pyldavis" and "topicwizard" need it; tables have
            credits with it, networks edges between tags.
        overwrite: whether an existing file may be replaced.
    """
    target = check_export(path, format, overwrite=overwrite)
    documents = None if corpus is None else matching(model, corpus)
    if format in _FILES:
        text = _FILES[format](model, documents)
        with atomic_file(target) as place:
            place.write_text(text, encoding="utf-8")
        return target
    files = _FOLDERS[format](model, documents)
    with atomic_folder(target) as folder:
        for name, write in files.items():
            write(folder / name)
        digests = {name: digest_file(folder / name) for name in sorted(files)}
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
        return bool(manifest["format"] == _MARK) and {p.name for p in path.iterdir()} <= {
            _MANIFEST,
            *manifest["files"],
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


# ---------------------------------------------------------------------------------- tables


def _csv_files(model: TopicModel, corpus: Corpus | None) -> dict[str, Callable[[Path], None]]:
    def writer(table: dict[str, Any]) -> Callable[[Path], None]:
        def write(path: Path) -> None:
            with path.open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(table)
                rows.writerows(zip(*table.values(), strict=True))

        return write

    return {f"{name}.csv": writer(table) for name, table in export_tables(model, corpus).items()}


def _parquet_files(model: TopicModel, corpus: Corpus | None) -> dict[str, Callable[[Path], None]]:
    try:
        import polars
    except ImportError:
        raise MissingExtraError("parquet", "parquet") from None

    def writer(table: dict[str, Any]) -> Callable[[Path], None]:
        return lambda path: polars.DataFrame(table).write_parquet(path)

    return {f"{name}.parquet": writer(table) for name, table in export_tables(model, corpus).items()}


def _mallet_files(model: TopicModel, corpus: Corpus | None) -> dict[str, Callable[[Path], None]]:
    """Return MALLET's doc-topics (number, name, shares) and topic-keys (number, alpha, words)."""

    def documents(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for d, (name, row) in enumerate(zip(model.doc_ids_, model.doc_topic_.tolist(), strict=True)):
                shares = "\t".join(f"{share:.9g}" for share in row)
                file.write(f"{d}\t{_one_cell(name)}\t{shares}\n")

    def keys(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for k, words in enumerate(model.top_words(20)):
                alpha = float(model.doc_topic_prior_[k])
                file.write(f"{k}\t{alpha:.5g}\t{' '.join(_one_cell(word) for word, _ in words)}\n")

    return {"doc-topics.txt": documents, "topic-keys.txt": keys}


def _one_cell(name: str) -> str:
    """Return a name that white space does not end, as MALLET's are: blanks become %20."""
    return "%20".join(name.split())


# ---------------------------------------------------------------------------------- other viewers


def _pyldavis_text(model: TopicModel, corpus: Corpus | None) -> str:
    known = _needed(corpus, "pyldavis")
    tokens = np.asarray(known.counts.sum(1), dtype=np.int64).ravel()
    rows = np.flatnonzero(tokens > 0)
    frequency = np.asarray(known.counts.sum(0), dtype=np.int64).ravel()
    words = np.flatnonzero(frequency > 0)
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


def _topicwizard_files(model: TopicModel, corpus: Corpus | None) -> dict[str, Callable[[Path], None]]:
    known = _needed(corpus, "topicwizard")
    record = {
        "corpus": list(known.texts or known.ids),
        "vocab": list(model.vocabulary_),
        "topic_names": list(model.topic_names()),
    }
    counts = known.counts

    def arrays(path: Path) -> None:
        np.savez_compressed(
            path,
            document_topic_matrix=model.doc_topic_,
            topic_term_matrix=model.components_,
            data=counts.data,
            indices=counts.indices,
            indptr=counts.indptr,
            shape=np.array(counts.shape),
        )

    return {
        "topic_data.json": lambda path: _write_json(path, record),
        "topic_data.npz": arrays,
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _needed(corpus: Corpus | None, format: str) -> Corpus:
    if corpus is None:
        raise InputError(f"export: {format} needs the documents that the model was fitted to")
    return corpus


_FILES: dict[str, Callable[[TopicModel, Corpus | None], str]] = {
    "graphml": lambda model, corpus: graphml(*tag_network(model, corpus)),
    "gexf": lambda model, corpus: gexf(*tag_network(model, corpus)),
    "pyldavis": _pyldavis_text,
}
_FOLDERS: dict[str, Callable[[TopicModel, Corpus | None], dict[str, Callable[[Path], None]]]] = {
    "csv": _csv_files,
    "parquet": _parquet_files,
    "topicwizard": _topicwizard_files,
    "mallet": _mallet_files,
}
