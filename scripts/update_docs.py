"""Run the code blocks of the pages and write their output into them.

    python scripts/update_docs.py [PAGE]...

In README.md, docs/index.md, docs/getting-started.md, docs/a-to-z.md and docs/guides/*.md

- ```python blocks run one after the other, in one namespace per page. A ```text block directly below one
  is its standard output.
- ```console blocks hold commands (`$ tagtopics ...`), each with its output below.
- `...` in an output matches anything. Keep it for seconds and for output that is cut.
- Processors round differently: a number with a decimal point, a percentage or a number of sweeps may differ
  by one in its last digit, or by 2 %. Everything else must be equal, but for the width of blanks and rules.
- `<!-- not run: REASON -->` directly above a block keeps it from running.
- `<!-- output with NAME VERSION, ... -->` on a page: blocks always run, but their output is compared only if
  these versions are installed.

Every page runs in its own temporary folder, with the files of docs/examples in it. `tests/test_docs.py`
runs the same blocks and compares.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    *(DOCS / name for name in ("index.md", "getting-started.md", "a-to-z.md")),
    *sorted((DOCS / "guides").glob("*.md")),
)
RUN = ("python", "console")
SHOWN = ("text", "json", "csv", "bibtex", "ini", "nginx")
"""Languages of blocks that run, and of blocks that are only shown."""

_REASON = re.compile(r"<!-- not run: (.+) -->")
_VERSIONS = re.compile(r"<!-- output with (.+) -->")
_SHELL = re.compile(r"[|<>&;$`*]")
_VOLATILE = (
    (re.compile(r"\d+\.\d+(?= (?:s|seconds|to [a-z]+)\b)"), "..."),
    (re.compile(r"^( *seconds(?: to [a-z]+)? +)\d.*"), r"\1..."),
)
"""What differs from run to run, and what is written in its place."""
_MEASURED = re.compile(r"(?<![\w.])\d+(?:\.\d+(?![\w.]*\.\d)|(?= ?%| sweeps))")
_WIDTH = re.compile(r"\s+|─+")
_TOLERANCE = 0.02


class Block(NamedTuple):
    """A block of code: its language, its lines, and the line numbers of the output below it, if any."""

    language: str
    first: int  # line of the page with the first line of code
    code: list[str]
    output: range
    reason: str | None  # why it is not run


class Result(NamedTuple):
    """What a block showed and what it printed."""

    block: Block
    expected: str
    printed: str


def find_blocks(lines: list[str]) -> list[Block]:
    """Return the blocks of a page, in order."""
    blocks: list[Block] = []
    start = 0
    while (opened := _next_fence(lines, start)) < len(lines):
        closed = _next_fence(lines, opened + 1)
        language = lines[opened].strip().removeprefix("```")
        reason = _REASON.fullmatch(lines[opened - 1].strip()) if opened else None
        code, start = lines[opened + 1 : closed], closed + 1
        output = range(start, start)
        if language == "python" and not reason:
            below = next((i for i in range(start, len(lines)) if lines[i].strip()), len(lines))
            if below < len(lines) and lines[below].strip() == "```text":
                output = range(below + 1, _next_fence(lines, below + 1))
                start = output.stop + 1
        blocks.append(Block(language, opened + 1, code, output, reason[1] if reason else None))
    return blocks


def run_page(page: Path) -> list[Result]:
    """Run the blocks of a page in a temporary folder and return what each printed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    names: dict[str, Any] = {"__name__": "__main__"}
    results = []
    with _place_to_run():
        for block in find_blocks(lines):
            if block.language not in RUN or block.reason:
                continue
            try:
                if block.language == "python":
                    expected = "\n".join(lines[i] for i in block.output)
                    results.append(Result(block, expected, _run_python(block, page.name, names)))
                else:
                    results.append(Result(block, "\n".join(block.code), _run_console(block.code)))
            except Exception as error:
                error.add_note(f"in the block at {page.relative_to(ROOT)}, line {block.first}")
                raise
    return results


def is_reproducible(page: Path) -> bool:
    """Tell whether the versions that the page was made with are installed: its output depends on them."""
    made_with = _VERSIONS.search(page.read_text(encoding="utf-8"))
    wanted = [part.split() for part in made_with[1].split(", ")] if made_with else []
    return all(version(name) == number for name, number in wanted)


def matches(expected: str, printed: str) -> bool:
    """Tell whether a block printed what the page shows; `...` matches anything, measured numbers nearly."""
    shown = _WIDTH.sub(lambda found: found[0][0], tidy(expected))
    numbers = _MEASURED.findall(shown)
    texts = (".*?".join(map(re.escape, text.split("..."))) for text in _MEASURED.split(shown))
    pattern = rf"({_MEASURED.pattern})".join(texts)
    found = re.fullmatch(pattern, _WIDTH.sub(lambda found: found[0][0], tidy(printed)), re.DOTALL)
    return found is not None and all(map(_near, numbers, found.groups()))


def _near(one: str, other: str) -> bool:
    """Tell whether two numbers differ by one in the last digit of the first, or by little."""
    digits = len(one.partition(".")[2])
    difference = abs(float(one) - float(other))
    return difference <= max(1.01 * 10.0**-digits, _TOLERANCE * float(one))


def difference(result: Result) -> str:
    """Return the lines in which the page and the output differ."""
    shown, printed = tidy(result.expected).splitlines(), tidy(result.printed).splitlines()
    return "\n".join(difflib.unified_diff(shown, printed, "page", "output", lineterm=""))


def tidy(text: str) -> str:
    """Return a text without blanks at the ends of lines and without empty lines at its ends."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def updated(lines: list[str], results: list[Result]) -> list[str]:
    """Return the lines of a page with the output of its blocks."""
    new = list(lines)
    for result in reversed(results):
        if matches(result.expected, result.printed):
            continue
        block = result.block
        text = _merged_sections(tidy(result.expected).splitlines(), tidy(result.printed).splitlines())
        if block.language == "console":
            new[block.first : block.first + len(block.code)] = text
        elif not tidy(result.printed).strip():
            new[block.first + len(block.code) + 1 : block.output.stop + 1] = []
        elif block.output:
            new[block.output.start : block.output.stop] = text
        else:
            closed = block.first + len(block.code) + 1
            new[closed:closed] = ["", "```text", *text, "```"]
    return new


def merged(expected: list[str], printed: list[str]) -> list[str]:
    """Return the printed lines, with the `...` that the page has, and `...` for what differs between runs."""
    if expected.count("...") == 1:  # the middle is cut: keep as many lines before and after
        head = expected.index("...")
        tail = len(expected) - head - 1
        if head + tail < len(printed):
            ends = merged(expected[:head], printed[:head]), printed[len(printed) - tail :]
            return [*ends[0], "...", *merged(expected[head + 1 :], ends[1])]
    patterns = [line for line in expected if "..." in line and line != "..."]
    return [next((p for p in patterns if matches(p, line)), _steady(line)) for line in printed]


def _merged_sections(expected: list[str], printed: list[str]) -> list[str]:
    """Merge command by command."""
    shown, new = _sections(expected), _sections(printed)
    pairs = zip(shown if len(shown) == len(new) else [[]] * len(new), new, strict=True)
    return [line for before, after in pairs for line in merged(before, after)]


def _sections(lines: list[str]) -> list[list[str]]:
    """Split lines before each command."""
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    return [lines[first:last] for first, last in itertools.pairwise([0, *starts[1:], len(lines)])]


def _steady(line: str) -> str:
    for pattern, replacement in _VOLATILE:
        line = pattern.sub(replacement, line)
    return line


def _next_fence(lines: list[str], start: int) -> int:
    return next((i for i in range(start, len(lines)) if lines[i].lstrip().startswith("```")), len(lines))


@contextlib.contextmanager
def _place_to_run() -> Iterator[None]:
    """Enter a temporary folder with the example files; fix the terminal width, hide TAGTOPICS_DATA."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(DOCS / "examples", "docs/examples")
        shutil.copytree(DOCS / "examples", ".", dirs_exist_ok=True)
        os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
        os.environ["BROWSER"] = "true"  # the command that opens nothing
        os.environ.pop("TAGTOPICS_DATA", None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _run_python(block: Block, name: str, names: dict[str, Any]) -> str:
    """Run a block; warnings are errors, as in the tests."""
    printed = io.StringIO()
    source = "\n" * block.first + "\n".join(block.code)  # line numbers of the page in tracebacks
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(source, name, "exec"), names)
    return printed.getvalue()


def _run_console(lines: list[str]) -> str:
    """Run the commands of a block and return them with their output, standard error included."""
    shown: list[str] = []
    command: list[str] = []
    for line in lines:
        if line.startswith("$ ") or command:
            command.append(line)
            if not line.endswith("\\"):
                text = "\n".join(command).removeprefix("$ ").replace("\\\n", "")
                between = [""] if shown and not shown[-1].startswith("$ ") else []
                shown += [*between, *command, *tidy(_run_command(text)).strip("\n").splitlines()]
                command = []
    return "\n".join(shown)


def _run_command(command: str) -> str:
    """Run one command: plain `tagtopics ... [> FILE]` in this process, which is faster; others in a shell."""
    plain, _, file = command.partition(" > ")
    words = shlex.split(plain)
    if words[0] == "tagtopics" and not _SHELL.search(plain + file):
        from tagtopics.cli import main

        output = io.StringIO()
        kept = io.StringIO() if file else output
        with contextlib.redirect_stdout(kept), contextlib.redirect_stderr(output):
            code = main(words[1:])
        printed = output.getvalue()
        if file:
            Path(file.strip()).write_text(kept.getvalue(), encoding="utf-8")
    else:
        entry = "import sys; from tagtopics.cli import main; sys.exit(main())"
        function = f'tagtopics() {{ {shlex.quote(sys.executable)} -c {shlex.quote(entry)} "$@"; }}'
        shell = ["bash", "-c", f"{function}\n{command}"]
        done = subprocess.run(shell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        code, printed = done.returncode, done.stdout
    if code:
        raise RuntimeError(f"{command}: exit code {code}: {printed.strip()}")
    return printed


def main(arguments: list[str]) -> int:
    """Write the output of all pages, or of the pages named, into them; return how many failed."""
    sys.path.insert(0, str(DOCS / "examples"))
    failed = 0
    for page in [Path(name).resolve() for name in arguments] or PAGES:
        lines = page.read_text(encoding="utf-8").splitlines()
        name = page.relative_to(ROOT)
        try:
            results = run_page(page)
        except Exception as error:
            failed += 1
            sys.stdout.write(f"{name}: FAILED, {type(error).__name__}: {error}; {error.__notes__[-1]}\n")
            continue
        new = updated(lines, results)
        page.write_text("\n".join(new) + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}: {len(results)} blocks, {'updated' if new != lines else 'unchanged'}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
