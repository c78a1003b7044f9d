"""Printed pages: the whole map, bars in their colours, no controls."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from explore_support import Watched, wait_until_whole

pypdf = pytest.importorskip("pypdf")
pytest_plugins = ("explore_fixtures",)

NAMES = """() => [...document.querySelectorAll('.terrain .name.topic:not([hidden])')].map(node => {
  const [own, all] = [node, document.querySelector('.terrain')].map(one => one.getBoundingClientRect());
  return [node.innerText.split(/[, \\n]/)[0], (own.left + own.width / 2 - all.left) / all.width]; })"""


class Printed:
    """What is on the first page of a print, as browsers print by default: without backgrounds."""

    def __init__(self, page: Any) -> None:
        reader = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4")))
        self.colours: list[tuple[float, ...]] = []
        self.words: list[tuple[str, float]] = []
        first = reader.pages[0]
        self.width = float(first.mediabox.width)
        first.extract_text(visitor_text=self._text, visitor_operand_before=self._operand)
        self.text = " ".join(word for word, _ in self.words)

    def _text(self, text: str, frame: list[float], place: list[float], *_: Any) -> None:
        x = frame[0] * place[4] + frame[4]
        self.words += [(word, x) for word in re.findall(r"\w+", text)]

    def _operand(self, operator: bytes, operands: list[Any], *_: Any) -> None:
        if operator in (b"rg", b"RG"):
            self.colours.append(tuple(round(float(part), 2) for part in operands))

    @property
    def hues(self) -> set[tuple[float, ...]]:
        """The colours that are not grey."""
        return {colour for colour in self.colours if max(colour) - min(colour) > 0.15}


def test_bars_are_printed_in_their_colours(watched: Watched) -> None:
    page = watched.open("#/tag/place%3Asea")
    wait_until_whole(page)
    colours = page.eval_on_selector_all(
        ".bars .fill", "all => all.map(x => getComputedStyle(x).backgroundColor)"
    )
    assert len(set(colours)) > 1
    assert len(Printed(page).hues) >= len(set(colours))


def test_the_map_is_printed_whole_and_without_controls(watched: Watched) -> None:
    page = watched.open()
    wait_until_whole(page)
    names = page.evaluate(NAMES)
    assert len(names) == 5
    printed = Printed(page)
    assert len(printed.hues) >= 5
    assert page.locator(".printed").count() == 0  # only while it is printed
    assert not re.search(r"Lasso|Words in|Colour by|Any from", printed.text)
    for name, part in names:
        places = [x for word, x in printed.words if word == name]
        assert any(abs(x / printed.width - part) < 0.2 for x in places), (name, part, places)
