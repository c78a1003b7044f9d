"""Every number of the pages against a second computation, from the arrays of the model and the corpus."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from explore_support import Watched, make_corpus
from report_figures import pages

import tagtopics as tt
from tagtopics import write_report
from tagtopics.corpus.text import DEBRIS
from tagtopics.explore.record.to_topic_data import topic_data

pytest_plugins = ("explore_fixtures",)

N_DOCS = 200
N_TOPICS = 7
N_OPENED = 6  # pages of a kind whose numbers are compared in the browser


def _themes(_: Any) -> tt.Corpus:
    return make_corpus()


def _docstrings(_: Any) -> tt.Corpus:
    corpus = tt.load_dataset("docstrings")
    return corpus.select(np.arange(0, corpus.n_docs, 25))


def _anthology(request: pytest.FixtureRequest) -> tt.Corpus:
    folder: Path = request.getfixturevalue("data_directory")
    rows = []
    with gzip.open(folder / "anthology" / "papers.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in islice(file, 0, 25 * N_DOCS, 25):
            row = json.loads(line)
            tags = [f"author:{name}" for name in row["authors"]] + [
                f"venue:{row['venue']}",
                f"year:{row['year']}",
            ]
            rows.append({"id": row["id"], "text": f"{row['title']}. {row['abstract']}", "tags": tags})
    return tt.read_corpus(rows, text="text", tags="tags", id="id")


def _tibcore(request: pytest.FixtureRequest) -> tt.Corpus:
    folder: Path = request.getfixturevalue("data_directory")
    with gzip.open(folder / "tibcore" / "documents.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 0, 20 * N_DOCS, 20)]
    return tt.read_corpus(rows, text=["title", "abstract"], tags="subjects", id="id")


class Shown:
    """A report, the numbers that it shows, and the model and corpus that they come from."""

    def __init__(self, corpus: tt.Corpus, folder: Path) -> None:
        self.corpus = corpus
        self.model = tt.TTM(n_topics=N_TOPICS, random_state=0, max_iter=12).fit(corpus)
        self.report, data = folder / "report.html", topic_data(self.model, corpus, "Shown")
        size = write_report(data, self.report)
        listed = data.documents.by_topic()[: size.n_listed]
        self.pages: dict[str, Any] = dict(pages(data, listed, size.n_bodies))
        self.phi = self.model.components_.astype(np.float64)
        self.share = self.model.topic_sums_ / self.model.topic_sums_.sum()
        self.theta = self.model.doc_topic_.astype(np.float64)
        sums = self.model.tag_sums_ + 1e-300  # a tag without documents is about all topics
        self.profiles = sums / sums.sum(1, keepdims=True)
        self.counts = corpus.counts.toarray().astype(np.int64)
        self.has = corpus.tags.toarray().astype(bool)
        self.tag = {name: t for t, name in enumerate(corpus.tag_names)}
        self.doc = {name: d for d, name in enumerate(corpus.ids)}
        self.word = {name: w for w, name in enumerate(corpus.vocabulary)}

    def of(self, kind: str) -> Iterator[tuple[list[str], Any]]:
        """Yield the names in the address and the numbers of each page of a kind."""
        for address, page in self.pages.items():
            if address.startswith(f"#/{kind}/"):
                yield [unquote(part) for part in address.removeprefix(f"#/{kind}/").split("+")], page


@pytest.fixture(
    scope="module",
    params=[
        _themes,
        _docstrings,
        *(pytest.param(make, marks=pytest.mark.real_data) for make in (_anthology, _tibcore)),
    ],
    ids=lambda make: make.__name__.removeprefix("_"),
)
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return Shown(request.param(request), tmp_path_factory.mktemp("shown"))


def test_overview_counts_everything(shown: Shown) -> None:
    page, corpus = shown.pages["#/"], shown.corpus
    assert page["sizes"] == {
        "documents": len(corpus.ids),
        "words": len(corpus.vocabulary),
        "tags": len(corpus.tag_names),
        "topics": N_TOPICS,
    }
    assert page["facts"]["tokens"] == shown.counts.sum()
    assert np.allclose(page["shares"], shown.share)
    assert page["tags"] == {name: int(shown.has[:, t].sum()) for name, t in shown.tag.items()}


def test_documents_of_suggested_pairs_are_counted_over_all_tags(shown: Shown) -> None:
    pairs: Counter[tuple[int, ...]] = Counter()
    for row in shown.has:
        pairs.update(combinations(np.flatnonzero(row).tolist(), 2))
    for group in shown.pages["#/"]["groups"]:
        assert group["documents"] == pairs[tuple(sorted(shown.tag[name] for name in group["tags"]))]
    for names, page in shown.of("tags"):
        tags = [shown.tag[name] for name in names]
        assert page["documents"] == pairs[tuple(sorted(tags))]
        joint = np.prod(shown.profiles[tags], axis=0)
        joint /= joint.sum()
        for k, together, alone in page["topics"]:
            assert together == pytest.approx(joint[k], abs=1e-5)
            assert alone == pytest.approx(shown.profiles[tags, k], abs=1e-5)


def test_topics(shown: Shown) -> None:
    found = list(shown.of("topic"))
    assert len(found) == N_TOPICS
    unigram = shown.counts.sum(0) / shown.counts.sum()
    for _, page in found:
        k = page["topic"]
        assert page["share"] == pytest.approx(shown.share[k])
        assert page["rank"] == 1 + (shown.share > shown.share[k]).sum()
        for name, p, lift in page["words"]:
            w = shown.word[name]
            assert p == pytest.approx(shown.phi[k, w], rel=1e-4)
            assert lift == pytest.approx(shown.phi[k, w] / unigram[w], rel=1e-4)
        telling = shown.phi[k] * np.log(shown.phi[k] / (shown.share @ shown.phi))
        assert len({name for name, _, _ in page["words"]}) == min(30, len(unigram))
        telling[[w for name, w in shown.word.items() if name in DEBRIS]] = -np.inf
        assert {shown.word[name] for name, _, _ in page["words"][:20]} == set(np.argsort(-telling)[:20])
        for name, p, lift in page["tags"]:
            assert p == pytest.approx(shown.profiles[shown.tag[name], k], abs=1e-5)
            assert lift == pytest.approx(shown.profiles[shown.tag[name], k] / shown.share[k], rel=1e-4)
        docs = shown.has.sum(0)
        shrunken = (docs * shown.profiles[:, k] + shown.share[k]) / (docs + 1) / shown.share[k]
        some = [shrunken[shown.tag[name]] >= 2 for name, _, _ in page["tags"]]
        assert some == sorted(some, reverse=True)  # those with twice as much of the topic come first
        assert some[0] == bool((shrunken >= 2).any())
        for name, p in page["documents"]:
            assert p == pytest.approx(shown.theta[shown.doc[name], k], abs=1e-5)
        assert len(page["documents"]) == min(200, int((shown.theta[:, k] >= 0.05).sum()))
        common = np.array([np.sqrt(shown.phi[k] * shown.phi[j]).sum() for j, _ in page["near"]])
        pairs = [np.sqrt(a * b).sum() for a, b in combinations(shown.phi, 2)]
        scaled = np.maximum((common - np.mean(pairs)) / (1 - np.mean(pairs)), 0)
        assert np.allclose([p for _, p in page["near"]], scaled, atol=1e-4)


def test_words(shown: Shown) -> None:
    for (name,), page in shown.of("word"):
        w = shown.word[name]
        assert page["tokens"] == shown.counts[:, w].sum()
        assert page["documents"] == (shown.counts[:, w] > 0).sum()
        posterior = shown.phi[:, w] * shown.share
        posterior /= posterior.sum()
        for k, p in page["topics"]:
            assert p == pytest.approx(posterior[k], abs=1e-5)
        assert sum(p for _, p in page["topics"]) + page["rest"] == pytest.approx(1)
        assert all(shown.counts[shown.doc[doc], w] > 0 for doc in page["best"])


def test_tags(shown: Shown) -> None:
    credited = np.zeros((len(shown.tag), len(shown.word)))
    for d in range(len(shown.doc)):
        for name, n, _, credits in shown.pages[_document(shown, d)]["words"]:
            credited[shown.has[d], shown.word[name]] += n * np.array(credits)
    roots = np.sqrt(shown.profiles)
    kinds = np.array([name.partition(":")[0] if ":" in name else "" for name in shown.tag])
    for (name,), page in shown.of("tag"):
        t = shown.tag[name]
        assert page["documents"] == shown.has[:, t].sum()
        for k, p in page["topics"]:
            assert p == pytest.approx(shown.profiles[t, k], abs=1e-5)
        for word, n in page["words"]:
            assert n == pytest.approx(credited[t, shown.word[word]], rel=0.01, abs=0.01)
            by_chance = credited[t].sum() * shown.counts[:, shown.word[word]].sum() / shown.counts.sum()
            assert n > 0.99 * by_chance
        same = np.array([other.split(":")[0] == name.split(":")[0] or ":" not in name for other in shown.tag])
        same[t] = False
        own = roots[kinds == kinds[t]] if len(set(kinds)) <= 8 else roots
        chance = (own @ own.T)[~np.eye(len(own), dtype=bool)].mean()
        best = ((roots @ roots[t])[same] - chance) / (1 - chance)  # 0: as two tags of the kind in the mean
        best = np.sort(best[best > 0])[::-1][:8]
        assert [p for _, p in page["alike"]] == pytest.approx(best, abs=1e-4)
        for other, p in page["alike"]:
            alike = roots[t] @ roots[shown.tag[other]]
            assert p == pytest.approx((alike - chance) / (1 - chance), abs=1e-4)
        together = shown.has[shown.has[:, t]].sum(0)
        together[t] = 0
        often = [np.sort(together * mask)[::-1][:8].tolist() for mask in (same, ~same)]
        assert [n for _, n in page["often"]] == [n for n in [*often[0], *often[1]] if n]
        for other, n in page["often"]:
            assert n == (shown.has[:, t] & shown.has[:, shown.tag[other]]).sum()


def _document(shown: Shown, d: int) -> str:
    from urllib.parse import quote

    return "#/document/" + quote(shown.corpus.ids[d], safe="!'()*-._~")


def test_documents(shown: Shown) -> None:
    roots = np.sqrt(shown.theta)
    alike = roots @ roots.T
    np.fill_diagonal(alike, -1)
    for d in range(len(shown.doc)):
        page = shown.pages[_document(shown, d)]
        assert page["tokens"] == shown.counts[d].sum()
        for k, p in page["topics"]:
            assert p == pytest.approx(shown.theta[d, k], abs=1e-5)
        best = np.sort(alike[d])[::-1][: len(page["related"])]
        assert np.allclose([p for _, p in page["related"]], best, atol=1e-4)
        assert {word: n for word, n, _, _ in page["words"]} == {
            shown.corpus.vocabulary[w]: n for w, n in enumerate(shown.counts[d]) if n
        }
        if d % 50 == 0:
            credit = shown.model.explain(shown.corpus.select([d])).credit
            own = [credits for _, _, _, credits in page["words"]]
            assert np.allclose(np.concatenate(own), credit, atol=1e-3)
        weights = np.array([n for _, n, _, _ in page["words"]])
        credits = np.array([row for _, _, _, row in page["words"]])
        expected = weights @ credits / weights.sum() if credits.size else []
        assert np.allclose([p for _, p in page["tags"]], expected, atol=2e-3)


def test_periods_are_means_of_their_documents(shown: Shown) -> None:
    if "#/time" not in shown.pages:
        assert not any(name.startswith("year:") for name in shown.tag)
        return
    time = shown.pages["#/time"]
    for name, n, shares in zip(time["periods"], time["documents"], time["shares"], strict=True):
        rows = shown.has[:, shown.tag[f"year:{name}"]]
        assert n == rows.sum()
        assert np.allclose(shares, shown.theta[rows].mean(0), rtol=2e-3)
    late = np.logical_or.reduce(
        [shown.has[:, shown.tag[f"year:{y}"]] for y in time["periods"][time["late"] :]]
    )
    for t, early, after in time["tags"]:
        assert (early, after) == ((shown.has[:, t] & ~late).sum(), (shown.has[:, t] & late).sum())


def test_pairs_of_the_network_are_counted_over_all_documents(shown: Shown) -> None:
    pairs = shown.pages["#/network"]["pairs"]
    n_docs = shown.has.sum(0)
    frequent = np.argsort(-n_docs, kind="stable")[:60]
    strength = []
    for a, b, n in pairs:
        i, j = shown.tag[a], shown.tag[b]
        assert n == (shown.has[:, i] & shown.has[:, j]).sum() > 1
        assert {i, j} <= set(frequent.tolist())
        strength.append(n / np.sqrt(n_docs[i] * n_docs[j]))
    assert strength == sorted(strength, reverse=True)
    assert len({(a, b) for a, b, _ in pairs}) == len(pairs)


# What the pages show in the browser.

_BARS = """name => [...document.querySelectorAll(`.bars[aria-label="${name}"] > li`)].map((row) => [
  row.querySelector("a.label")?.getAttribute("href") ?? null, row.querySelector(".figure").textContent])"""


def _number(text: str) -> float:
    return float(text.replace("%", "").replace(",", "").replace("<", "").split()[0].strip())


def _same(text: str, share: float) -> bool:
    """Tell whether a page shows a share: rounded as the page rounds it, or as less than one percent."""
    if text.startswith("<"):
        return share < 0.0105
    digits = len(text.split()[0].partition(".")[2])
    return bool(abs(_number(text) - 100 * share) <= 0.5000001 * 10**-digits + 0.004)


@pytest.fixture(scope="module")
def page(browser: Any, shown: Shown) -> Iterator[Watched]:
    watched = Watched(browser, shown.report.as_uri())
    watched.open()
    yield watched
    watched.close()
    assert watched.faults == []


def test_pages_show_the_numbers_of_topics_and_words(shown: Shown, page: Watched) -> None:
    for address in _addresses(shown, "topic"):
        figures = shown.pages[address]
        page.go(address)
        tags = page.page.evaluate(_BARS, "Tags")
        assert len(tags) == len(figures["tags"])
        for (_, text), (_, p, lift) in zip(tags, figures["tags"], strict=True):
            assert _same(text.split("%")[0] + "%", p)
            assert float(text.split("×")[1]) == pytest.approx(lift, rel=0.06, abs=0.06)
        words = page.page.evaluate(_BARS, "Words")
        for (href, text), (word, p, lift) in zip(words, figures["words"], strict=True):
            assert unquote(href) == f"#/word/{word}"
            assert _same(text.split("%")[0] + "%", p)
            assert float(text.split("×")[1]) == pytest.approx(lift, rel=0.06, abs=0.06)
    for address in _some(_addresses(shown, "word")):
        figures = shown.pages[address]
        text = page.go(address).locator(".lead").inner_text()
        assert f"{figures['tokens']:,.0f} time" in text
        assert f"{figures['documents']:,} document" in text
        rows = page.page.evaluate(_BARS, "Topics")
        known = shown.phi[:, shown.word[unquote(address.rsplit("/", 1)[1])]] * shown.share
        known /= known.sum()
        order = sorted(
            figures["topics"], key=lambda row: -row[1] * np.log(known[row[0]] / shown.share[row[0]])
        )
        expected = [p for _, p in order] + ([figures["rest"]] if figures["rest"] >= 1e-4 else [])
        assert len(rows) == len(expected)
        if not shown.model.background_topics().any():
            assert all(_same(text, p) for (_, text), p in zip(rows, expected, strict=True))


def test_pages_show_the_numbers_of_tags_and_groups(shown: Shown, page: Watched) -> None:
    for address in _some(_addresses(shown, "tag")):
        figures = shown.pages[address]
        lead = page.go(address).locator(".lead").inner_text()
        assert f"{figures['documents']:,} document" in lead
        own = shown.profiles[shown.tag[unquote(address.rsplit("/", 1)[1])]]
        lift = own / shown.share
        weight = np.where(
            (own < 0.03) | (lift < 1.2) | shown.model.background_topics(), 0, own * np.log(lift)
        )
        expected = [k for k in np.argsort(-weight)[:2] if weight[k] > 1e-3]
        said = [float(x) for x in re.findall(r"([\d.]+) times as much", lead)]
        assert said[: len(expected)] == pytest.approx(lift[expected], rel=0.05, abs=0.06)
        assert all(shown.model.topic_names()[k] in lead for k in expected)
        topics = [text for _, text in page.page.evaluate(_BARS, "Topics")]
        more = (own >= 0.01) & (lift > 1) & ~shown.model.background_topics()
        order = [k for k in np.argsort(-own * np.log(lift), kind="stable") if more[k]]
        assert len(topics) == len(order)
        for text, k in zip(topics, order, strict=True):
            assert _same(text.split("%")[0] + "%", own[k])
        words = [text for _, text in page.page.evaluate(_BARS, "Credited words")]
        assert len(words) == len(figures["words"])
        for text, n in zip(words, sorted((n for _, n in figures["words"]), reverse=True), strict=True):
            count = text.split()[0]  # before how often it is in the collection
            assert count != "0"
            assert n < 0.05 if count == "<0.1" else abs(_number(count) - n) < (0.06 if n < 9.95 else 0.51)
        near = page.page.locator(".neighbours .figure").all_inner_texts()
        assert [_number(text) for text in near if "document" in text] == [n for _, n in figures["often"]]
        alike = [p for _, p in figures["alike"]]
        assert all(
            abs(_number(text) / 100 - p) < 0.02  # profiles are rounded, then scaled
            for text, p in zip([text for text in near if "%" in text], alike, strict=True)
        )
    for address in _addresses(shown, "tags"):
        figures = shown.pages[address]
        page.go(address)
        assert page.page.get_by_text(f"{figures['documents']:,} document").count() > 0
        ends = page.page.locator(".slope .end")
        moved = dict(
            zip(
                (int(str(end.get_attribute("data-topic"))) for end in ends.all()),
                ends.locator(".figure").all_text_contents(),
                strict=True,
            )
        )
        shares = {topic: p for topic, p, _ in figures["topics"]}
        assert moved
        tags = [shown.tag[unquote(name)] for name in address.removeprefix("#/tags/").split("+")]
        if np.prod(shown.profiles[tags], axis=0).sum() > 0.1:
            assert all(_same(text, shares[k]) for k, text in moved.items() if k in shares)
        else:  # the product of small shares, which the page has in few digits
            assert all(
                abs(_number(text) / 100 - shares[k]) < 0.03 for k, text in moved.items() if k in shares
            )


def test_network_shows_its_pairs(shown: Shown, page: Watched) -> None:
    pairs = shown.pages["#/network"]["pairs"]
    page.go("#/network")
    rows = page.page.locator(".neighbours .figure").all_inner_texts()
    assert [_number(text) for text in rows] == [n for _, _, n in pairs[:12]]
    assert page.page.locator(".network line").count() == len(pairs)


def test_pages_show_the_numbers_of_documents(shown: Shown, page: Watched) -> None:
    for d in _some(range(len(shown.doc))):
        figures = shown.pages[_document(shown, d)]
        page.go(_document(shown, d)).wait_for_selector(".text")
        topics = page.page.evaluate(_BARS, "Topics")
        assert all(_same(text, p) for (_, text), (_, p) in zip(topics, figures["topics"], strict=True))
        parts = page.page.locator(".toggle small").all_inner_texts()
        assert all(_same(text, p) for text, (_, p) in zip(parts, figures["tags"], strict=True))
        related = page.page.locator(".documents .figure").all_inner_texts()
        assert all(
            abs(_number(text) / 100 - p) < 0.007
            for text, (_, p) in zip(related, figures["related"], strict=True)
        )
        page.page.locator(".text .w").first.hover()
        page.page.wait_for_selector("#tip")
        shown_word = page.page.locator("#tip .tipword").inner_text()
        credits = next(row for word, _, _, row in figures["words"] if word == shown_word)
        tip = page.page.locator("#tip .figure").all_inner_texts()
        assert all(_same(text, p) for text, p in zip(tip, sorted(credits, reverse=True), strict=False))


def _addresses(shown: Shown, kind: str) -> Iterator[str]:
    return (address for address in shown.pages if address.startswith(f"#/{kind}/"))


def _some(pages: Iterable[Any]) -> list[Any]:
    """Return some pages of a kind, at equal distances in their list."""
    known = list(pages)
    return known[:: len(known) // N_OPENED + 1]
