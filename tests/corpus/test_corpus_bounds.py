"""Limits of readers: what one small file can cost, and numbers that must not wrap around."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from tagtopics.corpus import canonical_counts, read_corpus
from tagtopics.corpus.formats import text_files
from tagtopics.corpus.formats.matrix_folder import load_csr
from tagtopics.errors import InputError

pytestmark = pytest.mark.usefixtures("forked")

LARGEST = 2**31 - 1


def duplicates(kind: str, count: int) -> sp.sparray:
    """Return a matrix that names its only cell twice."""
    data, zeros = np.array([count, count], dtype=np.int32), np.zeros(2, dtype=np.int32)
    if kind == "coo":
        return sp.coo_array((data, (zeros, zeros)), shape=(1, 1))
    make = sp.csr_array if kind == "csr" else sp.csc_array
    return make((data, zeros, np.array([0, 2])), shape=(1, 1))


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_duplicates_are_added_before_the_range_is_checked(kind: str) -> None:
    assert canonical_counts(duplicates(kind, 2**30 - 1)).toarray().tolist() == [[2**31 - 2]]
    with pytest.raises(InputError, match=r"row 0, column 0, value 4294967294 is too large for a count"):
        canonical_counts(duplicates(kind, LARGEST))


def test_duplicates_in_a_matrix_folder(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "words.npz", duplicates("csr", LARGEST))
    (tmp_path / "vocab.txt").write_text("a\n")
    with pytest.raises(InputError, match="too large for a count"):
        read_corpus(tmp_path)


def test_a_csv_file_may_have_very_many_columns(tmp_path: Path) -> None:
    """This took 20 s when each name was compared with all before it, and takes less than one now."""
    names = [f"column{i}" for i in range(60_000)]
    (tmp_path / "a.csv").write_text(",".join(["text", *names]) + "\n" + "word" + "," * 60_000 + "\n")
    assert read_corpus(tmp_path / "a.csv").vocabulary == ("word",)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.txt.gz"])
def test_gzip_does_not_expand_without_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(text_files, "FREE_EXPANSION", 80_000)
    line, head = b"cat\n", b"text\n" if "csv" in name else b""
    (tmp_path / name).write_bytes(gzip.compress(head + line * 1_000))
    assert read_corpus(tmp_path / name).n_docs == 1_000
    (tmp_path / name).write_bytes(gzip.compress(head + line * 400_000))
    with pytest.raises(
        InputError, match=r"expands to more than [\d,]+ bytes; the limit is .* 100 times the size"
    ):
        read_corpus(tmp_path / name)


def test_parquet_does_not_expand_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "FREE_EXPANSION", 2**20)
    rows = pl.DataFrame({"text": ["cat " * 25_000] * 1_000})
    rows.write_parquet(tmp_path / "a.parquet", use_pyarrow=True)  # with a dictionary of texts
    assert (tmp_path / "a.parquet").stat().st_size < 2**20 / 5
    with pytest.raises(
        InputError, match=r"expands to more than [\d,]+ bytes; the limit is .* 100 times the size"
    ):
        read_corpus(tmp_path / "a.parquet")
    pl.DataFrame({"text": ["cat", "dog"] * 5_000}).write_parquet(tmp_path / "b.parquet")
    assert read_corpus(tmp_path / "b.parquet").n_docs == 10_000


def npz(path: Path, **members: bytes) -> None:
    """Write an archive with some members in place of those of a matrix."""
    sp.save_npz(path.with_name("whole.npz"), sp.csr_array(np.eye(3, dtype=np.int32)))
    with zipfile.ZipFile(path.with_name("whole.npz")) as whole:
        parts = {name.removesuffix(".npy"): whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (parts | members).items():
            archive.writestr(f"{name}.npy", data)


def test_npz_files_are_not_unpacked_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npz(tmp_path / "words.npz")
    assert load_csr(tmp_path / "words.npz").toarray().tolist() == np.eye(3).tolist()
    monkeypatch.setattr(text_files, "FREE_EXPANSION", 2**20)
    npz(tmp_path / "words.npz", other=bytes(2**26))
    with pytest.raises(InputError, match=r"words\.npz: expands to more than [\d,]+ bytes"):
        load_csr(tmp_path / "words.npz")


def test_an_npz_header_claims_no_memory(tmp_path: Path) -> None:
    file = io.BytesIO()
    header: Any = {"descr": "<i4", "fortran_order": False, "shape": (2**40,)}
    np.lib.format.write_array_header_1_0(file, header)
    npz(tmp_path / "words.npz", data=file.getvalue())
    with pytest.raises(InputError, match=r"words\.npz: cannot be read .*data is not an array of \(109"):
        load_csr(tmp_path / "words.npz")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_pipes_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a\.csv: not a regular file"):
        read_corpus(tmp_path / "a.csv")
