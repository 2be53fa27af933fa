# Every habit of the project. `make demo` and `make test` need only Python >= 3.10, pip and make.
PYTHON ?= python3
PY := .venv/bin/python
INSTALLED := .venv/.installed

.PHONY: help demo test llm check lint format types docs wheel extras mutants clean

help: ## Show this list.
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(INSTALLED)

demo: $(INSTALLED) ## Train PASTA and Linear for a few minutes: a table, a picture, where to go next.
	$(PY) -m examples.demo

test: $(INSTALLED) ## Run all tests, with the examples in docstrings and docs.
	$(PY) -m pytest -n 2 --dist worksteal

llm: $(INSTALLED) ## Install TRL beside the rest, which `make test` does without, and run the tests that need it.
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,llm]'
	$(PY) -m pytest tests/morl_blocks/llm tests/benchmarks/test_llm_rewards.py tests/docs/test_llm_rewards.py

check: lint types docs wheel ## Run lint, types, docs (warnings are errors) and the package checks.

lint: $(INSTALLED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

format: $(INSTALLED) ## Rewrite the code in the house format.
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

types: $(INSTALLED)
	$(PY) -m mypy

docs: $(INSTALLED) ## Build the documentation into docs/_build.
	$(PY) -m sphinx -q -W --keep-going -b html docs docs/_build/html

# The wheel is built from the sdist, so both are tried.
wheel: $(INSTALLED)
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist . > /dev/null
	$(PY) .ci/check_wheel.py dist
	$(PY) .ci/check_extras.py dist

extras: ## Install each extra alone, try it, and print what it brings (many minutes).
	$(PYTHON) .ci/extras.py

mutants: $(INSTALLED) ## Put small faults into the source and count those that no test notices (an hour).
	OMP_NUM_THREADS=1 nice -n 10 $(PY) -m benchmarks.mutants --workers 2

clean: ## Remove everything that the other targets made.
	rm -rf .venv dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
