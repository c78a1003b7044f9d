"""Folders of images as corpora: where tags come from, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from images_support import photograph, small_vocabulary
from PIL import Image

import tagtopics as tt
from tagtopics.corpus.core import Corpus

NAMES = ("a.png", "b.jpg", "c.webp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(NAMES):
        Image.fromarray(photograph(seed=seed)).save(tmp_path / name)
    return tmp_path


def read(folder: Path, tags: Any = None, **more: Any) -> Corpus:
    return tt.read_corpus(folder, tags=tags, visual=small_vocabulary(), **more)


def tags_of(corpus: Corpus) -> list[tuple[str, ...]]:
    return [corpus.tags_of(d) for d in range(corpus.n_docs)]


WANTED = [("sea", "sky"), ("sky",), ("fog",)]
JSON_LINES = """
{"id": "a", "tags": ["sea", "sky"]}
{"id": "b", "tags": ["sky"]}
{"id": "c", "tags": "fog"}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tags.csv", "image,tags\na.png,sky;sea\nb.jpg,sky\nc.webp,fog\n"),
        ("tags.csv", "file,tag\na,sky\na,sea\nb,sky\nc,fog\n"),
        ("tags.tsv", "filename\tkeywords\n./a.png\tsky, sea\nb.jpg\tsky\nc.webp\tfog\n"),
        ("tags.json", json.dumps({"a.png": ["sky", "sea"], "b.jpg": "sky", "c.webp": {"tags": ["fog"]}})),
        ("tags.json", json.dumps([{"image": n, "tags": t} for n, t in zip(NAMES, WANTED, strict=True)])),
        ("tags.jsonl", JSON_LINES),
    ],
)  # fmt: skip
def test_a_file_of_tags_is_found(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    corpus = read(folder)
    assert corpus.ids == NAMES
    assert tags_of(corpus) == WANTED
    assert tags_of(read(folder, tags=name)) == WANTED
    assert tags_of(read(folder, tags=folder / name)) == WANTED


def test_labels_and_split_come_with_the_tags(folder: Path) -> None:
    (folder / "tags.csv").write_text("image,tags,label,split,cd\na,x,l,train,1\nb,x,m,test,2\nc,y,,train,1\n")
    corpus = read(folder)
    assert corpus.labels == ("l", "m", None)
    assert corpus.split == ("train", "test", "train")
    assert read(folder, label="cd").labels == ("1", "2", "1")


def test_sub_folders_are_tags(folder: Path) -> None:
    for name, where in zip(NAMES, ("beach/sunny", "beach", "hills"), strict=True):
        (folder / where).mkdir(parents=True, exist_ok=True)
        (folder / name).rename(folder / where / name)
    corpus = read(folder)
    assert corpus.ids == ("beach/b.jpg", "beach/sunny/a.png", "hills/c.webp")
    assert tags_of(corpus) == [("beach",), ("beach", "sunny"), ("hills",)]
    assert tags_of(read(folder, tags="folders")) == tags_of(corpus)


def test_tags_are_a_file_or_folders(folder: Path) -> None:
    with pytest.raises(tt.InputError, match="give a file or 'folders'"):
        read(folder, tags=[["sky"], ["sky"], ["fog"]])


def test_equal_stems_are_told_apart_by_their_paths(folder: Path) -> None:
    Image.fromarray(photograph()).save(folder / "a.jpg")
    (folder / "tags.csv").write_text("image,tags\na,nowhere\na.jpg,one\na.png,two\nb,x\nc,x\n")
    with pytest.warns(tt.CorpusWarning, match="names 1 image"):
        assert tags_of(read(folder))[:2] == [("one",), ("two",)]


def test_hidden_files_and_folders_are_left_alone(folder: Path) -> None:
    (folder / "._a.png").write_bytes(b"Mac")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "d.png").write_bytes(b"x")
    (folder / "readme.txt").write_text("hello")
    assert read(folder).ids == NAMES


def test_one_image_is_a_corpus_of_one(folder: Path) -> None:
    corpus = read(folder / "a.png")
    assert corpus.ids == ("a.png",)
    assert corpus.counts.sum() > 10_000


def test_a_matrix_folder_with_images_stays_one(folder: Path) -> None:
    corpus = read(folder)
    tt.write_matrix_folder(corpus, folder / "out")
    Image.fromarray(photograph()).save(folder / "out" / "d.png")
    again = tt.read_corpus(folder / "out")
    assert np.array_equal(again.counts.toarray(), corpus.counts.toarray())


def test_the_corpus_keeps_its_vocabulary_through_a_selection(folder: Path) -> None:
    corpus = read(folder)
    assert corpus.select([0]).visual is corpus.visual
