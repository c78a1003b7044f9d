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
from tagtopics.explore.record.network import graphml, tag_network
from tagtopics.explore.record.tables import export_tables, matching
from tagtopics.files import atomic_file, atomic_folder, check_target, digest_file
from tagtopics.models.base import TopicModel

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
        path: a folder for "csv", "parquet" (tables), "topicwizard" and "mallet"; a file for "graphml" (the
            network of tags and topics) and "pyldavis" (the arguments of `pyLDAvis.prepare`, as JSON). A
            folder that an export wrote is replaced.
        format: one of these.
        corpus: the documents the model was fitted to. "pyldavis" and "topicwizard" need it; tables have
            credits with it, networks edges between tags.
        overwrite: whether an existing file may be replaced.
    """
    target = check_export(path, format, overwrite=overwrite)
    documents = None if corpus is None else matching(model, corpus)
    if documents is None and format in ("pyldavis", "topicwizard"):
        raise InputError(f"export: {format} needs the documents that the model was fitted to")
    if format in _FILES:
        text = _FILES[format](model, documents)
        with atomic_file(target) as place:
            place.write_text(text, encoding="utf-8")
        return target
    with atomic_folder(target) as folder:
        _FOLDERS[format](model, documents, folder)
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


def _write_csv(model: TopicModel, corpus: Corpus | None, folder: Path) -> None:
    for name, table in export_tables(model, corpus).items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(table)
            rows.writerows(zip(*table.values(), strict=True))


def _write_parquet(model: TopicModel, corpus: Corpus | None, folder: Path) -> None:
    try:
        import polars
    except ImportError:
        raise MissingExtraError("parquet", "parquet") from None
    for name, table in export_tables(model, corpus).items():
        polars.DataFrame(table).write_parquet(folder / f"{name}.parquet")


def _write_mallet(model: TopicModel, corpus: Corpus | None, folder: Path) -> None:
    """Write MALLET's doc-topics (number, name, shares) and topic-keys (number, alpha, words)."""
    documents = [
        "\t".join([str(d), _one_cell(name), *(f"{share:.9g}" for share in row)])
        for d, (name, row) in enumerate(zip(model.doc_ids_, model.doc_topic_.tolist(), strict=True))
    ]
    keys = [
        f"{k}\t{float(model.doc_topic_prior_[k]):.5g}\t{' '.join(_one_cell(word) for word, _ in words)}"
        for k, words in enumerate(model.top_words(20))
    ]
    for name, lines in (("doc-topics.txt", documents), ("topic-keys.txt", keys)):
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)


def _one_cell(name: str) -> str:
    """Return a name that white space does not end, as MALLET's are: blanks become %20."""
    return "%20".join(name.split())


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


def _write_topicwizard(model: TopicModel, corpus: Any, folder: Path) -> None:
    record = {
        "corpus": list(corpus.texts or corpus.ids),
        "vocab": list(model.vocabulary_),
        "topic_names": list(model.topic_names()),
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    (folder / "topic_data.json").write_text(text, encoding="utf-8")
    np.savez_compressed(
        folder / "topic_data.npz",
        document_topic_matrix=model.doc_topic_,
        topic_term_matrix=model.components_,
        data=corpus.counts.data,
        indices=corpus.counts.indices,
        indptr=corpus.counts.indptr,
        shape=np.array(corpus.counts.shape),
    )


_FILES: dict[str, Callable[[TopicModel, Corpus | None], str]] = {
    "graphml": lambda model, corpus: graphml(*tag_network(model, corpus)),
    "pyldavis": _pyldavis_text,
}
_FOLDERS: dict[str, Callable[[TopicModel, Corpus | None, Path], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "topicwizard": _write_topicwizard,
    "mallet": _write_mallet,
}
FORMATS = ("csv", "parquet", "graphml", "pyldavis", "topicwizard", "mallet")
