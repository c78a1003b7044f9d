"""Writing to disk: atomic, only over what is ours, leftovers removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagtopics import InputError
from tagtopics import files as _io
from tagtopics.files import (
    atomic_file,
    atomic_folder,
    check_target,
    digest_arrays,
    digest_file,
    sweep_leftovers,
)


def is_ours(path: Path) -> bool:
    return (path / "mark").is_file() if path.is_dir() else path.read_text() == "ours"


def fail_halfway(path: Path) -> None:
    path.write_text("half")
    raise RuntimeError("stop")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file"
    with atomic_file(target) as temporary:
        temporary.write_text("first")
        assert not target.exists()
    with pytest.raises(RuntimeError, match="stop"), atomic_file(target) as temporary:
        fail_halfway(temporary)
    assert target.read_text() == "first"
    assert os.listdir(target.parent) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    target, like = tmp_path / "file", tmp_path / "like"
    with atomic_file(target) as temporary:
        temporary.touch()
        assert temporary.parent.stat().st_mode & 0o077 == 0
    usual = target.stat().st_mode
    like.touch()
    like.chmod(0o440)
    assert usual & 0o777 not in (0o600, 0o400)
    for given, expected in [(None, 0o600), (like, 0o400)]:
        target.chmod(0o600)
        with atomic_file(target, like=given) as temporary:
            temporary.write_text("new")
        assert target.stat().st_mode & 0o777 == expected


def test_a_folder_is_exchanged(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    for content in ("first", "second"):
        with atomic_folder(target) as temporary:
            (temporary / "inner").mkdir()
            (temporary / "inner" / content).write_text(content)
    with pytest.raises(RuntimeError, match="stop"), atomic_folder(target) as temporary:
        fail_halfway(temporary / "third")
    assert [path.name for path in (target / "inner").iterdir()] == ["second"]
    assert os.listdir(tmp_path) == ["folder"]


def test_a_full_disk_is_the_users_to_know(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written .*No space"), atomic_file(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("foreign", ["folder", "file", "link"])
def test_what_is_not_ours_is_refused(tmp_path: Path, foreign: str) -> None:
    target = tmp_path / "out"
    if foreign == "folder":
        target.mkdir()
        (target / "thesis.tex").write_text("years of work")
    elif foreign == "file":
        target.write_text("years of work")
    else:
        (tmp_path / "elsewhere").write_text("ours")
        target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="not a model written by tagtopics"):
        check_target(target, "model", is_ours)


def test_what_is_ours_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("ours")
    (tmp_path / "other").write_text("theirs")
    assert check_target(tmp_path / "file", "report", is_ours) == tmp_path / "file"
    assert check_target(tmp_path / "other", "report", is_ours, overwrite=True) == tmp_path / "other"
    assert check_target(tmp_path / "a" / "b", "report", is_ours) == tmp_path / "a" / "b"
    with pytest.raises(InputError, match="is a file, not a folder"):
        check_target(tmp_path / "file" / "b", "report", is_ours)


def test_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    left = tmp_path / f".model.{dead.stdout.strip()}-0123abcd.tmp"
    left.mkdir()
    (left / "arrays").write_text("half")
    running = tmp_path / f".model.{os.getpid()}-0123abcd.tmp"
    other = tmp_path / f".another.{dead.stdout.strip()}-0123abcd.tmp"
    for path in (running, other):
        path.write_text("kept")
    sweep_leftovers(tmp_path / "model")
    assert not left.exists()
    assert running.exists()
    assert other.exists()


def test_digests_see_every_byte(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32)
    swapped = array[[1, 0, 2, 3, 4, 5]]
    digests = {digest_arrays(a) for a in (array, swapped, array.reshape(2, 3), array.view(np.int32))}
    assert len(digests) == 4
    assert digest_arrays(array) == digest_arrays(array.copy())
    (tmp_path / "file").write_bytes(b"abc")
    assert digest_file(tmp_path / "file").startswith("ba7816bf")


def test_without_an_exchange_a_killed_save_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_io, "_exchange", lambda left, right: False)
    target = tmp_path / "model"
    for content in ("first", "second"):
        with atomic_folder(target) as temporary:
            (temporary / content).write_text(content)
    assert [path.name for path in target.iterdir()] == ["second"]
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    target.rename(tmp_path / f".model.{dead.stdout.strip()}-0123abcd.old")
    sweep_leftovers(target)
    assert [path.name for path in target.iterdir()] == ["second"]
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="not a report"):
        check_target(tmp_path / "out", "report", is_ours, overwrite=True)
