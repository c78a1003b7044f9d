"""Measure a bibliography to a report, background topics, and curation, for `results.py`."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt


def note(*values: Any) -> None:
    """Write progress to standard error."""
    sys.stderr.write(" ".join(map(str, values)) + "\n")


def load(name: str) -> tt.Corpus:
    """Return a real corpus by name."""
    folder = Path(os.environ["TAGTOPICS_DATA"])
    if name == "anthology":
        source = folder / "anthology" / "papers.jsonl.gz"
        return tt.read_corpus(source, text=["title", "abstract"], tags=["authors", "venue", "year"])
    if name == "tibcore":
        return tt.read_corpus(
            folder / "tibcore" / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects"
        )
    if name == "docstrings":
        return tt.load_dataset("docstrings")
    return tt.read_corpus(folder / name)


def write_bibliography(target: Path) -> int:
    """Write the papers of anthology as BibTeX, with bibtexparser; return how many there are."""
    from bibtexparser.entrypoint import write_file
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    source = Path(os.environ["TAGTOPICS_DATA"]) / "anthology" / "papers.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    entries: list[Any] = []
    for row in rows:
        values = {name: str(row[name]) for name in ("title", "abstract", "year")}
        values |= {"booktitle": row["venue"], "author": " and ".join(row["authors"])}
        safe = {name: re.sub(r"([{}%&#_$~\\\\])", " ", value) for name, value in values.items()}
        fields = [Field(name, value) for name, value in {**safe, "url": row["url"]}.items()]
        entries.append(Entry("inproceedings", row["id"], fields))
    write_file(str(target), Library(entries), encoding="utf-8")
    return len(entries)


def bib() -> Any:
    """Return the seconds of `tagtopics fit x.bib` and `tagtopics report`, with all defaults."""
    command = str(Path(sys.executable).parent / "tagtopics")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entries = write_bibliography(folder / "x.bib")
        began, used = time.perf_counter(), os.times()
        steps = {}
        for arguments in (["fit", "x.bib", "--out", "x.tt"], ["report", "x.tt", "--out", "x.html"]):
            done = subprocess.run(  # our own command
                [command, *arguments, "--json"], cwd=folder, check=True, capture_output=True
            )
            note(done.stderr.decode())
            steps[arguments[0]] = json.loads(done.stdout)["seconds"]
        now = os.times()
        seconds = time.perf_counter() - began
        size, there = (folder / "x.html").stat().st_size, known_of_first(folder / "x.tt")
    spent = now.children_user + now.children_system - used.children_user - used.children_system
    note(seconds, steps, there)
    return {"entries": entries, "seconds": seconds, "processor_seconds": spent, "steps": steps,
            "load": os.getloadavg()[0], "bytes": size, "shown": there}  # fmt: skip


def known_of_first(model: Path) -> dict[str, bool]:
    """Return whether the first paper of anthology has everything in a model."""
    from tagtopics.models.persistence import load_with_corpus

    corpus = load_with_corpus(model)[1]
    assert corpus is not None
    titles, dates, urls = corpus.titles or ("",), corpus.dates or ("",), corpus.urls or ("",)
    tags = {corpus.tag_names[t] for t in corpus.tags[[0]].indices}
    return {
        "authors": "author:Chengqing Zong" in tags,
        "venue": "venue:AACL" in tags,
        "year": dates[0] == "2020",
        "title": "Touch Editing" in (titles[0] or ""),
        "link": "aclanthology.org/2020.aacl-main.1" in (urls[0] or ""),
    }


def background(name: str) -> Any:
    """Return the largest topic of a default model that is no background, and the background, if any."""
    model: Any = tt.TTM(random_state=0).fit_topics(load(name))
    shares, spread, names = model.topic_shares(), model.background_topics(), model.topic_names()
    largest = int(np.where(spread, 0, shares).argmax())
    return [{
        "corpus": name,
        "largest": float(shares[largest]),
        "name": names[largest],
        "background": [{"share": float(shares[k]), "name": names[k]} for k in np.flatnonzero(spread)],
    }]  # fmt: skip


WORKFLOW: dict[str, Callable[[], Any]] = {
    "bib": bib,
    **{
        f"background-{name}": partial(background, name)
        for name in ("anthology", "reuters", "docstrings", "tibcore")
    },
}
