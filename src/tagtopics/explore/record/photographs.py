"""The photographs of a collection: all of them, small, for a report; any, with heat maps, for a server."""

from __future__ import annotations

import base64
import io
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.record.heat_maps import tag_maps, visual_of
from tagtopics.explore.record.topic_data import Picture, TopicData
from tagtopics.explore.report.page import base64_size, compress_json
from tagtopics.images.decode import Sizing, quiet_decoders, read_image

_HEATED = 400  # photographs with heat maps in a report: those that show the topics best
_LARGEST = 128  # longest side of a thumbnail, in pixels

# What a report has, the best that fits: photographs with heat maps, and the longest side of all others.
_CHOICES = (*((_HEATED, side) for side in (_LARGEST, 112, 96, 84, 72, 60, 48)), (100, 48), (0, 48))
_SAMPLE = 100  # photographs from which the size of all is estimated


class Photographs:
    """The photographs of a record.

    Args:
        data: of a model that was fitted to a folder of images.
        model: that model.
        folder: the images, named like the documents. Links are followed.
    """

    def __init__(self, data: TopicData, model: Any, folder: str) -> None:
        visual_of(model)
        if not Path(folder).is_dir():
            raise InputError(f"no such folder: {folder}")
        self._data, self._model, self._root = data, model, Path(folder)
        ids = data.documents.ids
        self.docs = frozenset(doc for doc, name in enumerate(ids) if self._has(name))
        if not self.docs:
            raise InputError(f"{folder}: has no image of the documents, such as {ids[0][:80]!r}")

    def _has(self, name: str) -> bool:
        path = Path(name)  # a name must not lead out of the folder
        return not path.is_absolute() and ".." not in path.parts and os.path.isfile(self._root / path)

    def picture(self, doc: int) -> Picture:
        """Return a photograph with the heat maps of its tags."""
        data, table = self._data, self._data.documents
        tags = [data.tags.names[t] for t in table.tag_index[slice(*table.tag_offsets[doc : doc + 2])]]
        if not tags:
            return self.thumbnail(doc)
        path = self._root / table.ids[doc]
        return Picture(doc=doc, **tag_maps(self._model, str(path), tags).for_page())

    def thumbnail(self, doc: int) -> Picture:
        """Return a small photograph without heat maps."""
        path = self._root / self._data.documents.ids[doc]
        return _encode(doc, read_image(str(path), Sizing(working_pixels=_LARGEST**2)), _LARGEST)


def with_pictures(data: TopicData, model: Any, folder: str) -> TopicData:
    """Return the record with all photographs of a folder, some with heat maps; see `Photographs`."""
    photographs = Photographs(data, model, folder)
    docs = [doc for doc in data.documents.by_topic().tolist() if doc in photographs.docs]
    heated = [photographs.picture(doc) for doc in docs[:_HEATED]]
    with quiet_decoders(), ThreadPoolExecutor() as threads:
        return replace(data, pictures=(*heated, *threads.map(photographs.thumbnail, docs[_HEATED:])))


def fitting_pictures(data: TopicData, docs: Int64, space: int) -> TopicData:
    """Return the record with photographs that fit into a report, in a number of bytes, if they can.

    Photographs become smaller before heat maps are left out, and these before any photograph.
    """
    place = {doc: i for i, doc in enumerate(docs.tolist())}
    pictures = sorted((one for one in data.pictures if one.doc in place), key=lambda one: place[one.doc])
    for n_heated, side in _CHOICES:
        few, rest = pictures[:n_heated], pictures[n_heated:]
        size = _size(few) + _size([_smaller(one, side) for one in _spread(rest)], len(rest))
        if size <= space:
            break
    return replace(data, pictures=(*few, *(_smaller(one, side) for one in rest)))


def _spread(pictures: list[Picture]) -> list[Picture]:
    places = np.linspace(0, len(pictures) - 1, min(len(pictures), _SAMPLE)).astype(np.int64)
    return [pictures[i] for i in places.tolist()]


def _size(pictures: list[Picture], n: int | None = None) -> int:
    """Return the bytes of photographs in a report, or of n like these."""
    some = _spread(pictures)
    each = base64_size(len(compress_json([[one.jpeg, one.heat] for one in some]))) / max(len(some), 1) + 60
    return int(1.03 * each * (len(pictures) if n is None else n))


def _smaller(picture: Picture, side: int) -> Picture:
    """Return a photograph without heat maps, whose longest side has at most this many pixels."""
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture.jpeg))) as image:
        if not picture.heat and max(image.size) <= side:
            return picture
        return _encode(picture.doc, np.asarray(image.convert("RGB")), side)


def _encode(doc: int, pixels: Any, side: int) -> Picture:
    from PIL import Image

    image, file = Image.fromarray(pixels), io.BytesIO()
    image.thumbnail((side, side))
    image.save(file, "JPEG", quality=70)
    return Picture(doc=doc, jpeg=base64.b64encode(file.getvalue()).decode(), rows=0, columns=0, heat="")
