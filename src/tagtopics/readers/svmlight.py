"""Multi-label SVMlight: counts whose labels are tags."""

from __future__ import annotations

from pathlib import Path

from tagtopics.corpus.cells import read_tags
from tagtopics.corpus.core import Documents, ReadOptions
from tagtopics.corpus.formats.text_files import distinct_names, existing, open_bytes
from tagtopics.errors import InputError, one_line

MAX_UNNAMED = 2**22  # the most words that a file may imply without naming them


def read_svmlight(path: Path, options: ReadOptions) -> Documents:
    """Read a multi-label SVMlight file; label numbers are tags, `NAME.vocab` may name the words.

    Words may be numbered from 0 or from 1; if word 0 never occurs, they are taken to be numbered from 1.
    """
    from sklearn.datasets import load_svmlight_file

    bare = path.with_suffix("") if path.suffix == ".gz" else path
    beside = existing(bare.with_suffix(".vocab"), bare.with_name(bare.name + ".vocab"))
    vocabulary = None if beside is None else distinct_names(beside)
    known = options.vocabulary if vocabulary is None else vocabulary
    n_words = None if known is None else len(known)
    try:
        with open_bytes(path) as file:
            counts, labels = load_svmlight_file(file, n_features=n_words, multilabel=True)
    except InputError:
        raise
    except (ValueError, OverflowError, OSError, EOFError, MemoryError) as error:
        raise InputError(f"{path}: cannot be read as SVMlight ({one_line(error)})") from None
    if counts.shape[1] > MAX_UNNAMED:
        raise InputError(f"{path}: word number {counts.shape[1]} is too large; at most {MAX_UNNAMED} words")
    tags = read_tags([list(of_doc) for of_doc in labels], where=lambda row: f"{path}, document {row}")
    return Documents(source=str(path), counts=counts, vocabulary=vocabulary, tags=tags)
