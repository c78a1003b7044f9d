"""Check that CITATION.cff, the conda recipe and CHANGELOG.md name the version of the package, and a tag too.

python scripts/check_release.py          # the files agree
python scripts/check_release.py v1.2.3   # and this is the tag to publish: the changelog gives its date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/tagtopics/__init__.py"
COPIES = {
    "CITATION.cff": r"^version: *(\S+)$",
    "recipe/recipe.yaml": r'^  version: *"(\S+)"$',
    "CHANGELOG.md": r"^## +(\S+)",
}
"""The other files that name the version, and where: the first match counts."""


def version_in(root: Path, name: str, pattern: str) -> str | None:
    """Return the version that a file names."""
    found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else None


def problems(root: Path, tag: str | None = None) -> list[str]:
    """Return what keeps this tree from being released, as one sentence each."""
    version = version_in(root, SOURCE, r'^__version__ = "(\S+)"$')
    found = [
        f"{name} does not name version {version} of {SOURCE}"
        for name, pattern in COPIES.items()
        if version_in(root, name, pattern) != version
    ]
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag {tag} is not v{version}")
    if tag is not None and not version_in(root, "CHANGELOG.md", rf"^## +{version} +- +(\d{{4}}-\d\d-\d\d)$"):
        found.append(f"CHANGELOG.md gives no date for {version}")
    return found


def main() -> int:
    """Report each problem on standard error; return 1 if there is one."""
    found = problems(ROOT, sys.argv[1] if len(sys.argv) > 1 else None)
    for line in found:
        sys.stderr.write(f"{line}\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
