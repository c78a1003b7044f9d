"""Mutated inputs, each tried in a forked child with a limit of memory and time.

    PYTHONPATH=.:tests python tests/fuzz/fuzz_support.py CAMPAIGN N [CAMPAIGN N]... [SEED]

tries N cases of each campaign and prints one JSON document: how they ended, and which ended badly. A case
ends well if the input is read, and the result holds the invariants, or if it is refused with an `InputError`.
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
from fuzz_arrays import hostile_arrays
from fuzz_files import fuzz_files
from fuzz_models import fuzz_models, small_corpus
from fuzz_requests import fuzz_requests, until_interrupted
from fuzz_side_files import fuzz_side_files
from fuzz_states import flipped, hostile

import tagtopics as tt
from forked_readers import forked_readers, reader_parent

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
    except (tt.InputError, OSError) as error:
        return 1 if isinstance(error, tt.InputError) and len(str(error).splitlines()) != 1 else 2
    except BaseException:
        return 1
    return 0


def _used() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


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
    tt.write_matrix_folder(corpus, place / "folder")
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table({"text": list(texts), "tags": [["a"]] * len(texts)})
    pyarrow.parquet.write_table(
        frame, place / "j.parquet"
    )  # polars must start in the child: it cannot be forked
    files = [p for p in sorted(place.rglob("*")) if p.is_file()]
    return [(file, {}) for file in files]


def read_target(path: Path, place: Path) -> Path:
    """Return what a user would name to have a file read: its folder, or the file it belongs to."""
    if path.parent.name == "folder":
        return path.parent
    return path


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
    for file, _ in kept:
        if file.suffix != ".parquet":
            tt.read_corpus(read_target(file, place / "seeds"))  # so that no case has to import its reader

    def one(_: int) -> tuple[str, Callable[[], None]]:
        file, _options = kept[int(rng.integers(0, len(kept)))]
        shutil.rmtree(place / "now", ignore_errors=True)
        shutil.copytree(place / "seeds", place / "now")
        target = place / "now" / file.relative_to(place / "seeds")
        target.write_bytes(mutate(file.read_bytes(), rng))
        return file.name, lambda: check_corpus(tt.read_corpus(read_target(target, place / "now")))

    return _campaign(n, one, place)


def _campaign(n: int, one: Callable[[int], tuple[str, Callable[[], None]]], place: Path) -> dict[str, Any]:
    """Try n cases, fewer if interrupted; keep the files of those that end badly under `place/bad`."""
    endings: collections.Counter[str] = collections.Counter()
    bad, slowest, largest = [], 0.0, 0.0
    for i in until_interrupted(n):
        name, case = one(i)
        ending = tried(case)
        slowest, largest = max(slowest, ending.seconds), max(largest, ending.megabytes)
        endings[ending.how] += 1
        if ending.how not in (READ, REFUSED):
            bad.append(f"case {i}: {name}: {ending.how}")
            shutil.copytree(place / "now", place / "bad" / f"{i:05d}", dirs_exist_ok=True)
    most = {"slowest_cpu_seconds": round(slowest, 2), "largest_megabytes": round(largest)}
    return {"n": endings.total(), "endings": dict(endings), "bad": bad} | most


CAMPAIGNS = {
    "readers": fuzz_readers,
    "files": fuzz_files(_campaign, mutate, check_corpus),
    "side files": fuzz_side_files(_campaign, mutate),
    "models": fuzz_models(_campaign),
    "model arrays": hostile_arrays(_campaign),
    "checkpoints": hostile(_campaign),
    "model bits": flipped(("m.tt",), _campaign),
    "state bits": flipped(("run", "shards"), _campaign),
    "requests": fuzz_requests(mutate),
}


def main(arguments: list[str]) -> dict[str, Any]:
    """Try the cases of all campaigns named, each in a folder of its own; return what each found."""
    seed = int(arguments.pop()) if len(arguments) % 2 else 0
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no waiting for the disk
    found: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(dir=in_memory) as folder,
        reader_parent() as address,
        forked_readers(address, SECONDS, MEMORY / 2**20),
    ):
        small_corpus()
        for campaign, cases in zip(arguments[::2], arguments[1::2], strict=True):
            place = Path(folder) / campaign.replace(" ", "-")
            place.mkdir()
            found[campaign] = CAMPAIGNS[campaign](int(cases), np.random.default_rng(seed), place)
            if found[campaign]["bad"] and (kept := os.environ.get("TAGTOPICS_FUZZ_KEEP")):
                shutil.copytree(place / "bad", Path(kept) / place.name, dirs_exist_ok=True)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(main(sys.argv[1:]), indent=1))
