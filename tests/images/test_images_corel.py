"""The paper's photographs, where they are: the paper's numbers, and the counts that lie beside the pixels."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from images_support import small_vocabulary

import tagtopics as tt
from reproduction.photos import build_corel_from_pixels

pytestmark = pytest.mark.real_data
N = 40


@pytest.fixture
def corel(data_directory: Path) -> Path:
    folder = data_directory / "corel5k-images"
    if not (folder / "images").is_dir():
        pytest.skip("no Corel photographs here")
    return folder


def paths(corel: Path) -> list[Path]:
    names = (corel / "ids.txt").read_text().split()
    return [corel / "images" / f"{name}.jpeg" for name in names[:: len(names) // N][:N]]


def test_with_the_stored_codebooks_come_the_stored_counts(corel: Path) -> None:
    """A few tiles are ties in single precision; all others must agree."""
    visual = tt.VisualVocabulary().fit(paths(corel)[:4])
    with np.load(corel / "codebook.npz") as stored:
        visual.codebooks_ = (stored["achromatic"], stored["chromatic"])
    visual.vocabulary_ = visual._names()
    stored_counts = sp.load_npz(corel / "words.npz").tocsr()
    step = stored_counts.shape[0] // N
    wanted = stored_counts[::step][:N]
    found = visual.transform(paths(corel))
    assert (found.sum(1) == 11_970).all()
    assert abs(found - wanted).sum() <= 2 * N


def test_corel_is_built_from_its_pixels(corel: Path, tmp_path: Path) -> None:
    """Some photographs in a folder of the same layout."""
    chosen = paths(corel)
    names = [path.stem for path in chosen]
    (tmp_path / "images").mkdir()
    for path in chosen:
        shutil.copy(path, tmp_path / "images")
    rng = np.random.default_rng(0)
    sp.save_npz(tmp_path / "words.npz", sp.csr_array(rng.integers(1, 5, (N, 3))))
    sp.save_npz(tmp_path / "tags.npz", sp.csr_array(np.ones((N, 1), dtype=int)))
    texts = {
        "vocab": "a\nb\nc",
        "tags": "x",
        "ids": "\n".join(names),
        "split": "\n".join(["train"] * 30 + ["test"] * 10),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text + "\n")
    corpus = build_corel_from_pixels(tmp_path)
    assert corpus.n_words == 128
    assert (corpus.counts.sum(1) == 11_970).all()
    assert corpus.split is not None
    assert corpus.split.count("test") == 10
    assert 70 < corpus.statistics["words_per_doc"] < 110


def test_the_pixels_must_be_there(tmp_path: Path) -> None:
    corpus = tt.read_corpus(np.ones((2, 2), dtype=int), tags=[["a"], ["b"]])
    tt.write_matrix_folder(corpus, tmp_path / "m")
    with pytest.raises(tt.InputError, match="no images/"):
        build_corel_from_pixels(tmp_path / "m", small_vocabulary())
