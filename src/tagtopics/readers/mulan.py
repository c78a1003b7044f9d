"""Mulan's multi-label data: an ARFF file, dense or sparse, and an XML file that names the labels."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Documents, ReadOptions
from tagtopics.corpus.formats.text_files import text_lines
from tagtopics.errors import InputError

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s""", re.IGNORECASE
)


def read_mulan(path: Path, options: ReadOptions) -> Documents:
    """Read an ARFF file; attributes that its XML file names are tags, all others are words."""
    labels = read_labels(_xml_beside(path))
    lines = text_lines(path)
    names = _header(path, lines)
    column = {name: i for i, name in enumerate(names)}
    missing = [name for name in labels if name not in column]
    if missing:
        raise InputError(f"{path}: no attribute {missing[0]!r}, which the XML names as a label")
    matrix = sp.csc_array(_data(path, lines, len(names)))
    tag_columns = np.array([column[name] for name in labels], dtype=np.int64)
    word_columns = np.setdiff1d(np.arange(len(names)), tag_columns)
    return Documents(
        source=str(path),
        counts=sp.csr_array(matrix[:, word_columns]),
        vocabulary=[names[i] for i in word_columns],
        tags=sp.csr_array(matrix[:, tag_columns]),
        tag_names=labels,
    )


def read_labels(path: Path) -> tuple[str, ...]:
    """Return the labels that a Mulan XML file names; a DOCTYPE or entities are an `InputError`."""
    text = "".join(line for _, line in text_lines(path))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{path}: contains a DOCTYPE or ENTITY, which is not allowed; remove it")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, RecursionError, ValueError) as error:
        raise InputError(f"{path}: not valid XML ({error})") from None
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    labels = tuple(dict.fromkeys(name for name in names if name))
    if not labels:
        raise InputError(f"{path}: names no labels; expected elements <label name='...'>")
    return labels


def _xml_beside(path: Path) -> Path:
    """Return the XML whose name the ARFF file's name starts with, or the only one in the folder."""
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    found = sorted(path.parent.glob("*.xml"))
    fitting = [xml for xml in found if stem.startswith(xml.stem)]
    if fitting:
        return max(fitting, key=lambda xml: len(xml.stem))
    if len(found) == 1:
        return found[0]
    raise InputError(f"{path}: no XML of labels next to it; expected {path.with_name(stem + '.xml').name}")


def _header(path: Path, lines: Iterator[tuple[int, str]]) -> list[str]:
    """Return the names of the attributes, and leave the lines at the first row of data."""
    names: dict[str, int] = {}
    for number, line in lines:
        word = line.strip()
        if word.lower() == "@data":
            if not names:
                raise InputError(f"{path}, line {number}: no attributes before @data")
            return list(names)
        if word.lower().startswith("@attribute"):
            match = _ATTRIBUTE.match(word + " ")
            if match is None:
                raise InputError(f"{path}, line {number}: not an attribute: {word[:60]!r}")
            name = re.sub(r"\\(.)", r"\1", next(g for g in match.groups() if g is not None))
            if names.setdefault(name, number) != number:
                raise InputError(
                    f"{path}, line {number}: attribute {name[:60]!r} is already on line {names[name]}"
                )
    raise InputError(f"{path}: no line @data; this is not an ARFF file, or it is cut off")


def _data(path: Path, lines: Iterator[tuple[int, str]], n_columns: int) -> sp.csr_array:
    """Return the rows of data; each is `{column value, ...}`, or all values."""
    columns, values, starts = array("q"), array("d"), [0]
    for number, line in lines:
        row = line.strip()
        if not row or row.startswith("%"):
            continue
        try:
            for column, value in _sparse(row) if row.startswith("{") else _dense(row, n_columns):
                if not 0 <= column < n_columns:
                    raise ValueError(f"attribute {column} is outside the {n_columns} attributes")
                if value != "0":
                    values.append(float(value.strip("'\"")))
                    columns.append(column)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}; words and labels must be counts") from None
        starts.append(len(columns))
    parts = (np.asarray(values), np.asarray(columns), starts)
    return sp.csr_array(parts, shape=(len(starts) - 1, n_columns))


def _sparse(row: str) -> Iterator[tuple[int, str]]:
    if not row.endswith("}"):
        raise ValueError("a sparse row must end with '}'")
    for pair in row[1:-1].split(","):
        if pair.strip():
            column, _, value = pair.strip().partition(" ")
            yield int(column), value.strip()


def _dense(row: str, n_columns: int) -> Iterator[tuple[int, str]]:
    values = row.split(",")
    if len(values) != n_columns:
        raise ValueError(f"{len(values)} values for {n_columns} attributes")
    return enumerate(value.strip() for value in values)
