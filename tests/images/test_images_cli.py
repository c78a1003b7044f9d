"""The command on images: fit on a folder, explain a photograph, say what is wrong."""

from __future__ import annotations

import atexit
import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from images_support import photograph
from PIL import Image
from scenes import make_scenes, write_scenes

from tagtopics.cli import main


def run(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def answer(*arguments: object) -> Any:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@lru_cache(maxsize=1)
def fitted() -> Path:
    """A folder with photographs, one of them broken, and the model that was fitted on it by the command."""
    folder = Path(mkdtemp(prefix="tagtopics-images-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_scenes(folder / "photos", make_scenes(30))
    (folder / "photos" / "broken.jpg").write_bytes(b"no image")
    code, out, err = run("fit", folder / "photos", "--topics", 16, "--out", folder / "m.tt")
    assert code == 0, err
    assert "broken.jpg: cannot be read as an image" in err
    assert "30 documents, 128 words, 12 tags" in out
    return folder


def test_a_photograph_is_explained_from_the_saved_model(tmp_path: Path) -> None:
    photo = fitted() / "photos" / "scene-0001.png"
    tags = [part for tag in ("night", "grass", "rock") for part in ("--image-tag", tag)]
    (row,) = answer("explain", fitted() / "m.tt", photo, *tags, "--out", tmp_path / "maps")["documents"]
    assert [tag["tag"] for tag in row["tags"]] == ["night", "grass", "rock"]
    assert sum(tag["share"] for tag in row["tags"]) == pytest.approx(1, abs=1e-3)
    assert all(Path(tag["map"]).is_file() for tag in row["tags"])
    assert Path(row["arrays"]).is_file()
    assert not row["recommended"]


def test_tags_are_recommended_where_none_are_named() -> None:
    code, out, err = run("explain", fitted() / "m.tt", fitted() / "photos" / "scene-0001.png")
    assert code == 0, err
    assert "recommended tags" in out


def test_a_folder_of_photographs_gets_a_map_for_each_tag(tmp_path: Path) -> None:
    scenes = make_scenes(2, seed=9)
    write_scenes(tmp_path / "new", scenes)
    rows = answer("explain", fitted() / "m.tt", tmp_path / "new", "--out", tmp_path / "maps")["documents"]
    assert [len(row["tags"]) for row in rows] == [len(scene.tags) for scene in scenes]
    assert len(list((tmp_path / "maps").glob("*.png"))) == sum(len(scene.tags) for scene in scenes)


def test_topics_of_photographs_are_named_by_tags_not_by_codes() -> None:
    model, photos = fitted() / "m.tt", fitted() / "photos"
    codes = [entry["word"] for entry in answer("topics", model)["topics"][0]["words"]]
    names = {row["name"] for row in answer("topics", model)["topics"]}
    for arguments in (("topics", model), ("tags", model), ("recommend", model, photos)):
        code, out, err = run(*arguments)
        assert code == 0, err
        assert not [code for code in codes if code in out]
    assert all(name.split(",")[0] in run("topics", model)[1] for name in names)


def test_tags_of_a_photograph_are_recommended_with_probabilities() -> None:
    photo = fitted() / "photos" / "scene-0000.png"
    (row,) = answer("recommend", fitted() / "m.tt", photo)["documents"]
    found = {tag["tag"] for tag in row["tags"]}
    assert len(found & {"sunset", "sand", "brick", "rock"}) >= 3


def test_related_photographs_are_found() -> None:
    rows = answer("related", fitted() / "m.tt", fitted() / "photos" / "scene-0004.png")["documents"]
    assert rows[0]["related"][0]["id"] == "scene-0004.png"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("explain", "{m}", "{p}/broken.jpg", "--image-tag", "sky"),
            "broken.jpg: cannot be read as an image",
        ),
        (("explain", "{m}", "{p}/scene-0000.png", "--image-tag", "skyy"), "did you mean 'sky'"),
        (
            ("explain", "{m}", "{p}/scene-0000.png", "--image-tag", "sky", "--out", "{p}/broken.jpg"),
            "broken.jpg",
        ),
        (("fit", "{p}", "--tags", "gone.csv", "--out", "{p}/no.tt"), "no such file: gone.csv"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    places = {"m": fitted() / "m.tt", "p": fitted() / "photos"}
    code, out, err = run(*(argument.format(**places) for argument in arguments))
    assert code == 2
    assert not out
    assert message in err
    assert err.strip().count("\n") == 0
    assert not (fitted() / "photos" / "no.tt").exists()


def test_a_model_of_text_refuses_images(tmp_path: Path) -> None:
    rows = [{"text": "boat wind sail wave", "tags": ["sea"]}, {"text": "bread oven flour", "tags": ["food"]}]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 4))
    assert run("fit", tmp_path / "c.jsonl", "--topics", 2, "--out", tmp_path / "m.tt")[0] == 0
    Image.fromarray(photograph()).save(tmp_path / "a.png")
    for command in (("explain", "--image-tag", "sea"), ("related",)):
        code, _, err = run(command[0], tmp_path / "m.tt", tmp_path / "a.png", *command[1:])
        assert code == 2
        assert "not fitted on images" in err
