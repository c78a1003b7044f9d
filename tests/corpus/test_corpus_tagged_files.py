"""Exports whose tags are written back: nothing but the tags changes, not even a byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tagged_support import WRITE, karakeep, paperless, rows

import tagtopics as tt
from tagtopics.analysis.audit.changes import Change, write_changes
from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
from tagtopics.cli import main
from tagtopics.corpus.formats.registry import FORMATS, find_source
from tagtopics.errors import InputError
from tagtopics.readers.bookmarks import find_bookmarks
from tagtopics.readers.exports import find_karakeep, find_linkwarden
from tagtopics.readers.vault import find_note

pytestmark = pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning")
KIND_OF = {name: name.split()[0] for name in WRITE}


def content(path: Path) -> Any:
    """Return the bytes of a file, or of all files in a folder; what a link points to."""
    if path.is_symlink():
        return path.readlink()
    if path.is_file():
        return path.read_bytes()
    return {place.name: content(place) for place in path.iterdir()}


def tags_of(corpus: tt.Corpus) -> dict[str, set[str]]:
    return {name: set(corpus.tags_of(row)) for row, name in enumerate(corpus.ids)}


# ------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("name", WRITE)
def test_documents_have_titles_texts_dates_and_tags(tmp_path: Path, name: str) -> None:
    corpus = tt.read_corpus(WRITE[name](tmp_path))
    assert any("text from title and text" in notice for notice in corpus.notices)
    assert corpus.titles is not None
    assert {"bread", "galaxy", "naïve"} <= set(corpus.vocabulary)
    assert ("no" in corpus.tag_names, "gone" in corpus.tag_names, "unused" in corpus.tag_names) == (
        False,
    ) * 3
    if name == "vault":
        assert corpus.n_docs == 25
        assert corpus.ids[:2] == ("Deep/Er/note 01.md", "Deep/Er/note 02.md")
        assert corpus.titles[0] == "A: b"  # of the front matter; else the heading
        rest = [title for title in corpus.titles if title != "A: b"]
        assert {row["title"] for row in rows()} | {"empty"} >= set(rest)
        assert "empty" in rest
        assert set(corpus.dates or ()) == {None, "2024-05-01"}
        assert "tags" not in corpus.vocabulary  # no words of the front matter
    else:
        assert corpus.n_docs == 24
        expected = {row["title"] for row in rows()} - ({rows()[5]["title"]} if "karakeep" in name else set())
        assert set(corpus.titles) - {None} == expected
        assert corpus.dates is not None
        assert len(set(corpus.dates)) == 24
        assert corpus.urls is None or corpus.urls[0].startswith("https://example.org/0")  # type: ignore[union-attr]
    expected = {tag for row in rows() for tag in row["tags"] if "bookmarks" not in name or "," not in tag}
    assert set(corpus.tag_names) == expected
    by_title = {corpus.titles[d]: set(corpus.tags_of(d)) for d in range(corpus.n_docs)}
    for row in rows():
        if row["title"] in by_title:
            assert by_title[row["title"]] == expected & set(row["tags"])


def test_formats_are_recognised(tmp_path: Path) -> None:
    for name, write in WRITE.items():
        place = tmp_path / name
        place.mkdir()
        assert find_source(write(place), None)[1] == KIND_OF[name]
    folder = tmp_path / "vault" / "vault"
    assert (folder / "picture.png").exists()
    for name, one in FORMATS.items():  # whatever the order, but for folders of texts, which are asked last
        if name != "texts":
            assert (one.holds is not None and one.holds(folder)) == (name == "vault"), name


def test_a_folder_with_a_table_of_metadata_is_no_vault(tmp_path: Path) -> None:
    folder = WRITE["vault"](tmp_path)
    (folder / "picture.png").unlink()
    (folder / "metadata.csv").write_text("file,tags\nempty.md,x\n")
    assert find_source(folder, None)[1] == "texts"


# ------------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("name", WRITE)
def test_no_change_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    source = WRITE[name](tmp_path)
    assert rewrite(source, tmp_path / "out", []) == 0
    assert content(tmp_path / "out") == content(source)


CHANGES = [
    Change("merge", "food", other="baking"),
    Change("drop", "astronomy"),
    Change("merge", "brand new: 'tag'", other="transport"),
]


@pytest.mark.parametrize("name", WRITE)
def test_changes_are_read_back_and_can_be_undone_by_text(tmp_path: Path, name: str) -> None:
    source = WRITE[name](tmp_path)
    before = tt.read_corpus(source)
    lacking = next(d for d in range(before.n_docs) if not before.tags_of(d) and before.ids[d] != "empty.md")
    added = Change("add", "city", before.ids[lacking], lacking)
    n_changed = rewrite(source, tmp_path / "out", [*CHANGES, added])
    assert n_changed > 20
    after = tt.read_corpus(tmp_path / "out", format=KIND_OF[name])
    new = {"baking": "food", "astronomy": None, "transport": "brand new: 'tag'"}
    wanted = {doc: {new.get(tag, tag) for tag in tags} - {None} for doc, tags in tags_of(before).items()}
    wanted[before.ids[lacking]] = {"city"}
    assert tags_of(after) == wanted
    same = ("ids", "titles", "dates", "urls", "vocabulary")
    assert [getattr(after, what) for what in same] == [getattr(before, what) for what in same]


EXACT = [
    ("karakeep", '["baking","Bäckerei 🥐"]', '["Bäckerei 🥐","food"]'),
    ("karakeep ascii", '[\n    "baking",\n    "B\\u00e4ckerei', '[\n    "B\\u00e4ckerei'),
    ("linkwarden", '"tags":[{"id":1,"name":"baking","ownerId":1,"aiTag":false}],"url":"https://example.org/6"',
     '"tags":[{"id":6,"name":"food","ownerId":1,"aiTag":false}],"url":"https://example.org/6"'),
    ("paperless", '"tags": [\n        11\n      ],', '"tags": [\n        16\n      ],'),
    ("bookmarks", 'TAGS="baking,Bäckerei 🥐" PRIVATE', 'TAGS="Bäckerei 🥐,food" PRIVATE'),
    ("bookmarks", "tags='baking , food'", "tags='food'"),
    ("bookmarks", 'TAGS="baking" PRIVATE', 'TAGS="food" PRIVATE'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new"), EXACT)
def test_only_the_tags_are_other_text(tmp_path: Path, name: str, old: str, new: str) -> None:
    source = WRITE[name](tmp_path)
    rewrite(source, tmp_path / "out", CHANGES[:1])
    before, after = source.read_text("utf-8"), (tmp_path / "out").read_text("utf-8")
    assert old in before
    assert old not in after
    assert new in after
    # Without the lists of tags, nothing differs.
    lists = re.compile(
        r'"tags": ?\[.*?\](?=,? *["\n])|tags=(?:"[^"]*"|\'[^\']*\')', re.DOTALL | re.IGNORECASE
    )
    assert before != after
    assert lists.sub("", before) == lists.sub("", after)


NOTES = [
    ("tags:\n  - old\n  - x # why", "tags:\n  - x # why\n  - new"),
    ("tags: [ old , x ] # why", "tags: [ x , new ] # why"),
    ("tags: [old]", "tags: [new]"),
    ("tags: [\n  'old',\n  \"x\",\n]", 'tags: [\n  "x",\n  new,\n]'),
    ("tags: old x", "tags: [x, new]"),
    ("tags: old, x y # why", "tags: [x y, new] # why"),
    ("tags:  # all\n\n- old\n- c#", "tags:  # all\n\n- c#\n- new"),
    ('"tags": ["old", "say \\"hi\\"", \'it\'\'s\']', '"tags": ["say \\"hi\\"", \'it\'\'s\', new]'),
    ("x: 1\ntags:\n- old\ny:\n- old", "x: 1\ntags:\n- new\ny:\n- old"),
]


@pytest.mark.parametrize(("old", "new"), NOTES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_front_matter_keeps_its_form(tmp_path: Path, old: str, new: str, newline: str) -> None:
    note = "---\n{}\nz: [a] # keep\n---\n\n# Title\n\ntags: [old]\n---\n"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(note.format(old).replace("\n", newline).encode())
    rewrite(tmp_path / "notes", tmp_path / "out", [Change("merge", "new", other="old")])
    assert (tmp_path / "out" / "a.md").read_bytes().decode() == note.format(new).replace("\n", newline)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "---\ntags:\n  - new\n---\n"),
        ("text", "---\ntags:\n  - new\n---\ntext"),
        ("---\nno end", "---\ntags:\n  - new\n---\n---\nno end"),
        ("---\nx: 1\n---\ntext", "---\nx: 1\ntags:\n  - new\n---\ntext"),
        ("---\n---\r\ntext", "---\ntags:\n  - new\n---\r\ntext"),
        ("---\r\ntags: []\r\n---", "---\r\ntags: [new]\r\n---"),
        ("---\ntags: null\n---\n", "---\ntags: [new]\n---\n"),
        ("---\ntags:\nx: 1\n...\n", "---\ntags:\n  - new\nx: 1\n...\n"),
    ],
)
def test_the_first_tag_of_a_note(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(old.encode())
    (tmp_path / "notes" / "b.md").write_bytes(b"---\ntags: [x]\n---\nwords")
    rewrite(tmp_path / "notes", tmp_path / "out", [Change("add", "new", "a.md")])
    assert (tmp_path / "out" / "a.md").read_bytes().decode() == new


def test_tags_that_are_no_list_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "b.md").write_text("---\ntags: [x]\n---\nwords")
    for value in (
        "{a: 1}",
        "\n  a: 1",
        "|\n  old",
        "[a, [b]]",
        "[a",
        '"a\\q"',
        "\n  - a: 1",
        "*anchor",
        "a\n  b",
        "\n  - a\n - b",
    ):
        (tmp_path / "notes" / "a.md").write_text(f"---\ntags: {value}\n---\nwords")
        corpus = tt.read_corpus(tmp_path / "notes")
        assert corpus.tag_names == ("x",)
        assert any("1 notes have tags that are no list" in line for line in corpus.notices)
        with pytest.raises(InputError, match=r"a\.md: the tags .* cannot be changed.*nothing was written$"):
            rewrite(tmp_path / "notes", tmp_path / "out", [Change("add", "new", "a.md")])
        assert not (tmp_path / "out").exists()


def test_tags_that_a_format_cannot_hold_are_refused(tmp_path: Path) -> None:
    source = WRITE["bookmarks"](tmp_path)
    with pytest.raises(InputError, match="would not be read back as one tag"):
        rewrite(source, tmp_path / "out", [Change("merge", "a, b", other="city")])
    with pytest.raises(InputError, match="only the column 'tags'"):
        rewrite(source, tmp_path / "out", [], TagColumns("title"))
    assert not (tmp_path / "out").exists()


def test_a_folder_is_never_replaced(tmp_path: Path) -> None:
    source = WRITE["vault"](tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").touch()
    for target in (tmp_path / "mine", source, source / "in"):
        with pytest.raises(InputError, match="choose"):
            rewrite(source, target, CHANGES, overwrite=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["a.txt"]


def test_permissions_and_links_of_a_folder_are_kept(tmp_path: Path) -> None:
    source = WRITE["vault"](tmp_path)
    (source / "note 00.md").chmod(0o600)
    source.chmod(0o750)
    rewrite(source, tmp_path / "out", CHANGES)
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "out", tmp_path / "out" / "note 00.md")]
    assert modes == [0o750, 0o600]
    assert (tmp_path / "out" / "link.md").is_symlink()


def test_a_number_without_a_tag_is_kept(tmp_path: Path) -> None:
    value = [{"model": "documents.tag", "pk": 1, "fields": {"name": "a"}}]
    for pk, tags in enumerate(([1, 99], [])):
        fields = {"title": "some title", "tags": tags}
        value.append({"model": "documents.document", "pk": pk, "fields": fields})
    (tmp_path / "m.json").write_text(json.dumps(value))
    changes = [Change("merge", "b", other="a"), Change("add", "99", row=1)]
    rewrite(tmp_path / "m.json", tmp_path / "o.json", changes)
    new = json.loads((tmp_path / "o.json").read_text())
    assert [row["fields"].get("tags", row["fields"].get("name")) for row in new] == ["b", "a", [99, 2], [99]]


def test_a_new_tag_of_paperless_gets_a_record(tmp_path: Path) -> None:
    source = WRITE["paperless"](tmp_path)
    rewrite(source, tmp_path / "out.json", CHANGES)
    before, after = (json.loads(path.read_text("utf-8")) for path in (source, tmp_path / "out.json"))
    assert after[0] == {"model": "documents.tag", "pk": 19, "fields": {"name": "brand new: 'tag'"}}
    others = [[row for row in records if row["model"] != "documents.document"] for records in (before, after)]
    assert others[0] == others[1][1:]


# -------------------------------------------------------------------------------------------------- any tags


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
LISTS = st.lists(st.lists(NAMES, max_size=4), min_size=1, max_size=4)


def _write_any(kind: str, lists: list[list[str]], *, newline: str, ascii: bool) -> str:
    """Return a file with these tags, as programs write them."""
    import html

    if kind == "karakeep":
        marks = [{"title": "x", "tags": tags, "note": "tags"} for tags in lists]
        return json.dumps({"bookmarks": marks}, ensure_ascii=ascii, indent=1).replace("\n", newline)
    if kind == "linkwarden":
        links = [{"name": "x", "tags": [{"name": tag} for tag in tags]} for tags in lists]
        return json.dumps({"collections": [{"links": links}]}, ensure_ascii=ascii)
    if kind == "bookmarks":
        head = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>{newline}<DL><p>{newline}"
        given = (html.escape(",".join(tags)) for tags in lists)
        return head + "".join(f'<DT><A HREF="u" TAGS="{tags}">x</A>{newline}' for tags in given)
    listed = "".join(f"{newline}  - {json.dumps(tag, ensure_ascii=ascii)}" for tag in lists[0])
    return f"---{newline}tags:{listed}{newline}x: 1{newline}---{newline}text{newline}"


ANY = ["karakeep", "linkwarden", "bookmarks", "vault"]


@pytest.mark.parametrize("kind", ANY)
@settings(max_examples=150, deadline=None)
@given(lists=LISTS, fresh=NAMES, newline=st.sampled_from(["\n", "\r\n"]), ascii=st.booleans(), data=st.data())
def test_any_tags(
    kind: str, lists: list[list[str]], fresh: str, newline: str, ascii: bool, data: st.DataObject
) -> None:
    finds: list[Callable[..., Any]] = [find_karakeep, find_linkwarden, find_bookmarks, find_note]
    find, write = finds[ANY.index(kind)], FORMATS[kind].write_tags
    assert write is not None
    text = _write_any(kind, lists, newline=newline, ascii=ascii)
    found = [list(one.tags.tags) for one in find(text, "x")]
    if kind != "bookmarks":  # which divides tags at commas, and trims them
        assert found == (lists if kind != "vault" else lists[:1])
    assert write(text, "x", dict(enumerate(found))) == text
    row = data.draw(st.integers(0, len(found) - 1))
    kept = [tag for tag in found[row] if data.draw(st.booleans())]
    if kind == "bookmarks" and not fresh.replace(",", "").strip():
        fresh = "a"
    wanted = [*kept, fresh.replace(",", "").strip() if kind == "bookmarks" else fresh]
    changed = write(text, "x", {row: wanted})
    after = [list(one.tags.tags) for one in find(changed, "x")]
    assert after == [*found[:row], wanted, *found[row + 1 :]]
    if found[row]:  # otherwise it may have a lone comma
        assert write(changed, "x", {row: []}) == write(text, "x", {row: []})


VALUES = st.sampled_from(
    ["a", "b c", "c#", "x/y", "'q'", '"d q"', "'it''s'", '"e\\"f"', "é", "- z", "#no", "a: b", "a:b", "[n]",
     "{m}", "*s", "!u", "|", "a, b", "~", "null", "-dash", "a # c", '"x" # c', "'y' z", "a]", "", "a,"]
)  # fmt: skip
FRONT = st.one_of(
    st.builds(
        lambda values, between, end: f"tags: [{between.join(values)}{end}",
        st.lists(VALUES, max_size=3),
        st.sampled_from([", ", ",", ",\n  "]),
        st.sampled_from(["]", ",]", "\n] # c"]),
    ),
    st.builds(
        lambda values, before: "tags:" + "".join(f"{before}{value}" for value in values),
        st.lists(VALUES, max_size=3), st.sampled_from(["\n- ", "\n  - ", "\n\n  # c\n- ", "\n  "]),
    ),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(front=FRONT, more=st.sampled_from(["", "\nother: 1", "\nother:\n  - z"]))
def test_front_matter_means_what_yaml_says(front: str, more: str) -> None:
    yaml: Any = pytest.importorskip("yaml")
    text = f"---\n{front}{more}\n---\nbody\n"
    (note,) = find_note(text, "x")
    try:
        said = yaml.safe_load(front + more)
    except yaml.YAMLError:
        return
    listed = said["tags"] if isinstance(said, dict) and isinstance(said["tags"], list) else None
    if note.tags.unread or listed is None or not all(one is None or isinstance(one, str) for one in listed):
        return
    assert list(note.tags.tags) == [one for one in listed if one]
    write = FORMATS["vault"].write_tags
    assert write is not None
    wanted = [*note.tags.tags[1:], 'new: "tag"']
    changed = write(text, "x", {0: wanted})
    assert changed.endswith(f"{more}\n---\nbody\n")
    after = yaml.safe_load(changed.split("---\n")[1])
    assert [one for one in after.pop("tags") if one] == wanted
    assert after == {name: value for name, value in said.items() if name != "tags"}


# ------------------------------------------------------------------------------------------------ whole path


@pytest.mark.parametrize("name", ["karakeep", "linkwarden", "paperless", "bookmarks", "vault"])
def test_read_fit_audit_apply_read(tmp_path: Path, name: str) -> None:
    source = WRITE[name](tmp_path)
    corpus = tt.read_corpus(source)
    model = tt.LDA(n_topics=3, random_state=0).fit(corpus)
    found = [one for one in tt.audit(model, corpus, min_score=0.0) if one.change == "add"][:3]
    assert len(found) == 3
    changes = write_changes(found, tmp_path / "changes.csv")
    changes.write_text(changes.read_text("utf-8").replace("\n,", "\nyes,"), "utf-8")
    out = tmp_path / f"out{source.suffix}"
    assert main(["apply", str(changes), str(source), "--out", str(out)]) == 0
    before, after = tags_of(corpus), tags_of(tt.read_corpus(out))
    for one in found:
        assert one.document is not None
        before[one.document].add(one.tag)
    assert after == before


# ----------------------------------------------------------------------------------------------- malformed


DEEP, HEAD = "[" * 200_000, "<!DOCTYPE NETSCAPE-Bookmark-file-1>"
MALFORMED = [
    ("k.json", "karakeep", "", "not valid JSON"),
    ("k.json", "karakeep", '{"bookmarks": [', "not valid JSON"),
    ("k.json", "karakeep", '{"bookmarks": []}', "no documents"),
    ("k.json", "karakeep", '{"bookmarks": [1]}', "each document must be an object"),
    ("k.json", "karakeep", '{"bookmarks": [{"title": "x", "tags": "a"}]}', "bookmark 0: tags must be"),
    ("k.json", "karakeep", '{"bookmarks": [{"title": "x", "tags": [{}]}]}', "bookmark 0: tags must be"),
    ("k.json", "karakeep", '{"bookmarks": [{"tags": ["a"], "createdAt": 1e400}]}', "no document has title"),
    ("k.json", "karakeep", '{"bookmarks": ' + DEEP, "nested too deeply|not valid JSON"),
    ("l.json", "linkwarden", '{"collections": {"links": 1}}', "no documents"),
    ("l.json", "linkwarden", '{"collections": [{"links": [{"name": "x", "tags": ["a"]}]}]}', "link 0: tags"),
    ("m.json", "paperless", DEEP, "nested too deeply|not valid JSON"),
    ("m.json", "paperless", '[{"model": "documents.tag", "pk": 1}]', "--split-manifest"),
    ("m.json", "paperless", '[{"model": "documents.document", "pk": [1]}]', "fields must be an object"),
    ("m.json", "paperless", '[{"model": "documents.document", "pk": 1, "fields": {"tags": 1}}]', "tags must"),
    ("b.html", "bookmarks", "<html><a href='x'>y</a></html>", "no file of bookmarks"),
    ("b.html", "bookmarks", HEAD + "<A '" * 100_001, "no documents"),
    ("b.html", "bookmarks", HEAD + "<!--<A HREF=x>" * 100_000, "no documents"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "text", "problem"), MALFORMED)
def test_malformed_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=problem) as error:
        tt.read_corpus(tmp_path / name, format=kind)
    assert "\n" not in str(error.value)
    (tmp_path / "c.csv").write_text("accept,change,tag,other\nyes,merge,a,b\n")
    given = [str(tmp_path / "c.csv"), str(tmp_path / name), "--format", kind, "--out", str(tmp_path / "out")]
    assert main(["apply", *given]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()


def test_hostile_text_takes_linear_time() -> None:
    many = 200_000
    assert (
        len(list(find_bookmarks(HEAD + "<A HREF=x TAGS='" + " " * many + "'>x</A><DD>" + "<b>x" * many, "x")))
        == 1
    )
    spaces = " " * many
    fronts = [
        f" [{'a ' * many}",
        f"{spaces}x #",
        f"\n- a{spaces}b\n",
        f" [{spaces}\n",
        "\n" * many,
        "'" * many,
    ]
    for front in fronts:
        assert len(list(find_note(f"---\ntags:{front}\n---\n", "x"))) == 1


def test_lines_and_pk_of_any_type(tmp_path: Path) -> None:
    value = json.loads(paperless())
    value[1]["pk"] = {"a": [1]}
    value[-2]["fields"]["tags"] = [{"a": [1]}, [], 12]
    (tmp_path / "m.json").write_text(json.dumps(value))
    corpus = tt.read_corpus(tmp_path / "m.json")
    assert "[]" in corpus.tag_names


def test_a_missing_key_or_null_becomes_a_list(tmp_path: Path) -> None:
    text = '{"bookmarks": [{"title": "x", "tags": null}, {"title": "y" }, {"title": "z", "tags": [ ]}]}'
    (tmp_path / "k.json").write_text(text)
    rewrite(tmp_path / "k.json", tmp_path / "o.json", [Change("add", "new", row=row) for row in range(3)])
    expected = '{"bookmarks": [{"title": "x", "tags": ["new"]}, {"title": "y", "tags": ["new"] }, '
    assert (tmp_path / "o.json").read_text() == expected + '{"title": "z", "tags": ["new"]}]}'


def test_packed_exports(tmp_path: Path) -> None:
    import gzip

    source = tmp_path / "k.json.gz"
    source.write_bytes(gzip.compress(karakeep().encode()))
    rewrite(source, tmp_path / "o.json.gz", CHANGES)
    assert "food" in tt.read_corpus(tmp_path / "o.json.gz").tag_names


def test_guessed_encodings_are_kept(tmp_path: Path) -> None:
    text = '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DT><A HREF="x" TAGS="old,caf\xe9">Gar\xe7on in town</A>\n'
    (tmp_path / "b.html").write_bytes(text.encode("cp1252"))
    rewrite(tmp_path / "b.html", tmp_path / "o.html", [Change("merge", "new", other="old")])
    assert (tmp_path / "o.html").read_bytes() == text.replace("old,café", "café,new").encode("cp1252")


def test_bookmarks_of_other_programs() -> None:
    marks = (
        '<DT><H3>Folder</H3>\n<DD>of the folder\n<DL><p><dt><a href=u1 TAGS=a,b>One <b>two</b></a>\n'
        '<DT><A HREF="u2" ADD_DATE="x" TAGS="c&#44;d,, &amp;e ">Three</A><DD>of the <i>bookmark</i>\n'
        '<DT><H3>Next</H3><DD>of the next folder<DL><p></DL><p>\n<DT><A LAST>No address</A><DD>at the end'
    )  # fmt: skip
    found = list(find_bookmarks(HEAD + marks, "x"))
    assert [list(one.tags.tags) for one in found] == [["a", "b"], ["c", "d", "&e"], []]
    assert [one.title for one in found] == ["One  two", "Three", "No address"]
    assert [one.text for one in found] == [None, "of the  bookmark", "at the end"]
    assert [one.url for one in found] == ["u1", "u2", None]
    write = FORMATS["bookmarks"].write_tags
    assert write is not None
    changed = write(HEAD + marks, "x", {1: ["d", "&e"], 2: ["f"]})
    assert 'TAGS="d,, &amp;e "' in changed
    assert '<A LAST TAGS="f">No' in changed
