"""Bad input of many kinds: one line on standard error, exit code 2, nothing left behind."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from cli_running import ROWS, fit_small, run, write_rows
from safetensors.numpy import load_file, save_file

import tagtopics as tt

Arguments = list[object]
Case = Callable[[Path], Arguments]
GOOD = b'{"text": "bread and butter", "tags": ["food"]}\n'


def fit(source: Path, *options: object) -> Arguments:
    return ["fit", source, "--topics", 2, "--iterations", 2, "--out", source.parent / "new.tt", *options]


def file(name: str, content: bytes | str, *options: object) -> Case:
    """A file with this content."""

    def case(folder: Path) -> Arguments:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return fit(path, *options)

    return case


def good(*options: object) -> Case:
    """A good corpus and wrong options."""
    return lambda folder: fit(write_rows(folder / "good.jsonl"), *options)


def line(value: Any) -> bytes:
    return GOOD + json.dumps(value).encode() + b"\n"


def matrices(**changed: Any) -> Case:
    """A matrix folder with some of its files replaced: arrays are written as npz, text as text."""

    def case(folder: Path) -> Arguments:
        place = folder / "matrices"
        place.mkdir()
        parts: dict[str, Any] = {
            "words.npz": np.array([[1, 2], [0, 1]]),
            "tags.npz": np.eye(2, dtype=int),
            "vocab.txt": "bread\nwine\n",
            "tags.txt": "food\ndrink\n",
        }
        for name, value in (
            parts | {name.replace("_", "."): value for name, value in changed.items()}
        ).items():
            if isinstance(value, np.ndarray):
                sp.save_npz(place / name, sp.csr_array(value))
            elif value is not None:
                (place / name).write_bytes(value if isinstance(value, bytes) else value.encode())
        return fit(place)

    return case


def pickled_npz() -> bytes:
    """An npz whose arrays would run code if they were unpickled."""

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.exit, ("unpickled",))

    array = np.array([Evil()], dtype=object)
    stream = io.BytesIO()
    np.savez(stream, format=b"csr", shape=[1, 1], data=array, indices=[0], indptr=[0, 1])
    assert b"unpickled" in stream.getvalue()
    return stream.getvalue()


def model_file(name: str, change: Callable[[Path], None]) -> Case:
    """A saved model with one file changed."""

    def case(folder: Path) -> Arguments:
        model = folder / "broken.tt"
        shutil.copytree(folder / "model.tt", model)
        change(model / name)
        return ["topics", model]

    return case


def described(**changed: Any) -> Case:
    """A saved model whose model.json says something else."""

    def change(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))

    return model_file("model.json", change)


def arrays(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Case:
    """A saved model with other arrays."""
    return model_file("arrays.safetensors", lambda path: save_file(change(dict(load_file(path))), path))


def text(content: str | bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return change


def ask(command: str, content: str, *options: object) -> Case:
    """Documents for the good model."""

    def case(folder: Path) -> Arguments:
        path = folder / "ask.jsonl"
        path.write_text(content)
        return [command, folder / "model.tt", path, *options]

    return case


def long_line(folder: Path) -> Arguments:
    path = folder / "long.jsonl"
    with path.open("wb") as stream:
        stream.truncate(70 * 2**20)
    return fit(path)


def with_foreign_file(folder: Path) -> Arguments:
    """Fit over a model folder in which the user keeps another file."""
    (folder / "model.tt" / "thesis.tex").write_text("mine")
    return [
        "fit",
        write_rows(folder / "good.jsonl"),
        "--topics",
        2,
        "--iterations",
        2,
        "--out",
        folder / "model.tt",
    ]


def own_file(folder: Path) -> Arguments:
    """A command that would write over a file of the user's."""
    return ["report", folder / "model.tt", "-o", write_rows(folder / "a.jsonl")]


def occupied(kind: str) -> Case:
    """An output path that is taken or impossible."""

    def case(folder: Path) -> Arguments:
        source = write_rows(folder / "good.jsonl")
        (folder / "full").mkdir()
        (folder / "full" / "precious.txt").write_text("mine")
        place = {"file": source, "folder": folder / "full", "under a file": source / "deep" / "new.tt"}[kind]
        return ["fit", source, "--topics", 2, "--iterations", 2, "--out", place]

    return case


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00"
NOISE = np.random.default_rng(0).bytes(500)
CASES: dict[str, tuple[Case, str]] = {
    # files
    "missing file": (lambda folder: fit(folder / "none.jsonl"), "no such file"),
    "missing folder": (lambda folder: ["fit", f"{folder}/none/", "--out", folder / "new.tt"], "no such file"),
    "empty path": (lambda folder: ["fit", "", "--out", folder / "new.tt"], "no such file"),
    "folder without matrices": (lambda folder: fit(folder), "words.npz"),
    "folder read as JSON lines": (lambda folder: fit(folder, "--format", "jsonl"), "directory"),
    "unknown suffix": (file("corpus.docx", b"PK"), "format"),
    "unknown format": (good("--format", "word"), "unknown 'word'"),
    "empty file": (file("a.jsonl", b""), "empty"),
    "empty CSV": (file("a.csv", b""), "empty"),
    "only blank lines": (file("a.jsonl", b"\n \n\t\n"), "no documents"),
    "only a header": (file("a.csv", b"text,tags\n"), "no documents"),
    "noise as JSON lines": (file("a.jsonl", NOISE), "a.jsonl"),
    "noise as CSV": (file("a.csv", NOISE), "a.csv"),
    "noise as Parquet": (file("a.parquet", NOISE), "Parquet"),
    "picture as JSON lines": (file("a.jsonl", PNG), "a.jsonl"),
    "picture as CSV": (file("a.csv", PNG), "a.csv"),
    "not UTF-8": (file("a.jsonl", GOOD + b'{"text": "caf\xe9"}\n'), "line 2"),
    "UTF-16": (file("a.jsonl", '{"text": "bread"}'.encode("utf-16")), "UTF-16"),
    "truncated gzip": (file("a.jsonl.gz", gzip.compress(GOOD * 99, mtime=0)[:-20]), "gzip"),
    "one very long line": (long_line, "longer than"),
    # JSON lines
    "array on a line": (file("a.jsonl", line([1, 2])), "line 2"),
    "number on a line": (file("a.jsonl", line(7)), "line 2"),
    "broken JSON on line 3": (file("a.jsonl", GOOD * 2 + b'{"text": \n'), "line 3"),
    "deeply nested JSON": (file("a.jsonl", b"[" * 200_000), "line 1"),
    "text is a number": (file("a.jsonl", line({"text": 3})), "line 2"),
    "tags are a dictionary": (file("a.jsonl", line({"text": "x", "tags": {"a": 1}})), "line 2"),
    "tags are nested": (file("a.jsonl", line({"text": "x", "tags": [["a"], "b"]})), "line 2"),
    # tables
    "no such text column": (good("--text", "abstract"), "'abstract'"),
    "no such tag column": (good("--tags", "authors"), "'authors'"),
    "no such id column": (good("--id", "doi"), "'doi'"),
    "ragged CSV": (file("a.csv", b"text,tags\nbread,food\nwine,drink,red\n"), "line 3"),
    "unterminated quote": (file("a.csv", b'text,tags\nbread,"food\n'), "a.csv"),
    "repeated header": (file("a.csv", b"text,text\nbread,wine\n"), "text"),
    # matrix folders
    "NaN count": (matrices(words_npz=np.array([[1.0, np.nan], [0, 1]])), "not a finite number"),
    "infinite count": (matrices(words_npz=np.array([[1.0, np.inf], [0, 1]])), "not a finite number"),
    "negative count in npz": (matrices(words_npz=np.array([[1, -2], [0, 1]])), "negative"),
    "fractional count in npz": (matrices(words_npz=np.array([[1, 0.5], [0, 1]])), "fractional"),
    "tags of fewer documents": (matrices(tags_npz=np.array([[1, 1]])), "rows"),
    "vocabulary too short": (matrices(vocab_txt="bread\n"), "vocab.txt"),
    "vocabulary with a repeat": (matrices(vocab_txt="bread\nbread\n"), "vocab.txt, line 2"),
    "no vocabulary": (matrices(vocab_txt=None), "vocab.txt"),
    "too many tag names": (matrices(tags_txt="a\nb\nc\n"), "tags.txt"),
    "pickled npz": (matrices(words_npz=pickled_npz()), "words.npz"),
    "pickle instead of npz": (matrices(words_npz=pickle.dumps({"a": 1})), "words.npz"),
    "not a zip": (matrices(words_npz=b"PK\x03\x04 no zip"), "words.npz"),
    "no documents in npz": (matrices(words_npz=np.zeros((0, 2)), tags_npz=np.zeros((0, 2))), "no documents"),
    "odd words in split.txt": (matrices(split_txt="train\nvalidate\n"), "split.txt, line 2"),
    "hostile recipe": (matrices(recipe_json='{"run": "rm"}'), "recipe"),
    # from text to words
    "no words left": (good("--min-df", 1000), "min_df"),
    "min_df above max_df": (good("--min-df", 5, "--max-df", 2), "min_df"),
    "min_df is no number": (good("--min-df", "many"), "--min-df"),
    "min_df is NaN": (good("--min-df", "nan"), "min_df"),
    "bad pattern": (good("--token-pattern", "(["), "token_pattern"),
    "no stop word file": (good("--stop-words", "elvish"), "--stop-words"),
    "zero n-grams": (good("--ngrams", 0), "ngram_range"),
    "only stop words": (file("a.jsonl", b'{"text": "the and of"}\n'), "no words"),
    # models and tasks
    "zero topics": (good("--topics", 0), "--topics"),
    "topics are no number": (good("--topics", "ten"), "--topics must be a valid integer"),
    "negative weight": (good("--pairwise-weight", -0.1), "--pairwise-weight"),
    "weight is NaN": (good("--higher-order-weight", "nan"), "--higher-order-weight"),
    "weights above one": (good("--pairwise-weight", 0.8, "--higher-order-weight", 0.4), "at most 1"),
    "weight is no number": (good("--pairwise-weight", "best"), "--pairwise-weight"),
    "pseudo-count is no number": (good("--tag-pseudo-count", "many"), "--tag-pseudo-count"),  # needs: models
    "unknown preset": (good("--preset", "slow"), "--preset"),  # needs: models
    "order of zero": (good("--order", 0), "--order"),
    "negative sweeps": (good("--iterations", -1), "--iterations"),
    "zero prior": (good("--doc-topic-prior", 0), "--doc-topic-prior"),
    "zero threads": (good("--threads", 0), "--threads"),
    "negative seed": (good("--seed", -1), "--seed"),
    "unknown model": (good("--model", "gpt"), "choose from lda, ttm, "),
    "unknown option": (good("--topicz", 3), "--topicz"),
    "misspelt command": (lambda _: ["recomend"], "Did you mean 'recommend'?"),
    "unknown command": (lambda _: ["sell"], "No such command 'sell'; see tagtopics --help"),
    "no corpus": (lambda _: ["fit"], "Missing argument 'CORPUS'; see tagtopics fit --help"),
    "no place to write": (lambda _: ["apply", "a.csv", "b.csv"], "Missing option '--out'"),
    "unknown task": (
        lambda folder: ["evaluate", write_rows(folder / "a.jsonl"), "--task", "poetry"],
        "choose from perplexity",
    ),
    "one document to split": (
        lambda folder: ["evaluate", write_rows(folder / "a.jsonl", ROWS[:1])],
        "two documents",
    ),
    "misspelt column": (good("--text", "texts"), "did you mean 'text'?"),
    "two columns in one": (good("--tags", "tags, id"), "--tags tags --tags id"),
    "folder without documents": (lambda folder: fit(folder), "no documents in this folder; it may hold"),
    "changes are a folder": (
        lambda folder: ["apply", folder, write_rows(folder / "a.jsonl"), "--out", folder / "b.jsonl"],
        "cannot be read (Is a directory)",
    ),
    "unknown data set": (lambda folder: ["fit", "nonsense", "--out", folder / "new.tt"], "docstrings"),
    "data set to write has no name": (lambda folder: ["datasets", "--out", folder / "new"], "which data set"),
    # places to write
    "out is a file": (occupied("file"), "not a model written by tagtopics"),
    "out is a folder of something else": (occupied("folder"), "not a model written by tagtopics"),
    "out is under a file": (occupied("under a file"), "not a folder"),
    "model folder with other files": (with_foreign_file, "holds other files"),
    "report over another file": (own_file, "not a report written by tagtopics"),
    "image tags of a text": (ask("explain", '{"text": "bread"}\n', "--image-tag", "x"), "is not an image"),
    "data set over other files": (lambda folder: ["datasets", "docstrings", "--out", folder], "other files"),
    # saved models
    "no model": (lambda folder: ["topics", folder / "none.tt"], "none.tt` writes one"),
    "model is a file": (lambda folder: ["topics", write_rows(folder / "a.jsonl")], "is not a model"),
    "model without arrays": (model_file("arrays.safetensors", Path.unlink), "arrays.safetensors is missing"),
    "model without description": (model_file("model.json", Path.unlink), "no model.json"),
    "damaged arrays": (model_file("arrays.safetensors", text(NOISE)), "damaged"),
    "arrays of huge size": (model_file("arrays.safetensors", text(b"\xff" * 64)), "damaged"),
    "damaged description": (model_file("model.json", text('{"schema": 1,')), "cannot be read"),
    "binary description": (model_file("model.json", text(NOISE)), "cannot be read"),
    "nested description": (model_file("model.json", text("[" * 200_000)), "model.json"),
    "description is a list": (model_file("model.json", text("[]")), "damaged"),
    "newer schema": (described(schema=99), "newer"),
    "hostile class": (described(**{"class": "os.system"}), "damaged"),
    "hostile parameters": (described(parameters={"__class__": "x"}), "damaged"),
    "parameters out of range": (described(parameters={"n_topics": -3}), "damaged"),
    "names missing": (described(names={}), "damaged"),
    "wrong shape": (arrays(lambda a: a | {"components_": a["components_"][:, 1:].copy()}), "damaged"),
    "NaN in arrays": (arrays(lambda a: a | {"components_": a["components_"] * np.float32(np.nan)}), "digest"),
    "an array missing": (arrays(lambda a: {k: v for k, v in a.items() if k != "doc_topic_"}), "damaged"),
    # questions
    "unknown tag": (lambda folder: ["tags", folder / "model.tt", "coking"], "did you mean 'cooking'"),
    "other words than the model's": (ask("related", '{"text": "xylophone"}\n'), "no word that"),
    "documents without tags": (ask("explain", '{"text": "bread"}\n'), "--tags"),
    "no such document": (ask("explain", '{"text": "bread", "tags": "cooking"}\n', "--doc", 9), "--doc 9"),
    "almost the id of a document": (
        ask("explain", '{"id": "loaf-7", "text": "bread", "tags": "cooking"}\n', "--doc", "loaf7"),
        "did you mean 'loaf-7'?",
    ),
    "an argument too many": (
        lambda folder: ["topics", folder / "model.tt", "excel.csv"],
        "unexpected extra argument(s) (excel.csv); see tagtopics topics --help",
    ),
    "zero words": (lambda folder: ["topics", folder / "model.tt", "--top", 0], "--top"),
    "tags of a model without tags": (lambda folder: ["tags", folder / "lda.tt"], "has no tag profiles"),
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    fit_small(folder)
    fit_small(folder, "--model", "lda", name="lda.tt")
    return folder


def tree(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_clear_line(name: str, models: Path, tmp_path: Path) -> None:
    case, expected = CASES[name]
    for model in ("model.tt", "lda.tt"):
        shutil.copytree(models / model, tmp_path / model)
    arguments = case(tmp_path)
    before = tree(tmp_path)
    result = run(*arguments)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.startswith("tagtopics: error: "), result.err
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert expected in result.err
    assert tree(tmp_path) == before


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 45


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [(b"", "no documents"), (b"\n{]\n", "line 2"), (b"[3]\n", "line 1"), (b"\xff\n", "line 1")],
)
def test_bad_standard_input(stdin: bytes, expected: str, models: Path) -> None:
    result = run("related", models / "model.tt", "-", stdin=stdin)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("tagtopics: error: standard input")
    assert expected in result.err


def test_text_for_a_model_of_counts(tmp_path: Path) -> None:
    corpus = tt.read_corpus(np.array([[2, 1], [0, 2]]), vocabulary=["bread", "wine"])
    counts = tt.write_matrix_folder(corpus, tmp_path / "counts")
    assert run("fit", counts, "--topics", 2, "--iterations", 2, "--out", tmp_path / "m.tt").code == 0
    question = tmp_path / "text.jsonl"
    question.write_text('{"text": "bread and wine"}\n')
    result = run("related", tmp_path / "m.tt", question)
    assert result.code == 2
    assert "fitted to counts" in result.err
    assert run("related", tmp_path / "m.tt", counts, "--json").code == 0


def test_a_missing_extra_says_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with mock.patch.dict("sys.modules", {"polars": None}):
        result = run("fit", path, "--out", tmp_path / "m.tt")
    assert result.code == 2
    assert (
        result.err == "tagtopics: error: reading Parquet needs an extra: pip install 'tagtopics[parquet]'\n"
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PermissionError(13, "Permission denied", "/locked/m.tt"), "/locked/m.tt: Permission denied"),
        (OSError(28, "No space left on device", "m.tt"), "m.tt: No space left on device"),
        (MemoryError(), "not enough memory"),
        (ImportError("liba.so: failed to map segment from shared object"), "not enough memory"),
        (RuntimeError("can't start new thread"), "not enough memory"),
    ],
)
def test_trouble_with_the_machine(error: Exception, expected: str, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "a.jsonl")
    with mock.patch("tagtopics.models.persistence.save_model", side_effect=error):
        result = run("fit", source, "--iterations", 1, "--topics", 2, "--out", tmp_path / "m.tt")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("tagtopics: error: ")
    assert expected in result.err
    assert result.err.count("\n") == 1


def test_our_own_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGTOPICS_DEBUG", raising=False)
    with mock.patch("tagtopics.models.persistence.load_model", side_effect=RuntimeError("oops\nhere")):
        plain, debug = run("topics", tmp_path), run("topics", tmp_path, "--debug")
        monkeypatch.setenv("TAGTOPICS_DEBUG", "1")
        variable = run("topics", tmp_path)
    assert plain.code == debug.code == variable.code == 1
    assert plain.err.startswith("tagtopics: internal error: RuntimeError: oops here; please report")
    assert plain.err.count("\n") == 1
    assert "Traceback" in debug.err
    assert "Traceback" in variable.err


def test_interruption(tmp_path: Path) -> None:
    with mock.patch("tagtopics.models.persistence.load_model", side_effect=KeyboardInterrupt):
        result = run("topics", tmp_path)
    assert (result.code, result.out, result.err) == (130, "", "tagtopics: interrupted\n")
