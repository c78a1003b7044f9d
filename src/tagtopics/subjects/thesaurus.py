"""Names of tags, alternative names, and which tags are broader, from a table or SKOS."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.formats.text_files import open_bytes, text_lines
from tagtopics.corpus.tags import kind_of
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError, MissingExtraError, one_line
from tagtopics.readers.sandbox import read_in_sandbox

_RDF_KINDS = {".rdf": "xml", ".xml": "xml", ".owl": "xml", ".ttl": "turtle", ".n3": "n3", ".nt": "nt"}
_TABLE_SUFFIXES = (".tsv", ".tab", ".txt", "")
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

    @cached_property
    def _parent(self) -> dict[int, int]:
        """The row of the first broader tag of each row that has one."""
        return {int(child): int(parent) for child, parent in self.broader[::-1]}

    def path_of(self, tag: str) -> tuple[str, ...]:
        """Return the names of ever broader tags, the nearest first."""
        path, row = list[int](), self._parent.get(self.row.get(tag, -1))
        while row is not None and row not in path:
            path.append(row)
            row = self._parent.get(row)
        return tuple(self.names[v] for v in path)

    def labels(self, tags: Sequence[str]) -> dict[str, str]:
        """Return the names of tags that have one, by tag; the id follows a name that several of them have."""
        names = {tag: name for tag in tags if (name := self.name_of(tag)) is not None}
        often = Counter(names.get(tag, tag) for tag in tags)
        return {tag: name if often[name] == 1 else f"{name} ({_end_of(tag)})" for tag, name in names.items()}

    def learn_names(self, recommender: Any, texts: Sequence[str]) -> Any:
        """Return a `TagNames` that finds these names in texts, weighed with the scores of a recommender."""
        from tagtopics.subjects.tag_names import fit_tag_names

        return fit_tag_names(recommender, self, texts)


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
            compressed with gzip); or SKOS as RDF/XML (.rdf, .xml) or Turtle (.ttl), for which rdflib
            is needed (`pip install 'tagtopics[skos]'`).

    Raises:
        InputError: if the file cannot be read; the message says where and what to do.
    """
    path = Path(path)
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
    names: dict[str, list[str]] = {}
    n_bare = 0
    for number, line in text_lines(path):
        cells = [clean_name(cell) for cell in line.split("\t")]
        header = (
            cells[0].lower() in {"id", "tag", "uri", "notation"} and cells[-1].lower() != cells[0].lower()
        )
        if not any(cells) or (number == 1 and header):
            continue
        if len(cells) < 2 and not names and not n_bare:
            raise InputError(f"{path}, line {number}: expected a tag, a tab and its name, found no tab")
        if len(cells) < 2 or not (cells[0] and cells[1]):
            n_bare += 1
        else:
            names.setdefault(cells[0], []).extend(cell for cell in cells[1:] if cell)
    if not names:
        raise InputError(f"{path}: no names; expected lines of a tag, a tab and its name")
    notices = (f"{path}: {n_bare:,} line(s) without a tag or a name left out",) if n_bare else ()
    unique = [tuple(dict.fromkeys(of_tag)) for of_tag in names.values()]
    preferred, others = tuple(of_tag[0] for of_tag in unique), tuple(of_tag[1:] for of_tag in unique)
    return Thesaurus(tuple(names), preferred, others, np.zeros((0, 2), dtype=np.int64), notices)


# ------------------------------------------------------------------------------------------ SKOS


def _read_skos(path: Path, kind: str) -> Thesaurus:
    """Read a SKOS vocabulary, in a separate process: small files can make parsers of RDF run for hours."""
    with open_bytes(path) as file:
        size = sum(map(len, iter(partial(file.read, 2**20), b"")))
    found = read_in_sandbox(
        "tagtopics.subjects.thesaurus:skos_as_json", kind, path, str(path), kind, size=size
    )
    broader = np.array(found["broader"], dtype=np.int64).reshape(-1, 2)
    alternatives = tuple(map(tuple, found["alternatives"]))
    return Thesaurus(
        tuple(found["ids"]), tuple(found["names"]), alternatives, broader, tuple(found["notices"])
    )


def skos_as_json(path: str, kind: str) -> dict[str, Any]:
    """Read a SKOS vocabulary and return the parts of its thesaurus; it runs in another process."""
    graph = _graph(Path(path), kind)
    # (1) The labels of each concept, by property, with their languages.
    labels: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for property in ("prefLabel", "altLabel", "hiddenLabel"):
        for concept, label in _pairs(graph, property):
            cleaned = clean_name(str(label))
            if cleaned and concept:
                language = str(getattr(label, "language", None) or "")
                labels.setdefault(concept, {}).setdefault(property, []).append((language, cleaned))
    named = {concept: labels[concept] for concept in sorted(labels) if "prefLabel" in labels[concept]}
    if not named:
        raise InputError(f"{path}: no skos:prefLabel; tag names must be a SKOS vocabulary")
    # (2) The name is the label in the language that most concepts have, English among equals, else the first.
    spoken = Counter(code for found in named.values() for code in {code for code, _ in found["prefLabel"]})
    main = max(sorted(spoken), key=lambda code: (spoken[code], code.startswith("en")))
    names, alternatives = [], []
    for found in named.values():
        name = min(found["prefLabel"], key=lambda label: (label[0] != main, label))[1]
        every = dict.fromkeys(label for of_property in found.values() for _, label in sorted(of_property))
        names.append(name)
        alternatives.append([label for label in every if label != name])
    # (3) Which concepts are broader.
    row = {concept: v for v, concept in enumerate(named)}
    relations = [(a, clean_name(str(b))) for a, b in _pairs(graph, "broader")]
    relations += [(clean_name(str(b)), a) for a, b in _pairs(graph, "narrower")]
    pairs = sorted({(row[a], row[b]) for a, b in relations if a in row and b in row})
    lost = len(labels) - len(named)
    notices = [f"{path}: {lost:,} concept(s) without skos:prefLabel left out"] if lost else []
    return {"ids": list(named), "names": names, "alternatives": alternatives, "broader": pairs,
            "notices": notices}  # fmt: skip


def _graph(path: Path, kind: str) -> Any:
    try:
        import rdflib
    except ImportError:
        raise MissingExtraError("reading SKOS vocabularies", "skos") from None
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)  # what is wrong is said once, below
    try:
        with open_bytes(path) as file:
            content = file.read()
        graph = rdflib.Graph()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rdflib warns of its own deprecated parts
            graph.parse(data=content, format=kind, publicID=path.resolve().as_uri())
        return graph
    except MemoryError:
        raise
    except Exception as error:  # the parsers of rdflib raise what they like
        raise InputError(f"{path}: cannot be read as {kind} ({one_line(error)[:200]})") from None


def _pairs(graph: Any, property: str) -> list[tuple[str, Any]]:
    """Return the subjects of a property, as tags are written, with its values."""
    from rdflib import URIRef

    return [(clean_name(str(a)), b) for a, b in sorted(graph.subject_objects(URIRef(_SKOS + property)))]


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
    """Return the last part of an address; any other tag as it is."""
    return uri.rstrip("/#").replace("#", "/").rpartition("/")[2] or uri


def _unique(written: tuple[str, ...], ids: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """Return tags as written; where two concepts would be one tag, the later ones keep their ids.

    An id that is itself taken gets a number.
    """
    unique: dict[str, None] = {}
    for tag, id in zip(written, ids, strict=True):
        names = chain((tag, kind + id), (f"{kind}{id} {n}" for n in count(2)))
        unique[next(name for name in names if name not in unique)] = None
    return tuple(unique)
