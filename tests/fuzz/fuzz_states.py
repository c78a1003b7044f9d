"""Campaigns over what is restored: hostile checkpoints, run folders and shards, and single flipped bits.

A hostile file has the digests that belong to it, so that only the checks of its content are left. A flipped
bit ends well if the reader names it, or if what was read is the same to the last bit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from fuzz_models import save_model
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.files import BLANK, digest_file, seal
from tagtopics.models.persistence import load_with_corpus
from tagtopics.scale import ShardFolder, fit_shards, shard_corpus
from tagtopics.scale.checkpoint import FORMAT, read_arrays, write_arrays
from tagtopics.scale.format import COLUMNS, shard_name
from tagtopics.scale.shard_executor import STATE_FORMAT

_ODD: list[Any] = [None, -1, 0, 2, 1e308, 10**30, "", "lean", "shards", [], {}, [[]], True, float("inf")]


def corpus() -> tt.Corpus:
    """Return a small corpus."""
    return make_tagged_corpus(n_docs=24, n_words=60, n_topics=6, n_tags=10, seed=1).corpus


def model(max_iter: int) -> tt.TTM:
    """Return a model whose fit is interrupted, or continued with more sweeps."""
    return tt.TTM(3, max_iter=max_iter, tol=0.0, random_state=0, n_jobs=1)


def prepare(place: Path) -> None:
    """Leave a model, shards, and an unfinished fit to them, in a folder."""
    place.mkdir(parents=True)
    documents = corpus()
    save_model(place / "m.tt")
    shard_corpus(documents, place / "shards", shard_edges=150)
    fit_shards(model(2), place / "shards", place / "run")


def read_model(place: Path) -> Any:
    """Load a model with its documents."""
    loaded, documents = load_with_corpus(place / "m.tt")
    return vars(loaded), documents


def resumed(place: Path) -> Any:
    """Continue a fit to shards; what is learned must be finite."""
    return _finite(fit_shards(model(3), place / "shards", place / "run", resume=True))


def read_shards(place: Path) -> Any:
    """Read all shards."""
    folder = ShardFolder.open(place / "shards")
    documents = folder.corpus()
    return repr(folder.manifest), documents, folder.totals


def fitted_shards(place: Path) -> Any:
    """Read all shards and fit a model to them, which must be finite and can be saved and loaded."""
    read_shards(place)
    fitted = fit_shards(model(2), place / "shards", place / "new run")
    fitted.save(place / "new.tt")
    return _finite(tt.load(place / "new.tt"))


def _finite(fitted: Any) -> Any:
    assert np.isfinite(fitted.components_).all()
    assert np.isfinite(fitted.doc_topic_).all()
    return fitted.components_, fitted.doc_topic_


READERS: dict[str, Callable[[Path], Any]] = {
    "m.tt": read_model,
    "run": resumed,
    "shards": read_shards,
}


def _digest(value: Any) -> str:
    return str(joblib.hash(value))


def flipped(kinds: tuple[str, ...], campaign: Any) -> Callable[..., dict[str, Any]]:
    """Return a campaign that flips one bit of a file of these kinds, chosen at random, in each case."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        prepare(place / "seeds")
        shutil.copytree(place / "seeds", place / "now")
        whole = {kind: _digest(READERS[kind](place / "now")) for kind in kinds}

        def one(_: int) -> tuple[str, Callable[[], None]]:
            kind = kinds[int(rng.integers(0, len(kinds)))]
            shutil.rmtree(place / "now")
            shutil.copytree(place / "seeds", place / "now")
            root = place / "now" / kind
            files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
            sizes = np.array([path.stat().st_size for path in files], dtype=float)
            shares = 0.5 * sizes / sizes.sum() + 0.5 * (sizes > 0) / (sizes > 0).sum()
            path = files[int(rng.choice(len(files), p=shares))]
            content = bytearray(path.read_bytes())
            bit = int(rng.integers(0, 8 * len(content)))
            content[bit // 8] ^= 1 << (bit % 8)
            path.write_bytes(content)

            def case() -> None:
                found = _digest(READERS[kind](place / "now"))
                assert found == whole[kind], "another result, without an error"

            return f"{path.relative_to(place / 'now')}, bit {bit}", case

        found: dict[str, Any] = campaign(n, one, place)
        return found

    return run


def hostile(campaign: Any) -> Callable[..., dict[str, Any]]:
    """Return a campaign that changes a run folder or a shard, and mends its digest."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        prepare(place / "seeds")
        shutil.copytree(place / "seeds", place / "now")
        fitted_shards(place / "now")  # so that no case has to compile the kernels

        def one(_: int) -> tuple[str, Callable[[], None]]:
            shutil.rmtree(place / "now", ignore_errors=True)
            shutil.copytree(place / "seeds", place / "now")
            kind = ("run", "shards")[int(rng.integers(0, 2))]
            if kind == "shards":
                return change_shard(place / "now" / kind, rng), lambda: _unused(fitted_shards(place / "now"))
            files = sorted((place / "now" / "run").iterdir())
            path = files[int(rng.integers(0, len(files)))]
            what = change(path, rng)
            return f"{path.name}: {what}", lambda: _unused(READERS[kind](place / "now"))

        found: dict[str, Any] = campaign(n, one, place)
        return found

    return run


def _unused(_: Any) -> None:
    """Drop a result."""


def change(path: Path, rng: np.random.Generator) -> str:
    """Change a file of arrays as somebody would who knows the format; return what was changed."""
    format = STATE_FORMAT if path.name.startswith("state-") else FORMAT
    arrays, metadata = read_arrays(path, format)
    arrays = {name: array.copy() for name, array in arrays.items()}
    if "record" in metadata and rng.random() < 0.4:
        record = json.loads(metadata["record"])
        places = list(_places(record))
        parent, key = places[int(rng.integers(0, len(places)))]
        parent[key] = _ODD[int(rng.integers(0, len(_ODD)))]
        metadata["record"] = json.dumps(record)
        what = f"{key} -> {parent[key]}"
    else:
        what = _change_array(arrays, rng)
    write_arrays(path, arrays, metadata)
    return what


def change_shard(folder: Path, rng: np.random.Generator) -> str:
    """Change an array of a shard or of the statistics, and mend the manifest; return what was changed."""
    files = sorted(folder.glob("*.safetensors"))
    path = files[int(rng.integers(0, len(files)))]
    arrays = load_file(path)
    what = _change_array(arrays, rng)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entries = {shard_name(number): shard for number, shard in enumerate(manifest["shards"])}
    entries[COLUMNS] = manifest["names"]
    entries[path.name] |= {"bytes": path.stat().st_size, "sha256": digest_file(path)}
    text = seal(json.dumps({"digest": BLANK} | manifest | {"digest": BLANK}))
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return f"{path.name}: {what}"


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _change_array(arrays: dict[str, Any], rng: np.random.Generator) -> str:
    names = sorted(arrays)
    name = names[int(rng.integers(0, len(names)))]
    array = arrays[name]
    changes: list[Callable[[], Any]] = [
        lambda: array.astype([np.float64, np.float32, np.int64, np.int8][int(rng.integers(0, 4))]),
        lambda: array.reshape(-1),
        lambda: array[: len(array) // 2],
        lambda: np.zeros((*array.shape, 2), dtype=array.dtype),
        lambda: np.zeros(array.shape[::-1], dtype=array.dtype),
        lambda: array * np.nan,
        lambda: array[::-1].copy(),
        lambda: array + np.array(1, dtype=array.dtype),
        lambda: array * np.array(-1).astype(array.dtype),
        lambda: array * 1e30,
        lambda: _one_odd(array, rng),
        lambda: _one_odd(array, rng),
        lambda: np.zeros_like(array),
        lambda: None,
    ]
    at = int(rng.integers(0, len(changes)))
    with np.errstate(all="ignore"):
        changed = changes[at]()
    if changed is None:
        del arrays[name]
    else:
        arrays[name] = changed
    return f"{name}, change {at}"


def _one_odd(array: Any, rng: np.random.Generator) -> Any:
    flat = array.reshape(-1)
    if flat.size:
        values = [np.nan, np.inf, -1.0, 1e30] if array.dtype.kind == "f" else [-1, 0, 1 << 6, -1 << 6]
        flat[int(rng.integers(0, flat.size))] = np.array(values[int(rng.integers(0, 4))]).astype(array.dtype)
    return array
