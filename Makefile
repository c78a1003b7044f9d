# All targets run in a virtual environment that they create; they need Python and make only.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Tests that `make coverage` runs with kernels as plain Python, so that coverage sees inside them. Fits of real
# size would take hours that way; mark such tests in these folders as `compiled`.
UNCOMPILED = $(wildcard tests/graph tests/kernels tests/inference)

.PHONY: help demo test check coverage docs bench bench-quick browser clean

help:
	@echo "make demo         fit a model to docstrings and show its answers"
	@echo "make test         linters, type checks and all tests (about 5 minutes on two cores)"
	@echo "make check        linters and type checks only"
	@echo "make coverage     branch coverage; kernels run uncompiled"
	@echo "make docs         build the documentation"
	@echo "make bench        the full benchmark (hours); make bench-quick for minutes"
	@echo "make clean        remove everything that these targets create"

demo: $(VENV)/.core
	$(BIN)/tagtopics demo --out build/demo.tt

test: $(VENV)/.test browser check
	@echo "== tests (two processes) =="
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Two runs, one figure: first the core without compilation, then all other tests as usual.
coverage: $(VENV)/.test browser
	rm -f .coverage
	@echo "== core tests, kernels uncompiled =="
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m "not compiled" --cov=tagtopics --cov-branch --cov-report= \
	  -W "ignore:overflow encountered:RuntimeWarning" $(UNCOMPILED)
	@echo "== all other tests, and the compiled ones =="
	$(BIN)/python -m pytest -q --cov=tagtopics --cov-branch --cov-append --cov-report=term:skip-covered tests

check: $(VENV)/.test
	@echo "== lint, format and types =="
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run

bench-quick: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --quick

# The explorer's tests need Chromium. It is installed from Debian packages if possible; otherwise these tests
# are skipped with a message.
browser:
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; }; } || \
	  echo "Chromium not found: the browser tests will be skipped"

# One stamp file per set of extras: installed again only if pyproject.toml changes.
$(VENV)/.core: pyproject.toml
	@echo "== creating $(VENV) and installing tagtopics =="
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
