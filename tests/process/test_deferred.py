"""Modules that are loaded when something in them is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def _run(code: str, folder: Path) -> list[str]:
    """Run code in a new process that finds the modules of a folder; return the lines it prints."""
    start = f"import sys; sys.path.insert(0, {str(folder)!r}); from tagtopics._lazy import defer\n"
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _package(folder: Path) -> None:
    (folder / "heavy").mkdir()
    (folder / "heavy" / "__init__.py").write_text("print('loaded'); number = 3\n")
    (folder / "heavy" / "part.py").write_text("print('part'); number = 4\n")


def test_an_import_loads_nothing_and_a_name_does(tmp_path: Path) -> None:
    _package(tmp_path)
    code = "defer('heavy'); import heavy; print('imported'); print(heavy.number); print(heavy.number)"
    assert _run(code, tmp_path) == ["imported", "loaded", "3", "3"]
    code = "defer('heavy'); from heavy import number; print(number); import heavy; print(heavy.number)"
    assert _run(code, tmp_path) == ["loaded", "3", "3"]


def test_parts_of_a_package(tmp_path: Path) -> None:
    _package(tmp_path)
    code = "defer('heavy'); import heavy.part; print(heavy.part.number, heavy.number)"
    assert _run(code, tmp_path) == ["loaded", "part", "4 3"]
    code = "defer('heavy.part'); import heavy; from heavy import part; print('imported'); print(part.number)"
    assert _run(code, tmp_path) == ["loaded", "imported", "part", "4"]
    code = "defer('heavy'); import importlib.util as u; print(u.find_spec('heavy').name)"
    assert _run(code, tmp_path) == ["heavy"]
    code = "defer('heavy', 'heavy.part'); import heavy.part as part; print('imported'); print(part.number)"
    assert _run(code, tmp_path) == ["imported", "loaded", "part", "4"]
    code = "defer('heavy', 'heavy.part'); import heavy; print(heavy.number); from heavy.part import number"
    assert _run(f"{code}; print(number)", tmp_path) == ["loaded", "3", "part", "4"]


def test_a_package_that_loads_its_parts_itself(tmp_path: Path) -> None:
    """As numpy does with f2py; without the name in the package, its `__getattr__` would call itself."""
    (tmp_path / "lazy").mkdir()
    find = "def __getattr__(name):\n    import lazy.part as part\n    return part\n"
    (tmp_path / "lazy" / "__init__.py").write_text(find)
    (tmp_path / "lazy" / "part.py").write_text("print('part'); number = 4\n")
    code = "defer('lazy.part'); import lazy; part = lazy.part; print('imported'); print(lazy.part.number)"
    assert _run(code, tmp_path) == ["imported", "part", "4"]


def test_loaded_and_missing_modules_stay_as_they_are(tmp_path: Path) -> None:
    _package(tmp_path)
    code = "import heavy; defer('heavy', 'missing_module'); print(type(sys.modules['heavy']).__name__)"
    assert _run(code, tmp_path) == ["loaded", "module"]
    code = "defer('missing_module'); print('missing_module' in sys.modules)"
    assert _run(code, tmp_path) == ["False"]


def test_data_frames_are_still_recognised(tmp_path: Path) -> None:
    code = """
defer("pandas", "scipy.stats")
import sklearn.base, sklearn.utils.validation as v
print(type(sys.modules["scipy.stats"]).__name__)
import pandas, scipy.stats
print(v.check_array(pandas.DataFrame({"a": [1.0], "b": [2.0]})).tolist())
print(round(float(scipy.stats.norm.cdf(0.0)), 2), type(sys.modules["pandas"]).__name__)
"""
    assert _run(code, tmp_path) == ["_Deferred", "[[1.0, 2.0]]", "0.5 module"]
