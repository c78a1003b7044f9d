"""Packages whose names are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def lazy(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `homes` has the public names of its modules."""

    def find(name: str) -> Any:
        for home, names in homes.items():
            if name in names:
                return getattr(import_module(f"{package}.{home}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


class _Deferred(ModuleType):
    """Stands for a module until one of its attributes is used; then the module itself takes its place."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def defer(*names: str) -> None:
    """Load modules only when something in them is used, whoever imports them.

    scikit-learn imports all of pandas and `scipy.stats`, which takes half of the time of its own import, and
    few commands use anything in them. Modules that are loaded or missing stay as they are.
    """
    for name in names:
        parent, _, last = name.rpartition(".")
        within = isinstance(sys.modules.get(parent), _Deferred)  # to look for it would load the package
        spec = None if name in sys.modules else ModuleSpec(name, None) if within else find_spec(name)
        if spec is not None:
            sys.modules[name] = _Deferred(name)
            sys.modules[name].__spec__ = spec
            if parent:
                setattr(sys.modules[parent], last, sys.modules[name])
