"""From a fitted model and its corpus to the record that reports and servers show."""

from __future__ import annotations

from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp import holdout
from tagtopics.bp.fold_in import document_ranges
from tagtopics.bp.graph import build_graph
from tagtopics.corpus.align import in_columns
from tagtopics.corpus.cells import METADATA
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.splits import completion
from tagtopics.errors import InputError
from tagtopics.explore.record.findings import findings_of
from tagtopics.explore.record.spans import normalised_text
from tagtopics.explore.record.topic_data import ANY_WORDS, DocumentTable, TagTable, TopicData
from tagtopics.jit.threads import results_of
from tagtopics.jit.top import largest_of_rows
from tagtopics.models.base import TopicModel
from tagtopics.models.persistence import plain_value
from tagtopics.models.topic_words import CANDIDATES
from tagtopics.models.ttm import TTM
from tagtopics.models.validation import Preset
from tagtopics.tag_prior.mixture_loops import first_claims
from tagtopics.tag_prior.tag_word_loops import credited_tokens

WORDS_OF_A_TAG = 40  # credited words kept for each tag
_PAIRS = 1 << 20  # pairs of tag and word that are compared at a time
_SCORED = 1000  # documents, evenly spread, at most, on which the perplexity in the record is measured


def topic_data(model: TopicModel, corpus: Corpus | None = None, title: str | None = None) -> TopicData:
    """Return the record of a fitted model that reports and servers show.

    Args:
        model: fitted.
        corpus: the documents it was fitted to; without it the record has only their names and topics.
        title: of the collection.
    """
    check_is_fitted(model)
    recipe = model.recipe_ or (None if corpus is None else corpus.recipe)
    weights = np.asarray(model.topic_sums_ @ model.components_.astype(np.float64), dtype=np.float64)
    credit, tag_words = np.empty(0, dtype=np.float32), sp.csr_array((len(model.tag_names_), len(weights)))
    if corpus is not None:
        corpus = training_documents(model, corpus)
        weights = np.asarray(corpus.counts.sum(0, dtype=np.float64)).ravel()
        credit, tag_words = _credits(model, corpus)
    scores = getattr(model, "pilot_", None)  # of a fit with tags
    facts = {"iterations": float(model.n_iter_)}
    facts |= {f"pilot_{name}": float(value) for name, value in (scores._asdict() if scores else {}).items()}
    facts |= {} if corpus is None else _facts(model, corpus)
    given = model.get_params(deep=False)
    parameters = {name: repr(v) if isinstance(v, Preset) else plain_value(v) for name, v in given.items()}
    shown = (bool, int, float, str, NoneType)
    data = TopicData(
        title=title or "Untitled collection",
        model=type(model).__name__,
        parameters={name: value for name, value in parameters.items() if isinstance(value, shown)},
        facts=facts,
        words=tuple(model.vocabulary_),
        word_tokens=weights,
        topic_word=np.asarray(model.components_, dtype=np.float32),
        topic_share=model.topic_shares(),
        topic_words=model.listed_words(CANDIDATES).astype(np.int32),
        coherence=np.empty(0) if corpus is None else np.nan_to_num(model.coherence(corpus)),
        tags=_tag_table(model, tag_words, weights),
        documents=_document_table(model, corpus, credit, recipe),
        names=model.topic_names(),
        background=model.background_topics(),
        recipe=recipe,
        fitted=model.fitted_,
        visual=model.visual_ is not None,
    )
    return replace(data, findings=findings_of(data))


def training_documents(model: Any, corpus: Corpus) -> Corpus:
    """Return the corpus that a model was fitted to in its columns; any other corpus is an `InputError`."""
    if tuple(corpus.ids) != tuple(model.doc_ids_):
        raise InputError(
            f"this corpus ({corpus.n_docs} documents) is not the one the model was fitted to "
            f"({len(model.doc_ids_)} documents); give that one"
        )
    return in_columns(corpus, model.vocabulary_, model.tag_names_)


def _credits(model: Any, corpus: Corpus) -> tuple[Float32, CSR]:
    """Return p(tag | word, document), flat, and the tokens of each word credited to each tag, CSR (T, W)."""
    shape = (corpus.n_tags, corpus.n_words)
    nothing = np.empty(0, dtype=np.float32), sp.csr_array(shape)
    if not corpus.n_tags or not hasattr(model, "explain"):
        return nothing
    graph = build_graph(corpus.counts, corpus.tags)
    if isinstance(model, TTM):
        shares = np.concatenate(list(model.credit_shares(corpus)), dtype=np.float32)
    else:
        shares = np.asarray(model.explain(corpus).credit, dtype=np.float32)
    if len(shares) != first_claims(graph)[-1]:  # the model has another kind of credit table
        return nothing
    offsets, words, tokens = credited_tokens(graph, shares)
    return shares, sp.csr_array((tokens, words, offsets), shape=shape)


def _facts(model: TopicModel, corpus: Corpus) -> dict[str, float]:
    """Return the tokens, and the training perplexity by document completion, with and without topics."""
    facts = {"tokens": float(corpus.counts.sum(dtype=np.float64))}
    rows = np.unique(np.linspace(0, corpus.n_docs - 1, min(corpus.n_docs, _SCORED)).astype(np.int64))
    scored = corpus.select(rows)
    if not np.issubdtype(scored.counts.dtype, np.integer):
        return facts
    _, held_out = completion(scored.counts, 0)  # the tokens that `perplexity` scores
    if not held_out.nnz:
        return facts
    total = holdout.unigram_log_likelihood(held_out, np.asarray(corpus.counts.sum(0)).ravel(), 1e-9)
    alone = holdout.perplexity(total, float(held_out.sum()))
    facts |= {"training_perplexity": model.perplexity(scored, seed=0), "scored_documents": float(len(rows))}
    return facts | {"perplexity_without_topics": alone}


def _tag_table(model: TopicModel, credited: CSR, weights: Float64) -> TagTable:
    T, K = len(model.tag_names_), model.components_.shape[0]
    n_docs = np.asarray(model.tag_docs_, dtype=np.int64)
    means = np.asarray(model.tag_means() if T else np.empty((0, K)), dtype=np.float64)
    totals = means.sum(1, keepdims=True)
    means = np.where(totals > 0, means / np.maximum(totals, 1e-300), 1.0 / K)
    named = {} if model.names_ is None else model.names_.thesaurus.labels(model.tag_names_)
    labels = tuple(map(named.get, model.tag_names_))
    best, sizes = _telling_words(credited, weights / max(weights.sum(), 1e-300))
    return TagTable(
        names=tuple(model.tag_names_),
        n_docs=n_docs,
        profiles=means.astype(np.float32),
        word_offsets=np.cumsum([0, *sizes], dtype=np.int64),
        word_index=credited.indices[best].astype(np.int32),
        word_credit=credited.data[best].astype(np.float32),
        tokens=np.asarray(credited.sum(1), dtype=np.float64).ravel(),
        labels=labels if any(labels) else None,
    )


def _telling_words(credited: CSR, probability: Float64) -> tuple[Int64, Int64]:
    """Return where the words that tell most about each tag are in the credits, CSR (T, W), and their numbers.

    The words of a tag are ordered by their share of the divergence from all words. Those with less credit
    than their share of all words are left out.
    """
    expected = np.log(np.maximum(probability, 1e-300))

    def telling(tags: tuple[int, int]) -> tuple[Int64, Int64]:
        first, part = int(credited.indptr[tags[0]]), credited[slice(*tags)]
        offsets, tokens = part.indptr.astype(np.int64), np.maximum(part.data, 1e-300)
        total = np.log(np.maximum(part.sum(1), 1e-300))
        lift = np.log(tokens) - np.repeat(total, np.diff(offsets)) - expected[part.indices]
        best = largest_of_rows(offsets, tokens * lift, WORDS_OF_A_TAG)
        kept = (best >= 0) & (lift[best] > 0) if len(lift) else best >= 0
        return first + best[kept], kept.sum(1)

    none = np.empty(0, dtype=np.int64)
    parts = results_of(telling, list(document_ranges(np.diff(credited.indptr), _PAIRS)))
    best, sizes = map(np.concatenate, zip((none, none), *parts, strict=True))
    return best, sizes


def _document_table(
    model: TopicModel, corpus: Corpus | None, credit: Float32, recipe: TextRecipe | None
) -> DocumentTable:
    shapes = [(len(model.doc_ids_), len(names)) for names in (model.tag_names_, model.vocabulary_)]
    tags, counts = map(sp.csr_array, shapes) if corpus is None else (corpus.tags, corpus.counts)
    texts = None if corpus is None else corpus.texts
    if texts is not None:
        texts = tuple(normalised_text(text, recipe or ANY_WORDS) for text in texts)
    return DocumentTable(
        ids=tuple(model.doc_ids_),
        topics=np.asarray(model.doc_topic_, dtype=np.float32),
        tag_offsets=tags.indptr.astype(np.int64),
        tag_index=tags.indices.astype(np.int32),
        word_offsets=counts.indptr.astype(np.int64),
        word_index=counts.indices.astype(np.int32),
        word_count=counts.data.astype(np.float32),
        credit=credit,
        texts=texts,
        **{name: getattr(corpus, name, None) for name in METADATA.values()},
    )
