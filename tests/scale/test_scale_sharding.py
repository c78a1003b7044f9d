"""Sharding a file gives the matrices that reading it gives, in parts of any size and in bounded memory."""

from __future__ import annotations

import csv
import gzip
import json
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagtopics.corpus import TextRecipe, read_corpus, write_matrix_folder
from tagtopics.corpus.text import choose_words
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.scale import ShardFolder, ingest, shard_corpus
from tagtopics.scale.ingest import Tally

Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in parts of a document or three."""
    monkeypatch.setattr(ingest, "PART_SIZE", 150)


def make_rows(n: int = 60) -> Rows:
    """Draw documents with all that is odd: no text, no tags, repeated tags, no id, several scripts."""
    rng = random.Random(5)
    words = [
        "the",
        "network",
        "Network",
        "learns",
        "learning",
        "topics",
        "topic",
        "model",
        "über",
        "Straße",
        "data",
        "données",
        "模型",
        "of",
        "and",
        "x2",
        "x",
    ]
    rows: Rows = []
    for d in range(n):
        text = " ".join(rng.choices(words, weights=range(len(words), 0, -1), k=rng.randrange(0, 12)))
        tags = rng.choices(["Ann Lee", "Bo", "Čapek", "Doe, Jane", "Eve"], k=rng.randrange(0, 4))
        rows.append(
            {
                "id": f"doc {d}" if d % 7 else None,
                "text": text,
                "title": f"title {d % 4}",
                "tags": "; ".join(tags),
                "venue": rng.choice(["ICML", "KDD", ""]),
            }
        )
    return rows


def write_jsonl(rows: Rows, path: Path) -> Path:
    lines = "".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def write_table(rows: Rows, path: Path) -> Path:
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        delimiter = "\t" if bare.suffix == ".tsv" else ","
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(rows: Rows, path: Path) -> Path:
    import polars as pl

    pl.DataFrame(rows).write_parquet(path, row_group_size=17)
    return path


def write_folder(rows: Rows, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return write_matrix_folder(read_corpus(rows), path)


FILES: dict[str, Callable[[Rows, Path], Path]] = {
    "c.jsonl": write_jsonl,
    "c.jsonl.gz": write_jsonl,
    "c.csv": write_table,
    "c.csv.gz": write_table,
    "c.tsv": write_table,
    "c.parquet": write_parquet,
    "folder": write_folder,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "columns": {"text": ["title", "text"], "tags": ["tags", "venue"], "id": "title"},
    "separator": {"tag_separator": ","},
    "min_df": {"recipe": TextRecipe(min_df=9)},
    "shares": {"recipe": TextRecipe(min_df=0.1, max_df=0.4, stop_words=None)},
    "max_words": {"recipe": TextRecipe(max_words=4, stop_words=("topic",))},
    "bigrams": {"recipe": TextRecipe(ngram_range=(1, 2), min_df=2, max_words=20)},
    "case": {"recipe": TextRecipe(lowercase=False, min_length=1, token_pattern=r"\w+")},
    "known": {"vocabulary": ["topics", "network", "nowhere"], "tag_names": ["Eve", "Bo", "Nobody"]},
}


def agree(path: Path, out: Path, **options: Any) -> ShardFolder:
    """Shard and read a file, and compare all that both keep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        whole = read_corpus(path, **options)
        shards = shard_corpus(path, out, shard_edges=40, **options)
    parts = shards.corpus()
    for a, b in ((parts.counts, whole.counts), (parts.tags, whole.tags)):
        assert a.shape == b.shape
        assert (a != b).nnz == 0
    assert (parts.vocabulary, parts.tag_names, parts.ids) == (whole.vocabulary, whole.tag_names, whole.ids)
    assert parts.recipe == whole.recipe
    only_whole = ("earlier one", "kept with the documents")
    lines = [line for line in whole.notices if not any(part in line for part in only_whole)]
    assert sorted(lines) == sorted(parts.notices)
    return shards


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", FILES)
def test_shards_are_what_reading_gives(tmp_path: Path, name: str, options: str) -> None:
    path = FILES[name](make_rows(), tmp_path / name)
    given = OPTIONS[options]
    if name == "folder" and {"text", "id", "tag_separator"} & set(given):
        pytest.skip("a matrix folder has no columns")
    assert len(agree(path, tmp_path / "out", **given)) >= 2


def test_lists(tmp_path: Path) -> None:
    rows: Rows = [{"text": f"some words number{d}", "tags": ["x, y", d % 5]} for d in range(30)]
    rows.insert(3, {"text": None, "tags": None})
    assert "x, y" in agree(write_jsonl(rows, tmp_path / "lists.jsonl"), tmp_path / "out").tag_names


def test_what_comes_late_changes_what_came_before(tmp_path: Path) -> None:
    """The first `;` stands in the last line, a kind of tag appears once."""
    rows: Rows = [{"text": f"word number {d}", "tags": f"Doe, J{d % 3}"} for d in range(40)]
    rows.append({"text": "last", "tags": "Doe, J1; Roe", "award": "best | first"})
    path = write_jsonl(rows, tmp_path / "late.jsonl")
    assert agree(path, tmp_path / "a").tag_names == ("Doe, J0", "Doe, J1", "Doe, J2", "Roe")
    agree(path, tmp_path / "b", tags=["tags", "award"])


def test_a_corpus_in_memory_and_real_data(tmp_path: Path, data_directory: Path) -> None:
    corpus = read_corpus(data_directory / "cora")
    shards = shard_corpus(corpus, tmp_path / "a", shard_edges=50_000)
    assert (shards.corpus().counts != corpus.counts).nnz == 0
    assert (shards.corpus().tags != corpus.tags).nnz == 0
    assert shards.manifest.n_tokens == corpus.counts.sum()


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "the file is empty"),
        ("\n\n", {}, "no documents"),
        ('{"text": "a"}\n{"text": 3}\n', {}, "line 2: text must be a string"),
        ('{"text": "a"}\n[1]\n', {}, "line 2: expected one JSON object"),
        ('{"body": "words"}\n', {}, "no column 'text' for the text; the columns are: body"),
        ('{"text": "some words"}\n', {"tags": "author"}, "no column 'author' for the tags"),
        ('{"text": "some words"}\n', {"id": "key"}, "no column 'key' for the ids"),
        ('{"text": "of the"}\n', {}, "no words found"),
        ('{"text": "rare"}\n', {"recipe": TextRecipe(min_df=2)}, "min_df=2"),
        (
            '{"text": "rare"}\n',
            {"recipe": TextRecipe(min_df=0.9, max_df=0.1)},
            "lower min_df or raise max_df",
        ),
        ('{"text": "a", "tags": "b"}\n', {"tag_separator": ""}, "tag_separator: must not be empty"),
    ],
)
def test_wrong_files_are_refused_as_read_corpus_does(
    tmp_path: Path, content: str, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_corpus(path, **options)
    with pytest.raises(InputError, match=message):
        shard_corpus(path, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_between_the_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(make_rows(), tmp_path / "c.jsonl")

    def grow(*arguments: Any) -> Any:
        with path.open("a") as file:
            file.write('{"text": "more"}\n')
        return choose_words(*arguments)

    monkeypatch.setattr(ingest, "choose_words", grow)  # called once, after the first reading
    with pytest.raises(InputError, match="changed while it was read"):
        shard_corpus(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_generated_shards(tmp_path: Path) -> None:
    sizes = {"docs": 300, "words": 2000, "tags": 50, "words-per-doc": 40, "shard-edges": 5000}
    options = [f"--{name}={size}" for name, size in sizes.items()]
    command = [sys.executable, "-m", "benchmarks.generate_shards", str(tmp_path / "s"), *options]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    shards = ShardFolder.open(tmp_path / "s")
    corpus = shards.corpus()
    assert json.loads(done.stdout)["n_docs"] == corpus.n_docs == 300
    assert len(shards) == 3
    lengths, n_tags = np.diff(corpus.counts.indptr), np.diff(corpus.tags.indptr)
    assert lengths.max() == 40
    assert np.median(lengths) == 40
    assert 1 <= n_tags.min() <= n_tags.max() == 4


def test_rare_words_are_forgotten_with_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MAX_CANDIDATES", 200)
    rng = np.random.default_rng(0)
    texts = [[f"word{w}" for w in np.minimum(rng.zipf(1.3, 30), 5_000)] for _ in range(400)]
    path = write_jsonl([{"text": " ".join(text)} for text in texts], tmp_path / "c.jsonl")
    shards = shard_corpus(path, tmp_path / "out")
    exact = Tally(10**9)
    exact.add(texts)
    docs = dict(zip(exact.names(), exact.counts(exact.names())[0].tolist(), strict=True))
    (notice,) = [line for line in shards.manifest.notices if "different words" in line]
    lost = int(notice.split("up to ")[1].split()[0])
    assert 0 < lost < max(docs.values())
    assert {word for word, n in docs.items() if n > lost} <= set(shards.vocabulary)
    assert shards.totals.word_docs.tolist() == [docs[word] for word in shards.vocabulary]  # exact


def test_a_tally_never_counts_too_much() -> None:
    rng = np.random.default_rng(1)
    rows = [[str(w) for w in rng.zipf(1.5, 20)] for _ in range(500)]
    exact, lossy = Tally(10**9), Tally(50)
    for row in rows:
        exact.add([row])
        lossy.add([row])
        assert len(lossy.names()) <= 50
    names = exact.names()
    difference = exact.counts(names)[0] - lossy.counts(names)[0]
    assert exact.lost == 0
    assert difference.min() >= 0
    assert 0 < difference.max() <= lossy.lost


def test_rare_words_are_left_out_as_in_memory(tmp_path: Path) -> None:
    rows = [{"text": f"common pair{row // 2}x own{row}x"} for row in range(150)]
    shards = agree(write_jsonl(rows, tmp_path / "c.jsonl"), tmp_path / "out")
    assert len(shards.vocabulary) == 76
    assert "150 of 226 words are in fewer than 2 documents" in "".join(shards.manifest.notices)


def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.jsonl" for n in (500, 2_000)]
    for path in paths:
        n = int(path.stem)
        with path.open("w") as file:
            for d in range(n):
                words = " ".join(f"w{(d * 31 + i * i) % 3000}" for i in range(60))
                file.write(json.dumps({"id": f"document {d}", "text": words, "tags": [f"t{d % 50}"]}) + "\n")
    few, many = _peaks(paths, tmp_path / "out")
    assert many - few < 0.1 * paths[1].stat().st_size  # four times the documents, no more memory


def _peaks(paths: list[Path], out: Path) -> list[int]:
    """Return the peak of Python's memory, in bytes, when each file is sharded, in a process of their own."""
    code = """if True:
        import sys, tracemalloc
        from tagtopics.scale import ingest, shard_corpus
        ingest.PART_SIZE = 2**14
        small, out, *paths = sys.argv[1:]
        shard_corpus(small, out)  # what is loaded on first use does not count
        for path in paths:
            tracemalloc.start()
            shard_corpus(path, out, shard_edges=5_000, overwrite=True)
            print(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    """
    small = write_jsonl(make_rows(), out.with_name("small.jsonl"))
    command = [sys.executable, "-c", code, *map(str, (small, out, *paths))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


def test_progress_counts_the_documents_of_both_passes(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    lines = [f'{{"text": "apple pear plum {i}", "tags": ["a"]}}\n' for i in range(30)]
    path.write_text("".join(lines), "utf-8")
    calls: dict[str, int] = {}
    shard_corpus(path, tmp_path / "shards", on_progress=calls.__setitem__)
    assert calls == {"Counting words": 30, "Writing shards": 30}
