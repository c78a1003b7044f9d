"""Bookmarks in HTML, as browsers, Pinboard, Shaarli and linkding export them (Netscape's format)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tagtopics.errors import InputError
from tagtopics.readers.tagged import Tagged, TagList, day_of

_ELEMENT = re.compile(r"""(?is)<!--.*?(?:-->|\Z)|<(/?[a-z][a-z0-9]*+)((?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?""")
_COMMA = re.compile(r",|&#44;|&#x2c;|&comma;", re.IGNORECASE)
_ENDS = ("/a", "dt", "dl", "/dl", "hr", "h3")


@dataclass
class _Bookmark:
    attributes: dict[str, tuple[int, int]]  # where the value of each is
    end: int  # of the attributes
    title: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)


def find_bookmarks(text: str, where: str) -> Iterator[Tagged]:
    """Yield the bookmarks of a file; what follows `<DD>` is their text."""
    if "netscape-bookmark-file" not in text[:1000].lower():
        raise InputError(
            f"{where}: no file of bookmarks; these begin with <!DOCTYPE NETSCAPE-Bookmark-file-1>"
        )
    for mark in _bookmarks(text):
        values = {name: html.unescape(text[slice(*place)]) for name, place in mark.attributes.items()}
        url = values.get("href", "").strip()
        yield Tagged(
            tags=_tag_list(text, mark),
            id=url or None,
            title=_plain(mark.title),
            text=_plain(mark.note),
            date=day_of(values.get("add_date")),
            url=url or None,
        )


def _bookmarks(text: str) -> Iterator[_Bookmark]:
    """Yield each `<A>` with its attributes, the text in it, and the text of the `<DD>` that follows."""
    mark: _Bookmark | None = None
    inside: list[str] | None = None
    done = 0
    for element in _ELEMENT.finditer(text):
        if inside is not None:
            inside.append(text[done : element.start()])
        done, name = element.end(), (element[1] or "").lower()
        if name == "a":
            if mark is not None:
                yield mark
            mark = _Bookmark(_attributes(text, *element.span(2)), element.end(2))
            inside = mark.title
        elif name == "dd":
            inside = None if mark is None else mark.note
        elif name in _ENDS:
            inside = None
            if name == "h3" and mark is not None:  # what follows is about a folder
                yield mark
                mark = None
    if mark is not None:
        yield mark


def _attributes(text: str, begin: int, end: int) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for match in _ATTRIBUTE.finditer(text, begin, end):
        if match.lastindex and match.lastindex > 1:
            found.setdefault(match[1].lower(), match.span(match.lastindex))
    return found


def _tag_list(text: str, mark: _Bookmark) -> TagList:
    """Return the tags of the attribute TAGS, divided at commas."""
    if "tags" not in mark.attributes:
        return TagList([], [], mark.end, mark.end, html.escape, ",", ' TAGS="', '"')
    begin, end = mark.attributes["tags"]
    spans, first = [], begin
    for comma in [*_COMMA.finditer(text, begin, end), None]:
        last = comma.start() if comma else end
        part = text[first:last]
        if part.strip():
            spans.append((first + len(part) - len(part.lstrip()), first + len(part.rstrip())))
        first = comma.end() if comma else end
    tags = [html.unescape(text[slice(*span)]) for span in spans]
    return TagList(tags, spans, begin, end, html.escape, ",")


def _plain(parts: list[str]) -> str | None:
    return html.unescape(" ".join(parts)).strip() or None
