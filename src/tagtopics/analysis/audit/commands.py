"""`tagtopics audit` and `tagtopics apply`: find and correct wrong tags of a collection."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.estimators import build_model, progress_bar
from tagtopics.cli.options import (
    ColumnOptions,
    ModelOptions,
    OutputOptions,
    TextOptions,
    argument,
    dataset_names,
    flag,
    option,
)
from tagtopics.cli.output import error_console, fact_table, make_table, note, plain, show
from tagtopics.cli.sources import column_settings, is_path, load_with_documents, read_training
from tagtopics.errors import InputError
from tagtopics.files import check_target

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.analysis.audit.changes import Finding
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

AuditedArgument = Annotated[
    str,
    argument("A corpus, as in `fit`, or a model folder that was saved with its corpus.", "CORPUS|MODEL",
             autocompletion=dataset_names),
]  # fmt: skip
KindOption = Annotated[
    list[str] | None,
    option("doubtful, missing, duplicate, dead, broad or inseparable; repeat for several.", "--kind",
           default="all", metavar="KIND"),
]  # fmt: skip
LimitOption = Annotated[
    int, option("Findings of a kind in the table; 0 for all. JSON and CSV always have all.", min=0)
]
ScoreOption = Annotated[float, option("Leave out findings with a lower score, 0 to 1.", metavar="X")]
WordsOption = Annotated[int, option("Words given with each finding.", "--words", min=0)]
ChangesOption = Annotated[
    str | None,
    option("CSV file to write: a change for each finding, to accept or refuse.", "--changes",
           default="not written", metavar="FILE"),
]  # fmt: skip
OverwriteOption = Annotated[bool, flag("Replace an existing file.", "--overwrite")]
ChangesArgument = Annotated[str, argument("A CSV file of changes written by `audit`.", "CHANGES")]
SourceArgument = Annotated[
    str, argument("The collection: a file (.jsonl .csv .tsv .parquet) or a matrix folder.", "INPUT")
]
CollectionOption = Annotated[
    str, option("File or folder to write, in the format of INPUT.", "--out", "-o", metavar="PATH")
]
AcceptOption = Annotated[
    float | None,
    option("Also accept doubtful, missing and duplicate lines without an answer, from this score on.",
           "--accept-from", default="only yes", metavar="X"),
]  # fmt: skip

_TITLES = {
    "doubtful": "Doubtful tags: remove?",
    "missing": "Missing tags: add?",
    "duplicate": "Duplicate tags: merge?",
    "dead": "Tags without telling words: drop?",
    "broad": "Broad tags: drop?",
    "inseparable": "Tags that only occur together: merge?",
}


def audit_command(
    source: AuditedArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    kind: KindOption = None,
    limit: LimitOption = 10,
    min_score: ScoreOption = 0.05,
    words: WordsOption = 5,
    changes: ChangesOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Find doubtful, missing, duplicate and useless tags, with scores, reasons and proposed changes."""
    from tagtopics.analysis.audit.audit import audit
    from tagtopics.analysis.audit.changes import KINDS, write_changes

    target = (
        None
        if changes is None
        else check_target(changes, "file", None, overwrite=overwrite, option="--changes")
    )
    kinds = tuple(kind) if kind else KINDS
    unknown = [name for name in kinds if name not in KINDS]
    if unknown:
        raise InputError(f"--kind {unknown[0][:40]!r}: choose from {', '.join(KINDS)}")
    if not 0 <= min_score <= 1:
        raise InputError(f"--min-score must be from 0 to 1, not {min_score}")
    fitted, corpus = _load_or_fit(source, model, columns, text, output)
    if not corpus.tags.nnz:
        note(f"{source} has no tags; name their column with --tags")
    with _status(output) as on_progress:
        found = audit(
            fitted, corpus, kinds=kinds, min_score=min_score, n_words=words, on_progress=on_progress
        )
    if target is not None:
        write_changes(found, target)
        note(f"{len(found):,} changes written to {target}; write yes into `accept`, then use tagtopics apply")
    payload = {"findings": [finding.to_dict() for finding in found]}
    show(output.json, payload, lambda console: _draw(console, found, limit))


def apply_command(
    changes: ChangesArgument,
    source: SourceArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    out: CollectionOption,
    accept_from: AcceptOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Apply accepted changes to the tags of a collection and write it in the format it came in."""
    from tagtopics.analysis.audit.changes import read_changes
    from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
    from tagtopics.corpus.core import FileOptions

    if not is_path(source):
        raise InputError(f"no such file or folder: {source[:200]!r}")
    accepted, n_refused = read_changes(changes, accept_from=accept_from)
    settings = column_settings(columns)
    where = TagColumns(settings["tags"], settings["tag_separator"], settings["id"])
    file = FileOptions(**{name: settings[name] for name in ("delimiter", "encoding", "query")})
    n_docs = rewrite(source, out, accepted, where, format=columns.format, overwrite=overwrite, file=file)
    if not accepted:
        note(f"{changes}: no change is accepted; write yes into the column `accept`, or give --accept-from")
    counts = Counter(change.change for change in accepted)
    payload: dict[str, Any] = {
        "path": out,
        "changes": {name: counts[name] for name in ("remove", "add", "merge", "drop")},
        "not_accepted": n_refused,
        "changed_documents": n_docs,
    }
    done = ", ".join(f"{n:,} {name}" for name, n in payload["changes"].items() if n) or "none"
    facts = {
        "changes": done,
        "not accepted": f"{n_refused:,}",
        "documents changed": f"{n_docs:,}",
        "saved to": out,
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def _load_or_fit(
    source: str, options: ModelOptions, columns: ColumnOptions, text: TextOptions, output: OutputOptions
) -> tuple[TopicModel, Corpus]:
    """Return the model and corpus to audit: a saved one with its corpus, or a new model of a corpus."""
    if is_path(source) and (Path(source) / "model.json").is_file():
        model, corpus = load_with_documents(source)
        if corpus is None:
            raise InputError(f"{source}: was saved without its corpus; audit the corpus itself")
        return model, corpus
    estimator = build_model(options)
    corpus = read_training(source, columns, text, output)
    return estimator.fit(corpus, callbacks=progress_bar(output)), corpus


@contextmanager
def _status(output: OutputOptions) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the share of the work done, on a terminal only."""
    if output.quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    with error_console().status("Auditing tags") as status:
        yield lambda share: status.update(f"Auditing tags {share:.0%}")


def _draw(console: Console, found: list[Finding], limit: int) -> None:
    if not found:
        console.print(plain("Nothing found."))
    for kind, title in _TITLES.items():
        mine = [finding for finding in found if finding.kind == kind]
        if not mine:
            continue
        shown = mine[: limit or None]
        heading = title if len(shown) == len(mine) else f"{title} ({len(shown)} of {len(mine):,})"
        of_doc, of_pair = mine[0].document is not None, mine[0].other is not None
        names = ["document"] * of_doc + ["tag"] + ["other tag"] * of_pair
        words = "lacks" if kind == "doubtful" else "words"
        table = make_table(heading, [*names, ">score", words])
        for finding in shown:
            cells = [finding.document] * of_doc + [finding.tag] + [finding.other] * of_pair
            table.add_row(*map(plain, cells), f"{finding.score:.2f}", plain(" ".join(finding.words)))
        console.print(table)
