"""Write a generated corpus of any size as shards: `python -m benchmarks.generate_shards OUT --docs 1000000`.

Documents come from `make_large_corpus`, a chunk at a time: Zipfian words and tags, topics planted by tag. A
chunk draws more tokens than words are wanted, and each document keeps its first `words` different ones.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

import numpy as np
import scipy.sparse as sp

from benchmarks.large_corpus import make_large_corpus
from tagtopics.corpus.core import Corpus, canonical_counts, canonical_tags
from tagtopics.scale import ShardWriter
from tagtopics.scale.format import Manifest

CHUNK = 10_000


def generate(
    out: str,
    n_docs: int,
    *,
    n_words: int = 50_000,
    n_tags: int = 20_000,
    words_per_doc: int = 100,
    tags_per_doc: int = 4,
    n_topics: int = 100,
    seed: int = 0,
    shard_edges: int | None = None,
    overwrite: bool = False,
) -> Manifest:
    """Write `n_docs` documents with `words_per_doc` different words each, and `tags_per_doc` tags at most."""
    chunks = make_large_corpus(
        n_docs,
        words_per_doc=round(1.5 * words_per_doc),
        n_words=n_words,
        n_tags=n_tags,
        tags_per_doc=tags_per_doc,
        seed=seed,
        n_topics=n_topics,
        chunk_size=CHUNK,
    )
    rng = np.random.default_rng([seed, n_docs])
    vocabulary, tag_names = [f"word{w}" for w in range(n_words)], [f"tag{t}" for t in range(n_tags)]
    done = 0
    with ShardWriter(out, vocabulary, tag_names, shard_edges=shard_edges, overwrite=overwrite) as writer:
        for counts, tags in chunks:
            ids = tuple(f"doc{d}" for d in range(done, done + counts.shape[0]))
            counts = canonical_counts(thin(counts, words_per_doc, rng))
            corpus = Corpus(
                counts=counts,
                tags=canonical_tags(tags),
                vocabulary=tuple(vocabulary),
                tag_names=tuple(tag_names),
                ids=ids,
            )
            writer.add(corpus)
            done += len(ids)
        return writer.close()


def thin(counts: sp.csr_array, most: int, rng: np.random.Generator) -> sp.csr_array:
    """Return counts (D, W) with at most so many different words in a document, chosen at random."""
    lengths = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((rng.random(counts.nnz, dtype=np.float32), rows))
    rank = np.arange(counts.nnz) - np.repeat(counts.indptr[:-1], lengths)
    kept = np.sort(order[rank < most])
    indptr = np.concatenate([[0], np.cumsum(np.minimum(lengths, most))])
    return sp.csr_array((counts.data[kept], counts.indices[kept], indptr), shape=counts.shape)


def main() -> None:
    """Generate, and print what it took as one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out")
    parser.add_argument("--docs", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=50_000, help="size of the vocabulary")
    parser.add_argument("--tags", type=int, default=20_000)
    parser.add_argument("--words-per-doc", type=int, default=100)
    parser.add_argument("--tags-per-doc", type=int, default=4)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shard-edges", type=int, default=None)
    parser.add_argument("--force", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    manifest = generate(
        given.out,
        given.docs,
        n_words=given.words,
        n_tags=given.tags,
        words_per_doc=given.words_per_doc,
        tags_per_doc=given.tags_per_doc,
        n_topics=given.topics,
        seed=given.seed,
        shard_edges=given.shard_edges,
        overwrite=given.force,
    )
    json.dump(
        {
            "n_docs": manifest.n_docs,
            "n_edges": manifest.n_edges,
            "n_slots": manifest.n_slots,
            "n_tokens": manifest.n_tokens,
            "n_shards": len(manifest.shards),
            "bytes": sum(shard.bytes for shard in manifest.shards),
            "seconds": round(time.perf_counter() - began, 1),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        },
        sys.stdout,
        indent=1,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
