"""Run the benchmark: one process per record, one after the other; existing records are kept."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import corpora, ours, peers, report
from benchmarks.limits import PRESETS, Limits

SECTIONS = ("priors", "curves", "quality", "compilation", "scaling", "roofline", "memory")
ENGINE_CORPORA = ("cora", "reuters", "generated")
"""Corpora with a curve for each engine; their quality is compared on more corpora."""
QUALITY_CORPORA = ("cora", "reuters", "bibtex", "docstrings")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
ETAS = (0.01, 0.02, 0.05, 0.2)
"""Word priors tried by pilot runs, for us and for the peers."""

Job = dict[str, Any]
Priors = dict[tuple[str, str], list[float]]
"""(alpha, eta) by corpus and system, as chosen by pilot runs."""


def jobs(
    sections: list[str], names: list[str], wanted: list[str], limits: Limits, priors: Priors
) -> Iterator[Job]:
    """Yield all jobs: ours before and after the peers, to make noise visible."""
    for job in _bare_jobs(sections, names, wanted, limits):
        pilot = _pilot_of(job["system"]) if "system" in job else ""
        chosen = priors.get((job.get("corpus", ""), pilot))
        yield job if chosen is None else job | {"priors": chosen}


def _bare_jobs(sections: list[str], names: list[str], wanted: list[str], limits: Limits) -> Iterator[Job]:
    for name in names if "curves" in sections else ():
        mine = [s for s in ours.systems() if _is_wanted(s, name, wanted)]
        theirs = [p for p in peers.PEERS if (not wanted or p in wanted) and _installed(p)]
        yield from ({"kind": "curve", "corpus": name, "system": s, "repeat": 0} for s in mine)
        yield from ({"kind": "curve", "corpus": name, "system": p} for p in theirs)
        for repeat in range(1, limits.repeats):
            defaults = [s for s in mine if s.count("-") == 1]
            yield from ({"kind": "curve", "corpus": name, "system": s, "repeat": repeat} for s in defaults)
    if "quality" in sections:
        chosen = [name for name in names if name in (*QUALITY_CORPORA, "tiny")]
        systems = [f"ours-{kind}-{e}".rstrip("-") for kind in ours.MODELS for e in ours.engines()]
        yield from ({"kind": "quality", "corpus": c, "system": s} for c in chosen for s in systems)
    if "compilation" in sections:
        yield from ({"kind": "compilation", "cache": cache} for cache in ("empty", "filled"))
    yield from ({"kind": kind} for kind in ("scaling", "roofline", "memory") if kind in sections)


def _is_wanted(system: str, corpus: str, wanted: list[str]) -> bool:
    """Tell whether one of our systems runs: if named, else the defaults, and each engine on some corpora."""
    return system in wanted if wanted else system.count("-") == 1 or corpus in ENGINE_CORPORA


def pilots(names: list[str], wanted: list[str]) -> Iterator[Job]:
    """Yield short runs of our models and of one peer per library with several priors (appendix 242)."""
    systems = wanted or [*(f"ours-{kind}" for kind in ours.MODELS), *peers.PEERS]
    for system in dict.fromkeys(_pilot_of(system) for system in systems):
        if system in peers.PEERS and not _installed(system):
            continue
        for corpus, alpha, eta in itertools.product(names, _alphas(system), ETAS):
            if corpus != "generated":
                yield {"kind": "pilot", "corpus": corpus, "system": system, "priors": [alpha, eta]}


def _pilot_of(system: str) -> str:
    """Return the system whose pilot runs choose the priors of another."""
    return peers.PEERS[system].pilot if system in peers.PEERS else "-".join(system.split("-")[:2])


def _alphas(system: str) -> tuple[float, ...]:
    """Return the alphas of pilot runs: two if the library does not learn alpha, else one."""
    if system in peers.PEERS:
        return (0.1,) if peers.PEERS[system].unit == "sweeps" else (0.01, 0.1)
    return (ours.SETTINGS[system.split("-")[1]]["doc_topic_prior"],)


def chosen_priors(folder: Path) -> Priors:
    """Return the priors of the pilot run with the lowest perplexity on validation documents."""
    found: dict[tuple[str, str], tuple[float, list[float]]] = {}
    for path in sorted(folder.glob("pilot-*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        key = (record["job"]["corpus"], record["job"]["system"])
        entry = (min(record["curve"]["validation"]), record["job"]["priors"])
        found[key] = min(entry, found.get(key, entry))
    return {key: priors for key, (_, priors) in found.items()}


def file_of(job: Job) -> str:
    """Return the name of a job's record."""
    parts = [job["kind"], job.get("corpus"), job.get("system"), job.get("cache")]
    if job.get("repeat"):
        parts.append(f"again{job['repeat']}")
    if job["kind"] == "pilot":
        parts.append("-".join(f"{value:g}" for value in job["priors"]))
    return "-".join(part for part in parts if part) + ".json"


def do(job: Job, limits: Limits, folder: Path, cache: Path) -> str:
    """Run a job in its own process and return the outcome."""
    out = folder / file_of(job)
    environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONWARNINGS": "ignore"}
    if job["kind"] == "compilation":
        environment["NUMBA_CACHE_DIR"] = str(cache)
        if job["cache"] == "filled" and not any(cache.iterdir()):
            do(job | {"cache": "empty"}, limits, folder, cache)
    command = [sys.executable, "-m", "benchmarks.worker", json.dumps(job), json.dumps(limits._asdict())]
    command.append(str(out))
    longest = 900 + 2 * limits.cap(job.get("corpus", ""))
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, cwd=corpora.ROOT, env=environment, stderr=errors, start_new_session=True
        )
        try:
            failed = process.wait(longest)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own: peers have children
            process.wait()
            return f"no result within {longest:.0f} s"
        if failed:
            errors.seek(0)
            return "failed: " + (errors.read().strip().splitlines() or ["no message"])[-1]
    return f"{time.perf_counter() - began:.1f} s, {_headline(json.loads(out.read_text(encoding='utf-8')))}"


def is_recorded(job: Job, limits: Limits, folder: Path) -> bool:
    """Tell whether there is a record of a job with the same limits."""
    path = folder / file_of(job)
    if not path.exists():
        return False
    record = json.loads(path.read_text(encoding="utf-8"))
    return bool(record["limits"] == limits._asdict() and record["job"] == job)


def main() -> None:
    """Parse the options, run the missing jobs, write the page."""
    options = _parser().parse_args()
    limits = PRESETS[options.preset]
    if options.seconds:
        limits = limits._replace(seconds=options.seconds)
    if options.generated_seconds:
        limits = limits._replace(generated_seconds=options.generated_seconds)
    folder = options.out or _folder(options.preset)
    folder.mkdir(parents=True, exist_ok=True)
    names = _present(options.only)
    sections = options.sections or [s for s in SECTIONS if s != "priors" or options.preset == "full"]
    if not options.report_only:
        if "priors" in sections:
            _run_all(list(pilots(names, options.systems)), limits, folder, options.again)
        todo = jobs(sections, names, options.systems, limits, chosen_priors(folder))
        _run_all(list(todo), limits, folder, options.again)
    page, results = _pages(options.preset, folder, options.page)
    _say(report.write(folder, page, results))


def _run_all(todo: list[Job], limits: Limits, folder: Path, again: bool) -> None:
    failed = []
    with tempfile.TemporaryDirectory() as cache:
        for number, job in enumerate(todo, 1):
            label = f"[{number}/{len(todo)}] {file_of(job).removesuffix('.json')}"
            if not again and is_recorded(job, limits, folder):
                _say(f"{label}: recorded before")
                continue
            outcome = do(job, limits, folder, Path(cache))
            _say(f"{label}: {outcome}")
            if outcome.startswith(("failed", "no result")):
                failed.append(label)
    if failed:
        _say(f"{len(failed)} of {len(todo)} gave no result; the report goes without them")


def _present(only: list[str]) -> list[str]:
    names = []
    for name in only or corpora.NAMES:
        reason = corpora.available(name)
        if reason is None:
            names.append(name)
        else:
            _say(f"{name}: left out, {reason}")
    return names


def _installed(peer: str) -> bool:
    module = peers.PEERS[peer].module
    if find_spec(module) is None:
        _say(f"{peer}: left out, {module} is not installed (pip install 'tagtopics[bench]')")
        return False
    return True


def _folder(preset: str) -> Path:
    kept = corpora.ROOT / "benchmarks" / "results"
    return kept if preset == "full" else corpora.ROOT / "build" / "bench" / preset


def _pages(preset: str, folder: Path, page: Path | None) -> tuple[Path, Path]:
    """Return where to write the page and the page of all tables."""
    if page is None and preset == "full":
        results = corpora.ROOT / "reproduction" / "pages" / "benchmark-results.md"
        return corpora.ROOT / "docs" / "benchmarks.md", results
    page = page or folder / "benchmarks.md"
    return page, page.with_name("benchmark-results.md")


def _headline(record: dict[str, Any]) -> str:
    if "curve" in record:
        curve = record["curve"]
        best = min(curve["perplexity"])
        return (
            f"perplexity {best:.1f} after {curve['seconds'][-1]:.2f} s of training, load {record['load'][0]}"
        )
    return f"load {record['load'][0]}"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    preset = parser.add_mutually_exclusive_group()
    preset.add_argument("--preset", choices=PRESETS, default="full", help="how long everything may take")
    preset.add_argument("--quick", dest="preset", action="store_const", const="quick", help="--preset quick")
    parser.add_argument("--only", nargs="+", default=[], metavar="CORPUS", help=", ".join(corpora.NAMES))
    parser.add_argument("--systems", nargs="+", default=[], metavar="NAME", help=", ".join(peers.PEERS))
    parser.add_argument("--sections", nargs="+", default=[], choices=SECTIONS)
    parser.add_argument("--seconds", type=float, help="cap of training, each system on each real corpus")
    parser.add_argument("--generated-seconds", type=float, help="the same on the generated corpus")
    parser.add_argument("--out", type=Path, help="folder of the records")
    parser.add_argument("--page", type=Path, help="the page to write")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    parser.add_argument("--report-only", action="store_true", help="write the page from the records")
    return parser


if __name__ == "__main__":
    main()
