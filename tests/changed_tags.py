"""The corpus that results from accepted changes of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tagtopics as tt
from tagtopics.analysis.audit.changes import Change, edit_tags
from tagtopics.corpus.core import tag_matrix


def apply_changes(corpus: tt.Corpus, changes: Sequence[Change]) -> tt.Corpus:
    """Return a corpus with other tags; those that no document has any more are left out, new ones follow."""
    before = [corpus.tags_of(row) for row in range(corpus.n_docs)]
    edits = zip(before, edit_tags(changes, corpus.ids, before, corpus.tag_names), strict=True)
    lists = [[tag for tag in tags if tag not in gone] + fresh for tags, (gone, fresh) in edits]
    used = {tag for tags in lists for tag in tags}
    names = [name for name in corpus.tag_names if name in used]
    names += sorted(used.difference(names))
    return replace(corpus, tags=tag_matrix(lists, names), tag_names=tuple(names), notices=())
