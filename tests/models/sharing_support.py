"""Save to a folder that another process saves to as well, and read from it; tell what went wrong.

It runs as a program, since one of the two processes has its own PID namespace, as in a container:

    python sharing_support.py FOLDER SEED SECONDS

It prints one JSON document: the saves and reads, what failed, whose saves were read, and the PID namespace.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import tagtopics as tt
from tagtopics.models.persistence import load_with_corpus


def share(folder: Path, seed: int, seconds: float) -> dict[str, Any]:
    """Save and load by turns until the time is over, but at least until a save of the other was read."""
    rows = [{"id": f"{seed}-{d}", "text": "red green blue", "tags": ["x"]} for d in range(4)]
    corpus = tt.read_corpus(rows)
    model = tt.LDA(2, max_iter=1, random_state=seed).fit(corpus)
    model.save(folder / "m.tt")
    (folder / f"ready-{seed}").touch()
    while len(list(folder.glob("ready-*"))) < 2:
        time.sleep(0.01)
    n_saves, n_reads, failures = 0, 0, []
    seeds: set[int] = set()
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < seconds or (len(seeds) < 2 and passed < 60):
        n_saves += 1
        try:
            model.save(folder / "m.tt", corpus=corpus if n_saves % 2 else None)
        except tt.InputError as error:
            failures.append(f"save: {error}")
        n_reads += 1
        try:
            read, documents = load_with_corpus(folder / "m.tt")
            seeds.add(int(read.random_state))
            if {name.partition("-")[0] for name in read.doc_ids_} != {str(read.random_state)}:
                failures.append("read: a mixture")
            if documents is not None and documents.ids != read.doc_ids_:
                failures.append("read: model and documents of two saves")
        except tt.InputError as error:
            failures.append(f"read: {error}")
    found = {"saves": n_saves, "reads": n_reads, "failures": failures, "seeds": sorted(seeds)}
    return found | {"namespace": os.readlink("/proc/self/ns/pid")}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(share(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
