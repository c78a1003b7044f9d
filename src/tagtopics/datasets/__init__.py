"""Data sets by name: registered, embedded, generated. Nothing is imported or downloaded before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

if TYPE_CHECKING:
    from tagtopics.datasets.load import DatasetRow, list_datasets, load_dataset
    from tagtopics.datasets.registry import read_registry
    from tagtopics.datasets.synthetic import SyntheticCorpus, make_tagged_corpus

__all__ = [
    "DatasetRow",
    "SyntheticCorpus",
    "list_datasets",
    "load_dataset",
    "make_tagged_corpus",
    "read_registry",
]

__getattr__ = lazy(
    __name__,
    {
        "load": ("DatasetRow", "list_datasets", "load_dataset"),
        "registry": ("read_registry",),
        "synthetic": ("SyntheticCorpus", "make_tagged_corpus"),
    },
)
