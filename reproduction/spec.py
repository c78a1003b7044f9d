"""Experiments as data: a spec is one task of one model on one split; a record is its result in JSON."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tagtopics import __version__
from tagtopics.errors import InputError, one_line
from tagtopics.evaluation import TASKS

DATASETS = ("cora", "med", "corel5k-images", "corel5k", "corel5k-thin", "bibtex", "reuters")
"""The data sets of the grids, as named by `load_dataset`."""

THIN = "corel5k-thin"
"""C5K with a fiftieth of its tokens and the paper's four classes: see `run.thinned`."""

OWN_TASKS = ("statistics", "topics", "curve", "credit")
"""Tasks that only experiments have: Table II, top words, and perplexity by the share of words seen."""

MODELS: Mapping[str, str] = {
    "lda": "LDA",
    "atm": "ATM",
    "atm-last": "ATM, last sample",
    "rtm": "RTM",
    "rtm-last": "RTM, last sample",
    "ttm-p": "TTM-P",
    "ttm-h": "TTM-H",
    "ttm": "TTM, learned strengths",
    "lda-tags": "LDA's topics",
    "gibbs": "LDA, Gibbs sampling",
    "vb": "LDA, variational Bayes",
    "llda": "L-LDA",
    "sml": "SML",
}
"""The models of the grids, and their names in tables.

"lda-tags" is a control: the topics of LDA, and known tags that count as they do in TTM-H.
"""


@dataclass(frozen=True, kw_only=True)
class ExperimentSpec:
    """One experiment: one task of one model on one split."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    dataset: str  # a name for `load_dataset`
    task: str  # of `tagtopics.evaluation.TASKS` or `OWN_TASKS`
    model: str = ""  # of `MODELS`; empty for "statistics"
    n_topics: int = 0  # 0 if the tags determine it, or there is no model
    seed: int = 0  # of the split, of the tokens held out and of the model
    tags_known: bool = False  # whether the model may use the tags of test documents
    without_artefact: bool = False  # leave out documents that share one long list of tags (41 of CORA)
    system: str = ""  # of the recommendation task; "photographs" for SML, which is fitted to photos
    priors: tuple[float, float] | None = None  # of topics in a document and words in a topic; None: defaults

    def __post_init__(self) -> None:
        if self.task not in (*TASKS, *OWN_TASKS):
            raise InputError(f"experiment: unknown task {self.task[:40]!r}")
        if self.model not in MODELS and not (self.model == "" and self.task == "statistics"):
            raise InputError(
                f"experiment: unknown model {self.model[:40]!r}; choose from {', '.join(MODELS)}"
            )

    @property
    def key(self) -> str:
        """A hash of the content: equal specs have equal keys, on any machine."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def of_fit(self) -> ExperimentSpec:
        """What determines the fitted model: specs with an equal value can share one."""
        if self.task in ("statistics", "credit"):  # no fit, or a fit to other documents
            return self
        return replace(self, task="topics", tags_known=False, system="")

    @property
    def title(self) -> str:
        """The experiment in one line."""
        words = [f"{self.task}/{self.dataset}", MODELS.get(self.model, "")]
        words += [f"K={self.n_topics}"] if self.n_topics else []
        return " ".join([*words, f"split {self.seed}"] if self.model else words)


def quick_grid(n_splits: int = 2) -> list[ExperimentSpec]:
    """Return what `--quick` measures: two numbers of topics, two splits, the paper's own data."""
    topics, seeds = (20, 50), tuple(range(n_splits))
    return _in_order(
        [
            *_grid(dataset=DATASETS[:4], task=["statistics"]),
            *_compared(("cora", "med"), ("perplexity",), topics, seeds),
            *_compared(("cora",), ("links", "classification"), topics, seeds),
            *_known_tags(topics, seeds),
            *_compared(("cora",), _FIGURES, topics[:1], seeds, without_artefact=[True]),
            *_other_algorithms(("cora",), topics[1:], seeds),
            *_top_words(seeds),
            *_curves(("cora",), seeds),
            *_recommended(("corel5k-images",), _TABLE_THREE, seeds),
        ]
    )


def full_grid(n_splits: int = 5) -> list[ExperimentSpec]:
    """Return what is measured by default: K = 10, 20 ... 100, five splits, all available data sets."""
    topics, seeds, texts = tuple(range(10, 101, 10)), tuple(range(n_splits)), ("bibtex", "reuters")
    return _in_order(
        [
            *_grid(dataset=DATASETS[:4], task=["statistics"]),
            *_compared(("cora", "med"), ("perplexity", "links"), topics, seeds),
            *_compared(("cora",), ("classification",), topics, seeds),
            *_compared((THIN,), _FIGURES, (20, 50), seeds),
            *_known_tags(topics, seeds),
            *_compared(("cora",), _FIGURES, (20, 50, 100), seeds, without_artefact=[True]),
            *_other_algorithms(("cora", "med"), (20, 50), seeds),
            *_top_words(seeds),
            *_curves(("cora", "med", THIN, *texts), seeds),
            *_recommended(("corel5k-images", "corel5k"), _TABLE_THREE, seeds),
            *_recommended(("corel5k-images",), _MORE_TOPICS, seeds),
            *_recommended(texts, [("ttm-h", 50, "best"), ("lda", 2, "linear")], seeds),
            *_grid(dataset=texts, task=["credit"], model=["ttm-h"], n_topics=[50], seed=seeds),
            *_grid(dataset=texts, task=["credit"], model=["llda"], seed=seeds),
            *open_choices(seeds),
        ]
    )


OPEN_PRIORS = ((0.1, 0.05), (0.01, 0.01))
"""Priors that the paper may have used: our defaults, and those of its first author's public toolbox."""


def open_choices(seeds: Sequence[int]) -> list[ExperimentSpec]:
    """Return experiments on CORA with the settings that the paper leaves open.

    "lda-tags" with hidden tags is LDA by the same belief propagation as TTM-P and TTM-H.
    """
    models = ("lda-tags", "ttm-p", "ttm-h", "atm", "atm-last", "rtm", "rtm-last")
    return _grid(dataset=["cora"], task=["perplexity", "links"], model=models, n_topics=[20, 50],
                 seed=seeds, priors=OPEN_PRIORS)  # fmt: skip


def chosen(specs: Iterable[ExperimentSpec], only: Sequence[str]) -> list[ExperimentSpec]:
    """Return the specs that match a `TASK`, `TASK/DATASET` or `DATASET`; all if none is given.

    `corel5k` also matches `corel5k-images`. An unknown name is an `InputError`.
    """
    wanted = [_wanted(name) for name in only]
    if not wanted:
        return list(specs)
    return [spec for spec in specs if any(_is_wanted(spec, *pair) for pair in wanted)]


def _wanted(name: str) -> tuple[str, str]:
    task, _, dataset = name.partition("/")
    if not dataset and task in DATASETS:
        task, dataset = "", task
    known = (task in (*TASKS, *OWN_TASKS) or task == "") and (dataset in DATASETS or dataset == "")
    if not known or name in ("", "/"):
        tasks = ", ".join((*TASKS, *OWN_TASKS))
        raise InputError(
            f"--only {name[:60]!r}: give TASK, TASK/DATASET or DATASET; tasks are {tasks}; "
            f"data sets are {', '.join(DATASETS)}"
        )
    return task, dataset


def _is_wanted(spec: ExperimentSpec, task: str, dataset: str) -> bool:
    same = dataset in ("", spec.dataset) or spec.dataset.startswith(f"{dataset}-")
    return same and task in ("", spec.task)


def _in_order(specs: Iterable[ExperimentSpec]) -> list[ExperimentSpec]:
    """Return each spec once, ordered by split, so that an unfinished run has complete splits."""
    unique = dict.fromkeys(specs)
    return sorted(unique, key=lambda spec: (spec.task != "statistics", spec.seed))


_COMPARED = ("lda", "atm", "rtm", "ttm-p", "ttm-h", "ttm")
_FIGURES = ("perplexity", "links", "classification")
"""The tasks of the figures of Section 5."""

_TABLE_THREE = [
    ("ttm-h", 20, "best"), ("ttm-h", 20, "two-stage"), ("ttm-p", 20, "best"), ("ttm-p", 20, "two-stage"),
    ("llda", 0, "scores"), ("lda", 2, "linear"), ("sml", 0, "photographs"),
]  # fmt: skip
"""The rows of Table III, and two of ours: model, number of topics, system."""

_WITHOUT_CHANCE = ("linear",)
"""Systems that give the same figures with every seed."""

_MORE_TOPICS = [("ttm-h", 50, "two-stage"), ("ttm-p", 50, "two-stage")]
"""Rows for the claim that more topics than 20 do not help."""


def _grid(**axes: Sequence[Any]) -> list[ExperimentSpec]:
    """Return a spec for each combination of the given values of fields."""
    return [ExperimentSpec(**dict(zip(axes, values, strict=True))) for values in product(*axes.values())]


def _compared(
    datasets: Sequence[str], tasks: Sequence[str], topics: Sequence[int], seeds: Sequence[int], **more: Any
) -> list[ExperimentSpec]:
    return _grid(dataset=datasets, task=tasks, model=_COMPARED, n_topics=topics, seed=seeds, **more)


def _known_tags(topics: Sequence[int], seeds: Sequence[int]) -> list[ExperimentSpec]:
    return _grid(
        dataset=["cora"], task=["perplexity", "classification"], model=["ttm-p", "ttm-h", "ttm", "lda-tags"],
        n_topics=topics, seed=seeds, tags_known=[True],
    )  # fmt: skip


def _other_algorithms(
    datasets: Sequence[str], topics: Sequence[int], seeds: Sequence[int]
) -> list[ExperimentSpec]:
    """Return the last samples of ATM and RTM, and LDA by other algorithms than belief propagation."""
    models = ("atm-last", "rtm-last", "gibbs", "vb")
    return _grid(dataset=datasets, task=["perplexity"], model=models, n_topics=topics, seed=seeds)


def _top_words(seeds: Sequence[int]) -> list[ExperimentSpec]:
    models = ("atm", "rtm", "ttm-p", "ttm-h")
    return _grid(dataset=["cora"], task=["topics"], model=models, n_topics=[20], seed=seeds)


def _curves(datasets: Sequence[str], seeds: Sequence[int]) -> list[ExperimentSpec]:
    return _grid(dataset=datasets, task=["curve"], model=["ttm"], n_topics=[50], seed=seeds)


def _recommended(
    datasets: Sequence[str], rows: Sequence[tuple[str, int, str]], seeds: Sequence[int]
) -> list[ExperimentSpec]:
    """Return a spec for each seed; the split is the official one, the seed that of the model."""
    return [
        ExperimentSpec(
            dataset=dataset, task="recommendation", model=model, n_topics=K, system=system, seed=seed
        )
        for dataset, (model, K, system), seed in product(datasets, rows, seeds)
        if not (model == "sml" and dataset == "corel5k")  # SML is fitted to pixels, not to counts
        and not (system in _WITHOUT_CHANCE and seed)
    ]


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of one experiment."""

    spec: ExperimentSpec
    metrics: dict[str, Any]  # of the task; numbers, and the top words for "topics"
    seconds: dict[str, float]  # `fit` and `score`
    version: str = __version__  # of tagtopics
    commit: str = ""  # of the code; empty in records before November 2026
    python: str = field(default_factory=platform.python_version)

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps({"key": self.spec.key, **asdict(self)}, allow_nan=False)

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Parse a line; anything but a record is an `InputError`."""
        try:
            return TypeAdapter(cls).validate_json(line)
        except ValidationError as error:
            raise InputError(f"not a record of an experiment: {one_line(error)}") from None


_BEGIN = '{"key": '
"""The beginning of every record, by which an incomplete one is known."""


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, the last of each spec; an incomplete last line is ignored."""
    if not path.is_file():
        return []
    found: dict[str, Record] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = Record.from_line(line)
        except InputError as error:
            if number == len(lines) and _BEGIN.startswith(line[: len(_BEGIN)]):
                continue  # incomplete: the writer was killed
            raise InputError(f"{path}, line {number}: {error}; remove the line") from None
        found[record.spec.key] = record
    return list(found.values())


def append_record(path: Path, record: Record) -> None:
    """Append one line in one write; an incomplete last line is removed first."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            whole = file.read().rfind(b"\n") + 1
        os.ftruncate(descriptor, whole)
        os.lseek(descriptor, whole, os.SEEK_SET)
        os.write(descriptor, (record.to_line() + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
