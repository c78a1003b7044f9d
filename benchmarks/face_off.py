"""Topics that people read, ours and those of other systems, side by side: docs/face-off.md.

    python -m benchmarks.face_off prepare CORPORA VECTORS ENCODER WORK
    python -m benchmarks.face_off run WORK [--python PEERS/bin/python] [SYSTEM/CORPUS ...]
    python -m benchmarks.face_off page WORK

`prepare` counts words and copies the vectors that a sentence encoder gave to the documents, VECTORS/NAME.npy.
`run` fits every system with five seeds, in its own process on one core, to a half of the documents, and adds
what is measured to `results/face-off.jsonl`; `page` writes the page from these records.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import tagtopics as tt
from benchmarks.face_off_worker import ENCODED, SYSTEMS
from tagtopics.bp.fold_in import FoldIn
from tagtopics.bp.holdout import log_likelihoods, topic_coherence
from tagtopics.corpus.splits import completion

RESULTS = Path(__file__).parent / "results" / "face-off.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "face-off.md"
SEEDS, TOPICS = range(5), 20
ALPHAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SOURCES: dict[str, dict[str, Any]] = {
    "bbc": {"source": "bbc/documents.jsonl.gz", "text": "text", "tags": "label"},
    "dblp": {"source": "dblp/documents.jsonl.gz", "text": "text", "tags": "label"},
    "reuters": {"source": "reuters"},
    "anthology": {"source": "anthology/papers.jsonl.gz", "text": ["title", "abstract"], "tags": "venue"},
    "tibcore": {"source": "tibcore/documents.jsonl.gz", "text": ["title", "abstract"], "tags": "subjects"},
    "poliblog": {"source": "poliblog"},
}
CLASSES = ("bbc", "dblp", "reuters")  # of which most documents have exactly one
ENV = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def prepare(corpora: str, vectors: str, encoder: str, work: str) -> None:
    """Write the counts, classes and vectors of all collections."""
    for name, arguments in SOURCES.items():
        given = dict(arguments)
        corpus = tt.read_corpus(Path(corpora) / given.pop("source"), **given)
        kept = np.flatnonzero(np.diff(corpus.counts.indptr) > 0)
        if name in CLASSES:
            kept = kept[np.diff(corpus.tags.indptr)[kept] == 1]
        folder, file = Path(work) / name, Path(vectors) / f"{name}.npy"
        folder.mkdir(parents=True, exist_ok=True)
        sp.save_npz(folder / "counts.npz", sp.csr_matrix(corpus.counts[kept]))
        if name in CLASSES:
            np.save(folder / "classes.npy", corpus.tags[kept].indices)
        if file.exists():
            np.save(folder / "vectors.npy", np.load(file)[kept])
        words = [word.replace(" ", "_") for word in corpus.vocabulary]
        (folder / "about.json").write_text(json.dumps({"words": words, "encoder": encoder}))


def run(work: str, python: str, chosen: list[str]) -> None:
    """Fit what is not in the records yet."""
    known = {(row["system"], row["corpus"], row["seed"]) for row in records()}
    for name in SOURCES:
        folder = Path(work) / name
        for system in SYSTEMS:
            if system in ENCODED and not (folder / "vectors.npy").exists():
                continue
            if chosen and f"{system}/{name}" not in chosen and name not in chosen:
                continue
            for seed in SEEDS:
                if (system, name, seed) in known:
                    continue
                out = folder / f"{system.replace(' ', '-')}-{seed}"
                interpreter = sys.executable if system in list(SYSTEMS)[:3] else python
                worker = [interpreter, str(Path(__file__).with_name("face_off_worker.py"))]
                arguments = [system, str(folder), str(seed), str(TOPICS), str(out)]
                done = subprocess.run([*worker, *arguments], env=os.environ | ENV, stderr=subprocess.PIPE)
                if done.returncode:
                    sys.stderr.write(f"{system} {name} {seed}: {done.stderr.decode()[-300:]}\n")
                    break
                row = json.loads(Path(f"{out}.json").read_text())
                row |= measure(folder, row, np.load(f"{out}.npz"))
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                sys.stderr.write(f"{system} {name} {seed}: {row['npmi']:.3f} {row['seconds']:.1f} s\n")


def measure(folder: Path, row: dict[str, Any], found: Any) -> dict[str, float]:
    """Return the measures of a fit: of its lists in the other half, of its classes, of its predictions."""
    counts, words = sp.csr_array(sp.load_npz(folder / "counts.npz")), _words(folder)
    order = np.random.default_rng(row["seed"]).permutation(counts.shape[0])
    other = sp.csr_array(counts[order[1::2]])
    ids = tuple(map(str, range(other.shape[0])))
    no_tags = sp.csr_array((len(ids), 0))
    corpus = tt.Corpus(counts=other, tags=no_tags, vocabulary=tuple(words), tag_names=(), ids=ids)
    lists = [[words[w] for w in topic] for topic in row["lists"]]
    measured = {
        "npmi": float(topic_coherence(corpus, lists).mean()),
        "diversity": len({word for topic in lists for word in topic}) / sum(map(len, lists)),
    }
    if (folder / "classes.npy").exists():
        classes = np.load(folder / "classes.npy")[order[::2]]
        measured["nmi"] = float(normalized_mutual_info_score(classes, found["labels"]))
        measured["ari"] = float(adjusted_rand_score(classes, found["labels"]))
    if "phi" in found:
        measured["perplexity"] = _perplexity(found["phi"], other, row["seed"])
    return measured


def _words(folder: Path) -> list[str]:
    words: list[str] = json.loads((folder / "about.json").read_text())["words"]
    return words


def _perplexity(topics: Any, counts: Any, seed: int) -> float:
    """Return the perplexity of half of the words of documents, given the others.

    The alpha of the fold-in is chosen on a fifth of the documents and used for the others.
    """
    phi = np.ascontiguousarray((topics / topics.sum(1, keepdims=True)).T, dtype=np.float32)
    seen, hidden = completion(counts, seed)

    def score(alpha: float, rows: slice) -> float:
        theta = FoldIn(phi, np.full(phi.shape[1], alpha, dtype=np.float32)).doc_topic(seen[rows])
        return float(np.exp(-log_likelihoods(hidden[rows], theta, phi).sum() / hidden[rows].sum()))

    chosen = min(ALPHAS, key=lambda alpha: score(alpha, slice(0, counts.shape[0] // 5)))
    return score(chosen, slice(counts.shape[0] // 5, None))


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def stability(rows: list[dict[str, Any]]) -> float:
    """Return how many of the ten words two fits share in matched topics, mean over pairs of seeds."""
    shares = []
    for one, two in combinations([row["lists"] for row in rows], 2):
        common = np.array([[len(set(a) & set(b)) for b in two] for a in one])
        shares.append(common[linear_sum_assignment(-common)].mean() / 10)
    return float(np.mean(shares))


MEASURES = {
    "npmi": ("NPMI", 3), "diversity": ("diversity", 2), "nmi": ("NMI", 3), "ari": ("ARI", 3),
    "perplexity": ("perplexity", 0), "seconds": ("processor s", 1), "megabytes": ("MB", 0),
}  # fmt: skip


def table(name: str, rows: list[dict[str, Any]]) -> str:
    """Return the table of a collection: means of five seeds and half of their 95 % intervals."""
    used = [key for key in MEASURES if any(key in row for row in rows)]
    heads = [MEASURES[key][0] for key in used]
    lines = [f"| {name} | {' | '.join(heads)} | stability |", "|---" * (len(used) + 2) + "|"]
    for system in SYSTEMS:
        own = [row for row in rows if row["system"] == system]
        if len(own) < len(SEEDS):
            continue
        cells = []
        for key in used:
            values, digits = [row[key] for row in own if key in row], MEASURES[key][1]
            half = 2.776 * np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 2 else 0.0
            shown = f"{np.mean(values):,.{digits}f}" if values else ""
            cells.append(
                f"{shown} ± {half:.{digits}f}" if values and key not in ("seconds", "megabytes") else shown
            )
        lines.append(f"| {system} | {' | '.join(cells)} | {stability(own):.2f} |")
    return "\n".join(lines)


def side_by_side(work: str, rows: list[dict[str, Any]], name: str) -> str:
    """Return topics of the first seed: each of ours beside the nearest list of the others."""
    words, shown = (
        _words(Path(work) / name),
        ("tagtopics", "tagtopics + vectors", "NMF of TF-IDF", "BERTopic"),
    )
    first = {row["system"]: row["lists"] for row in rows if row["corpus"] == name and row["seed"] == 0}
    columns = [system for system in shown if system in first]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for own in first["tagtopics"]:
        near = [max(first[system], key=lambda other: len(set(own) & set(other))) for system in columns[1:]]
        lines.append(f"| {' | '.join(', '.join(words[w] for w in topic) for topic in (own, *near))} |")
    return "\n".join(lines)


def page(work: str) -> str:
    """Return the page."""
    rows = records()
    tables = [table(name, [row for row in rows if row["corpus"] == name]) for name in SOURCES]
    joined = "\n\n".join(tables)
    return _PAGE.format(n=TOPICS, tables=joined, lists=side_by_side(work, rows, "bbc"))


_PAGE = """# Topics of several systems

Written by `python -m benchmarks.face_off page` from `benchmarks/results/face-off.jsonl`. {n} topics are
learned from a half of the documents, drawn by each of five seeds, by default settings of every system, with
the same words. Means, and half of the width of the 95 % interval of the mean.

- **NPMI** of the ten words of each topic, counted in the other half of the documents, and **diversity**, the
  share of different words in all lists. [Decision 256](decisions/256-topic-words.md) says how we list words.
- **NMI** and **ARI**: agreement of the main topic of a document with its class, which no system sees. Of
  Reuters, stories with one tag are used.
- **Perplexity** of half of the words of the other documents given the rest, for systems with
  p(word | topic); the prior of the fold-in is chosen on a fifth of these documents.
- **Processor seconds** of the fit on one core, without reading and without encoding. Encoding with MiniLM
  (all-MiniLM-L6-v2, at most 128 tokens of a text, one core) takes 10 to 200 documents a second, which adds
  minutes for the systems with vectors: tagtopics + vectors, k-means, BERTopic, KeyNMF and S3.
- **Stability**: the share of the ten words that two seeds have in common in matched topics. The halves
  differ, too.

Outliers of BERTopic are given to the nearest cluster for NMI and ARI; it may find fewer than {n} topics.
All our rows are older than the present code, which chooses priors by shorter fits and, with vectors, merges
topics by another rule ([decision 209](decisions/209-vectors.md) has newer figures of BBC and Reuters). Rows
with vectors on Reuters, anthology and TIB core are the oldest: topics started from clusters of k-means. Our
vectors of BBC and dblp were encoded in mixed precision (cosine with the others .99998). k-means lists
words by class-based TF-IDF. tomotopy and topica run 1,000 sweeps. A system is listed for the collections on
which all five seeds were run.

**Where we lose.** BERTopic agrees better with the classes of Reuters than our topics with vectors do, and by
ARI also with those of dblp; on BBC they are level. With vectors our lists on BBC and dblp are less coherent
than without, and words are predicted 1 to 5 % worse. NMF and KeyNMF are more stable from seed to seed. On the
titles of dblp, with five words each, the lists of tomotopy, topica and k-means are more coherent, but repeat
words.

{tables}

## BBC news, side by side

The lists of the first seed: each topic of tagtopics beside the list of each other system that shares most
words with it.

{lists}
"""


if __name__ == "__main__":
    action, *arguments = sys.argv[1:]
    if action == "prepare":
        prepare(*arguments)
    elif action == "run":
        peers = arguments.pop(arguments.index("--python") + 1) if "--python" in arguments else sys.executable
        work, *chosen = [argument for argument in arguments if argument != "--python"]
        run(work, peers, chosen)
    else:
        PAGE.write_text(page(*arguments), encoding="utf-8")
