"""Changes to the tags of a collection: as a CSV file that people edit, and applied to a corpus.

A file of changes has a line for each finding: `accept` (empty, `yes` or `no`), `change`, `document`, `row`,
`tag`, `other`, `kind`, `score`, `words`. Only accepted lines are applied.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tagtopics.analysis.audit.findings import PROBABLE, Finding
from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.formats.registry import read_table
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError
from tagtopics.files import atomic_file

COLUMNS = ("accept", "change", "document", "row", "tag", "other", "kind", "score", "words")
_NEEDED = ("accept", "change", "tag")
_YES, _NO = frozenset({"yes", "y", "true", "x", "1"}), frozenset({"no", "n", "false", "0"})
_TO_DOCUMENT, _TO_ALL = ("remove", "add"), ("merge", "drop")


@dataclass(frozen=True)
class Change:
    """One accepted change; see `CHANGES` in `tagtopics.analysis.audit.findings`."""

    change: str
    tag: str
    document: str | None = None
    row: int | None = None
    other: str | None = None
    where: str = "changes"  # names the line in errors


def write_changes(findings: Iterable[Finding], path: str | Path) -> Path:
    """Write findings as a file of changes to accept or refuse; the file must be checked before."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for found in findings:
        row = "" if found.row is None else found.row
        cells = ("", found.change, found.document or "", row, found.tag, found.other or "", found.kind)
        writer.writerow([*cells, f"{found.score:.4f}", " ".join(found.words)])
    with atomic_file(path) as fresh:
        fresh.write_bytes(text.getvalue().encode("utf-8", "replace"))
    return Path(path)


def read_changes(path: str | Path, *, accept_from: float | None = None) -> tuple[list[Change], int]:
    """Return the accepted changes of a file, and how many lines were not accepted.

    Args:
        path: a CSV file as `write_changes` writes it.
        accept_from: also accept the lines with an empty `accept` and at least this score, of the kinds
            whose score is the probability that the change is right.

    Raises:
        InputError: if a line is not a change; it names the line.
    """
    if accept_from is not None and not 0 <= accept_from <= 1:
        raise InputError(f"the score to accept from must be from 0 to 1, not {accept_from}")
    if Path(path).is_dir():
        raise InputError(f"{path}: a folder, not a file of changes; name a file that `audit --changes` wrote")
    if not Path(path).is_file():
        raise InputError(f"no such file: {path}")
    table = read_table(Path(path), "csv", COLUMNS)
    for name in _NEEDED:
        table.column(name, "the changes")
    accepted, n_refused = [], 0
    columns = [table.cells(name) for name in COLUMNS]
    for i, values in enumerate(zip(*columns, strict=True)):
        cells = {name: str(value or "") for name, value in zip(COLUMNS, values, strict=True)}
        change = _change_of(cells, table.where(i))
        if _is_accepted(cells, accept_from, table.where(i)):
            accepted.append(change)
        else:
            n_refused += 1
    return accepted, n_refused


def _is_accepted(cells: dict[str, str], accept_from: float | None, where: str) -> bool:
    answer = cells["accept"].strip().casefold()
    if answer in _YES or answer in _NO:
        return answer in _YES
    if answer:
        raise InputError(f"{where}: accept must be yes, no or empty, not {cells['accept'][:40]!r}")
    if accept_from is None or cells["kind"].strip() not in PROBABLE:
        return False
    try:
        score = float(cells["score"])
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1:
        raise InputError(f"{where}: score must be a number from 0 to 1, not {cells['score'][:40]!r}")
    return score >= accept_from


def _change_of(cells: dict[str, str], where: str) -> Change:
    change, tag, other = cells["change"].strip(), clean_name(cells["tag"]), clean_name(cells["other"])
    if change not in (*_TO_DOCUMENT, *_TO_ALL):
        raise InputError(f"{where}: change must be remove, add, merge or drop, not {change[:40]!r}")
    if not tag:
        raise InputError(f"{where}: no tag")
    if change == "merge" and (not other or other == tag):
        raise InputError(f"{where}: merge needs another tag in `other`, to replace by the tag")
    if change in _TO_ALL:
        return Change(change, tag, other=other or None, where=where)
    row = cells["row"].strip()
    if row and not (row.isascii() and row.isdecimal() and len(row) < 12):
        raise InputError(f"{where}: row must be a number from 0, not {row[:40]!r}")
    if not row and not cells["document"]:
        raise InputError(f"{where}: {change} needs a document or a row")
    return Change(change, tag, cells["document"] or None, int(row) if row else None, where=where)


class TagEditor:
    """Applies changes to the tags of documents, and refuses those that do not match.

    Args:
        changes: the accepted changes.
        ids: the ids of all documents.
        tag_names: all tags of the collection.
    """

    def __init__(self, changes: Sequence[Change], ids: Sequence[str], tag_names: Iterable[str]) -> None:
        self._known = set(tag_names)
        self._rows = _rows_by_id(ids)
        self._ids = ids
        self._of_doc: dict[int, list[Change]] = {}
        self._replaced: dict[str, str | None] = {}
        self._last: dict[str, str | None] = {}  # what `new_name` has found
        for change in changes:
            if change.change in _TO_DOCUMENT:
                self._of_doc.setdefault(self._row_of(change), []).append(change)
            else:
                self._add_for_all(change)

    def new_name(self, tag: str) -> str | None:
        """Return the tag that replaces a tag on all documents, None if it is dropped."""
        seen = {tag}
        name: str | None = tag
        while name is not None and name in self._replaced and name not in self._last:
            name = self._replaced[name]
            if name in seen:
                raise InputError(f"changes: merging {tag[:60]!r} leads back to itself; refuse one line")
            if name is not None:
                seen.add(name)
        last = name if name is None else self._last.get(name, name)
        self._last.update(dict.fromkeys(seen, last))
        return last

    def edit(self, row: int, tags: Sequence[str]) -> tuple[set[str], list[str]]:
        """Return the tags to take off a document, of those it has, and those to add.

        Changes of the document itself come first, then those of all documents.
        """
        gone: set[str] = set()
        fresh: list[str] = []
        own = set(tags)
        for change in self._of_doc.get(row, ()):
            if change.change == "remove":
                _require(change.tag in own, change, "the document does not have this tag")
                gone.add(change.tag)
            else:
                _require(change.tag not in own, change, "the document already has this tag")
                fresh.append(change.tag)
        kept = {tag for tag in tags if tag not in gone and self.new_name(tag) == tag}
        wanted = [self.new_name(tag) for tag in [*tags, *fresh] if tag not in gone]
        added = dict.fromkeys(tag for tag in wanted if tag is not None and tag not in kept)
        return {tag for tag in tags if tag not in kept}, list(added)

    def _add_for_all(self, change: Change) -> None:
        old = change.other if change.change == "merge" else change.tag
        new = change.tag if change.change == "merge" else None
        assert old is not None
        _require(old in self._known, change, f"no document has the tag {old[:60]!r}")
        _require(
            self._replaced.get(old, new) == new, change, f"{old[:60]!r} is merged or dropped on another line"
        )
        self._replaced[old] = new

    def _row_of(self, change: Change) -> int:
        if change.row is not None:
            _require(change.row < len(self._ids), change, f"there are only {len(self._ids)} documents")
            _require(
                change.document in (None, self._ids[change.row]),
                change,
                f"document {change.row} is {self._ids[change.row][:60]!r}, not {str(change.document)[:60]!r}",
            )
            return change.row
        rows = self._rows.get(str(change.document), [])
        _require(bool(rows), change, f"no document {str(change.document)[:60]!r}")
        _require(len(rows) == 1, change, f"several documents have this id; give their row: {rows[:5]}")
        return rows[0]


def apply_changes(corpus: Corpus, changes: Sequence[Change]) -> Corpus:
    """Return a corpus with the tags that result from accepted changes.

    Tags that no document has any more are left out; others keep their order, and new ones follow.

    Raises:
        InputError: if a change does not match the corpus.
    """
    editor = TagEditor(changes, corpus.ids, corpus.tag_names)
    lists = [_edit(editor, row, corpus.tags_of(row)) for row in range(corpus.n_docs)]
    used = {tag for tags in lists for tag in tags}
    known = set(corpus.tag_names)
    names = [name for name in corpus.tag_names if name in used] + sorted(used - known)
    return replace(corpus, tags=tag_matrix(lists, names), tag_names=tuple(names), notices=())


def _edit(editor: TagEditor, row: int, tags: Sequence[str]) -> list[str]:
    gone, fresh = editor.edit(row, tags)
    return [tag for tag in tags if tag not in gone] + fresh


def _rows_by_id(ids: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(ids):
        rows.setdefault(name, []).append(row)
    return rows


def _require(holds: bool, change: Change, problem: str) -> None:
    if not holds:
        raise InputError(f"{change.where}: {change.change} {change.tag[:60]!r}: {problem}")
