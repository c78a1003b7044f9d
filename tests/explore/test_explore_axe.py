"""axe-core on every page of the report: light, dark, on a phone, with the workbench in use."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from explore_support import Watched

pytest_plugins = ("explore_fixtures",)

PLACES = (
    "#/", "#/topics", "#/topic/0", "#/tags", "#/tag/0", "#/groups", "#/groups/0", "#/groups/0+9",
    "#/documents", "#/document/0", "#/word/3", "#/search/salt", "#/nowhere", "#/time", "#/about",
    "#/?tag=place%3Asea&words=salt", "#/network", "#/topic/1?embed=1&card=Words",
)  # fmt: skip
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}
every_look = pytest.mark.parametrize(
    "look", ["light", *(pytest.param(look, marks=pytest.mark.slow) for look in ("dark", "phone"))]
)
RUN = """async () => {
  const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await axe.run(document, {
    resultTypes: ["violations"],
    runOnly: { type: "tag", values: levels },
    rules: { "target-size": { enabled: true }, "label-content-name-mismatch": { enabled: true } },
  });
  return found.violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.html.slice(0, 160)}`));
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core: of the file AXE_CORE names, or of the package axe-playwright-python."""
    named = os.environ.get("AXE_CORE")
    if named:
        return Path(named).read_text(encoding="utf-8")
    if find_spec("axe_playwright_python") is None:
        pytest.skip(
            "NO AXE-CORE: install axe-playwright-python; accessibility is tested by our own rules only"
        )
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@every_look
def test_axe_finds_nothing_on_any_page(browser: Any, address: str, axe: str, look: str) -> None:
    watched = Watched(browser, address, **LOOKS[look])
    page = watched.open()
    page.evaluate(axe)
    for place in PLACES:
        watched.go(place)
        assert page.evaluate(RUN) == [], (look, place)
    watched.close()


@every_look
def test_axe_finds_nothing_in_the_workbench(browser: Any, address: str, axe: str, look: str) -> None:
    watched = Watched(browser, address, **LOOKS[look])
    page = watched.open("#/workbench")
    page.evaluate(axe)
    assert page.evaluate(RUN) == []
    page.locator("textarea").first.fill("The ship left the harbour with salt, bread and an old violin.")
    page.get_by_role("button", name="Analyse").click()
    page.locator(".proposals button").first.wait_for(timeout=20_000)
    assert page.evaluate(RUN) == []
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_selector("#bench-result[aria-busy=false]")
    assert page.evaluate(RUN) == []
    watched.close()


def test_axe_finds_what_is_wrong(browser: Any, address: str, axe: str) -> None:
    watched = Watched(browser, address)
    page = watched.open("#/about")
    page.evaluate(axe)
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any(found.startswith("button-name") for found in page.evaluate(RUN))
    watched.close()
