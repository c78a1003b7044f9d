"""MATLAB files of Zeng's topic modelling toolbox: `NAME_wd.mat` and siblings, documents in columns.

SciPy's reader can crash on damaged files, so it runs in a process of its own, with limited memory and time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Documents, ReadOptions, checked_csr
from tagtopics.corpus.formats.text_files import max_expanded, only_file
from tagtopics.errors import InputError

_CODE = "from tagtopics.corpus.formats.mat import _convert; _convert()"
_SECONDS = 300
_BASE_MEMORY = 4 * 2**30
"""Address space of the reading process, in bytes, in addition to what its files may expand to."""


def read_mat(path: Path, options: ReadOptions) -> Documents:
    """Read `NAME_wd.mat` (words x documents), and `_ad` (tags x documents), `_voc`, `_author` if they exist.

    The path is the `_wd` file, or a folder that contains one.
    """
    if path.is_dir():
        path = only_file(path, "*_wd.mat", "file NAME_wd.mat")
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
    for path in paths:
        if not path.is_file():
            raise InputError(f"no such file: {path}")
    memory = _BASE_MEMORY + sum(map(max_expanded, paths))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-c", _CODE, str(memory), folder, *map(str, paths)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise InputError(f"{paths[0]}: not read within {_SECONDS} s; is it a MATLAB file?") from None
        n_begun = max(len(done.stdout.splitlines()), 1)
        if done.returncode:
            reason = f"the reader crashed, status {done.returncode}"
            raise InputError(f"{paths[n_begun - 1]}: cannot be read as a MATLAB file ({reason})")
        stored = {}
        for i, path in enumerate(paths):
            with np.load(Path(folder, f"{i}.npz"), allow_pickle=False) as parts:
                stored[path] = {name: parts[name] for name in parts.files}
            if "error" in stored[path]:
                raise InputError(f"{path}: {stored[path]['error'].item()}")
    return stored


def _convert() -> None:
    """Write the variables of MATLAB files as arrays: the other process, started by `_load`."""
    memory, folder, *paths = sys.argv[1:]
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    for i, path in enumerate(paths):
        sys.stdout.write("reading\n")
        sys.stdout.flush()
        np.savez(Path(folder, f"{i}.npz"), **_variable(path))


def _variable(path: str) -> dict[str, Any]:
    """Return the only variable of a MATLAB file as arrays, or an error."""
    from scipy.io import loadmat

    try:
        variables = [
            value for name, value in loadmat(path, spmatrix=False).items() if not name.startswith("__")
        ]
    except Exception as error:  # loadmat fails in many ways on damaged files
        reason = " ".join(str(error).split())[:200]
        return {"error": np.array(f"cannot be read as a MATLAB file ({reason})")}
    if len(variables) != 1:
        return {"error": np.array(f"expected one variable, found {len(variables)}")}
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
