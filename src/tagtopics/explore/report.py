"""The report: one HTML file that holds a whole model and opens from disk, without a network."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.bodies import CHUNK, body_of
from tagtopics.explore.packing import base64_of, packed
from tagtopics.explore.page import Block, report_page
from tagtopics.explore.prepare import index_of, known_words
from tagtopics.views.topic_data import TopicData

DEFAULT_MB = 15.0
"""How large a report may be, in millions of bytes."""

_FOR_BODIES = 0.4
"""Share of a report that is kept for texts when its list of documents would need more than the rest."""


@dataclass(frozen=True)
class ReportSize:
    """What went into a report."""

    n_bytes: int
    n_docs: int  # in the collection
    n_listed: int  # known by name, tags and topics
    n_bodies: int  # with text, words and credits


def write_report(data: TopicData, path: str | Path, max_mb: float = DEFAULT_MB) -> ReportSize:
    """Write a report, whole or not at all.

    All documents are listed and found by the search where that fits; texts of those that show the topics
    best go in until the file is full.

    Args:
        data: what to show, from `tagtopics.topic_data(model, corpus)`.
        path: the HTML file.
        max_mb: its largest size in millions of bytes.

    Returns:
        What went in.
    """
    html, size = render_report(data, max_mb)
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file")
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(html)
        os.replace(fresh, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        fresh.unlink(missing_ok=True)
    return size


def render_report(data: TopicData, max_mb: float = DEFAULT_MB) -> tuple[bytes, ReportSize]:
    """Return a report as bytes, and what went in."""
    if not max_mb > 0:
        raise InputError(f"max-mb must be above 0, not {max_mb}")
    room = int(max_mb * 1e6) - len(_page(data, b"", [], 0)) - 200
    docs, index = _fitting_index(data, room)
    bodies, n_bodies = _fitting_bodies(data, docs, room - len(base64_of(index)))
    html = _page(data, index, bodies, n_bodies)
    return html, ReportSize(len(html), len(data.documents.ids), len(docs), n_bodies)


def _page(data: TopicData, index: bytes, bodies: list[bytes], n_bodies: int) -> bytes:
    settings: dict[str, Any] = {"live": False, "bodies": n_bodies, "chunk": CHUNK}
    blocks = [Block("index", base64_of(index))]
    blocks += [Block(f"bodies-{i}", base64_of(pack)) for i, pack in enumerate(bodies)]
    return report_page(data.title, settings, blocks).encode("utf-8", "replace")


def _fitting_index(data: TopicData, room: int) -> tuple[Int64, bytes]:
    """Return the documents to list, and the index: all of them, or as many as leave room for texts."""
    order = data.documents.by_topic()
    n = len(order)
    limit = room * (1 - _FOR_BODIES) if data.documents.has_words else room
    while True:
        index = packed(index_of(data, order[:n]))
        size = len(base64_of(index))
        if size <= (room if n == 0 else limit):
            return order[:n], index
        if n == 0:
            raise InputError(f"the topics, words and tags alone need {size / 1e6:.1f} MB; raise --max-mb")
        n = min(int(n * 0.9 * limit / size), n - 1) if limit > 0 else 0


def _fitting_bodies(data: TopicData, docs: Int64, room: int) -> tuple[list[bytes], int]:
    """Return packs of bodies until the room is used, and how many documents they hold."""
    packs: list[bytes] = []
    done = 0
    if not data.documents.has_words:
        return packs, done
    _, number = known_words(data)
    for rows in np.split(docs, range(CHUNK, len(docs), CHUNK)):
        pack = packed([body_of(data, int(d), number) for d in rows])
        room -= len(base64_of(pack)) + 80
        if room < 0:
            break
        packs.append(pack)
        done += len(rows)
    return packs, done
