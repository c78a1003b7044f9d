"""A fit in progress, on disk: killed at any moment, it goes on from its last whole sweep to the same bits.

run.json                    what is being fitted, to what: a run goes on only with the same
sums-00012.safetensors      the sums after sweep 12
checkpoint.json             which sweep is the last whole one, its checksum, and the history; moved into place
parts/                      the state of the documents; see `keeping`
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from tagtopics.errors import InputError
from tagtopics.graph import Priors, Sums
from tagtopics.inference.callbacks import Watcher, check_identity
from tagtopics.inference.checksums import checksum
from tagtopics.inference.loop import Step
from tagtopics.scale.keeping import Keeper
from tagtopics.scale.sharded import ShardedBelief

_RUN, _CHECKPOINT = "run.json", "checkpoint.json"
_OURS = re.compile(r"(run|checkpoint)\.json(\.part)?|sums-\d+\.safetensors|parts")


class Run(Watcher[ShardedBelief]):
    """The folder of a fit in progress; as a callback of the loop, it makes every sweep a checkpoint.

    Args:
        folder: where; made if it is not there.
        identity: what is being fitted; JSON.
        resume: go on with what is there. Without, a folder that holds a run is refused.
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = Path(folder)
        self.history: list[Step] = []
        self.start: tuple[ShardedBelief, list[Step]] | None = None
        if resume and (self.folder / _RUN).is_file():
            self._check(identity)
            self._read()
        else:
            self._begin(identity)
        self.keeper = Keeper(self.folder / "parts")

    def on_iteration(self, step: Step, state: ShardedBelief) -> bool:
        """Write down a sweep: first its sums, then that it is whole; then forget the one before."""
        self.history.append(step)
        sums = self.folder / f"sums-{state.sweep:05d}.safetensors"
        arrays = {**state.sums._asdict(), "past_words": state.past_words, "alpha": state.priors.doc_topic}
        record = {
            "sweep": state.sweep,
            "checksum": checksum(*arrays.values()),
            "priors": state.priors._asdict() | {"doc_topic": None},
            "history": [tuple(step) for step in self.history],
        }
        try:
            save_file(arrays, sums)
            _put(record, self.folder / _CHECKPOINT)
        except (OSError, SafetensorError) as error:
            raise InputError(
                f"{self.folder}: cannot be written ({error}); sweep {state.sweep - 1} is kept: make room and "
                "go on with --resume"
            ) from None
        self.keeper.forget(state.sweep)
        for old in self.folder.glob("sums-*.safetensors"):
            if old != sums:
                old.unlink(missing_ok=True)
        return False

    def _begin(self, identity: Mapping[str, Any]) -> None:
        if (self.folder / _RUN).is_file():
            raise InputError(f"{self.folder}: holds an unfinished fit; go on with --resume, or remove it")
        others = [path.name for path in _listed(self.folder) if not _OURS.fullmatch(path.name)]
        if others:
            raise InputError(f"{self.folder}: is no folder of a fit, it holds {min(others)!r}; name another")
        shutil.rmtree(self.folder, ignore_errors=True)  # left by a run that was killed as it began or ended
        self.folder.mkdir(parents=True)
        _put(identity, self.folder / _RUN)

    def _check(self, identity: Mapping[str, Any]) -> None:
        found = _get(self.folder / _RUN)
        if not isinstance(found, dict):
            raise InputError(f"{self.folder / _RUN}: damaged; remove {self.folder} and begin anew")
        check_identity(found, identity, str(self.folder))

    def _read(self) -> None:
        """Read the last whole sweep, if there is one."""
        if not (self.folder / _CHECKPOINT).is_file():
            return
        try:
            record = _get(self.folder / _CHECKPOINT)
            sweep = int(record["sweep"])
            arrays = load_file(self.folder / f"sums-{sweep:05d}.safetensors")
            self.history = [Step(*step) for step in record["history"]]
            past, alpha = arrays.pop("past_words"), arrays.pop("alpha")
            sums, priors = Sums(**arrays), Priors(**(record["priors"] | {"doc_topic": alpha}))
            if checksum(*sums, past, alpha) != record["checksum"]:
                raise ValueError("its checksum differs")
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{self.folder}: damaged ({error}); remove it and begin anew") from None
        self.start = ShardedBelief(sweep, sums, past, priors), list(self.history)


def remove_run(folder: str | Path) -> None:
    """Clear away the folder of a fit whose model is saved."""
    (Path(folder) / _RUN).unlink(missing_ok=True)  # first, so that a kill on the way leaves no run behind
    shutil.rmtree(folder, ignore_errors=True)


def _listed(folder: Path) -> list[Path]:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a folder for the fit")
    return list(folder.iterdir()) if folder.exists() else []


def _put(value: Any, path: Path) -> None:
    fresh = path.with_name(f"{path.name}.part")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({"value": value, "sha256": _digest(value)}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def _get(path: Path) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["sha256"] != _digest(found["value"]):
            raise ValueError("its checksum differs")
        return found["value"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove the folder and begin anew") from None


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
