# Everything runs in a virtual environment of its own; nothing but Python and make is needed.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test check docs bench bench-quick browser clean

demo: $(VENV)/.core
	$(BIN)/tagtopics demo --out build/demo.tt

test: $(VENV)/.test browser check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run

bench-quick: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --quick

# The explorer's tests drive a real browser. Where there is none and Debian's packages can be had, fetch it;
# where not, those tests skip and say so.
browser:
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; }; } || \
	  echo "no chromium: the browser tests will be skipped"

# One stamp a set of extras: installed again only when pyproject.toml changes.
$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
