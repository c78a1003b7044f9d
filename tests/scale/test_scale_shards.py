"""Shards on disk: what goes in comes out, whatever the runs; what was tampered with is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp.graph import build_graph
from tagtopics.corpus import Corpus, TextRecipe
from tagtopics.corpus.core import canonical_counts, canonical_tags
from tagtopics.errors import InputError
from tagtopics.files import BLANK, seal
from tagtopics.scale import ShardFolder, ShardWriter, shard_corpus
from tagtopics.scale.format import holds_shards, pack_texts, read_manifest, shard_name, unpack_texts


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_tagged_corpus(n_docs=60, n_words=50, n_tags=8, seed=3).corpus


@pytest.fixture
def folder(corpus: Corpus, tmp_path: Path) -> Path:
    return write(corpus, tmp_path / "shards", [60], shard_edges=200)


def write(corpus: Corpus, path: Path, runs: Sequence[int], shard_edges: int | None = None) -> Path:
    """Write a corpus in runs of N documents."""
    with ShardWriter(
        path, corpus.vocabulary, corpus.tag_names, recipe=corpus.recipe, shard_edges=shard_edges
    ) as writer:
        start = 0
        for n in runs:
            stop = start + n
            writer.add(corpus[start:stop])
            start = stop
    return path


def documents(
    counts: Any, tags: Any, ids: Sequence[str], words: Sequence[str] = ("a",), tag_names: Sequence[str] = ()
) -> Corpus:
    return Corpus(
        counts=canonical_counts(np.asarray(counts) if isinstance(counts, list) else counts),
        tags=canonical_tags(tags),
        vocabulary=tuple(words),
        tag_names=tuple(tag_names),
        ids=tuple(ids),
    )


def same(a: Corpus, b: Corpus) -> None:
    for left, right in ((a.counts, b.counts), (a.tags, b.tags)):
        assert left.shape == right.shape
        assert left.dtype == right.dtype
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(left, part), getattr(right, part))
    assert (a.vocabulary, a.tag_names, a.ids) == (b.vocabulary, b.tag_names, b.ids)


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_shards_hold_the_corpus(corpus: Corpus, folder: Path) -> None:
    shards = ShardFolder.open(folder)
    assert len(shards) > 3
    same(shards.corpus(), corpus)
    same(shards.corpus([1]), corpus.select(np.arange(*_docs(shards, 1))))
    graph = build_graph(corpus.counts, corpus.tags)
    np.testing.assert_array_equal(shards.totals.tag_docs, graph.totals.tag_docs)
    np.testing.assert_array_equal(shards.totals.word_docs, np.bincount(corpus.counts.indices, minlength=50))


def test_the_manifest_adds_up(corpus: Corpus, folder: Path) -> None:
    manifest = ShardFolder.open(folder).manifest
    assert (manifest.n_docs, manifest.n_words, manifest.n_tags) == (*corpus.counts.shape, 8)
    assert (manifest.n_edges, manifest.n_slots) == (corpus.counts.nnz, corpus.tags.nnz)
    assert manifest.n_tokens == corpus.counts.sum(dtype=np.int64)
    for number, entry in enumerate(manifest.shards):
        assert entry.bytes == (folder / shard_name(number)).stat().st_size
    stops = np.cumsum([s.n_docs for s in manifest.shards])
    ends, last = corpus.counts.indptr[stops], corpus.counts.indptr[stops - 1]
    starts = np.concatenate([[0], ends[:-1]])
    assert (
        (ends - starts)[:-1].min() >= 200 > (last - starts).max()
    )  # full with its last document, not before


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 60), max_size=5))
def test_runs_of_any_length_give_the_same_bytes(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    runs = np.diff([0, *sorted(cuts), 60]).tolist()
    tmp = tmp_path_factory.mktemp("runs")
    assert contents(write(corpus, tmp / "a", runs, 150)) == contents(write(corpus, tmp / "b", [60], 150))


def test_odd_documents_keep_their_place(tmp_path: Path) -> None:
    counts = sp.csr_array(np.array([[0, 0], [2, 1], [0, 0], [0, 7]]))
    tags = sp.csr_array(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]))
    ids = ("", "Zoë", "二", "a\u2028b")
    for limit in (1, 2, 100):
        path = tmp_path / str(limit)
        with ShardWriter(path, ["a", "b"], ["s", "t"], shard_edges=limit) as writer:
            writer.add(documents(counts, tags, ids, ["a", "b"], ["s", "t"]))
        shards = ShardFolder.open(path)
        back = shards.corpus()
        np.testing.assert_array_equal(back.counts.toarray(), counts.toarray())
        np.testing.assert_array_equal(back.tags.toarray(), tags.toarray())
        assert back.ids == ids
        assert shards.totals.tag_docs.tolist() == [1, 1]  # the document without words does not count


def test_no_tags_and_a_recipe(tmp_path: Path) -> None:
    recipe = TextRecipe(min_df=2, ngram_range=(1, 2), stop_words=("und",))
    with ShardWriter(tmp_path / "s", ["a"], [], recipe=recipe) as writer:
        writer.add(documents([[3], [1]], np.zeros((2, 0)), ["x", "y"]))
    shards = ShardFolder.open(tmp_path / "s")
    assert shards.manifest.recipe == recipe
    assert shards.corpus().n_tags == 0
    assert shards.totals.tag_docs.shape == (0,)


def test_a_shard_is_a_part_of_the_graph(corpus: Corpus, folder: Path) -> None:
    whole, shards = build_graph(corpus.counts, corpus.tags), ShardFolder.open(folder)
    for number in range(len(shards)):
        first, last = _docs(shards, number)
        part = shards.graph(number)
        edges = slice(part.first_edge, part.first_edge + part.n_edges)
        assert part.first_edge == whole.doc_edges[first]
        np.testing.assert_array_equal(part.edge_word, whole.edge_word[edges])
        np.testing.assert_array_equal(part.edge_count, whole.edge_count[edges])
        np.testing.assert_array_equal(part.doc_edges + part.first_edge, whole.doc_edges[first : last + 1])
        np.testing.assert_array_equal(part.totals.word_docs, whole.totals.word_docs)
        assert part.doc_blocks.tolist() == [0, last - first]
        assert shards.corpus([number]).ids == corpus.ids[first:last]


def test_a_shard_may_be_written_to(folder: Path) -> None:
    shards = ShardFolder.open(folder)
    part = shards.graph(0)
    assert all(array.flags.writeable and array.flags.aligned for array in part[:5])
    part.edge_count[:] = 0
    assert shards.graph(0).edge_count.min() >= 1


@pytest.mark.parametrize("name", ["shard-00001.safetensors", "columns.safetensors"])
def test_what_is_missing_or_cut_short_is_named(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: missing"):
        ShardFolder.open(folder)
    (folder / name).write_bytes(data[:-1])
    with pytest.raises(InputError, match=f"{name}: has .* bytes, .* were written"):
        ShardFolder.open(folder)


def test_a_flipped_byte_is_found_when_it_is_loaded(folder: Path) -> None:
    path = folder / "shard-00001.safetensors"
    shards = ShardFolder.open(folder)
    shards.graph(1)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    shards.graph(0)
    for stale in (shards, ShardFolder.open(folder)):
        with pytest.raises(InputError, match=r"shard-00001\.safetensors: damaged"):
            stale.graph(1)
    path.unlink()
    with pytest.raises(InputError, match=r"shard-00001\.safetensors: missing"):
        shards.graph(1)


def test_flipped_names_and_statistics_are_found(folder: Path) -> None:
    path = folder / "columns.safetensors"
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)
    for part in ("vocabulary", "totals"):
        with pytest.raises(InputError, match=r"columns\.safetensors: damaged"):
            getattr(ShardFolder.open(folder), part)


def forge(path: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest with the digest that belongs to it: not an accident."""
    path.write_text(seal(json.dumps(manifest | {"digest": BLANK})))


def test_a_flipped_bit_of_the_manifest_is_found(tmp_path: Path) -> None:
    """One of every byte; also of its notices and its recipe, which nothing else checks."""
    (tmp_path / "a.jsonl").write_text('{"text": "one note"}\n{"text": "rain"}\n')
    path = shard_corpus(tmp_path / "a.jsonl", tmp_path / "s").path / "manifest.json"
    content = path.read_bytes()
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << (at % 8)
        path.write_bytes(changed)
        with pytest.raises(InputError):
            read_manifest(path.parent)
    path.write_bytes(content)
    assert read_manifest(path.parent).n_docs == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not the manifest"),
        ({"version": 99}, "another version"),
        ({"n_tags": -1}, "n_tags must be greater"),
        ({"n_words": 1.5}, "n_words must be a valid integer"),
        ({"shards": None}, "damaged"),
        ({"names": {}}, "damaged"),
        ({"recipe": {"colour": 1}}, "unknown setting"),
    ],
)
def test_a_manifest_that_does_not_hold_is_refused(
    folder: Path, change: dict[str, object], message: str
) -> None:
    path = folder / "manifest.json"
    forge(path, json.loads(path.read_text()) | change)
    with pytest.raises(InputError, match=message) as error:
        ShardFolder.open(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["n_docs", "n_edges", "n_slots", "n_tokens"])
def test_a_shard_of_other_sizes_is_refused(folder: Path, name: str) -> None:
    path = folder / "manifest.json"
    value = json.loads(path.read_text())
    value["shards"][1][name] += 1
    forge(path, value)
    with pytest.raises(InputError, match=r"shard-00001\.safetensors: damaged"):
        ShardFolder.open(folder).graph(1)


def test_arrays_that_would_mislead_a_kernel_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    """A hostile folder may have right checksums; its indices would lead a kernel out of its arrays."""
    import hashlib

    from safetensors.numpy import load, save

    path = write(corpus, tmp_path / "s", [60])
    spoilt: dict[str, Callable[[Any], Any]] = {
        "edge_word": lambda a: a + 1_000,
        "slot_tag": lambda a: -a - 1,
        "doc_edges": lambda a: a[::-1].copy(),
        "doc_slots": lambda a: a + 1,
        "ids_offsets": lambda a: a * 2,
        "ids_bytes": lambda a: a * np.uint8(255),
        "edge_count": lambda a: a * np.float32("nan"),
        "word_docs": lambda a: a + 1_000,
        "tag_docs": lambda a: -a - 1,
        "vocabulary_offsets": lambda a: a * 2,
        "tags_bytes": lambda a: a * np.uint8(255),
    }
    for name, spoil in spoilt.items():
        bad = tmp_path / name
        shutil.copytree(path, bad)
        of_columns = name.endswith("_docs") or name.startswith(("vocabulary", "tags"))
        file = "columns.safetensors" if of_columns else "shard-00000.safetensors"
        arrays = load((bad / file).read_bytes())
        data = save(arrays | {name: spoil(arrays[name])})
        (bad / file).write_bytes(data)
        manifest = json.loads((bad / "manifest.json").read_text())
        entry = manifest["names"] if of_columns else manifest["shards"][0]
        entry |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        forge(bad / "manifest.json", manifest)
        opened = ShardFolder.open(bad)
        with pytest.raises(InputError, match="damaged"):
            opened.graph(0) if name.startswith(("edge", "slot", "doc", "word", "tag_")) else opened.corpus(
                [0]
            )


def test_an_unfinished_folder_is_refused(corpus: Corpus, folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert holds_shards(folder)
    with pytest.raises(InputError, match="incomplete, it has shards but no manifest"):
        ShardFolder.open(folder)
    before = contents(folder)
    with pytest.raises(InputError, match="this folder is not a folder of shards"):
        ShardWriter(folder, ["a"], [], overwrite=True)
    assert contents(folder) == before


def test_an_error_changes_nothing(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "new", tmp_path / "empty", folder):
        existed = path.exists()
        with pytest.raises(ZeroDivisionError):
            _fail_half_way(corpus, path)
        assert path.exists() == existed
    assert not list((tmp_path / "empty").iterdir())
    assert contents(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "shards"]


def _fail_half_way(corpus: Corpus, path: Path) -> None:
    with ShardWriter(path, corpus.vocabulary, corpus.tag_names, shard_edges=100, overwrite=True) as writer:
        writer.add(corpus)
        _ = 1 / 0


def test_places_that_would_lose_something_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    (tmp_path / "file").write_text("")
    for place, message in (("mine", "holds other files"), ("file", "this file"), ("file/under", "is a file")):
        with pytest.raises(InputError, match=message):
            ShardWriter(tmp_path / place, ["a"], [], overwrite=True)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "manifest.json").write_text('{"name": "a web application"}')
    with pytest.raises(InputError, match="this folder is not a folder of shards written by tagtopics"):
        ShardWriter(tmp_path / "app", ["a"], [], overwrite=True)
    with pytest.raises(InputError, match="no such folder"):
        ShardFolder.open(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"no manifest\.json"):
        ShardFolder.open(tmp_path / "mine")


def test_what_is_closed_stays_closed(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "s", ["a"], []) as writer:
        writer.add(documents([[1]], np.zeros((1, 0)), ["x"]))
        manifest = writer.close()
        with pytest.raises(InputError, match="closed"):
            writer.add(documents([[1]], np.zeros((1, 0)), ["y"]))
    assert writer.close() == manifest == ShardFolder.open(tmp_path / "s").manifest


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="occurs twice"):
        ShardWriter(tmp_path / "s", ["a", "a"], [])
    assert not (tmp_path / "s").exists()
    for counts, tags, message in (
        (np.ones((1, 1)), np.ones((1, 1)), "does not have these 2 words"),
        (np.ones((1, 2)), np.ones((1, 2)), "does not have these 2 words"),
        (np.full((1, 2), 2**24 + 1), np.ones((1, 1)), "largest allowed"),
    ):
        with (
            pytest.raises(InputError, match=message),
            ShardWriter(tmp_path / "s", ["a", "b"], ["t"]) as writer,
        ):
            writer.add(documents(counts, tags, ["x"], "ab"[: counts.shape[1]], "st"[: tags.shape[1]]))


def _docs(shards: ShardFolder, number: int) -> tuple[int, int]:
    stops = np.cumsum([0, *(entry.n_docs for entry in shards.manifest.shards)]).tolist()
    return stops[number], stops[number + 1]


def test_titles_dates_and_addresses_are_kept(tmp_path: Path) -> None:
    """Across shards and parts, from a stream and from a corpus; what is unknown stays unknown."""
    rows = [
        {"text": f"red cars {i}", "tags": ["x"], "title": f"Title {i} ü" if i % 3 else None, "year": 2000 + i}
        for i in range(40)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    streamed = shard_corpus(path, tmp_path / "s", shard_edges=20)
    assert len(streamed) > 3
    corpus = streamed.corpus()
    assert corpus.titles == tuple(row["title"] for row in rows)
    assert corpus.dates == tuple(str(row["year"]) for row in rows)
    assert corpus.urls is None
    assert streamed.corpus([2, 0]).titles == streamed.corpus([2]).titles + streamed.corpus([0]).titles  # type: ignore[operator]
    again = shard_corpus(corpus, tmp_path / "t", shard_edges=20).corpus()
    assert (again.titles, again.dates, again.urls) == (corpus.titles, corpus.dates, None)
    named = shard_corpus(path, tmp_path / "u", title="text", date="year", text="text").corpus()
    assert named.titles == tuple(row["text"] for row in rows)


def test_wrong_texts_are_refused(tmp_path: Path) -> None:
    good = pack_texts("titles", ["a", None])
    assert unpack_texts("titles", good, 2, tmp_path) == ["a", ""]
    for wrong in (
        {"titles_offsets": np.array([0, 5, 1])},
        {"titles_offsets": np.array([0, 1])},
        {"titles_offsets": np.array([0, 1, 1], dtype=np.int32)},
        {"titles_bytes": np.array([1.0])},
    ):
        with pytest.raises(InputError, match="damaged"):
            unpack_texts("titles", good | wrong, 2, tmp_path)
    with pytest.raises(InputError, match="damaged"):
        unpack_texts("titles", {"titles_offsets": good["titles_offsets"]}, 2, tmp_path)
