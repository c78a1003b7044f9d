"""From a numpydoc docstring to prose: without code, formulas and markup; and its See Also section."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Sequence

_WITHOUT_PROSE = {"see also", "references", "examples", "example", "methods"}
_TEMPLATE_DOCS = (
    20  # a paragraph or parameter that occurs word for word in this many docstrings is a template
)

_RULER = re.compile(r"^\s*[-=~^*]{3,}\s*$")
_SIGNATURE = re.compile(r"^[\w.]+\(.*")
_DIRECTIVE = re.compile(
    r"^(\s*)\.\.\s+(?:math|code|code-block|plot|sourcecode|figure|image|index|currentmodule)\b"
)
_MARKUP = (
    (re.compile(r":math:`[^`]*`"), " "),  # LaTeX is no prose
    (re.compile(r":ref:`(?:[^`<]*)<[^`]*>`|:ref:`[^`]*`"), " "),  # anchors of the manual
    (re.compile(r":[\w:-]+:`~?(?:[\w.]*\.)?([^`]*)`"), r"\1"),  # :class:`~a.b.C` is C
    (re.compile(r"``[^`]*``"), " "),  # code
    (re.compile(r"`([^`<]*?)\s*<[^`>]*>`_*"), r"\1"),  # `text <address>`_
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"\[\w+\]_"), " "),  # citations
    (re.compile(r"^\s*\.\.\s+[\w-]+::?(?:\s+\d+(?:\.\d+)*)?", re.MULTILINE), " "),  # .. versionadded:: 1.2
    (re.compile(r"[`*|\\]+|[-=+]{4,}"), " "),
)
_REFERENCE = re.compile(r"(?::[\w:]+:)?`?~?([A-Za-z_][\w.]*)`?(?:\(\))?")


def split_sections(docstring: str) -> dict[str, str]:
    """Split a docstring by its underlined headings, in lower case; "" is the part before the first."""
    lines = inspect.cleandoc(docstring).splitlines()
    lines = inspect.cleandoc("\n".join(_without_signature(lines))).splitlines()
    sections: dict[str, list[str]] = {"": []}
    current = sections[""]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if _RULER.match(line):
            continue
        if line.strip() and _RULER.match(following):
            current = sections.setdefault(line.strip().lower(), [])
        else:
            current.append(line)
    return {title: "\n".join(body).strip("\n") for title, body in sections.items()}


def _without_signature(lines: Sequence[str]) -> list[str]:
    """Remove the call signatures before the summary of built-in functions and ufuncs."""
    rest = list(lines)
    while rest and (not rest[0].strip() or _SIGNATURE.match(rest[0].strip())):
        was_signature = bool(rest[0].strip())
        rest.pop(0)
        while was_signature and rest and rest[0].strip() and not rest[0][0].isalpha():
            rest.pop(0)  # a signature over several lines
    return rest or list(lines)


def prose_blocks(sections: dict[str, str]) -> list[str]:
    """Return the prose of a docstring as blocks: paragraphs, and parameters with their descriptions."""
    blocks: list[str] = []
    for title, body in sections.items():
        if title not in _WITHOUT_PROSE:
            blocks.extend(_blocks(_without_code(body.splitlines())))
    prose = [block for block in blocks if not block.lstrip().startswith(("===", "+--"))]  # tables
    for pattern, replacement in _MARKUP:
        prose = [pattern.sub(replacement, block) for block in prose]
    return [" ".join(block.split()) for block in prose if block.strip()]


def _blocks(lines: Iterable[str]) -> list[str]:
    """Join lines into blocks, which end at blank lines and where the text returns to the margin."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        returns = blocks[-1] and line[:1].strip() and blocks[-1][-1][:1].isspace()
        if not line.strip() or returns:
            blocks.append([])
        if line.strip():
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]


def _without_code(lines: Sequence[str]) -> list[str]:
    """Remove examples (`>>>` and their output), formulas, and blocks of code."""
    kept: list[str] = []
    margin: int | None = None  # of the directive or the `::` we are below
    example = False
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if margin is not None and line.strip() and indent <= margin:
            margin = None
        example = bool(line.strip()) and (example or line.lstrip().startswith((">>>", "...")))
        if margin is not None or example:
            continue
        directive = _DIRECTIVE.match(line)
        if directive or line.rstrip().endswith("::"):
            margin = indent
        if not directive:
            kept.append(line)
    return kept


def join_blocks(
    documents: Sequence[Sequence[str]], names: Sequence[str], limit: int = _TEMPLATE_DOCS
) -> list[str]:
    """Join the blocks of each document into its text, without the templates.

    A block that at least `limit` documents share is a template; blocks that differ only in the name of their
    object are equal.
    """
    patterns = [re.compile(rf"\b{re.escape(name)}\b") for name in names]
    keys = [
        [pattern.sub("@", block) for block in blocks]
        for blocks, pattern in zip(documents, patterns, strict=True)
    ]
    frequency = Counter(key for blocks in keys for key in set(blocks))
    return [
        "\n".join(block for block, key in zip(blocks, of_doc, strict=True) if frequency[key] < limit)
        for blocks, of_doc in zip(documents, keys, strict=True)
    ]


def see_also(sections: dict[str, str]) -> list[str]:
    """Return the names in the See Also section, in order, without markup such as `:func:`."""
    names: list[str] = []
    for line in sections.get("see also", "").splitlines():
        if not line[:1].strip():
            continue
        listed = re.split(r"\s:(?:\s|$)", line, maxsplit=1)[0]
        for part in listed.split(","):
            if found := _REFERENCE.fullmatch(part.strip()):
                names.append(found.group(1))
    return list(dict.fromkeys(names))


def parameter_names(sections: dict[str, str]) -> list[str]:
    """Return the names of the parameters, in order."""
    names: list[str] = []
    for line in sections.get("parameters", "").splitlines():
        if line[:1].strip():
            names.extend(name.strip(" *`") for name in line.split(" :")[0].split(","))
    return [name for name in names if name.isidentifier()]
