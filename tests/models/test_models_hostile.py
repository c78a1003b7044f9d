"""Model folders whose digests are right and whose content is not: what the fuzz campaigns have found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from tagtopics._io import digest_bytes, digest_file


@pytest.fixture(scope="module")
def model() -> tt.TTM:
    corpus = tt.make_tagged_corpus(n_docs=24, n_words=60, n_topics=6, n_tags=10, seed=1).corpus
    return tt.TTM(3, max_iter=2, random_state=0, n_jobs=1).fit(corpus)


def changed(folder: Path, change: Callable[[Any, Any], None]) -> None:
    """Change the description and the arrays of a model, and mend all digests."""
    description = json.loads((folder / "model.json").read_text("utf-8"))
    arrays = load_file(folder / "arrays.safetensors")
    change(description, arrays)
    save_file(arrays, folder / "arrays.safetensors")
    for name in description["files"]:
        description["files"][name] = digest_file(folder / name)
    text = json.dumps(description | {"digest": "0" * 64}, indent=1)
    (folder / "model.json").write_text(text.replace("0" * 64, digest_bytes(text.encode()), 1), "utf-8")


def _enormous(description: Any, arrays: Any) -> None:
    text = json.dumps(description)
    description |= json.loads(text.replace('"known.joint": ', '"known.joint": 1e308, "unused": ', 1))


def _integers(description: Any, arrays: Any) -> None:
    arrays["recommender.tags.data"] = arrays["recommender.tags.data"].astype(np.int8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_enormous, r"known\.joint must be a number from 0 to 1e\+12, not 1e\+308"),
        (_integers, "tags holds int8, not float32"),
    ],
)
def test_values_that_would_overflow_or_fail_later_are_refused(
    model: tt.TTM, tmp_path: Path, change: Callable[[Any, Any], None], message: str
) -> None:
    model.save(tmp_path / "m.tt")
    changed(tmp_path / "m.tt", lambda description, arrays: None)
    tt.load(tmp_path / "m.tt")
    changed(tmp_path / "m.tt", change)
    with pytest.raises(tt.InputError, match=message):
        tt.load(tmp_path / "m.tt")
