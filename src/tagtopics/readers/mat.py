"""MATLAB files of Zeng's topic modelling toolbox: `NAME_wd.mat` and siblings, documents in columns.

SciPy's reader can crash on damaged files, so it runs in a separate process (`sandbox`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Documents, ReadOptions, checked_csr
from tagtopics.errors import InputError
from tagtopics.readers.sandbox import SandboxedReader

_CONVERT = "tagtopics.readers.mat:convert"


def read_mat(path: Path, options: ReadOptions) -> Documents:
    """Read `NAME_wd.mat` (words x documents), with `_ad` (tags x documents), `_voc`, `_author` beside it."""
    if not path.name.endswith("_wd.mat"):
        raise InputError(f"{path}: give the file of counts, NAME_wd.mat; its siblings are found by its name")
    prefix = path.name.removesuffix("_wd.mat")
    siblings = {part: path.with_name(f"{prefix}_{part}.mat") for part in ("ad", "voc", "author")}
    stored = _load([path, *(sibling for sibling in siblings.values() if sibling.is_file())])
    counts = _matrix(path, stored[path])
    tags = _matrix(siblings["ad"], stored[siblings["ad"]]) if siblings["ad"] in stored else None
    if tags is not None and tags.shape[0] != counts.shape[0]:
        raise InputError(
            f"{siblings['ad']}: {tags.shape[0]} documents, but {path.name} has {counts.shape[0]}"
        )
    return Documents(
        source=str(path),
        counts=counts,
        vocabulary=_names(siblings["voc"], stored, counts.shape[1]),
        tags=tags,
        tag_names=None if tags is None else _names(siblings["author"], stored, tags.shape[1]),
    )


def _matrix(path: Path, parts: Mapping[str, Any]) -> Any:
    """Return the matrix of a file, documents in rows."""
    shape = tuple(int(n) for n in parts["shape"][::-1]) if "shape" in parts else ()
    if "indptr" in parts:
        return checked_csr(parts["data"], parts["indices"], parts["indptr"], shape, str(path))
    if "row" in parts:
        try:
            return sp.coo_array((parts["data"], (parts["col"], parts["row"])), shape=shape)
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: damaged matrix, {' '.join(str(error).split())}") from None
    if "dense" not in parts:
        raise InputError(f"{path}: expected a matrix of numbers")
    return sp.csr_array(parts["dense"].T)


def _names(path: Path, stored: Mapping[Path, Mapping[str, Any]], n: int) -> tuple[str, ...] | None:
    """Return the strings of a cell array, None if there is no such file."""
    if path not in stored:
        return None
    if "names" not in stored[path]:
        raise InputError(f"{path}: expected a cell array of strings")
    names = tuple(json.loads(stored[path]["names"].tobytes()))
    if len(names) != n:
        raise InputError(f"{path}: {len(names)} names, but the matrix has {n} rows")
    return names


def _load(paths: list[Path]) -> dict[Path, dict[str, Any]]:
    """Return the only variable of each MATLAB file as arrays, read in another process."""
    stored = {}
    with tempfile.TemporaryDirectory() as folder, SandboxedReader(_CONVERT, "a MATLAB file") as process:
        target = Path(folder, "parts.npz")
        for path in paths:
            if not path.is_file():
                raise InputError(f"no such file: {path}")
            process.read(path, str(path), str(target))
            with np.load(target, allow_pickle=False) as parts:
                stored[path] = {name: parts[name] for name in parts.files}
    return stored


def convert(path: str, target: str) -> None:
    """Write the only variable of a MATLAB file as arrays; it runs in another process."""
    np.savez(target, **_variable(path))


def _variable(path: str) -> dict[str, Any]:
    """Return the only variable of a MATLAB file as arrays."""
    from scipy.io import loadmat

    loaded = loadmat(path, spmatrix=False)
    variables = [value for name, value in loaded.items() if not name.startswith("__")]
    if len(variables) != 1:
        raise InputError(f"{path}: expected one variable, found {len(variables)}")
    (value,) = variables
    if sp.issparse(value):
        parts = ("row", "col") if value.format == "coo" else ("indices", "indptr")
        return {name: getattr(value, name) for name in ("data", "shape", *parts)}
    if value.dtype.kind in "biuf" and value.ndim == 2:
        return {"dense": value}
    if value.dtype.kind not in "OU":
        return {"other": np.array(str(value.dtype))}
    names = [str(np.squeeze(cell)) if np.size(cell) else "" for cell in value.ravel()]
    return {"names": np.frombuffer(json.dumps(names).encode(), dtype=np.uint8)}
