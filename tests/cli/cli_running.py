"""Runs the command in this process, the way the shell would, and a small corpus to run it on."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from tagtopics.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


def run(*arguments: object, stdin: bytes = b"") -> Result:
    """Run `tagtopics` with some arguments."""
    out, err = io.StringIO(), io.StringIO()
    pipe = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.stdin", pipe):
        code = main([str(argument) for argument in arguments])
    return Result(code, out.getvalue(), err.getvalue())


ROWS: list[dict[str, Any]] = [
    {
        "id": f"{subject}{i}",
        "text": f"{words} {words} note{i % 3}",
        "tags": [subject, "even" if i % 2 else "odd"],
    }
    for subject, words in (
        ("cooking", "bread oven flour butter dough bake yeast sugar"),
        ("sailing", "boat wind sail harbour anchor mast wave rope"),
        ("music", "violin melody rhythm concert piano chord tune singer"),
    )
    for i in range(6)
]
"""Eighteen documents about three things."""


def write_rows(path: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    """Write documents as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in (ROWS if rows is None else rows)))
    return path


def fit_small(folder: Path, *options: object, name: str = "model.tt") -> Path:
    """Fit a model of three topics to the small corpus."""
    source = write_rows(folder / "corpus.jsonl")
    out = folder / name
    result = run("fit", source, "--topics", 3, "--iterations", 15, "--out", out, *options)
    assert result.code == 0, result.err
    return out


FIT = ("--topics", 3, "--iterations", 8, "--tolerance", 0, "--seed", 3)
"""Options of a short fit to shards."""


def shard_small(folder: Path) -> Path:
    """Write shards of the small corpus."""
    shards = folder / "shards"
    assert run("shard", write_rows(folder / "a.jsonl"), "--out", shards, "--shard-edges", 40).code == 0
    return shards


def arrays(model: Path) -> bytes:
    """Return the learned arrays of a saved model, as bytes."""
    return (model / "arrays.safetensors").read_bytes()
