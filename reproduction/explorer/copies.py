"""Local copies of the scripts and styles that pages of other explorers load from elsewhere.

They come from npm packages; NPM_REGISTRY is the address of a server that has them.
"""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen


class Copies:
    """Answers requests of pages for scripts and styles elsewhere, from npm packages."""

    KNOWN = (
        (r"https://unpkg\.com/((?:@[^/]+/)?[^@/]+)@([^/]+)/(.+)", None),
        (r"https://cdn\.jsdelivr\.net/npm/((?:@[^/]+/)?[^@/]+)@([^/]+)/(.+)", None),
        (r"https://d3js\.org/d3\.v5\.(?:min\.)?js()()", ("d3", "5", "dist/d3.js")),
        (r"https://maxcdn\.bootstrapcdn\.com/(bootstrap)/([\d.]+)/(.+)", "dist/"),
        (r"https://maxcdn\.bootstrapcdn\.com/(font-awesome)/([\d.]+)/(.+)", ""),
    )

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.missing: list[str] = []

    def route(self, page: Any, *, offline: bool = False) -> None:
        """Answer the requests of a page; or, as without a network, refuse them."""
        page.route(re.compile(r"https://.*"), lambda route: self._answer(route, offline))

    def _answer(self, route: Any, offline: bool) -> None:
        url = route.request.url
        self.asked.append(url)
        content = None if offline else self._content(url.split("?")[0])
        if content is None:
            if not offline:
                self.missing.append(url)
            route.abort()
            return
        kind = "text/css" if url.endswith(".css") else "text/javascript"
        route.fulfill(body=content, content_type=kind, headers={"access-control-allow-origin": "*"})

    def _content(self, url: str) -> bytes | None:
        local = re.match(r"https://cdn\.jsdelivr\.net/gh/bmabey/pyLDAvis@[^/]+/pyLDAvis/js/([\w.-]+)$", url)
        if local:
            return (self.folder / "pyldavis-js" / local[1]).read_bytes()
        for pattern, change in self.KNOWN:
            if found := re.match(pattern, url):
                package, version, path = change if isinstance(change, tuple) else found.groups()[:3]
                return self._from_npm(package, version, f"{change if isinstance(change, str) else ''}{path}")
        return None

    def _from_npm(self, package: str, version: str, path: str) -> bytes | None:
        """Return a file of the newest version of a package that begins like the one asked for."""
        kept = self.folder / "npm" / f"{package.replace('/', '+')}@{version}" / path
        if not kept.exists():
            try:
                with urlopen(f"{os.environ['NPM_REGISTRY']}/{package}", timeout=60) as answer:
                    known = json.load(answer)
                wanted = known["dist-tags"].get(version, version)
                fitting = [v for v in known["versions"] if v == wanted or v.startswith(f"{wanted}.")]
                with urlopen(known["versions"][fitting[-1]]["dist"]["tarball"], timeout=120) as answer:
                    packed = io.BytesIO(answer.read())
                with tarfile.open(fileobj=packed) as archive:
                    member = archive.extractfile(f"package/{path}")
                    content = b"" if member is None else member.read()
            except (OSError, KeyError, IndexError):
                return None
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(content)
        return kept.read_bytes()
