"""Measurements and the pages about them: the paper's experiments, and comparisons with other programs.

`python -m reproduction` runs the paper's experiments. Each folder measures one subject; its modules run as
`python -m reproduction.FOLDER.MODULE`, from the root of the repository. `systems` has models that only these
experiments need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "reproduction" / "pages"
RECORDS = ROOT / "reproduction" / "records"


def probable_words(model: Any, n: int) -> list[list[tuple[str, float]]]:
    """Return for each topic its n most probable words with their probabilities, as the paper lists them."""
    from tagtopics.models.results import largest_weights

    return [largest_weights(model.vocabulary_, topic, n) for topic in model.components_]
