"""Findings of an audit and the changes that they propose: as a CSV file to edit, and applied to lists.

A file of changes has a line for each finding: `accept` (empty, `yes` or `no`), `change`, `document`, `row`,
`tag`, `other`, `kind`, `score`, `words`. Only accepted lines are applied.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tagtopics.analysis.records import Record
from tagtopics.corpus.formats.registry import read_table
from tagtopics.corpus.text import clean_name, from_cell, to_cell
from tagtopics.errors import InputError
from tagtopics.files import atomic_file

CHANGES = {
    "doubtful": "remove",
    "missing": "add",
    "duplicate": "merge",
    "implied": "add",
    "single": "drop",
}
"""The kinds of findings in the order of reports, and the change that each proposes.

`remove` and `add` are about a tag of one document. `merge` replaces `other` by `tag` on all documents; `drop`
takes a tag off all documents.
"""

KINDS = tuple(CHANGES)
_COLUMNS = ("accept", "change", "document", "row", "tag", "other", "kind", "score", "words")
_YES, _NO = frozenset({"yes", "y", "true", "x", "1"}), frozenset({"no", "n", "false", "0"})
_TO_DOCUMENT, _TO_ALL = ("remove", "add"), ("merge", "drop")


@dataclass(frozen=True)
class Finding(Record):
    """One finding of an audit.

    Attributes:
        kind: one of `KINDS`.
        tag: the tag; of two tags, the one to keep.
        score: from 0 to 1, to sort findings of one kind; no probability. For `doubtful`, `missing` and
            `duplicate`, changes with a higher score are more often right; for `implied`, (m + 1) / (n + 2)
            for m of n documents; for `single`, the share of other tags among those of the document.
        document: the id of the document, None if the finding is about the whole collection.
        row: the row of the document in the corpus, None likewise.
        other: the other tag of two, None if there is one; for `implied`, the tag that implies this one.
        words: for `doubtful`, words typical of the tag that the document lacks; for `missing` and `implied`,
            those that it has; else words that the documents of the tag, or of both tags, have in common.
        documents: ids of documents to compare with.
        name: the name of the tag in the thesaurus, None without one.
        other_name: the name of the other tag, likewise.
    """

    kind: str
    tag: str
    score: float
    document: str | None = None
    row: int | None = None
    other: str | None = None
    words: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    name: str | None = None
    other_name: str | None = None

    @property
    def change(self) -> str:
        """The proposed change: `remove`, `add`, `merge` or `drop`."""
        return CHANGES[self.kind]


@dataclass(frozen=True)
class Change:
    """One accepted change; see `CHANGES`."""

    change: str
    tag: str
    document: str | None = None
    row: int | None = None
    other: str | None = None
    where: str = "changes"  # names the line in errors


def write_changes(findings: Iterable[Finding], path: str | Path) -> Path:
    """Write findings as a file of changes to accept or refuse; the path must be checked before.

    If tags have names, the columns `name` and `other_name` have them; they are for the reader alone.
    """
    text, findings = io.StringIO(), list(findings)
    columns = [*_COLUMNS, *(["name", "other_name"] if any(found.name for found in findings) else [])]
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for found in findings:
        cells = {"score": f"{found.score:.4f}", "words": " ".join(found.words)}
        writer.writerow({name: to_cell(value) for name, value in (found.to_dict() | cells).items()})
    with atomic_file(path) as fresh:
        fresh.write_bytes(text.getvalue().encode("utf-8", "replace"))
    return Path(path)


def read_changes(path: str | Path) -> tuple[list[Change], int]:
    """Return the accepted changes of a file that `write_changes` wrote, and how many were not accepted."""
    answered = _read_answers(path)
    accepted = [change for change, answer in answered if answer]
    return accepted, len(answered) - len(accepted)


def refused_changes(path: str | Path) -> list[Change]:
    """Return the changes that a file refuses: those with `no` in the column `accept`."""
    return [change for change, answer in _read_answers(path) if answer is False]


def _read_answers(path: str | Path) -> list[tuple[Change, bool | None]]:
    """Return all changes of a file, and whether each is accepted, refused (False) or without an answer."""
    table = read_table(Path(path), "csv", _COLUMNS)
    for name in ("accept", "change", "tag"):
        table.column(name, "the changes")
    answered = []
    for i, line in enumerate(zip(*map(table.cells, _COLUMNS), strict=True)):
        cells = {name: from_cell(str(value or "")) for name, value in zip(_COLUMNS, line, strict=True)}
        where = table.where(i)
        answered.append((_change_of(cells, where), _answer_of(cells, where)))
    return answered


def _answer_of(cells: dict[str, str], where: str) -> bool | None:
    answer = cells["accept"].strip().casefold()
    if answer and answer not in _YES | _NO:
        raise InputError(f"{where}: accept must be yes, no or empty, not {cells['accept'][:40]!r}")
    return answer in _YES if answer else None


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


def edit_tags(
    changes: Sequence[Change], ids: Sequence[str], lists: Sequence[Sequence[str]], unused: Iterable[str] = ()
) -> Iterator[tuple[set[str], list[str]]]:
    """Yield for each document the tags to take off, of those it has, and those to add.

    Changes of the document itself come first, then those of all documents. A change that does not match the
    documents, given by their ids and lists of tags, is an `InputError`; `unused` tags may be on no document.
    """
    of_doc: dict[int, list[Change]] = defaultdict(list)
    replaced: dict[str, str | None] = {}
    known, rows = set(unused).union(*lists), defaultdict[str | None, list[int]](list)
    for row, name in enumerate(ids):
        rows[name].append(row)
    for change in changes:
        if change.change in _TO_DOCUMENT:
            of_doc[_row_of(change, ids, rows)].append(change)
            continue
        old, new = (change.other or "", change.tag) if change.change == "merge" else (change.tag, None)
        _require(old in known, change, f"no document has the tag {old[:60]!r}")
        same = replaced.setdefault(old, new) == new
        _require(same, change, f"{old[:60]!r} is merged or dropped on another line")
    last = _follow(replaced)
    for row, tags in enumerate(lists):
        gone, fresh, own = set[str](), list[str](), set(tags)
        for change in of_doc.get(row, ()):
            if change.change == "remove":
                _require(change.tag in own, change, "the document does not have this tag")
                gone.add(change.tag)
            else:
                _require(change.tag not in own, change, "the document already has this tag")
                fresh.append(change.tag)
        kept = own - gone - last.keys()
        wanted = [last.get(tag, tag) for tag in [*tags, *fresh] if tag not in gone]
        added = dict.fromkeys(tag for tag in wanted if tag is not None and tag not in kept)
        yield own - kept, list(added)


def _follow(replaced: dict[str, str | None]) -> dict[str | None, str | None]:
    """Return what replaces each tag in the end, None if it is dropped."""
    last: dict[str | None, str | None] = {}
    for tag in replaced:
        seen: set[str] = set()
        name: str | None = tag
        while name in replaced and name not in last:
            if name in seen:
                raise InputError(f"changes: merging {tag[:60]!r} leads back to itself; refuse one line")
            seen.add(name)
            name = replaced[name]
        last.update(dict.fromkeys(seen, last.get(name, name)))
    return last


def _row_of(change: Change, ids: Sequence[str], rows: dict[str | None, list[int]]) -> int:
    """Return the row of the document that a change is about."""
    if change.row is None:
        found = rows.get(change.document, [])
        _require(bool(found), change, f"no document {str(change.document)[:60]!r}")
        _require(len(found) == 1, change, f"several documents have this id; give their row: {found[:5]}")
        return found[0]
    _require(change.row < len(ids), change, f"there are only {len(ids)} documents")
    name = ids[change.row]
    same = change.document in (None, name)
    _require(same, change, f"document {change.row} is {name[:60]!r}, not {str(change.document)[:60]!r}")
    return change.row


def _require(holds: bool, change: Change, problem: str) -> None:
    if not holds:
        raise InputError(f"{change.where}: {change.change} {change.tag[:60]!r}: {problem}")
