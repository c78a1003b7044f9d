"""Measure recommended subject headings on random splits of TIB core, and write pages/heading-results.md.

    python -m reproduction.headings.results run SEED...   a model with names, without names, and names alone
    python -m reproduction.headings.results page          write the page from the records

Settings are the defaults. `run` leaves the model and the two parts of the split in build/headings/SEED, where
`annif.py` trains and asks Annif. The folder tibcore of TAGTOPICS_DATA has the records.
Records of all systems are appended to records/headings/results.jsonl. A seed `v0` splits the
training part of split 0 once more; settings of other systems are chosen on it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import reproduction
import tagtopics as tt
from tagtopics.corpus.splits import train_test
from tagtopics.evaluation import recommendation
from tagtopics.evaluation.recommendation import all_measures, named_answer
from tagtopics.models.persistence import save_model
from tagtopics.subjects.tag_names import fit_tag_names

RECORDS, FOLDER = reproduction.RECORDS / "headings" / "results.jsonl", Path("build/headings")
URI = "http://example.org/headings/"
LIST, RANKS, SPLITS = 5, 20, 5


def read() -> tuple[tt.Corpus, dict[str, str]]:
    """Return the records, with URIs as tags, and the names of the URIs."""
    folder = Path(os.environ["TAGTOPICS_DATA"]) / "tibcore"
    corpus = tt.read_corpus(
        folder / "documents.jsonl.gz", text=["title", "abstract"], tags="subjects", id="id"
    )
    lines = (folder / "subjects.tsv").read_text(encoding="utf-8").splitlines()[1:]
    names = {URI + tag: name for tag, name in (line.split("\t")[:2] for line in lines)}
    tags = tuple(URI + tag for tag in corpus.tag_names)
    return replace(corpus, split=None, tag_names=tags), names


def parts(corpus: tt.Corpus, seed: str) -> tuple[tt.Corpus, tt.Corpus]:
    """Return the training and the test part of a split."""
    number = int(seed.removeprefix("v"))
    train, test = (corpus.select(rows) for rows in train_test(corpus, number))
    if seed.startswith("v"):
        train, test = (train.select(rows) for rows in train_test(train, number))
    return train, test


class Silent:
    """A recommender that has no opinion: what remains are the names."""

    def __init__(self, recommender: Any) -> None:
        self._own = recommender

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def probabilities(self, counts: Any, doc_topic: Any) -> Any:
        """Return zeros."""
        return np.zeros_like(self._own.probabilities(counts, doc_topic))

    def leave_one_out(self, docs: Any) -> Any:
        """Return zeros."""
        return np.zeros_like(self._own.leave_one_out(docs))


def measures_of(answer: recommendation.Answer) -> dict[str, float]:
    """Return all measures of the answers of a model with names."""
    return recommendation.measures_of(answer) | unseen_ranked(answer.truth, answer.ranked, answer.unseen)


def unseen_ranked(truth: Any, ranked: Any, unseen: Any) -> dict[str, float]:
    """Return how many tags without training documents are among the first five, and the share of right ones.

    This counts for every system in the same way, also for those without a threshold.
    """
    first = ranked[:, :LIST]
    new = np.asarray(unseen)[first]
    right = np.take_along_axis(truth, first, axis=1) & new
    return {
        "listed_unseen": float(new.sum()),
        "listed_unseen_precision": float(right.sum() / max(new.sum(), 1)),
    }


def measured(corpus: tt.Corpus, known: dict[str, str], seed: str) -> dict[str, dict[str, Any]]:
    """Fit a model with names, save it with its documents, write the parts for Annif; measure three systems.

    `ours` is the model; `plain` the same without names, whose fit is a part of that of the model; `names` has
    the features of names without what words and topics say.
    """
    train, test = parts(tt.with_thesaurus(corpus, known), seed)
    began, cpu = time.perf_counter(), time.process_time()
    model = tt.TTM(random_state=0).fit(train)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    folder = FOLDER / seed
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder / "model.tt", train)
    for part, documents in (("train", train), ("test", test)):
        write_part(documents, folder / f"{part}.jsonl")
    spent = {"seconds": seconds, "cpu_seconds": cpu, "megabytes": megabytes(folder / "model.tt")}
    found = {"ours": measures_of(named_answer(model, test)) | spent, "plain": plain(model, test)}
    silent: Any = Silent(model.recommender_)
    assert train.thesaurus is not None
    assert train.texts is not None
    model.names_ = fit_tag_names(silent, train.thesaurus, train.texts)
    model.recommender_ = silent
    return found | {"names": measures_of(named_answer(model, test))}


def plain(model: tt.TTM, test: tt.Corpus) -> dict[str, Any]:
    """Measure words and topics."""
    likely = model.tag_probabilities(test)
    recommender = model.recommender_
    assert recommender is not None
    ranked = recommender.pick_tags(likely, RANKS)
    truth = test.tags.toarray().astype(bool)
    return all_measures(truth, ranked[:, :LIST], ranked, recommender.predict_tags(likely))


def write_part(documents: tt.Corpus, path: Path) -> None:
    """Write documents as JSON lines that Annif reads."""
    assert documents.texts is not None
    with path.open("w", encoding="utf-8") as file:
        for d, text in enumerate(documents.texts):
            subjects = [{"uri": tag} for tag in documents.tags_of(d)]
            file.write(
                json.dumps({"document_id": documents.ids[d], "text": text, "subjects": subjects}) + "\n"
            )


def megabytes(folder: Path) -> float:
    """Return the size of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def append(record: dict[str, Any]) -> None:
    """Add a record to those on disk, and print it."""
    RECORDS.parent.mkdir(exist_ok=True)
    with RECORDS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def records() -> Iterator[dict[str, Any]]:
    """Yield the latest record of each system and split; `earlier` says where one is from that is not new."""
    if RECORDS.exists():
        found = map(json.loads, RECORDS.read_text(encoding="utf-8").splitlines())
        yield from {(record["system"], record["seed"]): record for record in found}.values()


def run(seeds: list[str]) -> None:
    """Append the records that are missing."""
    warnings.simplefilter("ignore", tt.CorpusWarning)
    done = {(record["system"], record["seed"]) for record in records() if "earlier" not in record}
    corpus, known = read()
    for seed in seeds:
        if ("ours", seed) not in done:
            for system, found in measured(corpus, known, seed).items():
                append({"system": system, "seed": seed} | found)


# --------------------------------------------------------------------------------------------------- page

TITLES = {
    "ours": "tagtopics: names, words and topics",
    "names": "tagtopics: names alone",
    "plain": "tagtopics: words and topics",
    "annif omikuji": "Annif: Omikuji",
    "annif mllm": "Annif: MLLM",
    "annif omikuji-mllm": "Annif: ensemble of Omikuji and MLLM, equal weights",
    "annif omikuji-mllm-tuned": "Annif: ensemble of Omikuji and MLLM, tuned weights",
    "annif tagtopics": "Annif: tagtopics through the http backend",
    "annif tagtopics-omikuji": "Annif: ensemble of tagtopics and Omikuji, equal weights",
    "annif tagtopics-omikuji-tuned": "Annif: ensemble of tagtopics and Omikuji, tuned weights",
}
GOALS = {"precision_at_1": 0.50, "f1_at_5": 0.26, "ndcg_at_20": 0.48}
GAIN = 0.03
SHORT = {"precision_at_1": "P@1", "f1_at_5": "F1@5", "ndcg_at_20": "nDCG@20"}

HEAD = """# Subject headings: results

Written by `reproduction/headings/results.py` from its records and those of `annif.py`. TIB core:
6,980 library records, 9,021 subjects used, names of 78,741. Random splits, four fifths to learn from.
Settings of tagtopics are the defaults; they were chosen on a fifth of the training part of the first
split ([decision 232](../../docs/decisions/232-tag-names.md)). All systems are measured by the same code
on their first 20 suggestions.

"""


def _means() -> dict[str, dict[str, float]]:
    """Return the means over the splits of each system, and how many splits there are."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for record in records():
        if not record["seed"].startswith("v"):
            rows.setdefault(record["system"], []).append(record)
    means = {}
    for system, found in rows.items():
        numbers = [key for key, value in found[0].items() if isinstance(value, int | float)]
        means[system] = {key: float(np.mean([row[key] for row in found])) for key in numbers}
        means[system]["n"] = len(found)
        means[system] |= {f"least {key}": min(row[key] for row in found) for key in numbers}
        means[system] |= {f"most {key}": max(row[key] for row in found) for key in numbers}
    return means


def page() -> None:
    """Write the page from the records."""
    means = _means()
    parts = [HEAD + _losses(means), _quality(means), _cost(means), _unseen(means)]
    if any(record["system"].startswith("annif") for record in records()):
        parts += [ANNIF, _trials()]
    (reproduction.PAGES / "heading-results.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _losses(means: dict[str, dict[str, float]]) -> str:
    """Return where our system falls short, first of all."""
    ours, lines = means["ours"], []
    if ours["n"] < SPLITS:
        lines.append(f"- Only {ours['n']:.0f} of {SPLITS} splits were measured.")
    lines += [
        f"- {TITLES[record['system']]}, split {record['seed']}: {record['earlier']}."
        for record in records()
        if "earlier" in record
    ]
    lines += [f"- Not measured: {title}." for system, title in TITLES.items() if system not in means]
    few = [system for system, row in means.items() if system.startswith("annif") and row["n"] < SPLITS]
    if few:
        lines += [
            f"- {TITLES[s]}: measured on {means[s]['n']:.0f} of {SPLITS} splits." for s in few if s in TITLES
        ]
    for key, goal in GOALS.items():
        if ours[key] < goal:
            lines.append(f"- {SHORT[key]} is {ours[key]:.3f}, below the goal of {goal:.2f}.")
        for system, found in means.items():
            if not system.startswith("annif tagtopics") and system != "ours" and found[key] >= ours[key]:
                lines.append(f"- {TITLES.get(system, system)} has a higher {SHORT[key]}.")
    alone, both = means.get("annif omikuji"), means.get("annif tagtopics-omikuji")
    if alone and both and both["f1_at_5"] - alone["f1_at_5"] < GAIN:
        lines.append("- The ensemble of tagtopics and Omikuji gains less than 3 points of F1@5 over Omikuji.")
    if ours.get("megabytes", 0) > 200:
        lines.append(f"- A saved model has {ours['megabytes']:.0f} MB, above the goal of 200.")
    return "## Where it falls short\n\n" + ("\n".join(lines) or "Nowhere in these tables.")


def _quality(means: dict[str, dict[str, float]]) -> str:
    lines = ["## Suggestions", "", "Means over the splits; smallest and largest value in parentheses.", "",
             "| system | splits | P@1 | F1@5 | nDCG@20 |", "|---|---|---|---|---|"]  # fmt: skip
    for system, title in TITLES.items():
        if system in means:
            row = means[system]
            cells = [f"{row[k]:.3f} ({row['least ' + k]:.3f} to {row['most ' + k]:.3f})" for k in SHORT]
            lines.append(f"| {title} | {row['n']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines) + _common() + _gain()


def _common() -> str:
    """Return our measures on the splits that were also measured with Annif, if these are fewer."""
    rows = [record for record in records() if not record["seed"].startswith("v")]
    theirs = {row["seed"] for row in rows if row["system"] == "annif omikuji"}
    ours = [row for row in rows if row["system"] == "ours"]
    both = [row for row in ours if row["seed"] in theirs]
    if not both or len(both) == len(ours):
        return ""
    found = ", ".join(f"{SHORT[key]} {np.mean([row[key] for row in both]):.3f}" for key in SHORT)
    seeds = ", ".join(sorted(row["seed"] for row in both))
    return f"\n\ntagtopics on the splits measured with Omikuji ({seeds}): {found}."


def _gain() -> str:
    """Return what tagtopics adds to Omikuji, over the splits that both have."""
    rows = [record for record in records() if not record["seed"].startswith("v")]
    both = {r["seed"]: r["f1_at_5"] for r in rows if r["system"] == "annif tagtopics-omikuji"}
    alone = {r["seed"]: r["f1_at_5"] for r in rows if r["system"] == "annif omikuji"}
    gains = [both[seed] - alone[seed] for seed in both if seed in alone]
    if not gains:
        return ""
    return (
        f"\n\nThe ensemble of tagtopics and Omikuji gains {100 * np.mean(gains):.1f} points of F1@5 over "
        f"Omikuji alone (splits: {len(gains)}); the goal was {100 * GAIN:.0f}."
    )


def _cost(means: dict[str, dict[str, float]]) -> str:
    lines = ["## Training", "", "| system | processor seconds | MB on disk |", "|---|---|---|"]
    for system in ("ours", "annif omikuji", "annif mllm"):
        if system in means:
            row = means[system]
            size = f"{row['megabytes']:.0f}" if "megabytes" in row else "-"
            lines.append(f"| {TITLES[system]} | {row['cpu_seconds']:.0f} | {size} |")
    return "\n".join(lines)


def _unseen(means: dict[str, dict[str, float]]) -> str:
    ours = means["ours"]
    lines = ["## Subjects that no training record carries", "",
             f"tagtopics predicts {ours['n_unseen']:.0f} of them for the test records of a split (those "
             f"above its threshold); {ours['unseen_precision']:.0%} are right. The mean distance of its "
             f"probabilities from the share of right ones is {ours['calibration_error']:.3f}. Among the "
             "first five suggestions of each record, with or without a threshold:", "",
             "| system | unseen subjects suggested | right |", "|---|---|---|"]  # fmt: skip
    for system, title in TITLES.items():
        if system in means and "listed_unseen" in means[system]:
            row = means[system]
            right = f"{row['listed_unseen_precision']:.1%}" if row["listed_unseen"] else "-"
            lines.append(f"| {title} | {row['listed_unseen']:.0f} | {right} |")
    return "\n".join(lines)


ANNIF = """## How Annif was run

Annif is version 1.4.3, unpatched, asked with `annif index`. Its analyzer is `snowball(english)`; the
sentence model of NLTK that it would download is replaced by one that NLTK's own trainer learns from the
training part. The settings of Omikuji that were tried are shown below; tuned ensembles, where there are any,
have the weights that `annif hyperopt` finds in 30 trials, both on the fifth of the training part of the
first split that is named above. Seconds are processor seconds on one core of a
machine with other work. Sizes are those of the folders on disk; ours includes the training records and
all names, those of Annif do not include the vocabulary."""


def _trials() -> str:
    lines = ["## Settings of Annif that were tried", "",
             "On the fifth of the training part of the first split.", "",
             "| project | settings | P@1 | F1@5 | nDCG@20 |", "|---|---|---|---|---|"]  # fmt: skip
    for record in records():
        if record["seed"] == "v0" and record["system"].startswith("annif"):
            settings = ", ".join(f"`{line}`" for line in record["settings"].splitlines())
            cells = " | ".join(f"{record[key]:.3f}" for key in SHORT)
            lines.append(f"| {record['system'].removeprefix('annif ')} | {settings} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    page() if sys.argv[1:] == ["page"] else run(sys.argv[2:])
