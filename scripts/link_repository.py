"""Hook of mkdocs: links of pages to files of the repository outside docs/ lead to its web site."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import Any

SOURCE = "https://github.com/tagtopics/tagtopics/blob/main"
_LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s]+)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page with absolute links to what is not in docs/."""
    return absolute_links(markdown, page.file.src_uri)


def absolute_links(text: str, place: str) -> str:
    """Return Markdown text with absolute links to what is not in docs/; `place` is its path there."""

    def absolute(match: re.Match[str]) -> str:
        target = normpath(join("docs", dirname(place), match[2]))
        return match[0] if target.startswith("docs/") else f"{match[1]}{SOURCE}/{target}"

    return _LINK.sub(absolute, text)
