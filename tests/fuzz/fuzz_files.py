"""Campaign over all kinds of files that other programs write: bytes are changed, then the file is read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))
from files_support import KINDS

Campaign = Callable[[int, Callable[[int], tuple[str, Callable[[], None]]], Path], dict[str, Any]]


def fuzz_files(
    campaign: Campaign, mutate: Callable[..., bytes], check: Callable[[tt.Corpus], None]
) -> Callable[..., dict[str, Any]]:
    """Return a campaign that changes a file of a random kind in each case."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        names = list(KINDS)
        targets = []
        for at, name in enumerate(names):
            folder = place / "seeds" / str(at)
            folder.mkdir(parents=True)
            target = KINDS[name].write(folder)
            targets.append(target.relative_to(place / "seeds"))
            if not name.startswith("Parquet"):  # polars cannot be forked
                tt.read_corpus(target, **KINDS[name].options)  # so that no case has to import its reader

        def one(_: int) -> tuple[str, Callable[[], None]]:
            at = int(rng.integers(0, len(names)))
            shutil.rmtree(place / "now", ignore_errors=True)
            shutil.copytree(place / "seeds" / str(at), place / "now" / str(at))
            files = sorted(path for path in (place / "now").rglob("*") if path.is_file())
            file = files[int(rng.integers(0, len(files)))]
            file.write_bytes(mutate(file.read_bytes(), rng))
            options = KINDS[names[at]].options
            return names[at], lambda: check(tt.read_corpus(place / "now" / targets[at], **options))

        return campaign(n, one, place)

    return run
