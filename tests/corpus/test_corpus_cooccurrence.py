"""Tags on the same documents: counted, with a bound on documents with very many tags."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.corpus import tags as together
from tagtopics.corpus.tags import MOST_TOGETHER, n_partners, tags_together


@given(st.lists(st.sets(st.integers(0, 5)), max_size=8), st.integers(1, 4))
def test_pairs_are_those_of_documents_with_few_tags(documents: list[set[int]], most: int) -> None:
    tags = sp.csr_array((len(documents), 6), dtype=np.float32)
    if documents:
        tags = sp.csr_array(np.array([[float(t in own) for t in range(6)] for own in documents], np.float32))
    expected = np.zeros((6, 6))
    for own in documents:
        for pair in permutations(own if len(own) <= most else (), 2):
            expected[pair] += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(together, "MOST_TOGETHER", most)
        assert tags_together(tags).toarray().tolist() == expected.tolist()
        assert n_partners(tags).tolist() == [len(own) - 1 if 0 < len(own) <= most else 0 for own in documents]


def test_ten_thousand_tags_on_a_document_make_no_large_model(tmp_path: Path) -> None:
    """They are 100 million pairs of tags, which took 1.1 GB on disk and 2.3 GB of memory."""
    rows = [
        {"text": f"alpha beta gamma{i} word{i % 7}", "tags": [f"t{i % 3}", f"u{i % 4}"]} for i in range(30)
    ]
    rows[0]["tags"] = [f"big{i}" for i in range(10_000)]
    corpus = tt.read_corpus(rows)
    model = tt.TTM(3, max_iter=2, random_state=0, n_jobs=1).fit(corpus)
    assert model.recommender_ is not None
    assert model.recommender_._cooccurrence.nnz < 100
    assert len(corpus.tags_of(0)) > MOST_TOGETHER
    model.save(tmp_path / "m.tt", corpus=corpus)
    size = sum(path.stat().st_size for path in (tmp_path / "m.tt").rglob("*") if path.is_file())
    assert size < 10_000_000
