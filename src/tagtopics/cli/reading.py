"""What the user names on the command line, as a corpus or a model."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics.cli.options import ColumnOptions, Shown, WordOptions
from tagtopics.cli.output import clean_line, error_console, note
from tagtopics.errors import CorpusWarning, InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


def read_training(
    source: str, columns: ColumnOptions, words: WordOptions, shown: Shown, visual: Any = None
) -> Corpus:
    """Read the corpus that a model is to learn from, and note what was decided on the way."""
    recipe = text_recipe(words)
    if source and Path(source).exists():
        corpus = _read(source, columns, recipe=recipe, visual=visual)
    else:
        if columns != ColumnOptions() or words != WordOptions():
            note(f"{source} is a data set, which comes as it is: reading options have no use")
        corpus = load_named(source, shown)
    for line in corpus.notices:
        note(line)
    return corpus


def read_documents(source: str, columns: ColumnOptions, model: TopicModel, shown: Shown) -> Corpus:
    """Read documents for a fitted model: its words, its tags, its recipe."""
    if source != "-" and not (source and Path(source).exists()):
        corpus = _in_columns_of(load_named(source, shown), model)
    else:
        corpus = _read(
            _standard_input() if source == "-" else source,
            columns,
            recipe=model.recipe_,
            vocabulary=model.vocabulary_,
            tag_names=model.tag_names_ or None,
            visual=_visual_of(model, source),
        )
        _refuse_text(corpus, model, source)
        for line in corpus.notices:
            note(line)
    if not model.tag_names_:
        corpus = replace(corpus, tags=corpus.tags[:, :0], tag_names=())
    if corpus.counts.nnz == 0:
        raise InputError(f"{source}: has no word that the model knows; is it the right model?")
    return corpus


def read_more(source: str, columns: ColumnOptions, model: TopicModel, shown: Shown) -> Corpus:
    """Read documents that a model is to learn from: its recipe, but words and tags may be new."""
    from tagtopics.corpus.align import admit_words

    recipe = model.recipe_
    if source != "-" and not (source and Path(source).exists()):
        corpus = load_named(source, shown)
    else:
        corpus = _read(
            _standard_input() if source == "-" else source,
            columns,
            recipe=None if recipe is None else replace(recipe, min_df=1, max_df=1.0, max_words=None),
            vocabulary=None if model.visual_ is None else model.vocabulary_,
            visual=_visual_of(model, source),
        )
        _refuse_text(corpus, model, source)
        if recipe is not None and corpus.texts is not None:
            corpus = admit_words(corpus, model.vocabulary_, recipe)
        for line in corpus.notices:
            note(line)
    if not set(corpus.vocabulary) & set(model.vocabulary_):
        note(f"{source} has no word that the model knew; is it the right model?")
    return corpus


def _refuse_text(corpus: Corpus, model: TopicModel, source: str) -> None:
    if model.recipe_ is None and corpus.texts is not None and not Path(source).is_dir():
        raise InputError(
            f"{source}: is text, but the model was fitted on counts and has no recipe for text; "
            "give words with their counts"
        )


def _visual_of(model: TopicModel, source: str) -> Any:
    """Return how the model sees images; where it sees none, images are the wrong input."""
    from tagtopics.corpus.images.decode import holds_images

    if model.visual_ is None and source != "-" and holds_images(Path(source)):
        raise InputError(f"{source}: holds images, but the model was not fitted on images")
    return model.visual_


def load(path: str) -> TopicModel:
    """Load a model."""
    import tagtopics

    return tagtopics.load(path)


def load_tagged(path: str) -> TTM:
    """Load a model that knows tags."""
    model = load(path)
    if not hasattr(model, "tag_profile"):
        raise InputError(f"{path}: {type(model).__name__} says nothing about tags; fit --model ttm")
    if not model.tag_names_:
        raise InputError(f"{path}: this model was fitted to documents without tags")
    return model


def load_named(name: str, shown: Shown) -> Corpus:
    """Load a data set by its name."""
    if "/" in name or "\\" in name or "." in name or not name.strip():
        raise InputError(f"no such file or folder: {name!r}")
    from tagtopics.datasets import load_dataset

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # they are the corpus's notices, too
        if shown.quiet or not sys.stderr.isatty():
            return load_dataset(name)
        with error_console().status(f"Loading {clean_line(name)}") as status:
            return load_dataset(
                name, lambda file, done, size: status.update(f"Fetching {file} {done:,}/{size:,}")
            )


def _read(source: Any, columns: ColumnOptions, **terms: Any) -> Corpus:
    from tagtopics.corpus import read_corpus

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # they are the corpus's notices, too
        return read_corpus(
            source,
            text=one_or_list(columns.text),
            tags=one_or_list(columns.tags),
            id=columns.id,
            label=columns.label,
            format=columns.format,
            tag_separator=columns.tag_separator,
            **terms,
        )


def one_or_list(names: Sequence[str] | None) -> str | list[str] | None:
    """Return the columns of a repeated option the way `read_corpus` takes them."""
    if not names:
        return None
    return names[0] if len(names) == 1 else list(names)


def text_recipe(words: WordOptions) -> TextRecipe:
    """Return the recipe that the options ask for."""
    from tagtopics.corpus import TextRecipe

    given: dict[str, Any] = {"max_words": words.max_words, "token_pattern": words.token_pattern}
    given |= {name: getattr(words, name) for name in ("min_df", "max_df") if getattr(words, name) is not None}
    return TextRecipe(
        lowercase=words.lowercase,
        ngram_range=(1, words.ngrams),
        stop_words=_stop_words(words.stop_words),
        **given,
    )


def _stop_words(value: str) -> str | tuple[str, ...] | None:
    if value == "english":
        return value
    if value == "none":
        return None
    from tagtopics.corpus.files import name_lines

    try:
        return tuple(word.strip() for word in name_lines(Path(value)) if word.strip())
    except InputError as error:
        raise InputError(f"--stop-words is english, none or a file: {error}") from None


def _standard_input() -> list[dict[str, Any]]:
    """Return the JSON objects of standard input, one a line."""
    rows = []
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"standard input, line {number}: not valid JSON ({error})") from None
        if not isinstance(row, dict):
            raise InputError(f"standard input, line {number}: expected a JSON object")
        rows.append(row)
    if not rows:
        raise InputError("standard input: no documents")
    return rows


def _in_columns_of(corpus: Corpus, model: TopicModel) -> Corpus:
    """Return a corpus in the words and tags of a model."""
    from tagtopics.models.inputs import align_tags, align_words

    tag_names = model.tag_names_ or corpus.tag_names
    return replace(
        corpus,
        counts=align_words(corpus, model.vocabulary_),
        tags=align_tags(corpus, tag_names),
        vocabulary=model.vocabulary_,
        tag_names=tag_names,
    )
