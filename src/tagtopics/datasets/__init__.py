"""Data sets by name, registered and embedded. Nothing is imported or downloaded before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

if TYPE_CHECKING:
    from tagtopics.datasets.load import DatasetRow, list_datasets, load_dataset, read_registry

__all__ = [
    "DatasetRow",
    "list_datasets",
    "load_dataset",
    "read_registry",
]

__getattr__ = lazy(__name__, {"load": ("DatasetRow", "list_datasets", "load_dataset", "read_registry")})
