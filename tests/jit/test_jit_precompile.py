"""Compiling in several processes: the kernels of a fit, for the types that a fit has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tagtopics.models import precompile

_COUNT = """
import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp import edges
from tagtopics.bp import fold_in
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.models import precompile
from tagtopics.bp import start
from tagtopics.bp import sums
from tagtopics.bp import sweep
from tagtopics.tag_prior import tag_word_loops as tag_words
from tagtopics.bp import tags
from tagtopics.bp import anchors
from tagtopics.jit import top
from tagtopics.recommend import loops

def compiled():
    modules = (anchors, edges, fold_in, loops, mixture, start, sums, sweep, tag_words, tags, top)
    return {
        f"{module.__name__}.{name}": len(value.signatures)
        for module in modules for name, value in vars(module).items() if hasattr(value, "signatures")
    }

precompile.compile_groups(list(precompile.GROUPS))
before = compiled()
corpus = make_tagged_corpus(n_docs=60, n_words=80, n_topics=6, n_tags=10).corpus
model = tt.TTM(4, max_iter=3, random_state=0).fit(corpus)
model.transform(corpus)
model.explain(corpus)
after = compiled()
more = {name for name in after if after[name] > before.get(name, 0)}
print("more:", *sorted(more))
print("groups:", *sorted(name for name, n in before.items() if n))
"""


@pytest.mark.compiled
def test_a_fit_compiles_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True)
    more, groups = (line.split()[1:] for line in done.stdout.splitlines())
    assert more == []
    assert len(groups) > 20


@pytest.mark.slow
@pytest.mark.compiled
def test_the_first_fit_fills_the_cache_from_several_processes(tmp_path: Path) -> None:
    code = (
        "import tagtopics as tt; from tagtopics.models import precompile;"
        "print(precompile.begin(), len(precompile._processes)); precompile.finish();"
        "from tagtopics.jit.compiling import has_compiled; print(has_compiled(), precompile.begin())"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    n = min(len(os.sched_getaffinity(0)), len(precompile.GROUPS))
    several = n > 1
    expected = [f"True {n}", "True False"] if several else ["False 0", "False False"]
    assert done.stdout.splitlines() == expected
    names = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbi")}
    parts = {
        "edges.update_documents",
        "start._initialise",
        "tag_word_loops._share_claims",
        "mixture_loops._credit_claims",
        "loops.compare",
    }
    assert parts <= names or not several


def test_nothing_is_started_where_kernels_are_not_compiled() -> None:
    code = "from tagtopics.models import precompile; print(precompile.begin(), precompile._processes)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split() == ["False", "[]"]


@pytest.mark.parametrize(("program", "expected"), [("/usr/bin/python3.11", True), ("/usr/sbin/httpd", False)])
def test_only_an_interpreter_is_started(
    program: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    assert precompile._is_python() is expected
