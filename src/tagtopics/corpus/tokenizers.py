"""Named tokenizers: a recipe stores the name, so new texts are treated like those of the fit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from tagtopics.corpus.core import Tokenizer
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.files import code_folder

_registered: dict[str, Tokenizer] = {}


def register_tokenizer(name: str, function: Tokenizer) -> None:
    """Give a function from text to words a name, for `TextRecipe(tokenizer=name)`.

    A model stores the name. To read new texts with a loaded model, register the function first.

    Args:
        name: a new name; "chinese", "japanese" and "thai" are taken.
        function: takes a text, returns its words in order.
    """
    if not name.isidentifier() or name in SEGMENTERS:
        raise InputError(f"register_tokenizer: {name[:40]!r} is taken, or not a name of letters and digits")
    _registered[name] = function


@lru_cache(maxsize=3)
def _segmenter(name: str) -> Tokenizer:
    return SEGMENTERS[name]()


def find_tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer by its name."""
    if name in SEGMENTERS:
        return _segmenter(name)
    if name not in _registered:
        known = ", ".join([*SEGMENTERS, *_registered])
        raise InputError(
            f"no tokenizer {name[:40]!r}; choose from {known}, or name your own with register_tokenizer"
        )
    return _registered[name]


def _chinese() -> Tokenizer:
    jieba = _import("jieba", "chinese")
    jieba.setLogLevel(60)
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = str(code_folder() or os.devnull)  # it loads what it finds there
    segmenter.initialize()
    return lambda text: segmenter.cut(text)


def _japanese() -> Tokenizer:
    segmenter = _import("janome.tokenizer", "japanese").Tokenizer()
    return lambda text: segmenter.tokenize(text, wakati=True)


def _thai() -> Tokenizer:
    tokenize = _import("pythainlp.tokenize", "thai").word_tokenize
    return lambda text: tokenize(text, engine="newmm")


def _import(module: str, language: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError:
        raise MissingExtraError(f"{language.title()} text", language) from None


# Tokenizers of languages without spaces between words.
SEGMENTERS: dict[str, Callable[[], Tokenizer]] = {"chinese": _chinese, "japanese": _japanese, "thai": _thai}
