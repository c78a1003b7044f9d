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
from tagtopics.errors import CorpusWarning, InputError, json_problem

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus, TextRecipe
    from tagtopics.corpus.columns import Columns
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


# ------------------------------------------------------------------------------------------- models


def load(path: str) -> TopicModel:
    """Load a model of any kind."""
    import tagtopics.baselines  # noqa: F401  # registers its estimators
    from tagtopics.models.persistence import load_model

    return load_model(path)


def load_with_documents(path: str) -> tuple[TopicModel, Corpus | None]:
    """Load a model of any kind, and the documents saved with it, if there are any."""
    import tagtopics.baselines  # noqa: F401  # registers its estimators
    from tagtopics.models.persistence import load_with_corpus

    return load_with_corpus(path)


def load_tagged(path: str, method: str = "tag_profile") -> TTM:
    """Load a model that has profiles of tags, or another method about tags."""
    model = load(path)
    if not hasattr(model, method):
        what = {"tag_profile": "has no tag profiles", "explain": "does not credit words to tags"}[method]
        raise InputError(f"{path}: {type(model).__name__} {what}; use fit --model ttm")
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


def read_asked(
    source: str | None,
    given: Sequence[str] | None,
    columns: ColumnOptions,
    model: TopicModel,
    output: OutputOptions,
    *,
    known: bool = True,
    tagged: bool = True,
) -> Corpus:
    """Read the documents of a question in the words, tags and recipe of a model.

    They are a source, or texts given on the command line. The model must know some of their words if `known`.
    If the question is not about their tags (`tagged`), nothing is said about tags that are missing.
    """
    if (source is None) == (not given):
        raise InputError("name the documents: either INPUT, or --given TEXT")
    name = source or "--given"
    if source and source != "-" and not is_path(source):
        corpus = _in_columns_of(load_named(source, output), model)
    else:
        reuse = model.columns_ if tagged or model.columns_ is None else model.columns_.without_tags()
        corpus = _read(
            list(given or ()) or (_standard_input() if source == "-" else source),
            ColumnOptions() if given else columns,
            recipe=model.recipe_,
            vocabulary=model.vocabulary_,
            tag_names=model.tag_names_ or None,
            reuse=None if given else reuse,
            visual=None if given else _visual_of(model, name),
        )
        _require_counts(corpus, model, name)
        if not given:
            _note_all(corpus)
    if known and corpus.counts.nnz == 0:
        raise InputError(f"{name}: has no word that the model knows; is it the right model?")
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
            reuse=model.columns_,
            visual=_visual_of(model, source),
        )
        _require_counts(corpus, model, source)
        if recipe is not None and corpus.texts is not None:
            corpus = admit_words(corpus, model.vocabulary_, recipe)
        _note_all(corpus)
    if not set(corpus.vocabulary) & set(model.vocabulary_):
        note(f"{source} has no word that the model knew; is it the right model?")
    return corpus


def require_tags(corpus: Corpus, source: str, columns: ColumnOptions, model: TopicModel) -> None:
    """Raise `InputError` if the documents have no tags because their column is missing."""
    earlier = None if model.columns_ is None else model.columns_.tags
    if corpus.tags.nnz or columns.tags or earlier is None:
        return
    if corpus.columns is not None and corpus.columns.tags is None:
        names = ", ".join(map(repr, [earlier] if isinstance(earlier, str) else earlier))
        raise InputError(f"{source}: no column {names}, which had the tags in the fit; name it with --tags")


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
    from tagtopics.images.decode import is_image

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
        "strip_html": options.strip_html,
        "min_length": options.min_length,
        "tokenizer": options.tokenizer,
        "lemmas": options.lemmas,
        "phrases": options.phrases,
    }
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if options.stop_words is not None:
        chosen["stop_words"] = _stop_words(options.stop_words)
    return TextRecipe(**chosen)


def visual_vocabulary(source: str, images: ImageOptions, seed: int, output: OutputOptions) -> Any:
    """Return the vocabulary to learn from a folder of images; None if the source is something else."""
    from tagtopics.images.decode import holds_images

    if not (is_path(source) and holds_images(Path(source))):
        return None
    from tagtopics.images.vocabulary import VisualVocabulary, check_settings

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
        "delimiter": "\t" if columns.delimiter in ("\\t", "tab") else columns.delimiter,
        "encoding": columns.encoding,
        "query": columns.query,
    }


def _one_or_list(names: Sequence[str] | None) -> str | list[str] | None:
    if not names:
        return None
    return names[0] if len(names) == 1 else list(names)


def _stop_words(value: str) -> str | tuple[str, ...] | None:
    from tagtopics.corpus.languages import LANGUAGES

    if value in LANGUAGES:
        return value
    if value == "none":
        return None
    from tagtopics.corpus.formats.text_files import name_lines

    try:
        return tuple(word.strip() for word in name_lines(Path(value)) if word.strip())
    except InputError as error:
        raise InputError(
            f"--stop-words must be a language, such as english, none or a file: {error}"
        ) from None


# ------------------------------------------------------------------------------------------ helpers


def _read(source: Any, columns: ColumnOptions, *, reuse: Columns | None = None, **settings: Any) -> Corpus:
    """Read a corpus; `reuse` are the columns of the model, for what the options do not name."""
    from tagtopics.corpus import read_corpus

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # the corpus has them as notices
        named = {name: getattr(columns, name) for name in ("label", "title", "date", "url")}
        return read_corpus(source, **named, **column_settings(columns), columns=reuse, **settings)


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
    from tagtopics.images.decode import holds_images

    if model.visual_ is None and source != "-" and holds_images(Path(source)):
        raise InputError(f"{source}: holds images, but the model was not fitted on images")
    return model.visual_


def _standard_input() -> list[dict[str, Any]] | list[str]:
    """Return the JSON objects on standard input, one per line; or its lines, if the first is no JSON."""
    lines = [(number, line) for number, line in enumerate(sys.stdin.buffer, start=1) if line.strip()]
    if not lines:
        raise InputError("standard input: no documents")
    if not lines[0][1].lstrip().startswith((b"{", b"[")):
        return [_decoded(number, line) for number, line in lines]
    rows = []
    for number, line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"standard input, line {number}: not valid JSON ({json_problem(error)})"
            ) from None
        if not isinstance(row, dict):
            raise InputError(f"standard input, line {number}: expected a JSON object")
        rows.append(row)
    return rows


def _decoded(number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InputError(f"standard input, line {number}: not UTF-8 text") from None


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
