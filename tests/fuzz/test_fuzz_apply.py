"""Changes applied to tables with quotes, inch marks and separators: the right result, or refused in one line.

What is right is decided with the csv module alone.
"""

from __future__ import annotations

import collections
import csv
import gzip
import io
import os
import random
from pathlib import Path
from typing import Any, NamedTuple

from tagtopics.analysis.audit.changes import Change
from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
from tagtopics.errors import InputError

N_TABLES = 25 * int(os.environ.get("TAGTOPICS_FUZZ_FACTOR", "1"))
COLUMNS = ("id", "title", "tags", "price", "note")
TAGS = (
    "image",
    "old",
    "new",
    '12" disc',
    '"quoted"',
    "a, b",
    "back\\slash",
    "Müller",
    '5"',
    "漢字",
    "x\u2028y",
)
PIECES = ('"', '""', '5" photo', '7" x 9', ",", "\t", ";", "|", " ", "\\", '\\"', "é", "word", "007", "'", "")
BREAKS = ("\n", "\r\n", 'line\n"two"', "\r")
STYLES = ("quoted", "mixed", "inches", "careless", "backslash")
QUOTINGS: dict[str, dict[str, Any]] = {
    "doubled": {"doublequote": True},
    "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE},
}


class Generated(NamedTuple):
    """A table as text, and what is to be done with it."""

    text: str
    kind: str
    delimiter: str
    style: str
    separator: str | None
    changes: list[Change]


def generate(rng: random.Random) -> Generated:
    """Return a table with awkward cells, and changes to its tags."""
    kind, style = rng.choice(("csv", "tsv")), rng.choice(STYLES)
    delimiter = rng.choice((",", ",", ",", ";", "|")) if kind == "csv" else "\t"
    mark = "|" if delimiter == ";" else ";"
    lists = [rng.sample(TAGS, rng.randint(0, 3)) for _ in range(rng.randint(1, 6))]
    lists[0] = rng.sample(TAGS, 2)
    pieces = PIECES if style in ("inches", "careless") else PIECES + BREAKS
    names = rng.sample(COLUMNS, len(COLUMNS))
    records = [list(names)]
    for tags in lists:
        cells = {name: "".join(rng.choices(pieces, k=rng.randint(0, 4))) for name in names}
        cells["tags"] = rng.choice((mark, f"{mark} ")).join(tags)
        records.append([cells[name] for name in names])
    end = rng.choice(("\n", "\r\n"))
    lines = [delimiter.join(write(cell, delimiter, style, rng) for cell in record) for record in records]
    text = end.join(lines) + rng.choice((end, end, "", end + end))
    text = rng.choice(("", "", "\ufeff")) + text.replace(end, end + end, rng.choice((0, 0, 0, 1)))
    separator = rng.choice((mark, None))
    return Generated(text, kind, delimiter, style, separator, random_changes(lists, rng))


def write(cell: str, delimiter: str, style: str, rng: random.Random) -> str:
    """Return a cell as a table in a style has it; careless tables may not be valid."""
    if style == "backslash":
        escaped = cell.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    needed = cell.startswith('"') or any(mark in cell for mark in (delimiter, "\r", "\n"))
    if style == "quoted" or (style == "mixed" and (needed or rng.random() < 0.3)):
        return '"' + cell.replace('"', '""') + '"'
    if style == "inches":
        cell = cell.lstrip('"')
    return cell if style == "mixed" else cell.replace(delimiter, "/")


def random_changes(lists: list[list[str]], rng: random.Random) -> list[Change]:
    """Return a change of a document, a change of all documents, or both."""
    found = []
    row = rng.randrange(len(lists))
    other = [tag for tag in (*TAGS, "a;b", "a|b", "tab\tbed") if tag not in lists[row]]
    of_doc = [Change("add", " ".join(rng.choice(other).split()), row=row)]
    if lists[row]:
        of_doc.append(Change("remove", " ".join(rng.choice(lists[row]).split()), row=row))
    used = [" ".join(tag.split()) for tag in sorted({tag for tags in lists for tag in tags})]
    old = rng.choice(used)
    new = rng.choice([name for name in (" ".join(tag.split()) for tag in TAGS) if name != old])
    of_all = [Change("merge", new, other=old), Change("drop", old)]
    if rng.random() < 0.7:
        found.append(rng.choice(of_doc))
    if not found or rng.random() < 0.7:
        found.append(rng.choice(of_all))
    return found


class Record(NamedTuple):
    """The fields that the csv module reads, none for a blank line, and the text they were read from."""

    fields: list[str]
    text: str


def read(text: str, delimiter: str, quoting: str) -> list[Record]:
    """Return all records of a table."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="\n").readlines()
    reader = csv.reader(lines, delimiter=delimiter, strict=True, **QUOTINGS[quoting])
    records, start = [], 0
    for fields in reader:
        records.append(Record(fields, "".join(lines[start : reader.line_num])))
        start = reader.line_num
    return records


def find_quoting(text: str, delimiter: str) -> str:
    """Return the first way to read quotes that gives a table."""
    for quoting in QUOTINGS:
        needs = {"doubled": "", "backslash": '\\"', "none": "\t"}[quoting]
        try:
            widths = {len(record.fields) for record in read(text, delimiter, quoting)} - {0}
        except csv.Error:
            continue
        if needs in text and widths == {len(COLUMNS)}:
            return quoting
    raise AssertionError("changes were applied to a table that is not valid")


def tags_of(cells: list[str], separator: str | None) -> list[set[str]]:
    """Return the tags of each cell."""
    column = "".join(cells)
    marks = [separator] if separator else [mark for mark in ";|" if mark in column] or [","]
    for mark in marks[1:]:
        cells = [cell.replace(mark, marks[0]) for cell in cells]
    return [{" ".join(tag.split()) for tag in cell.split(marks[0])} - {""} for cell in cells]


def changed(tags: set[str], row: int, changes: list[Change]) -> set[str]:
    """Return the tags that a document is to have."""
    for change in changes:
        old = change.other or change.tag
        if change.change == "add" and change.row == row:
            tags = tags | {change.tag}
        elif old in tags and (change.row == row or change.row is None):
            tags = tags - {old} | ({change.tag} if change.change == "merge" else set())
    return tags


def check(made: Generated, result: str) -> None:
    """Check that only the tags of the documents that change differ from the source."""
    quoting = find_quoting(made.text, made.delimiter)
    before, after = (read(text, made.delimiter, quoting) for text in (made.text, result))
    assert result.startswith("\ufeff") == made.text.startswith("\ufeff")
    assert len(before) == len(after)
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old.fields]
    assert [new.text for new in after if not new.fields] == [old.text for old in before if not old.fields]
    assert pairs[0][0] == pairs[0][1]
    place = pairs.pop(0)[0].fields.index("tags")
    old_tags = tags_of([old.fields[place] for old, _ in pairs], made.separator)
    new_tags = tags_of([new.fields[place] for _, new in pairs], made.separator)
    for row, (old, new) in enumerate(pairs):
        wanted = changed(old_tags[row], row, made.changes)
        assert new_tags[row] == wanted
        if wanted == old_tags[row]:
            assert new.text == old.text
        old.fields[place] = new.fields[place]
        assert new.fields == old.fields


def apply(made: Generated, source: Path, out: Path) -> str:
    """Return how it ends to apply the changes to a table."""
    try:
        rewrite(source, out, made.changes, TagColumns(separator=made.separator))
    except InputError as error:
        return "no single line" if "\n" in str(error) else "written" if out.exists() else "refused"
    try:
        check(made, out.read_bytes().decode())
    except (AssertionError, csv.Error) as error:
        return f"wrong ({error})"
    return "right"


def test_tables_with_quotes_and_separators(tmp_path: Path) -> None:
    endings = collections.Counter[tuple[str, str]]()
    for number in range(N_TABLES):
        rng = random.Random(number)
        made = generate(rng)
        content = made.text.encode()
        source = tmp_path / f"{number}.{made.kind}"
        source.write_bytes(gzip.compress(content) if rng.random() < 0.1 else content)
        ending = apply(made, source, tmp_path / f"{number}.out")
        assert ending in ("right", "refused"), (number, ending, made)
        endings[made.style, ending] += 1
    assert sum(n for (_, ending), n in endings.items() if ending == "right") > N_TABLES / 2, endings
    assert {style for style, ending in endings if ending == "right"} == set(STYLES)
