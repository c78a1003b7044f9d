"""The peers: each trains in its own way and reports its topics between sweeps or passes.

No peer has a hook that is good for this, so scikit-learn's and gensim's M-steps are overridden to tell the
watch and then go on; tomotopy is simply called again and again. A peer never sees the evaluation documents.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from benchmarks.corpora import Task
from benchmarks.evaluator import perplexity_of
from benchmarks.limits import Limits
from benchmarks.recorder import Recorder

_INFER_SWEEPS = (10, 30, 100)


class Priors(NamedTuple):
    """The priors of a peer; see appendix 242."""

    alpha: float
    eta: float


class Peer(NamedTuple):
    """A system to compare with."""

    label: str
    module: str
    unit: str  # what the watch counts: sweeps or passes
    against: str  # our system on the other side: lda or ttm
    pilot: str  # whose pilot runs choose the priors
    priors: Priors  # without pilot runs
    run: Callable[[Task, Recorder, int, Limits, Priors], dict[str, Any]]


class _Enough(Exception):  # noqa: N818
    """Raised to stop the training."""


# --- tomotopy -----------------------------------------------------------------------------------------


def _tomotopy_lda(scheme: str) -> Callable[..., dict[str, Any]]:
    def run(task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors) -> dict[str, Any]:
        import tomotopy as tp

        model = tp.LDAModel(k=limits.n_topics, alpha=priors.alpha, eta=priors.eta, seed=seed)
        for words in _tokens(task.train.counts):
            model.add_doc(words)
        return _gibbs(model, task, recorder, limits, scheme) | {
            "fold_in": _tomotopy_fold_in(model, task, limits)
        }

    return run


def _tomotopy_plda(
    task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors
) -> dict[str, Any]:
    """Half of the K topics belong to the most frequent tags, one each; the others are latent."""
    import tomotopy as tp

    tags = task.train.tags
    frequent = np.argsort(-np.asarray(tags.sum(0)).ravel(), kind="stable")[: limits.n_topics // 2]
    latent = limits.n_topics - len(frequent)
    model = tp.PLDAModel(latent_topics=latent, alpha=priors.alpha, eta=priors.eta, seed=seed)
    chosen = set(frequent.tolist())
    for d, words in enumerate(_tokens(task.train.counts)):
        model.add_doc(words, labels=[str(t) for t in _row(tags, d) if int(t) in chosen])
    return _gibbs(model, task, recorder, limits, "DEFAULT")


def _tomotopy_dmr(
    task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors
) -> dict[str, Any]:
    """All tags of a document are its metadata."""
    import tomotopy as tp

    model = tp.DMRModel(k=limits.n_topics, alpha=priors.alpha, eta=priors.eta, seed=seed)
    for d, words in enumerate(_tokens(task.train.counts)):
        model.add_doc(words, multi_metadata=[str(t) for t in _row(task.train.tags, d)])
    return _gibbs(model, task, recorder, limits, "DEFAULT")


def _gibbs(model: Any, task: Task, recorder: Recorder, limits: Limits, scheme: str) -> dict[str, Any]:
    import tomotopy as tp

    options = {"workers": limits.workers, "parallel": tp.ParallelScheme[scheme]}
    done = 0
    recorder.start()
    while True:
        n = recorder.until_next(done)
        model.train(n, **options)
        done += n
        if recorder.tick(done, lambda: _tomotopy_topics(model, task)):
            return {"scheme": scheme}


def _tomotopy_topics(model: Any, task: Task) -> tuple[Any, Any | None]:
    columns = np.array([int(word) for word in model.used_vocabs])
    phi = np.zeros((task.train.n_words, model.k))
    phi[columns] = np.array([model.get_topic_word_dist(k) for k in range(model.k)]).T
    alpha = np.asarray(model.alpha) if type(model).__name__ == "LDAModel" else None
    return phi, alpha


def _tomotopy_fold_in(model: Any, task: Task, limits: Limits) -> list[dict[str, float]]:
    """Time `infer` with several numbers of sweeps, without creating its documents."""
    phi, _ = _tomotopy_topics(model, task)
    rows = []
    for sweeps in _INFER_SWEEPS:
        docs = [model.make_doc(words) for words in _tokens(task.test.seen)]
        known = np.array([doc is not None and len(doc.words) > 0 for doc in docs])
        docs = [doc for doc, keep in zip(docs, known, strict=True) if keep]
        began = time.perf_counter()
        inferred, _ = model.infer(docs, iterations=sweeps, workers=limits.workers)
        rate = len(docs) / (time.perf_counter() - began)
        theta = np.full((len(known), model.k), 1 / model.k)
        theta[known] = np.array(inferred)
        rows.append(_fold_row(sweeps, rate, perplexity_of(task.test, theta, phi)))
    return rows


def _tokens(counts: Any) -> list[list[str]]:
    """Return the documents of a CSR array as lists of column numbers, repeated by count."""
    names = np.array([str(w) for w in range(counts.shape[1])], dtype=object)
    words = np.repeat(names[counts.indices], counts.data)
    ends = np.concatenate([[0], np.cumsum(counts.data)])[counts.indptr]
    return [words[ends[d] : ends[d + 1]].tolist() for d in range(counts.shape[0])]


def _row(tags: Any, d: int) -> Sequence[int]:
    columns: Sequence[int] = tags.indices[tags.indptr[d] : tags.indptr[d + 1]]
    return columns


# --- scikit-learn -------------------------------------------------------------------------------------


def _sklearn_lda(method: str) -> Callable[..., dict[str, Any]]:
    def run(task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors) -> dict[str, Any]:
        from sklearn.decomposition import LatentDirichletAllocation

        class Watched(LatentDirichletAllocation):  # type: ignore[misc]
            seen_docs = 0

            def _em_step(self, X: Any, *args: Any, **kwargs: Any) -> Any:
                result = super()._em_step(X, *args, **kwargs)
                self.seen_docs += X.shape[0]
                topics = (self.components_ / self.components_.sum(1, keepdims=True)).T
                own = np.full(limits.n_topics, priors.alpha)
                if recorder.tick(self.seen_docs / task.train.n_docs, lambda: (topics, own)):
                    raise _Enough
                return result

        model = Watched(
            n_components=limits.n_topics,
            doc_topic_prior=priors.alpha,
            topic_word_prior=priors.eta,
            learning_method=method,
            max_iter=limits.passes + 1,
            n_jobs=limits.workers,
            random_state=seed,
        )
        _start_processes(limits)
        recorder.start()
        with suppress(_Enough):
            model.fit(task.train.counts)
        return {"fold_in": _sklearn_fold_in(model, task)}

    return run


def _start_processes(limits: Limits) -> None:
    """Start the worker processes of scikit-learn and load its code, which is not training."""
    from sklearn.decomposition import LatentDirichletAllocation

    counts = np.random.default_rng(0).poisson(1.0, (20, 30))
    LatentDirichletAllocation(3, max_iter=1, n_jobs=limits.workers).fit(counts)


def _sklearn_fold_in(model: Any, task: Task) -> list[dict[str, float]]:
    model.transform(task.test.seen[:10])
    began = time.perf_counter()
    theta = model.transform(task.test.seen)
    rate = task.test.seen.shape[0] / (time.perf_counter() - began)
    phi = (model.components_ / model.components_.sum(1, keepdims=True)).T
    return [_fold_row(0, rate, perplexity_of(task.test, theta, phi))]


# --- gensim -------------------------------------------------------------------------------------------


class _Watch:
    """Called by a gensim model after each M-step; stored on the class, so that it is never pickled."""

    def __init__(self, recorder: Recorder, n_docs: int, alpha: Any) -> None:
        self.recorder, self.n_docs, self.alpha = recorder, n_docs, alpha
        self.seen_docs = 0

    def hear(self, model: Any, n_docs: int) -> None:
        self.seen_docs += n_docs
        if self.recorder.tick(self.seen_docs / self.n_docs, lambda: (model.get_topics().T, self.alpha)):
            raise _Enough


def _watched(base: Any, watch: _Watch) -> Any:
    class Watched(base):  # type: ignore[misc]
        heard: ClassVar[_Watch] = watch

        def do_mstep(self, rho: float, other: Any, extra_pass: bool = False) -> None:
            n_docs = other.numdocs
            super().do_mstep(rho, other, extra_pass)
            self.heard.hear(self, n_docs)

    return Watched


def _gensim_options(task: Task, seed: int, limits: Limits, priors: Priors) -> dict[str, Any]:
    """Return a chunk size with at least ten updates per pass: gensim's 2000 gives one for a small corpus."""
    return {
        "num_topics": limits.n_topics,
        "id2word": {i: str(i) for i in range(task.train.n_words)},
        "chunksize": int(np.clip(task.train.n_docs // 20, 16, 2000)),
        "passes": limits.passes + 1,
        "eval_every": None,
        "alpha": [priors.alpha] * limits.n_topics,
        "eta": priors.eta,
        "random_state": seed,
    }


def _gensim_lda(task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors) -> dict[str, Any]:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore

    _quiet()
    docs = list(Sparse2Corpus(task.train.counts.T.tocsc()))
    watch = _Watch(recorder, len(docs), np.full(limits.n_topics, priors.alpha))
    model = _watched(LdaMulticore, watch)(
        workers=limits.workers, **_gensim_options(task, seed, limits, priors)
    )
    recorder.start()
    with suppress(_Enough):
        model.update(docs)
    return {}


def _gensim_atm(task: Task, recorder: Recorder, seed: int, limits: Limits, priors: Priors) -> dict[str, Any]:
    """Tags are the authors; a document without tags is its own author. gensim has no parallel version."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import AuthorTopicModel

    _quiet()
    docs = list(Sparse2Corpus(task.train.counts.T.tocsc()))
    authors = {d: [f"t{t}" for t in _row(task.train.tags, d)] or [f"d{d}"] for d in range(len(docs))}
    model = _watched(AuthorTopicModel, _Watch(recorder, len(docs), None))(
        **_gensim_options(task, seed, limits, priors)
    )
    recorder.start()
    with suppress(_Enough):
        model.update(docs, doc2author=authors)
    return {}


def _quiet() -> None:
    logging.getLogger("gensim").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")


def _fold_row(iterations: int, rate: float, perplexity: float) -> dict[str, float]:
    return {
        "iterations": iterations,
        "docs_per_second": round(rate, 1),
        "perplexity": round(perplexity, 2),
    }


_GIBBS = Priors(0.1, 0.05)
_VARIATIONAL = Priors(0.1, 0.05)
PEERS: dict[str, Peer] = {
    "tomotopy-lda-copy": Peer(
        "tomotopy LDA (COPY_MERGE)",
        "tomotopy",
        "sweeps",
        "lda",
        "tomotopy-lda-copy",
        _GIBBS,
        _tomotopy_lda("COPY_MERGE"),
    ),
    "tomotopy-lda-partition": Peer(
        "tomotopy LDA (PARTITION)",
        "tomotopy",
        "sweeps",
        "lda",
        "tomotopy-lda-copy",
        _GIBBS,
        _tomotopy_lda("PARTITION"),
    ),
    "tomotopy-plda": Peer(
        "tomotopy PLDA", "tomotopy", "sweeps", "ttm", "tomotopy-lda-copy", _GIBBS, _tomotopy_plda
    ),
    "tomotopy-dmr": Peer(
        "tomotopy DMR", "tomotopy", "sweeps", "ttm", "tomotopy-lda-copy", _GIBBS, _tomotopy_dmr
    ),
    "gensim-lda": Peer(
        "gensim LdaMulticore", "gensim", "passes", "lda", "gensim-lda", _VARIATIONAL, _gensim_lda
    ),
    "gensim-atm": Peer(
        "gensim AuthorTopicModel", "gensim", "passes", "ttm", "gensim-lda", _VARIATIONAL, _gensim_atm
    ),
    "sklearn-batch": Peer(
        "scikit-learn LDA (batch)",
        "sklearn",
        "passes",
        "lda",
        "sklearn-online",
        _VARIATIONAL,
        _sklearn_lda("batch"),
    ),
    "sklearn-online": Peer(
        "scikit-learn LDA (online)",
        "sklearn",
        "passes",
        "lda",
        "sklearn-online",
        _VARIATIONAL,
        _sklearn_lda("online"),
    ),
}
