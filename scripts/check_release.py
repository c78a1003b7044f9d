"""Check that pyproject.toml, CITATION.cff and CHANGELOG.md name one version, and that a tag names it too.

python scripts/check_release.py          # the files agree
python scripts/check_release.py v1.2.3   # and this is the tag to publish: the changelog gives its date
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def problems(root: Path, tag: str | None = None) -> list[str]:
    """Return what keeps this tree from being released, as one sentence each."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = re.search(r"^version: *(.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    entry = re.search(
        r"^## +(\S+) +- +(.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    found = []
    if not cited or cited[1].strip() != version:
        found.append(f"CITATION.cff does not name version {version} of pyproject.toml")
    if not entry or entry[1] != version:
        found.append(f"the first entry of CHANGELOG.md is not {version}")
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag {tag} is not v{version}")
    if tag is not None and entry and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", entry[2].strip()):
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
