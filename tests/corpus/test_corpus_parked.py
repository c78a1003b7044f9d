"""Texts in a temporary file: the same texts, however they are asked for."""

from __future__ import annotations

import tempfile
from threading import Thread
from typing import Any

import pytest

from tagtopics.corpus import parked as module
from tagtopics.corpus.parked import ParkedTexts, parked

TEXTS = ["", "one", "naïve — 東京 😀", "\ud800 alone", "a\nb\r\n", "long " * 1000, ""]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_parked_texts_are_the_texts(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    found = ParkedTexts(TEXTS)
    assert list(found) == TEXTS
    assert [found[i] for i in range(len(found))] == TEXTS
    assert found[-2] == TEXTS[-2]
    assert found[1:5:2] == tuple(TEXTS[1:5:2])
    assert list(zip(found, found, strict=True)) == list(zip(TEXTS, TEXTS, strict=True))
    with pytest.raises(IndexError):
        found[len(TEXTS)]
    assert list(ParkedTexts([])) == []
    assert list(ParkedTexts(["", ""])) == ["", ""]


def test_threads_may_read_at_the_same_time() -> None:
    texts = [f"text {i} " * (i % 50) for i in range(2000)]
    found, read = ParkedTexts(texts), list[list[str]]()
    threads = [Thread(target=lambda: read.append(list(found))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [texts] * 4


def test_only_long_texts_are_parked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parked(None) is None
    assert parked(TEXTS) is TEXTS
    monkeypatch.setattr(module, "_WORTH", 10)
    found = parked(TEXTS)
    assert isinstance(found, ParkedTexts)
    assert list(found) == TEXTS


def test_without_a_place_for_a_file_texts_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise OSError("no space left")

    monkeypatch.setattr(module, "_WORTH", 10)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert parked(TEXTS) is TEXTS
