"""Data sets by name: registered, embedded, generated. Nothing is imported or downloaded before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

if TYPE_CHECKING:
    from tagtopics.datasets.docstrings import load_docstrings
    from tagtopics.datasets.load import DatasetRow, list_datasets, load_dataset
    from tagtopics.datasets.registry import DatasetEntry, fetch_dataset, read_registry
    from tagtopics.datasets.synthetic import SyntheticCorpus, TagGroup, make_tagged_corpus

__all__ = [
    "DatasetEntry",
    "DatasetRow",
    "SyntheticCorpus",
    "TagGroup",
    "fetch_dataset",
    "list_datasets",
    "load_dataset",
    "load_docstrings",
    "make_tagged_corpus",
    "read_registry",
]

__getattr__ = lazy(
    __name__,
    {
        "docstrings": ("load_docstrings",),
        "load": ("DatasetRow", "list_datasets", "load_dataset"),
        "registry": ("DatasetEntry", "fetch_dataset", "read_registry"),
        "synthetic": ("SyntheticCorpus", "TagGroup", "make_tagged_corpus"),
    },
)
