"""Where cached code is: in a folder in which only the user can write."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import pytest

from tagtopics.files import cache_folder, code_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files on this system")
find_folder = code_folder.__wrapped__


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache in `cache`."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("TAGTOPICS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def name() -> str:
    return f"tagtopics-kernels-{os.geteuid()}"


def check_warning(message: str) -> None:
    """Check that there is no folder, and that a warning says why."""
    with pytest.warns(RuntimeWarning, match="not cached, so each run compiles it again") as shown:
        assert find_folder() is None
    assert len(shown) == 1
    assert message in str(shown[0].message)
    assert "set XDG_CACHE_HOME or NUMBA_CACHE_DIR" in str(shown[0].message)


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o000, 0o077])
def test_the_folder_is_private_and_apart_from_data(places: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            folder = find_folder()
            assert find_folder() == folder
    finally:
        os.umask(before)
    assert folder == places / "cache" / name()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder not in (cache_folder(), *cache_folder().parents)
    assert cache_folder() not in folder.parents


def test_a_folder_that_is_named_is_used(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(places / "named"))
    monkeypatch.setenv("TAGTOPICS_CACHE", str(places / "data"))
    assert find_folder() == places / "named" / name()
    assert cache_folder() == places / "data"


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("way", ["group", "all", "link", "owner", "file"])
def test_a_folder_that_others_could_fill_is_not_used(
    places: Path, monkeypatch: pytest.MonkeyPatch, variable: str, way: str
) -> None:
    monkeypatch.setenv(variable, str(places / "shared"))
    if way == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 12345)
    folder = places / "shared" / name()
    folder.parent.mkdir()
    if way == "link":
        (places / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(places / "elsewhere")
    elif way == "file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod({"group": 0o770, "all": 0o707, "owner": 0o700}[way])
    check_warning(str(folder))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives folders to other users")
def test_a_folder_of_another_user_is_not_used(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner could put another folder in the place of ours after it was checked."""
    (places / "theirs").mkdir(mode=0o777)
    os.chown(places / "theirs", 12345, -1)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(places / "theirs"))
    check_warning(name())


def test_without_a_home_nothing_is_kept_in_the_working_folder(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder `~` in the working folder is not the user's home; it may have been downloaded."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", dict[int, object]().__getitem__)  # no such user
    (places / "work" / "~" / ".cache").mkdir(parents=True)
    monkeypatch.chdir(places / "work")
    check_warning("~")
    assert places not in cache_folder().absolute().parents
    assert list((places / "work" / "~" / ".cache").iterdir()) == []
