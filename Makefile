# Everything runs in a virtual environment of its own; nothing but Python and make is needed.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test check docs clean

demo: $(VENV)/.core
	$(BIN)/tagtopics demo --out build/demo.tt

test: $(VENV)/.test check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

# One stamp a set of extras: installed again only when pyproject.toml changes.
$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test $(VENV)/.docs: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
