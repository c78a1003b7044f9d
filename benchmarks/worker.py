"""One measurement in its own process: `python -m benchmarks.worker JOB` writes one JSON record."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import machine, ours, peers
from benchmarks.corpora import ROOT, load_task
from benchmarks.evaluator import Evaluator, unigram_perplexity
from benchmarks.limits import Limits
from benchmarks.recorder import Recorder


def measure(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Run one job and return its record."""
    before = machine.load_average()
    began = time.perf_counter()
    result = KINDS[job["kind"]](job, limits)
    spent = round(time.perf_counter() - began, 2)
    loads = [before, machine.load_average()]
    return {"job": job, "limits": limits._asdict(), "load": loads, "wall_seconds": spent} | result


def curve(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Train one system on one corpus; perplexity against seconds, memory, speed of fold-in."""
    task = load_task(job["corpus"], limits)
    name, seed = job["system"], job.get("seed", 0)
    peer = peers.PEERS.get(name)
    recorder = _recorder(Evaluator(task, limits.workers), job, limits, peer)
    began = time.perf_counter()
    if peer is None:
        more = ours.run(task, name, recorder, seed, limits, job.get("priors"))
    else:
        priors = peers.Priors(*job["priors"]) if "priors" in job else peer.priors
        more = peer.run(task, recorder, seed, limits, priors) | {"priors": priors._asdict()}
    return {
        "corpus": _facts(task),
        "curve": recorder.curve,
        "train_seconds": round(recorder.seconds, 4),
        "peak_mb": round(recorder.peak_mb, 1),
        "base_mb": round(recorder.base_mb, 1),
        "prepare_and_score_seconds": round(time.perf_counter() - began - recorder.seconds, 2),
        "versions": _version(peer.module if peer else "tagtopics"),
    } | more


def pilot(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Train a system briefly to compare priors."""
    short = limits._replace(
        gibbs_sweeps=min(200, limits.gibbs_sweeps),
        passes=min(3, limits.passes),
        our_sweeps=min(20, limits.our_sweeps),
        seconds=min(30.0, limits.seconds),
        our_ratio=2.0,
        gibbs_ratio=4.0,
    )
    return curve(job, short)


def quality(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Train one of our systems with several seeds and score the last sweep of each."""
    task = load_task(job["corpus"], limits)
    rows = []
    ours.warm(job["system"], task, limits)
    limits = limits._replace(our_sweeps=limits.quality_sweeps)
    for seed in range(limits.seeds):
        recorder = Recorder(Evaluator(task, limits.workers), 1e9, 1e9, limits.our_sweeps)
        ours.run(task, job["system"], recorder, seed, limits, job.get("priors"))
        rows.append({"seed": seed, "perplexity": recorder.curve["perplexity"][-1]})
    return {"rows": rows}


def scaling(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Time sweeps of generated corpora; see `benchmarks.scaling`."""
    from benchmarks.scaling import measure_scaling

    return measure_scaling(limits)


def roofline(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Measure the machine and compare a sweep with it; see `benchmarks.roofline`."""
    from benchmarks.roofline import measure_roofline

    return measure_roofline(limits)


def memory(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Measure the peak memory of the lean engine on a corpus of 100 distinct words per document."""
    from benchmarks.scaling import measure_memory

    return measure_memory(limits)


def compilation(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Time the first fit with the kernel cache as it is; `run` provides an empty one, then a filled one."""
    import numpy as np

    import tagtopics as tt

    rows = {}
    counts = np.random.default_rng(0).poisson(1.0, (30, 40))
    tags = [[f"t{d % 3}", f"t{d % 5 + 3}"] for d in range(30)]
    for name, model in (("LDA", tt.LDA(5, max_iter=2)), ("TTM-H", tt.MarkovTTM(5, max_iter=2))):
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            model.fit(counts, tags).transform(counts)
            seconds.append(time.perf_counter() - began)
        rows[name] = {"first": round(seconds[0], 3), "second": round(seconds[1], 4)}
    return {"rows": rows}


KINDS = {
    "curve": curve,
    "pilot": pilot,
    "quality": quality,
    "scaling": scaling,
    "roofline": roofline,
    "memory": memory,
    "compilation": compilation,
}


def _recorder(evaluator: Evaluator, job: dict[str, Any], limits: Limits, peer: Any) -> Recorder:
    unit = "ours" if peer is None else peer.unit
    ratio, last = {
        "ours": (limits.our_ratio, limits.our_sweeps),
        "sweeps": (limits.gibbs_ratio, limits.gibbs_sweeps),
        "passes": (1.0, limits.passes),
    }[unit]
    cap = limits.cap(job["corpus"])
    if unit == "ours" and job["corpus"] == "generated":
        cap /= 2
    messages_mb = 4e-6 * evaluator.task.train.counts.nnz * limits.n_topics
    return Recorder(evaluator, cap, ratio, last, memory_mb=2000 + 1.5 * messages_mb)


def _facts(task: Any) -> dict[str, float]:
    counts = task.train.counts
    return {
        "train_docs": task.train.n_docs,
        "test_docs": int(task.test.seen.shape[0]),
        "words": task.train.n_words,
        "edges": int(counts.nnz),
        "tokens": int(counts.sum(dtype="int64")),
        "tags": task.train.n_tags,
        "tags_per_doc": round(task.train.tags.nnz / task.train.n_docs, 2),
        "unigram_perplexity": round(unigram_perplexity(task), 2),
    }


def _version(module: str) -> dict[str, str]:
    package = {"sklearn": "scikit-learn"}.get(module, module)
    found = version(package)
    if package == "tagtopics":
        asked = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
        found += f" {subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()}"
    return {package: found}


def main() -> None:
    """Read a job and limits as JSON, run the job, and write its record atomically."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", help="JSON: kind, and what the kind needs")
    parser.add_argument("limits", help="JSON: the fields of Limits")
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    record = measure(json.loads(arguments.job), Limits(**json.loads(arguments.limits)))
    temporary = arguments.out.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(record, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    os.replace(temporary, arguments.out)


if __name__ == "__main__":
    main()
