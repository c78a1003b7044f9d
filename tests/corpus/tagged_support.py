"""Exports of bookmark managers, document archives and vaults, as these programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOPICS: dict[str, tuple[str, list[str]]] = {
    "baking": ("bread oven flour yeast dough crust baker loaf sourdough", ["baking", "food"]),
    "trams": ("tram rails stop delay driver line night passengers city", ["transport", "city"]),
    "stars": ("star galaxy telescope light orbit planet dust nebula sky", ["astronomy", "R&D, \"sky\""]),
}  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Return 24 documents on three subjects; some of them lack tags."""
    found = []
    for n in range(24):
        name, (words, tags) = list(TOPICS.items())[n % 3]
        text = " ".join(words.split()[(n + shift) % 9] for shift in range(6))
        mine = [] if n == 7 else tags[: 1 + n % 2] + (["Bäckerei 🥐"] if n % 9 == 0 else [])
        title = f"{name} {n}: “naïve” <guide> & more"
        found.append({"n": n, "title": title, "text": text, "tags": mine, "url": f"https://example.org/{n}"})
    return found


def karakeep(*, indent: int | None = None, ascii: bool = False) -> str:
    """Return an export of karakeep; the application writes it on one line."""
    marks: list[Any] = []
    for row in rows():
        content: Any = {"type": "link", "url": row["url"]}
        if row["n"] == 4:
            content = {"type": "text", "text": row["text"]}
        marks.append(
            {
                "createdAt": 1700000000 + 86400 * row["n"],
                "title": None if row["n"] == 5 else row["title"],
                "tags": row["tags"],
                "lists": [],
                "content": None if row["n"] == 6 else content,
                "note": row["text"],
                "customMetadata": None,
                "archived": False,
            }
        )
    separators = None if indent else (",", ":")
    value = {"bookmarks": marks, "lists": []}
    return json.dumps(value, ensure_ascii=ascii, indent=indent, separators=separators)


def linkwarden() -> str:
    """Return an export of Linkwarden: collections with links, whose tags are objects."""
    numbers: dict[str, int] = {}
    collections: list[Any] = [{"id": 1, "name": "Unorganized", "links": [], "parentId": None}]
    for at in range(2):
        links = []
        for row in rows()[at::2]:
            tags = [
                {"id": numbers.setdefault(tag, len(numbers) + 1), "name": tag, "ownerId": 1, "aiTag": False}
                for tag in row["tags"]
            ]
            links.append(
                {
                    "id": 100 + row["n"], "name": row["title"], "type": "url", "description": "",
                    "tags": tags, "url": row["url"], "textContent": row["text"],
                    "createdAt": f"2024-01-{row['n'] + 1:02d}T10:00:00.000Z",
                }
            )  # fmt: skip
        collections.append({"id": at + 2, "name": f"Part {at}", "links": links, "parentId": at + 1})
    value = {"name": "Ann", "username": "ann", "collections": collections, "pinnedLinks": [], "email": None}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def paperless() -> str:
    """Return the manifest of an export of paperless-ngx: all records of its database."""
    names = list(dict.fromkeys(tag for row in rows() for tag in row["tags"]))
    records: list[Any] = [{"model": "documents.correspondent", "pk": 3, "fields": {"name": "Office"}}]
    for pk, tag in enumerate([*names, "unused"], start=11):
        fields = {"owner": 2, "name": tag, "match": "", "matching_algorithm": 6, "color": "#a6cee3"}
        records.append({"model": "documents.tag", "pk": pk, "fields": fields | {"is_inbox_tag": False}})
    for row in rows():
        fields = {
            "owner": 2, "correspondent": 3, "title": row["title"], "content": row["text"],
            "tags": [11 + names.index(tag) for tag in row["tags"]],
            "created": f"2024-02-{row['n'] + 1:02d}", "checksum": "5d41", "archive_serial_number": None,
        }  # fmt: skip
        file = f"{row['n']}.pdf"
        records.append({"model": "documents.document", "pk": row["n"] + 1, "fields": fields,
                        "__exported_file_name__": file})  # fmt: skip
    records.append({"model": "documents.note", "pk": 1, "fields": {"document": 1, "note": "tags: [1]"}})
    return json.dumps(records, indent=2, ensure_ascii=False)


def bookmarks() -> str:
    """Return bookmarks in HTML, in nested folders."""
    import html

    lines = [
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>", "<!-- This is an automatically generated file.",
        '     <DT><A HREF="https://example.org/no" TAGS="no">Not this one</A> -->',
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">', "<TITLE>Bookmarks</TITLE>",
        "<H1>Bookmarks</H1>", "", "<DL><p>",
    ]  # fmt: skip
    for row in rows():
        n, margin = row["n"], "    " * (1 + row["n"] // 12)
        if n == 12:
            lines += [
                '    <DT><H3 ADD_DATE="1700000000">Folder</H3>',
                "    <DD>About the folder",
                "    <DL><p>",
            ]
        joined = html.escape(",".join(tag for tag in row["tags"] if "," not in tag))
        tags = f' TAGS="{joined}"' if row["tags"] else ""
        if n == 3:
            tags = f" tags='{joined.replace(',', ' , ')}'"
        given = f'HREF="{row["url"]}?a=1&amp;b" ADD_DATE="{1700000000 + 86400 * n}"{tags} PRIVATE="0"'
        lines.append(f"{margin}<DT><A {given}>{html.escape(row['title'], quote=False)}</A>")
        if n != 5:
            lines.append(f"<DD>{row['text']}")
    return "\n".join([*lines, "    </DL><p>", "</DL><p>", ""])


FRONTS = (
    "---\ntags:\n  - {0}\n  - {1}\naliases: [x]\n---\n",
    '---\ntitle: "A: b"\ntags: [{0}, {1}] # a comment\n---\n',
    "---\ncreated: 2024-05-01\ntags:\n- {0} # first\n\n# between\n- {1}\ncssclass: wide\n---\n",
    "---\ntags: [\n  {0},\n  {1},\n]\n---\n",
    "---\ntags: {0}, {1}\n---\n",
    "---\ntags: []\nother: 1\n---\n",
    "---\nother: 1\n---\n",
    "---\ntags:\n---\n",
    "",
)


def vault(place: Path) -> Path:
    """Write a vault of notes in nested folders, and what else Obsidian keeps there; return its folder."""
    names = {"Bäckerei 🥐": '"Bäckerei 🥐"', 'R&D, "sky"': "'R&D, \"sky\"'"}
    folder = place / "vault"
    for row in rows():
        n, tags = row["n"], [names.get(tag, tag) for tag in row["tags"]]
        front = (
            FRONTS[n % 5] if len(tags) == 2 and not (n % 5 == 4 and any('"' in tag for tag in tags)) else ""
        )
        if not front:
            front = "---\ntags: [" + ", ".join(tags) + "]\n---\n" if tags else FRONTS[n % 4 + 5]
            tags = []
        text = (front.format(*tags) if tags else front) + f"# {row['title']}\n\n{row['text']} #inline/tag\n"
        if n % 4 == 1:
            text = text.replace("\n", "\r\n")
        note = folder / ("Deep/Er" if n % 3 else "") / f"note {n:02d}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes((b"\xef\xbb\xbf" if n == 8 else b"") + text.encode())
    (folder / "empty.md").touch()
    for name in (".obsidian/app.json", ".trash/gone.md", "picture.png", "Deep/board.canvas"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"---\ntags: [gone]\n---\n\xff\x00")
    (folder / "link.md").symlink_to("nowhere.md")
    return folder


def _file(place: Path, name: str, text: str) -> Path:
    (place / name).write_bytes(text.encode())
    return place / name


WRITE = {
    "karakeep": lambda place: _file(place, "karakeep.json", karakeep()),
    "karakeep pretty": lambda place: _file(
        place, "k.json", "\ufeff" + karakeep(indent=4).replace("\n", "\r\n")
    ),
    "karakeep ascii": lambda place: _file(place, "k.json", karakeep(indent=1, ascii=True)),
    "linkwarden": lambda place: _file(place, "backup.json", linkwarden()),
    "paperless": lambda place: _file(place, "manifest.json", paperless()),
    "bookmarks": lambda place: _file(place, "bookmarks.html", bookmarks()),
    "bookmarks windows": lambda place: _file(place, "b.htm", "\ufeff" + bookmarks().replace("\n", "\r\n")),
    "vault": vault,
}
"""How to write each kind of export into a folder; returns what the user names."""
