# The front door: `make help` lists what there is.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Containers often forbid Python to keep what it compiles: each process of a test would compile its libraries again.
export PYTHONDONTWRITEBYTECODE :=
# Not by way of make's tokens, to which a recipe has no access: cargo would warn of it.
ALONE := env -u MAKEFLAGS -u MFLAGS
MATURIN := VIRTUAL_ENV=$(abspath $(VENV)) $(ALONE) $(BIN)/maturin develop --release --quiet
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml $(wildcard Cargo.lock)
CHECKED := python tests docs $(wildcard benchmarks)
# Without the engine's examples, which `make lint` compiles.
TEST_RUST := $(ALONE) cargo test --quiet --workspace --exclude tightlink-python --tests
TEST_RUST_PAGES := $(ALONE) cargo test --quiet --workspace --exclude tightlink-python --doc
# On the small matrices and tables here, the threads of OpenBLAS and of Polars wait for each other for longer than they compute.
TEST_PYTHON := OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest --quiet --numprocesses=auto --dist=loadfile --no-loadscope-reorder
FUZZ ?= 1000000
TRIES ?= 300
CASES ?= 5

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help system-packages setup run test compile-tests test-rust test-python test-bare bare wheel check-wheel \
	check-lowest check-platforms attack lab-engine lab-engine-if-possible lab-lessons lab-digests bench fuzz docs docs-serve gallery \
	docs-figures docs-reference lint lint-rust lint-python format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

system-packages: ## Install what some checks need and skip without: ns-2, tshark, tcptrace, Chromium, pdftotext, iperf3, ping (Debian, as root)
	apt-get update
	apt-get install --yes ns2 tshark tcptrace chromium poppler-utils iperf3 iputils-ping

setup: ## Create .venv with all dependencies and build the engine
	@$(MAKE) --no-print-directory --silent --jobs=2 $(VENV)/.ready

run: setup ## Redo the study of one TCP flow: claims here, report in results/one-flow
	@# 3: finished, and some claims of the document do not hold; the report says which and why.
	$(BIN)/tightlink study one-flow -o results/one-flow -j 2 || [ $$? -eq 3 ]

# What is compiled for both is compiled side by side: each has times at which it uses one processor alone.
test: ## Run all tests
	@$(MAKE) --no-print-directory --silent --jobs=3 $(VENV)/.ready compile-tests
	@$(MAKE) --no-print-directory test-rust test-python

compile-tests:
	@echo "compiling the tests of the engine"
	@$(TEST_RUST) --no-run

test-rust: ## Run the tests of the engine
	$(TEST_RUST)
	$(TEST_RUST_PAGES)

test-python: setup ## Run the tests of the package
	$(TEST_PYTHON)

test-bare: setup ## Run the tests without optional programs and without privileges (BARE="tests/test_cli.py …": these)
	@$(if $(BARE),,$(TEST_RUST) --no-run)
	$(BIN)/python tests/bare.py $(MAKE) --no-print-directory bare BARE="$(BARE)"

bare:
	@$(if $(BARE),,$(TEST_RUST) --offline)
	@$(if $(BARE),,$(TEST_RUST_PAGES) --offline)
	$(TEST_PYTHON) -p no:cacheprovider $(BARE)

wheel: $(VENV)/.created ## Build the wheel in dist/
	@rm -rf dist
	VIRTUAL_ENV=$(abspath $(VENV)) $(ALONE) $(BIN)/maturin build --release --quiet --out dist

check-wheel: wheel ## Install the wheel where nothing else is, and run every command once
	$(BIN)/python tests/wheel.py dist/*.whl

check-lowest: wheel ## Run the tests with the lowest versions that pyproject.toml allows (LOWEST="tests/test_cli.py …": these)
	$(BIN)/python tests/lowest.py dist/*.whl $(LOWEST)

check-platforms: setup ## Check what can be checked here of macOS, Windows and WebAssembly
	.ci/platforms

lab-engine: ## Build the engine of laboratories, a WebAssembly module
	$(ALONE) crates/lab/build

lab-engine-if-possible:
	@$(ALONE) crates/lab/build || echo "the engine for browsers could not be built: its checks are skipped"

lab-lessons: setup lab-engine ## Write the lessons, laboratories with texts, into results/lessons
	$(BIN)/tightlink new lessons results/lessons

lab-digests: setup lab-engine ## Compare digests of examples and studies natively and in a browser, into results/lab-digests.csv
	$(BIN)/python benchmarks/lab_digests.py

bench: setup ## Time the same workloads here and in the other simulators that are installed
	$(BIN)/python benchmarks/bench.py

fuzz: setup ## Feed scenario parser and capture reader random input (FUZZ=1000000)
	TIGHTLINK_FUZZ=$(FUZZ) $(BIN)/python -m pytest --quiet -m fuzz tests/test_fuzz.py tests/test_capture_damage.py
	TIGHTLINK_FUZZ=$(FUZZ) cargo test --quiet --package tightlink-capture --test read

attack: setup ## Attack for minutes: kills, damaged files, hostile peers, absurd numbers (TRIES=300 of each), random networks
	$(BIN)/python tests/attack --tries $(TRIES)
	TIGHTLINK_CASES=$(CASES) $(TEST_RUST)

docs: $(VENV)/.docs ## Build the documentation site in results/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo results/site/index.html

docs-serve: $(VENV)/.docs ## Show the documentation site at http://127.0.0.1:8000, and again when a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --no-strict

gallery: setup ## Draw the pictures of the gallery and its page again
	$(BIN)/python docs/gallery/make.py

docs-figures: setup ## Draw the figures of the documentation again
	$(BIN)/python docs/images/make.py

docs-reference: setup ## Fill in the tables of the reference pages again
	$(BIN)/python docs/reference/make.py

lint: setup ## Check format, style, types and the direction of imports
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-rust lint-python

# With the profile of the tests: macros and build scripts that were compiled for these are not compiled again.
lint-rust:
	cargo fmt --check
	$(ALONE) cargo clippy --quiet --profile test --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" $(ALONE) cargo doc --quiet --profile test --no-deps --workspace --exclude tightlink-python

lint-python: setup
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases docs/images docs/reference docs/gallery
	@# Of the package's types these need none: reading them all takes longer.
	@mkdir -p target/stubs/tightlink && touch target/stubs/tightlink/__init__.pyi
	@cp python/tightlink/_core.pyi target/stubs/tightlink
	MYPYPATH=target/stubs $(BIN)/python -m mypy.stubtest tightlink._core
	$(BIN)/lint-imports --no-cache
	.ci/platforms types
	.ci/javascript

format: setup ## Format the sources
	cargo fmt
	$(BIN)/ruff check --quiet --fix-only $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

clean: ## Remove what was built, results excepted
	rm -rf $(VENV) target python/tightlink/*.so

# What only the documentation site takes: not part of setup, as no test needs it.
$(VENV)/.docs: $(VENV)/.ready docs/requirements.txt
	@echo "installing what builds the documentation site"
	@$(BIN)/python -m pip install --requirement docs/requirements.txt
	@touch $@

# A virtual environment that can compile; then dependencies and compilation, side by side; then the
# package itself, editable.

$(VENV)/.created:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install "maturin>=1.9,<2"
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	@echo "installing dependencies"
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		extras = project["optional-dependencies"]; needed = project["dependencies"] + sum(extras.values(), []); \
		print(*(name for name in needed if not name.startswith("tightlink")), sep="\n")' > $(VENV)/requirements.txt
	@# Python compiles what it imports; compiling all of it here takes as long as the installation.
	@$(BIN)/python -m pip install --no-compile --requirement $(VENV)/requirements.txt
	@touch $@

$(VENV)/.compiled: $(VENV)/.created pyproject.toml $(RUST)
	@echo "compiling the engine"
	@$(MATURIN) --skip-install
	@touch $@

$(VENV)/.ready: $(VENV)/.installed $(VENV)/.compiled
	@$(MATURIN)
	@touch $@
