"""Train and ask Annif on the splits of `results.py`.

    python -m reproduction.headings.annif environment          install Annif in build/annif (`make annif`)
    python -m reproduction.headings.annif run PROJECT SEED...  train if needed, suggest, append a record
    python -m reproduction.headings.annif tune ENSEMBLE SEED   print the weights that `annif hyperopt` chooses
    python -m reproduction.headings.annif eval PROJECT SEED    print what `annif eval` measures

Projects are those of PROJECTS. Annif runs unpatched, by its own commands, in an environment of its own: the
one that TAGTOPICS_ANNIF names, else build/annif. Its analyzers need NLTK's sentence model for English, which
is a download. Instead, one is trained with NLTK's own trainer on the training part of the split.
`run SEED` of `results.py` must have written the split.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from reproduction.headings.results import FOLDER, RANKS, append, megabytes, read, records, unseen_ranked
from tagtopics.evaluation.recommendation import per_document

VERSION = "1.4.3"
ENVIRONMENT = Path(os.environ.get("TAGTOPICS_ANNIF", "build/annif"))

PARABEL = "backend=omikuji\nanalyzer=snowball(english)\nmin_df=2"
BONSAI = PARABEL + "\ncluster_balanced=False\ncluster_k=100\nmax_depth=3"
PROJECTS = {
    "omikuji": PARABEL,
    "omikuji-bonsai": BONSAI,
    "omikuji-bigrams": PARABEL + "\nngram=2",
    "mllm": "backend=mllm\nanalyzer=snowball(english)",
    "omikuji-mllm": "backend=ensemble\nsources=omikuji,mllm",
    "omikuji-mllm-tuned": "backend=ensemble\nsources=omikuji,mllm",
    "tagtopics": "backend=http\nendpoint=http://127.0.0.1:{port}/v1/projects/tagtopics/suggest",
    "tagtopics-omikuji": "backend=ensemble\nsources=tagtopics,omikuji",
    "tagtopics-omikuji-tuned": "backend=ensemble\nsources=tagtopics,omikuji",
}
TRAINED = ("omikuji", "omikuji-bonsai", "omikuji-bigrams", "mllm")

SENTENCES = """
import json, os, sys
from nltk.tokenize.punkt import PunktTrainer, save_punkt_params
texts = [json.loads(line)["text"] for line in open(sys.argv[1], encoding="utf-8")]
trainer = PunktTrainer("\\n".join(texts))
os.makedirs(sys.argv[2])
save_punkt_params(trainer.get_params(), sys.argv[2])
"""


def environment() -> None:
    """Install Annif in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(ENVIRONMENT / "bin/python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"annif[omikuji]=={VERSION}"], check=True)


class Annif:
    """Annif with the vocabulary and the projects of one split."""

    def __init__(self, seed: str, port: int = 0) -> None:
        self.folder = FOLDER / seed
        self.data = self.folder / "annif"
        self.data.mkdir(exist_ok=True)
        self._port = port
        self._write_projects()
        self._prepare()

    def _write_projects(self) -> None:
        lines = []
        for name, settings in PROJECTS.items():
            lines.append(
                f"[{name}]\nname={name}\nlanguage=en\nvocab=headings\n{settings.format(port=self._port)}\n"
            )
        (self.data / "projects.cfg").write_text("\n".join(lines), encoding="utf-8")

    def _prepare(self) -> None:
        sentences = self.data / "nltk/tokenizers/punkt_tab/english"
        if not sentences.exists():
            python = str(ENVIRONMENT / "bin/python")
            train = str(self.folder / "train.jsonl")
            subprocess.run([python, "-c", SENTENCES, train, str(sentences)], check=True)
        if not (self.data / "data/vocabs").exists():
            loaded = FOLDER / "vocabs"  # the same for all splits
            if not loaded.exists():
                self._load_vocabulary(FOLDER / "vocabulary.tsv")
                shutil.copytree(self.data / "data/vocabs", loaded)
            else:
                shutil.copytree(loaded, self.data / "data/vocabs")

    def _load_vocabulary(self, path: Path) -> None:
        corpus, names = read()
        known = {tag: names.get(tag, tag) for tag in (*names, *corpus.tag_names)}
        path.write_text("".join(f"<{tag}>\t{name}\n" for tag, name in known.items()), encoding="utf-8")
        self("load-vocab", "--language", "en", "headings", str(path))

    def __call__(self, *arguments: str) -> str:
        """Run a command of Annif and return what it prints."""
        paths = {
            "ANNIF_DATADIR": self.data / "data",
            "ANNIF_PROJECTS": self.data / "projects.cfg",
            "NLTK_DATA": self.data / "nltk",
        }
        variables = {name: str(path.resolve()) for name, path in paths.items()}
        command = [str(ENVIRONMENT / "bin/annif"), *arguments]
        done = subprocess.run(
            command, env=os.environ | variables, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def train(self, project: str) -> dict[str, float]:
        """Train a project unless it is trained; return the seconds, from an earlier run if there was one."""
        spent = self.data / f"{project}.json"
        if not spent.exists():
            began, cpu = time.perf_counter(), _cpu()
            self("train", "--jobs", "1", project, str(self.folder / "train.jsonl"))
            used = {"seconds": time.perf_counter() - began, "cpu_seconds": _cpu() - cpu}
            used["megabytes"] = megabytes(self.data / "data/projects" / project)
            spent.write_text(json.dumps(used), encoding="utf-8")
        return dict(json.loads(spent.read_text(encoding="utf-8")))

    def suggestions(self, project: str) -> list[list[str]]:
        """Return the URIs that a project suggests for each test document, best first."""
        output = self.data / f"{project}.suggestions.jsonl"
        output.unlink(missing_ok=True)
        options = ["--limit", str(RANKS), "--no-include-doc", "--output", str(output)]
        self("index", *options, project, str(self.folder / "test.jsonl"))
        lines = output.read_text(encoding="utf-8").splitlines()
        return [[hit["uri"] for hit in json.loads(line)["results"]] for line in lines]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def serving(model: Path) -> Iterator[int]:
    """Serve a model on a free port of the loopback address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = Path(sys.executable).with_name("tagtopics")
    server = subprocess.Popen(
        [str(command), "serve", str(model), "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _await(f"http://127.0.0.1:{port}/v1/projects/tagtopics", server)
        yield port
    finally:
        server.terminate()
        server.wait()


def _await(address: str, server: subprocess.Popen[bytes], seconds: float = 300) -> None:
    for _ in range(int(seconds * 5)):
        if server.poll() is not None:
            raise SystemExit(f"the server stopped with code {server.returncode}")
        try:
            with urllib.request.urlopen(address):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


@contextmanager
def annif_for(project: str, seed: str) -> Iterator[Annif]:
    """Yield Annif, with a server of our model if the project asks for one; train what is needed."""
    needs = PROJECTS[project] if "sources" in PROJECTS[project] else project
    if "tagtopics" in needs:
        with serving(FOLDER / seed / "model.tt") as port:
            yield Annif(seed, port)
    else:
        yield Annif(seed)


def sources_of(project: str) -> list[str]:
    """Return the projects that must be trained for a project."""
    listed = re.search(r"sources=(.*)", PROJECTS[project])
    names = [part.partition(":")[0] for part in listed[1].split(",")] if listed else [project]
    return [name for name in names if name in TRAINED]


def measured(suggestions: list[list[str]], seed: str) -> dict[str, float]:
    """Return the measures of suggestions for the test documents of a split."""
    folder = FOLDER / seed
    truth, seen = _subjects(folder / "test.jsonl"), _subjects(folder / "train.jsonl")
    columns = {tag: c for c, tag in enumerate(sorted({tag for row in (*truth, *suggestions) for tag in row}))}
    table = np.zeros((len(truth), len(columns) + 1), dtype=bool)
    ranked = np.full((len(truth), RANKS), len(columns))
    for d, (right, given) in enumerate(zip(truth, suggestions, strict=True)):
        table[d, [columns[tag] for tag in right]] = True
        ranked[d, : len(given)] = [columns[tag] for tag in given[:RANKS]]
    known = {tag for row in seen for tag in row}
    unseen = np.array([tag not in known for tag in columns] + [False])
    return {**per_document(table, ranked), **unseen_ranked(table, ranked, unseen)}


def _subjects(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[subject["uri"] for subject in json.loads(line)["subjects"]] for line in lines]


def run(project: str, seeds: list[str]) -> None:
    """Append the records of a project that are missing."""
    done = {(record["system"], record["seed"]) for record in records() if "earlier" not in record}
    for seed in seeds:
        if (f"annif {project}", seed) in done:
            continue
        with annif_for(project, seed) as annif:
            spent = [annif.train(name) for name in sources_of(project)]
            totals = {
                key: sum(part[key] for part in spent) for key in ("seconds", "cpu_seconds", "megabytes")
            }
            found = measured(annif.suggestions(project), seed)
        append({"system": f"annif {project}", "seed": seed, "settings": PROJECTS[project], **found, **totals})


def tune(project: str, seed: str) -> None:
    """Print the weights that Annif chooses for an ensemble on the test documents of a split."""
    with annif_for(project, seed) as annif:
        for name in sources_of(project):
            annif.train(name)
        sys.stdout.write(annif("hyperopt", "--trials", "30", project, str(annif.folder / "test.jsonl")))


def evaluate(project: str, seed: str) -> None:
    """Print the measures of Annif itself."""
    with annif_for(project, seed) as annif:
        sys.stdout.write(annif("eval", project, str(annif.folder / "test.jsonl")))


if __name__ == "__main__":
    match sys.argv[1]:
        case "environment":
            environment()
        case "run":
            run(sys.argv[2], sys.argv[3:])
        case "tune":
            tune(*sys.argv[2:4])
        case "eval":
            evaluate(*sys.argv[2:4])
        case other:
            raise SystemExit(f"unknown command {other}")
