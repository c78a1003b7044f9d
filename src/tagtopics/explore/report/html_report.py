"""The report: one HTML file with a whole model that opens from disk, without a network."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.map.terrain import MOST_TAGS, map_index, terrain_of
from tagtopics.explore.record.offline import OfflineModel
from tagtopics.explore.record.page_words import page_obstacle
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.audit_page import AuditFinding, audit_block
from tagtopics.explore.report.bench import bench_block
from tagtopics.explore.report.bodies import CHUNK, Bodies
from tagtopics.explore.report.index_pack import base64_size, fitting_index
from tagtopics.explore.report.page import packed, report_page
from tagtopics.files import atomic_file, check_target

_FOR_BENCH = 0.25
"""Share of the space that the workbench may take; larger ones are left out."""

_POINT, _LABEL = 6, 25
"""Bytes of a document on the map, and of a label, at the most."""

_MARK = b'<meta name="generator" content="tagtopics '
"""Every report has this in its first kilobyte; a file without it is not overwritten."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report contains besides the model.

    Args:
        title: of the collection; if None, the name of the model's class. A record has its own title.
        max_mb: maximum size in millions of bytes. Texts are left out first.
        overwrite: replace an existing file even if it is not a report.
        offline: adds a workbench for new texts to the report of a record; that of a model always has one if
            a browser can read texts as the model does.
        findings: of an audit (`read_findings`), for a page to accept or refuse them.
    """

    title: str | None = None
    max_mb: float = 15.0
    overwrite: bool = False
    offline: OfflineModel | None = None
    findings: list[AuditFinding] | None = None


@dataclass(frozen=True)
class ReportSize:
    """What a report contains."""

    n_bytes: int
    n_docs: int  # in the collection
    n_listed: int  # with id, tags and topics
    n_bodies: int  # with text, words and credits


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
    data, offline = source, options.offline
    if not isinstance(source, TopicData):
        from tagtopics.explore.record.offline import offline_model
        from tagtopics.explore.record.to_topic_data import topic_data

        data, offline = topic_data(source, corpus, options.title), offline_model(source)
    html, size = render_report(data, options.max_mb, offline, options.findings)
    with atomic_file(target) as temporary:
        temporary.write_bytes(html)
    return size


def check_report_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new report; an existing file must be a report, unless `overwrite` is set."""
    if Path(path).is_dir():
        raise InputError(f"--out {path}: is a folder; give the name of a file")
    return check_target(path, "report", is_report, overwrite=overwrite)


def is_report(path: Path) -> bool:
    """Tell whether a file is a report that tagtopics wrote."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(1024)


@single_thread()
def render_report(
    data: TopicData,
    max_mb: float = ReportOptions.max_mb,
    offline: OfflineModel | None = None,
    findings: list[AuditFinding] | None = None,
) -> tuple[bytes, ReportSize]:
    """Return a report as bytes, and what it contains; with a model, it has a workbench for new texts."""
    if not max_mb > 0:
        raise InputError(f"max_mb must be above 0, not {max_mb}")
    settings: dict[str, Any] = {"live": False, "chunk": CHUNK}
    audit: dict[str, bytes] = {}
    if findings is not None:
        audit["audit"], settings["audit"] = audit_block(findings)
    space = int(max_mb * 1e6) - len(report_page(data.title, settings, audit)) - _map_size(data) - 500

    with ThreadPoolExecutor(1) as thread:
        terrain = thread.submit(terrain_of, data)  # the longest step: a quarter of the time of a report
        bench = _fitting_bench(data, offline, space)
        space -= sum(base64_size(len(block)) for block in bench.values())
        docs, index = fitting_index(data, space)
        bodies, n_bodies = _fitting_bodies(data, docs, space - base64_size(len(index)))
        places = packed(map_index(terrain.result(), docs))

    settings |= {"bodies": n_bodies, "bench": bool(bench)}
    settings["benchless"] = None if bench else _benchless(data, offline)
    html = report_page(data.title, settings, {"index": index, "map-data": places} | bench | audit | bodies)
    return html, ReportSize(len(html), len(data.documents.ids), len(docs), n_bodies)


def _map_size(data: TopicData) -> int:
    """Return the most bytes that the map takes in the page, before it is drawn."""
    n_labels = data.n_topics + min(MOST_TAGS, len(data.tags.names))
    return base64_size(int(1.03 * _POINT * len(data.documents.ids)) + _LABEL * n_labels + 500)


def _fitting_bench(data: TopicData, offline: OfflineModel | None, space: int) -> dict[str, bytes]:
    """Return the workbench as a block of the page; none if it would take too much of the space."""
    block = None if offline is None else bench_block(data, offline)
    return {} if block is None or base64_size(len(block)) > _FOR_BENCH * space else {"bench": block}


def _benchless(data: TopicData, offline: OfflineModel | None) -> str | None:
    """Return why a report has no workbench, for its page *How to read*; None if it was not asked for."""
    if offline is not None:
        return "size"
    return "photos" if data.picture_of else page_obstacle(data.recipe)


def _fitting_bodies(data: TopicData, docs: Int64, space: int) -> tuple[dict[str, bytes], int]:
    """Return packed bodies up to a number of bytes, as blocks, and how many documents they hold."""
    blocks: dict[str, bytes] = {}
    n_bodies = 0
    if not data.documents.has_words:
        return blocks, n_bodies
    bodies = Bodies(data)
    for i, rows in enumerate(np.split(docs, range(CHUNK, len(docs), CHUNK))):
        pack = packed(bodies.bodies(rows))
        space -= base64_size(len(pack)) + 80
        if space < 0:
            break
        blocks[f"bodies-{i}"] = pack
        n_bodies += len(rows)
    return blocks, n_bodies
