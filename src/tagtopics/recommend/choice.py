"""Which tags to recommend, and the recommended tags."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagtopics.corpus.tags import kind_of
from tagtopics.errors import InputError, similar_names


class Recommendation(NamedTuple):
    """A tag for a document."""

    tag: str
    probability: float
    words: tuple[tuple[str, float], ...] = ()  # the words behind it with their weights, if requested
    name: str = ""  # of the tag, if there is a thesaurus
    found: tuple[str, ...] = ()  # the pieces of the text that are names of the tag
    broader: tuple[str, ...] = ()  # names of ever broader tags, if there is a thesaurus


class Choice(NamedTuple):
    """Which tags to recommend."""

    top: int = 5
    balanced: bool = False
    threshold: float = 0.0  # only tags at least this probable
    kind: str | None = None  # only tags that are written `kind:name`
    only: Collection[str] | None = None  # these tags, given as they are or by name; None for all
    exclude: Collection[str] = ()  # not these tags, likewise
    named: bool = False  # only tags with a name in the thesaurus, if there is one

    def admits(self, tags: Sequence[str], names: Sequence[str] = ()) -> Any:
        """Return (T,) booleans: which tags are wanted; an `InputError` if the choice makes no sense.

        Args:
            tags: the T tags.
            names: of the first of them, in the same order.
        """
        if self.top < 1:
            raise InputError(f"recommend: top must be 1 or more, not {self.top}")
        if not 0 <= self.threshold <= 1:
            raise InputError(f"recommend: threshold must be from 0 to 1, not {self.threshold:g}")
        admitted = np.ones(len(tags), dtype=bool)
        if self.kind is not None:
            admitted = np.array([kind_of(tag) == self.kind for tag in tags], dtype=bool)
            if not admitted.any():
                kinds = sorted({kind_of(tag) for tag in tags} - {""})
                known = f"its kinds are {', '.join(kinds[:10])}" if kinds else "its tags have no kinds"
                raise InputError(
                    f"recommend: the model has no tags of kind {self.kind[:40]!r}; {known[:300]}"
                )
        if self.only is not None:
            admitted &= _in(self.only, tags, names)
        if self.exclude:
            admitted &= ~_in(self.exclude, tags, names)
        if self.named and len(names):
            admitted[len(names) :] = False
        if not admitted.any():
            raise InputError("recommend: no tag is left to recommend; check kind, only and exclude")
        return admitted


def _in(wanted: Collection[str], tags: Sequence[str], names: Sequence[str]) -> Any:
    """Return (T,) booleans: which tags are wanted; arguments as in `Choice.admits`."""
    if isinstance(wanted, str):
        raise InputError(f"recommend: give tags as a list, such as [{wanted[:40]!r}]")
    if unknown := sorted(set(wanted).difference(tags, names)):
        hint = similar_names(unknown[0], (*tags, *names))
        raise InputError(f"recommend: the model has no tag {unknown[0][:80]!r}{hint}")
    found = np.array([tag in wanted for tag in tags], dtype=bool)
    found[: len(names)] |= np.array([name in wanted for name in names], dtype=bool)
    return found
