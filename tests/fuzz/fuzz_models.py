"""Campaign over hostile models: values of `model.json`, arrays and names are changed, and digests mended.

The model has documents, a recommender, a thesaurus and a journal of edits, and so the model before them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.curation.edits import curate, undo
from tagtopics.files import digest_file, seal
from tagtopics.models.persistence import load_with_corpus
from tagtopics.models.results import topic_rows
from tagtopics.subjects.thesaurus import with_thesaurus

NAMES = {"a": "alpha", "b; c": "beta gamma", "t1": "zeta eta", "t2": "naïve"}
_ODD: list[Any] = [
    None,
    -1,
    0,
    1e308,
    10**8,
    10**30,
    "",
    "x" * 5000,
    [],
    {},
    [[]],
    True,
    float("nan"),
    "(a+)+$",
]


def small_corpus() -> tt.Corpus:
    """Return documents with texts and with tags of odd spelling."""
    texts = [f"alpha beta gamma{i} delta, {'zeta eta' * (i % 3)} naïve 漢字" for i in range(12)]
    tags = [["a", "b; c", f"t{i % 4}"] for i in range(12)]
    return tt.read_corpus(texts, tags=tags, id=[f"doc {i}" for i in range(12)])


def edited_model(documents: tt.Corpus, n_topics: int = 4) -> Any:
    """Return a model of documents with tag names, and with three edits."""
    model: Any = tt.TTM(n_topics, max_iter=2, random_state=0, n_jobs=1).fit(documents)
    model = curate(model, "rename", topics=[0], name="first", corpus=documents)
    model = curate(model, "merge", topics=[1, 2], corpus=documents)
    return curate(model, "seed", name="Greek", words=["alpha", "beta"], corpus=documents)


def save_model(folder: Path) -> None:
    """Save a small model with its documents, a recommender, a thesaurus and edits."""
    named = with_thesaurus(small_corpus(), NAMES)
    edited_model(named).save(folder, corpus=named)


def ask(folder: Path) -> None:
    """Load a model and ask it everything; answers must be finite."""
    model: Any
    model, documents = load_with_corpus(folder)
    corpus = tt.read_corpus(["alpha beta gamma1 delta"], recipe=model.recipe_, vocabulary=model.vocabulary_)
    assert np.isfinite(model.transform(corpus)).all()
    model.top_words(3)
    topic_rows(model, 3)
    if getattr(model, "recommender_", None) is not None:
        assert np.isfinite(model.tag_probabilities(corpus)).all()
        model.recommend(corpus, top=2)
    if model.tag_names_ and hasattr(model, "explain"):
        assert np.isfinite(model.explain(corpus, tags=[[model.tag_names_[0]]]).credit).all()
        model.tag_profile(model.tag_names_[0])
    model.related(corpus, 2)
    if model.curation_ is not None and model.curation_.edits:
        undo(model, corpus=documents)


def fuzz_models(campaign: Any) -> Callable[..., dict[str, Any]]:
    """Return a campaign that changes a model; digests are mended, so that only the checks are left."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        save_model(place / "seeds" / "m.tt")
        ask(place / "seeds" / "m.tt")  # so that no case has to compile the kernels

        def one(_: int) -> tuple[str, Callable[[], None]]:
            shutil.rmtree(place / "now", ignore_errors=True)
            shutil.copytree(place / "seeds", place / "now")
            folder = place / "now" / "m.tt"
            part = folder / "base" if rng.random() < 0.2 else folder
            chance = rng.random()
            if chance < 0.1 and part == folder:
                what = change_names(folder / "names.tsv", rng)
            elif chance < 0.5:
                what = change_array(part, rng)
            else:
                what = change_json(part / "model.json", rng)
            mend_digests(folder / "base")
            mend_digests(folder)
            return f"{part.name}: {what}", lambda: ask(folder)

        found: dict[str, Any] = campaign(n, one, place)
        return found

    return run


def change_json(path: Path, rng: np.random.Generator) -> str:
    """Replace one value of a JSON file by something else, or one name, or leave it out."""
    value = json.loads(path.read_text(encoding="utf-8"))
    what = change_value(value, rng)
    path.write_text(json.dumps(value), encoding="utf-8")
    return what


def change_value(value: Any, rng: np.random.Generator) -> str:
    """Do the same with a JSON value, which must not be empty."""
    places = list(_places(value))
    parent, key = places[int(rng.integers(0, len(places)))]
    before = str(parent[key])[:40]
    kind = rng.random()
    if kind < 0.1:
        del parent[key]
        after = "gone"
    elif kind < 0.2 and isinstance(parent, dict):
        after = ["corpus/../../../../../dev/zero", "../x", "", "x" * 200][int(rng.integers(0, 4))]
        parent[after] = parent.pop(key)
    elif kind < 0.3:
        other, name = places[int(rng.integers(0, len(places)))]
        parent[key] = json.loads(json.dumps(other[name]))
        after = str(parent[key])[:40]
    else:
        parent[key] = _ODD[int(rng.integers(0, len(_ODD)))]
        after = str(parent[key])[:40]
    return f"{key}: {before} -> {after}"


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def change_names(path: Path, rng: np.random.Generator) -> str:
    """Change a line of the names of tags."""
    lines = path.read_text(encoding="utf-8").split("\n")
    at = int(rng.integers(0, len(lines)))
    changes = [
        "",
        "\t",
        "a\tb",
        lines[0],
        "x" * 100_000,
        lines[at] + "\t" + "\tz" * 5000,
        "\ud800\ty",
        "a\r\tb",
    ]
    lines[at] = changes[int(rng.integers(0, len(changes)))]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return f"names.tsv, line {at}: {lines[at][:40]!r}"


def change_array(folder: Path, rng: np.random.Generator) -> str:
    """Change the values, the type or the shape of one array."""
    from safetensors.numpy import load_file, save_file

    file = folder / "arrays.safetensors"
    arrays = load_file(file)
    names = sorted(arrays)
    name = names[int(rng.integers(0, len(names)))]
    array = arrays[name].copy()
    kind = int(rng.integers(0, 6))
    if kind == 0 and array.size:
        flat = array.reshape(-1)
        values = [-1, 0, 2**31 - 1, -(2**31)] if array.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 1e30]
        flat[int(rng.integers(0, flat.size))] = values[int(rng.integers(0, len(values)))]
    elif kind == 1:
        array = array.astype([np.float64, np.float32, np.int64, np.int8][int(rng.integers(0, 4))])
    elif kind == 2:
        array = array.reshape(-1)
    elif kind == 3:
        array = array[: len(array) // 2]
    elif kind == 4:
        array = np.zeros((*array.shape, 2), dtype=array.dtype)
    else:
        arrays.pop(name)
    if kind != 5:
        arrays[name] = np.ascontiguousarray(array)
    save_file(arrays, file)
    return f"{name}, change {kind}"


def mend_digests(folder: Path) -> None:
    """Write the digests of the files as they are now into model.json."""
    path = folder / "model.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    files = described.get("files")
    for name in files if isinstance(files, dict) else ():
        if (folder / name).is_file():
            files[name] = digest_file(folder / name)
    if isinstance(described.get("digest"), str):
        first = {"digest": "0" * 64}  # the first run of zeros is replaced
        path.write_text(seal(json.dumps(first | described | first, indent=1)), encoding="utf-8")
