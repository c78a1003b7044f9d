# All targets run in a virtual environment that they create; they need Python and make only.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# Tests that `make coverage` runs with kernels as plain Python, so that coverage sees inside them. Fits of real
# size would take hours that way; mark such tests in these folders as `compiled`.
UNCOMPILED = $(wildcard tests/jit tests/bp tests/tag_prior)

.PHONY: help demo test suite test-slow check lint types coverage crash fuzz bits docs bench bench-quick bench-e2e \
  reproduce browser js js-check annif clean

help:
	@echo "make demo         fit a model to docstrings and show its answers"
	@echo "make test         linters, type checks and tests (about 5 minutes on two cores)"
	@echo "make test-slow    tests of clusters, packages, killed processes, real data (4 minutes more)"
	@echo "make check        linters and type checks only"
	@echo "make js           build the explorer's script from the modules in explorer/; needs Node"
	@echo "make js-check     types, linter and unit tests of the modules; compares the built script; needs Node"
	@echo "make coverage     branch coverage; kernels run uncompiled"
	@echo "make crash fuzz   kill writers at every system call; try 28,000 inputs, 10,000 requests, 8,000 flipped bits"
	@echo "make bits         compare digests of all results between numbers of threads, cores and more"
	@echo "make docs         build the documentation"
	@echo "make package      wheel and source distribution in dist/; make test-package tests them"
	@echo "make bench        the full benchmark (hours); make bench-quick for minutes"
	@echo "make bench-e2e    from JSON lines to a report, ours and peers (half an hour)"
	@echo "make reproduce    the paper's experiments (hours); REPRODUCE_ARGS=--quick for minutes"
	@echo "make annif        install Annif in build/annif, for a test of make test-slow and for measurements"
	@echo "make clean        remove everything that these targets create"

demo: $(VENV)/.core
	$(BIN)/tagtopics demo --out build/demo.tt

# The tests start many processes: they load byte code of the last run, even where the environment keeps none.
export PYTHONDONTWRITEBYTECODE :=

# The type checkers run beside the tests, which do not always use both cores.
test: $(VENV)/.test browser
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory -j 2 suite types js-check

# Kernels are compiled first, so that the two processes of the tests find them in the cache.
suite: $(VENV)/.test
	$(BIN)/python scripts/compile_kernels.py
	@echo "== tests (two processes) =="
	$(PYTEST) -m "not slow"

# What `make test` leaves out; continuous integration runs both.
test-slow: $(VENV)/.test
	@echo "== slow tests (two processes) =="
	$(PYTEST) -m slow

# Two runs, one figure: first the core without compilation, then all other tests as usual.
coverage: $(VENV)/.test browser
	rm -f .coverage
	@echo "== core tests, kernels uncompiled =="
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m "not compiled" --cov=tagtopics --cov-branch --cov-report= \
	  -W "ignore:overflow encountered:RuntimeWarning" $(UNCOMPILED)
	@echo "== all other tests, and the compiled ones =="
	$(PYTEST) -q --cov=tagtopics --cov-branch --cov-append \
	  --cov-report=term:skip-covered tests

check: lint types

lint: $(VENV)/.test
	@echo "== lint and format =="
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	@echo "== types =="
	$(BIN)/mypy

# Every crash point of the writers, and many mutated inputs, hostile files and flipped bits; `make test` tries a
# sample of both.
crash: $(VENV)/.test
	TAGTOPICS_CRASH_POINTS=100000 $(BIN)/python -m pytest tests/crash
	TAGTOPICS_WRITER_SECONDS=60 $(BIN)/python -m pytest tests/models/test_models_saving.py -k two_writers
	TAGTOPICS_WRITER_SECONDS=60 TAGTOPICS_EDIT_PAIRS=20 $(BIN)/python -m pytest -m slow tests/models/test_models_sharing.py tests/cli/test_cli_at_once.py

fuzz: $(VENV)/.test
	TAGTOPICS_FUZZ_FACTOR=250 $(BIN)/python -m pytest -m "not slow" tests/fuzz

# The same bits whatever the number of threads, cores and BLAS threads, after a fork, and with little memory.
BITS_CORPUS ?=
bits: $(VENV)/.test
	$(BIN)/python scripts/check_bits.py --compare $(if $(BITS_CORPUS),--corpus $(BITS_CORPUS))

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run

bench-quick: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --quick

bench-e2e: $(VENV)/.bench
	$(BIN)/python -m benchmarks.e2e

# The paper's experiments, with tables, figures and verdicts: build/reproduction/reproduction.md.
REPRODUCE_ARGS ?=
reproduce: $(VENV)/.bench
	$(BIN)/python -m reproduction $(REPRODUCE_ARGS)

# The explorer's tests need Chromium. It is installed from Debian packages if possible; otherwise these tests
# are skipped with a message.
browser:
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; }; } || \
	  echo "Chromium not found: the browser tests will be skipped"

# The script of the explorer's pages is built from the modules in explorer/, and part of the repository: only those who
# change a module need Node. `js-check` also compares the script with what the modules build; without Node, it says so.
NPM_INSTALL = [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
js:
	$(NPM_INSTALL)
	npm run --silent build

js-check:
	@command -v npm >/dev/null || { echo "Node not found: the explorer's scripts are NOT checked"; exit 0; }; \
	  echo "== scripts of the explorer =="; \
	  { $(NPM_INSTALL) || { echo "npm cannot install the checkers: the explorer's scripts are NOT checked"; exit 0; }; } && \
	  npm run --silent check

# Annif in an environment of its own: `make test-slow` then also asks our server through it, and
# reproduction/headings/annif.py measures it. Without it, that test is skipped with a message.
annif: $(VENV)/.core
	$(BIN)/python -m reproduction.headings.annif environment

# One stamp for each dependency group: installed again only when pyproject.toml changes.
EXTRAS_test := [all]
EXTRAS_bench := [images]
GROUPS_test := --group test --group lint
$(VENV)/.core: pyproject.toml
	@echo "== creating $(VENV) and installing tagtopics =="
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.$(EXTRAS_$*)' $(or $(GROUPS_$*),--group $*)
	touch $@

clean:
	rm -rf $(VENV) build dist site node_modules .mypy_cache .ruff_cache .pytest_cache

# Packaging. The GitHub workflows run these targets and nothing else; each works on a contributor's machine.
.PHONY: test-quick test-lowest test-newest test-locked test-package test-install package release-check lock

# The tests without a browser and without real data, for machines where `make test` takes too long.
test-quick: $(VENV)/.test
	$(PYTEST) --ignore tests/explore/test_explore_browser.py -m "not slow"

# The core tests with the oldest (newest) versions that pyproject.toml allows, in an environment of their own
# under build/bounds. BOUNDS_TESTS selects other tests; BOUNDS_PYTHON another interpreter.
BOUNDS_PYTHON ?= $(PYTHON)
BOUNDS_TESTS  ?=
test-lowest: $(VENV)/.bounds
	$(BIN)/python scripts/check_bounds.py lowest --python $(BOUNDS_PYTHON) $(BOUNDS_TESTS)

test-newest: $(VENV)/.bounds
	$(BIN)/python scripts/check_bounds.py newest --python $(BOUNDS_PYTHON) $(BOUNDS_TESTS)

# Packages and workflows. `make test-install` also installs the wheel with its dependencies from the package
# registry into an empty environment; everything else needs no network.
test-package: $(VENV)/.test
	$(BIN)/python -m pytest tests/packaging

test-install: $(VENV)/.package
	TAGTOPICS_TEST_INSTALL=1 $(BIN)/python -m pytest tests/packaging/test_packaging_distribution.py -k registry

# Wheel and source distribution in dist/, checked.
package: $(VENV)/.package
	$(BIN)/python -c "import shutil; shutil.rmtree('dist', ignore_errors=True)"
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*

# What must hold before a release: CITATION.cff, the recipe and CHANGELOG.md name the version of the package, and
# so does the tag that is being released (TAG=v1.2.3).
TAG ?=
release-check: $(VENV)/.core
	$(BIN)/python scripts/check_release.py $(TAG)

# Pin every dependency of every extra and group, for all platforms and Pythons, with hashes.
lock: $(VENV)/.bounds
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --all-extras --group dev --output-file requirements-lock.txt pyproject.toml

test-locked: $(VENV)/.bounds
	$(BIN)/python scripts/check_bounds.py locked --python $(BOUNDS_PYTHON) $(BOUNDS_TESTS)

$(VENV)/.package $(VENV)/.bounds: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group $*
	touch $@
