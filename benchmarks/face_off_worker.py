"""One fit of the face-off, in any environment that has NumPy, SciPy and the system: see `face_off`.

    python face_off_worker.py SYSTEM FOLDER SEED TOPICS OUT

FOLDER has what `face_off prepare` wrote. OUT.json gets processor seconds, peak memory and the ten words of
each topic, OUT.npz the main topic of each document and, if the system has one, p(word | topic).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

N = 10  # words of a topic


PACKAGES = {"tagtopics", "scikit-learn", "tomotopy", "topica", "bertopic", "turftopic", "fastopic"}


class Data(NamedTuple):
    """The half of a collection that topics are learned from."""

    counts: Any  # CSR (D, W)
    words: list[str]  # (W,) without spaces
    vectors: Any  # (D, n) or None
    encoder: str  # the folder of the sentence encoder, for systems that encode words
    seed: int
    topics: int

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens of each document."""
        rows = (self.counts[d : d + 1] for d in range(self.counts.shape[0]))
        return [[self.words[w] for w in np.repeat(row.indices, row.data)] for row in rows]

    @property
    def texts(self) -> list[str]:
        """The documents as text, which `vectorizer` turns into the same counts."""
        return [" ".join(tokens) for tokens in self.tokens]

    def vectorizer(self) -> Any:
        """Return scikit-learn's counter of words, with the vocabulary of the collection."""
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer(vocabulary=self.words, token_pattern=r"\S+", lowercase=False)

    def columns(self, words: Any) -> Any:
        """Return the columns of words."""
        column = {word: w for w, word in enumerate(self.words)}
        return np.array([column[word] for word in words])

    def model(self) -> Any:
        """Return the sentence encoder."""
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(self.encoder, device="cpu")


class Found(NamedTuple):
    """What a system found."""

    lists: Any  # (K, 10) columns of words
    labels: Any  # (D,) main topic
    phi: Any = None  # (K, W) p(word | topic)


def best(weights: Any) -> Any:
    """Return the columns with the largest weights of each row."""
    return np.argsort(-np.asarray(weights), axis=1, kind="stable")[:, :N]


def ours(data: Data, vectors: Any = None) -> Found:
    """Return our topics, by default settings."""
    import tagtopics as tt

    names, ids = tuple(data.words), tuple(map(str, range(data.counts.shape[0])))
    empty = sp.csr_array((data.counts.shape[0], 0))
    corpus = tt.Corpus(counts=data.counts, tags=empty, vocabulary=names, tag_names=(), ids=ids)
    model = tt.LDA(data.topics, random_state=data.seed).fit_topics(corpus, vectors=vectors)
    return Found(model.listed_words(N), model.doc_topic_.argmax(1), model.components_)


def ours_with_vectors(data: Data) -> Found:
    """Return our topics of documents with vectors."""
    return ours(data, data.vectors)


def nmf(data: Data) -> Found:
    """Return the factors of TF-IDF."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    model = NMF(data.topics, init="nndsvd", random_state=data.seed)
    shares = model.fit_transform(TfidfTransformer().fit_transform(data.counts))
    return Found(best(model.components_), shares.argmax(1))


def tomotopy(data: Data) -> Found:
    """Return the topics of collapsed Gibbs sampling, 1,000 sweeps, with learned alpha."""
    import tomotopy as tp

    model = tp.LDAModel(k=data.topics, seed=data.seed)
    tokens = data.tokens
    for row in tokens:
        model.add_doc(row or ["\0"])
    model.train(1000, workers=1)
    column = {word: w for w, word in enumerate(data.words)}
    phi = np.full((data.topics, len(data.words)), 1e-12)
    known = [column.get(word, -1) for word in model.used_vocabs]
    for k in range(data.topics):
        weights = model.get_topic_word_dist(k)
        phi[k, [w for w in known if w >= 0]] = weights[[i for i, w in enumerate(known) if w >= 0]]
    labels = [int(np.argmax(doc.get_topic_dist())) for doc in model.docs]
    return Found(best(phi), np.array(labels), phi)


def topica(data: Data) -> Found:
    """Return the topics of topica's sparse sampler, by default settings."""
    import topica as tc

    model = tc.LDA(data.topics, seed=data.seed)
    model.fit([row or ["\0"] for row in data.tokens], progress=False)
    column = {word: w for w, word in enumerate(data.words)}
    phi = np.full((data.topics, len(data.words)), 1e-12)
    found = np.asarray(model.topic_word)
    for i, word in enumerate(model.vocabulary):
        if word in column:
            phi[:, column[word]] = found[:, i]
    return Found(best(phi), np.asarray(model.doc_topic).argmax(1), phi)


def bertopic(data: Data) -> Found:
    """Return the clusters of BERTopic, reduced to the number of topics; outliers go to the nearest one."""
    from bertopic import BERTopic
    from umap import UMAP

    reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=data.seed)
    model = BERTopic(nr_topics=data.topics + 1, vectorizer_model=data.vectorizer(), umap_model=reduced)
    labels, _ = model.fit_transform(data.texts, embeddings=data.vectors)
    labels = np.array(labels)
    weights = model.c_tf_idf_.toarray()
    topics = sorted(set(labels.tolist()))
    lists = best(weights)[[i for i, t in enumerate(topics) if t >= 0]]
    if (labels < 0).any() and (labels >= 0).any():
        rows = labels >= 0
        means = np.array([data.vectors[labels == t].mean(0) for t in topics if t >= 0])
        labels[~rows] = (data.vectors[~rows] @ means.T).argmax(1)
    return Found(lists, labels)


def k_means(data: Data) -> Found:
    """Return k-means of the vectors, with the words of the largest class-based TF-IDF."""
    from sklearn.cluster import KMeans

    labels = KMeans(data.topics, n_init=3, random_state=data.seed).fit(data.vectors).labels_
    member = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    words = (member @ data.counts).toarray()
    rate = words / np.maximum(words.sum(1, keepdims=True), 1)
    return Found(best(rate * np.log1p(words.sum(1).mean() / np.maximum(words.sum(0), 1))), labels)


def key_nmf(data: Data) -> Found:
    """Return turftopic's KeyNMF."""
    from turftopic import KeyNMF

    model = KeyNMF(data.topics, encoder=data.model(), vectorizer=data.vectorizer(), random_state=data.seed)
    shares = model.fit_transform(data.texts, embeddings=data.vectors)
    return Found(data.columns(model.get_vocab())[best(model.components_)], shares.argmax(1))


def s3(data: Data) -> Found:
    """Return turftopic's semantic signal separation."""
    from turftopic import SemanticSignalSeparation

    model = SemanticSignalSeparation(
        data.topics, encoder=data.model(), vectorizer=data.vectorizer(), random_state=data.seed
    )
    shares = model.fit_transform(data.texts, embeddings=data.vectors)
    columns = data.columns(model.get_vocab())
    return Found(columns[best(model.components_)], np.asarray(shares).argmax(1))


class Counts(NamedTuple):
    """What FASTopic takes instead of its own preprocessing: the counts and the words of the collection."""

    data: Data

    def preprocess(self, texts: list[str]) -> dict[str, Any]:
        """Return the counts of the documents and their columns."""
        return {"train_bow": self.data.counts.astype(np.float32), "vocab": self.data.words}


def fastopic(data: Data) -> Found:
    """Return FASTopic's optimal transport between documents, topics and words."""
    import torch
    from fastopic import FASTopic

    np.random.seed(data.seed)  # noqa: NPY002 - it has no other seed
    torch.manual_seed(data.seed)
    model = FASTopic(data.topics, Counts(data), doc_embed_model=data.model(), device="cpu")
    _, shares = model.fit_transform(data.texts, preset_doc_embeddings=data.vectors)
    phi = model.get_beta()
    return Found(best(phi), np.asarray(shares).argmax(1), phi)


SYSTEMS: dict[str, Callable[[Data], Found]] = {
    "tagtopics": ours,
    "tagtopics + vectors": ours_with_vectors,
    "NMF of TF-IDF": nmf,
    "tomotopy": tomotopy,
    "topica": topica,
    "MiniLM + k-means": k_means,
    "BERTopic": bertopic,
    "KeyNMF": key_nmf,
    "S3": s3,
    "FASTopic": fastopic,
}
ENCODING = "encoding"  # what records of the vectors themselves are called
ENCODED = {"tagtopics + vectors", "MiniLM + k-means", "BERTopic", "KeyNMF", "S3", "FASTopic"}


def main(system: str, folder: str, seed: str, topics: str, out: str) -> None:
    """Fit one system and write what it found."""
    place = Path(folder)
    counts = sp.csr_array(sp.load_npz(place / "counts.npz"))
    order = np.random.default_rng(int(seed)).permutation(counts.shape[0])[::2]
    vectors = np.load(place / "vectors.npy")[order] if (place / "vectors.npy").exists() else None
    about = json.loads((place / "about.json").read_text())
    data = Data(
        sp.csr_array(counts[order]), about["words"], vectors, about["encoder"], int(seed), int(topics)
    )
    began = time.process_time()
    found = SYSTEMS[system](data)
    row = {
        "system": system,
        "corpus": place.name,
        "seed": int(seed),
        "topics": int(topics),
        "seconds": time.process_time() - began,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "versions": {one.name: one.version for one in distributions() if one.name in PACKAGES},
        "lists": np.asarray(found.lists).tolist(),
    }
    parts: dict[str, Any] = {"labels": np.asarray(found.labels)}
    if found.phi is not None:
        parts["phi"] = np.asarray(found.phi, dtype=np.float32)
    np.savez_compressed(f"{out}.npz", **parts)
    Path(f"{out}.json").write_text(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
