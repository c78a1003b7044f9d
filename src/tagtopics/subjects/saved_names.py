"""The names of tags in a saved model: `names.tsv`, arrays and numbers."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tagtopics.corpus.core import check_array
from tagtopics.errors import InputError
from tagtopics.models.persistence import NAMES_FILE
from tagtopics.subjects.name_features import FEATURES
from tagtopics.subjects.tag_names import TagNames, all_tags
from tagtopics.subjects.thesaurus import Thesaurus

_PREFIX = "names."
_LARGEST = 1e9


class NamesDescription(BaseModel):
    """The part of `model.json` on names of tags."""

    model_config = ConfigDict(strict=True)

    language: str
    n_docs: Annotated[int, Field(ge=0, le=10**12)]
    threshold: Annotated[float, Field(ge=0, le=1)]


def names_to_text(names: TagNames) -> str:
    """Return the content of `names.tsv`: a tag, its name and alternative names on each line."""
    t = names.thesaurus
    rows = zip(t.ids, t.names, t.alternatives, strict=True)
    return "".join("\t".join((id, name, *others)) + "\n" for id, name, others in rows)


def names_to_arrays(names: TagNames) -> dict[str, Any]:
    """Return the arrays of names, by name."""
    arrays = {name: getattr(names, name) for name in ("counts", "mean", "scale", "weights")}
    arrays["broader"] = names.thesaurus.broader
    return {_PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}


def names_to_json(names: TagNames) -> dict[str, Any]:
    """Return the numbers of names."""
    return {"language": names.language, "n_docs": names.n_docs, "threshold": names.threshold}


def names_from(
    content: dict[str, Any], text: str, arrays: dict[str, Any], tag_names: tuple[str, ...]
) -> TagNames:
    """Return what the functions above converted, for the tags of a recommender.

    Raises:
        InputError: if the parts do not fit together.
    """
    description = NamesDescription.model_validate(content)
    rows = [line.split("\t") for line in text.split("\n")[:-1]]
    if not rows or min(map(len, rows)) < 2:
        raise InputError(f"{NAMES_FILE} is damaged: every line must have a tag and a name")
    ids = tuple(row[0] for row in rows)
    own = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    alternatives = tuple(tuple(row[2:]) for row in rows)
    thesaurus = Thesaurus(ids, tuple(row[1] for row in rows), alternatives, own["broader"])
    if len(thesaurus.row) < len(ids):
        raise InputError(f"{NAMES_FILE} is damaged: a tag occurs twice")
    _check(own, len(ids), len(all_tags(thesaurus, tag_names)))
    numbers = description.language, description.n_docs
    parts = own["counts"], own["mean"], own["scale"], own["weights"]
    return TagNames(thesaurus, *numbers, *parts, description.threshold, tag_names)


def _check(own: dict[str, Any], n_named: int, n_tags: int) -> None:
    F = len(FEATURES)
    P = own["weights"].size if own["weights"].size in (1 + F, 1 + F + F * (F + 1) // 2) else 1 + F
    wanted = {
        "broader": ((len(own["broader"]), 2), np.int64),
        "counts": ((3, n_tags), np.int64),
        "mean": ((F,), np.float64),
        "scale": ((F,), np.float64),
        "weights": ((P,), np.float64),
    }
    for name, (shape, dtype) in wanted.items():
        check_array(own[name], shape, dtype, f"names.{name}", least=-_LARGEST, most=_LARGEST)
    if (own["counts"] < 0).any() or (own["scale"] <= 0).any():
        raise InputError("names.counts and names.scale must be positive")
    if ((own["broader"] < 0) | (own["broader"] >= n_named)).any():
        raise InputError("names.broader names tags that do not exist")
