"""The embedded corpus: docstrings of the installed numpy, scipy and scikit-learn, with tags and links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus, canonical_tags, tag_matrix
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import learn
from tagtopics.datasets.docstring_objects import PublicObject, public_objects
from tagtopics.datasets.docstring_text import (
    join_blocks,
    parameter_names,
    prose_blocks,
    see_also,
    split_sections,
)

BOILERPLATE = (
    *("array", "arrays", "array_like", "ndarray", "dtype", "bool", "int", "float", "str", "string", "tuple"),
    *(
        "list",
        "dict",
        "callable",
        "scalar",
        "shape",
        "type",
        "none",
        "true",
        "false",
        "like",
        "ints",
        "floats",
    ),
    *("parameter", "parameters", "argument", "arguments", "return", "returns", "returned", "optional"),
    *("default", "defaults", "value", "values", "given", "specified", "object", "instance"),
    *("use", "used", "uses", "using", "set", "note", "notes", "example", "examples", "version", "deprecated"),
    *("numpy", "scipy", "sklearn", "scikit", "attribute", "attributes", "raises", "raised"),
)
"""Words that all docstrings share: types, names of sections, common phrases."""

CAPABILITIES = (
    "predict",
    "predict_proba",
    "transform",
    "inverse_transform",
    "partial_fit",
    "fit_predict",
    "split",
)
"""Methods that tell what a class is for; they become `has:` tags."""

PARAMETERS = {
    "axis": "axis",
    "random_state": "random_state",
    "rng": "random_state",
    "seed": "random_state",
    "tol": "tol",
    "sample_weight": "sample_weight",
    "y_true": "y_true",
    "n_jobs": "n_jobs",
    "workers": "n_jobs",
    "metric": "metric",
    "estimator": "estimator",
    "cv": "cv",
    "nan_policy": "nan_policy",
    "alternative": "alternative",
    "fs": "fs",
    "x0": "x0",
    "n_components": "n_components",
    "deg": "deg",
}
"""Parameters whose name has the same meaning everywhere, and the `takes:` tag of each."""

MIN_TAG_DOCS = 3
"""Tags on fewer documents are dropped."""

MIN_TEXT_WORDS = 8
"""Shorter texts ("ARPACK error") are left out."""


def docstring_recipe() -> TextRecipe:
    """Return the recipe: words of at least three letters, in at least three documents."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return TextRecipe(
        token_pattern=r"[^\W\d_]+",
        min_length=3,
        stop_words=tuple(sorted({*ENGLISH_STOP_WORDS, *BOILERPLATE})),
        min_df=3,
    )


def load_docstrings() -> Corpus:
    """Build the corpus of docstrings of the installed numpy, scipy and scikit-learn.

    Each document is an object of the public interface: a function, class, exception, ufunc or distribution.
    Its tags are `package:`, `subpackage:`, `kind:`, public base classes (`base:`), capabilities of classes
    (`has:`) and characteristic parameters (`takes:`); its label is its subpackage, its links are its See Also
    section. Its content depends on the installed versions.

    Returns:
        A corpus with ids (qualified names), labels, links, texts and recipe.
    """
    objects, sections, texts = _documents()
    recipe = docstring_recipe()
    counts, vocabulary = learn(texts, recipe)
    doc_tags = [list(_tags(found, parts)) for found, parts in zip(objects, sections, strict=True)]
    tag_names = _common_tags(doc_tags)
    return Corpus(
        counts=counts,
        tags=tag_matrix(doc_tags, tag_names),
        vocabulary=vocabulary,
        tag_names=tag_names,
        ids=tuple(found.name for found in objects),
        labels=tuple(found.module for found in objects),
        links=_links(objects, [see_also(parts) for parts in sections]),
        texts=tuple(texts),
        recipe=recipe,
    )


def _documents() -> tuple[list[PublicObject], list[dict[str, str]], list[str]]:
    """Return the objects to keep, the sections of their docstrings, and their distinct texts."""
    objects = public_objects()
    sections = [split_sections(found.docstring) for found in objects]
    names = [found.name.rpartition(".")[2] for found in objects]
    texts = join_blocks([prose_blocks(parts) for parts in sections], names)
    first: dict[str, int] = {}
    for doc, text in enumerate(texts):
        if len(text.split()) >= MIN_TEXT_WORDS:
            first.setdefault(text, doc)
    kept = list(first.values())
    for doc, text in enumerate(texts):
        if text in first and first[text] != doc:  # the same text under another name
            objects[first[text]].aliases.extend(objects[doc].aliases)
    return [objects[d] for d in kept], [sections[d] for d in kept], [texts[d] for d in kept]


def _tags(found: PublicObject, sections: dict[str, str]) -> Iterator[str]:
    """Yield the tags of one object."""
    yield f"package:{found.package}"
    yield f"subpackage:{found.module}"
    yield f"kind:{found.kind}"
    yield from (f"base:{name}" for name in found.bases)
    yield from (f"has:{name}" for name in CAPABILITIES if name in found.methods)
    yield from (f"takes:{PARAMETERS[name]}" for name in parameter_names(sections) if name in PARAMETERS)


def _common_tags(doc_tags: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the tags on `MIN_TAG_DOCS` documents or more, sorted."""
    frequency = Counter(tag for tags in doc_tags for tag in set(tags))
    return tuple(sorted(tag for tag, n in frequency.items() if n >= MIN_TAG_DOCS))


def _links(objects: Sequence[PublicObject], references: Sequence[Sequence[str]]) -> sp.csr_array:
    """Resolve names in See Also sections to documents: a (D, D) CSR array of int8 ones."""
    places = {name: doc for doc, found in enumerate(objects) for name in reversed(found.aliases)}
    rows: list[int] = []
    columns: list[int] = []
    for doc, names in enumerate(references):
        targets = {_resolve(name, objects[doc], places) for name in names} - {None, doc}
        columns.extend(sorted(target for target in targets if target is not None))
        rows.extend([doc] * (len(columns) - len(rows)))
    ones = np.ones(len(rows), dtype=np.int8)
    return canonical_tags(sp.csr_array((ones, (rows, columns)), shape=(len(objects),) * 2), "links")


def _resolve(name: str, where: PublicObject, places: dict[str, int]) -> int | None:
    """Find the document of a name: the name itself, then within the subpackage and its parents."""
    name = "numpy." + name[3:] if name.startswith("np.") else name
    if name in places:
        return places[name]
    scope = where.module
    while scope:
        if f"{scope}.{name}" in places:
            return places[f"{scope}.{name}"]
        scope = scope.rpartition(".")[0]
    return places.get(f"numpy.{name}")
