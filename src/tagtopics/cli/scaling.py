"""Fits that may be long: on shards, on a cluster, from checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import Shown
from tagtopics.cli.output import note
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

_PANEL = "Long fits"
ENGINES = ("local", "ray")


@dataclass(frozen=True)
class ScaleOptions:
    """Who works on a fit, and what is kept of it on the way."""

    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="local, or ray: on a cluster (shards only). The same bits.",
            rich_help_panel=_PANEL,
        ),
    ] = "local"
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Workers of ray.", show_default="2", rich_help_panel=_PANEL),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="A running Ray cluster; else one is started here.", rich_help_panel=_PANEL
        ),
    ] = None
    lost: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="When a worker's state is lost: stop, or refit it from the topics.",
            rich_help_panel=_PANEL,
        ),
    ] = "stop"
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Where the unfinished fit is kept: a file, or of shards a folder.",
            show_default="for shards, OUT.run",
            rich_help_panel=_PANEL,
        ),
    ] = None
    checkpoint_every: Annotated[
        int, typer.Option(metavar="N", help="Sweeps from one checkpoint to the next.", rich_help_panel=_PANEL)
    ] = 10
    checkpoint_minutes: Annotated[
        float | None,
        typer.Option(metavar="N", help="Minutes from one to the next at the most.", rich_help_panel=_PANEL),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with an unfinished fit, if there is one.", rich_help_panel=_PANEL
        ),
    ] = False


def is_sharded(source: str) -> bool:
    """Tell whether the user names a folder of shards."""
    from tagtopics.scale.format import holds_shards

    return bool(source) and Path(source).is_dir() and holds_shards(Path(source))


def check_scale(scale: ScaleOptions, sharded: bool) -> None:
    """Check the options of long fits, all that can be checked before anything is read."""
    if scale.engine not in ENGINES:
        raise InputError(f"--engine {scale.engine[:40]!r}: known are {', '.join(ENGINES)}")
    if scale.lost not in ("stop", "refit"):
        raise InputError(f"--lost {scale.lost[:40]!r}: known are stop, refit")
    for name, value in (("--workers", scale.workers), ("--checkpoint-every", scale.checkpoint_every)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be 1 or more, not {value}")
    if scale.checkpoint_minutes is not None and not scale.checkpoint_minutes >= 0:
        raise InputError(f"--checkpoint-minutes must be 0 or more, not {scale.checkpoint_minutes}")
    if scale.engine == "ray" and not sharded:
        raise InputError("--engine ray works on shards; make them with tagtopics shard CORPUS --out DIR")
    if scale.engine != "ray" and (scale.workers is not None or scale.address is not None):
        note("--workers and --address are of --engine ray")
    if scale.resume and scale.checkpoint is None and not sharded:
        raise InputError("--resume: from where? name the file with --checkpoint")


def fit_sharded(
    estimator: TopicModel, source: str, target: Path, scale: ScaleOptions, shown: Shown
) -> tuple[Corpus, dict[str, int]]:
    """Fit an estimator to a folder of shards and save it; return its documents, and the sizes of all."""
    from tagtopics.kernels.threads import resolve_threads
    from tagtopics.scale.fit import fit_shards, sampled_shards
    from tagtopics.scale.format import ShardFolder
    from tagtopics.scale.shard_executor import local_executor, remove_run

    folder = ShardFolder.open(source)
    work = Path(scale.checkpoint) if scale.checkpoint else target.with_name(f"{target.name}.run")
    local = scale.engine == "local"
    callbacks, told = _bar(shown, len(folder) if local else 1)
    refit = scale.lost == "refit"
    if local:
        executor = local_executor(resolve_threads(estimator.n_jobs), refit=refit, on_shard=told)
    else:
        from tagtopics.scale.ray_executor import ray_executor

        executor = ray_executor(scale.workers or 2, scale.address, refit=refit)
    fit_shards(estimator, folder, work, resume=scale.resume, executor=executor, callbacks=callbacks)
    estimator.save(target)
    remove_run(work)
    m = folder.manifest
    sizes = {"n_docs": m.n_docs, "n_words": m.n_words, "n_tags": m.n_tags, "n_tokens": m.n_tokens}
    return folder.corpus(sampled_shards(folder)), sizes


def _bar(shown: Shown, parts: int) -> tuple[list[Any], Callable[[], None]]:
    from tagtopics.inference.callbacks import Progress

    if shown.quiet or not sys.stderr.isatty():
        return [], lambda: None
    bar = Progress(parts=parts)
    return [bar], bar.advance


def checkpointed(
    estimator: TopicModel, corpus: Corpus, scale: ScaleOptions
) -> tuple[list[Any], tuple[Any, Any] | None]:
    """Return the callback that keeps an unfinished fit, if it is asked for, and where to go on."""
    from tagtopics.inference.checkpoint import Checkpoint, digest_of, identity_of, load_checkpoint

    if scale.checkpoint is None:
        return [], None
    path = Path(scale.checkpoint)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"--checkpoint {path}: name a file in a folder that exists")
    identity = identity_of(estimator, digest_of(corpus))
    start = load_checkpoint(path, identity) if scale.resume and path.exists() else None
    past = start[1] if start else ()
    return [Checkpoint(path, scale.checkpoint_every, scale.checkpoint_minutes, identity, past)], start
