"""From a corpus of any size to shards.

Tables are read as a stream, as `tagtopics.scale.streaming` tells; what comes as matrices is read whole, and
then cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tagtopics.corpus.assemble import Terms
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.read import find_source, read_corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import Tokenizer
from tagtopics.errors import InputError
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.streaming import STREAMS, MakeWriter, Progress, TableFile, take_stock, write_shards
from tagtopics.scale.writer import ShardWriter, check_target

MAX_CANDIDATES = 1_000_000
"""Different words, and different tags, that are held while counting; of more, rare ones are forgotten."""

_RUN = 10_000
"""Documents that are cut off a corpus in memory at a time."""


def shard_corpus(
    source: str | Path | Corpus,
    out: str | Path,
    *,
    text: str | Sequence[str] | None = None,
    tags: Any = None,
    id: str | None = None,
    recipe: TextRecipe | None = None,
    tokenizer: Tokenizer | None = None,
    vocabulary: Sequence[str] | None = None,
    tag_names: Sequence[str] | None = None,
    tag_separator: str | None = None,
    format: str | None = None,
    shard_edges: int | None = None,
    overwrite: bool = False,
    max_candidates: int = MAX_CANDIDATES,
    progress: Progress | None = None,
) -> ShardFolder:
    """Write a corpus of any size as a folder of shards.

    JSON lines, CSV, TSV and Parquet are read as a stream, in memory that does not grow with the number of
    documents; everything else that `read_corpus` reads, and a corpus, is cut after it was read. Labels, links
    and texts are not kept.

    Args:
        source: a path, or a corpus.
        out: the folder to make.
        text: the column of the text, or several; as in `read_corpus`.
        tags: the column of the tags, or several; as in `read_corpus`.
        id: the column of the documents' names.
        recipe: how text becomes words; None for `TextRecipe()`.
        tokenizer: a function from text to words in place of the recipe's own; it cannot be saved.
        vocabulary: the words to count, where they are known already.
        tag_names: the tags to keep, where they are known already.
        tag_separator: what divides the tags of one string; as in `read_corpus`.
        format: the format of a path, where its name does not tell.
        shard_edges: distinct words summed over the documents of a shard; None for four times the
            vocabulary, 1,000,000 at least.
        overwrite: replace the shards that are in the folder.
        max_candidates: different words, and different tags, that may be held while counting. Where there are
            more, rare ones are forgotten, and a notice says how rare.
        progress: is told the reading, the bytes read so far, and the bytes of the file.

    Returns:
        the folder, open for reading; its manifest has a notice for everything that was decided on the way.

    Raises:
        InputError: if the source cannot be read or the folder cannot be written; nothing is left of it.
    """
    target = check_target(out, overwrite=overwrite)
    if max_candidates < 2:
        raise InputError(f"max_candidates must be at least 2, not {max_candidates}")
    make = partial(ShardWriter, target, shard_edges=shard_edges, overwrite=overwrite)
    terms = Terms(
        recipe=recipe or TextRecipe(), tokenizer=tokenizer, vocabulary=vocabulary, tag_names=tag_names
    )
    if isinstance(source, Corpus):
        return _cut(source, make)
    path, kind = find_source(source, format)
    if kind in STREAMS:
        columns = Columns(text=text, tags=tags, id=id, separator=tag_separator)
        file = TableFile(path, kind, columns, progress)
        return write_shards(file, take_stock(file, terms, max_candidates), terms, make)
    corpus = read_corpus(
        path,
        text=text,
        tags=tags,
        id=id,
        recipe=recipe,
        tokenizer=tokenizer,
        vocabulary=vocabulary,
        tag_names=tag_names,
        tag_separator=tag_separator,
        format=kind,
    )
    return _cut(corpus, make)


def _cut(corpus: Corpus, make: MakeWriter) -> ShardFolder:
    """Write a corpus that is in memory."""
    with make(corpus.vocabulary, corpus.tag_names, recipe=corpus.recipe) as writer:
        writer.notices.extend(corpus.notices)
        for start in range(0, corpus.n_docs, _RUN):
            run = slice(start, start + _RUN)
            writer.add(corpus.counts[run], corpus.tags[run], corpus.ids[run])
    return ShardFolder.open(writer.folder)
