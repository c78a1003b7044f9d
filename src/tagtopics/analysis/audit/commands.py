"""`tagtopics audit` and `tagtopics apply`: find and correct wrong tags of a collection."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tagtopics.analysis.commands import LimitOption, SourceArgument, load_saved, progress
from tagtopics.cli.estimators import build_model, progress_bar
from tagtopics.cli.options import (
    ColumnOptions,
    ModelOptions,
    OutputOptions,
    TextOptions,
    argument,
    flag,
    option,
)
from tagtopics.cli.output import fact_table, make_table, note, plain, show
from tagtopics.cli.sources import column_settings, read_training
from tagtopics.errors import InputError
from tagtopics.files import check_target

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.analysis.audit.changes import Finding

OverwriteOption = Annotated[bool, flag("Replace an existing file.", "--overwrite")]

_TITLES = {
    "doubtful": "Doubtful tags: remove?",
    "missing": "Missing tags: add?",
    "duplicate": "Duplicate tags: merge?",
    "implied": "Tags that another tag implies: add?",
    "single": "Tags on a single document: drop?",
}


def audit_command(
    source: SourceArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    kind: Annotated[
        list[str] | None,
        option("doubtful, missing, duplicate, implied or single; repeat for several.", default="all",
               metavar="KIND"),
    ] = None,
    limit: LimitOption = 10,
    min_score: Annotated[
        float, option("Leave out findings with a lower score, 0 to 1.", metavar="X", min=0, max=1)
    ] = 0.05,
    words: Annotated[int, option("Words given with each finding.", min=0)] = 5,
    changes: Annotated[
        str | None,
        option("CSV file to write: a change for each finding, to accept or refuse.",
               default="not written", metavar="FILE"),
    ] = None,
    decided: Annotated[
        list[str] | None,
        option("CSV file of changes with answers; what it refuses is not found again. Repeat for several.",
               default="none", metavar="FILE"),
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:  # fmt: skip
    """Find doubtful, missing, duplicate and useless tags, with scores, reasons and proposed changes."""
    from tagtopics.analysis.audit.audit import audit
    from tagtopics.analysis.audit.changes import KINDS, refused_changes, write_changes

    refused = [change for path in decided or () for change in refused_changes(path)]
    if changes is not None:
        check_target(changes, "file", None, overwrite=overwrite, option="--changes")
    kinds = tuple(kind) if kind else KINDS
    if unknown := [name for name in kinds if name not in KINDS]:
        raise InputError(f"--kind {unknown[0][:40]!r}: choose from {', '.join(KINDS)}")
    estimator = build_model(model)
    if (Path(source) / "model.json").is_file():
        fitted, corpus = load_saved(source)
    else:
        corpus = read_training(source, columns, text, output)
        fitted = estimator.fit(corpus, callbacks=progress_bar(output))
    if not corpus.tags.nnz:
        note(f"{source} has no tags; name their column with --tags")
    with progress(output, "Auditing tags") as on_progress:
        found = audit(
            fitted, corpus, kinds=kinds, min_score=min_score, n_words=words, refused=refused,
            on_progress=on_progress,
        )  # fmt: skip
    if changes is not None:
        write_changes(found, changes)
        note(
            f"{len(found):,} changes written to {changes}; write yes into `accept`, then use tagtopics apply"
        )
    payload = {"findings": [finding.to_dict() for finding in found]}
    show(output.json, payload, lambda console: _draw(console, found, limit))


def apply_command(
    changes: Annotated[str, argument("A CSV file of changes written by `audit`.", "CHANGES")],
    source: Annotated[
        str,
        argument("The collection: a table (.jsonl .csv .tsv .parquet), bookmarks (.json .html), a manifest "
                 "of paperless-ngx or a folder of Markdown notes.", "INPUT"),
    ],
    columns: ColumnOptions,
    output: OutputOptions,
    out: Annotated[
        str, option("File or folder to write, in the format of INPUT.", "--out", "-o", metavar="PATH")
    ],
    overwrite: OverwriteOption = False,
) -> None:  # fmt: skip
    """Apply accepted changes to the tags of a collection and write it in the format it came in."""
    from tagtopics.analysis.audit.changes import read_changes
    from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
    from tagtopics.corpus.core import FileOptions

    accepted, n_refused = read_changes(changes)
    settings = column_settings(columns)
    where = TagColumns(settings["tags"], settings["tag_separator"], settings["id"])
    file = FileOptions(delimiter=settings["delimiter"], encoding=settings["encoding"])
    n_docs = rewrite(source, out, accepted, where, format=columns.format, overwrite=overwrite, file=file)
    if not accepted:
        note(f"{changes}: no change is accepted; write yes into the column `accept`")
    counts = Counter(change.change for change in accepted)
    done = {name: counts[name] for name in ("remove", "add", "merge", "drop")}
    payload = {"path": out, "changes": done, "not_accepted": n_refused, "changed_documents": n_docs}
    facts = {
        "changes": ", ".join(f"{n:,} {name}" for name, n in done.items() if n) or "none",
        "not accepted": f"{n_refused:,}",
        "documents changed": f"{n_docs:,}",
        "saved to": out,
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def _draw(console: Console, found: list[Finding], limit: int) -> None:
    if not found:
        console.print(plain("Nothing found."))
    for kind, title in _TITLES.items():
        mine = [finding for finding in found if finding.kind == kind]
        if not mine:
            continue
        shown = mine[: limit or None]
        heading = title if len(shown) == len(mine) else f"{title} ({len(shown)} of {len(mine):,})"
        names = {"document": "document", "tag": "tag", "other": "other tag"}
        used = [name for name in names if getattr(mine[0], name) is not None]
        columns = [names[name] for name in used] + [">score", "lacks" if kind == "doubtful" else "words"]
        named = [replace(row, tag=row.name or row.tag, other=row.other_name or row.other) for row in shown]
        rows = [
            [*(getattr(row, name) for name in used), f"{row.score:.2f}", " ".join(row.words)] for row in named
        ]
        console.print(make_table(heading, columns, rows=rows))
