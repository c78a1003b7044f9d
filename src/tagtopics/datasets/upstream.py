"""The registered files as their authors publish them: matrices of MATLAB, and Mulan's ARFF with XML.

Their checksums are known before they are read, so nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.read import read_corpus


def read_mat(paths: dict[str, Path]) -> Corpus:
    """Read words x documents, tags x documents and their names from four files of MATLAB."""
    from scipy.io import loadmat

    def variable(role: str) -> Any:
        loaded = loadmat(paths[role], spmatrix=False)
        return next(value for name, value in loaded.items() if not name.startswith("__"))

    counts, tags = (sp.csr_array(variable(role).T) for role in ("counts", "tags"))
    words, tag_names = (
        [str(cell.item()) for cell in variable(role).ravel()] for role in ("vocabulary", "tag_names")
    )
    return _corpus(counts, tags, words, tag_names)


def read_mulan(paths: dict[str, Path]) -> Corpus:
    """Read rows `{column value, ...}` of an ARFF file; the attributes that the XML file names are tags."""
    labels = [element.get("name", "") for element in ElementTree.parse(paths["tag_names"]).iter()]
    labels = [name for name in labels if name]
    head, _, rows = paths["counts"].read_text(encoding="utf-8").partition("@data\n")
    names = [line.split()[1].strip("'") for line in head.splitlines() if line.startswith("@attribute")]
    column = {name: i for i, name in enumerate(names)}
    table = sp.lil_array((rows.count("{"), len(names)), dtype=np.int32)
    for row, line in enumerate(rows.splitlines()):
        for pair in line.strip("{}").split(","):
            at, value = pair.split()
            table[row, int(at)] = int(value)
    matrix = sp.csc_array(table)
    tagged = [column[name] for name in labels]
    words = sorted(set(range(len(names))) - set(tagged))
    return _corpus(matrix[:, words], matrix[:, tagged], [names[i] for i in words], labels)


def _corpus(counts: Any, tags: Any, words: Sequence[str], tag_names: Sequence[str]) -> Corpus:
    return replace(read_corpus(counts, tags=tags, vocabulary=words), tag_names=tuple(tag_names))
