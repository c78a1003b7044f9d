"""The report: one HTML file with a whole model that opens from disk, without a network."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._gzip import gzipped
from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.map.drawing import Drawing
from tagtopics.explore.map.terrain import MOST_TAGS, map_index, terrain_of
from tagtopics.explore.record.offline import OfflineModel
from tagtopics.explore.record.page_words import page_obstacle
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.audit_page import AuditFinding, audit_block
from tagtopics.explore.report.bench import bench_block
from tagtopics.explore.report.bodies import CHUNK, Bodies
from tagtopics.explore.report.figures import write_figures
from tagtopics.explore.report.index_pack import IndexPacker, base64_size, fitting_index
from tagtopics.explore.report.page import LEVEL, Block, base64_of, compact_json, packed, report_page
from tagtopics.explore.report.texts import ENGLISH
from tagtopics.files import atomic_file, check_target

DEFAULT_MB = 15.0
"""Default maximum size of a report, in millions of bytes."""

_FOR_BENCH = 0.25
"""Share of the space that the workbench may take; larger ones are left out."""

_POINT, _LABEL = 6, 25
"""Bytes of a document on the map, and of a label, at the most."""

_AHEAD = 4
"""Packs of bodies that may wait for compression."""

_MARK = b'<meta name="generator" content="tagtopics '
"""Every report has this in its first kilobyte; a file without it is not overwritten."""


@dataclass(frozen=True)
class ReportSize:
    """What a report contains."""

    n_bytes: int
    n_docs: int  # in the collection
    n_listed: int  # with id, tags and topics
    n_bodies: int  # with text, words and credits


def write_report(
    source: Any,
    path: str | Path,
    max_mb: float = DEFAULT_MB,
    *,
    corpus: Any = None,
    title: str | None = None,
    overwrite: bool = False,
    offline: OfflineModel | None = None,
    figures: str | Path | None = None,
    story: dict[str, Any] | None = None,
    findings: list[AuditFinding] | None = None,
    language: str = ENGLISH,
    on_progress: Callable[[float], None] | None = None,
    begun: Drawing | None = None,
) -> ReportSize:
    """Write a report as one HTML file.

    The report lists all documents if they fit. Texts are added, those most typical of a topic first, until
    the file has its maximum size.

    Args:
        source: a fitted model, or a `TopicData` record.
        path: the HTML file. An existing file is replaced only if it is a tagtopics report.
        max_mb: maximum size in millions of bytes.
        corpus: the documents the model was fitted to, if `source` is a model.
        title: of the collection, if `source` is a model.
        overwrite: replace an existing file even if it is not a report.
        offline: adds a workbench for new texts, if `source` is a record; that of a model is always added.
        figures: a JSON file, to write every number that the pages show to.
        story: captioned views that the report opens with a page for; see `stories.read_story`.
        findings: of an audit (`read_findings`), for a page to accept or refuse them.
        language: of the interface, "en" or "de".
        on_progress: called with the share of `figures` that is written.
        begun: the map, if it is being drawn already; see `drawing`.

    Returns:
        What the report contains.
    """
    target = check_report_target(path, overwrite=overwrite)
    if not isinstance(source, TopicData):
        from tagtopics.explore.record.offline import offline_model
        from tagtopics.explore.record.to_topic_data import topic_data

        offline = offline_model(source)
        source = topic_data(source, corpus, title)
    html, size = render_report(source, max_mb, offline, story, findings, language, begun)
    with atomic_file(target) as temporary:
        temporary.write_bytes(html)
    if figures is not None:
        docs = source.documents.by_topic()[: size.n_listed]
        path = check_figures_target(figures, overwrite=overwrite)
        write_figures(source, path, docs, size.n_bodies, on_progress)
    return size


def check_report_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new report; an existing file must be a report, unless `overwrite` is set."""
    if Path(path).is_dir():
        raise InputError(f"--out {path}: is a folder; give the name of a file")
    return check_target(path, "report", is_report, overwrite=overwrite)


def check_figures_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new file of figures; an existing one must be such a file, unless `overwrite`."""
    if Path(path).is_dir():
        raise InputError(f"--data {path}: is a folder; give the name of a file")
    return check_target(path, "file of figures", is_figures, overwrite=overwrite, option="--data")


def is_figures(path: Path) -> bool:
    """Tell whether a file has the figures of a report."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(24).startswith(b'{"version":1,"title":')


def is_report(path: Path) -> bool:
    """Tell whether a file is a report that tagtopics wrote."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(1024)


def render_report(
    data: TopicData,
    max_mb: float = DEFAULT_MB,
    offline: OfflineModel | None = None,
    story: dict[str, Any] | None = None,
    findings: list[AuditFinding] | None = None,
    language: str = ENGLISH,
    begun: Drawing | None = None,
) -> tuple[bytes, ReportSize]:
    """Return a report as bytes, and what it contains; with a model, it has a workbench for new texts."""
    if not max_mb > 0:
        raise InputError(f"max_mb must be above 0, not {max_mb}")
    audit = None if findings is None else audit_block(findings)
    empty = _page(data, b"", b"", [], 0, story=story, audit=audit, language=language)
    space = int(max_mb * 1e6) - len(empty) - 400
    with single_thread(), ThreadPoolExecutor(1) as pool:  # one limit for both threads: no bit depends on when
        mapping = pool.submit(terrain_of, data, begun)
        space -= _map_size(data)
        bench = None if offline is None else bench_block(data, offline)
        if bench is not None and base64_size(len(bench)) > _FOR_BENCH * space:
            bench = None
        space -= base64_size(len(bench or b""))
        docs, index = fitting_index(IndexPacker(data), space)
        bodies, n_bodies = _fitting_bodies(data, docs, space - base64_size(len(index)))
        terrain = mapping.result()
    places = packed(map_index(terrain, docs))
    without = _benchless(data, offline) if bench is None else None
    html = _page(data, index, places, bodies, n_bodies, bench, story, audit, language, without)
    return html, ReportSize(len(html), len(data.documents.ids), len(docs), n_bodies)


def _benchless(data: TopicData, offline: OfflineModel | None) -> str | None:
    """Return why a report has no workbench, for its page *How to read*; None if it was not asked for."""
    if offline is not None:
        return "size"
    return "photos" if data.picture_of else page_obstacle(data.recipe)


def _map_size(data: TopicData) -> int:
    """Return the most bytes that the map takes in the page, before it is drawn."""
    n_labels = data.n_topics + min(MOST_TAGS, len(data.tags.names))
    return base64_size(int(1.03 * _POINT * len(data.documents.ids)) + _LABEL * n_labels + 500)


def _page(
    data: TopicData,
    index: bytes,
    places: bytes,
    bodies: list[bytes],
    n_bodies: int,
    bench: bytes | None = None,
    story: dict[str, Any] | None = None,
    audit: tuple[bytes, str] | None = None,
    language: str = ENGLISH,
    benchless: str | None = None,
) -> bytes:
    settings: dict[str, Any] = {
        "live": False,
        "bodies": n_bodies,
        "chunk": CHUNK,
        "bench": bench is not None,
        "benchless": benchless,
        "story": story,
    }
    blocks = [Block("index", base64_of(index)), Block("map-data", base64_of(places))]
    blocks += [] if bench is None else [Block("bench", base64_of(bench))]
    if audit is not None:
        settings["audit"] = audit[1]
        blocks.append(Block("audit", base64_of(audit[0])))
    blocks += [Block(f"bodies-{i}", base64_of(pack)) for i, pack in enumerate(bodies)]
    return report_page(data.title, settings, blocks, language).encode("utf-8", "replace")


def _fitting_bodies(data: TopicData, docs: Int64, space: int) -> tuple[list[bytes], int]:
    """Return packed bodies up to a number of bytes, and how many documents they hold."""
    packs: list[bytes] = []
    done = 0
    if not data.documents.has_words:
        return packs, done
    rows = np.split(docs, range(CHUNK, len(docs), CHUNK))
    for n, pack in zip(map(len, rows), _packed_bodies(Bodies(data), rows), strict=True):
        space -= base64_size(len(pack)) + 80
        if space < 0:
            break
        packs.append(pack)
        done += n
    return packs, done


def _packed_bodies(bodies: Bodies, rows: Sequence[Int64]) -> Iterator[bytes]:
    """Yield the packed bodies of lists of documents; some are compressed while the next ones are made."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Future[bytes]] = deque()
        for docs in rows:
            waiting.append(pool.submit(gzipped, compact_json(bodies.bodies(docs)), LEVEL))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        for pack in waiting:
            yield pack.result()
