# Everything runs in .venv, which each target makes if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: install test test-slow lint bench demo clean

install: $(VENV)/ready

$(VENV)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("orthostream needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[fast,bench,link,postgres,dashboard,test]'
	touch $@

test: install
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

test-slow: install
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install
	$(BIN)/orthostream bench learner

demo: install
	$(BIN)/orthostream demo

clean:
	find src -name '*.nb[ic]' -delete
	rm -rf $(VENV) .numba_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache demo-output
