"""tagtopics: topic models for tagged collections.

    import tagtopics as tt

    corpus = tt.read_corpus("papers.jsonl", text="abstract", tags="authors")
    model = tt.TTM(n_topics=50, random_state=0).fit(corpus)
    model.explain(corpus.select([0]))

Names are imported on first use, so that `import tagtopics` and `tagtopics --help` are fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

__version__ = "0.2.0"

if TYPE_CHECKING:
    from pathlib import Path

    from tagtopics.analysis.audit.audit import audit as audit
    from tagtopics.analysis.choose.choose import choose_topics as choose_topics
    from tagtopics.analysis.choose.compare import compare as compare
    from tagtopics.analysis.effects.effects import effects as effects
    from tagtopics.analysis.effects.trends import trends as trends
    from tagtopics.baselines import ATM as ATM
    from tagtopics.baselines import RTM as RTM
    from tagtopics.baselines import LabeledLDA as LabeledLDA
    from tagtopics.bp.callbacks import Progress
    from tagtopics.corpus import Corpus, TextRecipe, read_corpus, write_jsonl
    from tagtopics.corpus import write_matrix_folder as write_matrix_folder
    from tagtopics.corpus.tokenizers import register_tokenizer as register_tokenizer
    from tagtopics.curation.edits import curate as curate
    from tagtopics.curation.edits import undo as undo
    from tagtopics.curation.guided import fit_curated as fit_curated
    from tagtopics.curation.journal import Curation as Curation
    from tagtopics.datasets import list_datasets as list_datasets
    from tagtopics.datasets import load_dataset
    from tagtopics.errors import CorpusWarning, InputError
    from tagtopics.evaluation import evaluate
    from tagtopics.explore.record.export import export as export
    from tagtopics.explore.record.export import export_tables as export_tables
    from tagtopics.explore.record.heat_maps import tag_maps as tag_maps
    from tagtopics.explore.record.to_topic_data import topic_data as topic_data
    from tagtopics.explore.report.html_report import ReportOptions as ReportOptions
    from tagtopics.explore.report.html_report import write_report as write_report
    from tagtopics.images.vocabulary import VisualVocabulary
    from tagtopics.models import LDA, TTM, MarkovTTM, Preset, TopicFit, TopicSettings, fit_topics
    from tagtopics.models.base import TopicModel as TopicModel
    from tagtopics.readers.encode import encode as encode
    from tagtopics.scale import fit_shards as fit_shards
    from tagtopics.scale import shard_corpus as shard_corpus
    from tagtopics.subjects.thesaurus import Thesaurus as Thesaurus
    from tagtopics.subjects.thesaurus import read_thesaurus as read_thesaurus
    from tagtopics.subjects.thesaurus import with_thesaurus as with_thesaurus

_HOMES = {
    "analysis.audit.audit": ("audit",),
    "analysis.choose.choose": ("choose_topics",),
    "analysis.choose.compare": ("compare",),
    "analysis.effects.effects": ("effects",),
    "analysis.effects.trends": ("trends",),
    "baselines": ("ATM", "LabeledLDA", "RTM"),
    "corpus": ("Corpus", "TextRecipe", "read_corpus", "write_jsonl", "write_matrix_folder"),
    "images.vocabulary": ("VisualVocabulary",),
    "subjects.thesaurus": ("Thesaurus", "read_thesaurus", "with_thesaurus"),
    "readers.encode": ("encode",),
    "corpus.tokenizers": ("register_tokenizer",),
    "datasets": ("list_datasets", "load_dataset"),
    "errors": ("CorpusWarning", "InputError"),
    "explore.report.html_report": ("ReportOptions", "write_report"),
    "bp.callbacks": ("Progress",),
    "models": ("LDA", "MarkovTTM", "Preset", "TTM", "TopicFit", "TopicSettings", "fit_topics"),
    "curation.edits": ("curate", "undo"),
    "curation.guided": ("fit_curated",),
    "curation.journal": ("Curation",),
    "scale": ("fit_shards", "shard_corpus"),
    "evaluation": ("evaluate",),
    "explore.record.export": ("export", "export_tables"),
    "explore.record.heat_maps": ("tag_maps",),
    "explore.record.to_topic_data": ("topic_data",),
}
"""The public names of each module; `load` is defined here."""

__all__ = [
    "LDA",
    "TTM",
    "Corpus",
    "CorpusWarning",
    "InputError",
    "MarkovTTM",
    "Preset",
    "Progress",
    "TextRecipe",
    "TopicFit",
    "TopicSettings",
    "VisualVocabulary",
    "evaluate",
    "fit_topics",
    "load",
    "load_dataset",
    "read_corpus",
    "write_jsonl",
]
"""The names of the core."""

LAYER_NAMES = tuple(name for names in _HOMES.values() for name in names if name not in __all__)
"""The names of layers, which are found here as well."""


def load(path: str | Path) -> TopicModel:
    """Return a model that `save` wrote; no code is run from it.

    Args:
        path: the folder of the model.

    Raises:
        InputError: if there is no model, it is damaged, or it was written by a newer version.
    """
    import_module("tagtopics.baselines")  # registers its estimators
    from tagtopics.models.persistence import load_model

    return load_model(path)


__getattr__ = lazy("tagtopics", _HOMES)


def __dir__() -> list[str]:
    return sorted({*__all__, *LAYER_NAMES, *(name for name in globals() if name.startswith("__"))})
