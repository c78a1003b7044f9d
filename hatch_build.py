"""Build hook: the README as the package index shows it, with links that work outside the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?![a-z]+:|#)([^)\s]+)")


def absolute_links(text: str, source: str, version: str) -> str:
    """Return Markdown text whose relative links and images lead to the tag of `version` in `source`."""

    def absolute(match: re.Match[str]) -> str:
        image, label, target = match.groups()
        return f"{image}{label}{source}/{'raw' if image else 'blob'}/v{version}/{target}"

    return _LINK.sub(absolute, text)


class ReadmeHook(MetadataHookInterface):
    """Sets `readme` in the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README with absolute links to `metadata`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute_links(text, metadata["urls"]["Source"], metadata["version"]),
        }
