"""SVMlight files, as LIBSVM's multi-label collections have them: `tag,tag word:count word:count ...`."""

from __future__ import annotations

from pathlib import Path

from tagtopics.corpus.core import Documents
from tagtopics.corpus.formats.text_files import MAX_UNNAMED, names_beside, open_bytes
from tagtopics.corpus.recipe import ReadOptions
from tagtopics.corpus.tags import read_tags
from tagtopics.errors import InputError


def read_svmlight(path: Path, options: ReadOptions) -> Documents:
    """Read a multi-label SVMlight file; label numbers are tags, `NAME.vocab` may name the words.

    Words may be numbered from 0 or from 1; if word 0 never occurs, they are taken to be numbered from 1.
    """
    from sklearn.datasets import load_svmlight_file

    if not path.is_file():
        raise InputError(f"no such file: {path}")
    vocabulary = names_beside(path, ".vocab")
    known = options.vocabulary if vocabulary is None else vocabulary
    n_words = None if known is None else len(known)
    try:
        with open_bytes(path) as file:
            counts, labels = load_svmlight_file(file, n_features=n_words, multilabel=True)
    except InputError:
        raise
    except (ValueError, OverflowError, OSError, EOFError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as SVMlight ({reason})") from None
    if counts.shape[1] > MAX_UNNAMED:
        raise InputError(f"{path}: word number {counts.shape[1]} is too large; at most {MAX_UNNAMED} words")
    tags = read_tags([list(of_doc) for of_doc in labels], where=lambda row: f"{path}, document {row}")
    return Documents(source=str(path), counts=counts, vocabulary=vocabulary, tags=tags)
