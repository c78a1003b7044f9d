"""Benchmark of the explorer: a report of 50,000 documents in Chromium, and the server under load.

    python -m benchmarks.explorer report --docs 50000 --out build/large.html
    python -m benchmarks.explorer first-view
    python -m benchmarks.explorer load --seconds 10 --clients 8
    python -m benchmarks.explorer routes --docs 50000 --seconds 10 [--model MODEL]

`routes` asks for the largest answers about a collection, one after the other, and for /health every 5 ms
meanwhile. Each prints one JSON object and keeps it in benchmarks/results/explorer/, from where `make bench`
takes it for its page. The load test stays on this machine and is bounded in time and in requests.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.to_topic_data import topic_data

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
MOST_REQUESTS = 20_000
RECORDS = Path(__file__).parent / "results" / "explorer"


def large_corpus(n_docs: int, n_words: int = 20_000, n_tags: int = 2_000, length: int = 120) -> tt.Corpus:
    """Return documents of words drawn from planted topics, with texts, authors and years."""
    rng = np.random.default_rng(0)
    vocabulary = tuple(_name(w) for w in range(n_words))
    topics = rng.permutation(n_words)[: 50 * 300].reshape(50, 300)
    rank = 1.0 / np.arange(1, 301)
    texts, rows, tags = [], [], []
    for d in range(n_docs):
        mix = rng.choice(50, size=2)
        words = topics[rng.choice(mix, size=length), rng.choice(300, size=length, p=rank / rank.sum())]
        rows.append(np.unique(words, return_counts=True))
        texts.append(" ".join(vocabulary[w] for w in words))
        authors = {f"author:{int(mix[0]) * 40 + a}" for a in rng.integers(0, 40, size=2)}
        tags.append(sorted({*authors, f"year:{1990 + d % 30}"}))
    indptr = np.cumsum([0, *(len(words) for words, _ in rows)])
    indices = np.concatenate([words for words, _ in rows])
    data = np.concatenate([counts for _, counts in rows]).astype(np.int32)
    names = tuple(sorted({tag for row in tags for tag in row}))
    return tt.Corpus(
        counts=sp.csr_array((data, indices, indptr), shape=(n_docs, n_words)),
        tags=_indicator(tags, names),
        vocabulary=vocabulary,
        tag_names=names,
        ids=tuple(f"paper-{d:06d}" for d in range(n_docs)),
        texts=tuple(texts),
        recipe=tt.TextRecipe(stop_words=None),
    )


def _name(number: int) -> str:
    syllables = ("ba", "ko", "li", "mu", "re", "sa", "to", "ne", "pi", "du")
    return "".join(syllables[int(digit)] for digit in f"{number:05d}")


def _indicator(tags: list[list[str]], names: tuple[str, ...]) -> Any:
    from tagtopics.corpus import tag_matrix

    return tag_matrix(tags, names)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Run a real browser."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


WATCH = """
window.tasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => window.tasks.push(e.duration)))
  .observe({ type: "longtask", buffered: true });
"""


def measure(path: Path, query: str) -> dict[str, Any]:
    """Open a report, type a search, and measure how long the user waits."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.add_init_script(WATCH)
        page.set_default_timeout(120_000)
        began = time.perf_counter()
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        opened = time.perf_counter() - began
        ready = page.evaluate("performance.now()")
        opening = page.evaluate("Math.max(0, ...window.tasks)")
        page.wait_for_timeout(1000)  # names have been placed
        panning, zooming = _panned(page), _zoomed(page)
        delays = []
        page.evaluate("window.tasks.length = 0")
        page.click("#find")
        for character in query:
            delays.append(page.evaluate(_TYPE, character))
        searching = page.evaluate("Math.max(0, ...window.tasks)")
        page.evaluate("window.tasks.length = 0")
        began = time.perf_counter()
        page.evaluate("location.hash = '#/document/0'")
        page.wait_for_selector(".text .w")
        document = time.perf_counter() - began
        return {
            "seconds_to_first_view": round(opened, 2),
            "page_clock_ms": round(ready),
            "longest_task_while_opening_ms": round(opening),
            "panning": panning,
            "zooming": zooming,
            "input_delay_ms": {"median": round(float(np.median(delays)), 1), "worst": round(max(delays), 1)},
            "longest_task_while_searching_ms": round(searching),
            "document_page_seconds": round(document, 2),
            "longest_task_document_ms": round(page.evaluate("Math.max(0, ...window.tasks)")),
        }


def _panned(page: Any, moves: int = 120) -> dict[str, float]:
    """Drag the map to and fro; return its frames per second, and milliseconds of slow frames."""
    box = page.locator("canvas.points").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(_FRAMES)
    for i in range(moves):
        page.mouse.move(x + 80 * np.sin(i / 8), y + 60 * np.cos(i / 8))
    found = _frames(page)
    page.mouse.up()
    return found


def _zoomed(page: Any, moves: int = 120) -> dict[str, float]:
    """Zoom in and out with the wheel; return the same figures."""
    page.locator("canvas.points").focus()
    page.evaluate(_FRAMES)
    for i in range(moves):
        page.mouse.wheel(0, -60 if i % 60 < 30 else 60)
    return _frames(page)


def _frames(page: Any) -> dict[str, float]:
    lengths = np.diff(np.array(page.evaluate("window.recorded()")))
    return {
        "frames_per_second": round(1000 / float(np.mean(lengths)), 1),
        "median_frame_ms": round(float(np.median(lengths)), 1),
        "frame_ms_90_percent_below": round(float(np.percentile(lengths, 90)), 1),
    }


_FRAMES = """() => {
  const times = [];
  let on = true;
  const frame = (now) => {
    times.push(now);
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.recorded = () => {
    on = false;
    return times;
  };
}"""

_TYPE = """
(character) => new Promise((done) => {
  const input = document.getElementById("find");
  const began = performance.now();
  input.value += character;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  const late = () => done(performance.now() - began - 60);
  setTimeout(() => requestAnimationFrame(() => setTimeout(late, 0)), 60);
})
"""
"""Types a character; the answer is how much later than 60 ms (the pause before a search, and a frame) the
page could draw again: what a user would feel as a freeze."""


def run_report(docs: int, out: Path) -> dict[str, Any]:
    """Fit a small model to many documents, write the report, and measure it."""
    began = time.perf_counter()
    corpus = large_corpus(docs)
    made = time.perf_counter()
    model = tt.TTM(n_topics=50, max_iter=15, random_state=0).fit(corpus)
    fitted = time.perf_counter()
    data = topic_data(model, corpus, f"{docs:,} generated documents")
    recorded = time.perf_counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    size = write_report(data, out)
    seconds = {
        "corpus": made - began,
        "fit": fitted - made,
        "record": recorded - fitted,
        "report": time.perf_counter() - recorded,
    }
    return {
        "documents": size.n_docs,
        "listed": size.n_listed,
        "with_text": size.n_bodies,
        "megabytes": round(size.n_bytes / 1e6, 2),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "browser": measure(out, "bakoli"),
    }


def run_first_view(out: Path) -> dict[str, Any]:
    """Measure the report of the embedded corpus."""
    data, _ = embedded()
    out.parent.mkdir(parents=True, exist_ok=True)
    size = write_report(data, out)
    return {"megabytes": round(size.n_bytes / 1e6, 2), "browser": measure(out, "random")}


def embedded() -> tuple[Any, Any]:
    """Return the record and the model of the embedded corpus."""
    corpus = tt.load_dataset("docstrings")
    model = tt.TTM(n_topics=24, random_state=0).fit(corpus)
    if hasattr(model, "fit_recommender"):
        model.fit_recommender(corpus)
    return topic_data(model, corpus, "Docstrings of numpy, scipy and scikit-learn"), model


def run_load(seconds: float, clients: int) -> dict[str, Any]:
    """Send requests to a `tagtopics serve` process from several clients, one kind after the other."""
    data, model = embedded()
    texts = [text[:2000] for text in (data.documents.texts or ())[::37]]
    kinds = ["transform", "explain", "recommend", "related"]
    bodies = {kind: [_body(kind, text) for text in texts] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "load.tt")
        model.save(path, corpus=tt.load_dataset("docstrings"))
        with served(path) as address:
            result = {
                kind: asyncio.run(_storm(address, kind, bodies[kind], seconds, clients)) for kind in kinds
            }
            storm = _storm(address, "explain", bodies["explain"], 5.0, 128)
            result["overload: explain, 128 clients"] = asyncio.run(storm)
            crowd = _storm(address, "recommend", bodies["recommend"], 20.0, 50)
            result["crowd: recommend, 50 clients"] = asyncio.run(crowd)
            result["alone: explain, 1 client"] = asyncio.run(
                _storm(address, "explain", bodies["explain"], 3.0, 1)
            )
    return result


@contextlib.contextmanager
def served(path: str) -> Iterator[str]:
    """Run the command and yield its address."""
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-u", "-c", run, "serve", path, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://[^ ]*:\d+", process.stdout.readline())
        assert found is not None, "the server did not start"
        time.sleep(1)
        yield found.group(0)
    finally:
        process.terminate()
        process.wait(30)


ROUTES = ("/tags?n=500&words=500&skip={}", "/topics?words={}", "/documents?n=500&skip={}")
"""The largest answers about a collection; the number makes each address a new one, which is not cached."""


def run_routes(seconds: float, docs: int, model: Path | None) -> dict[str, Any]:
    """Ask a server for large answers one after the other, and for its health all the time."""
    with tempfile.TemporaryDirectory() as folder:
        path = model or Path(folder) / "routes.tt"
        if model is None:
            corpus = large_corpus(docs)
            tt.TTM(n_topics=50, max_iter=15, random_state=0).fit(corpus).save(path, corpus=corpus)
        with served(str(path)) as address, _health_asked(address, 3 * seconds) as asked:
            result = {route.partition("?")[0]: _asked(address, route, seconds) for route in ROUTES}
            result["/health meanwhile"] = _milliseconds(asked())
    return result


def _asked(address: str, route: str, seconds: float) -> dict[str, Any]:
    """Ask for new addresses of one route for some seconds, one after the other."""
    import httpx

    times: list[float] = []
    end = time.perf_counter() + seconds
    with httpx.Client(base_url=address, timeout=30) as http:
        while time.perf_counter() < end and len(times) < 400:
            began = time.perf_counter()
            http.get(f"/api/v1{route.format(len(times) + 1)}").raise_for_status()
            times.append(time.perf_counter() - began)
    return _milliseconds(times)


def _milliseconds(times: list[float]) -> dict[str, Any]:
    p50, p99, most = np.percentile(np.array(times) * 1000, [50, 99, 100]).round(1).tolist()
    return {"requests": len(times), "p50_ms": p50, "p99_ms": p99, "max_ms": most}


@contextlib.contextmanager
def _health_asked(address: str, seconds: float) -> Iterator[Any]:
    """Ask for /health from a process of its own; yield a function that ends this and returns the seconds."""
    command = [sys.executable, "-m", "benchmarks.explorer", "health", "--address", address]
    command += ["--seconds", str(seconds + 30)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield lambda: json.loads(process.communicate("stop\n", timeout=30)[0])
    finally:
        process.kill()
        process.wait(30)


def ask_health(address: str, seconds: float) -> list[float]:
    """Ask for /health every 5 ms until a line arrives on standard input; return the seconds of each."""
    import http.client
    import select

    connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=30)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not select.select([sys.stdin], [], [], 0.005)[0]:
        began = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    return times[1:]  # the first one opened the connection


def _body(kind: str, text: str) -> dict[str, Any]:
    tags = ["package:scipy", "kind:function", "takes:axis"] if kind == "explain" else []
    more = {"top": 5} if kind in {"recommend", "related"} else {}
    return {"documents": [{"text": text, "tags": tags}]} | more


async def _storm(address: str, kind: str, bodies: list[Any], seconds: float, clients: int) -> dict[str, Any]:
    """Send requests of one kind over kept-alive connections.

    The clients write plain bytes to sockets: an HTTP library would take as much processor time as the server.
    """
    times: list[float] = []
    statuses: dict[int, int] = {}
    host = address.rpartition("/")[2]
    requests = [_request(host, kind, body) for body in bodies]
    end = time.perf_counter() + seconds

    async def client(first: int) -> None:
        turn = first
        reader, writer = await asyncio.open_connection(*host.split(":"))
        while time.perf_counter() < end and sum(statuses.values()) < MOST_REQUESTS:
            began = time.perf_counter()
            writer.write(requests[turn % len(requests)])
            status = await asyncio.wait_for(_answered(reader), 30)
            if status == 200:
                times.append(time.perf_counter() - began)
            statuses[status] = statuses.get(status, 0) + 1
            turn += clients
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(i) for i in range(clients)))
    took = time.perf_counter() - began
    p50, p95, p99 = np.percentile(np.array(times or [np.nan]) * 1000, [50, 95, 99]).round(1).tolist()
    return {
        "per_second": round(len(times) / took, 1),
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99,
        "statuses": statuses,
    }


def _request(host: str, kind: str, body: Any) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST /api/v1/{kind} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def _answered(reader: asyncio.StreamReader) -> int:
    """Read one answer and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
    return int(head.split(b" ", 2)[1])


def main() -> None:
    """Run one of the measurements and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["report", "first-view", "load", "routes", "health"])
    parser.add_argument("--docs", type=int, default=50_000)
    parser.add_argument("--out", type=Path, default=Path("build/explorer-benchmark.html"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--model", type=Path, help="of routes: a model saved with its corpus")
    parser.add_argument("--address", help="of health: where the server listens")
    given = parser.parse_args()
    if given.what == "health":
        sys.stdout.write(json.dumps(ask_health(given.address, min(given.seconds, 300.0))))
        return
    if given.what == "routes":
        result = run_routes(min(given.seconds, 60.0), given.docs, given.model)
    elif given.what == "load":
        result = run_load(min(given.seconds, 60.0), min(given.clients, 256))
    elif given.what == "report":
        result = run_report(given.docs, given.out)
    else:
        result = run_first_view(given.out)
    text = json.dumps(result, indent=1) + "\n"
    RECORDS.mkdir(parents=True, exist_ok=True)
    (RECORDS / f"{given.what}.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
