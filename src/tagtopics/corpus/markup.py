"""HTML in texts: found, and removed, so that tags and entities do not become words.

Only text that surely is HTML is changed: it has a known element in the form of one, or an entity. A
comparison such as `a <b and c> d` or a type such as `List<String>` stays. The time is linear in the length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

HTML_REMOVED = "HTML in the texts is removed; keep it with strip_html=False (--keep-html)"
"""The notice for texts that `plain_texts` changed."""

_INLINE = frozenset(
    [
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "bold",
            "cite",
            "code",
            "del",
            "dfn",
            "em",
            "font",
        ),
        *(
            "i",
            "ins",
            "italic",
            "kbd",
            "label",
            "mark",
            "q",
            "s",
            "samp",
            "small",
            "span",
            "strike",
            "strong",
        ),
        *("sub", "sup", "tt", "u", "var", "wbr"),
    ]
)
_BLOCK = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "head", "header", "hr", "html", "iframe", "img", "input", "li", "link", "main", "meta"),
        *("nav", "noscript", "object", "ol", "option", "p", "pre", "section", "select", "svg", "table"),
        *("tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "video"),
    ]
)
_HIDDEN = frozenset({"script", "style"})
_NAMES = _INLINE | _BLOCK | _HIDDEN
_TELLING = frozenset({"p", "br", "hr", "script", "style"})
"""Elements without an end that are HTML by their name alone, in lower case; `<EM>` may be a company."""

_ATTRIBUTE = r"""\s+[\w:-]+\s?=\s?(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
_SURE = re.compile(rf"<(?:/([\w:]+)\s?|([\w:]+)((?:{_ATTRIBUTE})*)\s?/?)>", re.ASCII)
_ELEMENT = re.compile(
    r"<!--|<!doctype[^<>]*>|</?([a-z][a-z0-9:]*)(?:[\s/][^<>]*)?>", re.ASCII | re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:[a-z]{2,8}[0-9]{0,2}|#[0-9]{1,6}|#x[0-9a-f]{1,5});", re.ASCII | re.IGNORECASE)


def has_html(text: str) -> bool:
    """Tell whether a text contains an HTML element or an entity."""
    if "<" in text and any(_is_sure(*found.groups()) for found in _SURE.finditer(text)):
        return True
    return "&" in text and any(html.unescape(one[0]) != one[0] for one in _ENTITY.finditer(text))


def without_html(text: str) -> str:
    """Return the text that a browser would show of HTML; a text without HTML is returned as it is.

    Scripts, styles and comments are left out. Elements that begin a line become a line feed.
    """
    if not has_html(text):
        return text
    parts, at = [], 0
    while (found := _ELEMENT.search(text, at)) is not None:
        name = _name(found[1] or "")
        end = found.end()
        if found[0] == "<!--":
            close = text.find("-->", end)
            end = len(text) if close < 0 else close + 3
        elif name in _HIDDEN and not found[0].startswith("</"):
            closing = re.compile(rf"</{name}[^<>]*>", re.IGNORECASE).search(text, end)
            end = len(text) if closing is None else closing.end()
        elif found[1] and name not in _NAMES:
            parts.append(text[at:end])
            at = end
            continue
        parts.append(text[at : found.start()])
        parts.append("" if name in _INLINE else "\n")
        at = end
    parts.append(text[at:])
    return html.unescape("".join(parts)).replace("\xa0", " ").strip()


def plain_texts(texts: Sequence[str]) -> tuple[list[str], int]:
    """Return texts without HTML, and the number of those that had some."""
    plain = [without_html(text) for text in texts]
    return plain, sum(new is not old for new, old in zip(plain, texts, strict=True))


def _is_sure(closed: str | None, opened: str | None, attributes: str | None) -> bool:
    return _name(closed or opened or "") in _NAMES if closed or attributes else opened in _TELLING


def _name(found: str) -> str:
    """Return the name of an element; those of JATS, the markup of publishers, without their prefix."""
    name = found.lower().removeprefix("jats:")
    return name if name in _NAMES or name == found.lower() else "p"
