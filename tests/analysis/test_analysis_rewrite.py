"""Changes applied to files: dialects, reading back before anything is replaced, permissions, metadata."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagtopics.analysis.audit import rewrite as module
from tagtopics.analysis.audit.changes import Change
from tagtopics.analysis.audit.rewrite import TagColumns, rewrite
from tagtopics.corpus.core import FileOptions
from tagtopics.errors import InputError

MERGE = [Change("merge", "new", other="old")]
ROWS: list[dict[str, Any]] = [
    {"id": "1", "title": "map", "tags": ["image", "old"], "price": 1.5, "note": "keep me"},
    {"id": "2", "title": "photo", "tags": ["old"], "price": float("nan"), "note": "keep me, too"},
    {"id": "3", "title": "print", "tags": ["image"], "price": 2.0, "note": None},
]


def write_source(path: Path) -> Path:
    """Write the rows as the suffix of a path says."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([list(ROWS[0]), *([*row.values()] for row in ROWS)])
    elif path.suffix == ".parquet":
        pl = pytest.importorskip("polars")
        described = {"source": "British Library", "licence": "CC0 é"}
        pl.DataFrame(ROWS).write_parquet(path, metadata=described)
    return path


FILES = ("c.jsonl", "c.csv", "c.parquet")


# ------------------------------------------------------------------------------------------------ dialects


def test_a_quote_inside_an_unquoted_field_is_a_letter(tmp_path: Path) -> None:
    text = (
        "id,title,tags,price,note\n"
        "1,plain,image;old,3,keep me\n"
        '2,5" photo,image;old,7" x 9,keep me too\n'
        '3,5" photo,image;old,9,and me\n'
    )
    (tmp_path / "c.csv").write_text(text)
    assert rewrite(tmp_path / "c.csv", tmp_path / "o.csv", MERGE) == 3
    assert (tmp_path / "o.csv").read_text() == text.replace("old", "new")


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("c.csv", 'id;tags;note\r\n1;"image|old";a "b"\r\n2;x;7" é\r\n', "cp1252"),
        ("c.tsv", 'id\ttags\tnote\n1\timage;old\t"un\n2\tx\tclosed 5" é\n', "utf-8"),
        ("c.csv", 'id,tags,note\n1,"image;old","a \\"b\\", é"\n2,x,"\\\\"\n', "utf-8"),
        ("c.csv", "\ufeffid,tags,note\n1,image;old,é\n", "utf-8"),
    ],
)
def test_all_dialects_keep_their_bytes(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    source = tmp_path / name
    source.write_bytes(text.encode(encoding))
    assert rewrite(source, tmp_path / "o", MERGE) == 1
    assert (tmp_path / "o").read_bytes() == text.replace("old", "new").encode(encoding)


def test_delimiter_and_encoding_are_those_that_the_user_names(tmp_path: Path) -> None:
    text = "id:tags:note\n1:old:Привет\n"
    (tmp_path / "c.csv").write_bytes(text.encode("cp1251"))
    named = FileOptions(delimiter=":", encoding="cp1251")
    rewrite(tmp_path / "c.csv", tmp_path / "o.csv", MERGE, file=named)
    assert (tmp_path / "o.csv").read_bytes() == text.replace("old", "new").encode("cp1251")
    text = "id,tags\n1,old\n2,é\n"
    (tmp_path / "c.csv").write_bytes(text.encode("utf-8-sig"))
    rewrite(tmp_path / "c.csv", tmp_path / "p.csv", MERGE, file=FileOptions(encoding="utf-8-sig"))
    assert (tmp_path / "p.csv").read_bytes() == text.replace("old", "new").encode("utf-8-sig")


@pytest.mark.parametrize(
    ("encoding", "tag", "problem"),
    [("utf-16", "new", "UTF-16; save it as UTF-8"), ("cp1252", "漢字", "cannot be written in cp1252")],
)
def test_encodings_that_cannot_hold_the_result(tmp_path: Path, encoding: str, tag: str, problem: str) -> None:
    (tmp_path / "c.csv").write_bytes("id,tags,note\n1,old,été\n".encode(encoding))
    with pytest.raises(InputError, match=problem) as error:
        rewrite(tmp_path / "c.csv", tmp_path / "o.csv", [Change("merge", tag, other="old")])
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["c.csv"]


def test_a_tag_that_the_dialect_cannot_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text('id\ttags\tnote\n1\told\t"un\n2\tx\tclosed\n')
    for tag in ("a\tb", "a\nb"):
        with pytest.raises(InputError, match="nothing was written") as error:
            rewrite(tmp_path / "c.tsv", tmp_path / "o.tsv", [Change("merge", tag, other="old")])
        assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["c.tsv"]


# ----------------------------------------------------------------------------------------------- read back


def _with_note(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a writer of one record or line that also changes the note."""

    def written(text: str, values: Any, *more: Any) -> Any:
        return write(text, values, *more).replace("keep", "lose")

    return written


def _without_last(read: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: list(read(*given))[:-1]


def _other_tags(write: Callable[..., Any]) -> Callable[..., Any]:
    def written(text: str, values: dict[Any, Any], *more: Any) -> Any:
        return write(text, dict.fromkeys(values, "wrong"), *more)

    return written


FAULTS = [
    ("c.csv", "csv_with", _with_note, "line 2: 'note' would be read differently"),
    ("c.jsonl", "json_with", _with_note, "line 1: 'note' would be read differently"),
    ("c.csv", "_csv_lines", _without_last, "another number of documents"),
    ("c.jsonl", "_json_lines", _without_last, "another number of documents"),
    ("c.csv", "csv_with", _other_tags, "would not be read back as one tag"),
    ("c.jsonl", "json_with", _other_tags, "would not be read back as one tag"),
]


@pytest.mark.parametrize(("name", "function", "fault", "problem"), FAULTS)
def test_a_wrong_result_never_replaces_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, function: str, fault: Any, problem: str
) -> None:
    source, out = write_source(tmp_path / name), tmp_path / "out"
    out.write_text("older")
    monkeypatch.setattr(module, function, fault(getattr(module, function)))
    with pytest.raises(InputError, match=problem) as error:
        rewrite(source, out, MERGE, overwrite=True)
    assert str(error.value).endswith("; nothing was written")
    assert ".tmp" not in str(error.value)
    assert out.read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "out"])


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"note": "lost"}, "row 0: 'note' would be read differently"),
        ({"tags": ["new"]}, "row 0: 'image' would not be read back"),
        ({"more": 1}, "new column 'more'"),
    ],
)
def test_a_wrong_parquet_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: dict[str, Any], problem: str
) -> None:
    pl = pytest.importorskip("polars")
    source = write_source(tmp_path / "c.parquet")

    def write(path: Path, fresh: Path, cells: Any) -> None:
        rows = [ROWS[0] | {"tags": ["image", "new"]} | edit, ROWS[1] | {"tags": ["new"]}, ROWS[2]]
        pl.DataFrame(rows).write_parquet(fresh)

    monkeypatch.setattr(module, "_write_parquet", write)
    with pytest.raises(InputError, match=problem):
        rewrite(source, tmp_path / "o.parquet", MERGE)
    assert [path.name for path in tmp_path.iterdir()] == ["c.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_what_is_right_is_written(tmp_path: Path, name: str) -> None:
    """Missing values and NaN, which differs from itself, are no difference."""
    assert rewrite(write_source(tmp_path / name), tmp_path / f"o{name}", MERGE) == 2


def test_the_limit_of_the_csv_module_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (tmp_path / "c.csv").write_text(f"id,tags,note\n1,old,{'x' * 200_000}\n2,a,y\n")
    rewrite(tmp_path / "c.csv", tmp_path / "o.csv", MERGE)
    assert csv.field_size_limit() == before
    with pytest.raises(InputError):
        rewrite(tmp_path / "c.csv", tmp_path / "p.csv", [Change("merge", "a;b", other="old")])
    assert csv.field_size_limit() == before


def test_a_parquet_column_that_cannot_hold_a_tag(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    pl.DataFrame({"id": ["1"], "year": [2020]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="'year' of type Int64 cannot hold the new tags"):
        rewrite(
            tmp_path / "c.parquet", tmp_path / "o.parquet", [Change("add", "x", row=0)], TagColumns("year")
        )
    assert [path.name for path in tmp_path.iterdir()] == ["c.parquet"]


# ------------------------------------------------------------------------------- permissions and metadata


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("name", FILES)
def test_permissions_are_kept(tmp_path: Path, name: str) -> None:
    source, out = write_source(tmp_path / name), tmp_path / f"o{name}"
    for of_source, of_older, expected in [
        (0o600, None, 0o600),
        (0o664, None, 0o664),
        (0o644, 0o600, 0o600),
        (0o600, 0o644, 0o600),
    ]:
        source.chmod(of_source)
        out.unlink(missing_ok=True)
        if of_older is not None:
            out.touch()
            out.chmod(of_older)
        rewrite(source, out, MERGE, overwrite=True)
        assert mode(out) == expected


def test_parquet_keeps_the_metadata_of_the_file(tmp_path: Path) -> None:
    source = write_source(tmp_path / "c.parquet")
    import polars as pl

    rewrite(source, tmp_path / "o.parquet", MERGE)
    described = pl.read_parquet_metadata(tmp_path / "o.parquet")
    assert described["source"] == "British Library"
    assert described["licence"] == "CC0 é"
    assert set(described) == set(pl.read_parquet_metadata(source))
