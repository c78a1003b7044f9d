"""Write the page and the plot from the records; measure nothing."""

from __future__ import annotations

import platform
from pathlib import Path

from benchmarks import corpora, plot, tables
from benchmarks.explorer_tables import explorer
from benchmarks.records import Record, curves, labels, load, reaches

PAGE = """# Benchmarks

This page is written by `make bench` from the records in `{records}`; do not edit it. Times mean something
only as ratios within one run. {run}

**How it is measured.** Every system learns from the same training documents with {n_topics} topics and
{workers} workers, in a process of its own. Its topics then go through one and the same evaluator: document
completion, proportions of each test document from a random 80 % of its tokens by our fold-in, perplexity of
the other 20 %. For each system and checkpoint the alpha of that fold-in is the best, on validation documents
that nobody learned from, of a grid of symmetric ones and the system's own. The watch stands while topics are
scored. Ours runs from the call of `fit`, wiring and start included; that of the peers starts after their
documents are added and their processes started. Compiled code is loaded beforehand; compilation is reported
apart. Before any watch starts, more memory than our fit takes is used and given back: a virtual machine gets
memory that nobody used lately from its host, at ten times the price, and that says nothing of a system. Our
curves are measured before and after the peers' and their median counts. tomotopy goes to
{gibbs_sweeps} sweeps, gensim and scikit-learn to {passes} passes, all at most {seconds:g} s of training; on
the generated corpus {generated_seconds:g} s{longer} and ours half of that, so there a peer is compared at the
perplexity it reached in that time, not at the end it might have reached. {priors}

{corpora}

## Perplexity against seconds

![Held-out perplexity against seconds of training, one panel a corpus]({image})

## Seconds to each peer's best perplexity

The first checkpoint at which the peer has its lowest perplexity, and our first checkpoint at or below it.

{summary}

{best}

## Seconds to the perplexity that each peer ended with

All of the peer's training, such as tomotopy's {gibbs_sweeps} sweeps, and our first checkpoint at or below the
perplexity it ended with.

{summary_last}

{last}

## Perplexity reached

The lowest on the way.

{perplexities}

## Seconds a sweep, and how far each went

Of scikit-learn and gensim, a pass.

{sweeps}

{lengths}

## Peak memory

MB of the training process and its children; in brackets, above what it held with the corpus loaded and its
own documents added.

{memory}

The lean engine on a corpus of about 100 distinct words a document:

{lean}

## Fold-in

Documents a second of `transform` (scikit-learn's and ours) and `infer` (tomotopy's, by sweeps), and the
perplexity of the held-out tokens under the system's own topics and the proportions it inferred: no tuned
alpha here.

{fold_in}

## Compilation

In one process, LDA first: TTM-H finds compiled what both use.

{compilation}

## Growth

Generated corpora of {scaling_docs:,} documents; medians of {scaling_rounds} rounds, cases taken in turn.

{scaling}

## Roofline

Bandwidths and peak are measured with {workers} threads just before and after the sweeps; the fraction is the
time that a sweep needs at the least, by the model in `benchmarks/roofline.py`, divided by the time it took.

{roofline}

## Explorer and server

`python -m benchmarks.explorer load|first-view|report`: the server answers eight clients on the same machine,
one document a request, the embedded corpus; then more than it can serve, which it says with 503.

{explorer}

## Priors

Short runs on each corpus but the generated one; all systems of a library train with the best of its pilots,
and so do our models.

{pilots}

## Quality over seeds

Perplexity after {quality_sweeps} sweeps.

{quality}
"""


def write(folder: Path, page: Path) -> str:
    """Write the page of a folder of records and return it."""
    records = load(folder)
    if not records:
        return f"no records in {folder}"
    image = page.parent / "images" / "bench-perplexity.svg"
    found = curves(records)
    if found:
        plot.draw(found, image)
    text = PAGE.format(**_fields(records, folder, image.relative_to(page.parent)))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return text


def _fields(records: list[Record], folder: Path, image: Path) -> dict[str, object]:
    found = curves(records)
    best = reaches(found, last=False)
    return {
        **records[0]["limits"],
        "records": _relative(folder),
        "run": _run(records),
        "longer": _longer(records),
        "image": image.as_posix(),
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


def _priors(records: list[Record]) -> str:
    """Say where the priors come from."""
    if any(record["job"]["kind"] == "pilot" for record in records):
        return (
            "The priors were\nchosen by pilots, on each corpus, for each library and for us (decision 060)."
        )
    return "No pilots were run, so\nall have the priors of `benchmarks/peers.py` and `benchmarks/ours.py`."


def _run(records: list[Record]) -> str:
    """Say on what it ran, how busy that was, and which versions were compared."""
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
    """Name the systems that had longer on the generated corpus than the first record says."""
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
