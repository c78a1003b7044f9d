"""Mutated inputs, each tried in a forked child with a limit of memory and time.

    python fuzz_support.py CAMPAIGN N [SEED]

tries N cases and prints one JSON document: how they ended, and which ended badly. A case ends well if the
input is read, and the result holds the invariants, or if it is refused with an `InputError`.
"""

from __future__ import annotations

import collections
import gzip
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fuzz_files import fuzz_files
from fuzz_states import flipped, hostile

import tagtopics as tt
from tagtopics._io import digest_bytes, digest_file

MEMORY = 2 << 30
SECONDS = 10
READ, REFUSED, CRASHED = "read", "refused", "internal error"
SLOW, LARGE, DIED = "too slow", "too much memory", "died"
_NUMBERS = (b"-1", b"0", b"1e308", b"nan", b"99999999999999999999", b"2147483648", b"1e-400", b"0x10", b"")
_TOKENS = (
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"{",
    b"[" * 200,
    b";",
    b"\t",
    b"\r\n",
    b"@data\n",
    b"%",
)


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with a few random changes: flips, numbers, tokens, cuts, repeats, moved pieces."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, len(changed) + 1))
        size = int(min(len(changed) - at, rng.geometric(0.05)))
        kind = int(rng.integers(0, 8))
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            changed[at : at + size] = b""
        elif kind == 2:
            changed[at:at] = changed[at : at + size] * int(rng.integers(1, 20))
        elif kind == 3:
            changed[at:at] = _TOKENS[int(rng.integers(0, len(_TOKENS)))]
        elif kind == 4:
            _replace_number(changed, rng)
        elif kind == 5:
            del changed[at:]
        elif kind == 6:
            changed[at : at + size] = rng.bytes(size)
        else:
            source = int(rng.integers(0, len(changed) + 1))
            changed[at : at + size] = changed[source : source + size]
    return bytes(changed)


def _replace_number(data: bytearray, rng: np.random.Generator) -> None:
    digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if digits:
        first = last = digits[int(rng.integers(0, len(digits)))]
        while last < len(data) and 48 <= data[last] <= 57:
            last += 1
        data[first:last] = _NUMBERS[int(rng.integers(0, len(_NUMBERS)))]


class Ending(NamedTuple):
    """How a case ended, and what it took, the processes that it started included."""

    how: str
    seconds: float  # of CPU time, so that the load of the machine does not count
    megabytes: float  # the most memory in use at a time


def tried(case: Callable[[], None]) -> Ending:
    """Run a case in a child with limits; return how it ended."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (_used() + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(12 * SECONDS)
        os._exit(_ending(case))
    _, status, used = os.wait4(child, 0)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    how = {0: READ, 2: REFUSED}.get(os.waitstatus_to_exitcode(status), CRASHED)
    if os.WIFSIGNALED(status):
        how = SLOW if os.WTERMSIG(status) == signal.SIGALRM else f"{DIED} ({os.WTERMSIG(status)})"
    elif seconds > SECONDS:
        how = SLOW
    elif megabytes > MEMORY / 2**20:
        how = LARGE
    return Ending(how, seconds, megabytes)


def _ending(case: Callable[[], None]) -> int:
    try:
        case()
    except (tt.InputError, OSError):
        return 2
    except BaseException:
        return 1
    return 0


def _used() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def small_corpus() -> tt.Corpus:
    """Return a corpus with text, tags of odd spelling, labels and a split."""
    rows = [
        {"id": f"doc {i}", "text": f"alpha beta gamma{i} delta, {'zeta eta' * (i % 3)} naïve 漢字", "n": i}
        for i in range(12)
    ]
    tags = [["a", "b; c", f"t{i % 4}"] for i in range(12)]
    return tt.read_corpus([row["text"] for row in rows], tags=tags, id=[row["id"] for row in rows])


def seeds(place: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Write a small valid file in every format; return the files to mutate and how to read each."""
    corpus = small_corpus()
    texts = corpus.texts or ()
    table: list[dict[str, Any]] = [
        {"id": name, "text": text, "tags": list(corpus.tags_of(i)), "label": "x" if i % 2 else None}
        for i, (name, text) in enumerate(zip(corpus.ids, texts, strict=True))
    ]
    place.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in table]
    (place / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    cells = ["id,text,tags", *(f'"{r["id"]}","{r["text"]}","{"; ".join(r["tags"])}"' for r in table)]
    (place / "c.csv").write_text("\n".join(cells) + "\n", encoding="utf-8")
    (place / "d.tsv").write_text("\n".join(c.replace('","', '"\t"').replace(",", "\t", 2) for c in cells))
    (place / "e.ldac").write_text("2 0:1 3:2\n3 1:1 2:1 4:7\n0\n1 4:2147483647\n")
    (place / "e.vocab").write_text("a\nb\nc\nd\ne\n")
    (place / "f.svm").write_text("1,2 1:1 3:2\n2 2:1 # comment\n0 qid:3 4:5\n")
    (place / "docword.g.txt").write_text("3\n5\n4\n1 1 2\n1 2 1\n2 5 3\n3 3 1\n")
    (place / "vocab.g.txt").write_text("a\nb\nc\nd\ne\n")
    (place / "h.arff").write_text(
        "@relation 'x: -C 2'\n@attribute t1 {0,1}\n@attribute t2 {0,1}\n@attribute w1 numeric\n"
        "@attribute w2 numeric\n@data\n{0 1,2 3}\n0,1,2,0\n{3 1}\n"
    )
    tt.write_matrix_folder(corpus, place / "folder")
    import scipy.io
    import scipy.sparse as sp

    scipy.io.savemat(place / "i_wd.mat", {"wd": sp.csc_matrix(np.eye(4))})
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table({"text": list(texts), "tags": [["a"]] * len(texts)})
    pyarrow.parquet.write_table(
        frame, place / "j.parquet"
    )  # polars must start in the child: it cannot be forked
    files = [p for p in sorted(place.rglob("*")) if p.is_file() and not p.name.endswith(("vocab", "g.txt"))]
    files += [place / "docword.g.txt", place / "vocab.g.txt", place / "e.vocab"]
    return [(file, {}) for file in files]


def read_target(path: Path, place: Path) -> Path:
    """Return what a user would name to have a file read: its folder, or the file it belongs to."""
    if path.parent.name == "folder":
        return path.parent
    return {"vocab.g.txt": place / "docword.g.txt", "e.vocab": place / "e.ldac"}.get(path.name, path)


def check_corpus(corpus: tt.Corpus) -> None:
    """Check what must hold of any corpus that was read."""
    for matrix in (corpus.counts, corpus.tags):
        matrix.check_format(full_check=True)
        assert matrix.nnz == 0 or matrix.data.min() > 0
    assert len(set(corpus.vocabulary)) == corpus.n_words
    assert len(set(corpus.tag_names)) == corpus.n_tags


def fuzz_readers(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
    """Mutate the files of all readers."""
    kept = seeds(place / "seeds")

    def one(_: int) -> tuple[str, Callable[[], None]]:
        file, _options = kept[int(rng.integers(0, len(kept)))]
        shutil.rmtree(place / "now", ignore_errors=True)
        shutil.copytree(place / "seeds", place / "now")
        target = place / "now" / file.relative_to(place / "seeds")
        target.write_bytes(mutate(file.read_bytes(), rng))
        return file.name, lambda: check_corpus(tt.read_corpus(read_target(target, place / "now")))

    return _campaign(n, one, place)


def _campaign(n: int, one: Callable[[int], tuple[str, Callable[[], None]]], place: Path) -> dict[str, Any]:
    """Try n cases; keep the files of those that end badly under `place/bad`."""
    endings: collections.Counter[str] = collections.Counter()
    bad, slowest, largest = [], 0.0, 0.0
    for i in range(n):
        name, case = one(i)
        ending = tried(case)
        slowest, largest = max(slowest, ending.seconds), max(largest, ending.megabytes)
        endings[ending.how] += 1
        if ending.how not in (READ, REFUSED):
            bad.append(f"case {i}: {name}: {ending.how}")
            shutil.copytree(place / "now", place / "bad" / f"{i:05d}", dirs_exist_ok=True)
    most = {"slowest_cpu_seconds": round(slowest, 2), "largest_megabytes": round(largest)}
    return {"n": n, "endings": dict(endings), "bad": bad} | most


def save_model(folder: Path) -> None:
    """Save a small model with its documents and a recommender."""
    corpus = small_corpus()
    tt.TTM(3, max_iter=2, random_state=0, n_jobs=1).fit(corpus).save(folder, corpus=corpus)


def ask(folder: Path) -> None:
    """Load a model and ask it everything; answers must be finite."""
    model: Any = tt.load(folder)
    corpus = tt.read_corpus(["alpha beta gamma1 delta"], recipe=model.recipe_, vocabulary=model.vocabulary_)
    assert np.isfinite(model.transform(corpus)).all()
    model.top_words(3)
    if getattr(model, "recommender_", None) is not None:
        assert np.isfinite(model.tag_probabilities(corpus)).all()
        model.recommend(corpus, top=2)
    if model.tag_names_ and hasattr(model, "explain"):
        assert np.isfinite(model.explain(corpus, tags=[[model.tag_names_[0]]]).credit).all()
        model.tag_profile(model.tag_names_[0])
    model.related(corpus, 2)


def fuzz_models(n: int, rng: np.random.Generator, place: Path) -> dict[str, Any]:
    """Change values of model.json and arrays; digests are mended, so that only the checks are left."""
    save_model(place / "seeds" / "m.tt")
    ask(place / "seeds" / "m.tt")  # so that no case has to compile the kernels

    def one(_: int) -> tuple[str, Callable[[], None]]:
        shutil.rmtree(place / "now", ignore_errors=True)
        shutil.copytree(place / "seeds", place / "now")
        folder = place / "now" / "m.tt"
        what = change_array(folder, rng) if rng.random() < 0.5 else change_json(folder / "model.json", rng)
        mend_digests(folder)
        return what, lambda: ask(folder)

    return _campaign(n, one, place)


def change_json(path: Path, rng: np.random.Generator) -> str:
    """Replace one value of a JSON file by something else."""
    value = json.loads(path.read_text(encoding="utf-8"))
    places = list(_places(value))
    parent, key = places[int(rng.integers(0, len(places)))]
    odd: list[Any] = [None, -1, 0, 1e308, 10**30, "", "x" * 5000, [], {}, [[]], True, float("nan"), "(a+)+$"]
    before = str(parent[key])[:40]
    parent[key] = odd[int(rng.integers(0, len(odd)))]
    path.write_text(json.dumps(value), encoding="utf-8")
    return f"{key}: {before} -> {str(parent[key])[:40]}"


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def change_array(folder: Path, rng: np.random.Generator) -> str:
    """Change the values, the type or the shape of one array."""
    from safetensors.numpy import load_file, save_file

    file = folder / "arrays.safetensors"
    arrays = load_file(file)
    names = sorted(arrays)
    name = names[int(rng.integers(0, len(names)))]
    array = arrays[name].copy()
    kind = int(rng.integers(0, 6))
    if kind == 0 and array.size:
        flat = array.reshape(-1)
        values = [-1, 0, 2**31 - 1, -(2**31)] if array.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 1e30]
        flat[int(rng.integers(0, flat.size))] = values[int(rng.integers(0, len(values)))]
    elif kind == 1:
        array = array.astype([np.float64, np.float32, np.int64, np.int8][int(rng.integers(0, 4))])
    elif kind == 2:
        array = array.reshape(-1)
    elif kind == 3:
        array = array[: len(array) // 2]
    elif kind == 4:
        array = np.zeros((*array.shape, 2), dtype=array.dtype)
    else:
        arrays.pop(name)
    if kind != 5:
        arrays[name] = np.ascontiguousarray(array)
    save_file(arrays, file)
    return f"{name}, change {kind}"


def mend_digests(folder: Path) -> None:
    """Write the digests of the files as they are now into model.json."""
    path = folder / "model.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    try:
        for name in described["files"]:
            described["files"][name] = digest_file(folder / name)
    except (KeyError, TypeError, AttributeError, OSError):
        pass  # the list of files was itself changed
    if isinstance(described.get("digest"), str):
        text = json.dumps(described | {"digest": "0" * 64}, indent=1)
        path.write_text(text.replace("0" * 64, digest_bytes(text.encode()), 1), encoding="utf-8")


CAMPAIGNS = {
    "readers": fuzz_readers,
    "files": fuzz_files(_campaign, mutate, check_corpus),
    "models": fuzz_models,
    "checkpoints": hostile(_campaign),
    "model bits": flipped(("m.tt",), _campaign),
    "state bits": flipped(("stored.ckpt", "lean.ckpt", "run", "shards"), _campaign),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kind, cases, seed = sys.argv[1], int(sys.argv[2]), int([*sys.argv, "0"][3])
    with tempfile.TemporaryDirectory() as folder:
        small_corpus()
        found = CAMPAIGNS[kind](cases, np.random.default_rng(seed), Path(folder))
        if found["bad"] and os.environ.get("TAGTOPICS_FUZZ_KEEP"):
            shutil.copytree(Path(folder) / "bad", os.environ["TAGTOPICS_FUZZ_KEEP"], dirs_exist_ok=True)
    sys.stdout.write(json.dumps(found, indent=1))
