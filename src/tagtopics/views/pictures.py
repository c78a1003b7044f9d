"""Photographs for reports and the server: small, each with heat maps of its tags."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics.errors import InputError
from tagtopics.views.heat_maps import tag_maps
from tagtopics.views.questions import Pictured
from tagtopics.views.topic_data import Picture, TopicData

MOST_PICTURES = 400
"""Maximum number of photographs in a report: those that show the topics best."""

MOST_PIXELS = 25_000_000
"""Maximum number of pixels of a photograph sent to the server."""

_MOST_COLUMNS = 48


def with_pictures(data: TopicData, model: Any, folder: str) -> TopicData:
    """Return the record with photographs and heat maps.

    Args:
        data: of a model that was fitted to a folder of images.
        model: that model.
        folder: the images, named like the documents.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise InputError(f"no such folder: {folder}")
    pictures = []
    for doc in data.documents.by_topic()[:MOST_PICTURES].tolist():
        path = (root / data.documents.ids[doc]).resolve()
        if path.is_file() and path.is_relative_to(root):  # a name must not point outside the folder
            picture = _picture(data, model, doc, path)
            pictures += [] if picture is None else [picture]
    if not pictures:
        raise InputError(f"{folder}: has no image of the documents, such as {data.documents.ids[0][:80]!r}")
    return replace(data, pictures=tuple(pictures))


def _picture(data: TopicData, model: Any, doc: int, path: Path) -> Picture | None:
    table = data.documents
    tags = [data.tags.names[t] for t in table.tag_index[slice(*table.tag_offsets[doc : doc + 2])]]
    if not tags:
        return None
    jpeg, heat = _packed(tag_maps(model, str(path), tags), tags)
    return Picture(
        doc=doc, jpeg=jpeg, rows=heat.shape[1], columns=heat.shape[2], heat=_base64(heat.tobytes())
    )


def pictured(model: Any, path: Path, top: int) -> Pictured:
    """Return topics, tags and heat maps of a new photograph; one with too many pixels is not decoded."""
    _check_pixels(path)
    counts, faults = model.visual_.count([str(path)])
    if faults:
        raise InputError(faults[0].reason)
    (found,) = model.recommend(counts, top=top)
    known = [one for one in found if one.tag in model.tag_names_]
    if not known:
        raise InputError("the model has no tag for this photograph")
    tags = [one.tag for one in known]
    jpeg, heat = _packed(tag_maps(model, str(path), tags), tags)
    return Pictured(
        topics=[float(share) for share in model.transform(counts)[0]],
        tags=tags,
        scores=[float(one.probability) for one in known],
        jpeg=jpeg,
        rows=heat.shape[1],
        columns=heat.shape[2],
        heat=_base64(heat.tobytes()),
    )


def _check_pixels(path: Path) -> None:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                width, height = image.size
    except Exception:  # decoders of hostile files raise all kinds of errors
        raise InputError("the photograph cannot be read as an image") from None
    if width * height > MOST_PIXELS:
        raise InputError(f"the photograph has {width:,} x {height:,} pixels; send a smaller one")


def _packed(maps: Any, tags: Sequence[str]) -> tuple[str, Any]:
    """Return the image as JPEG in base64, and its heat maps (T, rows, columns) in 255ths."""
    from PIL import Image

    credit = maps.credit[[maps.tags.index(tag) for tag in tags]]
    stride = -(-credit.shape[2] // _MOST_COLUMNS)
    heat = np.rint(255 * np.clip(credit[:, ::stride, ::stride], 0, 1)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(maps.tiles.pixels).save(file, "JPEG", quality=82)
    return _base64(file.getvalue()), heat


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
