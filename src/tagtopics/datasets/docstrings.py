"""The embedded corpus: docstrings of the installed numpy, scipy and scikit-learn, with tags."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import learn

_TABLE = tomllib.loads(files("tagtopics.datasets").joinpath("docstrings.toml").read_text(encoding="utf-8"))

MIN_TAG_DOCS = 3  # tags on fewer documents are dropped
MIN_TEXT_WORDS = 8  # shorter texts ("ARPACK error") are left out
_WITHOUT_PROSE = {"see also", "references", "examples", "methods"}
_TEMPLATE_DOCS = 20  # a block that occurs word for word in this many docstrings is a template

_RULER = re.compile(r"^\s*[-=~^*]{3,}\s*$")
_SIGNATURE = re.compile(r"^[\w.]+\(.*")
_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:math|code|plot|figure|image|index|currentmodule)\b")
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

# Modules of classes that scikit-learn has only after an import of `sklearn.experimental`, maybe elsewhere.
_EXPERIMENTAL = ("sklearn.model_selection._search_successive_halving", "sklearn.impute._iterative")


def docstring_recipe() -> TextRecipe:
    """Return the recipe: words of at least three letters, in at least three documents."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return TextRecipe(
        token_pattern=r"[^\W\d_]+",
        min_length=3,
        stop_words=tuple(sorted({*ENGLISH_STOP_WORDS, *_TABLE["boilerplate"].split()})),
        min_df=3,
    )


def load_docstrings() -> Corpus:
    """Build the corpus of docstrings of the installed numpy, scipy and scikit-learn.

    Each document is an object of the public interface: a function, class, exception, ufunc or distribution.
    Its tags are `package:`, `subpackage:`, `kind:`, public base classes (`base:`), capabilities of classes
    (`has:`) and characteristic parameters (`takes:`); its label is its subpackage. Its content depends on the
    installed versions.

    Returns:
        A corpus with ids (qualified names), labels, texts and recipe.
    """
    documents = _documents()
    texts = tuple(document.text for document in documents)
    recipe = docstring_recipe()
    counts, vocabulary, *_ = learn(texts, recipe)
    frequency = Counter(tag for document in documents for tag in set(document.tags))
    tag_names = tuple(sorted(tag for tag, n in frequency.items() if n >= MIN_TAG_DOCS))
    return Corpus(
        counts=counts,
        tags=tag_matrix([document.tags for document in documents], tag_names),
        vocabulary=vocabulary,
        tag_names=tag_names,
        ids=tuple(document.name for document in documents),
        labels=tuple(document.module for document in documents),
        texts=texts,
        recipe=recipe,
    )


@dataclass
class _Document:
    """One documented object of a library."""

    name: str  # the first of its qualified names, such as `scipy.sparse.linalg.svds`
    module: str  # the public subpackage, such as `scipy.sparse.linalg`
    tags: list[str]
    sections: dict[str, str]  # of its docstring
    text: str = ""


def _documents() -> list[_Document]:
    """Return the objects to keep, those with the same text as one, with tags of parameters and texts."""
    objects = _public_objects()
    names = [found.name.rpartition(".")[2] for found in objects]
    texts = join_blocks([prose_blocks(found.sections) for found in objects], names)
    kept: dict[str, _Document] = {}
    for found, text in zip(objects, texts, strict=True):
        if text not in kept and len(text.split()) >= MIN_TEXT_WORDS:
            kept[text] = found
            found.text = text
            takes = map(_TABLE["parameters"].get, parameter_names(found.sections))
            found.tags += [f"takes:{name}" for name in takes if name]
    return list(kept.values())


def _public_objects() -> list[_Document]:
    """Return every documented public object once, in a fixed order; imports the libraries."""
    found: dict[int, tuple[Any, _Document]] = {}  # with its object: the id of a deleted one is used again
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [f"{package}.{child}".rstrip(".") for package, children in _TABLE["packages"].items()
                 for child in ("", *children.split())]  # fmt: skip
        for home in names:
            for short, value in _members(home):
                if id(value) not in found and (kind := _kind(value, home)):
                    tags, sections = list(_tags(value, kind, home)), split_sections(value.__doc__)
                    found[id(value)] = value, _Document(f"{home}.{short}", home, tags, sections)
    return [document for _, document in found.values()]


def _members(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the public names and values of a module, sorted; none if this version of a library lacks it."""
    try:
        module = importlib.import_module(name)
    except (ImportError, AttributeError):  # another version, or a part that was not built
        return
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == name]
    for key in sorted({key for key in getattr(module, "__all__", own) if not key.startswith("_")}):
        try:
            yield key, getattr(module, key)
        except (AttributeError, ImportError):
            continue


def _kind(value: Any, module: str) -> str | None:
    """Return the kind of a documented object of a library; None for constants, modules and other values."""
    docstring, cls = getattr(value, "__doc__", None), type(value).__name__
    home = getattr(value, "__module__", None) or module
    if not isinstance(docstring, str) or not docstring.strip() or home in _EXPERIMENTAL:
        return None
    if cls == "ufunc":
        return "ufunc"
    if home.partition(".")[0] != module.partition(".")[0]:
        return None
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    if not callable(value) or docstring == type(value).__doc__:
        return None
    return "distribution" if hasattr(value, "rvs") else "function"


def _tags(value: Any, kind: str, module: str) -> Iterator[str]:
    """Yield the tags of an object: where it is, what it is, its public base classes, what it can do."""
    yield f"package:{module.partition('.')[0]}"
    yield f"subpackage:{module}"
    yield f"kind:{kind}"
    if kind not in {"function", "ufunc"}:  # of an instance also its class
        hidden = _TABLE["hidden_bases"].split()
        bases = inspect.getmro(value)[1:] if isinstance(value, type) else inspect.getmro(type(value))
        names = (base.__name__ for base in bases)
        yield from (f"base:{name}" for name in names if not (name in hidden or name.startswith("_")))
    if kind == "class":
        yield from (f"has:{name}" for name in _TABLE["capabilities"].split() if name in dir(value))


# ---------------------------------------------------------------------- from numpydoc markup to prose


def split_sections(docstring: str) -> dict[str, str]:
    """Split a docstring by its underlined headings, in lower case; "" is the part before the first."""
    lines = _without_signature(inspect.cleandoc(docstring).splitlines())
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


def _blocks(lines: Sequence[str]) -> list[str]:
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
    keys = [
        [re.sub(rf"\b{re.escape(name)}\b", "@", block) for block in blocks]
        for blocks, name in zip(documents, names, strict=True)
    ]
    frequency = Counter(key for blocks in keys for key in set(blocks))
    return [
        "\n".join(block for block, key in zip(blocks, of_doc, strict=True) if frequency[key] < limit)
        for blocks, of_doc in zip(documents, keys, strict=True)
    ]


def parameter_names(sections: dict[str, str]) -> list[str]:
    """Return the names of the parameters, in order."""
    names: list[str] = []
    for line in sections.get("parameters", "").splitlines():
        if line[:1].strip():
            names.extend(name.strip() for name in line.split(" :")[0].split(","))
    return [name for name in names if name.isidentifier()]
