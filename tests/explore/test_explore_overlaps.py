"""No text of the pages lies on another, whatever the length of names and the width of the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explore_support import THEMES, Watched, wait_for_map, wait_until_whole

import tagtopics as tt
from tagtopics import write_report

pytest_plugins = ("explore_fixtures",)

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
PLACES = (
    "#/", "#/topics", "#/topic/0", "#/tags", "#/tag/0", "#/groups", "#/groups/0+9", "#/documents",
    "#/document/0", "#/word/3", "#/search/salt", "#/time", "#/about", "#/network", "#/workbench",
    "#/?tag=place%3Asea",
)  # fmt: skip


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with long titles, with and without spaces, and several authors."""
    rng = np.random.default_rng(3)
    names = [f"author:Maximiliane-{a} van der Bergenhausen" for a in range(9)]
    words = {name: text.split() for name, text in THEMES.items()}
    rows = []
    for d in range(48):
        theme = list(THEMES)[d % 4]
        chosen = [str(word) for word in rng.choice(words[theme], 40)]
        title = " ".join(chosen[: 4 + d % 30]).capitalize() if d % 6 else "_".join(chosen[:20])
        authors = [str(name) for name in rng.choice(names, 1 + d % 6, replace=False)]
        tags = [*authors, f"place:{theme}", f"year:{2001 + d % 8}"]
        rows.append({"id": f"text {d}", "title": title, "text": " ".join(chosen), "tags": tags})
    corpus = tt.read_corpus(rows)
    path = tmp_path_factory.mktemp("long") / "report.html"
    write_report(tt.TTM(n_topics=5, random_state=0, max_iter=40).fit_topics(corpus), path, corpus=corpus)
    return path.as_uri()


@pytest.fixture(params=SIZES)
def sized(browser: Any, long_names: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """The report with long titles, in windows of two sizes."""
    width, height = SIZES[request.param]
    watched = Watched(browser, long_names, viewport={"width": width, "height": height})
    yield watched
    assert watched.faults == []
    watched.close()


# --------------------------------------------------------------------------------------------- overlaps

CARDS = """() => {
  const canvas = document.querySelector('.terrain canvas');
  const card = document.querySelector('.hovercard');
  const frame = canvas.getBoundingClientRect();
  const boxOf = node => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const isIn = (a, b) => a[0] > b[0] - 1 && a[1] > b[1] - 1 && a[2] < b[2] + 1 && a[3] < b[3] + 1;
  const meet = (a, b) => a[0] < b[2] - 1 && b[0] < a[2] - 1 && a[1] < b[3] - 1 && b[1] < a[3] - 1;
  const seen = new Set();
  const wrong = [];
  for (let y = 5; y < frame.height; y += 9)
    for (let x = 5; x < frame.width; x += 9) {
      const at = { clientX: frame.left + x, clientY: frame.top + y };
      canvas.dispatchEvent(new PointerEvent('pointermove', at));
      if (card.hidden || seen.has(card.textContent)) continue;
      seen.add(card.textContent);
      const box = boxOf(card);
      const parts = [...card.children].map(boxOf);
      const { scrollWidth, scrollHeight, clientWidth, clientHeight } = card;
      const fault = (text, found) => found && wrong.push(`${text}: ${card.innerText}`);
      fault('outside the map', !isIn(box, boxOf(canvas)));
      fault('outside the card', !parts.every(part => isIn(part, box)));
      fault('larger than the card', scrollWidth > clientWidth || scrollHeight > clientHeight);
      fault('overlap', parts.some((a, i) => parts.slice(0, i).some(b => meet(a, b))));
    }
  return { seen: seen.size, wrong };
}"""


def test_parts_of_the_card_of_a_point_do_not_overlap(sized: Watched) -> None:
    page = sized.open()
    wait_for_map(page)
    found = page.evaluate(CARDS)
    assert found["seen"] > 20
    assert found["wrong"] == []


TEXTS = """() => {
  const clipped = (rect, node) => {
    const { left, right, top, bottom, height } = rect;
    const box = { left, right, top: top + height / 8, bottom: bottom - height / 8 };
    for (let at = node; at instanceof Element; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      const edge = at.getBoundingClientRect();
      for (const side of ['left', 'top']) box[side] = Math.max(box[side], edge[side]);
      for (const side of ['right', 'bottom']) box[side] = Math.min(box[side], edge[side]);
    }
    return box;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const boxes = [];
  while (walker.nextNode()) {
    const { currentNode: text } = walker;
    const seen = text.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!seen || !text.data.trim() || text.parentElement.closest('.hidden, .skip, title')) continue;
    range.selectNodeContents(text);
    for (const rect of range.getClientRects()) {
      const box = clipped(rect, text.parentElement);
      if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push({ ...box, text });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  const found = [];
  boxes.forEach((a, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - 1; j++) {
      const b = boxes[j];
      if (a.text !== b.text && a.left < b.right - 2 && b.left < a.right - 2)
        found.push(`${a.text.data} | ${b.text.data}`);
    }
  });
  return { texts: boxes.length, found };
}"""
"""Pairs of texts that lie on each other; an eighth of a line above and below does not count."""


HOVERED = """() => {
  const canvas = document.querySelector('.terrain canvas');
  const { left, top, width } = canvas.getBoundingClientRect();
  for (let x = 5; x < width && document.querySelector('.hovercard').hidden; x += 9)
    for (let y = 5; y < 400 && document.querySelector('.hovercard').hidden; y += 9)
      canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + x, clientY: top + y }));
  document.querySelector('.terrain .names').remove(); // the card lies on them
}"""


def test_no_text_lies_on_another(sized: Watched) -> None:
    page = sized.open()
    for place in PLACES:
        sized.go(place)
        wait_until_whole(page)
        if place == "#/":
            page.evaluate(HOVERED)
            assert page.locator(".hovercard").is_visible()
        found = page.evaluate(TEXTS)
        assert found["texts"] > 10
        assert found["found"] == [], place
