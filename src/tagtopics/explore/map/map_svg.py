"""The map of documents as an SVG file, for papers: points by topic, names of topics and tags."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from tagtopics._typing import Float64
from tagtopics.explore.map.terrain import Terrain, terrain_of
from tagtopics.explore.record.ranking import relevant_words
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.files import atomic_file, check_target
from tagtopics.jit.top import largest

SIZE = 1000
"""Width and height of the drawing."""

_MARK = "<!-- map of documents by tagtopics -->"
_SANS = "Helvetica, Arial, sans-serif"
_MOST_TAGS = 25


def check_map_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the path of a new map; an existing file must be a map, unless `overwrite` is set."""
    return check_target(path, "map", lambda file: starts_with(file, _MARK.encode()), overwrite=overwrite)


def starts_with(path: Path, mark: bytes) -> bool:
    """Tell whether a file has a mark in its first kilobyte."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return mark in file.read(1024)


def write_map(data: TopicData, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the map of a collection as an SVG file; equal records give equal bytes."""
    target = check_map_target(path, overwrite=overwrite)
    with atomic_file(target) as temporary:
        temporary.write_text(map_svg(data, terrain_of(data)), encoding="utf-8")


def map_svg(data: TopicData, terrain: Terrain) -> str:
    """Return the map as SVG."""
    places = terrain.places * SIZE
    radius = float(np.clip(np.sqrt(0.1 * SIZE**2 / np.pi / max(len(places), 1)), 0.8, 5))
    title = _plain(data.title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" role="img">',
        _MARK,
        f"<title>{title}</title>",
        f'<rect width="{SIZE}" height="{SIZE}" fill="#fff"/>',
    ]
    for k in range(data.n_topics):
        own = places[terrain.region == k]
        if len(own):
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in own.tolist())
            lines.append(
                f'<path d="{path}" stroke="{colour(float(terrain.hues[k]))}" stroke-width="{2 * radius:.2f}" '
                'stroke-linecap="round" stroke-opacity="0.75" fill="none"/>'
            )
    lines += _names(data, terrain)
    return "\n".join([*lines, "</svg>", ""])


def _names(data: TopicData, terrain: Terrain) -> list[str]:
    """Return the names that fit without overlapping: topics first, larger ones before smaller ones."""
    counts = np.bincount(terrain.region, minlength=data.n_topics)
    words = relevant_words(data, 2).tolist()
    rows = [
        (
            ", ".join(data.words[w] for w in words[k]),
            terrain.topics[k],
            15 + 8 * float(np.sqrt(counts[k] / max(counts.max(), 1))),
            True,
        )
        for k in largest(counts, data.n_topics).tolist()
        if counts[k]
    ]
    tags: list[tuple[int, Float64]] = list(zip(terrain.tags.tolist(), terrain.tag_places, strict=True))
    rows += [(data.tags.names[t], place, 12.0, False) for t, place in tags]
    taken: list[tuple[float, float, float, float]] = []
    lines: list[str] = []
    n_tags = 0
    for name, place, size, is_topic in rows:
        (x, y), half = place * SIZE, 0.29 * size * len(name)
        box = (x - half, y - 0.7 * size, x + half, y + 0.7 * size)
        inside = box[0] > 0 and box[1] > 0 and box[2] < SIZE and box[3] < SIZE
        free = all(box[2] < b[0] or box[0] > b[2] or box[3] < b[1] or box[1] > b[3] for b in taken)
        if not inside or not free or (not is_topic and n_tags >= _MOST_TAGS):
            continue
        taken.append(box)
        n_tags += not is_topic
        style = 'font-weight="bold" fill="#222"' if is_topic else 'font-style="italic" fill="#555"'
        lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="middle" font-family="{_SANS}" '
            f'font-size="{size:.1f}" {style} stroke="#fff" stroke-width="3" paint-order="stroke" '
            f'stroke-linejoin="round">{_plain(name)}</text>'
        )
    return lines


def colour(hue: float, lightness: float = 0.62, chroma: float = 0.15) -> str:
    """Return an OKLCH colour as #rrggbb; `points.js` has the same formula."""
    a, b = chroma * np.cos(np.deg2rad(hue)), chroma * np.sin(np.deg2rad(hue))
    mixed = np.array(
        [[0.3963377774, 0.2158037573], [-0.1055613458, -0.0638541728], [-0.0894841775, -1.291485548]]
    )
    cubes = (lightness + mixed @ [a, b]) ** 3
    linear = np.array([
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.707614701],
    ]) @ cubes  # fmt: skip
    bright = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(x)):02x}" for x in np.clip(bright, 0, 1))


def _plain(text: str) -> str:
    """Return text that is safe in XML, without control characters."""
    shown = "".join(c if c.isprintable() else " " for c in text).encode("utf-8", "replace").decode()
    return escape(shown, {'"': "&quot;"})
