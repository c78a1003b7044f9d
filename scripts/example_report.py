"""A hook of mkdocs: adds the report of a model of the docstrings collection to the site, as example.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tagtopics as tt

REPORT = Path(__file__).resolve().parents[1] / "build" / "example.html"


def write_example(path: Path) -> None:
    """Write the report that docs/a-to-z.md describes."""
    corpus = tt.load_dataset("docstrings")
    model = tt.TTM(n_topics=20, random_state=0).fit(corpus)
    path.parent.mkdir(exist_ok=True)
    options = tt.ReportOptions(title="Docstrings of numpy, scipy and scikit-learn")
    tt.write_report(model, path, corpus=corpus, options=options)


def on_files(files: Any, config: Any) -> Any:
    """Add the report to the files of the site."""
    from mkdocs.structure.files import File

    write_example(REPORT)
    files.append(File.generated(config, "example.html", abs_src_path=str(REPORT)))
    return files
