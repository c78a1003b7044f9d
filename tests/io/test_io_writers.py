"""Every writer of the package: each is known here, and none overwrites what is not provably ours."""

from __future__ import annotations

import ast
import errno
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics import files
from tagtopics.bp import loop
from tagtopics.datasets.load import RemoteFile, fetch_dataset
from tagtopics.explore.record.heat_maps import TagMaps, write_maps
from tagtopics.files import check_target
from tagtopics.images.vocabulary import TileMap
from tagtopics.scale import fit_shards, shard_corpus

SOURCE = Path(tt.__file__).parent
CALLS = {
    "write_text", "write_bytes", "mkdir", "rename", "replace", "unlink", "rmdir", "rmtree", "remove", "savez",
    "savez_compressed", "save_npz", "save_file", "savefig", "to_csv", "to_parquet", "open_memmap", "copytree",
    "symlink_to", "touch", "ftruncate", "ZipFile", "GzipFile", "copy", "copyfile", "move", "save", "open",
}  # fmt: skip
"""Names of functions that may change files; reading ones of the same names are told apart below."""

KNOWN = {
    # The rule itself.
    "files.py": {"mkdir", "replace", "rename", "rmtree", "open", "unlink"},
    # Inside `atomic_file` or `atomic_folder`, after `check_target`.
    "corpus/write.py": {"write_text", "write_bytes", "open", "ZipFile", "GzipFile"},
    "datasets/load.py": {"mkdir"},
    "explore/report/html_report.py": {"write_bytes"},
    "scale/checkpoint.py": {"save_file"},
    "models/persistence.py": {"write_bytes", "write_text", "save", "mkdir"},
    "analysis/audit/changes.py": {"write_bytes"},
    "analysis/audit/rewrite.py": {"GzipFile", "open", "copytree"},
    "analysis/plots.py": {"savefig"},
    "explore/record/export.py": {"open", "write_text"},
    "scale/format.py": {"write_text"},
    "scale/writer.py": {"write_bytes", "save"},
    "explore/record/heat_maps.py": {"save", "savez_compressed"},
    # Folders of runs, which are checked first.
    "scale/shard_executor.py": {"rmtree", "unlink"},
    # Temporary folders of this process, the private cache of compiled code, the null device.
    "cli/app.py": {"open"},
    "datasets/commands.py": {"save"},  # a model
    "cli/fit.py": {"save"},
}
"""The calls of each file that change files."""


def changing_calls(path: Path) -> set[str]:
    """Return the names of the calls in a file that may change files."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in CALLS and not _is_harmless(name, node):
            found.add(name)
    return found


def _is_harmless(name: str, call: ast.Call) -> bool:
    """Tell reading, and functions of strings, arrays and dataclasses, from writing."""
    text = ast.unparse(call)
    if name == "open":
        return not any(mode in text for mode in ("'w", "'a", "'x", "O_CREAT", "O_WRONLY", "O_RDWR"))
    if name in ("ZipFile", "GzipFile"):
        return "'a'" not in text and "'w" not in text
    if name == "replace":
        return not text.startswith("os.")
    if name == "copy":
        return not text.startswith("shutil.")
    if name == "save":
        return "io.BytesIO" in text or "(file, 'JPEG'" in text
    return name == "remove" and not text.startswith("os.")


def test_every_writer_is_known() -> None:
    """A new call that changes files must be listed above, with how it is guarded."""
    found = {
        path.relative_to(SOURCE).as_posix(): changing_calls(path) for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {name: calls for name, calls in found.items() if calls} == KNOWN


def test_the_list_sees_a_new_writer(tmp_path: Path) -> None:
    for line in ("open('a', 'w')", "frame.to_csv(p)", "p.write_text(t)", "os.replace(a, b)", "os.remove(a)"):
        (tmp_path / "new.py").write_text(line)
        assert changing_calls(tmp_path / "new.py")


# -------------------------------------------------------------------------- every writer, foreign targets


def corpus() -> tt.Corpus:
    return tt.read_corpus([{"text": "red pie", "tags": ["a"]}, {"text": "blue sky", "tags": ["b"]}])


def maps() -> TagMaps:
    tiles = TileMap(np.zeros((8, 8, 3), np.uint8), np.zeros((1, 2, 2), np.int64), 4, 4)
    return TagMaps("photo.jpg", ("a",), np.ones((1, 2, 2), np.float32), tiles)


def shards(path: Path) -> Any:
    return shard_corpus(corpus(), path.with_name("shards"))


FILES: dict[str, Callable[[Path], Any]] = {
    "save": lambda path: tt.LDA(2, max_iter=1).fit(corpus()).save(path),
    "write_jsonl": lambda path: tt.write_jsonl(corpus(), path),
    "write_matrix_folder": lambda path: tt.write_matrix_folder(corpus(), path),
    "write_report": lambda path: tt.write_report(tt.LDA(2, max_iter=1).fit(corpus()), path),
    "shard_corpus": lambda path: shard_corpus(corpus(), path, overwrite=True),
    "run folder": lambda path: fit_shards(tt.LDA(2, max_iter=1, random_state=0), shards(path), path),
}


@pytest.mark.parametrize("writer", FILES)
def test_a_foreign_file_is_never_replaced(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if writer not in ("save", "write_report"):  # these get a model that is fitted already
        monkeypatch.setattr(loop, "run", lambda *a, **k: pytest.fail("the fit was started"))
    target = tmp_path / "target"
    target.write_text("years of work")
    with pytest.raises(tt.InputError):
        FILES[writer](target)
    assert target.read_text() == "years of work"
    target.unlink()
    target.mkdir()
    names = {"write_matrix_folder": "words.npz", "shard_corpus": "shard-00000.safetensors"}
    mine = target / names.get(writer, "thesis.tex")
    mine.write_text("years of work")
    with pytest.raises(tt.InputError):
        FILES[writer](target)
    assert mine.read_text() == "years of work"
    assert [path.name for path in target.iterdir()] == [mine.name]


def test_heat_maps_replace_files_only_if_asked(tmp_path: Path) -> None:
    (tmp_path / "photo-a.png").write_text("mine")
    with pytest.raises(tt.InputError, match=r"photo-a\.png: this file already exists; .* --overwrite"):
        write_maps(maps(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["photo-a.png"]
    assert len(write_maps(maps(), tmp_path, overwrite=True)) == 2


def test_json_lines_replace_a_file_only_if_asked(tmp_path: Path) -> None:
    path = tt.write_jsonl(corpus(), tmp_path / "a.jsonl")
    with pytest.raises(tt.InputError, match=r"a\.jsonl: this file already exists; .* overwrite=True"):
        tt.write_jsonl(corpus(), path)
    tt.write_jsonl(corpus(), path, overwrite=True)


def test_a_file_in_the_cache_that_is_not_ours_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path))
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "a.txt").write_text("mine")
    file = RemoteFile(role="counts", name="a.txt", address="https://localhost:1/a", size=1, sha256="0" * 64)
    entry: Any = SimpleNamespace(name="target", files=(file,))
    with pytest.raises(tt.InputError, match="its checksum differs"):
        fetch_dataset(entry)
    assert (tmp_path / "target" / "a.txt").read_text() == "mine"


def test_what_cannot_be_removed_is_not_moved_into_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporary folders inside a new folder would stay there; the next write would refuse to replace it."""
    monkeypatch.setattr(shutil, "rmtree", lambda *args, **options: None)
    shard_corpus(corpus(), tmp_path / "s")
    tt.LDA(2, max_iter=1).fit(corpus()).save(tmp_path / "m", corpus=corpus())
    moved = [path for name in "sm" for path in (tmp_path / name).rglob("*")]
    assert moved
    assert [path for path in moved if path.name.endswith(".tmp")] == []


def test_a_zip_archive_is_never_opened_to_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ZipFile` empties a file that it cannot open to append to; the error of the disk would be lost."""

    really_open = io.open

    def fail_to_append(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if "+" in mode and not mode.startswith("w"):
            raise OSError(28, "No space left on device")
        return really_open(file, mode, *args, **options)

    monkeypatch.setattr(io, "open", fail_to_append)
    tt.write_matrix_folder(corpus(), tmp_path / "c")
    monkeypatch.undo()
    assert tt.read_corpus(tmp_path / "c").n_docs == 2


# -------------------------------------------------------------------------- targets are checked before a fit


@pytest.fixture
def no_fit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> Any:
        raise AssertionError("the fit was started")

    for module in ("models.topics", "models.online", "bp.loop", "bp.learn_priors"):
        name = f"tagtopics.{module}.{'run' if module != 'bp.learn_priors' else 'choose_priors'}"
        monkeypatch.setattr(name, fail, raising=False)


def command(*arguments: str) -> int:
    from tagtopics.cli.app import run

    return run([*arguments, "--quiet"])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus, shards, a model, and things of the user, in it."""
    monkeypatch.chdir(tmp_path)
    tt.write_jsonl(corpus(), "c.jsonl")
    shard_corpus(corpus(), "c.shards")
    tt.LDA(2, max_iter=1, random_state=0).fit(corpus()).save("m.tt", corpus=corpus())
    Path("mine").mkdir()
    Path("mine/model.json").write_text("{}")
    Path("mine.md").write_text("mine")
    return tmp_path


FITS = {
    "out": ("fit", "c.jsonl", "--out", "mine"),
    "out, shards": ("fit", "c.shards", "--out", "mine"),
    "checkpoint, shards": ("fit", "c.shards", "--out", "new", "--checkpoint", "mine"),
    "one path for both": ("fit", "c.shards", "--out", "new", "--checkpoint", "new"),
    "checkpoint inside": ("fit", "c.shards", "--out", "m.tt", "--checkpoint", "m.tt/checkpoint"),
    "out inside": ("fit", "c.shards", "--out", "run/m.tt", "--checkpoint", "run"),
    "update": ("update", "m.tt", "c.jsonl", "--out", "mine"),
    "demo": ("demo", "--out", "mine"),
    "shard": ("shard", "c.jsonl", "--out", "mine"),
    "report": ("report", "m.tt", "--out", "mine.md"),
    "no folder": ("fit", "c.jsonl", "--out", "mine.md/m.tt"),
}


@pytest.mark.parametrize("case", FITS)
@pytest.mark.usefixtures("no_fit")
def test_no_fit_is_started_for_a_target_that_cannot_be_written(
    case: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert command(*FITS[case]) == 2
    assert capsys.readouterr().err.startswith("tagtopics: ")
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


FULL = {
    "fit": ("fit", "c.jsonl", "--out", "new"),
    "shards": ("fit", "c.shards", "--out", "new"),
    "update": ("update", "m.tt", "c.jsonl"),
}


@pytest.mark.parametrize("case", FULL)
@pytest.mark.usefixtures("no_fit")
def test_no_fit_is_started_on_a_full_disk(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Usage:
        free = 10

    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage)
    assert command(*FULL[case]) == 2
    assert "free some space" in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--vectors", "c.npy")])
def test_the_space_of_a_fit_is_not_underestimated(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words, tags = [f"word{i}" for i in range(400)], [f"tag{i}" for i in range(300)]
    rows = [
        {"text": " ".join(rng.choice(words, 40)), "tags": rng.choice(tags, 3, replace=False).tolist()}
        for _ in range(300)
    ]
    corpus = tt.read_corpus(rows)
    tt.write_jsonl(corpus, "c.jsonl")
    np.save("c.npy", corpus.tags.toarray())
    written, needed = [], []

    def watched(folder: Path, target: Path) -> None:
        written.append((folder / "arrays.safetensors").stat().st_size)
        put_in_place(folder, target)

    put_in_place = files._put_in_place
    monkeypatch.setattr(files, "_put_in_place", watched)
    monkeypatch.setattr("tagtopics.cli.fit.check_space", lambda path, n_bytes: needed.append(n_bytes))
    assert command("fit", "c.jsonl", "--topics", "5", "--iterations", "2", "--out", "m.tt", *more) == 0
    (whole,) = written
    recommender: Any = tt.load("m.tt").recommender_
    assert bool(recommender.with_vectors) == bool(more)
    assert whole < needed[0] < 3 * whole


def refuse(name: str, code: int) -> Callable[..., Any]:
    """Return a function that fails as the disk would."""

    def fail(*args: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code), name)

    return fail


TRIALS: dict[str, tuple[tuple[str, ...], tuple[str, int] | None, str]] = {
    "long name": (("fit", "c.jsonl", "--out", "n" * 240), None, "File name too long"),
    "long name, new folder": (("fit", "c.jsonl", "--out", f"new/{'n' * 240}"), None, "File name too long"),
    "long folder": (("fit", "c.jsonl", "--out", f"new/{'n' * 256}/m.tt"), None, "File name too long"),
    "long name, shards": (("fit", "c.shards", "--out", "n" * 233), None, "File name too long"),
    "long checkpoint": (("fit", "c.shards", "--checkpoint", "n" * 240), None, "File name too long"),
    "mount point": (("fit", "c.jsonl", "--out", "m.tt"), ("rename", errno.EBUSY), "name a folder inside it"),
    "mount point, update": (
        ("update", "m.tt", "c.jsonl"),
        ("rename", errno.EBUSY),
        "name a folder inside it",
    ),
    "read-only disk": (("fit", "c.jsonl", "--out", "new"), ("mkdir", errno.EROFS), "Read-only file system"),
    "read-only disk, curate": (
        ("curate", "m.tt", "rename", "0", "x"),
        ("mkdir", errno.EROFS),
        "Read-only file system",
    ),
    "no permission": (("fit", "c.jsonl", "--out", "new"), ("mkdir", errno.EACCES), "Permission denied"),
    "no space": (("fit", "c.jsonl", "--out", "new"), ("mkdir", errno.ENOSPC), "No space left"),
}


@pytest.mark.parametrize("case", TRIALS)
@pytest.mark.usefixtures("no_fit")
def test_no_fit_is_started_if_a_trial_fails(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, failing, message = TRIALS[case]
    before = {path: path.is_file() and path.read_bytes() for path in place.rglob("*")}
    if failing is not None:
        monkeypatch.setattr(os, failing[0], refuse(*failing))
    assert command(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "--out" in arguments or arguments[0] != "curate" or "--out" not in line
    assert {path: path.is_file() and path.read_bytes() for path in place.rglob("*")} == before


def test_a_trial_replaces_nothing(place: Path) -> None:
    before = (place / "m.tt" / "model.json").stat()
    (place / "empty").mkdir(mode=0o750)
    for _ in range(2):
        assert check_target("m.tt", "model", lambda _: True) == Path("m.tt")
        assert check_target("empty", "folder", lambda _: True) == Path("empty")
    assert (place / "m.tt" / "model.json").stat() == before
    assert (place / "empty").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in place.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("writer", ["write_jsonl", "write_matrix_folder"])
def test_a_disk_that_fails_last_does_not_claim_that_nothing_was_changed(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_for_the_parent(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), tmp_path.stat()):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail_for_the_parent)
    with pytest.raises(tt.InputError, match=r"target: is written, but the disk may lose it \(Input"):
        FILES[writer](tmp_path / "target")
    assert (
        tt.read_corpus(tmp_path / "target", format="jsonl" if writer == "write_jsonl" else None).n_docs == 2
    )
