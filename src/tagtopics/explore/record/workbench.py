"""The workbench inside the report: fold-in and recommender of a model in few bytes, for the page to decode.

Everything is rounded: p(word | topic) to 8 bits of its root, relative to the word's largest topic, which does
not change the topics of a document; coefficients to a step, with the rounding error of a document passed on
to the next one, because similar kernels multiply neighbouring documents and their errors then cancel.
"""

from __future__ import annotations

import base64
import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Int64
from tagtopics.bp.constants import FOLD_RELAXATION
from tagtopics.bp.fold_in import MAX_ITER, TOLERANCE
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import MOST_TOGETHER
from tagtopics.corpus.text import stop_words
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import base64_size, compress_json, root_bytes
from tagtopics.explore.report.prepare import known_words
from tagtopics.models.base import TopicModel
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import NEIGHBOURS, RIDGE, TOPIC_WEIGHT, documents_of, kernel_of

MOST_BYTES = 2_500_000  # what the workbench may add to a report, as base64
_STEPS = (0.0005, 0.001, 0.002, 0.004, 0.008)  # of coefficients, finest first
_MOST_COEFFICIENTS = 2_000_000  # more do not fit; the page then solves the regression for each text
_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)  # of the documents that are kept for that
_PAIRS_OF = 400  # documents, evenly spread, whose pairs the line is fitted to


def workbench(model: TopicModel, data: TopicData) -> bytes | None:
    """Return what a page needs to analyse new texts without a server, packed; None if it is impossible.

    The recommender is left out if it would not fit; the result is empty if nothing fits.
    """
    recipe, recommender = model.recipe_, model.recommender_
    if recipe is None or page_obstacle(recipe) is not None:
        return None
    chosen, number = known_words(data)
    phi = model.phi()[chosen]
    parts: dict[str, Any] = {
        "settings": {
            **word_settings(recipe),
            "relaxation": FOLD_RELAXATION,
            "iterations": MAX_ITER,
            "tolerance": TOLERANCE,
            "topicWeight": float(TOPIC_WEIGHT),
            "ridge": float(RIDGE),
            "neighbours": NEIGHBOURS,
        },
        "phi": root_bytes(phi / np.maximum(phi.max(1, keepdims=True), 1e-30)),
        "prior": [float(f"{value:.7g}") for value in np.asarray(model.doc_topic_prior_, dtype=np.float64)],
    }
    tags = None
    columns = {name: t for t, name in enumerate(model.tag_names_)}
    # Without `own`, the regression is one on the nearest documents, which a page cannot compute.
    if recommender is not None and len(recommender.own) and set(recommender.tag_names) <= set(columns):
        bench = _Recommender(recommender, number, [columns[name] for name in recommender.tag_names])
        tags = bench.fitting(MOST_BYTES, len(compress_json(parts)))
    block = compress_json(parts | {"tags": tags})
    return block if base64_size(len(block)) <= MOST_BYTES else b""


class _Recommender:
    """Makes the recommender of a page.

    Args:
        recommender: N documents, T tags.
        number: (W,) the number of each word in the index of the page, or -1.
        columns: (T,) the numbers of the tags in the record.
    """

    def __init__(self, recommender: TagRecommender, number: Int64, columns: list[int]) -> None:
        self._of, self._number, self._columns = recommender, number, columns
        self._line = _line(recommender)

    def fitting(self, most: int, n_bytes: int) -> dict[str, Any] | None:
        """Return the best recommender that fits next to bytes that are there already; None if none does."""

        def fits(found: dict[str, Any]) -> bool:
            return base64_size(n_bytes + len(compress_json(found))) <= most

        if 0 < self._of.coefficients.size <= _MOST_COEFFICIENTS:
            for step in _STEPS:
                if fits(found := self._round_recommender(step, 1.0)):
                    return found
        least = len(compress_json(self._round_recommender(0.0, _SHARES[-1])))
        for share in _SHARES:
            likely = base64_size(int(n_bytes + 0.9 * least * share / _SHARES[-1])) <= most
            if likely and fits(found := self._round_recommender(0.0, share)):
                return found
        return None

    def _round_recommender(self, step: float, share: float) -> dict[str, Any]:
        """Return the recommender, ready for JSON, with documents in an order that puts similar ones together.

        Args:
            step: of coefficients; 0 to leave them out.
            share: of the documents that are kept.
        """
        of, N = self._of, self._of.counts.shape[0]
        kept = np.unique(np.linspace(0, N - 1, max(int(share * N), 1)).astype(np.int64))
        best = np.argsort(-of.topics[kept], axis=1, kind="stable")[:, :2]
        order = kept[np.lexsort((kept, best[:, -1], best[:, 0]))]
        counts, tags = sp.csr_array(of.counts)[order], sp.csr_array(of.tags)[order]
        inside = self._number[counts.indices] >= 0
        rows, tag_rows = (np.repeat(np.arange(len(order)), np.diff(part.indptr)) for part in (counts, tags))
        return {
            "documents": len(order),
            "all": N,
            "words": _pack_rows(rows[inside], self._number[counts.indices][inside], len(order)),
            "counts": _bytes(counts.data[inside]),
            "tokens": np.asarray(counts.sum(1, dtype=np.float64)).ravel().tolist(),
            "tags": _pack_rows(tag_rows, tags.indices.astype(np.int64), len(order)),
            "carriers": np.bincount(of.tags.indices, minlength=len(self._columns)).tolist(),
            "columns": self._columns,
            "bandwidth": float(of.bandwidth),
            "weights": np.asarray(of.calibration.weights, dtype=np.float64).tolist(),
            "company": MOST_TOGETHER,
            "step": step,
            "coefficients": _steps(of.coefficients[order], step) if step else None,
            "line": None if step else self._line,
            "rows": of.rows[order].tolist(),
        }


def _line(recommender: TagRecommender) -> tuple[float, float]:
    """Return a and b, so that a + b s is close to the kernel of two documents with similarity s."""
    N = recommender.counts.shape[0]
    some = np.unique(np.linspace(0, N - 1, min(N, _PAIRS_OF)).astype(np.int64))
    docs = documents_of(sp.csr_array(recommender.counts[some], dtype=np.float32), recommender.topics[some])
    kernel = kernel_of(docs, docs, recommender.bandwidth)[np.triu_indices(len(some), 1)].astype(np.float64)
    if not len(kernel):
        return 0.0, 1.0
    alike = np.log(np.maximum(kernel, 1e-30)) / recommender.bandwidth + 1
    spread = float(((alike - alike.mean()) ** 2).sum())
    slope = float(((alike - alike.mean()) * kernel).sum()) / max(spread, 1e-12)
    return float(kernel.mean() - slope * alike.mean()), slope


def _pack_rows(rows: Int64, values: Int64, n: int) -> dict[str, Any]:
    """Return ascending numbers by row: how many each row has, and their differences."""
    order = np.lexsort((values, rows))
    rows, values = rows[order], values[order]
    first = np.diff(rows, prepend=-1) > 0
    gaps = np.where(first, values, np.diff(values, prepend=0))
    return {"sizes": np.bincount(rows, minlength=n).tolist(), "gaps": _bytes(gaps)}


def _bytes(values: Any) -> str:
    """Return whole numbers from 0 to 65535 as base64 of two planes of bytes, the low ones first."""
    whole = np.clip(np.rint(values), 0, 65535).astype(np.uint16)
    planes = np.concatenate([whole & 255, whole >> 8]).astype(np.uint8)
    return base64.b64encode(planes.tobytes()).decode()


def _steps(coefficients: Float32, step: float) -> str:
    """Return coefficients in steps, tag by tag; what rounding leaves goes to the next document.

    A step s is stored as 2 s, or -2 s - 1 below zero, so that small ones have small numbers.
    """
    sums = np.cumsum(coefficients.astype(np.float64) / step, axis=0)
    steps = np.diff(np.rint(sums), axis=0, prepend=0.0)
    return _bytes(np.where(steps < 0, -2 * steps - 1, 2 * steps).T.ravel())


_SETS = {
    "DIGIT": r"\p{Nd}",
    "SPACE": r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    "WORD": r"\p{L}\p{N}_",
}
"""What `\\d`, `\\s` and `\\w` match in Python."""

_BOUNDARY = r"(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))".format(_SETS["WORD"])


def page_obstacle(recipe: TextRecipe | None) -> str | None:
    """Return why a page cannot find words as a recipe does, for its readers; None if it can."""
    if recipe is None:
        return "counts"
    return None if recipe.tokenizer is None else "tokenizer"


def word_settings(recipe: TextRecipe) -> dict[str, Any]:
    """Return how a page finds words as a recipe does, which `page_obstacle` says it can."""
    pattern = recipe.token_pattern
    return {
        "lowercase": recipe.lowercase,
        "pattern": None if pattern is None else page_pattern(pattern),  # flags `dgu`
        "shortest": recipe.min_length,
        "ngrams": list(recipe.ngram_range),
        "stop": sorted(stop_words(recipe)),
    }


def page_pattern(pattern: str) -> str:
    r"""Return a pattern that `corpus/patterns.py` accepts as a regular expression of JavaScript.

    The languages differ: `\w` is ASCII in JavaScript and Unicode in Python. So the pattern is written from
    its parsed form, with sets of Unicode properties that mean the same.
    """
    return _sequence(importlib.import_module("re._parser").parse(pattern))


def _sequence(nodes: Any) -> str:
    return "".join(_part(str(kind), value) for kind, value in nodes)


def _part(kind: str, value: Any) -> str:
    """Return a part of a parsed pattern; there are no others in those that are accepted."""
    if kind == "LITERAL":
        return _escape(value)
    if kind == "NOT_LITERAL":
        return f"[^{_escape(value)}]"
    if kind == "IN":
        parts = [f"[{_set(str(what), of)}]" for what, of in value if str(what) != "NEGATE"]
        negated = str(value[0][0]) == "NEGATE"
        return f"(?:(?!{'|'.join(parts)})[^])" if negated else f"(?:{'|'.join(parts)})"
    if kind == "AT":
        return _BOUNDARY
    if kind == "SUBPATTERN":
        return f"(?:{_sequence(value[-1])})"
    if kind == "BRANCH":
        return f"(?:{'|'.join(map(_sequence, value[1]))})"
    least, most, nodes = value  # of a repetition
    return f"(?:{_sequence(nodes)}){{{least},{'' if str(most) == 'MAXREPEAT' else most}}}"


def _set(kind: str, value: Any) -> str:
    """Return the inside of a set of characters."""
    if kind == "LITERAL":
        return _escape(value)
    if kind == "RANGE":
        return f"{_escape(value[0])}-{_escape(value[1])}"
    name = str(value).removeprefix("CATEGORY_")
    return ("^" if name.startswith("NOT_") else "") + _SETS[name.removeprefix("NOT_")]


def _escape(point: int) -> str:
    return f"\\u{{{point:x}}}"
