"""`tagtopics reproduce`: rerun the paper's experiments and compare with its tables and figures."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import OutputOptions, flag, option
from tagtopics.cli.output import error_console, make_table, note, plain, show
from tagtopics.errors import InputError
from tagtopics.files import check_target

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.experiments.spec import ExperimentSpec

DatasetsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DATASET]...", help="cora, med, corel5k, bibtex, reuters; all by default."),
]
QuickOption = Annotated[bool, flag("Only two numbers of topics and two splits.", "--quick")]
SplitsOption = Annotated[
    int | None, option("Number of splits; verdicts need five.", "--splits", default="5, with --quick 2")
]
OnlyOption = Annotated[
    list[str] | None, option("Only this experiment; repeat for several.", "--only", metavar="TASK[/DATASET]")
]
JobsOption = Annotated[int | None, option("Number of processes.", "--jobs", default="cores, up to 8")]
OutOption = Annotated[
    Path, option("Folder of the records; existing ones are kept.", "--out", "-o", metavar="DIR")
]
MinutesOption = Annotated[float | None, option("Start no new experiment after N minutes.", "--minutes")]
PageOption = Annotated[
    Path | None, option("Page to write.", "--page", default="DIR/reproduction.md", metavar="FILE")
]
PageOnlyOption = Annotated[bool, flag("Run nothing; write the page from the records.", "--page-only")]
PixelsOption = Annotated[
    bool, flag("Compute Table III of C5K from its photos, not from counts.", "--from-pixels")
]

_MAX_JOBS = 8
"""Default limit on processes: each holds a data set and a model."""


def command(
    output: OutputOptions,
    datasets: DatasetsArgument = None,
    quick: QuickOption = False,
    splits: SplitsOption = None,
    only: OnlyOption = None,
    jobs: JobsOption = None,
    out: OutOption = Path("reproduction"),
    minutes: MinutesOption = None,
    page: PageOption = None,
    page_only: PageOnlyOption = False,
    from_pixels: PixelsOption = False,
) -> None:
    """Run the paper's experiments, one JSON line each, and write tables, figures and verdicts."""
    from tagtopics.experiments.reproduction_page import check_page_target, write_page
    from tagtopics.experiments.run import with_pixel_counts
    from tagtopics.experiments.spec import chosen, full_grid, quick_grid, read_records

    _check(jobs, minutes, splits)
    check_target(out, "folder of records", Path.is_dir)
    path, target = out / "records.jsonl", check_page_target(page or out / "reproduction.md")
    grid = quick_grid(splits or 2) if quick else full_grid(splits or 5)
    specs = chosen(chosen(grid, datasets or ()), only or ())
    read_records(path)  # raises for a file of something else
    out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    problems: Sequence[str] = ()
    if not page_only:
        specs = with_pixel_counts(specs, out / "data") if from_pixels else specs
        problems = _run(specs, path, out, jobs or min(os.cpu_count() or 1, _MAX_JOBS), minutes, output)
    records = read_records(path)
    if not records and page_only:
        raise InputError(f"{path}: no records yet; leave out --page-only, or give --out of an earlier run")
    if not records:
        reason = problems[0] if problems else "--minutes allowed none"
        raise InputError(f"no experiment was run: {reason}")
    verdicts = write_page(records, target)
    payload = {
        "records": len(records),
        "page": str(target),
        "claims": [verdict.to_json() for verdict in verdicts],
        "seconds": time.perf_counter() - began,
    }
    show(output.json, payload, lambda console: _draw(console, payload))


def _check(jobs: int | None, minutes: float | None, splits: int | None) -> None:
    if splits is not None and splits < 1:
        raise InputError(f"--splits must be 1 or more, not {splits}")
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs must be 1 or more, not {jobs}")
    if minutes is not None and not minutes >= 0:
        raise InputError(f"--minutes must be 0 or more, not {minutes}")


def _run(
    specs: Sequence[ExperimentSpec],
    path: Path,
    out: Path,
    jobs: int,
    minutes: float | None,
    output: OutputOptions,
) -> Sequence[str]:
    """Run the experiments that are missing, and return a line for each problem."""
    from tagtopics.experiments.run import run_grid

    with _progress(output) as progress:
        outcome = run_grid(specs, path, jobs=jobs, minutes=minutes, data=out / "data", progress=progress)
    for line in outcome.problems:
        note(line)
    if outcome.left:
        note(f"{outcome.left} of {len(specs)} experiments were not run; repeat the command to continue")
    return outcome.problems


@contextmanager
def _progress(output: OutputOptions) -> Iterator[Callable[[int, int, str], None] | None]:
    """Yield a callback that moves a progress bar, or prints lines if there is no terminal."""
    if output.quiet:
        yield None
        return
    out = error_console()
    if not sys.stderr.isatty():
        yield lambda done, total, title: out.print(plain(f"{done}/{total} {title}"))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("Reproducing", total=None)
        yield lambda done, total, title: bar.update(task, completed=done, total=total, description=title)


def _draw(console: Console, payload: dict[str, Any]) -> None:
    table = make_table(f"Verdicts from {payload['records']} records", ["claim", "source", "verdict"])
    for verdict in payload["claims"]:
        table.add_row(*(plain(verdict[name]) for name in ("claim", "source", "status")))
    console.print(table)
    console.print(plain(f"Written to {payload['page']}"), soft_wrap=True)
