"""From JSON lines to a report on disk: each step of ours and of what users would otherwise do, in one run.

    python -m benchmarks.e2e                      all systems on both corpora, then the page (make bench-e2e)
    python -m benchmarks.e2e --docs 2000          a quick look
    python -m benchmarks.e2e --page               write the page again from the records

Each system runs in processes of its own, one after the other. Ours are the commands `fit` and `report` with
their defaults; their modules are compiled to bytecode before, as an installation does. A peer reads the lines
with the json module, counts words with scikit-learn's vectoriser, fits with as many sweeps or passes as its
own documentation uses, and writes a page with pyLDAvis, if it is there.
"""

from __future__ import annotations

import argparse
import compileall
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.e2e_page import write_page
from benchmarks.e2e_peers import PEERS
from benchmarks.machine import load_average

ROOT = Path(__file__).resolve().parents[1]
RECORDS = Path(__file__).parent / "results" / "e2e"
CORPORA = ("generated", "abstracts")
Record = dict[str, Any]


def generated(n_docs: int) -> Iterator[dict[str, Any]]:
    """Yield the documents of the explorer's benchmark: words of planted topics, authors and years."""
    from benchmarks.explorer import large_corpus

    corpus = large_corpus(n_docs)
    for d, text in enumerate(corpus.texts or ()):
        yield {"id": corpus.ids[d], "text": text, "tags": list(corpus.tags_of(d))}


def abstracts(n_docs: int) -> Iterator[dict[str, Any]]:
    """Yield abstracts of the ACL Anthology with their authors; after the last, mixtures of two.

    A mixture has the first half of the sentences of one abstract, the second half of those of another, and
    the authors of both. Which two is drawn with a fixed seed.
    """
    folder = Path(os.environ.get("TAGTOPICS_DATA", ROOT.parent / "shared" / "data"))
    with gzip.open(folder / "anthology" / "papers.jsonl.gz", "rt", encoding="utf-8") as file:
        papers = [paper for line in file if (paper := json.loads(line))["abstract"]]
    draw = random.Random(0)
    for paper in papers[:n_docs]:
        yield {"id": paper["id"], "text": paper["abstract"], "tags": paper["authors"]}
    for d in range(len(papers), n_docs):
        one, other = draw.sample(papers, 2)
        first, second = (re.split(r"(?<=\.) ", paper["abstract"]) for paper in (one, other))
        text = " ".join(first[: (len(first) + 1) // 2] + second[len(second) // 2 :])
        yield {"id": f"mixed-{d}", "text": text, "tags": [*one["authors"], *other["authors"]]}


def write_corpus(name: str, n_docs: int, path: Path) -> None:
    """Write a corpus as JSON lines."""
    rows = {"generated": generated, "abstracts": abstracts}[name](n_docs)
    with path.open("w", encoding="utf-8") as file:
        for row in islice(rows, n_docs):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def run_ours(path: Path, folder: Path, n_topics: int) -> Record:
    """Fit and report by the command line; what the commands do not measure is `other`."""
    model = folder / "model.tt"
    tagtopics = [sys.executable, "-c", "from tagtopics.cli import command; command()"]
    fit = [*tagtopics, "fit", path, "--topics", n_topics, "--out", model, "--json"]
    fitted, fit_seconds, fit_mb = _measured(fit)
    report = [*tagtopics, "report", model, "--out", folder / "report.html", "--json"]
    reported, report_seconds, report_mb = _measured(report)
    steps = dict(fitted["seconds"])
    for name, value in reported["seconds"].items():
        steps[name] = steps.get(name, 0.0) + value
    seconds = fit_seconds + report_seconds
    return {
        "seconds": steps | {"other": seconds - sum(steps.values())},
        "total": seconds,
        "peak_mb": max(fit_mb, report_mb),
        "n_tokens": fitted["n_tokens"],
        "n_words": fitted["n_words"],
        "iterations": fitted["iterations"],
    }


def run_peer(name: str, path: Path, folder: Path, n_topics: int) -> Record:
    """Run a peer in a process of its own."""
    worker = [sys.executable, "-m", "benchmarks.e2e_peers", name, path, folder / "report.html", n_topics]
    record, seconds, peak_mb = _measured(worker)
    other = seconds - sum(record["seconds"].values())
    return record | {
        "seconds": record["seconds"] | {"other": other},
        "total": seconds,
        "peak_mb": peak_mb,
    }


def _measured(command: list[Any]) -> tuple[Record, float, float]:
    """Run a command; return the JSON it prints, its seconds, and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        for file in (out, errors):
            file.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {errors.read()[-2000:]}")
        return json.loads(out.read()), seconds, usage.ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docs", type=int, default=50_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--corpora", nargs="+", default=CORPORA, choices=CORPORA)
    parser.add_argument("--systems", nargs="+", default=("ours", *PEERS), choices=("ours", *PEERS))
    parser.add_argument("--out", type=Path, default=RECORDS)
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--docs-folder", type=Path, default=ROOT / "docs")
    options = parser.parse_args(arguments)
    if not options.page:
        options.out.mkdir(parents=True, exist_ok=True)
        compileall.compile_dir(ROOT / "src" / "tagtopics", quiet=1)
        with tempfile.TemporaryDirectory() as temporary:
            for corpus in options.corpora:
                _run_all(corpus, options, Path(temporary))
    write_page(options.out, options.docs_folder)


def _run_all(corpus: str, options: argparse.Namespace, folder: Path) -> None:
    path = folder / f"{corpus}.jsonl"
    write_corpus(corpus, options.docs, path)
    path.read_bytes()  # so that every system finds it in memory
    for system in options.systems:
        job = {"corpus": corpus, "system": system, "n_docs": options.docs, "n_topics": options.topics}
        before, work = load_average(), folder / f"{corpus}-{system}"
        work.mkdir()
        if system == "ours":
            measured = run_ours(path, work, options.topics)
        else:
            measured = run_peer(system, path, work, options.topics)
        record = {"job": job, "load": before, **measured}
        target = options.out / f"{corpus}-{system}.json"
        target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"{corpus} {system}: {record['total']:.1f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
