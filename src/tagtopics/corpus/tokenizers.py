"""Named tokenizers: a recipe stores the name, so new texts are treated like those of the fit."""

from __future__ import annotations

import os
import warnings
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from tagtopics.corpus.core import Tokenizer
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.files import code_folder

# Packages for languages without spaces between words; each is an extra with the name of the language.
_PACKAGES = {"chinese": "jieba", "japanese": "janome.tokenizer", "thai": "pythainlp.tokenize"}
_registered: dict[str, Tokenizer] = {}


def register_tokenizer(name: str, function: Tokenizer) -> None:
    """Give a function from text to words a name, for `TextRecipe(tokenizer=name)`.

    A model stores the name. To read new texts with a loaded model, register the function first.

    Args:
        name: a new name; "chinese", "japanese" and "thai" are taken.
        function: takes a text, returns its words in order.
    """
    if not name.isidentifier() or name in _PACKAGES:
        raise InputError(f"register_tokenizer: {name[:40]!r} is taken, or not a name of letters and digits")
    _registered[name] = function


def find_tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer by its name."""
    if name in _PACKAGES:
        return _segmenter(name)
    if name not in _registered:
        known = ", ".join([*_PACKAGES, *_registered])
        raise InputError(
            f"no tokenizer {name[:40]!r}; choose from {known}, or name your own with register_tokenizer"
        )
    return _registered[name]


@lru_cache(maxsize=3)
def _segmenter(language: str) -> Tokenizer:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package: Any = import_module(_PACKAGES[language])
    except ImportError:
        raise MissingExtraError(f"{language.title()} text", language) from None
    if language == "thai":
        return partial(package.word_tokenize, engine="newmm")
    segmenter = package.Tokenizer()
    if language == "japanese":
        return partial(segmenter.tokenize, wakati=True)
    package.setLogLevel(60)
    segmenter.tmp_dir = str(code_folder() or os.devnull)  # it loads what it finds there
    segmenter.initialize()
    return partial(segmenter.cut)
