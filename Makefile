# `make demo` and `make test` need Python 3.11+ and Java 17+, and set everything else up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo check kafka test test-all browser lint bench bench-kafka bench-generate bench-import bench-strategies bench-validate bench-engine bench-driver bench-report soak fuzz golden wheel clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

setup: $(READY) ## Create .venv with the pinned versions

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: $(PYTHON) is older than Python 3.11; install a newer one, or give PYTHON=..." >&2; exit 2; }
	@echo "Setting up $(VENV), once: a minute or two"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -m pairs.core.class_archive 2>/dev/null || echo "make: no archive of Java classes; Spark will start more slowly"
	@touch $(READY)

demo: $(READY) ## The whole benchmark, small: three minutes to a verdict and a score
	@$(BIN)/pairs bench --profile quick --sf 1 --data data/demo --output runs/demo --overwrite

check: lint ## Lint, types and every test that starts neither Spark nor a run: a minute, while editing
	@$(BIN)/python -m pytest -n 2 -m 'not slow and not process'

kafka: $(READY) ## Install the jars of a Kafka broker and of Spark's connector, once, with Maven
	@$(BIN)/pairs install kafka >/dev/null || { sleep 10; $(BIN)/pairs install kafka >/dev/null; }

test: lint kafka ## Everything a change must pass: about 20 minutes on two cores
	@$(BIN)/python -m pytest -n 2 -m 'not slow and not process'
	@$(BIN)/python -m pytest -m 'process and not slow'

test-all: lint kafka browser ## The same and the long tests
	@$(BIN)/python -m pytest -m ''

browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
	  || echo "make: no Chromium and none could be installed; the tests of reports in a browser will be skipped" >&2

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@found=$$($(BIN)/lint-imports --no-logo --no-cache 2>&1) || { echo "$$found"; exit 1; }

bench: $(READY) ## What each choice of the PySpark program buys, side by side; twelve minutes
	@$(BIN)/python -m tests.bench.latency

bench-generate: $(READY) ## Speed of the generator beside a bare numpy + pyarrow loop
	@$(BIN)/python -m tests.bench.generate

bench-import: $(READY) ## The whole import beside Spark's and (if installed) DuckDB's sort
	@$(BIN)/python -m tests.bench.import_trades

bench-strategies: $(READY) ## Time to generate, write and read 25,000 strategies
	@$(BIN)/python -m tests.bench.strategies

bench-validate: $(READY) ## Speed of the expected answers, of the reference and of the comparison
	@$(BIN)/python -m tests.bench.validate

bench-engine: $(READY) ## Unpaced speed of all targets and plans at three scale factors
	@$(BIN)/python -m tests.bench.engine

bench-driver: $(READY) ## How late one driver is at 100,000 to 1,000,000 ticks per second
	@$(BIN)/python -m tests.bench.driver

bench-kafka: $(READY) ## How late one driver is at 100,000 ticks per second, over Kafka and over the tick log
	@$(BIN)/python -m tests.bench.kafka

bench-report: $(READY) ## Time and size of the report of a large run
	@$(BIN)/python -m tests.bench.report

soak: $(READY) ## Ten minutes in which the engine is killed every 20 to 40 seconds; nothing may be lost or come twice
	@$(BIN)/python -m tests.soak

fuzz: $(READY) ## Feed hostile files to all that reads files, FUZZ_MINUTES=10; findings are kept in .fuzz
	@$(BIN)/python -m tests.fuzz

golden: $(READY) ## Render the golden programs of the tests again; review the diff
	@$(BIN)/python -m tests.golden.regenerate

wheel: $(READY) ## Build the wheel into dist/
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean: ## Remove what the other targets made
	@rm -rf $(VENV) build dist data runs searches sweeps .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz
