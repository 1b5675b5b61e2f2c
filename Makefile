# Two commands for a newcomer: `make demo` and `make test`. Needs Python 3.11+, make and git.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
# One process per core, so one thread each.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

# The tests start many processes, so compiled files are kept, also where the environment says not to.
export PYTHONDONTWRITEBYTECODE :=

# The paper's data files are not part of the project; the tests that need them skip when they are not there.
ifneq ($(wildcard ../shared/datasets),)
export ANALOGICAL_DATA ?= $(abspath ../shared/datasets)
endif

.PHONY: help setup demo test test-project coverage oldest fuzz check lint format dist docs refresh pictures notebooks bench bench-full recovery real truth clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/dev ## Set up for work on the code

demo: .venv/cli,report ## Set up, score the built-in tables, and write a page about one of them
	$(BIN)/analogical tables
	@echo
	$(BIN)/analogical score docs/data/churn.csv
	@echo
	$(BIN)/analogical score titanic
	@echo
	$(BIN)/analogical select monks-1
	@echo
	$(BIN)/analogical interactions titanic
	@echo
	$(BIN)/analogical audit berkeley --label admitted --feature gender
	@echo
	$(BIN)/analogical generate g2 --features 30 --values 3 --rows 500 --seed 1 | $(BIN)/analogical score - --top 6
	@echo
	@mkdir -p demo
	$(BIN)/analogical report berkeley --label admitted --protected gender --out demo/report.html
	@echo "Open it in a browser: $(CURDIR)/demo/report.html"

test: .venv/test ## Set up and run all tests of the library, with the examples of its docstrings and pages
	$(PYTEST) --ignore=tests/project

test-project: .venv/dev ## The tests of what surrounds the library: docs, notebooks, gallery, benchmarks, release
	$(PYTEST) tests/project

oldest: ## Run the tests of the library with the oldest supported libraries, in an environment of its own (Python 3.11 or 3.12)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || { echo "The oldest supported libraries need Python 3.11 or 3.12. Name one: make oldest PYTHON=python3.11" >&2; exit 2; }
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .github/oldest.txt --editable '.[test-tools]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n auto --no-cov --ignore=tests/project

fuzz: .venv/test ## Random tables against brute force, damaged files, awkward shapes and new examples of all properties (an hour or two; FUZZ_TABLES=1000 for less)
	FUZZ_SEED=$${FUZZ_SEED:-$$(date +%s)} && export FUZZ_SEED && echo "FUZZ_SEED=$$FUZZ_SEED" && \
	FUZZ_TABLES=$${FUZZ_TABLES:-100000} FUZZ_FILES=$${FUZZ_FILES:-10000} FUZZ_FRAMES=$${FUZZ_FRAMES:-10000} FUZZ_SHAPES=$${FUZZ_SHAPES:-100} \
	$(PYTEST) --no-cov tests/fuzz && $(PYTEST) --no-cov -m hypothesis --hypothesis-seed=$$FUZZ_SEED tests

coverage: .venv/test ## The tests with coverage, which must be 95 % (takes half as long again)
	$(PYTEST) --ignore=tests/project --cov --cov-report=term

check: lint coverage test-project ## Everything that must be green before a commit: format, lint, types, tests

lint: .venv/dev ## Format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/dev ## Format the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

dist: .venv/dev ## Build sdist and wheel, and check them in a new environment
	$(BIN)/python .ci/dist.py

docs: .venv/docs ## Build the site into docs/_build/html; a warning is an error
	rm -rf docs/generated docs/copied docs/_build/html
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -n -q docs docs/_build/html
	@echo "Open it in a browser: $(CURDIR)/docs/_build/html/index.html"

refresh: .venv/test ## Run the examples of the pages again, and copy the recorded benchmarks into them
	$(BIN)/python docs/refresh.py

pictures: .venv/test ## Draw the pictures of the README and the docs again
	$(BIN)/python docs/pictures.py

notebooks: .venv/dev ## Run the notebooks again and write down what they show
	OMP_NUM_THREADS=1 $(BIN)/python docs/notebooks/run.py

bench: .venv/bench ## Measure speed beside the peers, in under two minutes
	$(BIN)/python benchmarks/speed.py

bench-full: .venv/bench ## Measure speed with more repetitions and growth up to 10^7 rows
	$(BIN)/python benchmarks/speed.py --full

recovery: .venv/bench ## Measure how often the features selected together are the relevant ones, beside the peers (ten minutes)
	$(BIN)/python benchmarks/recovery/together.py

real: .venv/bench ## Measure accuracy on real tables with the features that each method chooses (ten minutes; resumes)
	$(BIN)/python benchmarks/real/run.py

truth: .venv/bench ## Measure order and verdicts where the relevant features are known, beside the peers (an hour; resumes)
	$(BIN)/python benchmarks/truth/run.py

clean: ## Remove everything that make made
	rm -rf .venv .venv-oldest .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis dist demo
	rm -rf docs/_build docs/copied docs/gallery docs/generated

# One stamp per set of extras: .venv/cli, .venv/cli,report, .venv/test, .venv/dev
.venv/%: pyproject.toml
	@test -n "$(PYTHON)" || { echo "analogical needs Python 3.11 or newer; none was found. Name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@
