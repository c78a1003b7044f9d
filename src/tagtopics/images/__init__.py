"""Photographs as documents: pixels to visual words, and folders of images to documents.

`decode` opens files safely, `descriptors` turns pixels into features of tiles, `vocabulary` learns codebooks,
counts visual words and stores its settings, `folder` reads a folder of images with its tags.

Importing this package registers the format.
"""

from pathlib import Path

from tagtopics.corpus.formats.registry import Format, register
from tagtopics.images.decode import holds_images
from tagtopics.images.folder import read_images
from tagtopics.readers.vault import is_vault


def _holds(path: Path) -> bool:
    return holds_images(path) and not is_vault(path)  # notes may have pictures


register("images", Format(documents=read_images, holds=_holds, takes_values=False))
