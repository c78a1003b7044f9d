"""Table III from photographs on: a few generated ones in the layout of C5K."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image
from scenes import make_scenes

import tagtopics as tt
from reproduction.photos import PIXELS, photo_folder, with_pixel_counts
from reproduction.run import load_corpus, run_one
from reproduction.spec import chosen, full_grid
from tagtopics.errors import InputError

N = 24


@pytest.fixture(scope="module")
def corel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of data sets with small photographs under the name of C5K."""
    directory = tmp_path_factory.mktemp("data")
    folder = directory / "corel5k-images"
    (folder / "images").mkdir(parents=True)
    scenes = make_scenes(N, seed=5)
    names = sorted({tag for scene in scenes for tag in scene.tags})
    tags = np.array([[name in scene.tags for name in names] for scene in scenes], dtype=np.int8)
    for i, scene in enumerate(scenes):
        Image.fromarray(scene.pixels).save(folder / "images" / f"p{i}.jpeg")
    sp.save_npz(folder / "words.npz", sp.csr_array(np.ones((N, 2), dtype=np.int32)))
    sp.save_npz(folder / "tags.npz", sp.csr_array(tags))
    files = {"vocab": ["a", "b"], "tags": names, "ids": [f"p{i}" for i in range(N)]}
    files["split"] = ["test" if i % 4 == 3 else "train" for i in range(N)]
    for name, lines in files.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return directory


def test_table_three_is_measured_from_photographs_on(
    corel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAGTOPICS_DATA", str(corel))
    specs = with_pixel_counts(chosen(full_grid(), ["corel5k", "statistics/cora"]), tmp_path)
    assert {spec.dataset for spec in specs} == {PIXELS, "cora"}
    rows = {(spec.model, spec.system): spec for spec in specs if spec.task == "recommendation"}
    assert set(rows) >= {("ttm-h", "best"), ("ttm-h", "two-stage"), ("ttm-p", "two-stage"),
                         ("llda", "scores"), ("sml", "photographs")}  # fmt: skip
    spec = rows["sml", "photographs"]
    corpus = load_corpus(spec, tmp_path)
    assert corpus.n_words > 2  # counted from pixels, not those of the folder
    one, two = (run_one(spec, corpus, n_threads=n).metrics for n in (1, 2))
    assert one == two
    assert one["precision_at_1"] > 0.3  # twelve materials, three or four a scene
    written = tt.read_corpus(tmp_path / PIXELS)
    assert with_pixel_counts(specs, tmp_path)  # goes on from what is there
    assert (tt.read_corpus(tmp_path / PIXELS).counts != written.counts).nnz == 0


def test_without_photographs_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGTOPICS_DATA", raising=False)
    with pytest.raises(InputError, match="need the photos"):
        photo_folder()
    monkeypatch.setenv("TAGTOPICS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="set TAGTOPICS_DATA"):
        with_pixel_counts(full_grid(), tmp_path / "own")
    assert not (tmp_path / "own").exists()
