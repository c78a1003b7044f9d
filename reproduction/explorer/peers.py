"""The same documents in our report and in other explorers, opened in Chromium: pages/explorer-comparison.md.

    python -m reproduction.explorer.peers --python build/peers/bin/python   all of it
    python -m reproduction.explorer.peers --only pyldavis --python ...      one explorer again
    python -m reproduction.explorer.peers --page                            the page again, from the records

The other explorers live in an environment of their own:

    python -m venv build/peers && build/peers/bin/pip install datamapplot topic-wizard pyLDAvis

Embedding Atlas may need another one; `--python atlas=PATH` names it. All explorers get the same texts, and
topics and places from one fit. Pages that load scripts from elsewhere get them from local copies of the npm
packages, so that their seconds hold no network time; what has no copy is not answered.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.explorer import chromium, large_corpus
from benchmarks.machine import load_average
from reproduction import PAGES, RECORDS, ROOT
from reproduction.explorer.copies import Copies
from reproduction.explorer.page import write_page

FOLDER = RECORDS / "explorer"
WAIT = 240_000
OPENED = 3
"""How often each page is opened; the median counts."""


@dataclass(frozen=True)
class Explorer:
    """An explorer, and how its page is used."""

    name: str
    title: str
    ready: str  # JavaScript that tells whether the first view is drawn
    search: str | None = None  # selector of the search field
    before: str | None = None  # what to click before documents can be clicked
    target: str | None = None  # what documents are drawn on; None without documents
    heading: str | None = None  # where the page of a document has its name
    server: bool = False


OURS = Explorer(
    "ours",
    "tagtopics",
    "document.documentElement.dataset.ready === 'yes'",
    "#find",
    target="canvas.points",
    heading="main h1",
)
OURS_ALL = replace(OURS, name="ours-all", title="tagtopics, all texts")
"""The same without a limit of 15 MB: `--max-mb 100`."""

PEERS = (
    Explorer(
        "datamapplot",
        "DataMapPlot",
        "!!document.querySelector('#deck-container canvas') && "
        "[...document.querySelectorAll('#loading, .loading')].every((n) => !n.offsetParent)",
        "#text-search",
        None,
        "#deck-container canvas",
    ),
    Explorer(
        "topicwizard",
        "topicwizard",
        "document.querySelectorAll('.js-plotly-plot .main-svg').length > 0",
        None,
        "text=Documents",
        ".js-plotly-plot .nsewdrag",
        server=True,
    ),
    Explorer("pyldavis", "pyLDAvis", "document.querySelectorAll('circle.dot').length > 0"),
    Explorer(
        "atlas",
        "Embedding Atlas",
        "document.querySelectorAll('canvas').length > 0",
        "input[type=search], input[placeholder*=earch]",
        None,
        "canvas",
        server=True,
    ),
)
ALL = {one.name: one for one in (OURS, OURS_ALL, *PEERS)}


# -------------------------------------------------------------------------------------------- making


def prepare(folder: Path, n_docs: int) -> dict[str, Any]:
    """Fit a model, write our reports, and what the others need; what is there is not made again."""
    if (folder / "made.json").exists():
        return dict(json.loads((folder / "made.json").read_text(encoding="utf-8")))
    import tagtopics as tt
    from tagtopics import ReportOptions, write_report
    from tagtopics.explore.map.terrain import terrain_of
    from tagtopics.explore.record.to_topic_data import topic_data

    corpus = large_corpus(n_docs)
    model = tt.TTM(n_topics=50, max_iter=15, random_state=0).fit(corpus)
    began = time.perf_counter()
    data = topic_data(model, corpus, f"{n_docs:,} generated documents")
    recorded, facts = time.perf_counter() - began, {}
    for name, most in (("ours", 15.0), ("ours-all", 100.0)):
        began = time.perf_counter()
        size = write_report(data, folder / f"{name}.html", options=ReportOptions(max_mb=most, offline=model))
        seconds = recorded + time.perf_counter() - began
        facts[name] = {"version": tt.__version__, "seconds": seconds, "n_texts": size.n_bodies}
    common = folder / "common"
    common.mkdir(parents=True, exist_ok=True)
    terrain = terrain_of(data)
    with (common / "documents.jsonl").open("w", encoding="utf-8") as file:
        for d, text in enumerate(corpus.texts or ()):
            row = {"id": corpus.ids[d], "text": text, "tags": list(corpus.tags_of(d))}
            file.write(json.dumps(row | {"topic": data.names[int(terrain.region[d])]}) + "\n")
    np.savez(
        common / "arrays.npz",
        topics=data.topic_word,
        documents=data.documents.topics,
        places=terrain.places * [1, -1],
    )
    sp.save_npz(common / "counts.npz", sp.csr_matrix(corpus.counts))
    names = {"vocabulary": list(corpus.vocabulary), "topics": list(data.names)}
    (common / "names.json").write_text(json.dumps(names), encoding="utf-8")
    (folder / "made.json").write_text(json.dumps(facts), encoding="utf-8")
    return facts


@contextmanager
def made(one: Explorer, folder: Path, python: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Make the page of another explorer, or serve it; yield its address and what making it took."""
    script = str(Path(__file__).with_name("make.py"))
    if not one.server:
        told = subprocess.run(
            [python, script, one.name, str(folder)], capture_output=True, text=True, check=False
        )
        yield (folder / f"{one.name}.html").as_uri(), _told(told.stdout, told.stderr)
        return
    port = _free_port()
    command = [python, script, one.name, str(folder), str(port)]
    if one.name == "atlas":
        table = subprocess.run(command, capture_output=True, text=True, check=False)
        facts = _told(table.stdout, table.stderr)
        columns = ["--text", "text", "--x", "x", "--y", "y", "--disable-projection"]
        atlas = str(Path(python).with_name("embedding-atlas"))
        command = [atlas, str(folder / "atlas.parquet"), *columns, "--port", str(port), "--no-auto-port"]
    began = time.perf_counter()
    with (folder / f"{one.name}.log").open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            if one.name != "atlas":
                assert server.stdout is not None
                facts = _told(server.stdout.readline(), (folder / f"{one.name}.log").read_text())
            _wait_for(port, server)
            facts["seconds"] = time.perf_counter() - began
            yield f"http://127.0.0.1:{port}/", facts
        finally:
            server.terminate()
            server.wait(30)


def _told(line: str, errors: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line.strip().splitlines()[-1]))
    except (ValueError, IndexError):
        last = [row for row in errors.strip().splitlines() if row.strip()][-1:] or ["no message"]
        raise RuntimeError(last[0][:300]) from None


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[str]) -> None:
    for _ in range(1800):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with code {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    raise RuntimeError("the server did not answer within 30 minutes")


# ------------------------------------------------------------------------------------------- looking

FOCUSABLE = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex], area[href], iframe")]
  .filter((n) => n.tabIndex >= 0 && !n.disabled && n.getClientRects().length &&
    !(n.type === "radio" && !n.checked) && getComputedStyle(n).visibility !== "hidden").length"""
FOCUSED = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return 0;
  window.reached ||= new Set();
  window.reached.add(node);
  return window.reached.size;
}"""
AXE = """async () => {
  const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const only = { type: "tag", values: levels };
  const found = await axe.run(document, { resultTypes: ["violations"], runOnly: only });
  return found.violations.map((one) => [one.id, one.nodes.length]);
}"""
MOST_TABS = 400


def look(one: Explorer, address: str, folder: Path) -> dict[str, Any]:
    """Open a page several times; return what it took and what it offers."""
    copies = Copies(folder)
    with chromium() as browser:
        seconds = [_opened(browser, one, address, copies)[0] for _ in range(OPENED - 1)]
        took, page, received = _opened(browser, one, address, copies)
        found = {
            "seconds_to_first_view": sorted([*seconds, took])[OPENED // 2],
            "bytes": received if one.server else (folder / f"{one.name}.html").stat().st_size,
            "hosts": sorted({url.split("/")[2] for url in copies.asked}),
            "requests": round(len(copies.asked) / OPENED),
            "unanswered": sorted(set(copies.missing)),
            "map": "WebGPU is unavailable" not in page.locator("body").inner_text(),
        }
        if one != OURS_ALL:  # looks like ours
            _picture(page, one)
        found |= {"axe": _axe(page), "keyboard": _keyboard(page)}
        found["search"] = _searched(page, one, folder)
        page.close()
        found["click"] = _clicked(browser, one, address, copies, folder)
        found["offline"] = one.server or _opens_offline(browser, one, address, folder)
    return found | {"load": load_average()}


def _page(browser: Any) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(WAIT)
    return page


def _opened(browser: Any, one: Explorer, address: str, copies: Copies) -> tuple[float, Any, int]:
    """Open a page; return seconds until its first view, the page, and the bytes that it received."""
    page, sizes = _page(browser), []
    page.on("response", lambda answer: sizes.append(_length(answer)))
    copies.route(page)
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    _until(page, one.ready, WAIT / 1000)
    return time.perf_counter() - began, page, sum(sizes)


def _length(answer: Any) -> int:
    try:
        return len(answer.body())
    except Exception:  # answers without a body, such as redirects
        return 0


def _until(page: Any, script: str, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        try:
            if page.evaluate(f"() => Boolean({script})"):
                return
        except Exception:  # the page is being replaced
            pass
        page.wait_for_timeout(20)
    raise RuntimeError(f"no first view within {seconds:.0f} seconds")


def _opens_offline(browser: Any, one: Explorer, address: str, folder: Path) -> bool:
    page = _page(browser)
    Copies(folder).route(page, offline=True)
    page.goto(address, wait_until="commit")
    try:
        _until(page, one.ready, 40)
    except RuntimeError:
        return False
    finally:
        page.close()
    return True


def _axe(page: Any) -> dict[str, Any]:
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(AXE)
    return {"rules": len(found), "elements": sum(n for _, n in found), "names": [name for name, _ in found]}


def _keyboard(page: Any) -> dict[str, int]:
    """Count what can have the focus, and what the key Tab reaches."""
    focusable, reached = page.evaluate(FOCUSABLE), 0
    page.evaluate("() => { document.activeElement.blur(); window.reached = new Set(); }")
    for _ in range(min(focusable + 10, MOST_TABS)):
        page.keyboard.press("Tab")
        reached = max(reached, page.evaluate(FOCUSED))
    return {"focusable": focusable, "reached": reached}


def _searched(page: Any, one: Explorer, folder: Path) -> dict[str, Any] | None:
    """Type a word of the first document into the search field; return the seconds until it is still."""
    field = page.locator(one.search).first if one.search else None
    if field is None or not field.count():
        return None
    word = _first_document(folder)["text"].split()[0]
    before = page.screenshot()
    began = time.perf_counter()
    field.fill(word)
    field.press("Enter")
    page.wait_for_timeout(400)
    changed = page.screenshot() != before
    text = page.locator("body").inner_text()
    return {"changed": changed, "seconds": time.perf_counter() - began - 0.4, "names_it": word in text}


def _first_document(folder: Path) -> dict[str, Any]:
    with (folder / "common" / "documents.jsonl").open(encoding="utf-8") as file:
        return dict(json.loads(file.readline()))


def _clicked(
    browser: Any, one: Explorer, address: str, copies: Copies, folder: Path
) -> dict[str, Any] | None:
    """Click on documents until one answers; return how much of it the page then shows."""
    if one.target is None:
        return None
    with (folder / "common" / "documents.jsonl").open(encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    _, page, _ = _opened(browser, one, address, copies)
    page.wait_for_timeout(1500)
    if one.before:
        page.locator(one.before).first.click()
        page.wait_for_timeout(8000)
    box = page.locator(one.target).last.bounding_box()
    for x, y in _spots():
        spot = [box["x"] + x * box["width"], box["y"] + y * box["height"]]
        if one.heading and not page.evaluate(_IS_AT, [one.target, *spot]):
            continue  # the name of a topic is there
        page.mouse.move(*spot)
        page.wait_for_timeout(600)
        pointed = _shown(page, documents, None)
        page.mouse.down()
        page.mouse.up()
        page.wait_for_timeout(1200)
        shown = _shown(page, documents, one.heading)
        if shown is not None:
            _picture(page, one, "-document")
            links = page.locator("main a, #main a").count() or page.locator("a").count()
            page.close()
            return shown | {
                "links": links,
                "pointing": pointed is not None and pointed["words"] == shown["words"],
            }
    page.close()
    return {"words": 0.0, "tags": 0.0, "links": 0, "pointing": False}


_IS_AT = (
    "([target, x, y]) => { const at = document.elementFromPoint(x, y); return !!at && at.matches(target); }"
)


def _shown(page: Any, documents: list[dict[str, Any]], heading: str | None) -> dict[str, float] | None:
    """Return how much a page shows of the words and tags of its document, or of the one it shows most of."""
    name = page.locator(heading).first.inner_text() if heading else None
    text = page.locator("body").inner_text()
    there = set(text.split())
    named = [d for d in documents if (d["id"] in text or d["text"][:300] in text) and name in (None, d["id"])]
    shown = max(named, key=lambda d: len(there & set(d["text"].split())), default=None)
    if shown is None:
        return None
    words, tags = set(shown["text"].split()), [tag.split(":")[-1] for tag in shown["tags"]]
    return {"words": len(words & there) / len(words), "tags": sum(tag in text for tag in tags) / len(tags)}


def _spots() -> Iterator[tuple[float, float]]:
    """Yield places from the middle outwards, as shares of width and height."""
    rng = np.random.default_rng(0)
    for i in range(60):
        angle, distance = 2 * np.pi * rng.random(), 0.4 * i / 60
        yield 0.5 + distance * np.cos(angle) * 0.8, 0.5 + distance * np.sin(angle) * 0.8


def _picture(page: Any, one: Explorer, more: str = "") -> None:
    from PIL import Image

    page.wait_for_timeout(2500)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize((900, 562))
    small = image.quantize(160, dither=Image.Dither.NONE)
    small.save(PAGES / "images" / f"explorer-peer-{one.name}{more}.png", optimize=True)


# ----------------------------------------------------------------------------------------------- all


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docs", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "explorer-peers")
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="PATH, or NAME=PATH for one")
    parser.add_argument("--only", nargs="+", choices=list(ALL), default=list(ALL))
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--alone", action="store_true", help="nothing else runs meanwhile: the page says so")
    options = parser.parse_args(arguments)
    if not options.page:
        named = dict(one.split("=", 1) for one in options.python if "=" in one)
        usual = next((one for one in options.python if "=" not in one), sys.executable)
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in options.only:
            _run(ALL[name], options, named.get(name, usual))
    write_page(FOLDER, PAGES)


def _run(one: Explorer, options: argparse.Namespace, python: str) -> None:
    """Make and open one explorer, and keep the record; a failure is a record, too."""
    record: dict[str, Any] = {"name": one.name, "title": one.title, "documents": options.docs}
    record["alone"] = options.alone
    try:
        if one in (OURS, OURS_ALL):
            facts = prepare(options.folder, options.docs)[one.name]
            record |= facts | look(one, (options.folder / f"{one.name}.html").as_uri(), options.folder)
        else:
            with made(one, options.folder, os.path.abspath(shutil.which(python) or python)) as (
                address,
                facts,
            ):
                record |= facts | look(one, address, options.folder)
    except Exception as error:  # what an explorer cannot do belongs on the page
        record["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{one.name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{one.title}: {record.get('error', 'done')}\n")


if __name__ == "__main__":
    main()
