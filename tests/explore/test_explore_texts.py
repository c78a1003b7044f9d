"""Interface texts: every one is in the catalogue, every catalogue is complete, and the pages use it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from explore_support import THEMES, Recommending, Watched, serving, wait_until, wait_until_whole

import tagtopics as tt
from tagtopics.cli import main
from tagtopics.explore import write_report
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report import texts
from tagtopics.explore.report.audit_page import AuditFinding
from tagtopics.explore.report.texts import LANGUAGES, catalogue, language_settings, translated
from tagtopics.explore.server.server import create_app

pytest_plugins = ("explore_fixtures",)

FOLDER = files("tagtopics.explore")
OTHERS = [language for language in LANGUAGES if language != "en"]
PLACES = (
    "#/", "#/topics", "#/topic/0", "#/tags", "#/tag/0", "#/groups", "#/groups/0", "#/groups/0+9",
    "#/groups/0+9+12", "#/documents", "#/document/0", "#/word/3", "#/search/salt", "#/search/vialin",
    "#/search/nowhere+at+all", "#/nowhere", "#/topic/nothing", "#/time", "#/about", "#/network", "#/story",
    "#/?tag=place%3Asea&words=salt&years=1991-1994", "#/?words=nowhere", "#/audit?kind=missing",
    "#/topic/1?embed=1&card=x", "#/workbench",
)  # fmt: skip


# ------------------------------------------------------------------------------------- the catalogue


def keys_in(code: str) -> Iterator[str]:
    """Yield the keys of the templates T`...` and rich`...` of a script, also those inside others."""
    for found in re.finditer(r"(?<![\w`])(?:T|rich)`", code):
        yield _template(code, found.end())[0]


def _template(code: str, at: int) -> tuple[str, int]:
    """Return the key of the template that begins at a place, and where it ends."""
    key = ""
    while code[at] != "`":
        if code[at] == "\\":
            key, at = key + code[at + 1], at + 2
        elif code.startswith("${", at):
            key, at = key + "{}", _expression(code, at + 2)
        else:
            key, at = key + code[at], at + 1
    return key, at + 1


def _expression(code: str, at: int) -> int:
    """Return where the expression in a template ends."""
    depth = 0
    while depth or code[at] != "}":
        depth += (code[at] == "{") - (code[at] == "}")
        if code[at] == "`":
            at = _template(code, at + 1)[1]
        elif code[at] == '"':
            at = code.index('"', at + 1) + 1
        else:
            at += 1
    return at + 1


def all_keys() -> set[str]:
    """Return the keys that scripts, template and server use."""
    keys: set[str] = set()
    for script in FOLDER.joinpath("static").iterdir():
        if script.name.endswith(".js"):
            lines = script.read_text(encoding="utf-8").splitlines()
            keys.update(keys_in("\n".join(line for line in lines if not line.lstrip().startswith("//"))))
    page = FOLDER.joinpath("templates", "page.html").read_text(encoding="utf-8")
    server = FOLDER.joinpath("hosting.py").read_text(encoding="utf-8")
    keys.update(re.findall(r'\bT\("([^"]+)"', page), re.findall(r'translated\([^"]*"([^"]+)"', server))
    return keys


def test_keys_are_found_in_templates_inside_templates() -> None:
    code = 'T`${f({ a: "}" })} of ${x ? T`${n} \\`inner\\`` : rich`more`} end` + notT`no`'
    assert set(keys_in(code)) == {"{} of {} end", "{} `inner`", "more"}


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_and_no_translation_is_left_over(language: str) -> None:
    assert set(catalogue(language)) == all_keys()


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_gaps_of_the_texts(language: str) -> None:
    for english, text in catalogue(language).items():
        gaps = re.findall(r"\{(\d*)\}", text)
        numbers = sorted(int(gap) if gap else i for i, gap in enumerate(gaps))
        assert numbers == list(range(english.count("{}"))), english
        assert (english[0] == " ") == (text[0] == " "), english


def test_gaps_are_filled_in_the_order_of_the_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "catalogue", lambda language: {"{} of {}": "{1}: {0}"})
    assert translated("xx", "{} of {}", 3, 5) == "5: 3"
    assert translated("xx", "Share@part") == "Share"


def test_english_pages_have_no_catalogue(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    assert language_settings("en") == {}
    write_report(model, tmp_path / "a.html", corpus=corpus, title="Four themes")
    assert '<html lang="en">' in (tmp_path / "a.html").read_text()[:200]


def test_an_unknown_language_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["report", "nothing.tt", "--language", "xx", "-o", str(tmp_path / "x.html")]) == 2
    assert "--language xx: not known; use one of en, de" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ the pages

MARKED = {ord("a") + i: 0xFF41 + i for i in range(26)} | {ord("A") + i: 0xFF21 + i for i in range(26)}
"""Letters by others that look like them: what has plain letters did not come out of the catalogue."""

SHOWN = """() => {
  const found = [document.title];
  const skipped = "script, style, noscript, textarea, pre, code, .text, .told-text, .snippet";
  for (const node of document.querySelectorAll("body, body *")) {
    if (node.closest(skipped)) continue;
    for (const name of ["title", "aria-label", "placeholder", "alt", "aria-roledescription"])
      if (name !== "aria-roledescription" && node.hasAttribute(name)) found.push(node.getAttribute(name));
    for (const child of node.childNodes) if (child.nodeType === 3) found.push(child.data);
  }
  return found;
}"""


def marked() -> dict[str, str]:
    """Return a catalogue of texts without plain letters."""
    keep = re.compile(r"(\{\})")
    return {key: keep.sub(r"\1", key.partition("@")[0]).translate(MARKED) for key in all_keys()}


def data_words(model: tt.TTM, corpus: tt.Corpus) -> set[str]:
    """Return the words of data: of the collection, and names of parameters and programs."""
    recipe = {} if corpus.recipe is None else corpus.recipe.__dict__
    parameters = model.get_params(deep=False) | recipe
    own = ["Four themes", "TTM", "tagtopics apply", "CSV SVG PNG JSON", "text nothing", *THEMES]
    own += [*corpus.vocabulary, *corpus.tag_names, *corpus.ids, "salt", "vialin", "nowhere at all"]
    own += [f"{name} {value}".replace("_", " ") for name, value in parameters.items()]
    return {word.lower() for text in own for word in re.findall(r"[A-Za-z]+", text)}


@pytest.fixture(scope="module")
def in_marks(
    model: tt.TTM, corpus: tt.Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The addresses of a report and of a server whose texts have marked letters."""
    path = tmp_path_factory.mktemp("marked") / "report.html"
    findings = [
        AuditFinding(kind="missing", change="add", tag="place:sea", score=0.9, document="text 1", row=1),
        AuditFinding(kind="doubtful", change="remove", tag="place:sea", score=0.9, document="text 0", row=0,
                     words=["salt"]),
        AuditFinding(kind="duplicate", change="merge", tag="place:sea", other="also:sea", score=0.9),
    ]  # fmt: skip
    story = {"title": "salt", "steps": [{"view": "#/topics", "caption": "salt"}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "catalogue", lambda language: marked())
        write_report(
            model, path, corpus=corpus, title="Four themes", findings=findings, story=story, language="xx"
        )
        from tagtopics.explore.record.to_topic_data import topic_data

        data = topic_data(model, corpus, "Four themes")
        app = create_app(data, Recommending(model, ["place:sea"]), language="xx")
    server = serving(app)
    yield path.as_uri(), next(server)
    next(server, None)


def _plain(page: Any, allowed: set[str]) -> list[str]:
    """Return the texts of a page with plain letters that are not data."""
    return [
        text
        for text in page.evaluate(SHOWN)
        if {word.lower() for word in re.findall(r"[A-Za-z]{2,}", text)} - allowed
    ]


def test_no_text_of_any_page_bypasses_the_catalogue(
    browser: Any, in_marks: tuple[str, str], model: tt.TTM, corpus: tt.Corpus
) -> None:
    allowed = data_words(model, corpus)
    watched = Watched(browser, in_marks[0])
    page = watched.open()
    for place in PLACES:
        watched.go(place)
        wait_until_whole(page)
        assert _plain(page, allowed) == [], place
    watched.go("#/topic/0")
    page.locator("#view-button").click()
    for menu in page.locator("main details summary").all():
        menu.click()
    wait_until(page, "() => [...document.querySelectorAll('main .sharing')].every(box => box.firstChild)")
    assert _plain(page, allowed) == []
    watched.close()


def test_no_text_of_the_workbench_bypasses_the_catalogue(
    browser: Any, in_marks: tuple[str, str], model: tt.TTM, corpus: tt.Corpus
) -> None:
    allowed = data_words(model, corpus)
    for address in in_marks:
        watched = Watched(browser, address)
        page = watched.open("#/workbench")
        page.locator("#bench-text").fill("qqq zzz")
        page.locator("button.main").click()
        page.locator("[role=alert]").first.wait_for()
        assert _plain(page, allowed) == []
        page.locator("#bench-text").fill("The ship left the harbour with salt, bread and an old violin.")
        page.locator("button.main").click()
        page.locator(".proposals button").first.wait_for(timeout=20_000)
        page.locator(".proposals button").first.click()
        wait_until(page, "() => document.querySelector('#bench-result').ariaBusy === 'false'")
        assert _plain(page, allowed) == []
        watched.close()


def test_plain_letters_are_found(browser: Any, in_marks: tuple[str, str]) -> None:
    watched = Watched(browser, in_marks[0])
    page = watched.open("#/about")
    page.evaluate("document.querySelector('main').append('Untranslated')")
    assert _plain(page, {"untranslated"}) != _plain(page, set())
    watched.close()


def test_a_german_report_is_german(browser: Any, model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    path = tmp_path / "de.html"
    write_report(model, path, corpus=corpus, title="Vier Themen", language="de")
    watched = Watched(browser, path.as_uri())
    page = watched.open()
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.locator("#pages a").first.inner_text() == "Übersicht"
    assert page.locator(".lead").inner_text().startswith("72 Dokumente nach Themen.")
    watched.go("#/about")
    shares = page.locator("main").inner_text()
    assert re.search(r"Mittlere Kohärenz \(NPMI\)\s+-?\d,\d\d", shares), "decimals have a comma"
    watched.go("#/groups/0+9")
    assert re.match(r"Zusammen ist ihr Hauptthema .* mit [\d,]+ %\. Einzeln hat es .* und .*\.",
                    page.locator(".verdict").inner_text().replace("\n", " "))  # fmt: skip
    assert watched.faults == []
    watched.close()


def test_the_server_speaks_german(model: tt.TTM, data: TopicData) -> None:
    server = serving(create_app(data, Recommending(model, []), language="de"))
    page = urlopen(next(server)).read().decode()
    next(server, None)
    settings = re.search(r'id="settings">(.*?)</script>', page)
    assert settings is not None
    assert '<html lang="de">' in page
    assert "Zum Inhalt" in page
    assert json.loads(settings[1])["texts"]["Overview"] == "Übersicht"
