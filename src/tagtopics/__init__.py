"""tagtopics: topic models for tagged collections.

    import tagtopics as tt

    corpus = tt.read_corpus("papers.jsonl", text="abstract", tags="authors")
    model = tt.TTM(n_topics=50, random_state=0).fit(corpus)
    model.explain(corpus.select([0]))

Names are imported on first use, so that `import tagtopics` and `tagtopics --help` are fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pathlib import Path

    from tagtopics.analysis.audit.audit import audit
    from tagtopics.analysis.choose.choose import choose_topics
    from tagtopics.analysis.choose.compare import compare
    from tagtopics.analysis.effects.effects import effects
    from tagtopics.analysis.effects.trends import trends
    from tagtopics.baselines import ATM, RTM, SML, VBLDA, GibbsLDA, LabeledLDA
    from tagtopics.bp.callbacks import Progress
    from tagtopics.bp.checkpoint import Checkpoint, load_checkpoint
    from tagtopics.corpus import Corpus, TextRecipe, read_corpus, write_jsonl, write_matrix_folder
    from tagtopics.corpus.tokenizers import register_tokenizer
    from tagtopics.curation.edits import curate, undo
    from tagtopics.curation.guided import fit_curated
    from tagtopics.datasets import list_datasets, load_dataset, make_tagged_corpus
    from tagtopics.errors import CorpusWarning, InputError
    from tagtopics.evaluation import evaluate
    from tagtopics.explore import write_report
    from tagtopics.explore.record.export import export
    from tagtopics.explore.record.heat_maps import tag_maps
    from tagtopics.explore.record.notebook import plot_tags, plot_topic, plot_topics
    from tagtopics.explore.record.tables import export_tables
    from tagtopics.explore.record.to_topic_data import topic_data
    from tagtopics.images.vocabulary import VisualVocabulary
    from tagtopics.models import LDA, TTM, MarkovTTM, Preset
    from tagtopics.models.base import TopicModel
    from tagtopics.models.journal import Curation
    from tagtopics.scale import fit_shards, shard_corpus
    from tagtopics.subjects.thesaurus import Thesaurus, read_thesaurus, with_thesaurus

_HOMES = {
    name: f"tagtopics.{home}"
    for home, names in {
        "analysis.audit.audit": ("audit",),
        "analysis.choose.choose": ("choose_topics",),
        "analysis.choose.compare": ("compare",),
        "analysis.effects.effects": ("effects",),
        "analysis.effects.trends": ("trends",),
        "baselines": ("ATM", "GibbsLDA", "LabeledLDA", "RTM", "SML", "VBLDA"),
        "corpus": ("Corpus", "TextRecipe", "read_corpus", "write_jsonl", "write_matrix_folder"),
        "images.vocabulary": ("VisualVocabulary",),
        "subjects.thesaurus": ("Thesaurus", "read_thesaurus", "with_thesaurus"),
        "corpus.tokenizers": ("register_tokenizer",),
        "datasets": ("list_datasets", "load_dataset", "make_tagged_corpus"),
        "errors": ("CorpusWarning", "InputError"),
        "explore": ("write_report",),
        "bp.callbacks": ("Progress",),
        "bp.checkpoint": ("Checkpoint", "load_checkpoint"),
        "models": ("LDA", "MarkovTTM", "Preset", "TTM"),
        "curation.edits": ("curate", "undo"),
        "curation.guided": ("fit_curated",),
        "models.journal": ("Curation",),
        "scale": ("fit_shards", "shard_corpus"),
        "evaluation": ("evaluate",),
        "explore.record.export": ("export",),
        "explore.record.heat_maps": ("tag_maps",),
        "explore.record.notebook": ("plot_tags", "plot_topic", "plot_topics"),
        "explore.record.tables": ("export_tables",),
        "explore.record.to_topic_data": ("topic_data",),
    }.items()
    for name in names
}
"""The module of each public name; `load` is defined here."""

__all__ = [
    "ATM",
    "LDA",
    "RTM",
    "SML",
    "TTM",
    "VBLDA",
    "Checkpoint",
    "Corpus",
    "CorpusWarning",
    "Curation",
    "GibbsLDA",
    "InputError",
    "LabeledLDA",
    "MarkovTTM",
    "Preset",
    "Progress",
    "TextRecipe",
    "Thesaurus",
    "VisualVocabulary",
    "audit",
    "choose_topics",
    "compare",
    "curate",
    "effects",
    "evaluate",
    "export",
    "export_tables",
    "fit_curated",
    "fit_shards",
    "list_datasets",
    "load",
    "load_checkpoint",
    "load_dataset",
    "make_tagged_corpus",
    "plot_tags",
    "plot_topic",
    "plot_topics",
    "read_corpus",
    "read_thesaurus",
    "register_tokenizer",
    "shard_corpus",
    "tag_maps",
    "topic_data",
    "trends",
    "undo",
    "with_thesaurus",
    "write_jsonl",
    "write_matrix_folder",
    "write_report",
]


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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tagtopics' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
