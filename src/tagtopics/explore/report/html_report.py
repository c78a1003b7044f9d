"""The report: one HTML file with a whole model that opens from disk, without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.map.terrain import MOST_TAGS, map_index, terrain_of
from tagtopics.explore.record.inputs import AuditFinding, audit_block
from tagtopics.explore.record.photographs import fitting_pictures
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.record.workbench import page_obstacle, workbench
from tagtopics.explore.report.bodies import CHUNK, Bodies
from tagtopics.explore.report.page import Packing, base64_size, compress_json, report_page
from tagtopics.explore.report.prepare import counts_of, fixed_index, listed_index
from tagtopics.files import atomic_file, check_target
from tagtopics.jit.threads import beside

_FOR_BENCH = 0.25  # share of the space that the workbench may take; larger ones are left out
_FOR_BODIES = 0.4  # share of what topics, words and tags leave, reserved for texts if documents are many
_SAMPLE = 2000  # documents from which the size of a list of many more is estimated
_POINT, _LABEL = 6, 25  # bytes of a document on the map, and of a label, at the most
_WITHOUT = 20  # bytes of the body of a photo, without the photo
_MARK = b'<meta name="generator" content="tagtopics '  # in the first kilobyte of every report


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report contains besides the model.

    Args:
        title: of the collection; if None, the name of the model's class. A record has its own title.
        max_mb: maximum size in millions of bytes. Texts are left out first.
        overwrite: replace an existing file even if it is not a report.
        offline: the model of a record, for a workbench for new texts; the report of a model always has one
            if a browser can read texts as the model does.
        findings: of an audit (`read_findings`), for a page to accept or refuse them.
    """

    title: str | None = None
    max_mb: float = 15.0
    overwrite: bool = False
    offline: Any = None
    findings: list[AuditFinding] | None = None


@dataclass(frozen=True)
class ReportSize:
    """What a report contains."""

    n_bytes: int
    n_docs: int  # in the collection
    n_listed: int  # with id, tags and topics
    n_bodies: int  # with text, words and credits
    n_photos: int = 0
    n_heated: int = 0  # photos with heat maps


def write_report(
    source: Any, path: str | Path, corpus: Any = None, options: ReportOptions | None = None
) -> ReportSize:
    """Write a report as one HTML file.

    The report lists all documents if they fit. Texts are added, those most typical of a topic first, until
    the file has its maximum size.

    Args:
        source: a fitted model, or a `TopicData` record.
        path: the HTML file. An existing file is replaced only if it is a tagtopics report.
        corpus: the documents the model was fitted to, if `source` is a model.
        options: title, maximum size and more.

    Returns:
        What the report contains.
    """
    options = options or ReportOptions()
    target = check_report_target(path, overwrite=options.overwrite)
    data = source
    if not isinstance(source, TopicData):
        from tagtopics.explore.record.to_topic_data import topic_data

        data, options = topic_data(source, corpus, options.title), replace(options, offline=source)
    html, size = render_report(data, options)
    with atomic_file(target) as temporary:
        temporary.write_bytes(html)
    return size


def check_report_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new report; an existing file must be a report, unless `overwrite` is set."""
    if Path(path).is_dir():
        raise InputError(f"--out {path}: is a folder; give the name of a file")
    return check_target(path, "report", _is_report, overwrite=overwrite)


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(1024)


@single_thread()
def render_report(data: TopicData, options: ReportOptions) -> tuple[bytes, ReportSize]:
    """Return a report as bytes, and what it contains; with a model, it has a workbench for new texts."""
    if not options.max_mb > 0:
        raise InputError(f"max_mb must be above 0, not {options.max_mb}")
    settings: dict[str, Any] = {"live": False, "chunk": CHUNK}
    audit: dict[str, bytes] = {}
    if options.findings is not None:
        audit["audit"], settings["audit"] = audit_block(options.findings)
    n_labels = data.n_topics + min(MOST_TAGS, len(data.tags.names))
    for_map = base64_size(int(1.03 * _POINT * len(data.documents.ids)) + _LABEL * n_labels + 500)
    space = int(options.max_mb * 1e6) - len(report_page(data.title, settings, {}, audit)) - for_map - 500

    with beside(partial(terrain_of, data)) as terrain:  # the longest step: a quarter of the time of a report
        possible = None if options.offline is None else workbench(options.offline, data)
        bench = possible or b""
        if base64_size(len(bench)) > _FOR_BENCH * space:
            bench = b""
        space -= base64_size(len(bench))
        docs, index = fitting_index(data, space)
        space -= base64_size(len(index))
        if data.pictures:
            data = fitting_pictures(data, docs, space - len(docs) * _WITHOUT)
        bodies, n_bodies = _fitting_bodies(data, docs, space)
        places = compress_json(map_index(terrain(), docs))

    shown = [data.picture_of[doc] for doc in docs[:n_bodies].tolist() if doc in data.picture_of]
    n_heated = sum(bool(one.heat) for one in shown)
    size = ReportSize(0, len(data.documents.ids), len(docs), n_bodies, len(shown), n_heated)
    settings |= {"bodies": n_bodies, "bench": bool(bench), "photos": size.n_photos, "heated": size.n_heated}
    missing = "photos" if data.visual else page_obstacle(data.recipe)
    settings["benchless"] = None if bench else missing if possible is None else "size"  # for *How to read*
    later = audit | ({"bench": bench} if bench else {}) | bodies
    html = report_page(data.title, settings, {"index": index, "map-data": places}, later)
    return html, replace(size, n_bytes=len(html))


def _fitting_bodies(data: TopicData, docs: Int64, space: int) -> tuple[dict[str, bytes], int]:
    """Return packed bodies up to a number of bytes, as blocks, and how many documents they hold."""
    blocks: dict[str, bytes] = {}
    n_bodies = 0
    if not data.documents.has_words:
        return blocks, n_bodies
    bodies = Bodies(data)
    for i, rows in enumerate(np.split(docs, range(CHUNK, len(docs), CHUNK))):
        pack = compress_json(bodies.bodies(rows))
        space -= base64_size(len(pack)) + 80
        if space < 0:
            break
        blocks[f"bodies-{i}"] = pack
        n_bodies += len(rows)
    return blocks, n_bodies


def fitting_index(data: TopicData, space: int) -> tuple[Int64, bytes]:
    """Return the documents to list and the packed index; fewer if texts would not fit otherwise.

    The tags of documents that are not listed are counted in the index, if there is room for them.
    """
    fixed, order = Packing().added(fixed_index(data)), data.documents.by_topic()
    for_list, for_all = (1 - _FOR_BODIES, 1 - _FOR_BODIES / 2) if data.documents.has_words else (1, 1)

    def index(listed: Int64) -> Packing:
        return fixed.added(listed_index(data, listed))

    def packed_index(listed: Int64, counted: Int64) -> bytes:
        return index(listed).added(counts_of(data, listed, counted)).packed()

    if len(order) <= 2 * _SAMPLE:
        whole = packed_index(order, order[:0])
        if base64_size(len(whole)) <= for_list * space:
            return order, whole
    least = index(order[:0]).size()  # topics, words and tags alone
    if least > space:
        raise InputError(f"the topics, words and tags alone need {least / 1e6:.1f} MB; raise max_mb")
    limit = least + (space - least) * for_list
    n = min(_estimate_number(index, order, limit), len(order))
    while (size := (listed := index(order[:n])).size()) > limit and n:
        n = min(int(n * 0.95 * (limit - least) / (size - least)), n - 1)
    for rest in (order[n:], order[:0]):
        found = listed.added(counts_of(data, order[:n], rest)).packed()
        if base64_size(len(found)) <= for_all * space:
            break
    return order[:n], found


def _estimate_number(index: Callable[[Int64], Packing], order: Int64, limit: float) -> int:
    """Return how many documents probably fit: the sizes of two even samples, and the line through them.

    The list of the documents of each word is nearly as long for the smaller one, so its size alone would
    promise too little.
    """
    few, many = min(len(order), _SAMPLE), min(len(order), 3 * _SAMPLE)
    small, large = (
        index(order[np.linspace(0, len(order) - 1, n).astype(np.int64)]).size() for n in (few, many)
    )
    if few == many:
        return int(0.98 * few * limit / small)
    each = max((large - small) / (many - few), 1.0)
    return max(int(few + 0.98 * (limit - small) / each), 0)
