"""SVMlight files, as LIBSVM's multi-label collections have them: `tag,tag word:count word:count ...`."""

from __future__ import annotations

from pathlib import Path

from tagtopics.corpus.counted import MAX_UNNAMED, Counted, names_beside
from tagtopics.corpus.tags import TagLists
from tagtopics.errors import InputError


def read_svmlight(path: Path, n_words: int | None) -> Counted:
    """Read a multi-label SVMlight file; label numbers are tags, `NAME.vocab` may name the words.

    Words may be numbered from 0 or from 1; a file in which word 0 never occurs is taken to count from 1.

    Args:
        path: the file.
        n_words: the number of words, where the caller knows it.
    """
    from sklearn.datasets import load_svmlight_file

    if not path.is_file():
        raise InputError(f"no such file: {path}")
    vocabulary = names_beside(path, ".vocab")
    n_words = n_words if vocabulary is None else len(vocabulary)
    try:
        counts, labels = load_svmlight_file(str(path), n_features=n_words, multilabel=True)
    except (ValueError, OverflowError, OSError, EOFError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as SVMlight ({reason})") from None
    if counts.shape[1] > MAX_UNNAMED:
        raise InputError(f"{path}: word number {counts.shape[1]} is too large; at most {MAX_UNNAMED} words")
    tags = [[_number(label) for label in of_doc] for of_doc in labels]
    distinct = [list(dict.fromkeys(of_doc)) for of_doc in tags]
    repeated = sum(map(len, tags)) - sum(map(len, distinct))
    return Counted(source=str(path), counts=counts, vocabulary=vocabulary, tags=TagLists(distinct, repeated))


def _number(label: float) -> str:
    return str(int(label)) if float(label).is_integer() else str(float(label))
