"""A crawl of 600 pages of a hostile collection: nothing runs that is data, nothing is requested."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from explore_support import HOSTILE, Watched

import tagtopics as tt
from tagtopics import ReportOptions, write_report

pytest_plugins = ("explore_fixtures",)

N_PAGES = 600
PAYLOADS = (
    *HOSTILE,
    "\u202egnp.exe",
    "\x00nul",
    "__proto__",
    "constructor",
    "<svg onload=window.pwned=8>",
    "x" * 3000,
)

VISIT = """async (places) => {
  const wrong = [];
  for (const place of places) {
    const before = location.hash;
    location.hash = place;
    const wanted = location.hash;
    const { dataset } = document.documentElement;
    const main = document.querySelector("main");
    const whole = () => (before === wanted || dataset.place === wanted) && !main.querySelector(".wait");
    for (let tries = 0; !whole() && tries < 2000; tries++) await new Promise((done) => setTimeout(done));
    if (!whole()) wrong.push(`${place}: not drawn`);
    if (window.pwned !== undefined) wrong.push(`${place}: ran`);
    if (!main.querySelector("h1")) wrong.push(`${place}: no page`);
    const markup = "script, iframe, object, embed, img[src^='http'], [onerror], [onload], [onmouseover]";
    if (main.querySelector(markup)) wrong.push(`${place}: markup`);
    for (const link of main.querySelectorAll("a[href]")) {
      const href = link.getAttribute("href");
      if (!/^(#|https?:)/.test(href)) wrong.push(`${place}: ${href}`);
    }
  }
  return wrong;
}"""


@pytest.mark.slow
def test_600_hostile_pages_are_inert(browser: Any, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{PAYLOADS[d % len(PAYLOADS)]} {d}",
            "title": PAYLOADS[(d + 3) % len(PAYLOADS)],
            "url": ("javascript:window.pwned=9", "https://example.org/<b>", "data:text/html,x")[d % 3],
            "text": f"{PAYLOADS[d % len(PAYLOADS)]} wave tide {' '.join(HOSTILE)} storm{d % 40} reef{d % 23}",
            "tags": [PAYLOADS[d % len(PAYLOADS)], f"kind:{PAYLOADS[(d + 1) % 13]}", f"tag{d % 60}"],
        }
        for d in range(240)
    ]  # fmt: skip
    recipe = tt.TextRecipe(token_pattern=r"\S+", min_length=1, strip_html=False)
    columns: dict[str, Any] = {name: name for name in ("text", "tags", "id", "title", "url")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)  # links that are not http
        corpus = tt.read_corpus(rows, recipe=recipe, **columns)
    model = tt.TTM(n_topics=4, random_state=0, max_iter=30).fit(corpus)
    write_report(model, tmp_path / "hostile.html", corpus=corpus, options=ReportOptions(title=HOSTILE[1]))
    names = {"document": corpus.ids, "tag": corpus.tag_names, "word": corpus.vocabulary}
    places = [f"#/{kind}/{quote(name, safe='')}" for kind, all_of in names.items() for name in all_of]
    places += [f"#/{page}" for page in ("", "topics", "tags", "groups", "network", "time", "about")]
    tags = [quote(name, safe="") for name in corpus.tag_names]
    places += [f"#/tags/{a}+{b}" for a in tags[:16] for b in tags[:16] if a != b]
    places += [f"#/search/{quote(one, safe='')}" for one in PAYLOADS]
    places += [f"#/topic/0?embed=1&card={quote(one, safe='')}" for one in PAYLOADS]
    assert len(set(places)) >= N_PAGES
    watched = Watched(browser, (tmp_path / "hostile.html").as_uri())
    page = watched.open()
    scripts = page.locator("script").count()
    for start in range(0, len(places), 50):
        assert page.evaluate(VISIT, places[start : start + 50]) == []
    assert page.locator("script").count() == scripts
    assert watched.faults == []
    watched.close()
