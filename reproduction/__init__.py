"""Measurements and the pages about them: the paper's experiments, and comparisons with other programs.

`python -m reproduction` runs the paper's experiments. Each folder measures one subject; its modules run as
`python -m reproduction.FOLDER.MODULE`, from the root of the repository.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "reproduction" / "pages"
RECORDS = ROOT / "reproduction" / "records"
