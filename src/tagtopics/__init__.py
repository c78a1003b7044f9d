"""tagtopics: topic models for tagged collections.

    import tagtopics as tt

    corpus = tt.read_corpus("papers.jsonl", text="abstract", tags="authors")
    model = tt.TTM(n_topics=50, random_state=0).fit(corpus)
    model.explain(corpus.select([0]))

Names load on first use, so that the import itself, and `tagtopics --help`, stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus, TextRecipe, read_corpus, write_jsonl, write_matrix_folder
    from tagtopics.corpus.images.vocabulary import VisualVocabulary
    from tagtopics.datasets import list_datasets, load_dataset, make_tagged_corpus
    from tagtopics.errors import CorpusWarning, InputError
    from tagtopics.models import ATM, LDA, RTM, TTM, LabeledLDA
    from tagtopics.models.persistence import load_model as load

_HOMES = {
    "ATM": "tagtopics.models",
    "Corpus": "tagtopics.corpus",
    "CorpusWarning": "tagtopics.errors",
    "InputError": "tagtopics.errors",
    "LDA": "tagtopics.models",
    "LabeledLDA": "tagtopics.models",
    "RTM": "tagtopics.models",
    "TTM": "tagtopics.models",
    "TextRecipe": "tagtopics.corpus",
    "VisualVocabulary": "tagtopics.corpus.images.vocabulary",
    "list_datasets": "tagtopics.datasets",
    "load": "tagtopics.models.persistence:load_model",
    "load_dataset": "tagtopics.datasets",
    "make_tagged_corpus": "tagtopics.datasets",
    "read_corpus": "tagtopics.corpus",
    "write_jsonl": "tagtopics.corpus",
    "write_matrix_folder": "tagtopics.corpus",
}

__all__ = [
    "ATM",
    "LDA",
    "RTM",
    "TTM",
    "Corpus",
    "CorpusWarning",
    "InputError",
    "LabeledLDA",
    "TextRecipe",
    "VisualVocabulary",
    "list_datasets",
    "load",
    "load_dataset",
    "make_tagged_corpus",
    "read_corpus",
    "write_jsonl",
    "write_matrix_folder",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tagtopics' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
