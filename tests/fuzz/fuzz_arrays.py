"""Campaign over hostile arrays: what a kernel relies on is broken in a saved model, and digests are mended.

The models have every group of arrays that a model can have: topics, tags and their words, a recommender,
names of tags, codebooks, and the arrays of the baselines. A case ends well if the model is refused in one
line, or answers everything with finite numbers.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import mend_digests
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from tagtopics import baselines
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.report.html_report import write_report
from tagtopics.models.persistence import load_with_corpus
from tagtopics.subjects.thesaurus import with_thesaurus

N_DOCS = 120
EXTRA = (1, 5, 120, 240, 6_000, 240_000)
"""Entries added to one row of a matrix."""

_PARTS = ("data", "indices", "indptr")
_WHOLE = (-1, 0, 1, 2**31 - 1, -(2**31), 2**31, 2**32 + 1, 2**62, -(2**63))
_REAL = (np.nan, np.inf, -np.inf, -1.0, 0.0, 5e-324, 1e-45, 1e-38, 1.0, 2.0, 1e9, 1e30, 3e38, 1e300)
_NUMBERS: tuple[Any, ...] = (*_REAL, "x", None, [])


def corpus() -> tt.Corpus:
    """Return documents with texts and tags; two tags have names."""
    rng = np.random.default_rng(0)
    words = np.array(
        [f"{first}{second}" for first in "bdfgklmnpr" for second in ("ala", "eno", "iru", "oti")]
    )
    starts = rng.integers(0, 4, N_DOCS)
    texts = [" ".join(words[10 * start + rng.integers(0, 10, 12)]) for start in starts]
    tags = [[f"t{start}", f"u{rng.integers(0, 4)}"] for start in starts]
    return with_thesaurus(tt.read_corpus(texts, tags=tags), {"t0": "bala beno", "t1": "gala", "new": "riru"})


def photographs(place: Path) -> tt.Corpus:
    """Return a small collection of images with tags."""
    from PIL import Image

    place.mkdir(parents=True)
    rng = np.random.default_rng(0)
    lines = ["file\ttags"]
    for i in range(12):
        pixels = rng.integers(0, 256, (32, 48, 3), dtype=np.uint8)
        Image.fromarray(pixels // (1 + i % 3)).save(place / f"{i}.png")
        lines.append(f"{i}.png\tt{i % 3}")
    (place / "tags.tsv").write_text("\n".join(lines), encoding="utf-8")
    return tt.read_corpus(
        place, visual=tt.VisualVocabulary(codebook_sizes=(4, 4), n_sample_tiles=200, n_jobs=1)
    )


def prepare(place: Path) -> list[str]:
    """Save a model of every kind; return their names, those with most arrays more than once."""
    named = corpus()
    plain = tt.read_corpus(named.texts, tags=[named.tags_of(d) for d in range(named.n_docs)])
    images = photographs(place.parent / "images")
    options: dict[str, Any] = {"max_iter": 2, "random_state": 0, "n_jobs": 1}
    models = {
        "names": (tt.TTM(3, **options), named),
        "ttm": (tt.TTM(3, **options), plain),
        "markov": (tt.MarkovTTM(3, **options), plain),
        "lda": (tt.LDA(3, **options), plain),
        "photographs": (tt.TTM(3, **options), images),
        "atm": (baselines.ATM(3, **options), plain),
        "rtm": (baselines.RTM(3, **options), plain),
        "labeled": (baselines.LabeledLDA(**options), plain),
    }
    for name, (model, documents) in models.items():
        model.fit(documents).save(place / f"{name}.tt", corpus=documents)
    told = tt.TTM(3, **options).fit(plain, vectors=plain.tags.toarray())
    assert told.recommender_ is not None
    assert told.recommender_.with_vectors is not None
    told.save(place / "vectors.tt", corpus=plain)
    return ["ttm"] * 6 + ["names"] * 4 + ["vectors"] * 4 + list(models)


def ask(folder: Path) -> None:
    """Load a model and ask it all that reaches a kernel; answers must be finite."""
    model: Any
    model, documents = load_with_corpus(folder)
    assert documents is not None
    some = documents.select(np.arange(5))
    assert np.isfinite(model.transform(some)).all()
    if model.recommender_ is not None:
        assert np.isfinite(model.tag_probabilities(some)).all()
        if model.recommender_.with_vectors is not None:
            vectors = model.recommender_.with_vectors.vectors[:5]
            assert np.isfinite(model.tag_probabilities(some, vectors=vectors)).all()
            model.related(some, 3, vectors=vectors)
        for found in (model.recommend(some, top=3), model.recommend(some, top=3, n_words=5)):
            assert all(0 <= tag.probability <= 1 for tags in found for tag in tags)
        if model.names_ is None:
            model.recommend(some, top=3, balanced=True)
        assert np.isfinite(model.recommender_.leave_one_out(np.arange(len(model.recommender_.rows)))).all()
        tt.audit(model, documents)
    if isinstance(model, tt.TTM | tt.MarkovTTM):
        assert np.isfinite(model.transform(some, tags=some)).all()
    if isinstance(model, tt.TTM) and model.recommender_ is not None:
        assert np.isfinite(model.predict_words(some, "inferred")).all()
    if hasattr(model, "explain"):
        assert np.isfinite(model.explain(documents).credit).all()
        model.tag_profile(model.tag_names_[0])
    model.related(some, 3)
    topic_data(model, documents)
    write_report(model, folder.parent / "report.html", corpus=documents)
    if model.visual_ is not None:
        model.visual_.tile_map(np.zeros((32, 48, 3), dtype=np.uint8))


def hostile_arrays(campaign: Any) -> Callable[..., dict[str, Any]]:
    """Return a campaign that changes arrays of a model as somebody would who knows the format."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        names = prepare(place / "seeds")
        for name in set(names):
            ask(place / "seeds" / f"{name}.tt")  # so that no case has to compile the kernels

        def one(_: int) -> tuple[str, Callable[[], None]]:
            name = names[int(rng.integers(0, len(names)))]
            folder = place / "now" / f"{name}.tt"
            shutil.rmtree(place / "now", ignore_errors=True)
            shutil.copytree(place / "seeds" / f"{name}.tt", folder)
            changes = [_change(folder, rng) for _ in range(1 + int(rng.random() < 0.2))]
            mend_digests(folder)
            return f"{name}: {'; '.join(changes)}", lambda: ask(folder)

        found: dict[str, Any] = campaign(n, one, place)
        return found

    return run


def _one_of(values: Any, rng: np.random.Generator) -> Any:
    return values[int(rng.integers(0, len(values)))]


def _change(folder: Path, rng: np.random.Generator) -> str:
    arrays = {name: array.copy() for name, array in load_file(folder / "arrays.safetensors").items()}
    matrices = sorted(name.removesuffix(".indptr") for name in arrays if name.endswith(".indptr"))
    matrices = [name for name in matrices if all(arrays[f"{name}.{part}"].shape > (1,) for part in _PARTS)]
    chance = rng.random()
    if chance < 0.1:
        return _change_number(folder / "model.json", rng)
    if chance < 0.5 and matrices:
        what = _change_matrix(arrays, _one_of(matrices, rng), rng)
    else:
        what = _change_values(arrays, _one_of(sorted(arrays), rng), rng)
    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    save_file(kept, folder / "arrays.safetensors")
    return what


def _change_number(path: Path, rng: np.random.Generator) -> str:
    described = json.loads(path.read_text(encoding="utf-8"))
    parts = [part for part in ("recommender", "thesaurus", "numbers", "numbers") if described[part]]
    part = _one_of(parts, rng)
    name = _one_of(sorted(described[part]), rng)
    described[part][name] = _one_of(_NUMBERS, rng)
    path.write_text(json.dumps(described), encoding="utf-8")
    return f"{part}.{name} -> {described[part][name]}"


def _change_matrix(arrays: dict[str, Any], name: str, rng: np.random.Generator) -> str:
    """Break a CSR matrix: more entries; columns twice, unsorted or outside; wrong pointers or lengths."""
    data, *whole = (arrays[f"{name}.{part}"].ravel() for part in _PARTS)
    indices, indptr = (array.astype(np.int64) for array in whole)
    kinds = ("extra", "extra", "extra", "twice", "unsorted", "outside", "pointers", "length", "type")
    kind = _one_of(kinds, rng)
    row, at = int(rng.integers(0, len(indptr) - 1)), int(rng.integers(0, len(indices)))
    more = _one_of(EXTRA, rng)
    if kind == "extra":
        place = int(np.clip(indptr[row], 0, min(len(indices), len(data))))
        column = indices[min(place, len(indices) - 1)]
        indices, data = np.insert(indices, place, [column] * more), np.insert(data, place, [1] * more)
        indptr[row + 1 :] += more
    elif kind == "twice":
        indices[at] = indices[at - 1]
    elif kind == "unsorted":
        indices[indptr[row] : indptr[row + 1]] = indices[indptr[row] : indptr[row + 1]][::-1]
    elif kind == "outside":
        indices[at] = _one_of((-1, int(indices.max()) + 1, 2**31 - 1, -(2**31)), rng)
    elif kind == "pointers":
        indptr[row] = _one_of((-1, 1, len(indices) + 1, 2**31, 2**62, int(indptr[row + 1]) + 1), rng)
    elif kind == "length":
        indices, data = (
            _one_of((array, array[:-1], np.append(array, array)), rng) for array in (indices, data)
        )
        indptr = _one_of((indptr, indptr[:-1], np.append(indptr, indptr[-1:])), rng)
    else:
        types = (np.int64, np.uint32, np.uint64, np.int16, np.float64)
        indices, indptr = indices.astype(_one_of(types, rng)), indptr.astype(_one_of(types, rng))
    if kind != "type":
        indices, indptr = indices.astype(whole[0].dtype), indptr.astype(whole[1].dtype)
    for part, array in zip(_PARTS, (data, indices, indptr), strict=True):
        arrays[f"{name}.{part}"] = array.ravel()
    return f"{name}, {kind} {more if kind == 'extra' else ''}"


def _change_values(arrays: dict[str, Any], name: str, rng: np.random.Generator) -> str:
    """Set one value, a row or all of an array to something extreme, or change its shape."""
    array = arrays[name]
    if rng.random() < 0.15 or not array.size:
        shapes = (array[:0], array[:-1], np.concatenate([array, array]), array.reshape(-1), array[np.newaxis])
        arrays[name] = _one_of(shapes, rng)
        return f"{name}, shape {arrays[name].shape}"
    value = _one_of(_REAL if array.dtype.kind == "f" else _WHOLE, rng)
    where = _one_of(("one", "row", "all", "times", "times a row"), rng)
    flat, rows = array.reshape(-1), array.reshape(len(array), -1)
    row = int(rng.integers(0, len(array)))
    with np.errstate(all="ignore"):
        wide = np.array(value).astype(array.dtype)
        if where == "one":
            flat[int(rng.integers(0, flat.size))] = wide
        elif where == "row":
            rows[row] = wide
        elif where == "all":
            flat[:] = wide
        elif where == "times":
            flat *= wide
        else:
            rows[row] *= wide
    return f"{name}, {where} {value:g}"
