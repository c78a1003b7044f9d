"""Belief propagation with the functions of the specification in place of the compiled ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from unittest.mock import patch

from tagtopics.bp import executor, propagation


@contextmanager
def swept_by(kernels: ModuleType) -> Iterator[None]:
    """Let executors in memory start and sweep with `bp_reference`, or with `bp.sweep`."""
    with patch.object(executor, "compiled", kernels), patch.object(propagation, "compiled", kernels):
        yield
