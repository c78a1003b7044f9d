"""Files whose tags can be written back: documents, with the place of their tags in the text of the file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import find_encoding, text_lines
from tagtopics.readers.records import table_of_records


@dataclass(frozen=True)
class TagList:
    """The tags of a document in the text of a file, and how others are written there.

    Attributes:
        tags: the tags.
        spans: where each tag begins and ends in the text; none if the list has no tags, or is written anew.
        begin: where the list begins, after what encloses it.
        end: where it ends.
        write: returns a tag as it is written in this list.
        between: what divides a new tag from the one before, if there are less than two to see it.
        opening: what precedes a list without spans.
        closing: what follows it.
        unread: whether the document has tags that cannot be read.
    """

    tags: Sequence[str]
    spans: Sequence[tuple[int, int]]
    begin: int
    end: int
    write: Callable[[str], str]
    between: str
    opening: str = ""
    closing: str = ""
    unread: bool = False

    def edited(self, text: str, wanted: Sequence[str]) -> str:
        """Return the list with the wanted tags: those to keep, in the order they have, then new ones."""
        if list(wanted) == list(self.tags):
            return text[self.begin : self.end]
        if not self.spans:
            return self.opening + self.between.join(map(self.write, wanted)) + self.closing
        pieces, n_kept, done = list[str](), 0, 0
        for tag, (begin, end) in zip(self.tags, self.spans, strict=True):
            if n_kept < len(wanted) and wanted[n_kept] == tag:
                pieces.append(text[done if pieces else begin : end])
                n_kept += 1
            done = end
        between = text[self.spans[0][1] : self.spans[1][0]] if len(self.spans) > 1 else self.between
        for tag in wanted[n_kept:]:
            pieces.append((between if pieces else "") + self.write(tag))
        if not pieces:
            return ""
        return text[self.begin : self.spans[0][0]] + "".join(pieces) + text[self.spans[-1][1] : self.end]


@dataclass(frozen=True, kw_only=True)
class Tagged:
    """A document of a file."""

    id: str | None = None
    title: str | None = None
    text: str | None = None
    date: str | None = None
    url: str | None = None
    tags: TagList


Find = Callable[[str, str], Iterable[Tagged]]  # from the text of a file, and its name for errors


def read_tagged(find: Find, path: Path, options: FileOptions) -> Table:
    """Read a file as a table of documents."""
    text, _, notices = whole_text(path, options.encoding)
    return tagged_table(path, list(find(text, str(path))), notices)


def whole_text(path: Path, named: str | None) -> tuple[str, str, list[str]]:
    """Return the text of a file, which may be empty, its encoding, and a notice if that was guessed."""
    encoding, notices = find_encoding(path, named)
    lines = text_lines(path, encoding) if path.stat().st_size else ()
    return "".join(line for _, line in lines), encoding, notices


def tagged_table(path: Path, documents: Sequence[Tagged], notices: Sequence[str]) -> Table:
    """Return documents as a table whose columns have their usual roles."""
    records = [vars(one) | {"tags": list(one.tags.tags)} for one in documents]
    return table_of_records(path, records, ("title", "text"), "tags", notices=notices)


def write_tagged(find: Find, text: str, where: str, lists: Mapping[int, Sequence[str]]) -> str:
    """Return the text of a file in which some documents, given by number, have other tags."""
    places = [one.tags for one in find(text, where)]
    pieces, done = list[str](), 0
    for row in sorted(lists):
        place = places[row]
        pieces += [text[done : place.begin], place.edited(text, lists[row])]
        done = place.end
    return "".join([*pieces, text[done:]])


def lines_of(*parts: object) -> str:
    """Return the texts among some values, one per line."""
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def day_of(seconds: Any) -> str | None:
    """Return the day of a number of seconds since 1970, None if it is no such number."""
    try:
        return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).date().isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
