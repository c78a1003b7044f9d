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
_TAG = re.compile(r"(?i),|&#44;|&#x2c;|&comma;|((?:(?!&#44;|&#x2c;|&comma;)[^,])++)")
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


def _bookmarks(text: str) -> list[_Bookmark]:
    """Return each `<A>` with its attributes, the text in it, and the text of the `<DD>` that follows."""
    found: list[_Bookmark] = []
    inside: list[str] | None = None
    in_folder, done = True, 0
    for element in _ELEMENT.finditer(text):
        if inside is not None:
            inside.append(text[done : element.start()])
        done, name = element.end(), (element[1] or "").lower()
        if name == "a":
            found.append(_Bookmark(_attributes(text, *element.span(2)), element.end(2)))
            inside, in_folder = found[-1].title, False
        elif name == "dd":
            inside = None if in_folder else found[-1].note
        elif name in _ENDS:
            inside, in_folder = None, in_folder or name == "h3"  # whose <DD> is about a folder
    if inside is not None:
        inside.append(text[done:])
    return found


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
    spans = []
    for match in _TAG.finditer(text, begin, end):
        if tag := (match[1] or "").strip():
            first = match.start() + match[1].index(tag)
            spans.append((first, first + len(tag)))
    tags = [html.unescape(text[slice(*span)]) for span in spans]
    return TagList(tags, spans, begin, end, html.escape, ",")


def _plain(parts: list[str]) -> str | None:
    return html.unescape(" ".join(parts)).strip() or None
