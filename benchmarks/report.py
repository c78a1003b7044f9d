"""Write the page and the plot from the records, without measuring anything."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from benchmarks import corpora, ours, plot, tables
from benchmarks.explorer_tables import explorer
from benchmarks.records import Record, curves, labels, load, reaches

RULES = corpora.ROOT / "reproduction" / "pages" / "appendix" / "242-benchmark-rules.md"

PAGE = """# Benchmarks

How long does it take to reach the held-out perplexity that another package reaches? All systems train on
the same documents with {n_topics} topics and {workers} workers, and one evaluator scores their topics.
Doubts were decided in favour of the other packages ([rules]({rules})). [All tables]({tables}) has seconds
per sweep, memory, fold-in, scaling, the server and the method in full. `make bench` writes both pages
from the records in `{records}`; do not edit them.

- **Code.** {run}
- **Settings.** Ours are {settings}. `preset="fast"` is not the default. The priors of every package are
  the best of pilot runs.
- **Score.** Proportions of each test document are inferred from a random 80 % of its tokens; the
  perplexity of the other 20 % is measured.
- **Time.** Our timer includes graph construction and initialisation; a peer's timer starts after its
  documents are added. Compiled code is loaded beforehand. tomotopy runs {gibbs_sweeps} sweeps, gensim and
  scikit-learn {passes} passes, at most {seconds:g} s; on the generated corpus {generated_seconds:g}
  s{longer}, half of that for us.

{corpora}

![Held-out perplexity against seconds of training, one panel per corpus]({image})

{present}
## Seconds to each peer's best perplexity

The first checkpoint at which the peer has its lowest perplexity, and our first checkpoint at or below
that. `tagtopics LDA` is compared with models without tags, `tagtopics TTM-H` (`MarkovTTM`) with models
with tags.

{summary}

## Perplexity reached

The lowest of all checkpoints.

{perplexities}
"""

PRESENT = """## With default settings

`LDA` with no setting but the number of topics, the seed and the threads chooses its priors itself; that
counts as training. The peers, and `preset="fast"` beside it, have the priors of their best pilot runs. Other
programs were running, so processor seconds are compared. {run}

{table}

The other figures of this page are older, as stated above.
"""

TABLES = """# Benchmark: all tables

[Benchmarks]({short}) has the summary. This page is written by
`make bench` from the records in `{records}`; do not edit it. Compare times only
within one run. {run}

**Our settings.** All figures of tagtopics on this page were measured with {settings}; `preset="fast"` is not
the default.

**Method.** Every system learns from the same training documents with {n_topics} topics and {workers} workers,
in a process of its own. One evaluator scores all topics by document completion: our fold-in infers the
proportions of each test document from a random 80 % of its tokens, and the perplexity of the other 20 % is
measured. For each system and checkpoint, the alpha of the fold-in is the best on separate validation
documents, from a grid of symmetric values and the system's own. The timer is paused during scoring. Our timer
starts with the call of `fit_topics`, graph construction and initialisation included; the timer of a peer
starts after its documents are added and its processes are started. Compiled code is loaded beforehand;
compilation is reported separately. Before timing, the process allocates and frees more memory than our fit
needs, because the first use of memory is slow on virtual machines. Our curves are measured before and after
those of the peers, and the median is used. tomotopy runs {gibbs_sweeps} sweeps, gensim and scikit-learn
{passes} passes, with a limit of {seconds:g} s of training; on the generated corpus the limit is
{generated_seconds:g} s{longer}, and half of that for us, so a peer is compared at the perplexity it reached
in that time. {priors}

{corpora}

## Seconds to each peer's best perplexity

The first checkpoint at which the peer has its lowest perplexity, and our first checkpoint at or below that.

{summary}

{best}

## Seconds to each peer's final perplexity

The complete training of the peer, such as tomotopy's {gibbs_sweeps} sweeps, and our first checkpoint at or
below its final perplexity.

{summary_last}

{last}

## Perplexity reached

The lowest of all checkpoints.

{perplexities}

## Seconds per sweep, and number of sweeps

For scikit-learn and gensim, per pass.

{sweeps}

{lengths}

## Peak memory

MB of the training process and its children; in brackets, the increase over the process with the corpus
loaded and the documents added.

{memory}

The lean engine on a corpus with about 100 distinct words per document:

{lean}

## Fold-in

Documents per second of `transform` (scikit-learn and tagtopics) and `infer` (tomotopy, by sweeps), and the
perplexity of held-out tokens with the system's own topics and inferred proportions, without a tuned alpha.

{fold_in}

## Compilation

In one process, LDA first, so TTM-H finds their common code compiled.

{compilation}

## Scaling

Generated corpora of {scaling_docs:,} documents; medians of {scaling_rounds} rounds, with cases interleaved.

{scaling}

## Roofline

Bandwidths and peak are measured with {workers} threads just before and after the sweeps. The fraction is the
minimum time of a sweep according to the model in `benchmarks/roofline.py`, divided by the measured time.

{roofline}

## Explorer and server

`python -m benchmarks.explorer load|routes|first-view|report`: the server answers eight clients on the same
machine, one document per request, with the embedded corpus; then more clients. `routes` are the largest
answers about 50,000 generated documents, and `/health` every 5 ms meanwhile.

{explorer}

## Priors

Short runs on each corpus except the generated one. All systems of a library, and our models, train with the
priors of their best pilot.

{pilots}

## Quality over seeds

Perplexity after {quality_sweeps} sweeps.

{quality}
"""


def write(folder: Path, page: Path, results: Path) -> str:
    """Write the page of a folder of records and the page of all its tables, and return the former."""
    records = load(folder)
    if not records:
        return f"no records in {folder}"
    image = page.parent / "images" / "bench-perplexity.svg"
    found = curves(records)
    if found:
        plot.draw(found, image)
    fields = _fields(records, folder) | {
        "image": _link(page, image),
        "tables": _link(page, results),
        "rules": _link(page, RULES),
        "short": _link(results, page),
    }
    for path, template in ((page, PAGE), (results, TABLES)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template.format(**fields), encoding="utf-8")
    return PAGE.format(**fields)


def _link(page: Path, target: Path) -> str:
    """Return a link from a page to another file."""
    return Path(os.path.relpath(target, page.parent)).as_posix()


def _fields(records: list[Record], folder: Path) -> dict[str, object]:
    found = curves(records)
    best = reaches(found, last=False)
    return {
        **records[0]["limits"],
        "records": _relative(folder),
        "run": _run(records),
        "settings": _settings(records),
        "longer": _longer(records),
        "present": _present(folder / "present"),
        "corpora": tables.about_corpora(found),
        "summary": tables.goals(best),
        "best": tables.against_peers(best),
        "summary_last": tables.goals(reaches(found, last=True)),
        "last": tables.against_peers(reaches(found, last=True)),
        "perplexities": tables.by_system(found, "best"),
        "sweeps": tables.by_system(found, "sweep"),
        "lengths": tables.by_system(found, "sweeps"),
        "memory": tables.by_system(found, "memory"),
        "lean": tables.memory(records),
        "fold_in": tables.fold_in(found),
        "compilation": tables.compilation(records),
        "scaling": tables.scaling(records),
        "roofline": tables.roofline(records),
        "explorer": explorer(folder / "explorer"),
        "pilots": tables.pilots(records),
        "priors": _priors(records),
        "quality": tables.quality(records),
    }


def _present(folder: Path) -> str:
    """Return the section of the newer records of LDA, if there are any."""
    records = load(folder)
    if not records:
        return ""
    found = curves(records)
    pairs = (reaches(found, last=False, kind=kind) for kind in ("default", "lda"))
    return PRESENT.format(run=_run(records), table=tables.in_processor_time(*pairs))


def _priors(records: list[Record]) -> str:
    """Return where the priors come from."""
    if any(record["job"]["kind"] == "pilot" for record in records):
        return "Pilot runs on each\ncorpus chose the priors, for each library and for us (appendix 242)."
    return "Without pilot runs,\nthe priors are those of `benchmarks/peers.py` and `benchmarks/ours.py`."


def _settings(records: list[Record]) -> str:
    """Return the settings that the records state; older records state none."""
    stated = dict.fromkeys(record["settings"] for record in records if "settings" in record)
    return " and ".join(stated) or " and ".join(ours.describe(f"ours-{kind}") for kind in ours.MODELS)


def _run(records: list[Record]) -> str:
    """Return the machine, its load, and the versions compared."""
    loads = sorted(load for record in records for load in record["load"])
    versions: dict[str, str] = {}
    for record in records:
        versions |= record.get("versions", {})
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    middle = loads[len(loads) // 2]
    return (
        f"This run: {platform.machine()}, Python {platform.python_version()}, {named}; load average "
        f"{loads[0]} to {loads[-1]}, median {middle} (the benchmark itself makes up to "
        f"{records[0]['limits']['workers']})."
    )


def _longer(records: list[Record]) -> str:
    """Return the systems that had a longer limit on the generated corpus."""
    usual = records[0]["limits"]["generated_seconds"]
    seconds = {
        labels()[r["job"]["system"]]: r["limits"]["generated_seconds"]
        for r in records
        if r["job"].get("corpus") == "generated" and r["limits"]["generated_seconds"] > usual
    }
    named = ", ".join(f"{label} {cap:g} s" for label, cap in sorted(seconds.items()))
    return f" ({named})" if named else ""


def _relative(folder: Path) -> str:
    inside = folder.resolve().is_relative_to(corpora.ROOT)
    return folder.resolve().relative_to(corpora.ROOT).as_posix() if inside else folder.name
