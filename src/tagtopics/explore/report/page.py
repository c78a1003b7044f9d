"""The HTML page of report and server: template, style sheet, script, security policy, encoded data."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from copy import copy
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64

LEVEL = 5  # of compression; 6 saves 1 % of the bytes and takes half as long again
_FIRST_LETTER = 35
_EXACT = 22
_POWERS = np.array([float(f"1e{i}") for i in range(_EXACT + 1)])  # powers of ten that a float holds exactly
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Ccircle cx='12' cy='13' r='9' fill='%236f8df5'/%3E"
    "%3Ccircle cx='21' cy='12' r='7.5' fill='%23f49a7c'/%3E"
    "%3Ccircle cx='17' cy='21' r='7.5' fill='%2369d3ad'/%3E%3C/svg%3E"
)


def script() -> str:
    """Return the script, which `npm run build` makes of the modules in `explorer/`."""
    return _asset("static", "explorer.js")


def style() -> str:
    """Return the style sheet."""
    return "".join(_asset("static", f"{name}.css") for name in ("explorer", "pages", "audit"))


def report_page(
    title: str, settings: dict[str, Any], blocks: Mapping[str, bytes], later: Mapping[str, bytes]
) -> bytes:
    """Return a self-contained page; its policy allows its own script, by hash, and no requests.

    Args:
        title: of the collection.
        settings: what the script has to know before it reads the blocks.
        blocks: data by id that the first view needs; they become base64, which needs no escaping.
        later: data behind the script, which draws the first view while the browser still reads them.
    """
    policy = (
        f"default-src 'none'; script-src '{_hash(script())}'; style-src '{_hash(style())}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts: dict[str, Any] = {"style": style(), "script": script(), "policy": policy}
    for where, data in (("blocks", blocks), ("later", later)):
        parts[where] = {name: base64.b64encode(block).decode() for name, block in data.items()}
    return _render(title, settings, parts).encode("utf-8", "replace")


def live_page(title: str, settings: dict[str, Any]) -> str:
    """Return the page of the server, which loads style sheet, script and data from the same origin."""
    return _render(title, settings, {"style": "", "script": "", "live": True})


def _render(title: str, settings: dict[str, Any], parts: dict[str, Any]) -> str:
    from jinja2 import Environment, select_autoescape
    from markupsafe import Markup

    environment = Environment(autoescape=select_autoescape(default=True))
    template = environment.from_string(_asset("templates", "page.html"))
    version = metadata.version("tagtopics")
    ours = {name: Markup(parts[name]) for name in ("style", "script")}  # trusted: from this package
    ours["settings"] = Markup(safe_json({**settings, "version": version}))
    return template.render({**parts, **ours, "title": title, "icon": ICON, "version": version})


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(folder: str, name: str) -> str:
    return files("tagtopics.explore.report").joinpath(folder, name).read_text(encoding="utf-8")


def root_bytes(values: Float32 | Float64) -> str:
    """Return numbers between 0 and 1 as base64 of one byte each, 255 times their square root.

    The square root gives small proportions more precision.
    """
    steps = np.rint(np.sqrt(np.clip(values, 0, 1)) * 255)
    return base64.b64encode(steps.astype(np.uint8).tobytes()).decode()


def letters(values: Any) -> str:
    """Return whole numbers below 55,000 as characters, `#` for 0."""
    return (np.asarray(values).astype("<u4") + np.uint32(_FIRST_LETTER)).tobytes().decode("utf-32-le")


def numerals(values: Any) -> str:
    """Return whole numbers below 7,000,000 as letters: first all of them divided by 128, then the remainders.

    Compressed, they are smaller than decimal numbers, and compression takes a quarter of the time.
    """
    numbers = np.asarray(values, dtype=np.int64)
    return letters(numbers >> 7) + letters(numbers & 127)


def short_floats(values: Any) -> str:
    """Return numbers from 0 to 10^12, rounded to three significant digits, as `numerals`.

    0 is for numbers below 10^-9; others are 1 + 900 (exponent + 9) + the three digits as a number - 100.
    """
    numbers = significant(values, 3)
    exponent = np.floor(np.log10(np.maximum(numbers, 1e-9)) + 1e-12).astype(np.int64)
    digits = np.rint(numbers * _POWERS[np.maximum(2 - exponent, 0)] / _POWERS[np.maximum(exponent - 2, 0)])
    codes = 1 + 900 * (exponent + 9) + digits.astype(np.int64) - 100
    return numerals(np.where(numbers < 1e-9, 0, codes))


def root_planes(values: Float32 | Float64, exact_from: float) -> str:
    """Return numbers between 0 and 1 as letters: square roots in 16 bits, all high bytes before all low ones.

    Numbers below `exact_from` are rounded to the high byte: their low bytes are zero, which compresses well.
    """
    roots = np.sqrt(np.clip(np.asarray(values, dtype=np.float64), 0, 1)).ravel()
    most = np.ceil(np.sqrt(exact_from) * 65535 / 256) - 1  # they stay below
    coarse = np.minimum(np.rint(roots * 65535 / 256), most) * 256
    steps = np.where(roots**2 >= exact_from, np.rint(roots * 65535), coarse).astype(np.uint16)
    return letters(steps >> 8) + letters(steps & 255)


def round_numbers(values: Any, digits: int = 4) -> list[float]:
    """Return numbers rounded to significant digits."""
    return list(significant(values, digits).tolist())


def significant(values: Any, digits: int = 4) -> Float64:
    """Return numbers of any shape rounded to significant digits: the floats nearest to these decimals."""
    numbers = np.asarray(values, dtype=np.float64)
    size = np.abs(numbers)
    places = digits - 1 - np.floor(np.log10(np.where(size > 0, size, 1.0))).astype(np.int64)
    up, down = _POWERS[np.clip(places, 0, _EXACT)], _POWERS[np.clip(-places, 0, _EXACT)]
    found = np.rint(numbers * up / down) * down / up
    tiny = places > _EXACT
    if tiny.any():
        found[tiny] = [float(f"{value:.{digits}g}") for value in numbers[tiny].tolist()]
    return np.asarray(found)


def safe_json(value: Any) -> str:
    """Return JSON that is safe inside HTML: without `<`, `>`, `&` and Unicode line separators."""
    text = compact_json(value).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def compact_json(value: Any) -> bytes:
    """Return JSON without spaces, for data that is packed or sent by itself: inside HTML it is not safe."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")


def base64_size(n_bytes: int) -> int:
    """Return how many characters bytes take as base64."""
    return -(-n_bytes // 3) * 4


def compress_json(value: Any) -> bytes:
    """Return compressed JSON; equal values give equal bytes."""
    return gzip.compress(compact_json(value), LEVEL, mtime=0)


class Packing:
    """A JSON object compressed part by part; adding to it leaves it as it is, so parts can be tried."""

    def __init__(self) -> None:
        self._begun, self._compressor = b"", zlib.compressobj(LEVEL, wbits=31)
        self._next = b"{"

    def added(self, part: dict[str, Any]) -> Packing:
        """Return a copy with the members of another object, too; there must be some."""
        more = copy(self)
        more._compressor, more._next = self._compressor.copy(), b","
        more._begun += more._compressor.compress(self._next + compact_json(part)[1:-1])
        return more

    def packed(self) -> bytes:
        """Return the compressed object."""
        rest = self._compressor.copy()
        return self._begun + rest.compress(b"}") + rest.flush()

    def size(self) -> int:
        """Return how many characters it takes as base64."""
        return base64_size(len(self.packed()))
