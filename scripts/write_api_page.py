"""Write docs/api.md from the docstrings: `python scripts/write_api_page.py`.

Public is what `__all__` of these modules names, and the public methods of those classes.
"""

from __future__ import annotations

import inspect
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"

HEAD = """# API reference

Written by `python scripts/write_api_page.py` from the docstrings; `help(name)` tells the rest.
All names load on first use, so `import tagtopics` is light.
"""

MODULES = (
    ("tagtopics", "The names most programs need."),
    ("tagtopics.corpus", "Also at hand: the parts that corpora are made of."),
    ("tagtopics.datasets", "Corpora that have a name, and generated ones."),
    ("tagtopics.tasks", "What models are good for, measured."),
    ("tagtopics.scale", "Corpora larger than memory."),
    ("tagtopics.explore", "A report for the browser."),
    ("tagtopics.scale", "Corpora larger than memory, and clusters."),
)
EXTRA = (
    ("tagtopics.models.results", ("CreditTable", "TagProfile", "RelatedDocument")),
    ("tagtopics.recommend.recommender", ("Recommendation",)),
    ("tagtopics.views.topic_data", ("TopicData",)),
    ("tagtopics.inference.callbacks", ("Callback", "Progress", "EarlyStop")),
    ("tagtopics.inference.checkpoint", ("Checkpoint", "load_checkpoint")),
    ("tagtopics.scale.ray_executor", ("ray_executor",)),
    ("tagtopics.errors", ("InputError", "MissingExtraError", "CorpusWarning")),
)
"""Names that no `__all__` lists, but that users meet: what calls return, watch and raise."""

WIDTH = 96


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    seen: set[int] = set()
    for name, about in MODULES:
        module = import_module(name)
        parts.append(_section(name, about, module, sorted(module.__all__, key=str.lower), seen))
    parts.insert(2, _shared())
    for name, names in EXTRA:
        module = import_module(name)
        parts.append(_section(name, _first_line(module), module, names, seen))
    parts.append(_commands())
    return "\n".join(part for part in parts if part)


def _section(title: str, about: str, module: ModuleType, names: Any, seen: set[int]) -> str:
    """Return a module's names, without those that stood on the page before."""
    entries = []
    for name in names:
        value = getattr(module, name)
        if id(value) in seen or not callable(value):
            continue
        seen.add(id(value))
        entries.append(_class_entry(name, value) if inspect.isclass(value) else _entry(name, value))
    return "\n".join([f"## {title}\n\n{about}\n", *entries]) if entries else ""


def _shared() -> str:
    """Return what all estimators can do, told once."""
    from tagtopics.models.base import TopicModel

    about = (
        "`ATM`, `LDA`, `LabeledLDA`, `RTM` and `TTM` are scikit-learn transformers and share these methods."
    )
    return f"## All estimators\n\n{about}\n\n{_table(_methods(TopicModel))}"


def _entry(name: str, function: Any) -> str:
    return f"### {name}\n\n{_first_line(function)}\n\n```text\n{_signature(name, function)}\n```\n"


def _class_entry(name: str, cls: Any) -> str:
    lines = [f"### {name}\n\n{_first_line(cls)}\n"]
    if not issubclass(cls, Exception):
        lines.append(f"```text\n{_signature(name, cls)}\n```\n")
    methods = [(method, value) for method, value in _methods(cls) if not _is_shared(cls, method)]
    if methods:
        lines.append(_table(methods))
    return "\n".join(lines)


def _is_shared(cls: Any, method: str) -> bool:
    """Tell whether an estimator has a method from the base of all, which is told once."""
    from tagtopics.models.base import TopicModel

    return issubclass(cls, TopicModel) and getattr(cls, method) is getattr(TopicModel, method, None)


def _table(methods: list[tuple[str, Any]]) -> str:
    rows = [f"| `{_cell(_call(name, value))}` | {_cell(_first_line(value))} |" for name, value in methods]
    return "\n".join(["| call | what it does |", "|---|---|", *rows, ""])


def _methods(cls: Any) -> list[tuple[str, Any]]:
    """Return the public methods and properties that are ours, those of base classes included."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if not base.__module__.startswith("tagtopics"):
            continue
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            plain = getattr(plain, "fn", plain)  # of scikit-learn's available_if
            told = inspect.isfunction(plain) or isinstance(plain, property | cached_property)
            if told and plain.__doc__ and not name.startswith("_"):
                found.setdefault(name, plain)
    return list(found.items())


def _call(name: str, value: Any) -> str:
    return _signature(name, value, most=10_000) if inspect.isfunction(value) else name


def _signature(name: str, value: Any, most: int = WIDTH) -> str:
    """Return a call in one line, or, where that is too long, with a line for each parameter."""
    signature = inspect.signature(value)
    parts: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            parts.append("*")
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        parts.append(_parameter(parameter))
    returns = "" if inspect.isclass(value) else _arrow(signature.return_annotation)
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= most:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    kind = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}{kind}"
    default = _default(parameter.default)
    return f"{parameter.name}{kind} = {default}" if kind else f"{parameter.name}={default}"


def _default(value: Any) -> str:
    """Return how a default is written; what has no such form is three dots."""
    text = repr(value)
    return "..." if text.startswith("<") else text


def _arrow(annotation: Any) -> str:
    return "" if annotation is inspect.Signature.empty else f" -> {_type(annotation)}"


def _type(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return str(getattr(annotation, "__forward_arg__", getattr(annotation, "__name__", annotation)))


def _first_line(value: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _commands() -> str:
    from tagtopics.cli.app import COMMANDS

    rows = [
        f"| `tagtopics {name}` | {_cell(_first_line(import_module(f'tagtopics.cli.{name}').command))} |"
        for name in COMMANDS
    ]
    head = "## The command\n\n`tagtopics NAME --help` lists the options.\n"
    return "\n".join([head, "| command | what it does |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stderr.write(f"wrote {PAGE}\n")
