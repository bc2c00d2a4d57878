# Two commands do everything: `make demo` and `make test`. Both work on a machine that has only Python.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check format lint types agents board docs notebooks bench clean

$(VENV)/.installed: setup.py constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e ".[test,dev,thor,minari,play,ray]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) -e ".[docs]"
	touch $@

demo: $(VENV)/.installed  ## the main job on the embedded backend, from nothing to a video
	$(BIN)/python -m clalfred.scripts.demo

test: $(VENV)/.installed-dev  ## all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.installed-dev format lint types test  ## what CI does

format: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .

types: $(VENV)/.installed-dev build/types
	$(BIN)/mypy

build/types:
	mkdir -p build/types/clalfred
	for folder in agents cl scripts; do ln -sfn ../../../$$folder build/types/clalfred/; done

docs: $(VENV)/.installed-docs build/types  ## the site, in build/site; fails at a broken link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: $(VENV)/.installed-docs  ## executes the tutorials and keeps their output
	rm -rf build/tutorials && mkdir -p build/tutorials && cp docs/tutorials/*.ipynb build/tutorials
	cd build/tutorials && $(CURDIR)/$(BIN)/jupyter-execute --inplace *.ipynb
	cp build/tutorials/*.ipynb docs/tutorials

agents: $(VENV)/.installed  ## trains the agents that come with the package; takes hours
	$(BIN)/python -m clalfred.scripts.agents

board: $(VENV)/.installed  ## submissions of the runs in RUNS, and the page that lists them
	$(BIN)/python -m clalfred.scripts.submit $(RUNS) --out docs/board
	$(BIN)/python -m clalfred.scripts.verify docs/board/*.jsonl.gz --page docs/board/index.html

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.environment

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
