"""Rerun the paper's experiments and compare with its tables and figures: `python -m reproduction`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduction.page import check_page_target, write_page
from reproduction.photos import with_pixel_counts
from reproduction.run import Outcome, run_grid
from reproduction.spec import ExperimentSpec, chosen, full_grid, quick_grid, read_records
from reproduction.verdicts import UNKNOWN, Verdict
from tagtopics.errors import InputError
from tagtopics.files import check_target

_MAX_JOBS = 8
"""Default limit on processes: each holds a data set and a model."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 2 if the input is wrong."""
    options = _parser().parse_args(arguments)
    try:
        _reproduce(options)
    except InputError as error:
        _tell(f"reproduction: error: {error}")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    add = parser.add_argument
    add("datasets", nargs="*", metavar="DATASET", help="cora, med, corel5k, bibtex, reuters; all by default")
    add("--quick", action="store_true", help="only two numbers of topics and two splits")
    add("--splits", type=int, metavar="N", help="number of splits; verdicts need five (5, with --quick 2)")
    add("--only", action="append", metavar="TASK[/DATASET]", help="only this; repeat for several")
    add("--jobs", type=int, metavar="N", help=f"number of processes (cores, up to {_MAX_JOBS})")
    add("--out", type=Path, default=Path("build/reproduction"), metavar="DIR",
        help="folder of the records; existing ones are kept (%(default)s)")  # fmt: skip
    add("--minutes", type=float, metavar="N", help="start no new experiment after N minutes")
    add("--page", type=Path, metavar="FILE", help="page to write (DIR/reproduction.md)")
    add("--page-only", action="store_true", help="run nothing; write the page from the records")
    add("--from-pixels", action="store_true", help="Table III of C5K from its photos, not from counts")
    add("--json", action="store_true", help="print the verdicts as one JSON document")
    return parser


def _reproduce(options: argparse.Namespace) -> None:
    """Run the experiments that are missing, one JSON line each, and write tables, figures and verdicts."""
    _check(options)
    out: Path = options.out
    check_target(out, "folder of records", Path.is_dir)
    path, target = out / "records.jsonl", check_page_target(options.page or out / "reproduction.md")
    grid = quick_grid(options.splits or 2) if options.quick else full_grid(options.splits or 5)
    specs = chosen(chosen(grid, options.datasets), options.only or ())
    read_records(path)  # raises for a file of something else
    out.mkdir(parents=True, exist_ok=True)
    problems = () if options.page_only else _run(specs, path, options).problems
    records = read_records(path)
    if not records and options.page_only:
        raise InputError(f"{path}: no records yet; leave out --page-only, or give --out of an earlier run")
    if not records:
        reason = problems[0] if problems else "--minutes allowed none"
        raise InputError(f"no experiment was run: {reason}")
    _show(len(records), target, write_page(records, target), options.json)


def _check(options: argparse.Namespace) -> None:
    if options.splits is not None and options.splits < 1:
        raise InputError(f"--splits must be 1 or more, not {options.splits}")
    if options.jobs is not None and options.jobs < 1:
        raise InputError(f"--jobs must be 1 or more, not {options.jobs}")
    if options.minutes is not None and not options.minutes >= 0:
        raise InputError(f"--minutes must be 0 or more, not {options.minutes}")


def _run(specs: Sequence[ExperimentSpec], path: Path, options: argparse.Namespace) -> Outcome:
    """Run the experiments that are missing, and print a line for each result and each problem."""
    data = options.out / "data"
    specs = with_pixel_counts(specs, data) if options.from_pixels else specs
    jobs = options.jobs or min(os.cpu_count() or 1, _MAX_JOBS)
    outcome = run_grid(
        specs, path, jobs=jobs, minutes=options.minutes, data=data,
        progress=lambda done, total, title: _tell(f"{done}/{total} {title}"),
    )  # fmt: skip
    for line in outcome.problems:
        _tell(f"note: {line}")
    if outcome.left:
        _tell(f"note: {outcome.left} of {len(specs)} experiments were not run; repeat to continue")
    return outcome


def _show(n_records: int, page: Path, verdicts: Sequence[Verdict], as_json: bool) -> None:
    claims = [verdict.to_json() for verdict in verdicts]
    if as_json:
        found = {"records": n_records, "page": str(page), "claims": claims}
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    judged = [claim for claim in claims if claim["status"] != UNKNOWN]
    for claim in judged:
        sys.stdout.write(f"{claim['status']:26} {claim['number']:18} {claim['claim']} ({claim['source']})\n")
    if len(judged) < len(claims):
        sys.stdout.write(f"{len(claims) - len(judged)} of {len(claims)} claims were not measured\n")
    sys.stdout.write(f"{n_records} records; written to {page}\n")


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
