"""Run experiments: the corpora, a pure function of a spec, and a runner that appends one record each."""

from __future__ import annotations

import json
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from reproduction import probable_words
from reproduction.credit import evaluate_credit
from reproduction.curves import measure_curve
from reproduction.photos import photo_folder
from reproduction.recommenders import SYSTEMS, measure_scores, measure_system
from reproduction.spec import THIN, ExperimentSpec, Record, append_record, read_records
from tagtopics import __version__
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.evaluation import find_task

if TYPE_CHECKING:
    from tagtopics.corpus.core import Corpus


PER_CLASS = {"cora": 100, "corel5k-thin": 300}
"""Training documents of each class, as in the paper."""

_Measure = Callable[[ExperimentSpec, Any, Any], dict[str, Any]]
Progress = Callable[[int, int, str], None]
"""Called with the number of experiments done, the total, and the title of the last."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep the working folder out of the path of processes that other libraries start meanwhile."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


# ------------------------------------------------------------------------------------ one experiment


def run_one(spec: ExperimentSpec, corpus: Corpus, n_threads: int | None = None) -> Record:
    """Run one experiment; equal specs and corpora give equal metrics, with any number of threads."""
    return measure(spec, corpus, _shared_model(spec, n_threads))


def measure(spec: ExperimentSpec, corpus: Corpus, model: FittedOnce | None) -> Record:
    """Run one experiment with a model shared by all experiments of equal `of_fit`.

    The metrics are those of `run_one`; every record has the seconds of the shared fit.
    """
    measured = _measure_sml if spec.model == "sml" else _MEASURES.get(spec.task, _measure_task)
    result = measured(spec, corpus, model)
    seconds = dict(result["seconds"])
    if model is not None and model.seconds is not None:
        seconds["fit"] = model.seconds
    return Record(spec=spec, metrics=_plain(result["metrics"]), seconds=seconds, commit=current_commit())


@lru_cache(maxsize=1)
def current_commit() -> str:
    """Return the commit of the clone that runs, in seven digits; "unknown" without git."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def build_model(spec: ExperimentSpec, n_threads: int | None = None) -> Any:
    """Return the unfitted estimator of a spec."""
    import tagtopics as tt
    from reproduction.systems import SML, VBLDA, GibbsLDA

    makers: dict[str, Callable[[], Any]] = {
        "lda": lambda: tt.LDA(spec.n_topics),
        "atm": lambda: tt.ATM(spec.n_topics),
        "atm-last": lambda: tt.ATM(spec.n_topics, averaged_share=0),
        "rtm": lambda: tt.RTM(spec.n_topics),
        "rtm-last": lambda: tt.RTM(spec.n_topics, averaged_share=0),
        "ttm-p": lambda: tt.MarkovTTM.pairwise(spec.n_topics),
        "ttm-h": lambda: tt.MarkovTTM(spec.n_topics),
        "ttm": lambda: tt.TTM(spec.n_topics),
        "lda-tags": lambda: tt.MarkovTTM(spec.n_topics, pairwise_weight=0.0, higher_order_weight=0.0),
        "gibbs": lambda: GibbsLDA(spec.n_topics),
        "vb": lambda: VBLDA(spec.n_topics),
        "llda": tt.LabeledLDA,
        "sml": SML,
    }
    model = makers[spec.model]().set_params(random_state=spec.seed, n_jobs=n_threads)
    if spec.priors is None:
        return model
    return model.set_params(doc_topic_prior=spec.priors[0], topic_word_prior=spec.priors[1])


def _shared_model(spec: ExperimentSpec, n_threads: int | None) -> FittedOnce | None:
    return None if spec.task == "statistics" else FittedOnce(build_model(spec, n_threads))


class FittedOnce:
    """A model that is fitted once: tasks with the same training documents share it.

    Tasks with other documents fit its `estimator`.
    """

    def __init__(self, model: Any) -> None:
        self.estimator = model
        self._ids: tuple[str, ...] | None = None
        self._inferred: dict[tuple[tuple[str, ...], str], Any] = {}
        self._recommends = False
        self.seconds: float | None = None

    def fit_topics(self, corpus: Corpus) -> FittedOnce:
        """Fit the topics, if that has not been done."""
        if self._ids is None:
            began = time.perf_counter()
            self.estimator.fit_topics(corpus)
            self.seconds, self._ids = time.perf_counter() - began, corpus.ids
        elif self._ids != corpus.ids:
            raise AssertionError("experiments that share a fit must share their training documents")
        return self

    def fit_recommender(self, corpus: Corpus) -> FittedOnce:
        """Train the recommender on the training documents, if that has not been done."""
        if not self._recommends:
            self.estimator.fit_recommender(corpus)
            self._recommends = True
        return self

    def transform(self, corpus: Corpus, tags: Any = None) -> Any:
        """Infer proportions, once for the same documents and the same use of their tags."""
        use = "hidden" if tags is None else tags if isinstance(tags, str) else "known"
        return self._once((corpus.ids, use), lambda: self.estimator.transform(corpus, tags))

    def tag_probabilities(self, corpus: Corpus) -> Any:
        """Infer tags, once for the same documents."""
        return self._once((corpus.ids, "tags"), lambda: self.estimator.tag_probabilities(corpus))

    def leave_one_out_tags(self, corpus: Corpus) -> Any:
        """Infer the tags of training documents without what is known of their own, once."""
        return self._once((corpus.ids, "left out"), lambda: self.estimator.leave_one_out_tags(corpus))

    def _once(self, key: tuple[tuple[str, ...], str], infer: Callable[[], Any]) -> Any:
        if key not in self._inferred:
            self._inferred[key] = infer()
        return self._inferred[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.estimator, name)


def _measure_task(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    task = find_task(spec.task)
    if spec.task == "recommendation":
        if spec.system in SYSTEMS:
            return measure_system(corpus, model, spec.system, spec.seed)
        return task(corpus, model, seed=spec.seed)
    if spec.task == "classification":
        per_class = PER_CLASS.get(spec.dataset, 100)
        return task(corpus, model, seed=spec.seed, tags_known=spec.tags_known, per_class=per_class)
    return task(corpus, model, seed=spec.seed, tags_known=spec.tags_known)


def _measure_credit(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    return evaluate_credit(corpus, model.estimator, seed=spec.seed)


def _measure_links(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Measure links from roots of products of proportions, and from the products themselves."""
    task = find_task("links")
    options = {"seed": spec.seed, "tags_known": spec.tags_known}
    roots, products = (task(corpus, model, power=power, **options) for power in (0.5, 1.0))
    more = {f"{measure}_products": products["metrics"][measure] for measure in ("f1", "auc")}
    return {**roots, "metrics": roots["metrics"] | more}


def _measure_perplexity(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Add the paper's protocol, which scores the words that were inferred from."""
    from tagtopics.corpus.splits import train_test

    result = _measure_task(spec, corpus, model)
    test = corpus.select(train_test(corpus, spec.seed)[1])
    known = test if spec.tags_known else None
    more = {"same_words_perplexity": model.perplexity(test, tags=known, completed=False)}
    return {**result, "metrics": result["metrics"] | more}


def _measure_statistics(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    metrics: dict[str, Any] = dict(corpus.statistics)
    if corpus.split is not None:
        train = [part == "train" for part in corpus.split]
        metrics["n_tags_of_training"] = int((corpus.tags[train].sum(0) > 0).sum())
    return {"metrics": metrics, "seconds": {"fit": 0.0, "score": 0.0}}


def _measure_topics(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Return the thirty most probable words of each topic of the training part, with their probabilities."""
    from tagtopics.bp.holdout import topic_coherence
    from tagtopics.corpus.splits import train_test

    train = corpus.select(train_test(corpus, spec.seed)[0])
    model.fit_topics(train)
    began = time.perf_counter()
    top = probable_words(model, 30)
    ten = [[word for word, _ in topic[:10]] for topic in top]
    metrics = {
        "coherence": float(topic_coherence(corpus, ten).mean()),
        "top_words": [[[word, round(weight, 6)] for word, weight in topic] for topic in top],
    }
    return {"metrics": metrics, "seconds": {"fit": model.seconds, "score": time.perf_counter() - began}}


def _measure_sml(spec: ExperimentSpec, corpus: Corpus, model: Any) -> dict[str, Any]:
    """Fit SML to the training photos of a corpus and recommend five tags for each test photo."""
    from tagtopics.corpus.splits import train_test

    images = photo_folder() / "images"
    train, test = (corpus.select(rows) for rows in train_test(corpus, spec.seed))
    began = time.perf_counter()
    sml = model.estimator.fit([images / f"{name}.jpeg" for name in train.ids], train.tags)
    fitted = time.perf_counter()
    scores = sml.scores([images / f"{name}.jpeg" for name in test.ids])
    metrics = measure_scores(test.tags.toarray(), scores)
    return {"metrics": metrics, "seconds": {"fit": fitted - began, "score": time.perf_counter() - fitted}}


_MEASURES: Mapping[str, _Measure] = {
    "statistics": _measure_statistics,
    "topics": _measure_topics,
    "perplexity": _measure_perplexity,
    "links": _measure_links,
    "curve": measure_curve,
    "credit": _measure_credit,
}


def _plain(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics that JSON can hold; NaN becomes None."""
    return json.loads(json.dumps(metrics), parse_constant=lambda _: None)  # type: ignore[no-any-return]


# --------------------------------------------------------------------------------------------- runner


@dataclass(frozen=True)
class Outcome:
    """What a run did: experiments run now, run before, and not run; a line for each problem."""

    measured: int
    before: int
    left: int
    problems: tuple[str, ...]


def run_grid(
    specs: Sequence[ExperimentSpec],
    path: Path,
    *,
    jobs: int = 1,
    minutes: float | None = None,
    data: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the experiments that a file of records lacks, and append each result when it is done.

    Args:
        specs: the experiments, in this order.
        path: the file of records. Experiments recorded by this version of tagtopics are skipped.
        jobs: number of processes; with more than one, each model runs in one thread.
        minutes: start no new experiment after this time.
        data: a folder of matrix folders, searched before `load_dataset`.
        progress: called after each result.
    """
    done = {record.spec.key for record in read_records(path) if record.version == __version__}
    waiting = [spec for spec in specs if spec.key not in done]
    deadline = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    missing = _missing({spec.dataset for spec in waiting}, data)
    measured, problems = 0, dict.fromkeys(missing.values())
    groups = _groups(spec for spec in waiting if spec.dataset not in missing)
    for answer in _answers(groups, jobs, deadline, data):
        for record in answer.records:
            append_record(path, record)
        measured += len(answer.records)
        problems.update(dict.fromkeys(answer.problems))
        if progress is not None:
            progress(measured, len(waiting), answer.title)
    return Outcome(measured, len(specs) - len(waiting), len(waiting) - measured, tuple(problems))


def _missing(datasets: Iterable[str], data: Path | None) -> dict[str, str]:
    """Load every data set once, so that no two processes download it; return a line for each missing one."""
    lines = {}
    for name in sorted(datasets):
        try:
            loaded(name, data)
        except (InputError, OSError) as error:
            lines[name] = f"{name}: not available, skipped ({error})"
    return lines


@dataclass(frozen=True)
class _GroupResult:
    records: tuple[Record, ...]
    problems: tuple[str, ...]
    title: str


def _groups(specs: Iterable[ExperimentSpec]) -> list[list[ExperimentSpec]]:
    groups: dict[ExperimentSpec, list[ExperimentSpec]] = {}
    for spec in specs:
        groups.setdefault(spec.of_fit, []).append(spec)
    return list(groups.values())


def _answers(
    groups: Sequence[Sequence[ExperimentSpec]], jobs: int, deadline: float, data: Path | None
) -> Iterator[_GroupResult]:
    """Yield the answers of all groups that can start before the deadline, as they finish."""
    if jobs == 1:
        for group in groups:
            if time.monotonic() >= deadline:
                return
            yield _run_group(group, data, None)
        return
    todo = list(reversed(groups))
    running: set[Future[_GroupResult]] = set()
    with safe_path(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while running or (todo and time.monotonic() < deadline):
            while todo and len(running) < jobs and time.monotonic() < deadline:
                running.add(pool.submit(_run_group, todo.pop(), data, 1))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()


def _run_group(group: Sequence[ExperimentSpec], data: Path | None, n_threads: int | None) -> _GroupResult:
    """Run experiments that share a fit; an experiment that the corpus does not allow becomes a problem."""
    corpus = load_corpus(group[0], data)
    records: list[Record] = []
    problems: list[str] = []
    model = _shared_model(group[0], n_threads)
    for spec in group:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                records.append(measure(spec, corpus, model))
        except InputError as error:
            problems.append(f"{spec.title}: {error}")
    return _GroupResult(tuple(records), tuple(problems), group[-1].title)


ARTEFACT_TAGS = 40
"""Documents that share one list of more than this many tags are an artefact of the data."""

CLASS_TAGS = ("sky", "water", "tree", "people")
"""The paper's classes of C5K: photos with exactly one of these tags."""

THINNING = 50
"""Models sampled token by token use one of this many tokens of C5K."""


def load_corpus(spec: ExperimentSpec, data: Path | None = None) -> Corpus:
    """Return the corpus of a spec, from the folder `data` if it is there, else from `load_dataset`."""
    corpus = loaded(spec.dataset, data)
    return without_artefact(corpus) if spec.without_artefact else corpus


@lru_cache(maxsize=2)
def loaded(name: str, data: Path | None) -> Corpus:
    """Return a data set by name; the last two are cached."""
    from tagtopics.datasets import load_dataset

    if name == THIN:
        return thinned(with_tag_classes(loaded("corel5k-images", data)))
    place = data / name if data is not None and (data / name / "words.npz").is_file() else name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return load_dataset(place)


def without_artefact(corpus: Corpus) -> Corpus:
    """Remove documents that share one list of more than `ARTEFACT_TAGS` tags."""
    lists = [tuple(corpus.tags.indices[a:b].tolist()) for a, b in pairwise(corpus.tags.indptr)]
    long = [tags for tags in lists if len(tags) > ARTEFACT_TAGS]
    shared = {tags for tags in long if long.count(tags) > 1}
    return corpus.select([d for d, tags in enumerate(lists) if tags not in shared])


def with_tag_classes(corpus: Corpus) -> Corpus:
    """Label the documents that have exactly one of the paper's four tags with it."""
    columns = [corpus.tag_names.index(name) for name in CLASS_TAGS if name in corpus.tag_names]
    marks = corpus.tags[:, columns].toarray().astype(bool)
    names = [corpus.tag_names[t] for t in columns]
    labels = [names[row.argmax()] if row.sum() == 1 else None for row in marks]
    return replace(corpus, labels=tuple(labels))


def thinned(corpus: Corpus, share: float = 1 / THINNING) -> Corpus:
    """Keep each token with a small probability, and drop the official split: splits are then random."""
    counts = sp.csr_array(corpus.counts, copy=True)
    counts.data = np.random.default_rng(0).binomial(counts.data, share).astype(counts.data.dtype)
    counts.eliminate_zeros()
    return replace(corpus, counts=counts, split=None)
