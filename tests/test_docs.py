"""The pages: links resolve, examples run, the API page is what the script writes, decisions are listed."""

from __future__ import annotations

import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
DECISIONS = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_RUNNABLE = re.compile(r"^<!-- runnable -->\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def relative_links(path: Path) -> Iterator[str]:
    """Yield the links and images of a page that lead to a place in the project."""
    text = _CODE.sub("", _FENCE.sub("", path.read_text(encoding="utf-8")))
    for target in _LINK.findall(text):
        if not re.match(r"[a-z]+:", target):
            yield unquote(target)


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = _HEADING.findall(_FENCE.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in headings}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_resolve(page: Path) -> None:
    for link in relative_links(page):
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.is_relative_to(ROOT), link
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file), link


def test_the_link_test_sees_links() -> None:
    links = list(relative_links(ROOT / "README.md"))
    assert "docs/images/explorer-document.png" in links
    assert "docs/getting-started.md#input" in links


RUNNABLE = [page for page in PAGES if _RUNNABLE.search(page.read_text(encoding="utf-8"))]


def test_the_pages_that_readers_see_first_have_examples() -> None:
    assert {ROOT / "README.md", DOCS / "getting-started.md"} <= set(RUNNABLE)


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the examples of a page one after the other, as a reader would."""
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")
    shutil.copy(DOCS / "examples" / "papers.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    examples = _RUNNABLE.findall(page.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for number, example in enumerate(examples, start=1):
        exec(compile(example, f"{page.name}, example {number}", "exec"), names)


def test_the_api_page_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_api_page.py"))
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == script["page"](), "run: python scripts/write_api_page.py"


@pytest.mark.parametrize("place", ["mkdocs.yml", "docs/decisions/README.md"])
def test_every_decision_is_listed(place: str) -> None:
    text = (ROOT / place).read_text(encoding="utf-8")
    assert [decision for decision in DECISIONS if decision not in text] == []


def test_every_guide_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    guides = [f"guides/{path.name}" for path in (DOCS / "guides").glob("*.md")]
    assert [guide for guide in guides if guide not in navigation] == []


def test_what_the_navigation_names_exists() -> None:
    pages = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert [page for page in pages if not (DOCS / page).is_file()] == []
