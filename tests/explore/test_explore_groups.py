"""Combinations of tags that mean something new: the ranking, computed again by another program."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from itertools import combinations, islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy

import tagtopics as tt
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.prepare import suggested_groups

pytest_plugins = ("explore_fixtures",)


def surprises(data: TopicData, tags_of: list[list[int]], least: int) -> dict[tuple[int, int], float]:
    """Return the surprise of every pair of tags that may be suggested."""
    single = Counter(t for tags in tags_of for t in tags)
    both = Counter(pair for tags in tags_of for pair in combinations(sorted(tags), 2))
    found = {}
    for (s, t), n in both.items():
        names = data.tags.names[s], data.tags.names[t]
        if (
            n < least
            or n > 0.7 * min(single[s], single[t])
            or any(name.startswith("year:") for name in names)
        ):
            continue
        p, q = (data.tags.profiles[tag][~data.background].astype(float) + 1e-12 for tag in (s, t))
        found[s, t] = min(entropy(p * q, p), entropy(p * q, q)) * math.log(n)
    return found


def check(data: TopicData, least: int) -> None:
    offsets, index = data.documents.tag_offsets, data.documents.tag_index
    tags_of = [index[a:b].tolist() for a, b in pairwise(offsets)]
    expected = surprises(data, tags_of, least)
    groups = suggested_groups(data)
    pairs = [tuple(sorted(group["tags"])) for group in groups]
    assert pairs
    assert expected[pairs[0]] == pytest.approx(max(expected.values()))
    assert all(pair in expected for pair in pairs)
    for pair, group in zip(pairs, groups, strict=True):
        assert group["documents"] == sum(set(pair) <= set(tags) for tags in tags_of) >= least
        joint = np.where(data.background, 0, np.prod(data.tags.profiles[list(pair)].astype(float), axis=0))
        assert group["topic"] == joint.argmax()
    scores = [expected[pair] for pair in pairs]
    kinds = {tuple(sorted(data.tags.names[t].partition(":")[0] for t in pair)) for pair in pairs}
    assert len(kinds) > 1 or scores == sorted(scores, reverse=True)


def test_the_most_surprising_pairs_come_first(data: TopicData) -> None:
    check(data, least=3)


@pytest.mark.real_data
def test_the_most_surprising_pairs_of_reuters(data_directory: Path) -> None:
    with gzip.open(data_directory / "reuters" / "texts.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 0, None, 3)]
    corpus = tt.read_corpus(rows, text="text", tags="tags", id="id")
    model = tt.TTM(n_topics=20, random_state=0, max_iter=25).fit(corpus)
    check(topic_data(model, corpus), least=15)
