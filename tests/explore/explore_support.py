"""What the explorer's tests share: a small tagged collection, a hostile one, a page that watches itself."""

from __future__ import annotations

import copy
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine
from tagtopics.explore.server.middleware import Limits
from tagtopics.explore.server.server import create_server
from tagtopics.recommend.choice import Recommendation

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

MODULES = Path(__file__).parents[2] / "explorer"  # of the script
HOST = "http://modules.test/"

THEMES = {
    "sea": "wave tide salt ship harbour sail island whale current anchor storm reef",
    "kitchen": "bread salt oven pepper butter recipe flour onion spoon sugar plate broth",
    "music": "violin chord rhythm opera tempo melody tune drum singer scale note choir",
    "garden": "rose soil seed spade tulip hedge compost pond salt bloom root weed",
}
HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    '"><img src=x onerror=window.pwned=3>',
    "' onmouseover='window.pwned=4",
    "javascript:window.pwned=5",
    "{{7*7}}<!--",
    "&lt;b&gt; & 'quoted' \"twice\" \u2028",
)


def make_corpus(n_docs: int = 72) -> tt.Corpus:
    """Return documents of one or two themes, with tags of several kinds, years among them."""
    rng = np.random.default_rng(7)
    names = list(THEMES)
    rows = []
    for d in range(n_docs):
        first, second = names[d % 4], names[(d // 4) % 4]
        words = [str(rng.choice(THEMES[first if rng.random() < 0.6 else second].split())) for _ in range(30)]
        text = " ".join(words[:15]).capitalize() + ".\nThe 𝄞 " + " ".join(words[15:]) + "."
        tags = sorted({f"place:{first}", f"also:{second}", f"year:{1990 + d % 6}", f"author:a{d % 9}"})
        rows.append({"id": f"text {d}", "text": text, "tags": tags})
    return _read(rows)


def make_hostile_corpus() -> tt.Corpus:
    """Return documents whose words, tags and names try to break out of the page."""
    rows = []
    for d in range(24):
        bad = HOSTILE[d % len(HOSTILE)]
        text = f"{bad} wave tide {' '.join(HOSTILE)} {bad} storm{d % 5}"
        rows.append({"id": f"{bad} {d}", "text": text, "tags": [bad, HOSTILE[(d + 1) % len(HOSTILE)]]})
    return _read(rows, token_pattern=r"\S+", min_length=1, strip_html=False)


def _read(rows: list[dict[str, Any]], **recipe: Any) -> tt.Corpus:
    return tt.read_corpus(rows, text="text", tags="tags", id="id", recipe=tt.TextRecipe(**recipe))


def create_app(
    data: TopicData, engine: Any, limits: Limits | None = None, hosts: Any = None, **options: Any
) -> Any:
    """Return the server of one model as an ASGI application."""
    app, served = create_server(limits, hosts, **options)
    served.load(data, engine)
    return app


def serving(app: Any) -> Iterator[str]:
    """Run an application in a thread of its own; yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def wait_until(page: Any, script: str, argument: Any = None) -> None:
    """Wait until a script says yes. Playwright's own way evaluates text, which our policy forbids."""
    for _ in range(900):
        if page.evaluate(script, argument):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"it never came true: {script}")


def wait_for_place(page: Any, start: str) -> None:
    """Wait until a page is drawn whose address begins like this; the address itself changes before that."""
    wait_until(page, "start => document.documentElement.dataset.place.startsWith(start)", start)


def wait_for_map(page: Any) -> None:
    """Wait until the map is at rest: its points are drawn, and its names are chosen for the view."""
    wait_until(page, "() => !!document.querySelector('.terrain[data-rest=yes]')")


def wait_until_whole(page: Any) -> None:
    """Wait until no part of the page is missing, such as a text or the results of a search."""
    missing = "main .wait, main [aria-busy=true], .terrain:not([data-rest=yes])"
    wait_until(page, "missing => !document.querySelector(missing)", missing)


_FREE: dict[str, list[Any]] = {}
"""Pages that no test uses now, by browser and options: a new one takes half a second."""


_TWO_FRAMES = """() => new Promise((done) => {
  setTimeout(done, 60);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
"""Wait until what has changed is drawn, or 60 ms if nothing is drawn."""


class Watched:
    """A page that remembers everything it should not have done; `close` leaves it to the next test, empty."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        options = {"viewport": {"width": 1200, "height": 800}} | options
        self._free = _FREE.setdefault(f"{id(browser)} {options}", [])
        self.page = self._free.pop() if self._free else browser.new_context(**options).new_page()
        self.context = self.page.context
        self.address = address
        self.faults: list[str] = []
        self._handlers = {
            "console": lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None,
            "pageerror": lambda error: self.faults.append(str(error)),
            "dialog": self._dismiss,
            "request": lambda request: self._check(request.url),
        }
        for event, handler in self._handlers.items():
            self.page.on(event, handler)

    def close(self) -> None:
        """Forget what the page has stored, and leave it."""
        self.page.evaluate("() => { try { localStorage.clear(); } catch { /* it has none */ } }")
        for event, handler in self._handlers.items():
            self.page.remove_listener(event, handler)
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        self.page.unroute_all()
        self.context.clear_cookies()
        self.page.goto("about:blank")
        self._free.append(self.page)

    def _dismiss(self, dialog: Any) -> None:
        self.faults.append("a dialog opened")
        dialog.dismiss()

    def _check(self, url: str) -> None:
        allowed = url.startswith(("data:", "blob:")) or url.startswith(self.address.split("#")[0].rstrip("/"))
        if not allowed:
            self.faults.append(f"a request to {url}")

    def open(self, place: str = "#/") -> Any:
        """Open a place in the explorer and wait until it is drawn."""
        if self.page.url != "about:blank":  # another place of the same page would not load it again
            self.page.goto("about:blank")
        self.page.goto(self.address + place)
        self.page.wait_for_selector("html[data-ready=yes]", timeout=20_000)
        return self.page

    def go(self, place: str) -> Any:
        """Follow a link inside of the explorer."""
        self.page.evaluate("place => { location.hash = place; }", place)
        wait_until(
            self.page,
            "at => document.documentElement.dataset.place === at && !!document.querySelector('main h1')",
            place,
        )
        self.page.evaluate(_TWO_FRAMES)
        return self.page

    def problems(self) -> list[str]:
        """Return what is wrong with the accessibility of the page as it stands."""
        script = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
        found: list[str] = self.page.evaluate(script)
        return found


class Recommending(ModelEngine):
    """An engine whose model recommends the same tags to everyone: what the pages do with them is tested."""

    def __init__(self, model: Any, tags: Sequence[str]) -> None:
        super().__init__(model)
        plain = copy.copy(self.model)
        plain.recommender_ = None  # compares topics
        self.model.related_among = plain.related_among
        self.model.recommender_ = object()
        self.model.recommend_choice = lambda X, n_words, choice: [
            [Recommendation(tag, 0.9 - 0.2 * i, (("wave", 0.5),)) for i, tag in enumerate(tags)][: choice.top]
            for _ in range(X.n_docs)
        ]


def page_of_modules(browser: Any, html: str) -> Any:
    """Return a page with the blocks of `html`, which may import the modules of its script."""
    page = browser.new_page()
    text = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>|<script>.*?</script>', "", html, flags=re.DOTALL
    )

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix(HOST)
        if name:
            route.fulfill(path=MODULES / name, content_type="text/javascript")
        else:
            route.fulfill(body=text, content_type="text/html")

    page.route(f"{HOST}**", answer)
    page.goto(HOST)
    return page
