"""Unpatched Annif asks our server through its http backend; both servers listen on the loopback address.

Annif is not installed for other tests: `make annif` creates its environment in build/annif, and
TAGTOPICS_ANNIF names another one.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from explore_support import create_app, serving

import tagtopics as tt
from tagtopics.corpus.splits import train_test
from tagtopics.evaluation.recommendation import named_answer, per_document
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.server.engine import ModelEngine

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples"
ENVIRONMENT = Path(os.environ.get("TAGTOPICS_ANNIF", ROOT / "build/annif"))

pytestmark = [
    pytest.mark.skipif(
        not (ENVIRONMENT / "bin/annif").exists(),
        reason="no Annif: run `make annif`, or name its environment in TAGTOPICS_ANNIF",
    ),
    pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning"),
]


@dataclass(frozen=True)
class Case:
    """A model, documents that it has not seen, and the folder of an Annif that asks it."""

    model: tt.TTM
    test: tt.Corpus
    folder: Path
    named: frozenset[str]  # the tags with a name, which alone our server sends to Annif

    @property
    def variables(self) -> dict[str, str]:
        places = {"ANNIF_DATADIR": "data", "ANNIF_PROJECTS": "projects.cfg"}
        return dict(os.environ) | {name: str(self.folder / place) for name, place in places.items()}

    def annif(self, *arguments: str) -> str:
        command = [str(ENVIRONMENT / "bin/annif"), *arguments]
        done = subprocess.run(command, env=self.variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def asked_directly(self) -> dict[str, float]:
        answer = named_answer(self.model, self.test)
        unnamed = np.array([tag not in self.named for tag in answer.tags])
        order = np.argsort(unnamed[answer.ranked], axis=1, kind="stable")
        ranked = np.take_along_axis(answer.ranked, order, axis=1)
        return per_document(answer.truth, np.where(unnamed[ranked], len(answer.tags) - 1, ranked))


def examples() -> tuple[tt.Corpus, Any]:
    return tt.read_corpus(EXAMPLES / "records.tsv"), tt.read_thesaurus(EXAMPLES / "headings.ttl")


def library_records(data: Path) -> tuple[tt.Corpus, Any]:
    folder = data / "tibcore"
    if not folder.exists():
        pytest.skip("no folder tibcore in the real data")
    corpus = tt.read_corpus(folder / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects")
    corpus = corpus.select(np.random.default_rng(0).permutation(corpus.n_docs)[:1000])
    lines = (folder / "subjects.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return corpus, dict(line.split("\t")[:2] for line in lines)


def as_uri(tag: str) -> str:
    return tag if tag.startswith("http") else f"http://example.org/{tag}"


@pytest.fixture(scope="module", params=["examples", pytest.param("tibcore", marks=pytest.mark.real_data)])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """Fit a model, serve it, and configure Annif to ask it."""
    if request.param == "examples":
        corpus, thesaurus = examples()
        names = dict(zip(thesaurus.ids, thesaurus.names, strict=True))
    else:
        corpus, names = library_records(request.getfixturevalue("data_directory"))
    names = {as_uri(tag): name for tag, name in names.items()}
    tags = tuple(map(as_uri, corpus.tag_names))
    corpus = tt.with_thesaurus(replace(corpus, tag_names=tags, split=None), names)
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    model = tt.TTM(n_topics=10, random_state=0, max_iter=10).fit(train)
    folder = tmp_path_factory.mktemp("annif")
    for address in serving(create_app(topic_data(model, train, "Headings"), ModelEngine(model))):
        case = Case(model, test, folder, frozenset(names))
        configure(case, {tag: names.get(tag, tag) for tag in (*names, *tags)}, address)
        yield case


def configure(case: Case, names: dict[str, str], address: str) -> None:
    endpoint = f"{address}v1/projects/tagtopics/suggest"
    lines = ["[tagtopics]", "name=tagtopics", "language=en", "backend=http", "vocab=headings"]
    (case.folder / "projects.cfg").write_text("\n".join([*lines, f"endpoint={endpoint}"]), encoding="utf-8")
    vocabulary = "".join(f"<{tag}>\t{name}\n" for tag, name in names.items())
    (case.folder / "headings.tsv").write_text(vocabulary, encoding="utf-8")
    assert case.test.texts is not None
    rows = [
        {"text": text, "subjects": [{"uri": tag} for tag in case.test.tags_of(d)]}
        for d, text in enumerate(case.test.texts)
    ]
    (case.folder / "test.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    case.annif("load-vocab", "--language", "en", "headings", str(case.folder / "headings.tsv"))


def test_eval_of_annif_reproduces_our_measures(case: Case) -> None:
    metrics = case.folder / "metrics.json"
    case.annif("eval", "--metrics-file", str(metrics), "tagtopics", str(case.folder / "test.jsonl"))
    found = json.loads(metrics.read_text(encoding="utf-8"))
    ours = case.asked_directly()
    assert found["Documents_evaluated"] == case.test.n_docs
    assert ours["f1_at_5"] > 0.1
    assert found["F1@5"] == pytest.approx(ours["f1_at_5"], abs=5e-4)
    assert found["Precision@1"] == pytest.approx(ours["precision_at_1"], abs=5e-4)


def test_server_of_annif_passes_our_suggestions_on(case: Case) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(ENVIRONMENT / "bin/annif"), "run", "--host", "127.0.0.1", "--port", str(port)]
    silent = subprocess.DEVNULL
    server = subprocess.Popen(command, env=case.variables, stdout=silent, stderr=silent, cwd=case.folder)
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/projects", server)
        hits = asked_by_rest(case, f"http://127.0.0.1:{port}/v1/projects/tagtopics/suggest-batch")
    finally:
        server.terminate()
        server.wait(30)
    f1 = [2 * right / (5 + len(case.test.tags_of(d))) for d, right in enumerate(hits)]
    assert np.mean(f1) == pytest.approx(case.asked_directly()["f1_at_5"], abs=5e-4)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "the server of Annif stopped"
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the server of Annif does not answer")


def asked_by_rest(case: Case, address: str) -> list[int]:
    """Return how many of the first five subjects are right for each test document."""
    assert case.test.texts is not None
    hits = []
    for first in range(0, case.test.n_docs, 32):  # the most that Annif takes
        texts = case.test.texts[first : first + 32]
        documents = {"documents": [{"text": text} for text in texts]}
        answer = httpx.post(address, json=documents, params={"limit": 5}, timeout=60)
        assert answer.status_code == 200, answer.text
        for i, one in enumerate(answer.json()):
            given = {hit["uri"] for hit in one["results"]}
            hits.append(len(given & set(case.test.tags_of(first + i))))
    return hits
