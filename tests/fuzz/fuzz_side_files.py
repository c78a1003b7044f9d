"""Campaign over the files beside a collection: thesauri, journals of edits, changes, findings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import NAMES, change_json, edited_model, small_corpus

import tagtopics as tt
from changed_tags import apply_changes
from tagtopics.analysis.audit.changes import read_changes
from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
from tagtopics.corpus.formats.text_files import read_json
from tagtopics.curation.commands import fit_with_journal, guides
from tagtopics.curation.edits import undo
from tagtopics.explore.record.inputs import audit_block, read_findings
from tagtopics.subjects.tag_names import fit_tag_names
from tagtopics.subjects.thesaurus import in_tags, read_thesaurus, with_thesaurus

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_CHANGES = """accept,change,document,row,tag,other,kind,score,words
yes,remove,doc 0,0,a,,doubtful,0.91,alpha beta
,add,doc 1,,t3,,missing,0.77,"gamma, delta"
no,merge,,,t1,t2,duplicate,0.5,
yes,merge,,,t1,t0,duplicate,0.99,zeta
x,drop,,,"b; c",,dead,1.0,
"""
_FINDINGS = {
    "findings": [
        {"kind": "doubtful", "change": "remove", "tag": "a", "score": 0.9, "document": "doc 0", "row": 0},
        {"kind": "duplicate", "change": "merge", "tag": "t1", "other": "t2", "score": 0.5, "words": ["zeta"]},
        {"kind": "single", "change": "drop", "tag": "b; c", "score": 1.0, "documents": ["doc 1", "doc 2"]},
    ]
}

Case = Callable[[Path], None]


def write_side_files(place: Path, journal: Any, documents: tt.Corpus) -> None:
    """Write one file of each kind, and collections that changes are applied to."""
    place.mkdir(parents=True)
    rows = [f"{tag}\t{name}\tother {name}" for tag, name in NAMES.items()]
    (place / "names.tsv").write_text("tag\tname\n" + "\n".join(rows) + "\n", encoding="utf-8")
    uris = {f"http://example.org/{tag.replace('; ', '_')}": name for tag, name in NAMES.items()}
    (place / "names.ttl").write_text(_turtle(uris), encoding="utf-8")
    (place / "names.rdf").write_text(_xml(uris), encoding="utf-8")
    (place / "journal.json").write_text(json.dumps(journal.to_json()), encoding="utf-8")
    (place / "changes.csv").write_text(_CHANGES, encoding="utf-8")
    (place / "findings.json").write_text(json.dumps(_FINDINGS), encoding="utf-8")
    tt.write_jsonl(documents, place / "documents.jsonl")
    cells = [f'"{name}","{"|".join(documents.tags_of(i))}"' for i, name in enumerate(documents.ids)]
    (place / "documents.csv").write_text("\n".join(["id,tags", *cells]) + "\n", encoding="utf-8")


def _turtle(uris: dict[str, str]) -> str:
    lines = [f"@prefix skos: <{_SKOS}> ."]
    broader = next(iter(uris))
    for uri, name in uris.items():
        lines.append(f'<{uri}> a skos:Concept ; skos:prefLabel "{name}"@en, "{name} de"@de ;')
        lines.append(f'  skos:altLabel "other \\u00e9 {name}" ; skos:broader <{broader}> .')
    return "\n".join(lines) + "\n"


def _xml(uris: dict[str, str]) -> str:
    concepts = "".join(
        f'<skos:Concept rdf:about="{uri}"><skos:prefLabel xml:lang="en">{name}</skos:prefLabel>'
        f"<skos:altLabel>&lt;{name}&gt;</skos:altLabel>"
        f'<skos:broader rdf:resource="{min(uris)}"/></skos:Concept>\n'
        for uri, name in uris.items()
    )
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f'{head}\n<rdf:RDF xmlns:rdf="{_RDF}" xmlns:skos="{_SKOS}">\n{concepts}</rdf:RDF>\n'


def fuzz_side_files(campaign: Any, mutate: Callable[..., bytes]) -> Callable[..., dict[str, Any]]:
    """Return a campaign that changes one of these files in each case, and uses it as the commands do."""

    def run(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
        corpus = small_corpus()
        named = with_thesaurus(corpus, NAMES)
        model = edited_model(named)
        write_side_files(place / "seeds", model.curation_, corpus)
        cases = _cases(model, named, corpus)
        for case in cases.values():  # each must be read as it is, and compiles what it needs
            shutil.copytree(place / "seeds", place / "now")
            case(place / "now")
            shutil.rmtree(place / "now")
        names = sorted(cases)

        def one(_: int) -> tuple[str, Callable[[], None]]:
            shutil.copytree(place / "seeds", place / "now", dirs_exist_ok=True)
            for left in (place / "now").glob("out*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            name = names[int(rng.integers(0, len(names)))]
            path = place / "now" / name
            if path.suffix == ".json" and rng.random() < 0.5:
                name += ", " + change_json(path, rng)
            else:
                path.write_bytes(mutate(path.read_bytes(), rng))
            return name, lambda: cases[path.name](place / "now")

        found: dict[str, Any] = campaign(n, one, place)
        return found

    return run


def _cases(model: Any, named: tt.Corpus, corpus: tt.Corpus) -> dict[str, Case]:
    """Return what is done with each file."""

    def tag_names(path: Path) -> None:
        thesaurus = in_tags(read_thesaurus(path), model.recommender_.tag_names)
        model.names_ = fit_tag_names(model.recommender_, thesaurus, named.texts or ())
        before = model.recommend(named, top=3)
        model.save(path.parent / "out.tt", corpus=corpus)
        assert tt.load(path.parent / "out.tt").recommend(named, top=3) == before

    def journal(place: Path) -> None:
        edits = tt.Curation.from_json(read_json(place / "journal.json"))
        if guides(edits):
            fresh = tt.TTM(4, max_iter=1, random_state=0, n_jobs=1)
            fitted = fit_with_journal(fresh, corpus, edits, None, [])
            assert np.isfinite(fitted.components_).all()
        model.curation_ = edits
        model.save(place / "out.tt", corpus=corpus)
        loaded: Any = tt.load(place / "out.tt")
        if edits.edits:
            undo(loaded, corpus=named)

    def changes(place: Path) -> None:
        accepted, _ = read_changes(place / "changes.csv")
        rewrite(place / "documents.jsonl", place / "out.jsonl", accepted)
        rewrite(place / "documents.csv", place / "out.csv", accepted, TagColumns(separator="|"))
        changed = apply_changes(corpus, accepted)
        written = tt.read_corpus(place / "out.jsonl")
        assert [set(changed.tags_of(row)) for row in range(corpus.n_docs)] == [
            set(written.tags_of(row)) for row in range(corpus.n_docs)
        ]

    return {
        "names.tsv": lambda place: tag_names(place / "names.tsv"),
        "names.ttl": lambda place: tag_names(place / "names.ttl"),
        "names.rdf": lambda place: tag_names(place / "names.rdf"),
        "journal.json": journal,
        "changes.csv": changes,
        "findings.json": lambda place: _unused(audit_block(read_findings(place / "findings.json"))),
    }


def _unused(_: Any) -> None:
    """Drop a result."""
