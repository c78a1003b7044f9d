"""Names of tags, alternative names, and which tags are broader, from a table or SKOS."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.formats.sandbox import read_in_sandbox
from tagtopics.corpus.formats.text_files import open_bytes, text_lines
from tagtopics.corpus.tags import kind_of
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError, MissingExtraError, one_line

_RDF_KINDS = {".rdf": "xml", ".xml": "xml", ".owl": "xml", ".ttl": "turtle", ".n3": "n3", ".nt": "nt",
              ".jsonld": "json-ld", ".json": "json-ld"}  # fmt: skip
_TABLE_SUFFIXES = (".tsv", ".tab", ".txt", "")
_CHUNK = 2**20
_SKOS = "http://www.w3.org/2004/02/skos/core#"


@dataclass(frozen=True)
class Thesaurus:
    """The names of V tags, and which tags are broader.

    Attributes:
        ids: the V tags, as documents carry them.
        names: their names.
        alternatives: further names of each.
        broader: (R, 2) rows: the second tag is broader than the first.
        notices: one line for each decision that the reader made for the user.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    broader: Int64
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each tag."""
        return {tag: v for v, tag in enumerate(self.ids)}

    def name_of(self, tag: str) -> str | None:
        """Return the name of a tag, None if it has none or the tag is its name."""
        place = self.row.get(tag)
        return None if place is None or self.names[place] == tag else self.names[place]

    def learn_names(
        self, recommender: Any, texts: Sequence[str], on_progress: Callable[[float], None]
    ) -> Any:
        """Return a `TagNames` that finds these names in texts, weighed with the scores of a recommender."""
        from tagtopics.subjects.tag_names import fit_tag_names

        return fit_tag_names(recommender, self, texts, on_progress=on_progress)


def with_thesaurus(corpus: Corpus, source: str | Path | Thesaurus | Mapping[str, str]) -> Corpus:
    """Return a corpus whose tags have names, so that a recommender fitted to it looks for them in texts.

    Args:
        corpus: documents with texts; their tags are ids of the thesaurus, ends of its URIs, or names.
        source: a thesaurus; a file as for `read_thesaurus`; or the name of each tag.

    Raises:
        InputError: if the corpus has no texts, or no tag of it is in the thesaurus.
    """
    if corpus.texts is None:
        raise InputError("tag names are looked for in texts, but these documents have only counts of words")
    if isinstance(source, Mapping):
        source = thesaurus_of(source.items())
    elif not isinstance(source, Thesaurus):
        source = read_thesaurus(source)
    return replace(corpus, thesaurus=in_tags(source, corpus.tag_names))


def thesaurus_of(rows: Iterable[tuple[str, str]]) -> Thesaurus:
    """Return a thesaurus of pairs of a tag and its name."""
    pairs = {clean_name(tag): clean_name(name) for tag, name in rows}
    if not pairs:
        raise InputError("tag names: there are none")
    none = np.zeros((0, 2), dtype=np.int64)
    return Thesaurus(tuple(pairs), tuple(pairs.values()), ((),) * len(pairs), none)


def read_thesaurus(path: str | Path) -> Thesaurus:
    """Read names of tags from a table or a SKOS vocabulary.

    Args:
        path: a table of tag, name and, if there are any, alternative names, divided by tabs (.tsv, .txt, also
            compressed with gzip); or SKOS as RDF/XML (.rdf, .xml), Turtle (.ttl) or JSON-LD (.jsonld), for
            which rdflib is needed (`pip install 'tagtopics[skos]'`).

    Raises:
        InputError: if the file cannot be read; the message says where and what to do.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"tag names: no such file: {path}")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _RDF_KINDS:
        return _read_skos(path, _RDF_KINDS[suffix])
    if suffix not in _TABLE_SUFFIXES:
        known = ", ".join([*_TABLE_SUFFIXES[:-1], *_RDF_KINDS])
        raise InputError(f"{path}: unknown kind of tag names {suffix!r}; the suffixes are {known}")
    return _read_table(path)


# ---------------------------------------------------------------------------------------- tables


def _read_table(path: Path) -> Thesaurus:
    """Read lines of tag, name and alternative names; the tag of a repeated line gets further names."""
    names: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    n_bare = 0
    lines = (line for _, line in text_lines(path))
    for number, row in enumerate(_rows(path, lines), start=1):
        cells = [clean_name(cell) for cell in row]
        if not any(cells) or (number == 1 and _is_header(cells)):
            continue
        if (len(cells) == 1 and not names and number == 1) or (len(cells) < 2 and n_bare == 0 and not names):
            raise InputError(f"{path}, line {number}: expected a tag, a tab and its name, found no tab")
        tag, name, *more = [*cells, ""][: max(len(cells), 2)]
        if not (tag and name):
            n_bare += 1
            continue
        if tag in names:
            more = [name, *more]
        names.setdefault(tag, name)
        others.setdefault(tag, []).extend(cell for cell in more if cell)
    if not names:
        raise InputError(f"{path}: no names; expected lines of a tag, a tab and its name")
    notices = (f"{path}: {n_bare:,} line(s) without a tag or a name left out",) if n_bare else ()
    alternatives = tuple(_distinct(others[tag], name) for tag, name in names.items())
    return Thesaurus(
        tuple(names), tuple(names.values()), alternatives, np.zeros((0, 2), dtype=np.int64), notices
    )


def _rows(path: Path, lines: Iterable[str]) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    except csv.Error as error:
        raise InputError(f"{path}: not a table of tags and names ({error})") from None


def _is_header(cells: Sequence[str]) -> bool:
    return cells[0].lower() in {"id", "tag", "uri", "notation"} and cells[-1].lower() != cells[0].lower()


def _distinct(names: Iterable[str], preferred: str) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name != preferred)


# ------------------------------------------------------------------------------------------ SKOS


def _read_skos(path: Path, kind: str) -> Thesaurus:
    """Read a SKOS vocabulary, in a separate process: small files can make parsers of RDF run for hours."""
    with open_bytes(path) as file:
        size = sum(map(len, iter(partial(file.read, _CHUNK), b"")))
    found = read_in_sandbox(
        "tagtopics.subjects.thesaurus:skos_as_json", kind, path, str(path), kind, size=size
    )
    return Thesaurus(
        ids=tuple(found["ids"]),
        names=tuple(found["names"]),
        alternatives=tuple(map(tuple, found["alternatives"])),
        broader=np.array(found["broader"], dtype=np.int64).reshape(-1, 2),
        notices=tuple(found["notices"]),
    )


def skos_as_json(path: str, kind: str) -> dict[str, Any]:
    """Read a SKOS vocabulary and return the parts of its thesaurus; it runs in another process."""
    thesaurus = _skos(Path(path), kind)
    return {field.name: getattr(thesaurus, field.name) for field in fields(thesaurus)} | {
        "broader": thesaurus.broader.tolist()
    }


def _skos(path: Path, kind: str) -> Thesaurus:
    graph = _graph(path, kind)
    labels: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for property in ("prefLabel", "altLabel", "hiddenLabel"):
        for concept, label in _pairs(graph, property):
            cleaned = clean_name(str(label))
            if cleaned and concept:
                found = labels.setdefault(concept, {}).setdefault(property, [])
                found.append((str(getattr(label, "language", None) or ""), cleaned))
    named = {concept: found for concept, found in labels.items() if "prefLabel" in found}
    if not named:
        raise InputError(f"{path}: no skos:prefLabel; tag names must be a SKOS vocabulary")
    ids = tuple(sorted(named))
    spoken = _main_language(named)
    names = tuple(_preferred(named[concept]["prefLabel"], spoken) for concept in ids)
    alternatives = tuple(
        _distinct((name for found in named[concept].values() for _, name in sorted(found)), name)
        for concept, name in zip(ids, names, strict=True)
    )
    broader, cycles = _relations(graph, {concept: v for v, concept in enumerate(ids)})
    lost = len(labels) - len(named)
    notices = [f"{path}: {lost:,} concept(s) without skos:prefLabel left out"] if lost else []
    notices += [f"{path}: {cycles:,} broader relation(s) form cycles and are left out"] if cycles else []
    return Thesaurus(ids, names, alternatives, broader, tuple(notices))


def _graph(path: Path, kind: str) -> Any:
    try:
        import rdflib
    except ImportError:
        raise MissingExtraError("reading SKOS vocabularies", "skos") from None
    import logging

    logging.getLogger("rdflib").setLevel(logging.CRITICAL)  # what is wrong is said once, below
    try:
        with open_bytes(path) as file:
            content = file.read()
        if kind == "json-ld":
            json.loads(content, object_pairs_hook=_check_inline)
        graph = rdflib.Graph()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rdflib warns of its own deprecated parts
            graph.parse(data=content, format=kind, publicID=path.resolve().as_uri())
        return graph
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # the parsers of rdflib raise what they like
        raise InputError(f"{path}: cannot be read as {kind} ({one_line(error)[:200]})") from None


def _check_inline(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON-LD; an `InputError` says that it refers to a context that would be fetched."""
    for name, value in pairs:
        if name == "@import" or (name == "@context" and not _is_inline(value)):
            raise InputError(
                f"its {name} {str(value)[:60]!r} is in another file; put the context into this one"
            )
    return dict(pairs)


def _is_inline(context: Any) -> bool:
    if isinstance(context, list):
        return all(map(_is_inline, context))
    return context is None or isinstance(context, dict)


def _pairs(graph: Any, property: str) -> list[tuple[str, Any]]:
    """Return the subjects of a property, as tags are written, with its values."""
    from rdflib import URIRef

    return [(clean_name(str(a)), b) for a, b in sorted(graph.subject_objects(URIRef(_SKOS + property)))]


def _main_language(named: Mapping[str, Mapping[str, list[tuple[str, str]]]]) -> str:
    """Return the language that most concepts have a preferred label in; English if it is among them."""
    counts: dict[str, int] = {}
    for found in named.values():
        for language in {language for language, _ in found["prefLabel"]}:
            counts[language] = counts.get(language, 0) + 1
    return max(sorted(counts), key=lambda language: (counts[language], language.startswith("en")))


def _preferred(labels: list[tuple[str, str]], language: str) -> str:
    """Return the label in a language, else the first one."""
    return min(labels, key=lambda label: (label[0] != language, label))[1]


def _relations(graph: Any, row: Mapping[str, int]) -> tuple[Int64, int]:
    """Return the broader relations (R, 2) without cycles, and how many were left out to break cycles."""
    forward = [(a, clean_name(str(b))) for a, b in _pairs(graph, "broader")]
    backward = [(clean_name(str(b)), a) for a, b in _pairs(graph, "narrower")]
    found = sorted({(row[a], row[b]) for a, b in (*forward, *backward) if a in row and b in row})
    return without_cycles(np.array(found, dtype=np.int64).reshape(-1, 2), len(row))


def without_cycles(broader: Int64, n: int) -> tuple[Int64, int]:
    """Return relations (R, 2) between n tags without those inside cycles, and how many these were."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    if not len(broader):
        return broader, 0
    graph = sp.csr_array((np.ones(len(broader)), (broader[:, 0], broader[:, 1])), shape=(n, n))
    _, component = connected_components(graph, directed=True, connection="strong")
    cyclic = component[broader[:, 0]] == component[broader[:, 1]]
    return broader[~cyclic], int(cyclic.sum())


# ----------------------------------------------------------------------- the tags of documents


def in_tags(thesaurus: Thesaurus, tags: Sequence[str]) -> Thesaurus:
    """Return a thesaurus whose ids are written as the tags of documents are.

    Tags may be ids, URIs in angle brackets, ends of URIs or names, all with the same kind in front
    (`subject:4021806-5`). The form is the one that most tags have.

    Raises:
        InputError: if no tag is in the thesaurus.
    """
    kinds = {"": 0} | {f"{kind}:": 0 for kind in map(kind_of, tags) if kind}
    known = set(tags)
    forms = {
        "id": thesaurus.ids,
        "bracketed": tuple(f"<{tag}>" for tag in thesaurus.ids),
        "end": tuple(_end_of(tag) for tag in thesaurus.ids),
        "name": thesaurus.names,
    }
    trials = {
        (kind, form): sum(kind + tag in known for tag in written)
        for kind in (kinds if len(kinds) < 50 else [""])
        for form, written in forms.items()
    }
    kind, form = max(trials, key=lambda trial: trials[trial])
    if not trials[kind, form]:
        example = f"such as {min(known)[:60]!r}" if known else "because the documents have none"
        raise InputError(
            f"tag names: no tag of the documents is among the {len(thesaurus):,} of the file, {example} "
            f"(the file has {thesaurus.ids[0][:60]!r})"
        )
    written = tuple(kind + tag for tag in forms[form])
    return replace(thesaurus, ids=_unique(written, thesaurus.ids, kind))


def _end_of(uri: str) -> str:
    return uri.rstrip("/#").replace("#", "/").rpartition("/")[2] or uri


def _unique(written: tuple[str, ...], ids: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """Return tags as written; where two concepts would be one tag, the later ones keep their ids.

    An id that is itself taken gets a number.
    """
    seen: set[str] = set()
    unique = []
    for tag, id in zip(written, ids, strict=True):
        names = chain((tag, kind + id), (f"{kind}{id} {n}" for n in count(2)))
        chosen = next(name for name in names if name not in seen)
        seen.add(chosen)
        unique.append(chosen)
    return tuple(unique)
