"""What the user names on the command line, read as a corpus or a model."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagtopics.cli.options import ColumnOptions, ImageOptions, OutputOptions, TextOptions
from tagtopics.cli.output import clean_line, error_console, note
from tagtopics.errors import CorpusWarning, InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


# ------------------------------------------------------------------------------------------- models


def load(path: str) -> TopicModel:
    """Load a model."""
    from tagtopics.models.persistence import load_model

    return load_model(path)


def load_tagged(path: str) -> TTM:
    """Load a model that has tag profiles."""
    model = load(path)
    if not hasattr(model, "tag_profile"):
        raise InputError(f"{path}: {type(model).__name__} has no tag profiles; use fit --model ttm")
    if not model.tag_names_:
        raise InputError(f"{path}: this model was fitted to documents without tags")
    return model


# ---------------------------------------------------------------------------------------- documents


def read_training(
    source: str,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    visual: Any = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> Corpus:
    """Read the corpus to fit a model to, and note what the reader reports."""
    recipe = text_recipe(text)
    if is_path(source):
        with _stages(output, on_stage) as begin:
            corpus = _read(source, columns, recipe=recipe, visual=visual, on_stage=begin)
    else:
        if columns != ColumnOptions() or text != TextOptions():
            note(f"{source} is a data set: input and text options have no effect")
        corpus = load_named(source, output)
    _note_all(corpus)
    return corpus


def read_documents(source: str, columns: ColumnOptions, model: TopicModel, output: OutputOptions) -> Corpus:
    """Read documents in the words, tags and recipe of a fitted model, which must know some of their words."""
    corpus = read_texts(source, columns, model, output)
    if corpus.counts.nnz == 0:
        raise InputError(f"{source}: has no word that the model knows; is it the right model?")
    return corpus


def read_texts(source: str, columns: ColumnOptions, model: TopicModel, output: OutputOptions) -> Corpus:
    """Read documents in the words, tags and recipe of a fitted model, whether it knows their words or not."""
    if source != "-" and not is_path(source):
        corpus = _in_columns_of(load_named(source, output), model)
    else:
        corpus = _read(
            _standard_input() if source == "-" else source,
            columns,
            recipe=model.recipe_,
            vocabulary=model.vocabulary_,
            tag_names=model.tag_names_ or None,
            visual=_visual_of(model, source),
        )
        _require_counts(corpus, model, source)
        _note_all(corpus)
    if not model.tag_names_:
        corpus = replace(corpus, tags=corpus.tags[:, :0], tag_names=())
    return corpus


def read_more(source: str, columns: ColumnOptions, model: TopicModel, output: OutputOptions) -> Corpus:
    """Read documents to update a model with: its recipe, but with new words and tags."""
    from tagtopics.corpus.align import admit_words

    recipe = model.recipe_
    if source != "-" and not is_path(source):
        corpus = load_named(source, output)
    else:
        corpus = _read(
            _standard_input() if source == "-" else source,
            columns,
            recipe=None if recipe is None else replace(recipe, min_df=1, max_df=1.0, max_words=None),
            vocabulary=None if model.visual_ is None else model.vocabulary_,
            visual=_visual_of(model, source),
        )
        _require_counts(corpus, model, source)
        if recipe is not None and corpus.texts is not None:
            corpus = admit_words(corpus, model.vocabulary_, recipe)
        _note_all(corpus)
    if not set(corpus.vocabulary) & set(model.vocabulary_):
        note(f"{source} has no word that the model knew; is it the right model?")
    return corpus


def load_named(name: str, output: OutputOptions) -> Corpus:
    """Load a data set by name."""
    if "/" in name or "\\" in name or "." in name or not name.strip():
        raise InputError(f"no such file or folder: {name!r}")
    from tagtopics.datasets import load_dataset

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # the corpus has them as notices
        if output.quiet or not sys.stderr.isatty():
            return load_dataset(name)
        with error_console().status(f"Loading {clean_line(name)}") as status:
            return load_dataset(
                name, lambda file, done, size: status.update(f"Downloading {file} {done:,}/{size:,}")
            )


def is_path(source: str) -> bool:
    """Tell whether a source is an existing file or folder, rather than a data set name."""
    return bool(source) and Path(source).exists()


def is_image_file(source: str) -> bool:
    """Tell whether a source is a single image, not a folder of them."""
    from tagtopics.corpus.images.decode import is_image

    return source != "-" and Path(source).is_file() and is_image(Path(source))


# ------------------------------------------------------------------------------- options as settings


def text_recipe(options: TextOptions) -> TextRecipe:
    """Return the recipe that the options describe."""
    from tagtopics.corpus import TextRecipe

    given = {
        "min_df": options.min_df,
        "max_df": options.max_df,
        "max_words": options.max_words,
        "lowercase": options.lowercase,
        "token_pattern": options.token_pattern,
        "ngram_range": None if options.ngrams is None else (1, options.ngrams),
    }
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if options.stop_words is not None:
        chosen["stop_words"] = _stop_words(options.stop_words)
    return TextRecipe(**chosen)


def visual_vocabulary(source: str, images: ImageOptions, seed: int, output: OutputOptions) -> Any:
    """Return the vocabulary to learn from a folder of images; None if the source is something else."""
    from tagtopics.corpus.images.decode import holds_images

    if not (is_path(source) and holds_images(Path(source))):
        return None
    from tagtopics.corpus.images.vocabulary import VisualVocabulary, check_settings

    visual = VisualVocabulary(random_state=seed, verbose=sys.stderr.isatty() and not output.quiet)
    given = {
        "codebook_sizes": None if images.codebook is None else (images.codebook, images.codebook),
        "working_pixels": images.working_pixels,
        "on_error": images.on_error,
    }
    for name, value in given.items():
        if value is not None:
            setattr(visual, name, value)
    check_settings(visual)
    return visual


def column_settings(columns: ColumnOptions) -> dict[str, Any]:
    """Return the column options as `read_corpus` and `shard_corpus` take them."""
    return {
        "text": _one_or_list(columns.text),
        "tags": _one_or_list(columns.tags),
        "id": columns.id,
        "format": columns.format,
        "tag_separator": columns.tag_separator,
    }


def _one_or_list(names: Sequence[str] | None) -> str | list[str] | None:
    if not names:
        return None
    return names[0] if len(names) == 1 else list(names)


def _stop_words(value: str) -> str | tuple[str, ...] | None:
    if value == "english":
        return value
    if value == "none":
        return None
    from tagtopics.corpus.formats.text_files import name_lines

    try:
        return tuple(word.strip() for word in name_lines(Path(value)) if word.strip())
    except InputError as error:
        raise InputError(f"--stop-words must be english, none or a file: {error}") from None


# ------------------------------------------------------------------------------------------ helpers


def _read(source: Any, columns: ColumnOptions, **settings: Any) -> Corpus:
    from tagtopics.corpus import read_corpus

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # the corpus has them as notices
        named = {name: getattr(columns, name) for name in ("label", "title", "date", "url")}
        return read_corpus(source, **named, **column_settings(columns), **settings)


@contextmanager
def _stages(output: OutputOptions, on_stage: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Yield `on_stage`; on a terminal, show the name of the stage, too, until the context ends."""
    if output.quiet or not sys.stderr.isatty():
        yield on_stage
        return
    with error_console().status("Reading") as status:

        def begin(stage: str) -> None:
            on_stage(stage)
            status.update(stage)

        yield begin


def _note_all(corpus: Corpus) -> None:
    for line in corpus.notices:
        note(line)


def _require_counts(corpus: Corpus, model: TopicModel, source: str) -> None:
    if model.recipe_ is None and corpus.texts is not None and not Path(source).is_dir():
        raise InputError(
            f"{source}: is text, but the model was fitted on counts and has no text recipe; "
            "give words with their counts"
        )


def _visual_of(model: TopicModel, source: str) -> Any:
    """Return the visual vocabulary of the model; images are an error for a model without one."""
    from tagtopics.corpus.images.decode import holds_images

    if model.visual_ is None and source != "-" and holds_images(Path(source)):
        raise InputError(f"{source}: holds images, but the model was not fitted on images")
    return model.visual_


def _standard_input() -> list[dict[str, Any]]:
    """Return the JSON objects on standard input, one per line."""
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
    """Return a corpus with the word and tag columns of a model."""
    from tagtopics.models.inputs import align_tags, align_words

    tag_names = model.tag_names_ or corpus.tag_names
    return replace(
        corpus,
        counts=align_words(corpus, model.vocabulary_),
        tags=align_tags(corpus, tag_names),
        vocabulary=model.vocabulary_,
        tag_names=tag_names,
    )
