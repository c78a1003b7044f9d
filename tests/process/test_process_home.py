"""A user without a home: code is not cached, and a note says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from container_support import COMMAND, NOBODY, as_root, container, run

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus

NOTE = "; set XDG_CACHE_HOME or NUMBA_CACHE_DIR to a folder in which you can write"
FIT = """
import tagtopics as tt
texts = ["bread oven flour butter", "boat wind sail harbour", "violin melody piano chord"] * 3
print(tt.LDA(3, max_iter=2, n_jobs=1).fit_topics(texts).n_iter_)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = make_tagged_corpus(n_docs=40, n_words=60, n_topics=6, n_tags=8, seed=0).corpus
    path = tmp_path_factory.mktemp("home") / "model.tt"
    tt.TTM(4, max_iter=3, random_state=0).fit_topics(corpus).save(path)
    return path


@as_root
def test_a_command_runs_without_a_cache_and_says_so_once(model: Path, tmp_path: Path) -> None:
    variables = container(tmp_path)
    code, out, err = run(COMMAND, "topics", model, variables=variables)
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("note: compiled code is not cached, so each run compiles it again (/nonexistent: ")
    assert err.endswith(f"{NOTE}\n")
    code, quiet, err = run(COMMAND, "topics", model, "--quiet", variables=variables)
    assert (code, quiet, err) == (0, out, "")


@as_root
@pytest.mark.slow
@pytest.mark.compiled
def test_a_fit_compiles_in_memory(tmp_path: Path) -> None:
    variables = container(tmp_path) | {"NUMBA_OPT": "0"}
    code, out, err = run(FIT, variables=variables)
    assert (code, out) == (0, "2\n"), err
    assert err.count("compiled code is not cached, so each run compiles it again (/nonexistent: ") == 1
    assert err.count(NOTE) == 1
    assert list((tmp_path / "temporary").iterdir()) == []


@as_root
def test_a_folder_that_is_named_needs_no_note(model: Path, tmp_path: Path) -> None:
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(0o1777)
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        (tmp_path / name).mkdir()
        variables = container(tmp_path / name) | {name: str(place)}
        code, _, err = run(COMMAND, "topics", model, variables=variables)
        assert (code, err) == (0, "")
        assert [folder.name for folder in place.iterdir()] == [f"tagtopics-kernels-{NOBODY}"]
        assert list((tmp_path / name / "temporary").iterdir()) == []
