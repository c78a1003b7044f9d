"""Experiments as data: a spec is one task of one model on one split; a record is its result in JSON."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tagtopics import __version__
from tagtopics.errors import InputError
from tagtopics.tasks import TASKS

DATASETS = ("cora", "med", "corel5k-images", "corel5k", "corel5k-thin", "bibtex", "reuters")
"""The data sets of the grids, as named by `load_dataset`."""

THIN = "corel5k-thin"
"""C5K with a fiftieth of its tokens and the paper's four classes: see `experiments.corpora`."""

OWN_TASKS = ("statistics", "topics")
"""Tasks that only experiments have: Table II, and top words."""

MODELS: Mapping[str, str] = MappingProxyType(
    {
        "lda": "LDA",
        "atm": "ATM",
        "atm-last": "ATM, last sample",
        "rtm": "RTM",
        "rtm-last": "RTM, last sample",
        "ttm-p": "TTM-P",
        "ttm-h": "TTM-H",
        "llda": "L-LDA",
        "sml": "SML",
    }
)
"""The models of the grids, and their names in tables."""


@dataclass(frozen=True, kw_only=True)
class ExperimentSpec:
    """One experiment.

    Attributes:
        dataset: a name for `load_dataset`.
        task: of `tagtopics.tasks.TASKS`, or "statistics" (of the corpus) or "topics" (top words).
        model: of `MODELS`; empty for "statistics".
        n_topics: the number of topics; 0 if the tags determine it, or there is no model.
        seed: of the split, of the tokens held out and of the model.
        tags_known: whether the model may use the tags of test documents.
        without_artefact: leave out the documents that share one long list of tags (41 of CORA).
        system: of the recommendation task; "photographs" for SML, which is fitted to photos; else empty.
    """

    dataset: str
    task: str
    model: str = ""
    n_topics: int = 0
    seed: int = 0
    tags_known: bool = False
    without_artefact: bool = False
    system: str = ""

    def __post_init__(self) -> None:
        if self.task not in (*TASKS, *OWN_TASKS):
            raise InputError(f"experiment: unknown task {self.task[:40]!r}")
        if self.model not in MODELS and not (self.model == "" and self.task == "statistics"):
            raise InputError(f"experiment: unknown model {self.model[:40]!r}; known are {', '.join(MODELS)}")

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

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ExperimentSpec:
        """Read a spec from JSON; unknown names or wrong types are an `InputError`."""
        defaults = {field.name: field.default for field in fields(cls)}
        for name, value in values.items():
            wanted = str if name in ("dataset", "task") else type(defaults.get(name))
            if name not in defaults or type(value) is not wanted:
                raise InputError(f"experiment: {name[:40]!r} is no field of a spec, or has a wrong type")
        try:
            return cls(**values)
        except TypeError:
            raise InputError("experiment: a spec needs at least a dataset and a task") from None


def quick_grid() -> list[ExperimentSpec]:
    """Return what `reproduce --quick` measures: two numbers of topics, two splits, the paper's own data."""
    topics, seeds = (20, 50), (0, 1)
    return _in_order(
        [
            *_statistics(),
            *_compared(("cora", "med"), ("perplexity",), topics, seeds),
            *_compared(("cora",), ("links", "classification"), topics, seeds),
            *_known_tags(topics, seeds),
            *_without_artefact(topics[:1], seeds),
            *_last_samples(("cora",), topics[1:], seeds),
            *_top_words(),
            *_table_three(("corel5k-images",)),
        ]
    )


def full_grid() -> list[ExperimentSpec]:
    """Return what `reproduce` measures: K = 10, 20 ... 100, five splits, all available data sets."""
    topics, seeds = tuple(range(10, 101, 10)), tuple(range(5))
    return _in_order(
        [
            *_statistics(),
            *_compared(("cora", "med"), ("perplexity", "links"), topics, seeds),
            *_compared(("cora",), ("classification",), topics, seeds),
            *_compared((THIN,), ("perplexity", "links", "classification"), (20, 50), seeds[:3]),
            *_known_tags(topics, seeds),
            *_without_artefact((20, 50, 100), seeds),
            *_last_samples(("cora", "med"), (20, 50), seeds),
            *_top_words(),
            *_table_three(("corel5k-images", "corel5k")),
            *_texts(("bibtex", "reuters")),
            *_credit(("reuters", "bibtex"), seeds),
        ]
    )


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


_COMPARED = ("lda", "atm", "rtm", "ttm-p", "ttm-h")


def _statistics() -> list[ExperimentSpec]:
    return [ExperimentSpec(dataset=name, task="statistics") for name in DATASETS[:4]]


def _compared(
    datasets: Sequence[str], tasks: Sequence[str], topics: Sequence[int], seeds: Sequence[int]
) -> list[ExperimentSpec]:
    """Figures of Section 5: perplexity, links and classification of every model."""
    every = product(datasets, tasks, _COMPARED, topics, seeds)
    return [
        ExperimentSpec(dataset=dataset, task=task, model=model, n_topics=K, seed=seed)
        for dataset, task, model, K, seed in every
    ]


def _known_tags(topics: Sequence[int], seeds: Sequence[int]) -> list[ExperimentSpec]:
    tasks = ("perplexity", "classification")
    specs = _compared(("cora",), tasks, topics, seeds)
    return [replace(spec, tags_known=True) for spec in specs if spec.model.startswith("ttm")]


def _without_artefact(topics: Sequence[int], seeds: Sequence[int]) -> list[ExperimentSpec]:
    specs = _compared(("cora",), ("perplexity", "links", "classification"), topics, seeds)
    return [replace(spec, without_artefact=True) for spec in specs]


def _last_samples(
    datasets: Sequence[str], topics: Sequence[int], seeds: Sequence[int]
) -> list[ExperimentSpec]:
    every = product(datasets, ("atm-last", "rtm-last"), topics, seeds)
    return [
        ExperimentSpec(dataset=dataset, task="perplexity", model=model, n_topics=K, seed=seed)
        for dataset, model, K, seed in every
    ]


def _top_words() -> list[ExperimentSpec]:
    return [
        ExperimentSpec(dataset="cora", task="topics", model=model, n_topics=20) for model in _COMPARED[1:]
    ]


def _table_three(datasets: Sequence[str]) -> list[ExperimentSpec]:
    """Table III: the paper's two-stage system, the default recommender, L-LDA, SML, words alone; J = 20."""
    rows = [(model, 20, system) for model in ("ttm-h", "ttm-p") for system in ("best", "two-stage")]
    rows += [("llda", 0, "scores"), ("lda", 2, "linear"), ("sml", 0, "photographs")]
    return [
        ExperimentSpec(dataset=dataset, task="recommendation", model=model, n_topics=K, system=system)
        for dataset, (model, K, system) in product(datasets, rows)
        if not (model == "sml" and dataset == "corel5k")  # SML is fitted to pixels, not to counts
    ]


def _texts(datasets: Sequence[str]) -> list[ExperimentSpec]:
    rows = (("ttm-h", 50, "best"), ("lda", 2, "linear"))
    return [
        ExperimentSpec(dataset=dataset, task="recommendation", model=model, n_topics=K, system=system)
        for dataset, (model, K, system) in product(datasets, rows)
    ]


def _credit(datasets: Sequence[str], seeds: Sequence[int]) -> list[ExperimentSpec]:
    every = product(datasets, (("ttm-h", 50), ("llda", 0)), seeds)
    return [
        ExperimentSpec(dataset=dataset, task="credit", model=model, n_topics=K, seed=seed)
        for dataset, (model, K), seed in every
    ]


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of one experiment.

    Attributes:
        spec: the experiment.
        metrics: of the task; numbers, and the top words for "topics".
        seconds: `fit` and `score`.
        version: of tagtopics.
        python: of Python.
    """

    spec: ExperimentSpec
    metrics: Mapping[str, Any]
    seconds: Mapping[str, float]
    version: str = __version__
    python: str = field(default_factory=platform.python_version)

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps({"key": self.spec.key, **asdict(self)}, allow_nan=False)

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Parse a line; anything but a record is an `InputError`."""
        try:
            values = json.loads(line)
            spec = ExperimentSpec.from_mapping(values["spec"])
            parts = {name: values[name] for name in ("metrics", "seconds", "version", "python")}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"not a record of an experiment: {str(error)[:80]}") from None
        if not isinstance(parts["metrics"], dict) or not isinstance(parts["seconds"], dict):
            raise InputError("not a record of an experiment: metrics and seconds must be objects")
        return cls(spec=spec, **parts)


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
