"""MATLAB files of Zeng's topic modelling toolbox: `NAME_wd.mat` and siblings, documents in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.counted import Counted
from tagtopics.errors import InputError


def read_mat(path: Path) -> Counted:
    """Read `NAME_wd.mat` (words x documents), and `_ad` (tags x documents), `_voc`, `_author` where they are.

    Args:
        path: the `_wd` file, or a folder that holds one.
    """
    if path.is_dir():
        path = _only_counts(path)
    if not path.name.endswith("_wd.mat"):
        raise InputError(f"{path}: give the file of counts, NAME_wd.mat; its siblings are found by its name")
    prefix = path.name.removesuffix("_wd.mat")
    siblings = {part: path.with_name(f"{prefix}_{part}.mat") for part in ("ad", "voc", "author")}
    counts = _matrix(path)
    tags = _matrix(siblings["ad"]) if siblings["ad"].is_file() else None
    if tags is not None and tags.shape[0] != counts.shape[0]:
        raise InputError(
            f"{siblings['ad']}: {tags.shape[0]} documents, but {path.name} has {counts.shape[0]}"
        )
    return Counted(
        source=str(path),
        counts=counts,
        vocabulary=_names(siblings["voc"], counts.shape[1]),
        tags=tags,
        tag_names=None if tags is None else _names(siblings["author"], tags.shape[1]),
    )


def _only_counts(folder: Path) -> Path:
    found = sorted(folder.glob("*_wd.mat"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(f"{folder}: expected one file NAME_wd.mat, found {names}; name the file itself")
    return found[0]


def _matrix(path: Path) -> sp.csr_array:
    """Return the matrix of a file, documents in rows."""
    value = _variable(path)
    if not (sp.issparse(value) or value.dtype.kind in "biuf") or value.ndim != 2:
        raise InputError(f"{path}: expected a matrix of numbers")
    if sp.issparse(value):
        try:
            value.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"{path}: damaged sparse matrix ({error})") from None
    return sp.csr_array(value.T)


def _names(path: Path, n: int) -> tuple[str, ...] | None:
    """Return the strings of a cell array."""
    if not path.is_file():
        return None
    value = _variable(path)
    if sp.issparse(value) or value.dtype.kind not in "OU":
        raise InputError(f"{path}: expected a cell array of strings")
    names = tuple(str(np.squeeze(cell)) if np.size(cell) else "" for cell in value.ravel())
    if len(names) != n:
        raise InputError(f"{path}: {len(names)} names, but the matrix has {n} rows")
    return names


def _variable(path: Path) -> Any:
    """Return the only variable of a MATLAB file."""
    from scipy.io import loadmat

    try:
        variables = {
            name: v for name, v in loadmat(path, spmatrix=False).items() if not name.startswith("__")
        }
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except Exception as error:  # loadmat fails in many ways on files that are damaged or not MATLAB's
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as a MATLAB file ({reason})") from None
    if len(variables) != 1:
        raise InputError(f"{path}: expected one variable, found {len(variables)}")
    return next(iter(variables.values()))
