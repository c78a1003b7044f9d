"""Run the notebooks in docs/notebooks and write the output into them: `update_notebooks.py [FILE]...`."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the output of its cells, run in a new folder with the example files."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    with _example_folder():
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                outputs = _outputs("".join(cell["source"]), namespace, number)
                cell = cell | {"execution_count": number, "outputs": outputs}
            cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run one cell; return what it prints, and its last expression as a notebook shows it."""
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


@contextlib.contextmanager
def _example_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for path in (DOCS / "examples").iterdir():
            if path.is_file():
                shutil.copy(path, folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main(paths: list[str]) -> None:
    """Update the named notebooks, or all of them."""
    for path in [Path(p) for p in paths] or sorted((DOCS / "notebooks").glob("*.ipynb")):
        done = executed(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path}: {len(done['cells'])} cells\n")


if __name__ == "__main__":
    main(sys.argv[1:])
