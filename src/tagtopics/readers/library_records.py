"""Records of libraries: MARC 21, binary and in XML."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast
from xml.sax import SAXException
from xml.sax.handler import feature_namespaces

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import open_bytes
from tagtopics.errors import InputError, MissingExtraError, Unusual, one_line
from tagtopics.readers.bibliography import Record, people, table_of_bibliography, text_or_none

_YEAR = re.compile(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)")


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
                    records.append(_marc_record(record))
        except Exception as error:  # the parser has no common class of errors
            raise InputError(f"{path}, record {len(records) + n_bad}: not MARC ({one_line(error)})") from None
    if not records:
        raise InputError(f"{path}: no MARC record can be read; is it binary MARC 21?")
    said = [Unusual(f"{path.name}: {n_bad:,} records that cannot be read left out")] if n_bad else []
    return table_of_bibliography(path, records, notices=said)


def read_marcxml(path: Path, options: FileOptions) -> Table:
    """Read MARC 21 in XML; a file that defines entities, or refers to files, is an `InputError`."""
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.sax import make_parser
        from pymarc.marcxml import XmlHandler
    except ImportError:
        raise MissingExtraError("reading MARCXML", "files") from None
    handler: Any = XmlHandler()  # type: ignore[no-untyped-call]
    parser = make_parser()
    parser.setContentHandler(handler)
    parser.setFeature(feature_namespaces, True)
    try:
        with open_bytes(path) as file:
            parser.parse(file)
    except DefusedXmlException:
        raise InputError(f"{path}: defines XML entities, which are not read; remove them") from None
    except (SAXException, ValueError, LookupError) as error:
        raise InputError(f"{path}: not valid MARCXML ({one_line(error)})") from None
    if not handler.records:
        raise InputError(f"{path}: no MARC records; XML files are read as MARCXML")
    return table_of_bibliography(path, [_marc_record(record) for record in handler.records])


def _marc_record(record: Any) -> Record:
    def values(tags: str, codes: str) -> Iterator[str]:
        for field in record.get_fields(*tags.split()):
            text = " ".join(part.value.strip() for part in field.subfields if part.code in codes)
            if text := text.strip().rstrip("/:;,").strip():
                yield text

    def control(tag: str) -> str:
        return next((str(field.data) for field in record.get_fields(tag) if field.data), "")

    year = _YEAR.search(" ".join(values("260 264", "c"))) or _YEAR.fullmatch(control("008")[7:11])
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
