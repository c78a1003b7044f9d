"""Writing to disk: atomic, only over what is ours, leftovers removed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

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


def leave(folder: Path, name: str, kind: str = "tmp") -> Path:
    """Leave an unfinished folder, as a killed writer does."""
    left = folder / f"{name}.{kind}"
    left.mkdir()
    (left / "arrays").write_text("half")
    return left


def test_leftovers_are_removed_whatever_their_pid(tmp_path: Path) -> None:
    """A process of that number may run here, and be another than the one that was killed elsewhere."""
    left = [leave(tmp_path, f".model.{pid}-0123abcd") for pid in (1, os.getpid(), 2**22 + 1)]
    (tmp_path / ".model.1-0123abcd.lock").touch()
    (tmp_path / ".model.7-0123abcd.lock").touch()
    other, foreign = leave(tmp_path, ".another.1-0123abcd"), leave(tmp_path, ".model.x-0123abcd")
    sweep_leftovers(tmp_path / "model")
    assert not any(place.exists() for place in left)
    assert {place.name for place in tmp_path.iterdir()} == {other.name, foreign.name}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_what_is_being_written_is_no_leftover(tmp_path: Path, write: Any) -> None:
    """Another process writes, whose PID says nothing: here it has the number of a process that has ended."""
    program = (
        "import os, sys; from tagtopics import files; os.getpid = lambda: 2**22 + 1\n"
        f"with files.{write.__name__}(sys.argv[1]) as place:\n"
        "    print('writing', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    (place if place.name == 'target' else place / 'inner').write_text('whole')\n"
    )
    target = tmp_path / "target"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        (written,) = tmp_path.glob(f".target.{2**22 + 1}-*.tmp")
        sweep_leftovers(target)
        assert written.is_dir()
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.wait() == 0
    assert (target if target.is_file() else target / "inner").read_text() == "whole"
    assert os.listdir(tmp_path) == ["target"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_without_locks_unfinished_folders_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    left = leave(tmp_path, ".model.1-0123abcd")
    sweep_leftovers(tmp_path / "model")
    assert left.is_dir()
    with atomic_folder(tmp_path / "model") as temporary:
        (temporary / "inner").write_text("written")
    assert sorted(place.name for place in tmp_path.iterdir()) == [left.name, "model"]


def test_a_folder_is_checked_while_it_cannot_be_replaced(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def check() -> None:
        inside.set()
        assert go_on.wait(60)
        order.append("first")

    def write(name: str, checked: Any) -> None:
        with atomic_folder(target, checked) as temporary:
            (temporary / name).write_text(name)

    first = threading.Thread(target=write, args=("first", check))
    second = threading.Thread(target=write, args=("second", lambda: order.append("second")))
    first.start()
    assert inside.wait(60)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    go_on.set()
    first.join(60)
    second.join(60)
    assert order == ["first", "second"]
    assert os.listdir(target) == ["second"]

    def refuse() -> None:
        raise InputError("changed")

    with pytest.raises(InputError, match="changed"):
        write("third", refuse)
    assert os.listdir(target) == ["second"]
    assert os.listdir(tmp_path) == ["folder"]


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
    target.rename(tmp_path / ".model.1-0123abcd.old")
    sweep_leftovers(target)
    assert [path.name for path in target.iterdir()] == ["second"]
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="not a report"):
        check_target(tmp_path / "out", "report", is_ours, overwrite=True)
