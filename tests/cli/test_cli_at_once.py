"""Commands that read a model, change it and save it, while another process does the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cli_running import Result, fit_small, run, write_rows

import tagtopics as tt
from tagtopics.cli import update
from tagtopics.cli.sources import load_with_documents
from tagtopics.curation import commands as curate

REFUSED = "the model was changed by another process since it was read; run the command again"
PAIRS = int(os.environ.get("TAGTOPICS_EDIT_PAIRS", "2"))
"""Pairs of edits at the same time, of each kind; `make crash` tries 20."""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    fit_small(folder, name="m.tt")
    assert run("curate", folder / "m.tt", "rename", 2, "before").code == 0
    for name in ("a", "b"):
        rows = [
            {"id": f"{name}{i}", "text": "granite basalt quartz lava", "tags": ["rocks"]} for i in range(4)
        ]
        write_rows(folder / f"{name}.jsonl", rows)
    return folder


@pytest.fixture
def folder(fitted: Path, tmp_path: Path) -> Path:
    """A folder with a model of one's own, and new documents."""
    return shutil.copytree(fitted, tmp_path / "here")


def edits(model: Path) -> set[str]:
    """Return the names of topics of a model, and the first letters of the ids of its documents."""
    loaded: Any = tt.load(model)
    names = {topic.name for topic in loaded.curation_.topics if topic.name}
    return names | {name[0] for name in loaded.doc_ids_ if name[:-1] in ("a", "b")}


def run_after_another(folder: Path, other: str, *arguments: object) -> Result:
    """Run a command; when it has read its model, another one renames a topic of the model `other`."""

    def load(path: str) -> Any:
        loaded = load_with_documents(path)
        with mock.patch.object(curate, "load_with_documents", load_with_documents):
            assert run("curate", folder / "m.tt", "rename", 1, "other", "--out", folder / other).code == 0
        return loaded

    with (
        mock.patch.object(curate, "load_with_documents", load),
        mock.patch.object(update, "load_with_documents", load),
    ):
        return run(*arguments)


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("curate", ("rename", 0, "a")),
        ("curate", ("merge", 0, 1)),
        ("curate", ("undo",)),
        ("curate", ("replay",)),
        ("update", ("a.jsonl",)),
    ],
)
@pytest.mark.parametrize("other", ["m.tt", "out.tt"])
def test_a_change_of_another_process_is_never_undone(
    folder: Path, command: str, more: tuple[object, ...], other: str
) -> None:
    arguments = [folder / str(word) if str(word).endswith(".jsonl") else word for word in more]
    out = () if other == "m.tt" else ("--out", folder / other)
    result = run_after_another(folder, other, command, folder / "m.tt", *arguments, *out)
    assert result.code == 2
    assert result.err.splitlines()[-1].endswith(REFUSED)
    assert str(folder / other) in result.err
    assert edits(folder / other) == {"before", "other"}
    again = run(command, folder / "m.tt", *arguments, *out)
    assert again.code == 0, again.err


def test_a_change_of_another_model_is_no_matter(folder: Path) -> None:
    result = run_after_another(folder, "out.tt", "curate", folder / "m.tt", "rename", 0, "a")
    assert result.code == 0
    assert edits(folder / "m.tt") == {"a", "before"}
    assert edits(folder / "out.tt") == {"other", "before"}


COMMANDS = {"rename": ("curate", "m.tt", "rename"), "update": ("update", "m.tt")}


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("rename", "rename"), ("update", "update"), ("rename", "update")])
def test_edits_at_the_same_time_are_kept_or_refused(folder: Path, kinds: tuple[str, str]) -> None:
    null, line = subprocess.DEVNULL, [sys.executable, "-c", "from tagtopics.cli import command; command()"]
    what = {"rename": (("0", "a"), ("1", "b")), "update": (("a.jsonl",), ("b.jsonl",))}
    for pair in range(PAIRS):
        model = shutil.copytree(folder / "m.tt", folder / str(pair) / "m.tt")
        running = []
        for i, kind in enumerate(kinds):
            more = [str(folder / word) if word.endswith(".jsonl") else word for word in what[kind][i]]
            command = [*line, *COMMANDS[kind], *more]
            running.append(
                subprocess.Popen(command, cwd=model.parent, stdout=null, stderr=subprocess.PIPE, text=True)
            )
        told = [process.communicate()[1] for process in running]
        codes = [process.returncode for process in running]
        kept = edits(model) - {"before"}
        assert 0 in codes
        for name, code, err in zip("ab", codes, told, strict=True):
            assert (code == 0 and name in kept) or (code == 2 and REFUSED in err), (codes, kept, told)
        assert os.listdir(model.parent) == ["m.tt"]
