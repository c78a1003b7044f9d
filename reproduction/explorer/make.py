"""Make the page of another explorer from the documents of `peers.py`.

    python make.py NAME FOLDER [PORT]

This runs in an environment with the other explorers, which need not have tagtopics. FOLDER/common holds the
documents, their topics and their places on the map, from one fit. An explorer that needs a server is served
at PORT until the process is ended. One line of JSON tells how long it took, and the version.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Common(NamedTuple):
    """The documents, and the topics and places that all explorers get."""

    rows: list[dict[str, Any]]  # id, text, tags, topic
    counts: Any  # CSR (D, W)
    vocabulary: list[str]
    topics: Any  # (K, W)
    documents: Any  # (D, K)
    places: Any  # (D, 2)
    names: list[str]  # of the topics


def read_common(folder: Path) -> Common:
    """Read what `peers.py` wrote."""
    with (folder / "documents.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    arrays = np.load(folder / "arrays.npz")
    names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
    counts = sp.csr_matrix(sp.load_npz(folder / "counts.npz"))
    return Common(
        rows, counts, names["vocabulary"], arrays["topics"], arrays["documents"], arrays["places"],
        names["topics"],
    )  # fmt: skip


def datamapplot(common: Common, folder: Path) -> str:
    """Write a page with the texts as hover text and a search, both of which the reader of ours has, too."""
    import datamapplot as library

    labels = np.array([row["topic"] for row in common.rows], dtype=object)
    texts = [f"{row['id']}: {', '.join(row['tags'])}\n{row['text']}" for row in common.rows]
    figure = library.create_interactive_plot(
        np.asarray(common.places, dtype=np.float64),
        labels,
        hover_text=texts,
        title="50,000 generated documents",
        enable_search=True,
    )
    figure.save(str(folder / "datamapplot.html"))
    return version("datamapplot")


def pyldavis(common: Common, folder: Path) -> str:
    """Write a page of topics and words; it has no documents."""
    import pyLDAvis as library  # noqa: N813

    totals = np.asarray(common.counts.sum(0)).ravel()
    used = np.flatnonzero(totals)
    topics = np.asarray(common.topics, dtype=np.float64)[:, used]
    theta = np.asarray(common.documents, dtype=np.float64)
    prepared = library.prepare(
        topics / topics.sum(1, keepdims=True),
        theta / theta.sum(1, keepdims=True),
        np.asarray(common.counts.sum(1)).ravel(),
        [common.vocabulary[w] for w in used],
        totals[used],
        n_jobs=1,
    )
    library.save_html(prepared, str(folder / "pyldavis.html"))
    shutil.copytree(Path(library.__file__).parent / "js", folder / "pyldavis-js", dirs_exist_ok=True)
    return version("pyLDAvis")


def topicwizard(common: Common, folder: Path) -> Any:
    """Return the Dash application; its map of documents gets the common places."""
    import topicwizard as library
    from matplotlib.font_manager import findfont

    fonts = folder / "home" / ".topicwizard" / "fonts"  # where it looks before it asks github.com
    fonts.mkdir(parents=True, exist_ok=True)
    shutil.copy(findfont("DejaVu Sans"), fonts / "OpenSans-Bold.otf")
    os.environ["HOME"] = str(folder / "home")

    data = {
        "corpus": [row["text"] for row in common.rows],
        "vocab": np.array(common.vocabulary),
        "document_term_matrix": common.counts,
        "document_topic_matrix": np.asarray(common.documents, dtype=np.float64),
        "topic_term_matrix": np.asarray(common.topics, dtype=np.float64),
        "document_representation": common.counts,
        "transform": None,
        "topic_names": common.names,
        "topic_positions": None,
        "word_positions": None,
        "document_positions": np.asarray(common.places, dtype=np.float64).T,
    }
    return library.get_dash_app(data, document_names=[row["id"] for row in common.rows])


def atlas(common: Common, folder: Path) -> str:
    """Write the table that the command `embedding-atlas` reads."""
    import pandas as pd

    table = pd.DataFrame(common.rows)
    table["tags"] = table["tags"].map(", ".join)
    table["x"], table["y"] = np.asarray(common.places, dtype=np.float64).T
    table.to_parquet(folder / "atlas.parquet")
    return version("embedding-atlas")


def main() -> None:
    """Make one page, or serve one."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    common = read_common(folder / "common")
    began = time.perf_counter()
    if name == "topicwizard":
        app = topicwizard(common, folder)
        _tell(version("topic-wizard"), began)
        app.run(port=int(sys.argv[3]), debug=False)
    else:
        _tell({"datamapplot": datamapplot, "pyldavis": pyldavis, "atlas": atlas}[name](common, folder), began)


def _tell(found: str, began: float) -> None:
    sys.stdout.write(json.dumps({"version": found, "seconds": time.perf_counter() - began}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
