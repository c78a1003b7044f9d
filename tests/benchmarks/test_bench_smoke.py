"""The benchmark runs from end to end; its figures are not checked here."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import e2e, e2e_page
from benchmarks import run as bench
from benchmarks.limits import TINY
from benchmarks.records import load

ROOT = Path(__file__).resolve().parents[2]
PEERS = {"tomotopy": "tomotopy-lda-copy", "gensim": "gensim-lda", "sklearn": "sklearn-batch"}


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.run", "--preset", "tiny", "--only", "tiny", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    installed = [peer for module, peer in PEERS.items() if find_spec(module)]
    places = ["--out", str(folder), "--page", str(folder / "benchmarks.md")]
    done = run("--sections", "curves", "--systems", "ours-lda", *installed, *places)
    assert done.returncode == 0, done.stderr
    assert "gave no result" not in done.stdout, done.stdout
    return folder


def test_every_record_of_the_project_can_be_shown() -> None:
    assert all("job" in record for record in load(ROOT / "benchmarks" / "results"))


def test_each_system_has_a_record_whose_perplexity_beats_chance(records: Path) -> None:
    paths = sorted(records.glob("curve-tiny-*.json"))
    assert len(paths) == 1 + sum(find_spec(module) is not None for module in PEERS)
    for path in paths:
        record = json.loads(path.read_text(encoding="utf-8"))
        curve = record["curve"]
        assert len({len(column) for column in curve.values()}) == 1
        assert curve["seconds"] == sorted(curve["seconds"])
        assert curve["sweep"] == sorted(curve["sweep"])
        assert 1 < min(curve["perplexity"]) < record["corpus"]["words"]
        assert record["peak_mb"] > 0


def test_pilots_of_a_library_choose_the_priors_of_all_its_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_installed", lambda peer: True)
    todo = list(bench.pilots(["cora", "generated"], ["ours-ttm-lean", "tomotopy-plda"]))
    assert {(job["corpus"], job["system"]) for job in todo} == {
        ("cora", "ours-ttm"),
        ("cora", "tomotopy-lda-copy"),
    }
    for job in todo:  # as if a larger eta were better for us, a smaller one for them
        eta = job["priors"][1]
        value = 2.0 - eta if job["system"].startswith("ours") else 1.0 + eta
        record = {"job": job, "curve": {"validation": [9.0, value]}}
        (tmp_path / bench.file_of(job)).write_text(json.dumps(record), encoding="utf-8")
    chosen = bench.chosen_priors(tmp_path)
    systems = ["ours-ttm-lean", "tomotopy-plda", "tomotopy-dmr"]
    jobs = list(bench.jobs(["curves"], ["cora"], systems, TINY, chosen))
    etas = {job["system"]: job["priors"][1] for job in jobs}
    assert etas == {"ours-ttm-lean": 0.2, "tomotopy-plda": 0.01, "tomotopy-dmr": 0.01}


def test_the_page_names_every_system_and_has_its_plot(records: Path) -> None:
    page = (records / "benchmarks.md").read_text(encoding="utf-8")
    results = (records / "benchmark-results.md").read_text(encoding="utf-8")
    assert "| scikit-learn LDA (batch) |" in page
    assert "[All tables](benchmark-results.md)" in page
    assert "| tiny | scikit-learn LDA (batch) |" in results
    assert "tagtopics LDA" in page
    assert "{" not in page + results
    assert (records / "images" / "bench-perplexity.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_what_is_recorded_is_not_run_again(records: Path) -> None:
    places = ["--out", str(records), "--page", str(records / "again.md")]
    done = run("--sections", "curves", "--systems", "ours-lda", *places)
    assert done.returncode == 0, done.stderr
    assert "curve-tiny-ours-lda: recorded before" in done.stdout


def test_from_file_to_report_with_ours_and_a_peer(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    peers = [name for name in ("tomotopy",) if find_spec(name)]
    places = ["--out", str(tmp_path / "records"), "--docs-folder", str(tmp_path)]
    size = ["--docs", "60", "--topics", "3", "--corpora", "generated"]
    e2e.main([*size, *places, "--systems", "ours", *peers])
    records = [json.loads(path.read_text()) for path in sorted((tmp_path / "records").glob("*.json"))]
    assert [record["job"]["system"] for record in records] == ["ours", *peers]
    for record in records:
        assert set(record["seconds"]) <= set(e2e_page.STEPS)
        assert sum(record["seconds"].values()) == pytest.approx(record["total"])
        assert record["peak_mb"] > 0
    page = (tmp_path / "benchmarks-e2e.md").read_text()
    assert "## Generated" in page
    assert "60 documents, 7,200 tokens" in page
    assert (tmp_path / "images" / "bench-e2e.svg").read_text().startswith("<?xml")
