"""The pages: links resolve, code blocks print what is shown, the API page and the lists are current."""

from __future__ import annotations

import inspect
import io
import json
import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.cli import main
from tagtopics.cli.app import _parser
from tagtopics.corpus.formats import registry
from tagtopics.explore.server.tools import MOST_TOKENS, Tools

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = DOCS / "example.html"  # by scripts/example_report.py, when the site is built
RESULTS = ROOT / "reproduction"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), RESULTS / "README.md", *(RESULTS / "pages").rglob("*.md")]
)
EXAMPLES = runpy.run_path(str(ROOT / "scripts" / "update_docs.py"))
LONG_PAGES = ("a-to-z.md", "images.md", "scale.md", "vectors.md")  # whose blocks take more than a second
DECISIONS = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


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
        assert file.exists() or file == MADE, link
        if anchor:
            assert anchor in anchors(file), link


def test_the_link_test_sees_links() -> None:
    links = list(relative_links(ROOT / "README.md"))
    assert "docs/images/explorer-document.png" in links
    assert "docs/getting-started.md#input" in links


def test_links_of_the_site_out_of_docs_lead_to_the_repository() -> None:
    links = runpy.run_path(str(ROOT / "scripts" / "link_repository.py"))
    text = "[a](../../reproduction/pages/a.md#b) [c](../index.md) [d](e.md) [f](https://example.org)"
    found = links["absolute_links"](text, "guides/audit.md")
    assert found == text.replace("../../reproduction", f"{links['SOURCE']}/reproduction")


@pytest.mark.parametrize("folder", [DOCS / "images", RESULTS / "pages" / "images"], ids=name)
def test_every_image_is_on_a_page(folder: Path) -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in relative_links(page)}
    images = [path for path in folder.iterdir() if path.suffix != ".py"]
    assert len(images) > 5
    assert [path.name for path in images if path not in shown] == []
    assert len({path.read_bytes() for path in images}) == len(images), "two images are the same"


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.name in LONG_PAGES)) for page in EXAMPLES["PAGES"]],
    ids=name,
)
def test_blocks_print_what_the_page_shows(page: Path) -> None:
    """Run the code blocks of a page one after the other, as a reader would."""
    results = EXAMPLES["run_page"](page)
    for result in results if EXAMPLES["is_reproducible"](page) else []:
        if not EXAMPLES["matches"](result.expected, result.printed):
            place = f"{name(page)}, line {result.block.first}"
            pytest.fail(f"{place}: run scripts/update_docs.py\n{EXAMPLES['difference'](result)}")


def test_output_is_compared_only_with_the_versions_that_made_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text, expected in (
        ("no versions", True),
        (f"<!-- output with numpy {np.__version__} -->", True),
        (f"<!-- output with numpy {np.__version__}, scipy 0.0.1 -->", False),
    ):
        page.write_text(text, encoding="utf-8")
        assert EXAMPLES["is_reproducible"](page) is expected


@pytest.mark.parametrize("page", EXAMPLES["PAGES"], ids=name)
def test_every_block_runs_or_is_only_shown(page: Path) -> None:
    known = {*EXAMPLES["RUN"], *EXAMPLES["SHOWN"]}
    for block in EXAMPLES["find_blocks"](page.read_text(encoding="utf-8").splitlines()):
        assert block.language in known, f"line {block.first}"


def test_an_output_that_differs_is_found_and_rewritten() -> None:
    lines = ["```python", "print(1)", "```", "", "```text", "2", "```", "End."]
    (block,) = EXAMPLES["find_blocks"](lines)
    result = EXAMPLES["Result"](block, "2", "1\n")
    assert not EXAMPLES["matches"](result.expected, result.printed)
    assert EXAMPLES["updated"](lines, [result]) == [*lines[:5], "1", *lines[6:]]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("topics  7 (27 %),   9 %\n──────", "topics  7 (26 %),  10 %\n───────", True),  # other widths
        ("93 sweeps, 0.43, 452.1 ms", "94 sweeps, 0.44, 459.0 ms", True),
        ("0.43", "0.45", False),
        ("27 %", "29 %", False),
        ("93 sweeps", "96 sweeps", False),
        ("+0.01", "-0.01", False),
        ("93 documents", "94 documents", False),
        ("version 0.2.0", "version 0.2.1", False),
        ("water 0.43", "sea 0.43", False),
        ("0.43 0.5", "0.43", False),
        ("took ... s, 0.43", "took 9.1 s, 0.42", True),
        ("took ... s, 0.43", "took 9.1 s, 0.49", False),
    ],
)
def test_only_measured_numbers_may_differ_and_little(shown: str, printed: str, same: bool) -> None:
    assert EXAMPLES["matches"](shown, printed) is same


def test_an_output_is_added_and_removed() -> None:
    bare, full = ["```python", "f()", "```"], ["```python", "f()", "```", "", "```text", "1", "```"]
    for before, printed, after in ((bare, "1\n", full), (full, "", bare)):
        (block,) = EXAMPLES["find_blocks"](before)
        shown = "\n".join(before[i] for i in block.output)
        assert EXAMPLES["updated"](before, [EXAMPLES["Result"](block, shown, printed)]) == after


def test_a_command_that_fails_is_an_error() -> None:
    for command in ("false", "tagtopics fit nothing-here"):
        with pytest.raises(RuntimeError, match="exit code"):
            EXAMPLES["_run_command"](command)


def test_what_is_cut_or_differs_between_runs_stays_so() -> None:
    merged = EXAMPLES["merged"]
    assert merged(["a", "...", "z"], ["b", "c", "d", "y"]) == ["b", "...", "y"]
    assert merged(["a", "b", "..."], ["c", "d"]) == ["c", "d"]
    assert merged(["took ... s", "old"], ["took 1.5 s", "new"]) == ["took ... s", "new"]
    assert merged([], ["seconds   0.0 to read, 1.2 to fit"]) == ["seconds   ... to read, ... to fit"]


def test_the_api_page_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_api_page.py"))
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == script["page"](), "run: python scripts/write_api_page.py"
    assert page.index("### read_corpus") < page.index("### TTM") < page.index("### Progress"), "by use"
    assert "- `path`: the folder of the model." in page
    assert set(script["FIRST"]) <= set(dir(tt))


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


def test_the_reader_on_the_architecture_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FORMATS, "notes", registry.Format())  # removed after the test
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec(code, {})
    (tmp_path / "a.notes").write_text("sea; river\nSalmon return.\n\ncity\nA late tram.\n", encoding="utf-8")
    corpus = tt.read_corpus(tmp_path / "a.notes")
    assert corpus.texts == ("Salmon return.", "A late tram.")
    assert [corpus.tags_of(d) for d in range(2)] == [("river", "sea"), ("city",)]


# -------------------------------------------------------------------------------- pages for agents

GUIDE = DOCS / "guides" / "agents.md"


def commands_on(page: Path) -> list[list[str]]:
    """Return the arguments of every `tagtopics` command of a page."""
    found = re.findall(r"(?:`|^\$ )(tagtopics [^`\n]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line)[1:] for line in found]


@pytest.mark.parametrize("page", [GUIDE, DOCS / "llms.txt"], ids=name)
def test_every_command_for_agents_can_be_parsed(page: Path) -> None:
    commands = commands_on(page)
    (config,) = re.findall(r'"args": (\[.*?\])', GUIDE.read_text(encoding="utf-8"))
    assert len(commands) > 1
    for command, *arguments in [*commands, json.loads(config)]:
        _parser(command).commands[command].make_context(command, arguments)
    with pytest.raises(Exception, match="No such option"):
        _parser("topics").commands["topics"].make_context("topics", ["papers.tt", "--nothing"])


def test_json_of_commands_has_the_keys_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DOCS / "examples" / "papers.jsonl", tmp_path)
    fit, *others = [
        command for command in commands_on(GUIDE) if "--http" not in command and command[0] != "mcp"
    ]
    assert fit[0] == "fit"
    assert main(fit) == 0
    rows = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if "--json` |" in line]
    assert len(rows) >= 6
    for row in rows:
        _, _, command, keys, _ = row.split("|")
        given = shlex.split(command.strip(" `"))[1:]
        assert given in others
        with redirect_stdout(io.StringIO()) as out:
            assert main(["a late tram" if part == "TEXT" else part for part in given]) == 0
        text = out.getvalue()
        missing = [key for key in re.findall(r"`(\w+)`", keys) if f'"{key}":' not in text]
        assert missing == [], command


def test_tools_and_their_example_are_those_of_the_server(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    corpus = tt.read_corpus(DOCS / "examples" / "papers.jsonl", text="abstract", tags="authors")
    tools = Tools(tt.TTM(n_topics=3, random_state=0).fit(corpus), corpus)
    named = {
        tool: re.findall(r"`(\w+)`", given)
        for tool, given in re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.M)
    }
    assert named == {one.__name__: list(inspect.signature(one).parameters) for one in tools.all()}
    assert f"{MOST_TOKENS:,} tokens" in text
    (example,) = [
        json.loads(block)
        for block in re.findall(r"^```json\n(.*?)```", text, re.M | re.S)
        if '"tool"' in block
    ]
    assert json.loads(getattr(tools, example["tool"])(**example["arguments"])) == example["answer"]


def test_agents_md_names_what_exists() -> None:
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"`make ([\w-]+)`", text)
    assert len(named) > 2
    assert set(named) <= set(targets)
    paths = re.findall(r"\b((?:src|tests|docs|scripts)/[\w./-]*\w|CHANGELOG\.md)", text)
    assert len(paths) > 12
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(text.splitlines()) < 60


def test_llms_txt_has_the_format_and_its_links_lead_to_pages() -> None:
    lines = (DOCS / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# tagtopics"
    assert lines[2].startswith("> ")
    headings = [i for i, line in enumerate(lines) if line.startswith("## ")]
    assert lines[headings[-1]] == "## Optional"
    items = [line for line in lines[headings[0] :] if line and not line.startswith("## ")]
    links = [re.fullmatch(r"- \[[^]]+\]\(([\w/-]+)\.html\): .+", line) for line in items]
    assert all(links)
    pages = [link[1].replace("decisions/index", "decisions/README") for link in links if link]
    assert len(pages) > 10
    assert [page for page in pages if not (DOCS / f"{page}.md").is_file()] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130
