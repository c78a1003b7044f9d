"""Vectors of texts by an encoder: a function, or a model of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError


def encode(
    texts: Sequence[str] | Corpus, encoder: str | Callable[[list[str]], Any], *, download: bool = False
) -> Float32:
    """Return vectors (D, n) of texts, for `fit(..., vectors=...)`.

    Args:
        texts: the texts, or a corpus that was read from texts.
        encoder: a function from a list of texts to vectors, or the name or folder of a model of
            sentence-transformers, which has to be installed.
        download: whether a model that is not on this computer may be downloaded.
    """
    found = texts.texts if isinstance(texts, Corpus) else texts
    if found is None or isinstance(found, str):
        raise InputError("encode: give a list of texts, or a corpus that was read from texts")
    function = _load(encoder, download) if isinstance(encoder, str) else encoder
    vectors = np.asarray(function(list(found)), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(found):
        raise InputError(
            f"encode: the encoder gave {vectors.shape} for {len(found):,} texts, not one row each"
        )
    return vectors


def _load(name: str, download: bool) -> Callable[[list[str]], Any]:
    """Return the function of a model of sentence-transformers."""
    try:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found,unused-ignore]

        encoder: Callable[[list[str]], Any] = SentenceTransformer(name, local_files_only=not download).encode
        return encoder
    except ImportError:
        problem = "an encoder given by its name needs: pip install sentence-transformers"
    except (OSError, ValueError):
        problem = f"no model {name[:80]!r} found; "
        problem += "check the name" if download else "give its folder, or download=True"
    raise InputError(f"encode: {problem}")
