"""Ten tasks of a newcomer to the explorer, each done in the browser in at most three clicks.

`tests/explore/test_explore_tasks.py` does them; `scripts/screenshots.py` takes their pictures for the docs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_CLICKS = 3


@dataclass(frozen=True)
class Names:
    """What the tasks ask for in a collection."""

    word: str  # that several tags share
    tags: tuple[str, str]  # that are on common documents
    text: str  # a new one


@dataclass
class Hand:
    """A reader at a page: every click is counted, typing is not."""

    page: Any
    names: Names
    clicks: int = 0
    downloads: list[Any] = field(default_factory=list)

    def click(self, target: Any, **options: Any) -> None:
        """Click something, once."""
        self.clicks += 1
        target.click(**options)

    def go(self, name: str, within: str = "#pages") -> None:
        """Click a place in the bar, or a page within the place, and wait until it is drawn."""
        link = self.page.locator(within).get_by_role("link", name=name, exact=True)
        self.click(link)
        link.and_(self.page.locator("[aria-current=page]")).wait_for()

    def pick(self, box: Any, tag: str) -> None:
        """Click a box for tags, type the name of one and press Enter."""
        self.click(box)
        box.fill(tag)
        self.page.wait_for_selector(".options [role=option]")
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")


@dataclass(frozen=True)
class Task:
    """A question, how it is answered, and what the page then shows."""

    name: str
    question: str
    answer: str  # what the reader does and sees
    do: Callable[[Hand], None]
    shows: str  # selector of what must be visible then


def _who(hand: Hand) -> None:
    hand.click(hand.page.locator("#find"))
    hand.page.keyboard.type(hand.names.word)
    option = hand.page.locator("#found [role=option]", has=hand.page.get_by_text(hand.names.word, exact=True))
    option.last.wait_for()
    hand.click(option.last)


def _changed(hand: Hand) -> None:
    hand.go("Time", "#within")


def _overlap(hand: Hand) -> None:
    hand.go("Compare")
    hand.go("Network", "#within")
    hand.click(hand.page.get_by_role("link", name="together").first)


def _send(hand: Hand) -> None:
    hand.click(hand.page.locator(".side .bars a").first)
    hand.page.locator(".hero .eyebrow").wait_for()
    hand.click(hand.page.locator("#view-button"))
    hand.click(hand.page.get_by_role("button", name="Copy").first)


def _near(hand: Hand) -> None:
    box = hand.page.locator("canvas.points").bounding_box()
    x, y = hand.page.evaluate(_POINT)
    hand.click(hand.page.locator("canvas.points"), position={"x": x * box["width"], "y": y * box["height"]})


# A free point of the map, in its middle if there is one.
_POINT = """() => {
  const canvas = document.querySelector("canvas.points");
  const box = canvas.getBoundingClientRect();
  const context = canvas.getContext("2d");
  const { width, height } = canvas;
  const { data } = context.getImageData(0, 0, width, height);
  const strong = (x, y) => {
    const at = 4 * (y * width + x);
    const channels = [data[at], data[at + 1], data[at + 2]];
    return Math.max(...channels) - Math.min(...channels) > 60;
  };
  const free = (x, y) => {
    const place = [box.left + (x / width) * box.width, box.top + (y / height) * box.height];
    return document.elementFromPoint(...place) === canvas;
  };
  const dot = (x, y) => strong(x, y) && strong(x + 2, y) && strong(x, y + 2) && free(x + 1, y + 1);
  for (const edge of [0.3, 0.05])
    for (let y = Math.round(height * edge); y < height * (1 - edge); y++)
      for (let x = Math.round(width * edge); x < width * (1 - edge); x++)
        if (dot(x, y)) return [(x + 1) / width, (y + 1) / height];
  return [0.5, 0.5];
}"""


def _both(hand: Hand) -> None:
    hand.go("Compare")
    for i, tag in enumerate(hand.names.tags):
        hand.pick(hand.page.locator("main .picker .combo input"), tag)
        hand.page.locator("main .picker .chosen li").nth(i).wait_for()


def _filtered(hand: Hand) -> None:
    hand.pick(hand.page.locator(".filterbar .combo input"), hand.names.tags[0])
    hand.page.locator(".filterbar .chosen li").first.wait_for()
    hand.click(hand.page.locator("#filter-words"))
    hand.page.keyboard.type(hand.names.word)
    hand.page.keyboard.press("Enter")
    hand.page.locator(".filterbar .chosen li").nth(1).wait_for()


def _tagged(hand: Hand) -> None:
    hand.go("Try a text")
    hand.click(hand.page.locator("#bench-text"))
    hand.page.locator("#bench-text").fill(hand.names.text)
    hand.click(hand.page.get_by_role("button", name="Analyse"))


def _chart(hand: Hand) -> None:
    hand.click(hand.page.locator(".side .bars a").first)
    words = hand.page.locator(".card", has=hand.page.locator("h2", has_text="Words"))
    hand.click(words.locator("summary"))
    with hand.page.expect_download() as waiting:
        hand.click(words.get_by_role("button", name="SVG"))
    hand.downloads.append(waiting.value)


def _trust(hand: Hand) -> None:
    hand.go("Trust")


TASKS = (
    Task(
        "who",
        "Who works on this?",
        "Type a word into the search and choose it: its page lists the tags (people, venues, subjects) that "
        "it is credited to, and its documents.",
        _who,
        "main .card h2:has-text('Tags')",
    ),
    Task(
        "changed",
        "What has changed over the years?",
        "*Time*, a page of *Atlas*, shows rising and falling topics and tags.",
        _changed,
        ".multiples svg",
    ),
    Task(
        "overlap",
        "Which tags overlap?",
        "*Network*, a page of *Compare*, connects tags that are on the same documents; *together* opens a "
        "pair.",
        _overlap,
        ".verdict",
    ),
    Task(
        "send",
        "How do I send this view to a colleague?",
        "*Share*, then *Copy*: the address holds the state of the page.",
        _send,
        "#view-box #view-address",
    ),
    Task(
        "near",
        "What is this document about, and what is like it?",
        "Click a point on the map to open the document, with its topics and related documents.",
        _near,
        ".text .w",
    ),
    Task(
        "both",
        "What do two tags have in common?",
        "Choose two tags under *Compare* to see their common topics, words and documents.",
        _both,
        ".verdict",
    ),
    Task(
        "filter",
        "Which documents of this tag mention that?",
        "Choose a tag and type words into the filter above the map. The map, the topics and the documents "
        "change accordingly.",
        _filtered,
        ".filterbar .chosen li:nth-child(2)",
    ),
    Task(
        "tags",
        "Which tags would a new text get?",
        "Press *Try a text*, paste one and press *Analyse*.",
        _tagged,
        ".proposals button",
    ),
    Task(
        "chart",
        "Can I have this chart for my paper?",
        "Every card has a *Share* menu with CSV, SVG, PNG, a citation, and code to embed it.",
        _chart,
        ".sharing textarea",
    ),
    Task(
        "trust",
        "How far can I trust it?",
        "*Trust* describes the data, the model, its quality and limits, and has a glossary.",
        _trust,
        ".glossary",
    ),
)
