"""Kill or fail a writer at each of its system calls, and look at what is left.

The writers run in forked children of one process that has everything imported, with `shim.c` preloaded: a
crash point costs milliseconds, so all of them are tried. It runs as a program because of LD_PRELOAD:

    LD_PRELOAD=shim.so PYTHONPATH=. python tests/crash/crash_support.py WRITER FOLDER MOST

It prints one JSON document: how many crash points were tried, and what was wrong after any of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.scale.checkpoint import load_checkpoint

FAILURES = {"killed": 0, "disk full": errno.ENOSPC, "input/output error": errno.EIO}
_NEVER = 1 << 40


class Writer(NamedTuple):
    """How an output is written, and how it is read."""

    prepare: Callable[[Path], None]  # leaves the old state in a folder
    write: Callable[[Path], None]  # replaces it by the new one
    state: Callable[[Path], Any]  # reads what is there; raises where it cannot be read


def corpus(seed: int, n_docs: int = 30) -> tt.Corpus:
    """Return a small corpus."""
    return make_tagged_corpus(n_docs=n_docs, n_words=60, n_topics=6, n_tags=10, seed=seed).corpus


@cache
def fitted(seed: int) -> tt.TTM:
    """Return a model of the small corpus; fitted before the first fork, it costs its children nothing."""
    return tt.TTM(4, max_iter=2, random_state=seed, n_jobs=1).fit(corpus(seed))


def save(folder: Path, seed: int) -> None:
    """Save a model with its documents."""
    fitted(seed).save(folder / "m.tt", corpus=corpus(seed))


def model_state(folder: Path) -> Any:
    """Return what identifies a saved model, all parts of it."""
    from tagtopics.models.persistence import load_with_corpus

    model, documents = load_with_corpus(folder / "m.tt")
    assert documents is not None
    assert documents.ids == model.doc_ids_
    return round(float(model.topic_sums_[0]), 6), len(model.doc_ids_), int(documents.counts.sum())


def prepare_update(folder: Path) -> None:
    """Save a model, and documents to update it with."""
    save(folder, 0)
    tt.write_matrix_folder(corpus(1), folder / "more")


def update(folder: Path) -> None:
    """Run `tagtopics update`."""
    command("update", str(folder / "m.tt"), str(folder / "more"))


def checkpoint(folder: Path, max_iter: int) -> None:
    """Fit to shards, with a checkpoint after every sweep, or continue such a fit."""
    if not (folder / "shards").exists():
        shard(folder, 0)
    model = tt.TTM(4, max_iter=max_iter, tol=0.0, random_state=0, n_jobs=1)
    tt.fit_shards(model, folder / "shards", folder / "run", resume=True)


def checkpoint_state(folder: Path) -> Any:
    """Return which sweep a checkpoint holds; a damaged one raises."""
    return len(load_checkpoint(folder / "run" / "checkpoint.safetensors")[1])


def shard(folder: Path, seed: int) -> None:
    """Write shards, over older ones if there are any."""
    tt.shard_corpus(corpus(seed), folder / "shards", shard_edges=200, overwrite=True)


def shard_state(folder: Path) -> Any:
    """Return what identifies a folder of shards, every byte checked."""
    from tagtopics.scale import ShardFolder

    return int(ShardFolder.open(folder / "shards").corpus().counts.sum())


def report(folder: Path, seed: int) -> None:
    """Write a report, over an older one if there is one."""
    tt.write_report(fitted(seed), folder / "report.html", corpus=corpus(seed))


def report_state(folder: Path) -> Any:
    """Return a report that is whole."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    return hash(text)


def command(*arguments: str) -> None:
    """Run the command; exit code 2 is an `InputError`, 1 is a bug."""
    from tagtopics.cli.app import run

    code = run([*arguments, "--quiet"])
    if code == 2:
        raise tt.InputError("exit code 2")
    if code != 0:
        raise RuntimeError(f"exit code {code}")


WRITERS = {
    "save": Writer(lambda folder: save(folder, 0), lambda folder: save(folder, 1), model_state),
    "update": Writer(prepare_update, update, model_state),
    "checkpoint": Writer(
        lambda folder: checkpoint(folder, 2), lambda folder: checkpoint(folder, 3), checkpoint_state
    ),
    "shard": Writer(lambda folder: shard(folder, 0), lambda folder: shard(folder, 1), shard_state),
    "report": Writer(lambda folder: report(folder, 0), lambda folder: report(folder, 1), report_state),
}


def crash_points(writer: Writer, place: Path, most: int) -> dict[str, Any]:
    """Try at most N crash points of a writer, evenly spread; return their number, and what went wrong."""
    shim = ctypes.CDLL(None)
    shim.crash_count.restype = ctypes.c_long
    old = place / "old"
    old.mkdir(parents=True)
    writer.prepare(old)
    before = writer.state(old)
    with contextlib.redirect_stdout(io.StringIO()):
        writer.write(_copy(old, place / "now"))  # imports and compiles what no child has to
    new = _copy(old, place / "new")
    n_calls = _count(shim, writer, new)
    after = writer.state(new)
    expected = sorted(path.name for path in new.iterdir())
    points = [(name, at) for name in FAILURES for at in range(1, n_calls + 1)]
    chosen = points[:: max(1, -(-len(points) // most))]
    wrong = []
    for done, (name, at) in enumerate(chosen):
        if done % 10 == 0:
            sys.stderr.write(f"{done} of {len(chosen)}\n")
            sys.stderr.flush()
        folder = _copy(old, place / "now")
        code = _run(partial(shim.crash_arm, ctypes.c_long(at), ctypes.c_long(FAILURES[name])), writer, folder)
        faults, found = _faults(writer, folder, code, before, after)
        wrong += [f"{name} at call {at}: {line}" for line in faults]
        was_old = not faults and found == before
        code = _run(lambda: None, writer, folder)
        left = sorted(path.name for path in folder.iterdir())
        if code != 0 or left != expected or (was_old and writer.state(folder) != after):
            wrong.append(f"{name} at call {at}: the next run ended with {code}, leaving {left}")
    return {"calls": n_calls, "tried": len(chosen), "wrong": wrong}


def _faults(writer: Writer, folder: Path, code: int, before: Any, after: Any) -> tuple[list[str], Any]:
    """Return what is wrong after a crash, and the state that is left, None if it cannot be read."""
    wrong = [] if code in (0, 2, 137) else [f"the writer ended with {code}"]
    try:
        found = writer.state(folder)
    except Exception as error:
        return [*wrong, f"what is left cannot be read: {error}"], None
    if found not in (before, after):
        wrong.append("neither the old nor the new state is left")
    return wrong, found


def _count(shim: Any, writer: Writer, folder: Path) -> int:
    """Return how many calls a writer makes, counted in a child that writes to `folder`."""
    receive, send = os.pipe()

    def counted() -> None:
        shim.crash_arm(ctypes.c_long(_NEVER), ctypes.c_long(0))

    def tell() -> None:
        os.write(send, str(shim.crash_count()).encode())

    code = _run(counted, writer, folder, tell)
    assert code == 0, code
    return int(os.read(receive, 100))


def _run(
    arm: Callable[[], None], writer: Writer, folder: Path, then: Callable[[], None] = lambda: None
) -> int:
    """Write in a child; return 0, 2 for an input error, 4 for any other, 137 where it was killed."""
    child = os.fork()
    if child == 0:
        code = 0
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        arm()
        try:
            writer.write(folder)
        except tt.InputError:
            code = 2
        except BaseException:
            code = 4
        then()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return 137 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="raise")
    for seed in (0, 1):
        fitted(seed)
    sys.stdout.write(json.dumps(crash_points(WRITERS[sys.argv[1]], Path(sys.argv[2]), int(sys.argv[3]))))
