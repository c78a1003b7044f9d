"""Corpora of tagged documents: readers, writers and splits."""

from tagtopics.corpus.core import Corpus, ReadOptions, canonical_counts, canonical_tags, tag_matrix
from tagtopics.corpus.read import read_corpus
from tagtopics.corpus.recipe import TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.corpus.splits import completion, train_test
from tagtopics.corpus.write import write_jsonl, write_matrix_folder

__all__ = [
    "Corpus",
    "ReadOptions",
    "TextRecipe",
    "canonical_counts",
    "canonical_tags",
    "completion",
    "read_corpus",
    "recipe_from_json",
    "recipe_to_json",
    "tag_matrix",
    "train_test",
    "write_jsonl",
    "write_matrix_folder",
]
