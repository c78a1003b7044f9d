"""Records of libraries: MARC 21 (binary and XML) and Dublin Core (OAI-PMH)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast
from xml.etree.ElementTree import Element, ParseError

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import open_bytes
from tagtopics.errors import InputError, MissingExtraError, Unusual, one_line
from tagtopics.readers.bibliography import Record, people, table_of_records, text_or_none

_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_YEAR = re.compile(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)")
_MOST_XML = 2**30

Fields = list[tuple[str, list[tuple[str, str]]]]
"""The fields of a MARC record: tag, and subfields with their codes; '' is the code of a control field."""


def xml_kind(path: Path) -> str:
    """Return the format of an `.xml` file."""
    with open_bytes(path) as file:
        start = file.read(20_000)
    if b"loc.gov/MARC21" in start or b"<datafield" in start:
        return "marcxml"
    if b"purl.org/dc/" in start:
        return "dublincore"
    raise InputError(f"{path}: cannot tell the format; XML is read as MARCXML or Dublin Core")


# ----------------------------------------------------------------------------------------------- MARC


def read_marc(path: Path, options: FileOptions) -> Table:
    """Read binary MARC 21 (ISO 2709); records that cannot be parsed are left out with a warning."""
    try:
        from pymarc import MARCReader
    except ImportError:
        raise MissingExtraError("reading MARC", "files") from None
    records, n_bad = [], 0
    with open_bytes(path) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = MARCReader(cast(BinaryIO, file), to_unicode=True, permissive=True, utf8_handling="replace")
        try:
            for record in reader:
                if record is None:
                    n_bad += 1
                else:
                    records.append(_marc_record(_marc_fields(record)))
        except Exception as error:  # the parser has no common class of errors
            raise InputError(f"{path}, record {len(records) + n_bad}: not MARC ({one_line(error)})") from None
    if not records:
        raise InputError(f"{path}: no MARC record can be read; is it binary MARC 21?")
    said = [Unusual(f"{path.name}: {n_bad:,} records that cannot be read left out")] if n_bad else []
    return table_of_records(str(path), records, notices=said)


def _marc_fields(record: Any) -> Fields:
    fields: Fields = []
    for field in record.fields:
        control = [("", str(field.data))] if field.data is not None else []
        subfields = [(str(sub.code), str(sub.value)) for sub in field.subfields]
        fields.append((field.tag, subfields or control))
    return fields


def read_marcxml(path: Path, options: FileOptions) -> Table:
    """Read MARC 21 in XML."""
    records = []
    for element in _parse_xml(path).iter():
        if _local(element) == "record" and any(_local(child) == "datafield" for child in element):
            fields: Fields = []
            for child in element:
                if _local(child) in ("controlfield", "datafield"):
                    parts = [("", child.text or "")] if _local(child) == "controlfield" else []
                    parts += [(sub.get("code", ""), sub.text or "") for sub in child]
                    fields.append((child.get("tag", ""), parts))
            records.append(_marc_record(fields))
    return table_of_records(str(path), records)


def _marc_record(fields: Fields) -> Record:
    def values(tags: str, codes: str) -> Iterator[str]:
        for tag, parts in fields:
            if tag in tags.split():
                text = " ".join(value.strip() for code, value in parts if code and code in codes)
                if text := text.strip().rstrip("/:;,").strip():
                    yield text

    def control(tag: str) -> str | None:
        return next((parts[0][1] for name, parts in fields if name == tag and parts), None)

    dated = " ".join(values("260 264", "c"))
    fixed = control("008") or ""
    year = _YEAR.search(dated) or _YEAR.fullmatch(fixed[7:11])
    return Record(
        id=text_or_none(control("001")),
        title=next(values("245", "abnp"), None),
        abstract=" ".join(values("520", "ab")) or None,
        author=people(dict.fromkeys(_without_point(name) for name in values("100 700", "ab"))),
        keyword=list(dict.fromkeys(_without_point(word) for word in values("650 651 653 655", "a"))),
        venue=next(values("773", "t"), None) or next(values("260 264", "b"), None),
        date=year[0] if year else None,
        url=next(values("856", "u"), None),
    )


def _without_point(name: str) -> str:
    """Return a name without the full stop that ends a field, unless it belongs to an initial."""
    return name[:-1] if re.search(r"\w{2}\.$", name) else name


# ---------------------------------------------------------------------------------------- Dublin Core


def read_dublin_core(path: Path, options: FileOptions) -> Table:
    """Read Dublin Core records in XML, such as an answer of OAI-PMH."""
    records, header = [], None
    for element in _parse_xml(path).iter():
        if _local(element) == "header":  # of OAI-PMH, before its record
            header = next((child.text for child in element if _local(child) == "identifier"), None)
        elif any(str(child.tag).startswith((_DC, _TERMS)) for child in element):
            records.append(_dc_record(element, header))
    return table_of_records(str(path), records)


def _dc_record(element: Element, header: str | None) -> Record:
    def values(*names: str) -> list[str]:
        wanted = {space + name for space in (_DC, _TERMS) for name in names}
        found = (text_or_none(child.text) for child in element if child.tag in wanted)
        return [value for value in found if value]

    def first(*names: str) -> str | None:
        return next(iter(values(*names)), None)

    links = [url for url in values("identifier") if url.lower().startswith(("http", "doi:", "10."))]
    return Record(
        id=text_or_none(header) or first("identifier"),
        title=first("title"),
        abstract=" ".join(values("abstract") or values("description")) or None,
        author=people(values("creator") or values("contributor")),
        keyword=list(dict.fromkeys(values("subject"))),
        venue=first("isPartOf") or first("source") or first("publisher"),
        date=first("date", "issued", "created"),
        url=next(iter(links), None),
        type=first("type"),
    )


# ------------------------------------------------------------------------------------------------ XML


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _parse_xml(path: Path) -> Element:
    """Parse an XML file; one that defines entities, or refers to files, is an `InputError`."""
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import fromstring
    except ImportError:
        raise MissingExtraError("reading XML", "files") from None
    with open_bytes(path) as file:
        content = file.read(_MOST_XML)
    try:
        root: Element = fromstring(content)
    except DefusedXmlException:
        raise InputError(f"{path}: defines XML entities, which are not read; remove them") from None
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        raise InputError(f"{path}: not valid XML ({one_line(error)})") from None
    return root
