"""Bad images of many kinds: each is named with its reason, and nothing else is lost."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from images_support import photograph, small_vocabulary
from PIL import Image

import tagtopics as tt
from tagtopics.corpus.core import Corpus


def encoded(kind: str, width: int = 48, height: int = 32) -> bytes:
    file = io.BytesIO()
    Image.fromarray(photograph(width, height)).save(file, kind)
    return file.getvalue()


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header claims a size that its few bytes never hold."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = png_chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + header + data + png_chunk(b"IEND", b"")


def png_with_text_bomb() -> bytes:
    good = encoded("PNG")
    bomb = png_chunk(b"zTXt", b"bomb\0\0" + zlib.compress(b"\0" * 80_000_000, 9))
    return good[:33] + bomb + good[33:]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def bmp_of_size(width: int, height: int) -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + header


def gif_of_size(width: int, height: int) -> bytes:
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0)
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + frame + b"\x02\x02\x4c\x01\x00;"


UNREADABLE: dict[str, tuple[str, bytes, str]] = {
    "truncated JPEG": ("bad.jpg", encoded("JPEG", 300, 200)[:900], "cannot be read as an image"),
    "truncated PNG": ("bad.png", encoded("PNG")[:400], "cannot be read as an image"),
    "truncated WebP": ("bad.webp", encoded("WEBP")[:60], "cannot be read as an image"),
    "truncated TIFF": ("bad.tiff", encoded("TIFF")[:120], "cannot be read as an image"),
    "truncated GIF": ("bad.gif", encoded("GIF")[:20], "cannot be read as an image"),
    "zero bytes": ("bad.jpg", b"", "the file is empty"),
    "one byte": ("bad.jpg", b"\xff", "not an image in a known format"),
    "JPEG start alone": ("bad.jpg", b"\xff\xd8\xff\xe0", "cannot be read as an image"),
    "text": ("bad.jpg", b"this is a shopping list\n" * 9, "not an image in a known format"),
    "web page": ("bad.png", b"<!doctype html><title>404</title>", "not an image in a known format"),
    "SVG": ("bad.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not an image in a known format"),
    "PostScript": (
        "bad.jpg",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        "not an image in a known",
    ),
    "PDF": ("bad.jpg", b"%PDF-1.7\n1 0 obj\n", "not an image in a known format"),
    "pickle": ("bad.jpg", pickle.dumps({"a": 1}), "not an image in a known format"),
    "gzip of a JPEG": ("bad.jpg", gzip.compress(encoded("JPEG"), mtime=0), "not an image in a known format"),
    "JPEG 2000": ("bad.jpg", encoded("JPEG2000"), "not an image in a known format"),
    "random bytes": ("bad.bmp", bytes(range(256)) * 8, "not an image in a known format"),
    "wrong checksum": ("bad.png", flipped(encoded("PNG"), 30), "cannot be read as an image"),
    "damaged pixels": ("bad.png", flipped(encoded("PNG"), 60), "cannot be read as an image"),
    "40,000 x 40,000 header": ("bad.png", png_of_size(40_000, 40_000), "larger than 89,478,485 pixels"),
    "12,000 x 12,000 header": ("bad.png", png_of_size(12_000, 12_000), "larger than 89,478,485 pixels"),
    "30,000 x 30,000 BMP": ("bad.bmp", bmp_of_size(30_000, 30_000), "larger than 89,478,485 pixels"),
    "65,535 x 65,535 GIF": ("bad.gif", gif_of_size(65_535, 65_535), "larger than 89,478,485 pixels"),
    "no width": ("bad.png", png_of_size(0, 32), "bad.png"),
    "text bomb in a PNG": ("bad.png", png_with_text_bomb(), "cannot be read as an image"),
    "1 x 1": ("bad.png", encoded("PNG", 1, 1), "1 x 1 pixels are too few"),
    "3 x 200": ("bad.png", encoded("PNG", 3, 200), "3 x 200 pixels are too few"),
    "steering name": ("b\x1b[31mad\n.jpg", b"x", "cannot be read as an image"),
}


def good_folder(folder: Path) -> Path:
    for i in range(2):
        Image.fromarray(photograph(seed=i)).save(folder / f"good{i}.png")
    (folder / "tags.csv").write_text("image,tags\ngood0.png,sea;sky\ngood1.png,sky\n")
    return folder


def read(folder: Path, tags: object = None, on_error: str = "skip") -> Corpus:
    visual = tt.VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=500, on_error=on_error, n_jobs=1)
    return tt.read_corpus(folder, tags=tags, visual=visual)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_image_is_named_and_skipped_or_refused(tmp_path: Path, kind: str) -> None:
    name, data, reason = UNREADABLE[kind]
    (good_folder(tmp_path) / name).write_bytes(data)
    with pytest.warns(tt.CorpusWarning, match="image skipped"):
        corpus = read(tmp_path)
    assert corpus.ids == ("good0.png", "good1.png")
    assert [corpus.tags_of(d) for d in range(2)] == [("sea", "sky"), ("sky",)]
    (line,) = [line for line in corpus.notices if line.startswith("image skipped")]
    assert reason in line
    assert "\n" not in line
    with pytest.raises(tt.InputError, match="ad"):
        read(tmp_path, on_error="raise")


def dangling(folder: Path) -> None:
    (folder / "bad.jpg").symlink_to(folder / "gone.jpg")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "bad.jpg")


def latin_name(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.jpg")).write_bytes(b"no image")


@pytest.mark.skipif(sys.platform != "linux", reason="names of bytes, pipes and links as Linux has them")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (dangling, "no such image"),
        (pipe, "is not a regular file"),
        (latin_name, r"caf\udce9.jpg"),
    ],
)
def test_odd_files_are_named_and_skipped(tmp_path: Path, make: Callable[[Path], None], reason: str) -> None:
    make(good_folder(tmp_path))
    with pytest.warns(tt.CorpusWarning, match="image skipped"):
        corpus = read(tmp_path)
    assert corpus.n_docs == 2
    assert any(reason in line for line in corpus.notices)


def test_a_name_that_is_no_utf8_belongs_to_a_good_image_too(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("names of bytes as Linux has them")
    good_folder(tmp_path)
    (tmp_path / os.fsdecode(b"caf\xe9.png")).write_bytes(encoded("PNG"))
    with pytest.warns(tt.CorpusWarning, match="without a line in tags.csv"):
        corpus = read(tmp_path)
    assert r"caf\udce9.png" in corpus.ids


BAD_TAGS: dict[str, tuple[str, bytes, str]] = {
    "no column of images": ("t.csv", b"a,tags\nx,y\n", "no column for the images; call it 'file'"),
    "no column of tags": ("t.csv", b"image,b\nx,y\n", "no column for the tags; call it 'tags'"),
    "empty": ("t.csv", b"", "the file is empty"),
    "broken JSON": ("t.json", b'{"good0.png": [', "not valid JSON"),
    "JSON of a number": ("t.json", b"17", "expected an object of images and their tags"),
    "JSON of strings": ("t.json", b'["sea"]', "expected an object of images and their tags"),
    "a tag that is an object": ("t.json", b'{"good0.png": [{"a": 1}]}', "must be a string or a number"),
    "a kind we do not know": ("t.xls", b"x", "tags of images come as .csv"),
}


@pytest.mark.parametrize("kind", BAD_TAGS)
def test_bad_files_of_tags_are_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    name, data, reason = BAD_TAGS[kind]
    (good_folder(tmp_path) / name).write_bytes(data)
    with pytest.raises(tt.InputError, match=reason) as caught:
        read(tmp_path, tags=tmp_path / name)
    assert "\n" not in str(caught.value)


def test_images_missing_from_the_tags_are_kept_and_named(tmp_path: Path) -> None:
    (good_folder(tmp_path) / "tags.csv").write_text("image,tags\ngood1.png,sky\n")
    with pytest.warns(tt.CorpusWarning, match=r"without a line in tags.csv, kept without tags: 'good0.png'"):
        corpus = read(tmp_path)
    assert [corpus.tags_of(d) for d in range(2)] == [(), ("sky",)]


def test_tags_of_missing_images_are_left_out_and_named(tmp_path: Path) -> None:
    with (good_folder(tmp_path) / "tags.csv").open("a") as file:
        file.write("gone.png,fog\n")
    with pytest.warns(tt.CorpusWarning, match=r"names 1 image\(s\) that cannot be found .*'gone.png'"):
        corpus = read(tmp_path)
    assert corpus.tag_names == ("sea", "sky")
    assert corpus.n_docs == 2


def test_a_missing_file_of_tags_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match=r"no such file: other.csv"):
        read(good_folder(tmp_path), tags="other.csv")


def test_a_folder_of_bad_images_alone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    with pytest.raises(tt.InputError, match=r"no image can be read; the first: .*a.jpg"):
        read(tmp_path)


def test_a_folder_without_images_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="no images in the folder"):
        tt.read_corpus(tmp_path, format="images")


def test_a_folder_named_like_an_image_does_no_harm(tmp_path: Path) -> None:
    (good_folder(tmp_path) / "album.jpg").mkdir()
    assert read(tmp_path).n_docs == 2


def test_skipped_images_keep_their_rows_in_transform() -> None:
    visual = small_vocabulary()
    with pytest.warns(tt.CorpusWarning, match=r"1 image\(s\) skipped: no such image: gone.jpg"):
        counts = visual.transform([photograph(), "gone.jpg", photograph()])
    totals = counts.sum(1)
    assert totals[1] == 0
    assert totals[0] == totals[2] > 10_000
