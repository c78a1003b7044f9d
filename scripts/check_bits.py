"""Print a sha256 digest of everything that models compute, or compare the digests between settings.

    python scripts/check_bits.py                      one line for each result
    python scripts/check_bits.py --compare            the same under every setting; exit code 1 if any differs
    python scripts/check_bits.py --compare --corpus FOLDER

The settings are numbers of threads, cores and BLAS threads, a forked child, and limits of memory.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagtopics import Corpus

BLAS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SETTINGS: dict[str, list[str]] = {
    "2 threads": ["--n-jobs", "2"],
    "1 thread": ["--n-jobs", "1"],
    "3 threads": ["--n-jobs", "3"],
    "8 threads": ["--n-jobs", "8"],
    "1 core": ["--cores", "1"],
    "2 cores": ["--cores", "2"],
    "1 BLAS thread": ["--blas", "1"],
    "2 BLAS threads": ["--blas", "2"],
    "4 BLAS threads": ["--blas", "4"],
    "1 core, 1 BLAS thread": ["--cores", "1", "--blas", "1"],
    "after a fork": ["--fork"],
    "8 GiB of addresses": ["--addresses", str(8 << 30)],
    "a control group of 64 MiB": ["--control-group", str(64 << 20)],
}
N_DOCS = 200  # that questions are asked about


def digest(value: Any) -> str:
    """Return the sha256 of an array, a sparse array, bytes, a tuple of these, or the repr of any value."""
    import numpy as np
    import scipy.sparse as sp

    found = hashlib.sha256()
    if sp.issparse(value):
        value = (value.data, value.indices.astype(np.int64), value.indptr.astype(np.int64))
    if isinstance(value, tuple):
        found.update("".join(digest(part) for part in value).encode())
    elif isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    else:
        found.update(value if isinstance(value, bytes) else repr(value).encode())
    return found.hexdigest()


def results(corpus: Corpus, n_jobs: int | None, quick: bool) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of everything that is compared."""
    import tagtopics as tt

    common: dict[str, Any] = {"n_topics": 16, "max_iter": 15, "random_state": 0, "n_jobs": n_jobs}
    for kind, memory in product((tt.LDA, tt.TTM, tt.MarkovTTM), ("stored", "lean")):
        for name, value in _of_model(kind(memory=memory, **common).fit(corpus), corpus):
            yield f"{kind.__name__} {memory} {name}", value
    yield from _of_images()
    if quick:
        return
    half = corpus.n_docs // 2
    model = tt.TTM(**common)
    model.partial_fit(corpus.select(range(half))).partial_fit(corpus.select(range(half, corpus.n_docs)))
    yield "TTM learned", (model.components_, model.doc_topic_prior_)
    yield from _of_baselines(corpus, common)


def _of_model(model: Any, corpus: Corpus) -> Iterator[tuple[str, Any]]:
    from tagtopics.explore.record.to_topic_data import topic_data
    from tagtopics.explore.report.html_report import ReportOptions, write_report
    from tagtopics.recommend.arrays import recommender_to_arrays

    for name in ("components_", "doc_topic_", "topic_sums_", "tag_sums_", "tag_words_"):
        yield name, getattr(model, name, None)
    for name, array in recommender_to_arrays(model.recommender_).items():
        yield name, array
    asked = corpus.select(range(min(N_DOCS, corpus.n_docs)))
    yield "transform", model.transform(asked)
    yield "transform, tags known", model.transform(asked, asked)
    yield "perplexity", model.perplexity(asked)
    yield "tag_probabilities", model.tag_probabilities(asked)
    yield "recommend", model.recommend(asked)
    yield "reasons", model.recommend(asked, n_words=5)
    yield "related", model.related(asked)
    if hasattr(model, "explain"):
        yield "explain", model.explain(asked).credit
        yield "tag_profile", model.tag_profile(*corpus.tag_names[:2])
    model.n_jobs = None  # a report states all parameters
    with tempfile.TemporaryDirectory() as folder:
        write_report(
            topic_data(model, corpus, "Bits"), f"{folder}/report.html", options=ReportOptions(max_mb=100.0)
        )
        yield "report", Path(folder, "report.html").read_bytes()


def _of_baselines(corpus: Corpus, common: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    import tagtopics as tt

    for kind in (tt.ATM, tt.RTM, tt.LabeledLDA):
        given = common if kind is not tt.LabeledLDA else common | {"n_topics": None}
        model = kind(**{name: value for name, value in given.items() if value is not None})
        yield kind.__name__, model.fit(corpus).components_


def _of_images() -> Iterator[tuple[str, Any]]:
    import numpy as np

    from tagtopics import VisualVocabulary

    images = np.random.default_rng(0).integers(0, 256, (12, 48, 64, 3), dtype=np.uint8)
    visual = VisualVocabulary(codebook_sizes=(16, 16), n_sample_tiles=3000).fit(list(images))
    yield "codebooks", tuple(visual.codebooks_)
    yield "visual words", visual.transform(list(images))


def print_digests(options: argparse.Namespace) -> None:
    """Print one line for each result: its digest and its name."""
    import tagtopics as tt
    from tagtopics.bp import executor

    warnings.simplefilter("ignore")
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # a report states when its model was fitted
    if options.control_group:
        folder = Path(tempfile.mkdtemp())
        for name, value in (("max", options.control_group), ("current", 0), ("stat", "anon 0")):
            (folder / f"memory.{name}").write_text(str(value))
        executor._CGROUP = folder
    corpus = tt.load_dataset(options.corpus or "docstrings")
    corpus = corpus if options.corpus else corpus.select(range(0, 2400, 6))
    for name, value in results(corpus, options.n_jobs, options.quick):
        sys.stdout.write(f"{digest(value)} {name}\n")
    sys.stdout.flush()


def compare(arguments: list[str], settings: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names of the results that differ from those of the first setting, by setting."""
    found: dict[str, dict[str, str]] = {}
    for setting, options in settings.items():
        command = [sys.executable, __file__, *arguments, *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found[setting] = {line[65:]: line[:64] for line in done.stdout.splitlines()}
    first = next(iter(found.values()))
    return {
        setting: [name for name in first | other if first.get(name) != other.get(name)]
        for setting, other in found.items()
    }


def apply_limits(options: argparse.Namespace) -> None:
    """Limit cores, BLAS threads and addresses of this process; BLAS must not be loaded yet."""
    if options.blas:
        os.environ.update(dict.fromkeys(BLAS, str(options.blas)))
    if options.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    if options.addresses:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (options.addresses, options.addresses))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compare", action="store_true", help="run under every setting")
    parser.add_argument("--corpus", help="a matrix folder; a generated corpus by default")
    parser.add_argument("--quick", action="store_true", help="leave out baselines and learned weights")
    parser.add_argument("--fork", action="store_true", help="compute here first, then in a forked child")
    for name in ("n-jobs", "cores", "blas", "addresses", "control-group"):
        parser.add_argument(f"--{name}", type=int)
    return parser.parse_args(arguments)


def main() -> int:
    """Print digests, or compare them and return 1 if any differs."""
    options = parse(sys.argv[1:])
    if options.compare:
        chosen = ["--corpus", options.corpus] if options.corpus else []
        differing = compare([*chosen, *["--quick"] * options.quick], SETTINGS)
        for setting, names in differing.items():
            sys.stdout.write(f"{setting}: {', '.join(names) or 'equal'}\n")
        return 1 if any(differing.values()) else 0
    apply_limits(options)
    if options.fork:
        import tagtopics as tt

        some = tt.load_dataset("docstrings").select(range(600))
        tt.TTM(8, max_iter=3, n_jobs=2).fit(some)  # starts threads
        child = multiprocessing.get_context("fork").Process(target=print_digests, args=(options,))
        child.start()
        child.join()
        return child.exitcode or 0
    print_digests(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
