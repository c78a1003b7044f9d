"""Model folders whose digests are right and whose content is not: what the fuzz campaigns have found."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.files import digest_bytes, digest_file
from tagtopics.models.persistence import load_with_corpus, save_model


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    return make_tagged_corpus(n_docs=24, n_words=60, n_topics=6, n_tags=10, seed=1).corpus


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> tt.TTM:
    return tt.TTM(3, max_iter=2, random_state=0, n_jobs=1).fit(corpus)


def changed(folder: Path, change: Callable[[Any, Any], None]) -> None:
    """Change the description and the arrays of a model, and mend all digests."""
    description = json.loads((folder / "model.json").read_text("utf-8"))
    arrays = load_file(folder / "arrays.safetensors")
    change(description, arrays)
    save_file(arrays, folder / "arrays.safetensors")
    for name in description["files"]:
        if (folder / name).is_file():
            description["files"][name] = digest_file(folder / name)
    text = json.dumps(description | {"digest": "0" * 64}, indent=1)
    (folder / "model.json").write_text(text.replace("0" * 64, digest_bytes(text.encode()), 1), "utf-8")


def _enormous(description: Any, arrays: Any) -> None:
    text = json.dumps(description)
    description |= json.loads(text.replace('"known.joint": ', '"known.joint": 1e308, "unused": ', 1))


def _integers(description: Any, arrays: Any) -> None:
    arrays["recommender.tags.data"] = arrays["recommender.tags.data"].astype(np.int8)


def _repeated(name: str, n: int) -> Callable[[Any, Any], None]:
    """Return a change that lists the first entry of a matrix n more times."""

    def change(description: Any, arrays: Any) -> None:
        for part in ("data", "indices"):
            array = arrays[f"{name}.{part}"]
            arrays[f"{name}.{part}"] = np.concatenate([np.repeat(array[:1], n), array])
        arrays[f"{name}.indptr"][1:] += n

    return change


def _reversed(description: Any, arrays: Any) -> None:
    end = int(arrays["tag_words_.indptr"][1])
    arrays["tag_words_.indices"][:end] = arrays["tag_words_.indices"][:end][::-1].copy()


def _bandwidth(value: float) -> Callable[[Any, Any], None]:
    return lambda description, arrays: description["recommender"].update(bandwidth=value)


def _weight(value: Any) -> Callable[[Any, Any], None]:
    return lambda description, arrays: description["recommender"]["vectors"].update(weight=value)


def _times(name: str, value: float) -> Callable[[Any, Any], None]:
    return lambda description, arrays: arrays.update(
        {name: (arrays[name] * value).astype(arrays[name].dtype)}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_enormous, r"known\.joint must be a number from 0 to 1e\+12, not 1e\+308"),
        (_integers, "tags is int8"),
        *((_repeated("recommender.counts", n), "counts: .* do not ascend") for n in (1, 240, 6_000, 240_000)),
        (_repeated("recommender.tags", 1), "tags: .* do not ascend"),
        (_repeated("tag_words_", 1), "tag_words_: .* do not ascend"),
        (_reversed, "tag_words_: .* do not ascend"),
        *((_bandwidth(value), "bandwidth must be above 0") for value in (0.0, -1.0, float("inf"), 1e300)),
        (_times("recommender.topics", 1.5), "topics are not proportions"),
        (_times("recommender.rows", -1), "rows do not ascend"),
        (_times("recommender.tags.data", 2), "must be 1 where"),
        (_times("recommender.counts.data", 1e-45), "documents must have words"),
        (_times("components_", 1e-38), "components_ is damaged: its rows do not add up to one"),
        (_times("doc_topic_", 3), "doc_topic_ is damaged: its rows do not add up to one"),
        (_times("doc_topic_prior_", 0), "doc_topic_prior_ holds numbers that are not positive"),
        (_times("doc_topic_prior_", 1e-37), "doc_topic_prior_ holds numbers that are not positive, or too"),
        (_times("tag_sums_", 1e300), "tag_sums_ holds numbers that are not finite, too small or too large"),
    ],
)
def test_values_that_would_overflow_or_fail_later_are_refused(
    model: tt.TTM, tmp_path: Path, change: Callable[[Any, Any], None], message: str
) -> None:
    model.save(tmp_path / "m.tt")
    changed(tmp_path / "m.tt", lambda description, arrays: None)
    tt.load(tmp_path / "m.tt")
    changed(tmp_path / "m.tt", change)
    with pytest.raises(tt.InputError, match=message):
        tt.load(tmp_path / "m.tt")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_weight(-0.2), "vectors have a weight of -0.2"),
        (_weight(float("nan")), "vectors have a weight of nan"),
        (_times("recommender.with_vectors.vectors", 3), "vectors holds numbers that are not finite, too"),
        (_times("recommender.with_vectors.vectors", np.nan), "vectors holds numbers that are not finite"),
        (_times("recommender.with_vectors.coefficients", np.nan), "coefficients holds numbers that are not"),
        (lambda _, arrays: arrays.pop("recommender.with_vectors.own"), "damaged"),
        (lambda description, _: description["recommender"]["vectors"].pop("bandwidth"), "damaged"),
    ],
)
def test_damaged_vectors_of_a_recommender_are_refused(
    corpus: tt.Corpus, tmp_path: Path, change: Callable[[Any, Any], None], message: str
) -> None:
    model = tt.LDA(3, max_iter=2, random_state=0, n_jobs=1).fit(corpus, vectors=corpus.tags.toarray())
    assert model.recommender_ is not None
    assert model.recommender_.with_vectors is not None
    model.save(tmp_path / "m.tt")
    changed(tmp_path / "m.tt", change)
    with pytest.raises(tt.InputError, match=message):
        tt.load(tmp_path / "m.tt")


@pytest.mark.parametrize(
    "name", ["../x", "corpus/../../x", "corpus/..", "base/x/y", "/etc/passwd", "C:x", "corpus\\x", ""]
)
def test_a_model_has_no_files_elsewhere(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path, name: str) -> None:
    model.save(tmp_path / "m.tt", corpus=corpus)
    (tmp_path / "x").write_text("not yours")
    changed(tmp_path / "m.tt", lambda description, _: description["files"].update({name: "0" * 64}))
    for read in (tt.load, load_with_corpus):
        with pytest.raises(tt.InputError, match=r"model\.json is damaged: its list of files"):
            read(tmp_path / "m.tt")
    with pytest.raises(tt.InputError, match="not a model written by tagtopics"):
        save_model(model, tmp_path / "m.tt", corpus)


@pytest.mark.parametrize("files", [None, [], "x", {"arrays.safetensors": 1}])
def test_files_must_be_digests_by_name(model: tt.TTM, tmp_path: Path, files: Any) -> None:
    model.save(tmp_path / "m.tt")
    text = json.loads((tmp_path / "m.tt" / "model.json").read_text("utf-8"))
    content = json.dumps(text | {"files": files, "digest": "0" * 64})
    content = content.replace("0" * 64, digest_bytes(content.encode()), 1)
    (tmp_path / "m.tt" / "model.json").write_text(content, "utf-8")
    for read in (tt.load, load_with_corpus):
        with pytest.raises(tt.InputError, match=r"model\.json is damaged: (its list of files|files)"):
            read(tmp_path / "m.tt")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors", "corpus/words.npz"])
def test_pipes_and_devices_are_refused_at_once(
    model: tt.TTM, corpus: tt.Corpus, tmp_path: Path, name: str
) -> None:
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        model.save(tmp_path / "m.tt", corpus=corpus)
        (tmp_path / "m.tt" / name).unlink()
        make(tmp_path / "m.tt" / name)
        with pytest.raises(tt.InputError, match="not a regular file"):
            (load_with_corpus if name.startswith("corpus") else tt.load)(tmp_path / "m.tt")
        (tmp_path / "m.tt" / name).unlink()
        (tmp_path / "m.tt").rename(tmp_path / f"old {make is os.mkfifo}")
