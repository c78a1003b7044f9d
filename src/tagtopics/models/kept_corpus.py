"""The corpus that a model was fitted to, kept in the model's folder, for viewers."""

from __future__ import annotations

import warnings
from pathlib import Path

from tagtopics.corpus import Corpus, read_corpus, write_matrix_folder
from tagtopics.errors import CorpusWarning

_FOLDER = "corpus"


def keep_corpus(corpus: Corpus, model_path: str | Path) -> None:
    """Write the corpus, as a matrix folder, into the folder of a model that was saved."""
    write_matrix_folder(corpus, Path(model_path) / _FOLDER)


def kept_corpus(model_path: str | Path) -> Corpus | None:
    """Return the corpus that `keep_corpus` wrote, or None where the model was saved without."""
    folder = Path(model_path) / _FOLDER
    if not folder.is_dir():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # said when the corpus was first read
        return read_corpus(folder)
